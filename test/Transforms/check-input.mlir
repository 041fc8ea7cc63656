// RUN: mhc-opt %s --mhc-raise --split-input-file --verify-diagnostics

// Programs that pass the verifiers of upstream ops and that raising could not handle.

// expected-error @below {{'tensor<99999999999999x4xf32>' is larger than 64 TiB}}
func.func @large_argument(%x: tensor<99999999999999x4xf32>) {
  return
}

// -----

func.func @large_result(%x: tensor<4xf32>) -> tensor<99999999999999x4xf32> {
  // expected-error @below {{'tensor<99999999999999x4xf32>' is larger than 64 TiB}}
  %y = mhc.broadcast %x dims = [1] : tensor<4xf32> -> tensor<99999999999999x4xf32>
  return %y : tensor<99999999999999x4xf32>
}

// -----

func.func @loop_of_two_sizes(%x: tensor<8xf32>) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %one = tensor.empty(%c1) : tensor<?xf32>
  // expected-error @below {{'linalg.exp' op has both 8 and 1 as the size of loop 0}}
  %y = linalg.exp ins(%x : tensor<8xf32>) outs(%one : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @expanded_to_too_much(%x: tensor<?xf32>) -> tensor<?x?xf32> {
  // expected-error @below {{'tensor<4294967296x4294967296xf32>' is larger than 64 TiB}}
  %y = tensor.expand_shape %x [[0, 1]] output_shape [4294967296, 4294967296] : tensor<?xf32> into tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

func.func @expanded_by_other_groups(%x: tensor<?x8xf32>, %M: index) -> tensor<?x4x8xf32> {
  // expected-error @below {{'tensor.expand_shape' has dimension 4611686018427387904 in a group; needed 0}}
  %y = tensor.expand_shape %x [[4611686018427387904, 1], [2]] output_shape [%M, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
  return %y : tensor<?x4x8xf32>
}

// -----

func.func @padded_to_another_type(%x: tensor<?x4xi64>, %pad: f32) -> tensor<?x7xf32> {
  // expected-error @below {{'tensor.pad' has a result with elements of type 'f32'; needed 'i64'}}
  %y = tensor.pad %x low[1, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %pad : f32
  } : tensor<?x4xi64> to tensor<?x7xf32>
  return %y : tensor<?x7xf32>
}

// -----

func.func @expanded_to_other_sizes(%x: tensor<?x12xf32>, %M: index) -> tensor<?x4x3xf32> {
  // expected-error @below {{'tensor.expand_shape' states another size for dimension 1 than its type 'tensor<?x4x3xf32>'}}
  %y = tensor.expand_shape %x [[0], [1, 2]] output_shape [%M, 3, 4] : tensor<?x12xf32> into tensor<?x4x3xf32>
  return %y : tensor<?x4x3xf32>
}

// -----

func.func @scalar_to_two(%x: tensor<f32>) -> tensor<1x?xf32> {
  // expected-error @below {{'tensor.expand_shape' of 'tensor<f32>' makes 'tensor<1x?xf32>'; needed 1 as the size of dimension 1}}
  %y = tensor.expand_shape %x [] output_shape [1, 2] : tensor<f32> into tensor<1x?xf32>
  return %y : tensor<1x?xf32>
}

// -----

func.func @many_to_a_scalar(%x: tensor<8x4xf32>) -> tensor<f32> {
  // expected-error @below {{'tensor.collapse_shape' of 'tensor<8x4xf32>' makes 'tensor<f32>'; needed 1 as the size of dimension 0}}
  %y = tensor.collapse_shape %x [] : tensor<8x4xf32> into tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @expanded_to_a_negative_size(%x: tensor<?x12xf32>) -> tensor<?x4x3xf32> {
  %M = arith.constant -1 : index
  // expected-error @below {{'tensor.expand_shape' has -1 as a size}}
  %y = tensor.expand_shape %x [[0], [1, 2]] output_shape [%M, 4, 3] : tensor<?x12xf32> into tensor<?x4x3xf32>
  return %y : tensor<?x4x3xf32>
}

// -----

func.func @loop_of_two_sizes(%a: tensor<?x8xf32>, %b: tensor<?x5xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{'linalg.generic' op has both 5 and 8 as the size of loop 1}}
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<?x5xf32>) outs(%a : tensor<?x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<?x8xf32>
  return %sum : tensor<?x8xf32>
}

// -----

func.func @element_before_the_first(%x: tensor<3xf32>) -> f32 {
  %i = arith.constant -2 : index
  // expected-error @below {{'tensor.extract' reads element -2 of dimension 0 of 'tensor<3xf32>'}}
  %e = tensor.extract %x[%i] : tensor<3xf32>
  return %e : f32
}

// -----

func.func @element_behind_the_last(%x: tensor<?x3xf32>, %i: index) -> f32 {
  %j = arith.constant 3 : index
  // expected-error @below {{'tensor.extract' reads element 3 of dimension 1 of 'tensor<?x3xf32>'}}
  %e = tensor.extract %x[%i, %j] : tensor<?x3xf32>
  return %e : f32
}

// -----

// A type may leave open what is known by now.
func.func @open_type(%x: tensor<?x12xf32>) -> tensor<?x4x3xf32> {
  %y = tensor.expand_shape %x [[0], [1, 2]] output_shape [8, 4, 3] : tensor<?x12xf32> into tensor<?x4x3xf32>
  return %y : tensor<?x4x3xf32>
}

// -----

func.func @slice_of_a_size_that_folding_finds(%part: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c1 = arith.constant 1 : index
  %four = tensor.dim %part, %c1 : tensor<?x4xf32>
  %row = tensor.empty(%c1) : tensor<?x4xf32>
  // expected-error @below {{'tensor.insert_slice' reaches element 3 of dimension 0, which has 1}}
  %all = tensor.insert_slice %part into %row[0, 0] [%four, 4] [1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
  return %all : tensor<?x4xf32>
}

// -----

func.func @slice_of_a_size_that_follows(%x: tensor<0x64xbf16>) -> tensor<2x4x4xbf16> {
  %streams = mhc.expand(x = %x : tensor<0x64xbf16>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
  // expected-error @below {{'tensor.extract_slice' reaches element 1 of dimension 0, which has 0}}
  %rows = tensor.extract_slice %streams[0, 0, 0] [2, 4, 4] [1, 1, 1] : tensor<?x4x64xbf16> to tensor<2x4x4xbf16>
  return %rows : tensor<2x4x4xbf16>
}
