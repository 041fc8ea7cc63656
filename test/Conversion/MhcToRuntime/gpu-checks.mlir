// RUN: mhc-opt %s -convert-mhc-to-runtime=target=cuda:sm_80 -mlir-print-local-scope | FileCheck %s

module attributes {gpu.container_module} {
func.func private @mhc.check_size(index, index, index)

// The record is free: no kernel has taken it, and no check has failed.
// CHECK: gpu.module @mhc_device
// CHECK: llvm.mlir.global external @mhc_check(dense<[0, 0, 9223372036854775807, -9223372036854775808, 0, 9223372036854775807, -9223372036854775808, 0, 9223372036854775807, -9223372036854775808]> : tensor<10xi64>) {addr_space = 1 : i32, alignment = 8 : i64} : !llvm.array<10 x i64>
// CHECK: llvm.mlir.global external constant @mhc_check_texts("the index in dimension 1\00model.mlir:7:8\00the index in dimension 0\00model.mlir:8:8\00no rows\00model.mlir:9:2\00") {addr_space = 1 : i32
// CHECK-NOT: @mhc.check_size
gpu.module @mhc_device [#nvvm.target<chip = "sm_80">] {
  func.func private @mhc.check_size(index, index, index)

  // CHECK-LABEL: gpu.func @rows(
  // CHECK-SAME: %[[PLACE:.*]]: index, %[[LAST:.*]]: index, %{{.*}}: index) kernel
  // CHECK-DAG: %[[VALUE:.*]] = arith.index_cast %[[PLACE]] : index to i64
  // CHECK-DAG: %[[HIGH:.*]] = arith.index_cast %[[LAST]] : index to i64
  // CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[VALUE]]
  // CHECK: %[[ABOVE:.*]] = arith.cmpi sgt, %[[VALUE]], %[[HIGH]]
  // CHECK: %[[BAD:.*]] = arith.ori %[[BELOW]], %[[ABOVE]]
  // CHECK: scf.if %[[BAD]]
  // CHECK: %[[PAIR:.*]] = llvm.cmpxchg %{{.*}}, %c0_i64{{.*}}, %c1_i64{{.*}} monotonic monotonic : !llvm.ptr<1>, i64
  // CHECK: %[[BEFORE:.*]] = llvm.extractvalue %[[PAIR]][0]
  // CHECK: %[[FREE:.*]] = arith.cmpi eq, %[[BEFORE]], %c0_i64
  // CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[BEFORE]], %c1_i64
  // CHECK: %[[MINE:.*]] = arith.ori %[[FREE]], %[[SAME]]
  // CHECK: scf.if %[[MINE]]
  // CHECK: %[[KEY:.*]] = arith.addi %[[HIGH]], %c2_i64
  // CHECK: llvm.getelementptr %{{.*}}[1]
  // CHECK: llvm.cmpxchg %{{.*}}, %c0_i64{{.*}}, %[[KEY]]
  // CHECK: scf.if
  // CHECK: %[[LEAST:.*]] = llvm.getelementptr %{{.*}}[2]
  // CHECK: llvm.atomicrmw min %[[LEAST]], %[[VALUE]] monotonic
  // CHECK: %[[LARGEST:.*]] = llvm.getelementptr %{{.*}}[3]
  // CHECK: llvm.atomicrmw max %[[LARGEST]], %[[VALUE]] monotonic
  // The second check of a kernel takes the record for the same kernel.
  // CHECK: llvm.cmpxchg %{{.*}}, %c0_i64{{.*}}, %c1_i64
  // CHECK: llvm.getelementptr %{{.*}}[4]
  gpu.func @rows(%place: index, %last: index, %count: index) kernel {
    %c0 = arith.constant 0 : index
    func.call @mhc.check_size(%place, %c0, %last) {mhc.checked = "the index in dimension 1"}
      : (index, index, index) -> () loc("model.mlir":7:8)
    func.call @mhc.check_size(%place, %c0, %last) {mhc.checked = "the index in dimension 0"}
      : (index, index, index) -> () loc("model.mlir":8:8)
    gpu.return
  }

  // CHECK-LABEL: gpu.func @asserted(
  // CHECK-SAME: %[[HOLDS:.*]]: i1
  // CHECK: %[[FAILS:.*]] = arith.xori %[[HOLDS]], %true
  // CHECK: scf.if %[[FAILS]]
  // CHECK: llvm.cmpxchg %{{.*}}, %c0_i64{{.*}}, %c3_i64
  // CHECK: llvm.getelementptr %{{.*}}[7]
  // CHECK: llvm.cmpxchg %{{.*}}, %c0_i64{{.*}}, %c1_i64
  // CHECK-NOT: llvm.atomicrmw
  // CHECK-NOT: cf.assert
  // CHECK: gpu.return
  gpu.func @asserted(%holds: i1, %count: index) kernel {
    cf.assert %holds, "no rows" loc("model.mlir":9:2)
    gpu.return
  }
}
}
