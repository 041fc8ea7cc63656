// RUN: mhc-opt %s -mhc-carry-loops -verify-diagnostics

func.func @size_of_a_turn(%start: index, %go: memref<1xi1>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'scf.while' cannot be compiled: the size of result 0 is not known in front of the loop}}
  %r:2 = scf.while (%n = %start) : (index) -> (memref<?xf32>, index) {
    %new = memref.alloc(%n) : memref<?xf32>
    %more = memref.load %go[%c0] : memref<1xi1>
    scf.condition(%more) %new, %n : memref<?xf32>, index
  } do {
  ^bb0(%x: memref<?xf32>, %n: index):
    %next = arith.addi %n, %n : index
    scf.yield %next : index
  }
  return %r#0 : memref<?xf32>
}
