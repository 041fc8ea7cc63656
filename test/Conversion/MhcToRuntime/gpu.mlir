// RUN: mhc-opt %s -convert-mhc-to-runtime=target=cuda:sm_80 | FileCheck %s

module attributes {gpu.container_module} {
gpu.module @mhc_device [#nvvm.target<chip = "sm_80">] {
  // A kernel takes what a loop function takes.
  // CHECK: gpu.func @mhc_loop_1(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: index, %{{.*}}: f32, %{{.*}}: index) kernel
  gpu.func @mhc_loop_1(%a: memref<?x4xf32> {llvm.noalias}, %s: f32, %count: index) kernel {
    gpu.return
  }
  gpu.func @mhc_loop_2(%t: memref<3xf32>, %count: index) kernel {
    gpu.return
  }
}

// CHECK: llvm.mlir.global private constant @table(
memref.global "private" constant @table : memref<3xf32> = dense<[1.0, 2.0, 3.0]>

memref.global "private" constant @mask : memref<2x3xi1> = dense<[[true, false, true], [false, true, false]]>

// A constant is fetched from where the runtime keeps it; a loop function is given the context.
// CHECK-LABEL: func.func @mhc_entry_scale(
// CHECK-SAME: %[[CTX:[^:]*]]: !llvm.ptr
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 12 : i64
// CHECK-DAG: %[[MASK_BYTES:.*]] = arith.constant 6 : i64
// CHECK: %[[HOST:.*]] = llvm.mlir.addressof @table
// CHECK: %[[DEVICE:.*]] = call @mhcrt_constant(%[[CTX]], %[[HOST]], %[[BYTES]]) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
// CHECK: call @mhcrt_constant(%[[CTX]], %{{.*}}, %[[MASK_BYTES]])
// CHECK: call @mhc_loop_1(%[[CTX]],
// CHECK: call @mhc_loop_2(%[[CTX]], %[[DEVICE]])
func.func @scale(%a: memref<?x4xf32> {mhc.name = "a", mhc.dims = ["M", "4"], mhc.result}) {
  %half = arith.constant 0.5 : f32
  %table = memref.get_global @table : memref<3xf32>
  %mask = memref.get_global @mask : memref<2x3xi1>
  call @mhc_loop_1(%a, %half) : (memref<?x4xf32>, f32) -> ()
  call @mhc_loop_2(%table) : (memref<3xf32>) -> ()
  return
}

// The launch hands over the addresses of pointers, sizes, scalars and the count.
// CHECK: llvm.mlir.global private constant @mhc_loop_1_name("mhc_loop_1\00")
// CHECK-LABEL: func.func private @mhc_loop_1
// CHECK-SAME: (%[[CTX:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: index, %[[S:.*]]: f32)
// CHECK: %[[IMAGE_BYTES:.*]] = llvm.load
// CHECK: %[[IMAGE:.*]] = llvm.mlir.addressof @mhc_device_image : !llvm.ptr
// CHECK: %[[NAME:.*]] = llvm.mlir.addressof @mhc_loop_1_name
// CHECK: %[[TABLE:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK: llvm.alloca %{{.*}} x !llvm.ptr
// CHECK: llvm.alloca %{{.*}} x i64
// CHECK: llvm.alloca %{{.*}} x f32
// CHECK: llvm.store %[[S]]
// CHECK: llvm.alloca %{{.*}} x i64
// CHECK: call @mhcrt_cuda_loop(%[[CTX]], %[[IMAGE]], %[[IMAGE_BYTES]], %[[NAME]], %[[TABLE]], %{{.*}})
func.func private @mhc_loop_1(%a: memref<?x4xf32> {llvm.noalias}, %s: f32) {
  %c1 = arith.constant 1 : index
  %count = arith.constant 512 : index
  gpu.launch_func @mhc_device::@mhc_loop_1 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%a : memref<?x4xf32>, %s : f32, %count : index)
  return
}

func.func private @mhc_loop_2(%t: memref<3xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @mhc_device::@mhc_loop_2 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%t : memref<3xf32>, %c1 : index)
  return
}
}

// CHECK: llvm.mlir.global external constant @mhc_model_manifest("mhc-model 1\0Atarget cuda:sm_80\0Aentry scale
