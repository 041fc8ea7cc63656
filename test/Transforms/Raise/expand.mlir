// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// A tensor that is repeated along a new dimension is expand when it is read as streams.

// CHECK-LABEL: @repeated_and_returned
func.func @repeated_and_returned(%x: tensor<?x64xf32>) -> tensor<?x4x64xf32> {
  // CHECK: %[[S:.*]] = mhc.expand(x = %arg0 : tensor<?x64xf32>) <layout = nC>
  // CHECK: return %[[S]]
  %0 = mhc.broadcast %x dims = [0, 2] : tensor<?x64xf32> -> tensor<?x4x64xf32>
  return %0 : tensor<?x4x64xf32>
}

// CHECK-LABEL: @streams_last
func.func @streams_last(%x: tensor<?x64xbf16>) -> tensor<?x64x4xbf16> {
  // CHECK: mhc.expand(x = %arg0 : tensor<?x64xbf16>) <layout = Cn>
  %0 = mhc.broadcast %x dims = [0, 1] : tensor<?x64xbf16> -> tensor<?x64x4xbf16>
  return %0 : tensor<?x64x4xbf16>
}

// One tensor, though the program repeats the rows in two layouts.
// CHECK-LABEL: @repeated_in_two_layouts
func.func @repeated_in_two_layouts(%x: tensor<8x64xf32>) -> (tensor<8x4x64xf32>, tensor<8x64x4xf32>) {
  // CHECK: %[[S:.*]] = mhc.expand(x = %arg0 : tensor<8x64xf32>) <layout = nC>
  // CHECK: %[[T:.*]] = mhc.transpose %[[S]] perm = [0, 2, 1]
  // CHECK: return %[[S]], %[[T]]
  %0 = mhc.broadcast %x dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %1 = mhc.broadcast %x dims = [0, 1] : tensor<8x64xf32> -> tensor<8x64x4xf32>
  return %0, %1 : tensor<8x4x64xf32>, tensor<8x64x4xf32>
}

// CHECK-LABEL: @batch_and_sequence_dimensions
func.func @batch_and_sequence_dimensions(%x: tensor<2x3x64xf32>) -> tensor<2x3x256xf32> {
  // CHECK: %[[ROWS:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]]
  // CHECK: mhc.expand(x = %[[ROWS]] : tensor<6x64xf32>) <layout = nC>
  // CHECK: return %{{.*}} : tensor<2x3x256xf32>
  %0 = mhc.broadcast %x dims = [0, 1, 3] : tensor<2x3x64xf32> -> tensor<2x3x4x64xf32>
  %1 = tensor.collapse_shape %0 [[0], [1], [2, 3]] : tensor<2x3x4x64xf32> into tensor<2x3x256xf32>
  return %1 : tensor<2x3x256xf32>
}

// CHECK-LABEL: @streams_that_are_squared
func.func @streams_that_are_squared(%x: tensor<?x64xf32>) -> tensor<?x4x64xf32> {
  // CHECK: mhc.expand
  %0 = mhc.broadcast %x dims = [0, 2] : tensor<?x64xf32> -> tensor<?x4x64xf32>
  %1 = arith.mulf %0, %0 : tensor<?x4x64xf32>
  return %1 : tensor<?x4x64xf32>
}

// A part of a token as each stream
// CHECK-LABEL: @streams_that_are_mixed_in_parts
func.func @streams_that_are_mixed_in_parts(%x: tensor<2x6x64xf32>, %f: tensor<12x64xf32>, %gate: tensor<12x4xf32>,
                                           %mix: tensor<12x4x4xf32>) -> (tensor<12x4x64xf32>, tensor<2x6x4x64xf32>) {
  // CHECK: mhc.expand(x = %{{.*}} : tensor<12x64xf32>) <layout = nC>
  // CHECK: %[[PART:.*]] = arith.mulf
  // CHECK: %[[S:.*]] = tensor.collapse_shape %[[PART]]
  // CHECK: mhc.post(f = %arg1 : tensor<12x64xf32>, h_post = %arg2 : tensor<12x4xf32>, x = %[[S]] : tensor<12x4x64xf32>, h_res = %arg3
  %quarter = arith.constant dense<0.25> : tensor<2x6x4x64xf32>
  %0 = mhc.broadcast %x dims = [0, 1, 3] : tensor<2x6x64xf32> -> tensor<2x6x4x64xf32>
  %1 = arith.mulf %0, %quarter : tensor<2x6x4x64xf32>
  %2 = arith.mulf %1, %1 : tensor<2x6x4x64xf32>
  %streams = tensor.collapse_shape %1 [[0, 1], [2], [3]] : tensor<2x6x4x64xf32> into tensor<12x4x64xf32>
  %mixed = mhc.batch_matmul %mix, %streams : (tensor<12x4x4xf32>, tensor<12x4x64xf32>) -> tensor<12x4x64xf32>
  %gates = mhc.broadcast %gate dims = [0, 1] : tensor<12x4xf32> -> tensor<12x4x64xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<12x64xf32> -> tensor<12x4x64xf32>
  %branch = arith.mulf %gates, %rows : tensor<12x4x64xf32>
  %out = arith.addf %mixed, %branch : tensor<12x4x64xf32>
  return %out, %2 : tensor<12x4x64xf32>, tensor<2x6x4x64xf32>
}

// A factor of a product is a sublayer's output or a gate, not streams.
// CHECK-LABEL: @no_expand_of_what_is_only_multiplied
func.func @no_expand_of_what_is_only_multiplied(%f: tensor<?x64xf32>, %g: tensor<?x4x64xf32>) -> tensor<?x4x64xf32> {
  // CHECK-NOT: mhc.expand
  // CHECK: return
  %0 = mhc.broadcast %f dims = [0, 2] : tensor<?x64xf32> -> tensor<?x4x64xf32>
  %1 = arith.mulf %0, %g : tensor<?x4x64xf32>
  return %1 : tensor<?x4x64xf32>
}

// CHECK-LABEL: @no_expand_into_more_streams_than_there_are_kernels_for
func.func @no_expand_into_more_streams_than_there_are_kernels_for(%x: tensor<?x64xf32>) -> tensor<?x17x64xf32> {
  // CHECK-NOT: mhc.expand
  // CHECK: return
  %0 = mhc.broadcast %x dims = [0, 2] : tensor<?x64xf32> -> tensor<?x17x64xf32>
  return %0 : tensor<?x17x64xf32>
}

// A vector that is repeated along tokens and streams is a bias.
// CHECK-LABEL: @no_expand_of_a_vector
func.func @no_expand_of_a_vector(%x: tensor<64xf32>) -> tensor<8x4x64xf32> {
  // CHECK-NOT: mhc.expand
  // CHECK: return
  %0 = mhc.broadcast %x dims = [2] : tensor<64xf32> -> tensor<8x4x64xf32>
  return %0 : tensor<8x4x64xf32>
}

// The sum of embeddings is one tensor, whatever its terms.
// CHECK-LABEL: @sum_that_is_repeated
func.func @sum_that_is_repeated(%rows: tensor<12x64xf32>, %places: tensor<6x64xf32>) -> tensor<12x4x64xf32> {
  // CHECK: arith.addf
  // CHECK: %[[SUM:.*]] = tensor.collapse_shape
  // CHECK: mhc.expand(x = %[[SUM]] : tensor<12x64xf32>) <layout = nC>
  %0 = mhc.broadcast %places dims = [1, 2] : tensor<6x64xf32> -> tensor<2x6x64xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<2x6x64xf32> into tensor<12x64xf32>
  %2 = arith.addf %rows, %1 : tensor<12x64xf32>
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [12, 1, 64] : tensor<12x64xf32> into tensor<12x1x64xf32>
  %4 = mhc.broadcast %3 dims = [0, 1, 2] : tensor<12x1x64xf32> -> tensor<12x4x64xf32>
  return %4 : tensor<12x4x64xf32>
}

// One number has no tokens and no channels.
// CHECK-LABEL: @no_expand_of_one_number
func.func @no_expand_of_one_number(%x: tensor<1x1xf32>) -> tensor<1x7x1xf32> {
  // CHECK-NOT: mhc.expand
  // CHECK: return
  %0 = mhc.broadcast %x dims = [0, 2] : tensor<1x1xf32> -> tensor<1x7x1xf32>
  return %0 : tensor<1x7x1xf32>
}

// Tokens are in front of x, wherever they stand in what is repeated.
// CHECK-LABEL: @repeated_transposed
func.func @repeated_transposed(%x: tensor<?x64xf32>) -> tensor<?x256xf32> {
  // CHECK: %[[S:.*]] = mhc.expand(x = %arg0 : tensor<?x64xf32>) <layout = nC>
  // CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[S]] {{\[\[}}0], [1, 2]]
  // CHECK: return %[[FLAT]]
  %rows = mhc.transpose %x perm = [1, 0] : tensor<?x64xf32> -> tensor<64x?xf32>
  %0 = mhc.broadcast %rows dims = [1, 2] : tensor<64x?xf32> -> tensor<4x64x?xf32>
  %1 = mhc.transpose %0 perm = [2, 0, 1] : tensor<4x64x?xf32> -> tensor<?x4x64xf32>
  %2 = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  return %2 : tensor<?x256xf32>
}

// Tokens stay in the order of what is repeated, which all coefficients have.
// CHECK-LABEL: @sequence_first
func.func @sequence_first(%x: tensor<2x8x64xf32>) -> tensor<8x2x256xf32> {
  // CHECK: %[[T:.*]] = mhc.transpose %arg0 perm = [1, 0, 2]
  // CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[T]] {{\[\[}}0, 1], [2]]
  // CHECK: %[[S:.*]] = mhc.expand(x = %[[ROWS]] : tensor<16x64xf32>) <layout = nC>
  // CHECK-NOT: mhc.transpose
  // CHECK: return
  %rows = mhc.transpose %x perm = [1, 0, 2] : tensor<2x8x64xf32> -> tensor<8x2x64xf32>
  %0 = mhc.broadcast %rows dims = [0, 1, 3] : tensor<8x2x64xf32> -> tensor<8x2x4x64xf32>
  %1 = tensor.collapse_shape %0 [[0], [1], [2, 3]] : tensor<8x2x4x64xf32> into tensor<8x2x256xf32>
  return %1 : tensor<8x2x256xf32>
}

// The channels of a convolution are in front of its places, which become tokens.
// CHECK-LABEL: @channels_first
func.func @channels_first(%x: tensor<2x64x9xf32>) -> tensor<2x9x256xf32> {
  // CHECK: mhc.expand(x = %{{.*}} : tensor<18x64xf32>) <layout = nC>
  // CHECK-NOT: mhc.transpose
  // CHECK: return
  %rows = mhc.transpose %x perm = [0, 2, 1] : tensor<2x64x9xf32> -> tensor<2x9x64xf32>
  %0 = mhc.broadcast %rows dims = [0, 1, 3] : tensor<2x9x64xf32> -> tensor<2x9x4x64xf32>
  %1 = tensor.collapse_shape %0 [[0], [1], [2, 3]] : tensor<2x9x4x64xf32> into tensor<2x9x256xf32>
  return %1 : tensor<2x9x256xf32>
}

// Places of open number behind the streams are no channels: those are the last dimension of x.
// CHECK-LABEL: @open_places_behind_streams
func.func @open_places_behind_streams(%x: tensor<2x?x64xf32>) -> tensor<2x256x?xf32> {
  // CHECK: mhc.expand(x = %{{.*}} : tensor<?x64xf32>) <layout = Cn>
  %rows = mhc.transpose %x perm = [0, 2, 1] : tensor<2x?x64xf32> -> tensor<2x64x?xf32>
  %0 = mhc.broadcast %rows dims = [0, 1, 3] : tensor<2x64x?xf32> -> tensor<2x64x4x?xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2], [3]] : tensor<2x64x4x?xf32> into tensor<2x256x?xf32>
  return %1 : tensor<2x256x?xf32>
}

// Streams in front of all tokens: a norm says what is of one token.
// CHECK-LABEL: @streams_first
func.func @streams_first(%x: tensor<2x8x64xf32>) -> (tensor<2x8xf32>, tensor<4x2x8x64xf32>) {
  // CHECK: %[[ROWS:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]]
  // CHECK: mhc.expand(x = %[[ROWS]] : tensor<16x64xf32>) <layout = nC>
  %0 = mhc.broadcast %x dims = [1, 2, 3] : tensor<2x8x64xf32> -> tensor<4x2x8x64xf32>
  %1 = arith.mulf %0, %0 : tensor<4x2x8x64xf32>
  %2 = mhc.reduce mean %1 dims = [0, 3] : tensor<4x2x8x64xf32> -> tensor<2x8xf32>
  return %2, %0 : tensor<2x8xf32>, tensor<4x2x8x64xf32>
}

// Copies for experts, each with a norm of its own, may be no streams.
// CHECK-LABEL: @copies_for_experts
// CHECK-NOT: mhc.expand
// CHECK: return
func.func @copies_for_experts(%x: tensor<2x8x64xf32>) -> (tensor<4x2x8xf32>, tensor<4x2x8x64xf32>) {
  %0 = mhc.broadcast %x dims = [1, 2, 3] : tensor<2x8x64xf32> -> tensor<4x2x8x64xf32>
  %1 = arith.mulf %0, %0 : tensor<4x2x8x64xf32>
  %2 = mhc.reduce mean %1 dims = [3] : tensor<4x2x8x64xf32> -> tensor<4x2x8xf32>
  return %2, %0 : tensor<4x2x8xf32>, tensor<4x2x8x64xf32>
}

// A transpose alone reads nothing.
// CHECK-LABEL: @no_expand_of_what_is_transposed_and_multiplied
func.func @no_expand_of_what_is_transposed_and_multiplied(%f: tensor<?x64xf32>, %g: tensor<4x64x?xf32>) -> tensor<4x64x?xf32> {
  // CHECK-NOT: mhc.expand
  // CHECK: return
  %0 = mhc.broadcast %f dims = [0, 2] : tensor<?x64xf32> -> tensor<?x4x64xf32>
  %1 = mhc.transpose %0 perm = [1, 2, 0] : tensor<?x4x64xf32> -> tensor<4x64x?xf32>
  %2 = arith.mulf %1, %g : tensor<4x64x?xf32>
  return %2 : tensor<4x64x?xf32>
}

// Streams are never in f64.
// CHECK-LABEL: @no_expand_in_f64
func.func @no_expand_in_f64(%x: tensor<?x64xf64>) -> tensor<?x4x64xf64> {
  // CHECK: mhc.broadcast
  // CHECK-NOT: mhc.expand
  // CHECK: return
  %0 = mhc.broadcast %x dims = [0, 2] : tensor<?x64xf64> -> tensor<?x4x64xf64>
  return %0 : tensor<?x4x64xf64>
}

// Joined with the one token that there is, streams are no heads.
// CHECK-LABEL: @one_token
func.func @one_token(%x: tensor<?x1x64xf32>) -> tensor<?x4x64xf32> {
  // CHECK: mhc.expand
  %0 = mhc.broadcast %x dims = [0, 1, 3] : tensor<?x1x64xf32> -> tensor<?x1x4x64xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2], [3]] : tensor<?x1x4x64xf32> into tensor<?x4x64xf32>
  return %1 : tensor<?x4x64xf32>
}

// The rows beside themselves are those streams: in a dimension of their own, or flat.
// CHECK-LABEL: @stacked
func.func @stacked(%x: tensor<?x64xf32>) -> tensor<?x3x64xf32> {
  // CHECK: %[[S:.*]] = mhc.expand(x = %arg0 : tensor<?x64xf32>) <layout = nC> -> (streams : tensor<?x3x64xf32>)
  // CHECK: return %[[S]]
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x64xf32>
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [%tokens, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %1 = tensor.expand_shape %x [[0, 1], [2]] output_shape [%tokens, 1, 64] : tensor<?x64xf32> into tensor<?x1x64xf32>
  %2 = tensor.concat dim(1) %0, %1, %0 : (tensor<?x1x64xf32>, tensor<?x1x64xf32>, tensor<?x1x64xf32>) -> tensor<?x3x64xf32>
  return %2 : tensor<?x3x64xf32>
}

// CHECK-LABEL: @joined
func.func @joined(%x: tensor<8x64xf32>) -> tensor<8x4x64xf32> {
  // CHECK: %[[S:.*]] = mhc.expand(x = %arg0 : tensor<8x64xf32>) <layout = nC> -> (streams : tensor<8x4x64xf32>)
  // CHECK: return %[[S]]
  %0 = tensor.concat dim(1) %x, %x, %x, %x : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x256xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [8, 4, 64] : tensor<8x256xf32> into tensor<8x4x64xf32>
  return %1 : tensor<8x4x64xf32>
}

// CHECK-LABEL: @other_rows_in_between
// CHECK-NOT: mhc.expand
func.func @other_rows_in_between(%x: tensor<8x64xf32>, %y: tensor<8x64xf32>) -> tensor<8x3x64xf32> {
  %0 = tensor.concat dim(1) %x, %y, %x : (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x192xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [8, 3, 64] : tensor<8x192xf32> into tensor<8x3x64xf32>
  return %1 : tensor<8x3x64xf32>
}

// Angles of a rotation, which are the same for both halves, are no streams.
// CHECK-LABEL: @halves_alike
// CHECK-NOT: mhc.expand
func.func @halves_alike(%angles: tensor<8x32xf32>, %x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = tensor.concat dim(1) %angles, %angles : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x64xf32>
  %1 = math.cos %0 : tensor<8x64xf32>
  %2 = arith.mulf %x, %1 : tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}

// A product of each token with one matrix of all tokens reads streams; that the matrix is repeated says nothing of them.
// CHECK-LABEL: @mixed_by_one_matrix(
// CHECK: mhc.expand(x = %arg0 : tensor<8x64xf32>) <layout = nC>
func.func @mixed_by_one_matrix(%x: tensor<8x64xf32>, %m: tensor<4x4xf32>) -> tensor<8x4x64xbf16> {
  %streams = mhc.broadcast %x dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %narrow = arith.truncf %streams : tensor<8x4x64xf32> to tensor<8x4x64xbf16>
  %narrow_m = arith.truncf %m : tensor<4x4xf32> to tensor<4x4xbf16>
  %ms = mhc.broadcast %narrow_m dims = [1, 2] : tensor<4x4xbf16> -> tensor<8x4x4xbf16>
  %out = mhc.batch_matmul %ms, %narrow : (tensor<8x4x4xbf16>, tensor<8x4x64xbf16>) -> tensor<8x4x64xbf16>
  return %out : tensor<8x4x64xbf16>
}

// The same rows are the streams where they are a term of a sum, in whichever layout, as in x + (h - I) x. Other rows
// are none.
// CHECK-LABEL: @term_of_a_sum(
func.func @term_of_a_sum(%x: tensor<8x16xf32>, %z: tensor<8x16xf32>, %y: tensor<8x16x4xf32>)
    -> (tensor<8xf32>, tensor<8x16x4xf32>, tensor<8x16x4xf32>) {
  // CHECK: %[[STREAMS:.*]] = mhc.expand(x = %arg0 : tensor<8x16xf32>) <layout = nC>
  // CHECK: %[[INNER:.*]] = mhc.transpose %[[STREAMS]] perm = [0, 2, 1]
  // CHECK: arith.addf %[[INNER]], %arg2
  // CHECK: %[[OTHER:.*]] = mhc.broadcast %arg1 dims = [0, 1]
  // CHECK: arith.addf %[[OTHER]], %arg2
  %streams = mhc.broadcast %x dims = [0, 2] : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %squares = arith.mulf %streams, %streams : tensor<8x4x16xf32>
  %sum = mhc.reduce sum %squares dims = [1, 2] : tensor<8x4x16xf32> -> tensor<8xf32>
  %inner = mhc.broadcast %x dims = [0, 1] : tensor<8x16xf32> -> tensor<8x16x4xf32>
  %0 = arith.addf %inner, %y : tensor<8x16x4xf32>
  %others = mhc.broadcast %z dims = [0, 1] : tensor<8x16xf32> -> tensor<8x16x4xf32>
  %1 = arith.addf %others, %y : tensor<8x16x4xf32>
  return %sum, %0, %1 : tensor<8xf32>, tensor<8x16x4xf32>, tensor<8x16x4xf32>
}

// Nor are they where they are a factor, as a sublayer's output may be.
// CHECK-LABEL: @factor_of_a_product(
func.func @factor_of_a_product(%x: tensor<8x16xf32>, %y: tensor<8x16x4xf32>) -> (tensor<8xf32>, tensor<8x16x4xf32>) {
  // CHECK: mhc.expand(x = %arg0 : tensor<8x16xf32>) <layout = nC>
  // CHECK: %[[FACTOR:.*]] = mhc.broadcast %arg0 dims = [0, 1]
  // CHECK: arith.mulf %[[FACTOR]], %arg1
  %streams = mhc.broadcast %x dims = [0, 2] : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %squares = arith.mulf %streams, %streams : tensor<8x4x16xf32>
  %sum = mhc.reduce sum %squares dims = [1, 2] : tensor<8x4x16xf32> -> tensor<8xf32>
  %factor = mhc.broadcast %x dims = [0, 1] : tensor<8x16xf32> -> tensor<8x16x4xf32>
  %0 = arith.mulf %factor, %y : tensor<8x16x4xf32>
  return %sum, %0 : tensor<8xf32>, tensor<8x16x4xf32>
}

// Streams in front of pixels do not tell these from channels; the same streams behind them do.
// CHECK-LABEL: @in_front_of_pixels(
func.func @in_front_of_pixels(%x: tensor<2x8x25xf32>) -> (tensor<2x4x8x25xf32>, tensor<2x25x4x8xf32>) {
  // CHECK: %[[PIXELS:.*]] = mhc.transpose %arg0 perm = [0, 2, 1] : tensor<2x8x25xf32> -> tensor<2x25x8xf32>
  // CHECK: %[[X:.*]] = tensor.collapse_shape %[[PIXELS]] {{\[}}[0, 1], [2]] : tensor<2x25x8xf32> into tensor<50x8xf32>
  // CHECK: %[[STREAMS:.*]] = mhc.expand(x = %[[X]] : tensor<50x8xf32>) <layout = nC>
  // CHECK-NOT: mhc.expand
  // CHECK: %[[BEHIND:.*]] = tensor.expand_shape %[[STREAMS]]
  // CHECK: %[[FRONT:.*]] = mhc.transpose %[[BEHIND]] perm = [0, 2, 3, 1] : tensor<2x25x4x8xf32> -> tensor<2x4x8x25xf32>
  // CHECK: return %[[FRONT]], %[[BEHIND]]
  %front = mhc.broadcast %x dims = [0, 2, 3] : tensor<2x8x25xf32> -> tensor<2x4x8x25xf32>
  %pixels = mhc.transpose %x perm = [0, 2, 1] : tensor<2x8x25xf32> -> tensor<2x25x8xf32>
  %behind = mhc.broadcast %pixels dims = [0, 1, 3] : tensor<2x25x8xf32> -> tensor<2x25x4x8xf32>
  return %front, %behind : tensor<2x4x8x25xf32>, tensor<2x25x4x8xf32>
}

// Sequences of an open length in a batch of a known one: streams have the tokens in the order of their rows.
// CHECK-LABEL: @open_sequences
// CHECK-NOT: mhc.transpose
// CHECK: mhc.expand(x = %{{.*}} : tensor<?x16xf32>) <layout = nC>
// CHECK-NOT: mhc.transpose
// CHECK: return
func.func @open_sequences(%x: tensor<2x?x16xf32>) -> (tensor<2x?x64xf32>, tensor<2x?xf32>) {
  %streams = mhc.broadcast %x dims = [0, 1, 3] : tensor<2x?x16xf32> -> tensor<2x?x4x16xf32>
  %flat = tensor.collapse_shape %streams [[0], [1], [2, 3]] : tensor<2x?x4x16xf32> into tensor<2x?x64xf32>
  %square = arith.mulf %flat, %flat : tensor<2x?x64xf32>
  %mean = mhc.reduce mean %square dims = [2] : tensor<2x?x64xf32> -> tensor<2x?xf32>
  return %flat, %mean : tensor<2x?x64xf32>, tensor<2x?xf32>
}

// The same with the streams in front: the tokens stay behind the batch.
// CHECK-LABEL: @open_sequences_behind_streams
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : tensor<2x?x16xf32> into tensor<?x16xf32>
// CHECK: mhc.expand(x = %[[ROWS]] : tensor<?x16xf32>) <layout = nC>
func.func @open_sequences_behind_streams(%x: tensor<2x?x16xf32>) -> (tensor<4x2x?x16xf32>, tensor<2x?xf32>) {
  %streams = mhc.broadcast %x dims = [1, 2, 3] : tensor<2x?x16xf32> -> tensor<4x2x?x16xf32>
  %square = arith.mulf %streams, %streams : tensor<4x2x?x16xf32>
  %mean = mhc.reduce mean %square dims = [0, 3] : tensor<4x2x?x16xf32> -> tensor<2x?xf32>
  return %streams, %mean : tensor<4x2x?x16xf32>, tensor<2x?xf32>
}
