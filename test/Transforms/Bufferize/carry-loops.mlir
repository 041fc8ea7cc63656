// RUN: mhc-opt %s -mhc-carry-loops | FileCheck %s

// CHECK-LABEL: @one
func.func @one(%n: index, %start: memref<4xf32>, %x: memref<4xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-SAME: %[[N:.*]]: index, %[[START:.*]]: memref<4xf32>, %[[X:.*]]: memref<4xf32>
  // CHECK: scf.for %{{.*}} to %[[N]] step %{{[^ ]*}} {
  // CHECK-NEXT: memref.copy %[[START]], %[[X]]
  // CHECK-NEXT: memref.copy %[[X]], %[[START]]
  // CHECK-NEXT: }
  // CHECK-NEXT: return %[[START]]
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%it = %start) -> (memref<4xf32>) {
    memref.copy %it, %x : memref<4xf32> to memref<4xf32>
    scf.yield %x : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// A yielded buffer may be the target of another copy. Scalars are carried as before, and an unchanged buffer is not
// copied.
// CHECK-LABEL: @swap
// CHECK-SAME: %[[N:.*]]: index, %[[A:.*]]: memref<?xf32>, %[[B:.*]]: memref<?xf32>, %[[C:.*]]: memref<?xf32>
func.func @swap(%n: index, %a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>)
    -> (memref<?xf32>, memref<?xf32>, memref<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[SUM:.*]] = scf.for %[[I:.*]] = {{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (index) {
  // CHECK: %[[NEXT:.*]] = arith.addi %[[S]], %[[I]]
  // CHECK: %[[OLD_B:.*]] = memref.alloc
  // CHECK-NEXT: memref.copy %[[B]], %[[OLD_B]]
  // CHECK: %[[OLD_A:.*]] = memref.alloc
  // CHECK-NEXT: memref.copy %[[A]], %[[OLD_A]]
  // CHECK-NEXT: memref.copy %[[OLD_B]], %[[A]]
  // CHECK-NEXT: memref.copy %[[OLD_A]], %[[B]]
  // CHECK-NEXT: scf.yield %[[NEXT]]
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[SUM]]
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b, %z = %c, %sum = %c0)
      -> (memref<?xf32>, memref<?xf32>, memref<?xf32>, index) {
    %next = arith.addi %sum, %i : index
    scf.yield %y, %x, %z, %next : memref<?xf32>, memref<?xf32>, memref<?xf32>, index
  }
  return %r#0, %r#1, %r#2, %r#3 : memref<?xf32>, memref<?xf32>, memref<?xf32>, index
}

// Buffers that a while loop's condition passes on are in front of the loop, and yielded ones are copied as above.
// CHECK-LABEL: @until
// CHECK-SAME: %[[A:.*]]: memref<?xf32>, %[[B:.*]]: memref<?xf32>, %[[GO:.*]]: memref<1xi1>
func.func @until(%a: memref<?xf32>, %b: memref<?xf32>, %go: memref<1xi1>) -> (memref<?xf32>, memref<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[M:.*]] = memref.dim %[[A]]
  // CHECK-NEXT: %[[PASSED:.*]] = memref.alloc(%[[M]])
  // CHECK-NEXT: %[[TURNS:.*]] = scf.while (%[[N:.*]] = %{{.*}}) : (index) -> index {
  %r:3 = scf.while (%x = %a, %y = %b, %n = %c0)
      : (memref<?xf32>, memref<?xf32>, index) -> (memref<?xf32>, memref<?xf32>, index) {
    // CHECK-NEXT: memref.copy %[[A]], %[[PASSED]]
    // CHECK-NEXT: %[[MORE:.*]] = memref.load %[[GO]]
    // CHECK-NEXT: scf.condition(%[[MORE]]) %[[N]] : index
    %m = memref.dim %x, %c0 : memref<?xf32>
    %new = memref.alloc(%m) : memref<?xf32>
    memref.copy %x, %new : memref<?xf32> to memref<?xf32>
    %more = memref.load %go[%c0] : memref<1xi1>
    scf.condition(%more) %new, %y, %n : memref<?xf32>, memref<?xf32>, index
  } do {
  // CHECK: ^bb0(%[[T:.*]]: index):
  // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[T]]
  // CHECK: %[[OLD:.*]] = memref.alloc
  // CHECK-NEXT: memref.copy %[[B]], %[[OLD]]
  // CHECK-NEXT: memref.copy %[[OLD]], %[[A]]
  // CHECK-NEXT: memref.copy %[[PASSED]], %[[B]]
  // CHECK-NEXT: scf.yield %[[NEXT]] : index
  ^bb0(%x: memref<?xf32>, %y: memref<?xf32>, %n: index):
    %next = arith.addi %n, %c1 : index
    scf.yield %y, %x, %next : memref<?xf32>, memref<?xf32>, index
  }
  // CHECK: return %[[PASSED]], %[[B]], %[[TURNS]]
  return %r#0, %r#1, %r#2 : memref<?xf32>, memref<?xf32>, index
}
