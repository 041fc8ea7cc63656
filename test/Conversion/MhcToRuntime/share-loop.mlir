// RUN: mhc-opt %s -convert-mhc-to-runtime | FileCheck %s

// The entry hands its context to a loop that threads share.
// CHECK-LABEL: func.func @mhc_entry_rows
// CHECK-SAME: (%[[CONTEXT:[^:]*]]: !llvm.ptr
// CHECK: call @loop(%[[CONTEXT]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, index, !llvm.ptr, index) -> ()
func.func @rows(%x: memref<?x8xf32> {mhc.name = "x", mhc.dims = ["M", "8"]},
                %out: memref<?x8xf32> {mhc.name = "out", mhc.dims = ["M", "8"], mhc.result}) {
  call @loop(%x, %out) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: func.func private @loop_body
// CHECK-SAME: %{{[^:]*}}: !llvm.ptr {llvm.noalias}, %{{[^:]*}}: index, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step
// CHECK: scf.for

// CHECK-LABEL: func.func private @loop_range
// CHECK-SAME: (%[[FRAME:[^:]*]]: !llvm.ptr, %[[FIRST:[^:]*]]: i64, %[[LAST:[^:]*]]: i64)
// CHECK-COUNT-4: llvm.load
// CHECK: call @loop_body(

// CHECK-LABEL: func.func private @loop(
// CHECK-SAME: %[[SHARED:[^:]*]]: !llvm.ptr, %[[X:[^:]*]]: !llvm.ptr {llvm.noalias}, %[[ROWS:[^:]*]]: index,
// CHECK-DAG: %[[WORK:.*]] = arith.constant 24 : index
// CHECK-DAG: %[[FRAME:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, i64, ptr, i64)>
// CHECK-DAG: %[[COUNT:.*]] = arith.index_cast %[[ROWS]] : index to i64
// CHECK-DAG: %[[WORD:.*]] = arith.index_cast %[[WORK]] : index to i64
// CHECK-DAG: %[[RANGE:.*]] = constant @loop_range
// CHECK: call @mhcrt_parallel_loop(%[[SHARED]], %[[RANGE]], %[[FRAME]], %{{.*}}, %[[WORD]])
// CHECK-NOT: scf.for
func.func private @loop(%x: memref<?x8xf32> {llvm.noalias}, %out: memref<?x8xf32>)
    attributes {mhc.parallel = array<i64: 0, 0, 0, 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %M = memref.dim %x, %c0 : memref<?x8xf32>
  scf.for %m = %c0 to %M step %c1 {
    scf.for %c = %c0 to %c8 step %c1 {
      %value = memref.load %x[%m, %c] : memref<?x8xf32>
      memref.store %value, %out[%m, %c] : memref<?x8xf32>
    }
  }
  return
}
