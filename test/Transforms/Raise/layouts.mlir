// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// Streams keep the layout that the program gives them. A transpose of streams is one that the program has.

// CHECK-LABEL: @inner_streams
// CHECK-NOT: mhc.transpose
// CHECK: mhc.projection(x = %arg0 : tensor<?x64x4xf32>{{.*}}<layout = Cn
// CHECK: mhc.aggregate(x = %arg0 : tensor<?x64x4xf32>{{.*}}<layout = Cn>
// CHECK-NOT: mhc.transpose
// CHECK: return
func.func @inner_streams(%x: tensor<?x64x4xf32>, %phi: tensor<24x256xf32>, %h_pre: tensor<?x4xf32>)
    -> (tensor<?x24xf32>, tensor<?xf32>, tensor<?x64xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x64x4xf32> into tensor<?x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x256xf32>, tensor<24x256xf32>) -> tensor<?x24xf32>
  %square = arith.mulf %flat, %flat : tensor<?x256xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 2] : tensor<?x4xf32> -> tensor<?x64x4xf32>
  %products = arith.mulf %x, %weights : tensor<?x64x4xf32>
  %u = mhc.reduce sum %products dims = [2] : tensor<?x64x4xf32> -> tensor<?x64xf32>
  return %proj, %mean, %u : tensor<?x24xf32>, tensor<?xf32>, tensor<?x64xf32>
}

// A product that transposes streams and their weight alike, as einsum does, is of both as they are.
// CHECK-LABEL: @transposed_for_a_product
// CHECK-NOT: mhc.transpose
// CHECK: %[[PHI:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0], [1, 2]]
// CHECK: mhc.projection(x = %arg0 : tensor<?x4x64xf32>, phi = %[[PHI]] : tensor<24x256xf32>) <layout = nC
// CHECK-NOT: mhc.transpose
// CHECK: return
func.func @transposed_for_a_product(%x: tensor<?x4x64xf32>, %phi: tensor<24x4x64xf32>)
    -> (tensor<?x24xf32>, tensor<?xf32>) {
  %turned = mhc.transpose %x perm = [0, 2, 1] : tensor<?x4x64xf32> -> tensor<?x64x4xf32>
  %flat = tensor.collapse_shape %turned [[0], [1, 2]] : tensor<?x64x4xf32> into tensor<?x256xf32>
  %weight = mhc.transpose %phi perm = [0, 2, 1] : tensor<24x4x64xf32> -> tensor<24x64x4xf32>
  %rows = tensor.collapse_shape %weight [[0], [1, 2]] : tensor<24x64x4xf32> into tensor<24x256xf32>
  %proj = mhc.matmul %flat, %rows transpose_rhs : (tensor<?x256xf32>, tensor<24x256xf32>) -> tensor<?x24xf32>
  %square = arith.mulf %x, %x : tensor<?x4x64xf32>
  %mean = mhc.reduce mean %square dims = [1, 2] : tensor<?x4x64xf32> -> tensor<?xf32>
  return %proj, %mean : tensor<?x24xf32>, tensor<?xf32>
}

// A flat weight is of streams in one order, to which the program brings them.
// CHECK-LABEL: @transposed_for_a_flat_weight
// CHECK: %[[X:.*]] = mhc.transpose %arg0 perm = [0, 2, 1]
// CHECK: mhc.projection(x = %[[X]] : tensor<?x4x64xf32>, phi = %arg1 : tensor<24x256xf32>) <layout = nC
func.func @transposed_for_a_flat_weight(%x: tensor<?x64x4xf32>, %phi: tensor<24x256xf32>)
    -> (tensor<?x24xf32>, tensor<?xf32>) {
  %turned = mhc.transpose %x perm = [0, 2, 1] : tensor<?x64x4xf32> -> tensor<?x4x64xf32>
  %flat = tensor.collapse_shape %turned [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x256xf32>, tensor<24x256xf32>) -> tensor<?x24xf32>
  %square = arith.mulf %x, %x : tensor<?x64x4xf32>
  %mean = mhc.reduce mean %square dims = [1, 2] : tensor<?x64x4xf32> -> tensor<?xf32>
  return %proj, %mean : tensor<?x24xf32>, tensor<?xf32>
}

// CHECK-LABEL: @transposed_behind_post
// CHECK: %[[OUT:.*]] = mhc.post({{.*}}<layout = nC, orient = oi>
// CHECK-NEXT: %[[TURNED:.*]] = mhc.transpose %[[OUT]] perm = [0, 2, 1]
// CHECK-NEXT: return %[[TURNED]]
func.func @transposed_behind_post(%x: tensor<8x4x64xf32>, %h_res: tensor<8x4x4xf32>, %h_post: tensor<8x4xf32>,
                                  %f: tensor<8x64xf32>) -> tensor<8x64x4xf32> {
  %mixed = mhc.batch_matmul %h_res, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %gate = mhc.broadcast %h_post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %gate, %rows : tensor<8x4x64xf32>
  %sum = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  %out = mhc.transpose %sum perm = [0, 2, 1] : tensor<8x4x64xf32> -> tensor<8x64x4xf32>
  return %out : tensor<8x64x4xf32>
}

// Tokens are sequences and batches of any number: products of matrices join them, everything else has both.
// CHECK-LABEL: @sequences_and_batches
// CHECK: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2], [3]]
// CHECK: mhc.projection(x = %{{.*}} : tensor<?x4x64xf32>
// CHECK: %[[U:.*]] = mhc.aggregate(x = %{{.*}} : tensor<?x4x64xf32>
// CHECK: %[[OUT:.*]] = mhc.post(f = %{{.*}} : tensor<?x64xf32>, h_post = %{{.*}} : tensor<?x4xf32>, x = %{{.*}} : tensor<?x4x64xf32>
// CHECK: tensor.expand_shape %[[OUT]] {{\[\[}}0, 1], [2], [3]]
// CHECK-NOT: mhc.batch_matmul
// CHECK: return
func.func @sequences_and_batches(%x: tensor<?x?x4x64xf32>, %phi: tensor<24x256xf32>, %h_res: tensor<?x?x4x4xf32>,
                                 %h_post: tensor<?x?x4xf32>)
    -> (tensor<?x?x24xf32>, tensor<?x?xf32>, tensor<?x?x4x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.dim %x, %c0 : tensor<?x?x4x64xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x4x64xf32>
  %rows = tensor.collapse_shape %x [[0, 1], [2, 3]] : tensor<?x?x4x64xf32> into tensor<?x256xf32>
  %flat = mhc.matmul %rows, %phi transpose_rhs : (tensor<?x256xf32>, tensor<24x256xf32>) -> tensor<?x24xf32>
  %proj = tensor.expand_shape %flat [[0, 1], [2]] output_shape [%s, %b, 24] : tensor<?x24xf32> into tensor<?x?x24xf32>
  %joined = tensor.collapse_shape %x [[0], [1], [2, 3]] : tensor<?x?x4x64xf32> into tensor<?x?x256xf32>
  %square = arith.mulf %joined, %joined : tensor<?x?x256xf32>
  %mean = mhc.reduce mean %square dims = [2] : tensor<?x?x256xf32> -> tensor<?x?xf32>
  %gate = tensor.extract_slice %proj[0, 0, 0] [%s, %b, 4] [1, 1, 1] : tensor<?x?x24xf32> to tensor<?x?x4xf32>
  %h_pre = mhc.sigmoid %gate : tensor<?x?x4xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 1, 2] : tensor<?x?x4xf32> -> tensor<?x?x4x64xf32>
  %weighted = arith.mulf %x, %weights : tensor<?x?x4x64xf32>
  %u = mhc.reduce sum %weighted dims = [2] : tensor<?x?x4x64xf32> -> tensor<?x?x64xf32>
  %f = math.tanh %u : tensor<?x?x64xf32>
  %branch_gate = mhc.broadcast %h_post dims = [0, 1, 2] : tensor<?x?x4xf32> -> tensor<?x?x4x64xf32>
  %branch_rows = mhc.broadcast %f dims = [0, 1, 3] : tensor<?x?x64xf32> -> tensor<?x?x4x64xf32>
  %branch = arith.mulf %branch_gate, %branch_rows : tensor<?x?x4x64xf32>
  %maps = tensor.collapse_shape %h_res [[0, 1], [2], [3]] : tensor<?x?x4x4xf32> into tensor<?x4x4xf32>
  %streams = tensor.collapse_shape %x [[0, 1], [2], [3]] : tensor<?x?x4x64xf32> into tensor<?x4x64xf32>
  %mixed = mhc.batch_matmul %maps, %streams : (tensor<?x4x4xf32>, tensor<?x4x64xf32>) -> tensor<?x4x64xf32>
  %mix = tensor.expand_shape %mixed [[0, 1], [2], [3]] output_shape [%s, %b, 4, 64]
    : tensor<?x4x64xf32> into tensor<?x?x4x64xf32>
  %out = arith.addf %mix, %branch : tensor<?x?x4x64xf32>
  return %proj, %mean, %out : tensor<?x?x24xf32>, tensor<?x?xf32>, tensor<?x?x4x64xf32>
}

// One matrix for all tokens is one product, of streams that are transposed for it: they are mixed as they are stored.
// The denominators of both softmaxes are factors of the sublayer's output, each of which goes to its own gate.
// CHECK-LABEL: @coefficients_of_all_tokens
// CHECK: mhc.aggregate(x = %arg0 : tensor<10x4x48xf32>, h_pre = %{{.*}} : tensor<10x4xf32>) <layout = nC>
// CHECK: mhc.post(f = %{{.*}} : tensor<10x48xf32>, h_post = %{{.*}} : tensor<10x4xf32>, x = %arg0 : tensor<10x4x48xf32>, h_res = %{{.*}} : tensor<10x4x4xf32>) <layout = nC, orient = oi>
func.func @coefficients_of_all_tokens(%x: tensor<10x4x48xf32>, %pre: tensor<1x4xf32>, %post: tensor<1x4xf32>,
    %z: tensor<4x4xf32>, %w: tensor<48x48xf32>) -> tensor<10x4x48xf32> {
  %e = math.exp %z : tensor<4x4xf32>
  %s1 = mhc.reduce sum %e dims = [1] : tensor<4x4xf32> -> tensor<4xf32>
  %b1 = mhc.broadcast %s1 dims = [0] : tensor<4xf32> -> tensor<4x4xf32>
  %a1 = arith.divf %e, %b1 : tensor<4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [0] : tensor<4x4xf32> -> tensor<4xf32>
  %b2 = mhc.broadcast %s2 dims = [1] : tensor<4xf32> -> tensor<4x4xf32>
  %mix = arith.divf %a1, %b2 : tensor<4x4xf32>
  %turned = mhc.transpose %x perm = [1, 0, 2] : tensor<10x4x48xf32> -> tensor<4x10x48xf32>
  %flat = tensor.collapse_shape %turned [[0], [1, 2]] : tensor<4x10x48xf32> into tensor<4x480xf32>
  %h_pre = mhc.softmax %pre dim = 1 : tensor<1x4xf32>
  %u = mhc.matmul %h_pre, %flat : (tensor<1x4xf32>, tensor<4x480xf32>) -> tensor<1x480xf32>
  %rows = tensor.expand_shape %u [[0], [1, 2]] output_shape [1, 10, 48] : tensor<1x480xf32> into tensor<1x10x48xf32>
  %tokens = tensor.collapse_shape %rows [[0, 1], [2]] : tensor<1x10x48xf32> into tensor<10x48xf32>
  %f = mhc.matmul %tokens, %w : (tensor<10x48xf32>, tensor<48x48xf32>) -> tensor<10x48xf32>
  %mixed = mhc.matmul %mix, %flat : (tensor<4x4xf32>, tensor<4x480xf32>) -> tensor<4x480xf32>
  %apart = tensor.expand_shape %mixed [[0], [1, 2]] output_shape [4, 10, 48] : tensor<4x480xf32> into tensor<4x10x48xf32>
  %back = mhc.transpose %apart perm = [1, 0, 2] : tensor<4x10x48xf32> -> tensor<10x4x48xf32>
  %h_post = mhc.softmax %post dim = 1 : tensor<1x4xf32>
  %gate = tensor.collapse_shape %h_post [[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
  %gates = mhc.broadcast %gate dims = [1] : tensor<4xf32> -> tensor<10x4x48xf32>
  %outputs = mhc.broadcast %f dims = [0, 2] : tensor<10x48xf32> -> tensor<10x4x48xf32>
  %branch = arith.mulf %gates, %outputs : tensor<10x4x48xf32>
  %out = arith.addf %back, %branch : tensor<10x4x48xf32>
  return %out : tensor<10x4x48xf32>
}

// One matrix for all tokens, of streams in front of two dimensions of tokens: the channels are the last dimension.
// CHECK-LABEL: @streams_before_tokens
// CHECK: %[[TURNED:.*]] = mhc.transpose %arg0 perm = [1, 2, 0, 3]
// CHECK: %[[X:.*]] = tensor.collapse_shape %[[TURNED]] {{.*}} into tensor<30x4x48xf32>
// CHECK: mhc.aggregate(x = %[[X]] : tensor<30x4x48xf32>
// CHECK: mhc.post(f = %{{.*}} : tensor<30x48xf32>, {{.*}} x = %[[X]] : tensor<30x4x48xf32>, {{.*}}) <layout = nC
func.func @streams_before_tokens(%x: tensor<4x3x10x48xf32>, %pre: tensor<1x4xf32>, %post: tensor<4xf32>,
    %z: tensor<4x4xf32>, %w: tensor<48x48xf32>) -> tensor<4x3x10x48xf32> {
  %e = math.exp %z : tensor<4x4xf32>
  %s1 = mhc.reduce sum %e dims = [1] : tensor<4x4xf32> -> tensor<4xf32>
  %b1 = mhc.broadcast %s1 dims = [0] : tensor<4xf32> -> tensor<4x4xf32>
  %a1 = arith.divf %e, %b1 : tensor<4x4xf32>
  %s2 = mhc.reduce sum %a1 dims = [0] : tensor<4x4xf32> -> tensor<4xf32>
  %b2 = mhc.broadcast %s2 dims = [1] : tensor<4xf32> -> tensor<4x4xf32>
  %mix = arith.divf %a1, %b2 : tensor<4x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2, 3]] : tensor<4x3x10x48xf32> into tensor<4x1440xf32>
  %h_pre = mhc.softmax %pre dim = 1 : tensor<1x4xf32>
  %u = mhc.matmul %h_pre, %flat : (tensor<1x4xf32>, tensor<4x1440xf32>) -> tensor<1x1440xf32>
  %rows = tensor.expand_shape %u [[0], [1, 2]] output_shape [1, 30, 48] : tensor<1x1440xf32> into tensor<1x30x48xf32>
  %tokens = tensor.collapse_shape %rows [[0, 1], [2]] : tensor<1x30x48xf32> into tensor<30x48xf32>
  %f = mhc.matmul %tokens, %w : (tensor<30x48xf32>, tensor<48x48xf32>) -> tensor<30x48xf32>
  %mixed = mhc.matmul %mix, %flat : (tensor<4x4xf32>, tensor<4x1440xf32>) -> tensor<4x1440xf32>
  %apart = tensor.expand_shape %mixed [[0], [1, 2, 3]] output_shape [4, 3, 10, 48]
    : tensor<4x1440xf32> into tensor<4x3x10x48xf32>
  %gates = mhc.broadcast %post dims = [0] : tensor<4xf32> -> tensor<4x3x10x48xf32>
  %split = tensor.expand_shape %f [[0, 1], [2]] output_shape [3, 10, 48] : tensor<30x48xf32> into tensor<3x10x48xf32>
  %outputs = mhc.broadcast %split dims = [1, 2, 3] : tensor<3x10x48xf32> -> tensor<4x3x10x48xf32>
  %branch = arith.mulf %gates, %outputs : tensor<4x3x10x48xf32>
  %out = arith.addf %apart, %branch : tensor<4x3x10x48xf32>
  return %out : tensor<4x3x10x48xf32>
}

// Products written the other way round make the streams in another order than those that they mix: the post keeps its
// order, and so does what reads it, with the weights as they are.
// CHECK-LABEL: @order_of_a_post
// CHECK: %[[OUT:.*]] = mhc.post({{.*}} x = %arg0 : tensor<8x4x6xbf16>{{.*}}<layout = nC
// CHECK-NOT: mhc.transpose
// CHECK: mhc.projection(x = %[[OUT]] : tensor<8x4x6xbf16>, phi = %arg4 : {{.*}}<layout = nC
// CHECK: %[[U:.*]] = mhc.aggregate(x = %[[OUT]] : {{.*}}<layout = nC>
// CHECK-NOT: mhc.transpose
// CHECK: return %[[U]], %[[OUT]]
func.func @order_of_a_post(%x: tensor<8x4x6xbf16>, %f: tensor<8x6xbf16>, %h: tensor<8x4xf32>, %r: tensor<8x4x4xf32>,
                           %phi: tensor<4x24xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> (tensor<8x6xbf16>, tensor<8x4x6xbf16>) {
  %eps = arith.constant dense<1.0e-6> : tensor<8xf32>
  %small = arith.constant dense<1.0e-6> : tensor<8x4xf32>
  %mix = mhc.sinkhorn(logits = %r : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %column = tensor.expand_shape %h [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
  %wider = arith.extf %f : tensor<8x6xbf16> to tensor<8x6xf32>
  %row = tensor.expand_shape %wider [[0], [1, 2]] output_shape [8, 1, 6] : tensor<8x6xf32> into tensor<8x1x6xf32>
  %outer = mhc.batch_matmul %row, %column transpose_lhs transpose_rhs : (tensor<8x1x6xf32>, tensor<8x4x1xf32>) -> tensor<8x6x4xf32>
  %branch = mhc.transpose %outer perm = [0, 2, 1] : tensor<8x6x4xf32> -> tensor<8x4x6xf32>
  %wide = arith.extf %x : tensor<8x4x6xbf16> to tensor<8x4x6xf32>
  %product = mhc.batch_matmul %wide, %mix transpose_lhs transpose_rhs : (tensor<8x4x6xf32>, tensor<8x4x4xf32>) -> tensor<8x6x4xf32>
  %mixed = mhc.transpose %product perm = [0, 2, 1] : tensor<8x6x4xf32> -> tensor<8x4x6xf32>
  %sum = arith.addf %branch, %mixed : tensor<8x4x6xf32>
  %out = arith.truncf %sum : tensor<8x4x6xf32> to tensor<8x4x6xbf16>
  %flat = tensor.collapse_shape %out [[0], [1, 2]] : tensor<8x4x6xbf16> into tensor<8x24xbf16>
  %read = arith.extf %flat : tensor<8x24xbf16> to tensor<8x24xf32>
  %rows = mhc.matmul %read, %phi transpose_rhs : (tensor<8x24xf32>, tensor<4x24xf32>) -> tensor<8x4xf32>
  %squares = arith.mulf %read, %read : tensor<8x24xf32>
  %mean = mhc.reduce mean %squares dims = [1] : tensor<8x24xf32> -> tensor<8xf32>
  %shifted = arith.addf %mean, %eps : tensor<8xf32>
  %root = math.rsqrt %shifted : tensor<8xf32>
  %roots = mhc.broadcast %root dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %normed = arith.mulf %roots, %rows : tensor<8x4xf32>
  %number = tensor.extract_slice %alpha[0] [1] [1] : tensor<1xf32> to tensor<f32>
  %numbers = mhc.broadcast %number dims = [] : tensor<f32> -> tensor<8x4xf32>
  %scaled = arith.mulf %normed, %numbers : tensor<8x4xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %scaled, %bias : tensor<8x4xf32>
  %sigmoid = mhc.sigmoid %z : tensor<8x4xf32>
  %pre = arith.addf %sigmoid, %small : tensor<8x4xf32>
  %gates = mhc.broadcast %pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x6xf32>
  %again = arith.extf %out : tensor<8x4x6xbf16> to tensor<8x4x6xf32>
  %weighed = arith.mulf %again, %gates : tensor<8x4x6xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x6xf32> -> tensor<8x6xf32>
  %rounded = arith.truncf %u : tensor<8x6xf32> to tensor<8x6xbf16>
  return %rounded, %out : tensor<8x6xbf16>, tensor<8x4x6xbf16>
}

// Flat rows are projected in the order in which the streams are read, also where that is told behind the gates.
// CHECK-LABEL: @order_told_late
// CHECK: %[[X:.*]] = tensor.expand_shape %arg0 {{.*}} output_shape [8, 16, 4]
// CHECK: mhc.projection(x = %[[X]] : tensor<8x16x4xf32>{{.*}}<layout = Cn
// CHECK: mhc.aggregate(x = %[[X]] : tensor<8x16x4xf32>{{.*}}<layout = Cn>
// CHECK: return
func.func @order_told_late(%x: tensor<8x64xf32>, %phi: tensor<4x64xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> tensor<8x16xf32> {
  %eps = arith.constant dense<1.0e-6> : tensor<8xf32>
  %rows = mhc.matmul %x, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %squares = arith.mulf %x, %x : tensor<8x64xf32>
  %mean = mhc.reduce mean %squares dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %shifted = arith.addf %mean, %eps : tensor<8xf32>
  %root = math.rsqrt %shifted : tensor<8xf32>
  %roots = mhc.broadcast %root dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %normed = arith.mulf %roots, %rows : tensor<8x4xf32>
  %number = tensor.extract_slice %alpha[0] [1] [1] : tensor<1xf32> to tensor<f32>
  %numbers = mhc.broadcast %number dims = [] : tensor<f32> -> tensor<8x4xf32>
  %scaled = arith.mulf %normed, %numbers : tensor<8x4xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %scaled, %bias : tensor<8x4xf32>
  %sigmoid = mhc.sigmoid %z : tensor<8x4xf32>
  %gates = mhc.broadcast %sigmoid dims = [0, 2] : tensor<8x4xf32> -> tensor<8x16x4xf32>
  %streams = tensor.expand_shape %x [[0], [1, 2]] output_shape [8, 16, 4] : tensor<8x64xf32> into tensor<8x16x4xf32>
  %weighed = arith.mulf %streams, %gates : tensor<8x16x4xf32>
  %u = mhc.reduce sum %weighed dims = [2] : tensor<8x16x4xf32> -> tensor<8x16xf32>
  return %u : tensor<8x16xf32>
}

// Streams that are transposed to be mixed, with batch and tokens apart, are added up as the combine makes them.
// CHECK-LABEL: func.func @added_up_as_made(
// CHECK: %[[OUT:.*]] = mhc.post(
// CHECK-NEXT: mhc.contract(x = %[[OUT]] :
func.func @added_up_as_made(%x: tensor<2x5x4x16xf32>, %pre: tensor<2x5x4xf32>, %post: tensor<2x5x4xf32>,
                            %res: tensor<10x4x4xf32>) -> tensor<2x5x16xf32> {
  %turned = mhc.transpose %x perm = [0, 1, 3, 2] : tensor<2x5x4x16xf32> -> tensor<2x5x16x4xf32>
  %rows = tensor.collapse_shape %turned [[0, 1], [2], [3]] : tensor<2x5x16x4xf32> into tensor<10x16x4xf32>
  %mixed = mhc.batch_matmul %rows, %res : (tensor<10x16x4xf32>, tensor<10x4x4xf32>) -> tensor<10x16x4xf32>
  %apart = tensor.expand_shape %mixed [[0, 1], [2], [3]] output_shape [2, 5, 16, 4]
    : tensor<10x16x4xf32> into tensor<2x5x16x4xf32>
  %streams = mhc.transpose %apart perm = [0, 1, 3, 2] : tensor<2x5x16x4xf32> -> tensor<2x5x4x16xf32>
  %prew = mhc.broadcast %pre dims = [0, 1, 2] : tensor<2x5x4xf32> -> tensor<2x5x4x16xf32>
  %weighed = arith.mulf %prew, %x : tensor<2x5x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [2] : tensor<2x5x4x16xf32> -> tensor<2x5x16xf32>
  %f = math.tanh %u : tensor<2x5x16xf32>
  %fw = mhc.broadcast %f dims = [0, 1, 3] : tensor<2x5x16xf32> -> tensor<2x5x4x16xf32>
  %hw = mhc.broadcast %post dims = [0, 1, 2] : tensor<2x5x4xf32> -> tensor<2x5x4x16xf32>
  %branch = arith.mulf %hw, %fw : tensor<2x5x4x16xf32>
  %out = arith.addf %streams, %branch : tensor<2x5x4x16xf32>
  %sum = mhc.reduce sum %out dims = [2] : tensor<2x5x4x16xf32> -> tensor<2x5x16xf32>
  return %sum : tensor<2x5x16xf32>
}
