// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// A bias inside of alpha, and one number that divides all logits: both go into alpha and beta.
// CHECK-LABEL: @bias_inside_of_alpha_over_a_temperature
// CHECK-DAG: %[[FIFTH:.*]] = arith.constant dense<2.000000e-01> : tensor<1xf32>
// CHECK: mhc.projection(x = %arg0 : tensor<?x4x16xf32>, phi = %arg1 : tensor<4x64xf32>)
// CHECK: %[[ALPHA:.*]] = arith.mulf %arg2, %[[FIFTH]] : tensor<1xf32>
// CHECK: mhc.gates({{.*}} alpha = %[[ALPHA]] : tensor<1xf32>, beta = %{{.*}} : tensor<4xf32>)
func.func @bias_inside_of_alpha_over_a_temperature(%x: tensor<?x4x16xf32>, %phi: tensor<4x64xf32>, %alpha: tensor<1xf32>,
                                                   %bias: tensor<4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x16xf32>
  %five = arith.constant 5.0 : f32
  %tau = tensor.splat %five[%M] : tensor<?x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x64xf32>, tensor<4x64xf32>) -> tensor<?x4xf32>
  %biases = mhc.broadcast %bias[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %sum = arith.addf %p, %biases : tensor<?x4xf32>
  %alphas = mhc.broadcast %alpha[%M] dims = [1] : tensor<1xf32> -> tensor<?x4xf32>
  %scaled = arith.mulf %sum, %alphas : tensor<?x4xf32>
  %z = arith.divf %scaled, %tau : tensor<?x4xf32>
  %gate = mhc.sigmoid %z : tensor<?x4xf32>
  return %gate : tensor<?x4xf32>
}

// A gate without a bias, of streams that show their number.
// CHECK-LABEL: @no_bias
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK: mhc.gates({{.*}} beta = %[[ZEROS]] : tensor<4xf32>)
func.func @no_bias(%x: tensor<8x4x16xf32>, %phi: tensor<4x4x16xf32>) -> tensor<8x4xf32> {
  %xs = mhc.broadcast %x dims = [0, 2, 3] : tensor<8x4x16xf32> -> tensor<8x4x4x16xf32>
  %phis = mhc.broadcast %phi dims = [1, 2, 3] : tensor<4x4x16xf32> -> tensor<8x4x4x16xf32>
  %products = arith.mulf %xs, %phis : tensor<8x4x4x16xf32>
  %z = mhc.reduce sum %products dims = [2, 3] : tensor<8x4x4x16xf32> -> tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

// A temperature that is a parameter divides the logits: alpha and the bias over it.
// CHECK-LABEL: @temperature_parameter
// CHECK: %[[RECIPROCAL:.*]] = arith.divf %{{.*}}, %arg4 : tensor<1xf32>
// CHECK: %[[ALPHA:.*]] = arith.mulf {{.*}}%[[RECIPROCAL]]{{.*}} : tensor<1xf32>
// CHECK: mhc.gates({{.*}} alpha = %[[ALPHA]] : tensor<1xf32>, beta = %{{.*}} : tensor<4xf32>)
func.func @temperature_parameter(%x: tensor<8x4x16xf32>, %phi: tensor<4x64xf32>, %alpha: tensor<1xf32>,
                                 %bias: tensor<4xf32>, %tau: tensor<1xf32>) -> tensor<8x4xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %alpha0 = tensor.collapse_shape %alpha [] : tensor<1xf32> into tensor<f32>
  %alphas = mhc.broadcast %alpha0 dims = [] : tensor<f32> -> tensor<8x4xf32>
  %scaled = arith.mulf %p, %alphas : tensor<8x4xf32>
  %biases = mhc.broadcast %bias dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %sum = arith.addf %scaled, %biases : tensor<8x4xf32>
  %tau0 = tensor.collapse_shape %tau [] : tensor<1xf32> into tensor<f32>
  %taus = mhc.broadcast %tau0 dims = [] : tensor<f32> -> tensor<8x4xf32>
  %z = arith.divf %sum, %taus : tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

// A bounded alpha is read as a sum, and is the value that the program has of it.
// CHECK-LABEL: @hyperbolic_tangent_as_alpha
// CHECK: %[[TANH:.*]] = math.tanh %arg2 : tensor<1xf32>
// CHECK: mhc.gates({{.*}} alpha = %[[TANH]] : tensor<1xf32>, beta = %arg3 : tensor<4xf32>)
func.func @hyperbolic_tangent_as_alpha(%x: tensor<8x4x16xf32>, %phi: tensor<4x64xf32>, %alpha: tensor<1xf32>,
                                       %bias: tensor<4xf32>) -> tensor<8x4xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %bounded = math.tanh %alpha : tensor<1xf32>
  %alphas = mhc.broadcast %bounded dims = [1] : tensor<1xf32> -> tensor<8x4xf32>
  %scaled = arith.mulf %p, %alphas : tensor<8x4xf32>
  %biases = mhc.broadcast %bias dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %scaled, %biases : tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

// Also of a bias, for which the program has no value of its product.
// CHECK-LABEL: @bias_times_hyperbolic_tangent
// CHECK: %[[TANH:.*]] = math.tanh %arg2 : tensor<1xf32>
// CHECK: %[[SIGMOID:.*]] = mhc.sigmoid
// CHECK: mhc.gates({{.*}} alpha = %[[TANH]] : tensor<1xf32>, beta = %{{.*}} : tensor<4xf32>)
func.func @bias_times_hyperbolic_tangent(%x: tensor<8x4x16xf32>, %phi: tensor<4x64xf32>, %alpha: tensor<1xf32>,
                                         %own: tensor<4xf32>, %bias: tensor<4xf32>) -> tensor<8x4xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %owns = mhc.broadcast %own dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %linear = arith.addf %p, %owns : tensor<8x4xf32>
  %bounded = math.tanh %alpha : tensor<1xf32>
  %alphas = mhc.broadcast %bounded dims = [1] : tensor<1xf32> -> tensor<8x4xf32>
  %scaled = arith.mulf %linear, %alphas : tensor<8x4xf32>
  %biases = mhc.broadcast %bias dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %scaled, %biases : tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

// Streams of which one is given, and the others are zeros, are streams as others are.
// CHECK-LABEL: @one_stream_of_several
// CHECK: %[[STREAMS:.*]] = arith.select
// CHECK: mhc.projection(x = %[[STREAMS]] : tensor<8x4x16xf32>, phi = %arg1 : tensor<4x64xf32>)
func.func @one_stream_of_several(%x: tensor<8x16xf32>, %phi: tensor<4x64xf32>, %bias: tensor<4xf32>) -> tensor<8x4xf32> {
  %places = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  %first = arith.constant dense<0> : tensor<4xi64>
  %zero = arith.constant dense<0.0> : tensor<8x4x16xf32>
  %width = arith.constant dense<64.0> : tensor<8xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<8xf32>
  %m = tensor.empty() : tensor<8x4x16xi64>
  %all = mhc.broadcast %x dims = [0, 2] : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %rows = linalg.broadcast ins(%places : tensor<4xi64>) outs(%m : tensor<8x4x16xi64>) dimensions = [0, 2]
  %firsts = linalg.broadcast ins(%first : tensor<4xi64>) outs(%m : tensor<8x4x16xi64>) dimensions = [0, 2]
  %is = arith.cmpi eq, %rows, %firsts : tensor<8x4x16xi64>
  %streams = arith.select %is, %all, %zero : tensor<8x4x16xi1>, tensor<8x4x16xf32>
  %flat = tensor.collapse_shape %streams [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %squares = arith.mulf %flat, %flat : tensor<8x64xf32>
  %sum = mhc.reduce sum %squares dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %mean = arith.divf %sum, %width : tensor<8xf32>
  %bounded = arith.addf %mean, %eps : tensor<8xf32>
  %inverse = math.rsqrt %bounded : tensor<8xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %scales = mhc.broadcast %inverse dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %scaled = arith.mulf %p, %scales : tensor<8x4xf32>
  %biases = mhc.broadcast %bias dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %scaled, %biases : tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

// One token: the norm tells what its values are.
// CHECK-LABEL: @one_token
// CHECK: mhc.projection(x = %{{.*}} : tensor<1x4x16xf32>, phi = %arg1 : tensor<4x64xf32>) <{{.*}}norm = inside, norm_eps = 1.0e-06
// CHECK: mhc.gates({{.*}} beta = %arg2 : tensor<4xf32>)
func.func @one_token(%x: tensor<4x16xf32>, %phi: tensor<4x64xf32>, %bias: tensor<4xf32>) -> tensor<1x4xf32> {
  %eps = arith.constant dense<1.0e-6> : tensor<1xf32>
  %width = arith.constant dense<64.0> : tensor<1xf32>
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<4x16xf32> into tensor<64xf32>
  %row = tensor.expand_shape %flat [[0, 1]] output_shape [1, 64] : tensor<64xf32> into tensor<1x64xf32>
  %squares = arith.mulf %row, %row : tensor<1x64xf32>
  %sum = mhc.reduce sum %squares dims = [1] : tensor<1x64xf32> -> tensor<1xf32>
  %mean = arith.divf %sum, %width : tensor<1xf32>
  %lifted = arith.addf %mean, %eps : tensor<1xf32>
  %r = math.rsqrt %lifted : tensor<1xf32>
  %p = mhc.matmul %row, %phi transpose_rhs : (tensor<1x64xf32>, tensor<4x64xf32>) -> tensor<1x4xf32>
  %rs = mhc.broadcast %r dims = [0] : tensor<1xf32> -> tensor<1x4xf32>
  %scaled = arith.mulf %p, %rs : tensor<1x4xf32>
  %biases = tensor.expand_shape %bias [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %z = arith.addf %scaled, %biases : tensor<1x4xf32>
  %gate = mhc.sigmoid %z : tensor<1x4xf32>
  return %gate : tensor<1x4xf32>
}

// A norm that is bounded from below, as torch.nn.functional.normalize has it. The bound of the squares' root is one of
// their mean's, times the root of the number of values; that of the squares is its square.
// CHECK-LABEL: @guarded_norm
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %arg1 : tensor<4x64xf32>) <{{.*}}norm = clamp, norm_eps = 1.25{{0*}}e-13
// CHECK: mhc.gates
// CHECK-LABEL: @bounded_norm
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %arg1 : tensor<4x64xf32>) <{{.*}}norm = clamp, norm_eps = 1.25{{0*}}e-04
// CHECK: mhc.gates
// CHECK-LABEL: @bounded_squares
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %arg1 : tensor<4x64xf32>) <{{.*}}norm = clamp, norm_eps = 5.0{{0*}}e-01
// CHECK: mhc.gates
// A norm that is bounded from above is the program's own function.
// CHECK-LABEL: @norm_of_at_most_one
// CHECK: mhc.projection(x = %arg0 : tensor<8x4x16xf32>, phi = %arg1 : tensor<4x64xf32>) <{{.*}}norm = none
// CHECK: %[[NORM:.*]] = arith.minimumf
// CHECK: mhc.gates
// A norm of another tensor stays an op.
// CHECK-LABEL: @bounded_norm_of_another_tensor
// CHECK-NOT: mhc.gates
// CHECK: return
func.func @guarded_norm(%x: tensor<8x4x16xf32>, %phi: tensor<4x64xf32>, %bias: tensor<4xf32>) -> tensor<8x4xf32> {
  %bound = arith.constant dense<1.0e-12> : tensor<8xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %squares = arith.mulf %flat, %flat : tensor<8x64xf32>
  %sum = mhc.reduce sum %squares dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %root = math.sqrt %sum : tensor<8xf32>
  %norm = arith.maximumf %root, %bound : tensor<8xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %norms = mhc.broadcast %norm dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %scaled = arith.divf %p, %norms : tensor<8x4xf32>
  %biases = mhc.broadcast %bias dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %scaled, %biases : tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

func.func @bounded_norm(%x: tensor<8x4x16xf32>, %phi: tensor<4x64xf32>, %bias: tensor<4xf32>) -> tensor<8x4xf32> {
  %bound = arith.constant dense<1.0e-3> : tensor<8xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %squares = arith.mulf %flat, %flat : tensor<8x64xf32>
  %sum = mhc.reduce sum %squares dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %root = math.sqrt %sum : tensor<8xf32>
  %norm = arith.maximumf %root, %bound : tensor<8xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %norms = mhc.broadcast %norm dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %scaled = arith.divf %p, %norms : tensor<8x4xf32>
  %biases = mhc.broadcast %bias dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %scaled, %biases : tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

func.func @bounded_squares(%x: tensor<8x4x16xf32>, %phi: tensor<4x64xf32>, %bias: tensor<4xf32>) -> tensor<8x4xf32> {
  %bound = arith.constant dense<0.25> : tensor<8xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %squares = arith.mulf %flat, %flat : tensor<8x64xf32>
  %mean = mhc.reduce mean %squares dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %larger = arith.maximumf %mean, %bound : tensor<8xf32>
  %norm = math.rsqrt %larger : tensor<8xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %norms = mhc.broadcast %norm dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %scaled = arith.mulf %p, %norms : tensor<8x4xf32>
  %biases = mhc.broadcast %bias dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %scaled, %biases : tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

func.func @norm_of_at_most_one(%x: tensor<8x4x16xf32>, %phi: tensor<4x64xf32>, %bias: tensor<4xf32>) -> tensor<8x4xf32> {
  %bound = arith.constant dense<1.0> : tensor<8xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %squares = arith.mulf %flat, %flat : tensor<8x64xf32>
  %mean = mhc.reduce mean %squares dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %root = math.sqrt %mean : tensor<8xf32>
  %norm = arith.minimumf %root, %bound : tensor<8xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %norms = mhc.broadcast %norm dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %scaled = arith.divf %p, %norms : tensor<8x4xf32>
  %biases = mhc.broadcast %bias dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %scaled, %biases : tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

func.func @bounded_norm_of_another_tensor(%x: tensor<8x4x16xf32>, %y: tensor<8x64xf32>, %phi: tensor<4x64xf32>,
                                          %bias: tensor<4xf32>) -> tensor<8x4xf32> {
  %bound = arith.constant dense<1.0e-3> : tensor<8xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %squares = arith.mulf %y, %y : tensor<8x64xf32>
  %sum = mhc.reduce sum %squares dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %root = math.sqrt %sum : tensor<8xf32>
  %norm = arith.maximumf %root, %bound : tensor<8xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %norms = mhc.broadcast %norm dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %scaled = arith.divf %p, %norms : tensor<8x4xf32>
  %biases = mhc.broadcast %bias dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %scaled, %biases : tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

// The rows of h_post stand before those of h_pre, and the logits' before both: what is done with them tells it. The
// logits' weight is transposed behind the first gate.
// CHECK-LABEL: @order_of_rows
// CHECK: %[[PRE:.*]] = tensor.extract_slice %arg1[4, 0] [4, 64] [1, 1]
// CHECK: %[[POST:.*]] = tensor.extract_slice %arg1[0, 0] [4, 64] [1, 1]
// CHECK: %[[PHI:.*]] = tensor.concat dim(0) %[[PRE]], %[[POST]], %{{.*}}
// CHECK: mhc.projection({{.*}} phi = %[[PHI]] : tensor<24x64xf32>)
// CHECK: mhc.gates({{.*}} post_mult = 2.0
func.func @order_of_rows(%x: tensor<8x4x16xf32>, %phi: tensor<8x64xf32>, %weight: tensor<64x16xf32>,
                         %bias: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
  %biases = mhc.broadcast %bias dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %p0 = tensor.extract_slice %p[0, 0] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %z0 = arith.addf %p0, %biases : tensor<8x4xf32>
  %s0 = mhc.sigmoid %z0 : tensor<8x4xf32>
  %post = arith.mulf %s0, %two : tensor<8x4xf32>
  %p1 = tensor.extract_slice %p[0, 4] [8, 4] [1, 1] : tensor<8x8xf32> to tensor<8x4xf32>
  %z1 = arith.addf %p1, %biases : tensor<8x4xf32>
  %pre = mhc.sigmoid %z1 : tensor<8x4xf32>
  %rows = mhc.transpose %weight perm = [1, 0] : tensor<64x16xf32> -> tensor<16x64xf32>
  %p2 = mhc.matmul %flat, %rows transpose_rhs : (tensor<8x64xf32>, tensor<16x64xf32>) -> tensor<8x16xf32>
  %z2 = tensor.expand_shape %p2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %mix = mhc.sinkhorn(logits = %z2 : tensor<8x4x4xf32>) <init = exp, order = row_col, denom = none, eps = 0.0, iters = 2> -> (mix : tensor<8x4x4xf32>)
  return %pre, %post, %mix : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// Rows of a weight that lie apart are cut out of it.
// CHECK-LABEL: @rows_apart
// CHECK: %[[PAIRS:.*]] = tensor.expand_shape %arg1 {{\[}}[0, 1], [2]] output_shape [4, 2, 64]
// CHECK-NEXT: tensor.extract_slice %[[PAIRS]][0, 0, 0] [4, 1, 64]
// CHECK-NEXT: %[[EVEN:.*]] = tensor.collapse_shape
// CHECK-NEXT: mhc.projection({{.*}} phi = %[[EVEN]] : tensor<4x64xf32>)
// CHECK-NEXT: mhc.gates
// CHECK-NEXT: return
func.func @rows_apart(%x: tensor<?x4x16xf32>, %phi: tensor<8x64xf32>, %bias: tensor<4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x16xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x64xf32>, tensor<8x64xf32>) -> tensor<?x8xf32>
  %pairs = tensor.expand_shape %p [[0], [1, 2]] output_shape [%M, 4, 2] : tensor<?x8xf32> into tensor<?x4x2xf32>
  %even = tensor.extract_slice %pairs[0, 0, 0] [%M, 4, 1] [1, 1, 1] : tensor<?x4x2xf32> to tensor<?x4xf32>
  %biases = mhc.broadcast %bias[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %z = arith.addf %even, %biases : tensor<?x4xf32>
  %gate = mhc.sigmoid %z : tensor<?x4xf32>
  return %gate : tensor<?x4xf32>
}

// Streams in front of their tokens: a transpose before and behind.
// CHECK-LABEL: @streams_first
// CHECK: mhc.post({{.*}} x = %{{.*}} : tensor<6x4x16xf32>, h_res = %{{.*}} : tensor<6x4x4xf32>) <layout = nC, orient = oi>
func.func @streams_first(%x: tensor<4x6x16xf32>, %logits: tensor<6x4x4xf32>, %h: tensor<6x4xf32>, %f: tensor<6x16xf32>)
    -> tensor<4x6x16xf32> {
  %mix = mhc.sinkhorn(logits = %logits : tensor<6x4x4xf32>) <init = exp, order = row_col, denom = none, eps = 0.0, iters = 2> -> (mix : tensor<6x4x4xf32>)
  %xt = mhc.transpose %x perm = [1, 0, 2] : tensor<4x6x16xf32> -> tensor<6x4x16xf32>
  %mixed = mhc.batch_matmul %mix, %xt : (tensor<6x4x4xf32>, tensor<6x4x16xf32>) -> tensor<6x4x16xf32>
  %hs = mhc.broadcast %h dims = [0, 1] : tensor<6x4xf32> -> tensor<6x4x16xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<6x16xf32> -> tensor<6x4x16xf32>
  %branch = arith.mulf %hs, %fs : tensor<6x4x16xf32>
  %sum = arith.addf %mixed, %branch : tensor<6x4x16xf32>
  %out = mhc.transpose %sum perm = [1, 0, 2] : tensor<6x4x16xf32> -> tensor<4x6x16xf32>
  return %out : tensor<4x6x16xf32>
}

// Streams behind their batch, which a projection reads behind all tokens: the new streams are in the old ones' order.
// CHECK-LABEL: @streams_behind_the_batch
// CHECK: mhc.aggregate(x = %[[X:.*]] : tensor<6x4x16xf32>, {{.*}}) <layout = nC>
// CHECK: %[[OUT:.*]] = mhc.post({{.*}} x = %[[X]] : tensor<6x4x16xf32>,
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %[[OUT]]
// CHECK: mhc.transpose %[[SPLIT]] perm = [0, 2, 1, 3] : tensor<2x3x4x16xf32> -> tensor<2x4x3x16xf32>
func.func @streams_behind_the_batch(%x: tensor<2x4x3x16xf32>, %phi: tensor<4x64xf32>, %bias: tensor<4xf32>,
                                    %logits: tensor<6x4x4xf32>, %h: tensor<2x4x3xf32>, %w: tensor<16x16xf32>)
    -> tensor<2x4x3x16xf32> {
  %xt = mhc.transpose %x perm = [0, 2, 1, 3] : tensor<2x4x3x16xf32> -> tensor<2x3x4x16xf32>
  %xs = tensor.collapse_shape %xt [[0, 1], [2], [3]] : tensor<2x3x4x16xf32> into tensor<6x4x16xf32>
  %flat = tensor.collapse_shape %xs [[0], [1, 2]] : tensor<6x4x16xf32> into tensor<6x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<6x64xf32>, tensor<4x64xf32>) -> tensor<6x4xf32>
  %biases = mhc.broadcast %bias dims = [1] : tensor<4xf32> -> tensor<6x4xf32>
  %z = arith.addf %p, %biases : tensor<6x4xf32>
  %gate = mhc.sigmoid %z : tensor<6x4xf32>
  %columns = tensor.expand_shape %gate [[0], [1, 2]] output_shape [6, 4, 1] : tensor<6x4xf32> into tensor<6x4x1xf32>
  %xc = mhc.transpose %xs perm = [0, 2, 1] : tensor<6x4x16xf32> -> tensor<6x16x4xf32>
  %u = mhc.batch_matmul %xc, %columns : (tensor<6x16x4xf32>, tensor<6x4x1xf32>) -> tensor<6x16x1xf32>
  %rows = tensor.collapse_shape %u [[0], [1, 2]] : tensor<6x16x1xf32> into tensor<6x16xf32>
  %f = mhc.matmul %rows, %w : (tensor<6x16xf32>, tensor<16x16xf32>) -> tensor<6x16xf32>
  %mix = mhc.sinkhorn(logits = %logits : tensor<6x4x4xf32>) <init = exp, order = row_col, denom = none, eps = 0.0, iters = 2> -> (mix : tensor<6x4x4xf32>)
  %mixed = mhc.batch_matmul %mix, %xs : (tensor<6x4x4xf32>, tensor<6x4x16xf32>) -> tensor<6x4x16xf32>
  %split = tensor.expand_shape %mixed [[0, 1], [2], [3]] output_shape [2, 3, 4, 16] : tensor<6x4x16xf32> into tensor<2x3x4x16xf32>
  %back = mhc.transpose %split perm = [0, 2, 1, 3] : tensor<2x3x4x16xf32> -> tensor<2x4x3x16xf32>
  %fb = tensor.expand_shape %f [[0, 1], [2]] output_shape [2, 3, 16] : tensor<6x16xf32> into tensor<2x3x16xf32>
  %fs = mhc.broadcast %fb dims = [0, 2, 3] : tensor<2x3x16xf32> -> tensor<2x4x3x16xf32>
  %hs = mhc.broadcast %h dims = [0, 1, 2] : tensor<2x4x3xf32> -> tensor<2x4x3x16xf32>
  %branch = arith.mulf %hs, %fs : tensor<2x4x3x16xf32>
  %sum = arith.addf %back, %branch : tensor<2x4x3x16xf32>
  return %sum : tensor<2x4x3x16xf32>
}

// One matrix for all tokens is iterated as one of a stack.
// CHECK-LABEL: @matrix_of_all_tokens
// CHECK: mhc.sinkhorn(logits = %{{.*}} : tensor<1x4x4xf32>) <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 1>
func.func @matrix_of_all_tokens(%z: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %eps = arith.constant dense<1.0e-6> : tensor<4xf32>
  %e = math.exp %z : tensor<4x4xf32>
  %r = mhc.reduce sum %e dims = [1] : tensor<4x4xf32> -> tensor<4xf32>
  %re = arith.addf %r, %eps : tensor<4xf32>
  %rs = mhc.broadcast %re dims = [0] : tensor<4xf32> -> tensor<4x4xf32>
  %m = arith.divf %e, %rs : tensor<4x4xf32>
  %c = mhc.reduce sum %m dims = [0] : tensor<4x4xf32> -> tensor<4xf32>
  %ce = arith.addf %c, %eps : tensor<4xf32>
  %cs = mhc.broadcast %ce dims = [1] : tensor<4xf32> -> tensor<4x4xf32>
  %out = arith.divf %m, %cs : tensor<4x4xf32>
  return %out : tensor<4x4xf32>
}

// A norm's weight that all streams share is repeated for each of them.
// CHECK-LABEL: @shared_norm_weight
// CHECK: %[[EACH:.*]] = mhc.broadcast %arg3 dims = [1] : tensor<16xf32> -> tensor<4x16xf32>
// CHECK: %[[GAMMA:.*]] = tensor.collapse_shape %[[EACH]] {{.*}} into tensor<64xf32>
// CHECK: mhc.projection({{.*}} norm_weight = %[[GAMMA]] : tensor<64xf32>)
func.func @shared_norm_weight(%x: tensor<8x4x16xf32>, %phi: tensor<4x64xf32>, %bias: tensor<4xf32>,
                              %gamma: tensor<16xf32>) -> tensor<8x4xf32> {
  %gammas = mhc.broadcast %gamma dims = [2] : tensor<16xf32> -> tensor<8x4x16xf32>
  %weighed = arith.mulf %x, %gammas : tensor<8x4x16xf32>
  %flat = tensor.collapse_shape %weighed [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %biases = mhc.broadcast %bias dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %p, %biases : tensor<8x4xf32>
  %gate = mhc.sigmoid %z : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

// The residual matrix and h_post side by side, in one product with the streams and the sublayer's output behind them.
// CHECK-LABEL: @one_product
// CHECK: mhc.post({{.*}} tensor<6x16xf32>, h_post = %{{.*}} : tensor<6x4xf32>, x = %{{.*}} : tensor<6x4x16xf32>, h_res = %{{.*}} : tensor<6x4x4xf32>) <layout = nC, orient = oi>
func.func @one_product(%x: tensor<2x3x4x16xf32>, %z: tensor<6x4x4xf32>, %h: tensor<2x3x4x1xf32>, %f: tensor<2x3x1x16xf32>)
    -> tensor<6x4x16xf32> {
  %mix = mhc.sinkhorn(logits = %z : tensor<6x4x4xf32>) <init = exp, order = row_col, denom = none, eps = 0.0, iters = 2> -> (mix : tensor<6x4x4xf32>)
  %split = tensor.expand_shape %mix [[0, 1], [2], [3]] output_shape [2, 3, 4, 4] : tensor<6x4x4xf32> into tensor<2x3x4x4xf32>
  %maps = tensor.concat dim(3) %split, %h : (tensor<2x3x4x4xf32>, tensor<2x3x4x1xf32>) -> tensor<2x3x4x5xf32>
  %rows = tensor.concat dim(2) %x, %f : (tensor<2x3x4x16xf32>, tensor<2x3x1x16xf32>) -> tensor<2x3x5x16xf32>
  %lhs = tensor.collapse_shape %maps [[0, 1], [2], [3]] : tensor<2x3x4x5xf32> into tensor<6x4x5xf32>
  %rhs = tensor.collapse_shape %rows [[0, 1], [2], [3]] : tensor<2x3x5x16xf32> into tensor<6x5x16xf32>
  %out = mhc.batch_matmul %lhs, %rhs : (tensor<6x4x5xf32>, tensor<6x5x16xf32>) -> tensor<6x4x16xf32>
  return %out : tensor<6x4x16xf32>
}

// A gate of tokens behind streams, in bf16: it is rounded before it is transposed, so that transposes undo each other.
// CHECK-LABEL: @rounded_behind_a_transpose
// CHECK: %[[GATE:.*]] = mhc.gates(
// CHECK-NEXT: %[[ROUNDED:.*]] = arith.truncf %[[GATE]] : tensor<8x4xf32> to tensor<8x4xbf16>
// CHECK-NEXT: return %[[ROUNDED]]
func.func @rounded_behind_a_transpose(%x: tensor<8x4x16xbf16>, %phi: tensor<4x64xbf16>, %bias: tensor<4xbf16>)
    -> tensor<8x4xbf16> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x16xbf16> into tensor<8x64xbf16>
  %rows = mhc.transpose %flat perm = [1, 0] : tensor<8x64xbf16> -> tensor<64x8xbf16>
  %p = mhc.matmul %phi, %rows : (tensor<4x64xbf16>, tensor<64x8xbf16>) -> tensor<4x8xbf16>
  %biases = mhc.broadcast %bias dims = [0] : tensor<4xbf16> -> tensor<4x8xbf16>
  %z = arith.addf %p, %biases : tensor<4x8xbf16>
  %gate = mhc.sigmoid %z : tensor<4x8xbf16>
  %tokens = mhc.transpose %gate perm = [1, 0] : tensor<4x8xbf16> -> tensor<8x4xbf16>
  return %tokens : tensor<8x4xbf16>
}

// Two gates of one sigmoid, which is cut behind it.
// CHECK-LABEL: @two_of_one_sigmoid
// CHECK: mhc.projection(x = %arg0 : tensor<?x4x16xf32>, phi = %arg1 : tensor<24x64xf32>)
// CHECK: %[[PRE:.*]], %[[POST:.*]], %{{.*}} = mhc.gates({{.*}} beta = %arg2 : tensor<24xf32>) <{{.*}}post_mult = 2.0
// CHECK: return %[[PRE]], %[[POST]],
func.func @two_of_one_sigmoid(%x: tensor<?x4x16xf32>, %phi: tensor<24x64xf32>, %beta: tensor<24xf32>)
    -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x16xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x64xf32>, tensor<24x64xf32>) -> tensor<?x24xf32>
  %biases = mhc.broadcast %beta[%M] dims = [1] : tensor<24xf32> -> tensor<?x24xf32>
  %z = arith.addf %p, %biases : tensor<?x24xf32>
  %gates = tensor.extract_slice %z[0, 0] [%M, 8] [1, 1] : tensor<?x24xf32> to tensor<?x8xf32>
  %gate = mhc.sigmoid %gates : tensor<?x8xf32>
  %pre = tensor.extract_slice %gate[0, 0] [%M, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %one = tensor.extract_slice %gate[0, 4] [%M, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %two = arith.constant 2.0 : f32
  %twos = tensor.splat %two[%M] : tensor<?x4xf32>
  %post = arith.mulf %one, %twos : tensor<?x4xf32>
  %rest = tensor.extract_slice %z[0, 8] [%M, 16] [1, 1] : tensor<?x24xf32> to tensor<?x16xf32>
  %logits = tensor.expand_shape %rest [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %res = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>) <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<?x4x4xf32>)
  return %pre, %post, %res : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>
}

// Streams that are transposed for the projection are of one site, whichever of their values is next to a gate or to the
// residual map.
// CHECK-LABEL: @streams_in_two_orders(
func.func @streams_in_two_orders(%a: tensor<?x7x4xf32>, %b: tensor<?x7x4xf32>, %phi: tensor<24x28xf32>,
                                 %alpha: tensor<3xf32>,
                                 %beta: tensor<24xf32>) -> (tensor<?x4x7xf32>, tensor<?x7xf32>) {
  // CHECK: mhc.gates(proj = %{{.*}} : tensor<?x24xf32>, stat = %{{.*}} : tensor<?xf32>, alpha = %arg3 : tensor<3xf32>, beta = %arg4 : tensor<24xf32>)
  %c0 = arith.constant 0 : index
  %number = arith.constant 1.0e-06 : f32
  %twenty_eight = arith.constant 28.0 : f32
  %y = arith.addf %a, %b : tensor<?x7x4xf32>
  %M = tensor.dim %y, %c0 : tensor<?x7x4xf32>
  %eps = tensor.splat %number[%M] : tensor<?xf32>
  %count = tensor.splat %twenty_eight[%M] : tensor<?xf32>
  %x = mhc.transpose %y perm = [0, 2, 1] : tensor<?x7x4xf32> -> tensor<?x4x7xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x7xf32> into tensor<?x28xf32>
  %square = arith.mulf %y, %y : tensor<?x7x4xf32>
  %squares = mhc.transpose %square perm = [0, 2, 1] : tensor<?x7x4xf32> -> tensor<?x4x7xf32>
  %sum = mhc.reduce sum %squares dims = [1, 2] : tensor<?x4x7xf32> -> tensor<?xf32>
  %mean = arith.divf %sum, %count : tensor<?xf32>
  %shifted = arith.addf %mean, %eps : tensor<?xf32>
  %s = math.rsqrt %shifted : tensor<?xf32>
  %phi_pre = tensor.extract_slice %phi[0, 0] [4, 28] [1, 1] : tensor<24x28xf32> to tensor<4x28xf32>
  %p_pre = mhc.matmul %flat, %phi_pre transpose_rhs : (tensor<?x28xf32>, tensor<4x28xf32>) -> tensor<?x4xf32>
  %s_pre = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %n_pre = arith.mulf %s_pre, %p_pre : tensor<?x4xf32>
  %a_pre = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<f32>
  %as_pre = mhc.broadcast %a_pre[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %m_pre = arith.mulf %n_pre, %as_pre : tensor<?x4xf32>
  %b_pre = tensor.extract_slice %beta[0] [4] [1] : tensor<24xf32> to tensor<4xf32>
  %bs_pre = mhc.broadcast %b_pre[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %z_pre = arith.addf %m_pre, %bs_pre : tensor<?x4xf32>
  %phi_post = tensor.extract_slice %phi[4, 0] [4, 28] [1, 1] : tensor<24x28xf32> to tensor<4x28xf32>
  %p_post = mhc.matmul %flat, %phi_post transpose_rhs : (tensor<?x28xf32>, tensor<4x28xf32>) -> tensor<?x4xf32>
  %s_post = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %n_post = arith.mulf %s_post, %p_post : tensor<?x4xf32>
  %a_post = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<f32>
  %as_post = mhc.broadcast %a_post[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %m_post = arith.mulf %n_post, %as_post : tensor<?x4xf32>
  %b_post = tensor.extract_slice %beta[4] [4] [1] : tensor<24xf32> to tensor<4xf32>
  %bs_post = mhc.broadcast %b_post[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %z_post = arith.addf %m_post, %bs_post : tensor<?x4xf32>
  %phi_res = tensor.extract_slice %phi[8, 0] [16, 28] [1, 1] : tensor<24x28xf32> to tensor<16x28xf32>
  %p_res = mhc.matmul %flat, %phi_res transpose_rhs : (tensor<?x28xf32>, tensor<16x28xf32>) -> tensor<?x16xf32>
  %s_res = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x16xf32>
  %n_res = arith.mulf %s_res, %p_res : tensor<?x16xf32>
  %a_res = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<f32>
  %as_res = mhc.broadcast %a_res[%M] dims = [] : tensor<f32> -> tensor<?x16xf32>
  %m_res = arith.mulf %n_res, %as_res : tensor<?x16xf32>
  %b_res = tensor.extract_slice %beta[8] [16] [1] : tensor<24xf32> to tensor<16xf32>
  %bs_res = mhc.broadcast %b_res[%M] dims = [1] : tensor<16xf32> -> tensor<?x16xf32>
  %z_res = arith.addf %m_res, %bs_res : tensor<?x16xf32>
  %h_pre = mhc.sigmoid %z_pre : tensor<?x4xf32>
  %h_post = mhc.sigmoid %z_post : tensor<?x4xf32>
  %opposite = arith.negf %z_res : tensor<?x16xf32>
  %opposites = tensor.expand_shape %opposite [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %number_one = arith.constant 1.0 : f32
  %ones = tensor.splat %number_one[%M] : tensor<?x4x4xf32>
  %exp = math.exp %opposites : tensor<?x4x4xf32>
  %more = arith.addf %exp, %ones : tensor<?x4x4xf32>
  %start = arith.divf %ones, %more : tensor<?x4x4xf32>
  %map = scf.for %i = %c0 to %c3 step %c1 iter_args(%m = %start) -> (tensor<?x4x4xf32>) {
    %sums = mhc.reduce sum %m dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %by = mhc.broadcast %sums dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %rows = arith.divf %m, %by : tensor<?x4x4xf32>
    %sums_of = mhc.reduce sum %rows dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %by_of = mhc.broadcast %sums_of dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %next = arith.divf %rows, %by_of : tensor<?x4x4xf32>
    scf.yield %next : tensor<?x4x4xf32>
  }
  %weights = mhc.broadcast %h_pre dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x7xf32>
  %weighed = arith.mulf %x, %weights : tensor<?x4x7xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<?x4x7xf32> -> tensor<?x7xf32>
  %mixed = mhc.batch_matmul %map, %x : (tensor<?x4x4xf32>, tensor<?x4x7xf32>) -> tensor<?x4x7xf32>
  %gates = mhc.broadcast %h_post dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x7xf32>
  %outputs = mhc.broadcast %u dims = [0, 2] : tensor<?x7xf32> -> tensor<?x4x7xf32>
  %branch = arith.mulf %gates, %outputs : tensor<?x4x7xf32>
  %out = arith.addf %mixed, %branch : tensor<?x4x7xf32>
  return %out, %u : tensor<?x4x7xf32>, tensor<?x7xf32>
}
