// Indices that loops read from tensors, which a GPU does not pass to the host.

func.func @rows(%x: tensor<?x8xf32> {mhc.name = "x"}, %i: tensor<?xi64> {mhc.name = "i"})
    -> (tensor<?x8xf32> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %i, %c0 : tensor<?xi64>
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, c) -> (m)>, affine_map<(m, c) -> (m, c)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<?xi64>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%id: i64, %old: f32):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %x[%row, %column] : tensor<?x8xf32>
    linalg.yield %element : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// Bounds of a second loop may depend on an element that the first has read: the first error is reported.
func.func @twice(%x: tensor<?xi64> {mhc.name = "x"}, %i: tensor<?xi64> {mhc.name = "i"})
    -> (tensor<?xi64> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %i, %c0 : tensor<?xi64>
  %e = tensor.empty(%m) : tensor<?xi64>
  %first = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%i : tensor<?xi64>) outs(%e : tensor<?xi64>) {
  ^bb0(%id: i64, %old: i64):
    %place = arith.index_cast %id : i64 to index
    %element = tensor.extract %x[%place] : tensor<?xi64>
    linalg.yield %element : i64
  } -> tensor<?xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%first : tensor<?xi64>) outs(%e : tensor<?xi64>) {
  ^bb0(%id: i64, %old: i64):
    %place = arith.index_cast %id : i64 to index
    %element = tensor.extract %x[%place] : tensor<?xi64>
    linalg.yield %element : i64
  } -> tensor<?xi64>
  return %y : tensor<?xi64>
}

// The first failing check of a body is reported.
func.func @asserted(%x: tensor<?xi64> {mhc.name = "x"}, %i: tensor<?xi64> {mhc.name = "i"})
    -> (tensor<?xi64> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %i, %c0 : tensor<?xi64>
  %e = tensor.empty(%m) : tensor<?xi64>
  %zero = arith.constant 0 : i64
  %y = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%i : tensor<?xi64>) outs(%e : tensor<?xi64>) {
  ^bb0(%id: i64, %old: i64):
    %valid = arith.cmpi sge, %id, %zero : i64
    cf.assert %valid, "a number is negative"
    %place = arith.index_cast %id : i64 to index
    %element = tensor.extract %x[%place] : tensor<?xi64>
    linalg.yield %element : i64
  } -> tensor<?xi64>
  return %y : tensor<?xi64>
}
