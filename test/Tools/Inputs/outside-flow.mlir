// Calls of `linear` (examples/outside/linear.c) in a loop, on a part of a row, and with results that are read and written
// again. The test also gives `linear` its text.
func.func private @linear(tensor<?x64xf32> {mhc.dims = ["M", "64"]}, tensor<64x64xf32>) -> (tensor<?x64xf32> {mhc.dims = ["M", "64"]})
func.func private @connected(tensor<4xf32>) -> tensor<4xf32>

func.func @loop(%x: tensor<?x64xf32> {mhc.name = "x"}, %w: tensor<64x64xf32> {mhc.name = "w"}) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%it = %x) -> (tensor<?x64xf32>) {
    %y = func.call @linear(%it, %w) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    scf.yield %y : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

func.func @parts(%wide: tensor<?x130xf32> {mhc.name = "wide"}, %w: tensor<64x64xf32> {mhc.name = "w"})
    -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %wide, %c0 : tensor<?x130xf32>
  %x = tensor.extract_slice %wide[0, 3] [%M, 64] [1, 1] : tensor<?x130xf32> to tensor<?x64xf32>
  %y = func.call @linear(%x, %w) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %sum = arith.addf %x, %y : tensor<?x64xf32>
  %z = func.call @linear(%sum, %w) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %row = tensor.extract_slice %y[0, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<1x64xf32>
  %written = tensor.insert_slice %row into %sum[1, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<?x64xf32>
  return %y, %z, %written : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>
}
