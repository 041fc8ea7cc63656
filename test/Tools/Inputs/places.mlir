func.func @element(%x: tensor<?xf32> {mhc.name = "x"}, %i: tensor<1xi64> {mhc.name = "i"})
    -> (tensor<1xf32> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.extract %i[%c0] : tensor<1xi64>
  %place = arith.index_cast %n : i64 to index
  %e = tensor.extract %x[%place] : tensor<?xf32>
  %y = tensor.from_elements %e : tensor<1xf32>
  return %y : tensor<1xf32>
}

func.func @part(%x: tensor<?x8xf32> {mhc.name = "x"}, %i: tensor<1xi64> {mhc.name = "i"})
    -> (tensor<2x8xf32> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.extract %i[%c0] : tensor<1xi64>
  %place = arith.index_cast %n : i64 to index
  %y = tensor.extract_slice %x[%place, 0] [2, 8] [1, 1] : tensor<?x8xf32> to tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

func.func @insert(%x: tensor<?x8xf32> {mhc.name = "x"}, %i: tensor<1xi64> {mhc.name = "i"})
    -> (tensor<?x8xf32> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.extract %i[%c0] : tensor<1xi64>
  %place = arith.index_cast %n : i64 to index
  %ones = arith.constant dense<1.0> : tensor<1x8xf32>
  %y = tensor.insert_slice %ones into %x[%place, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

func.func @rows(%x: tensor<?x8xf32> {mhc.name = "x"}, %i: tensor<1xi64> {mhc.name = "i"})
    -> (tensor<1x8xf32> {mhc.name = "y"}) {
  %e = tensor.empty() : tensor<1x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, c) -> (m)>, affine_map<(m, c) -> (m, c)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<1xi64>) outs(%e : tensor<1x8xf32>) {
  ^bb0(%id: i64, %old: f32):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %x[%row, %column] : tensor<?x8xf32>
    linalg.yield %element : f32
  } -> tensor<1x8xf32>
  return %y : tensor<1x8xf32>
}

func.func @loop(%x: tensor<?x8xf32> {mhc.name = "x"}, %i: tensor<1xi64> {mhc.name = "i"})
    -> (tensor<1x8xf32> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.extract %i[%c0] : tensor<1xi64>
  %end = arith.index_cast %n : i64 to index
  %zero = arith.constant dense<0.0> : tensor<1x8xf32>
  %y = scf.for %k = %c0 to %end step %c1 iter_args(%sum = %zero) -> tensor<1x8xf32> {
    %row = tensor.extract_slice %x[%k, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %next = arith.addf %sum, %row : tensor<1x8xf32>
    scf.yield %next : tensor<1x8xf32>
  }
  return %y : tensor<1x8xf32>
}

func.func @shorter(%x: tensor<?x8xf32> {mhc.name = "x"}) -> (tensor<8xf32> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %less = arith.subi %m, %c3 : index
  %rest = tensor.extract_slice %x[3, 0] [%less, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %t = math.tanh %rest : tensor<?x8xf32>
  %y = mhc.reduce sum %t dims = [0] : tensor<?x8xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}

func.func @quarters(%x: tensor<?xf32> {mhc.name = "x"}) -> (tensor<4xf32> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %k = arith.divui %m, %c4 : index
  %s = tensor.expand_shape %x [[0, 1]] output_shape [%k, 4] : tensor<?xf32> into tensor<?x4xf32>
  %t = math.tanh %s : tensor<?x4xf32>
  %y = mhc.reduce sum %t dims = [0] : tensor<?x4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @asserted(%x: tensor<?xf32> {mhc.name = "x"}, %y: tensor<?xf32> {mhc.name = "y"})
    -> (tensor<?xf32> {mhc.name = "z"}) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %k = tensor.dim %y, %c0 : tensor<?xf32>
  %less = arith.cmpi sle, %m, %k : index
  cf.assert %less, "x is longer than y"
  %z = math.tanh %x : tensor<?xf32>
  return %z : tensor<?xf32>
}

func.func @window(%x: tensor<?xf32> {mhc.name = "x"}, %w: tensor<?xf32> {mhc.name = "w"},
                  %e: tensor<?xf32> {mhc.name = "e"}) -> (tensor<?xf32> {mhc.name = "y"}) {
  %y = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
