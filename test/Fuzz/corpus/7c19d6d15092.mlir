func.func @loop_of_three_open_sizes(%x: tensor<?x?x?xf32>, %y: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant -1 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 4611686018427387904 : index
  %z = scf.for %i = %c0 to %c3 step %c1 iter_args(%it = %x) -> tensor<?x?x?xf32> {
    %next = arith.mulf %it, %y : tensor<?x?x?xf32>
    scf.yield %next : tensor<?x?x?xf32>
  }
  return %z : tensor<?x?x?xf32>
}
