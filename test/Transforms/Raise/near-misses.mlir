// RUN: mhc-opt %s -mhc-raise --remarks-filter-missed='mhc.*' 2>&1 | FileCheck %s --implicit-check-not='[Missed]'

// Code that looks like mHC and is not raised: one remark per site, at the op at fault.

// CHECK: near-misses.mlir:[[#@LINE+5]]:11: remark: [Missed] projection-width | Category:mhc-raise:gates | Function=gates_of_three_streams_of_four |
// CHECK-SAME: Found="a sum over 192 values", Needed="a sum over n*C = 256"
func.func @gates_of_three_streams_of_four(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<24xf32>,
    %psi: tensor<24x192xf32>)
    -> tensor<8x4xf32> {
  %part = tensor.extract_slice %x[0, 0, 0] [8, 3, 64] [1, 1, 1] : tensor<8x4x64xf32> to tensor<8x3x64xf32>
  %flat = tensor.collapse_shape %part [[0], [1, 2]] : tensor<8x3x64xf32> into tensor<8x192xf32>
  %proj = mhc.matmul %flat, %psi transpose_rhs : (tensor<8x192xf32>, tensor<24x192xf32>) -> tensor<8x24xf32>
  %a = mhc.broadcast %alpha dims = [1] : tensor<1xf32> -> tensor<8x24xf32>
  %pa = arith.mulf %proj, %a : tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %pa, %b : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %h = mhc.sigmoid %z0 : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// CHECK: remark: [Missed] bias-form | Category:mhc-raise:gates | {{.*}}Found="argument 4, [8, 24] of f32", Needed="one value for each of the 4 rows", {{.*}}Suggestion="store the bias as [2n + n*n], the same for all tokens"
func.func @gates_with_a_bias_per_token(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<24xf32>,
    %biases: tensor<8x24xf32>)
    -> tensor<8x4xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %a = mhc.broadcast %alpha dims = [1] : tensor<1xf32> -> tensor<8x24xf32>
  %pa = arith.mulf %proj, %a : tensor<8x24xf32>
  %z = arith.addf %pa, %biases : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %h = mhc.sigmoid %z0 : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// CHECK: remark: [Missed] gate-function | Category:mhc-raise:gates | {{.*}}Found='math.tanh', Needed='mhc.sigmoid'
func.func @gates_by_tanh(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<24xf32>)
    -> tensor<8x4xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %a = mhc.broadcast %alpha dims = [1] : tensor<1xf32> -> tensor<8x24xf32>
  %pa = arith.mulf %proj, %a : tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %pa, %b : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %h = math.tanh %z0 : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// CHECK: remark: [Missed] scale-form | Category:mhc-raise:gates | {{.*}}Found="2 factors per token", Needed="a factor per token * (x . phi) * alpha"
func.func @gates_with_two_scales(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<8xf32>, %beta: tensor<24xf32>,
    %alpha2: tensor<8xf32>)
    -> tensor<8x4xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %a = mhc.broadcast %alpha dims = [0] : tensor<8xf32> -> tensor<8x24xf32>
  %more = mhc.broadcast %alpha2 dims = [0] : tensor<8xf32> -> tensor<8x24xf32>
  %p1 = arith.mulf %proj, %a : tensor<8x24xf32>
  %pa = arith.mulf %p1, %more : tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %pa, %b : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %h = mhc.sigmoid %z0 : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// CHECK: remark: [Missed] x-not-whole | Category:mhc-raise:gates | {{.*}}Found="argument 0, [8, 8, 32] of f32", Needed="n streams for the n gates or n*n logits, behind the tokens"
func.func @gates_of_four_streams_for_eight(%x: tensor<8x8x32xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<24xf32>)
    -> tensor<8x4xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x8x32xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %a = mhc.broadcast %alpha dims = [1] : tensor<1xf32> -> tensor<8x24xf32>
  %pa = arith.mulf %proj, %a : tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %pa, %b : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %h = mhc.sigmoid %z0 : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// CHECK: remark: [Missed] norm-per-stream | Category:mhc-raise:gates | {{.*}}Found="'math.rsqrt', [8, 4] of f32", Needed="one factor for each token"
func.func @gates_of_streams_that_are_normed_one_by_one(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<24xf32>)
    -> tensor<8x4xf32> {
  %square = arith.mulf %x, %x : tensor<8x4x64xf32>
  %ms = mhc.reduce mean %square dims = [2] : tensor<8x4x64xf32> -> tensor<8x4xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %sum = arith.addf %ms, %eps : tensor<8x4xf32>
  %s = math.rsqrt %sum : tensor<8x4xf32>
  %wide = mhc.broadcast %s dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %normed = arith.mulf %x, %wide : tensor<8x4x64xf32>
  %flat = tensor.collapse_shape %normed [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %a = mhc.broadcast %alpha dims = [1] : tensor<1xf32> -> tensor<8x24xf32>
  %pa = arith.mulf %proj, %a : tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %pa, %b : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %h = mhc.sigmoid %z0 : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// CHECK: remark: [Missed] branch-form | Category:mhc-raise:post | {{.*}}Found="1 * argument 2, [8, 4] of f32", Needed="h_post [M, n] times the sublayer's output [M, C]"
func.func @post_of_a_gate_alone(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>)
    -> tensor<8x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %out = arith.addf %mixed, %hw : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// CHECK: remark: [Missed] branch-twice | Category:mhc-raise:post | {{.*}}Found="{{.*}}argument 3, [8, 64] of f32{{.*}}", Needed="one output of the sublayer, and one bias"
func.func @post_of_two_outputs(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
    %g: tensor<8x64xf32>)
    -> tensor<8x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %gw = mhc.broadcast %g dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %second = arith.mulf %hw, %gw : tensor<8x4x64xf32>
  %one = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  %out = arith.addf %one, %second : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// A mix that is added to is no mix any more.
// CHECK: remark: [Missed] combine-form | Category:mhc-raise:post | {{.*}}Found="'mhc.batch_matmul', [8, 4, 64] of f32", Needed="a sum of h_res x and h_post times the sublayer's output"
func.func @a_mix_through_an_activation(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>)
    -> tensor<8x4x64xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %bent = math.tanh %mixed : tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %out = arith.addf %bent, %branch : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// The projection is found, and its gates are none.
// CHECK: remark: [Missed] gate-function | Category:mhc-raise:gates | {{.*}}Found="'arith.maximumf', [8, 4] of f32", Needed="sigmoids of two groups of rows"
func.func @gates_that_are_clipped(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<24xf32>)
    -> tensor<8x4xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  %s = math.rsqrt %ms : tensor<8xf32>
  %sb = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x24xf32>
  %p = arith.mulf %proj, %sb : tensor<8x24xf32>
  %a = mhc.broadcast %alpha dims = [1] : tensor<1xf32> -> tensor<8x24xf32>
  %pa = arith.mulf %p, %a : tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %pa, %b : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %zero = arith.constant dense<0.0> : tensor<8x4xf32>
  %h = arith.maximumf %z0, %zero : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// The logits as matrices, of which something unknown is made.
// CHECK: remark: [Missed] residual-form | Category:mhc-raise:pre | {{.*}}Found="'math.exp', [8, 4, 4] of f32", Needed="one residual map of the logits"
func.func @logits_without_a_residual_map(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %a = mhc.broadcast %alpha dims = [1] : tensor<1xf32> -> tensor<8x24xf32>
  %pa = arith.mulf %proj, %a : tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %pa, %b : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %h_pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %matrices = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %map = math.exp %matrices : tensor<8x4x4xf32>
  return %h_pre, %h_post, %map : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// Less the maximum of a whole matrix: the iteration with an eps is no function of the logits alone, which is one remark.
// CHECK: remark: [Missed] residual-form | Category:mhc-raise:pre | {{.*}}Found="'arith.subf', [8, 16] of f32", Needed="one residual map of the logits"
func.func @logits_less_the_maximum_of_all(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %a = mhc.broadcast %alpha dims = [1] : tensor<1xf32> -> tensor<8x24xf32>
  %pa = arith.mulf %proj, %a : tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %pa, %b : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %h_pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %matrices = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %max = mhc.reduce max %matrices dims = [1, 2] : tensor<8x4x4xf32> -> tensor<8xf32>
  %shift = mhc.broadcast %max dims = [0] : tensor<8xf32> -> tensor<8x4x4xf32>
  %shifted = arith.subf %matrices, %shift : tensor<8x4x4xf32>
  %map = mhc.sinkhorn(logits = %shifted : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  return %h_pre, %h_post, %map : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// Less the maximum of what is computed outside, such as detached logits.
// CHECK: remark: [Missed] residual-form | Category:mhc-raise:pre | {{.*}}Found="logits less argument 4 'detached', [8, 4, 4] of f32", Needed="one residual map of the logits"
func.func @logits_less_a_detached_maximum(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %alpha: tensor<1xf32>, %beta: tensor<24xf32>,
    %other: tensor<8x4x4xf32> {mhc.name = "detached"})
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %a = mhc.broadcast %alpha dims = [1] : tensor<1xf32> -> tensor<8x24xf32>
  %pa = arith.mulf %proj, %a : tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %pa, %b : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %h_pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %h_post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %matrices = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %max = mhc.reduce max %other dims = [1, 2] : tensor<8x4x4xf32> -> tensor<8xf32>
  %shift = mhc.broadcast %max dims = [0] : tensor<8xf32> -> tensor<8x4x4xf32>
  %shifted = arith.subf %matrices, %shift : tensor<8x4x4xf32>
  %map = mhc.sinkhorn(logits = %shifted : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  return %h_pre, %h_post, %map : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>
}

// Gates of other layers: eight experts, and a gated unit.
func.func @other_sigmoids(%x: tensor<8x512xf32>, %experts: tensor<8x512xf32>, %up: tensor<512x512xf32>)
    -> (tensor<8x8xf32>, tensor<8x512xf32>) {
  %scores = mhc.matmul %x, %experts transpose_rhs : (tensor<8x512xf32>, tensor<8x512xf32>) -> tensor<8x8xf32>
  %route = mhc.sigmoid %scores : tensor<8x8xf32>
  %wide = mhc.matmul %x, %up transpose_rhs : (tensor<8x512xf32>, tensor<512x512xf32>) -> tensor<8x512xf32>
  %gate = mhc.sigmoid %wide : tensor<8x512xf32>
  %out = arith.mulf %gate, %x : tensor<8x512xf32>
  return %route, %out : tensor<8x8xf32>, tensor<8x512xf32>
}

// A plain sum of streams has no residual matrix that a reason could be about.
func.func @sum_of_streams_beside_a_branch(%x: tensor<8x4x64xbf16>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>) -> tensor<8x4x64xf32> {
  %wide = arith.extf %x : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %sum = mhc.reduce sum %wide dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  %sums = mhc.broadcast %sum dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %gates = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fs = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %gates, %fs : tensor<8x4x64xf32>
  %out = arith.addf %sums, %branch : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// CHECK: remark: [Missed] second-gate-missing | Category:mhc-raise:gates | {{.*}}Found="rows 0 to 3 of 24 rows", Needed="rows 4 to 7 in the same form"
func.func @first_gate_alone(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %beta: tensor<24xf32>) -> tensor<8x4xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %proj, %b : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %h = mhc.sigmoid %z0 : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// The first one may be made as well, and weigh the streams of the sublayer behind.
// CHECK: remark: [Missed] second-gate-missing | Category:mhc-raise:gates | {{.*}}Found="rows 4 to 7 of 24 rows", Needed="rows 0 to 3 in the same form", {{.*}}="make h_pre, h_post and the residual logits from consecutive rows of one projection, and use all of them in the sublayer whose streams are projected"
func.func @second_gate_alone(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %beta: tensor<24xf32>) -> tensor<8x4xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %proj, %b : tensor<8x24xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %h = mhc.sigmoid %z1 : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// CHECK: remark: [Missed] stored-form | Category:mhc-raise:gates | {{.*}}Found="x or phi: argument 1, [4, 256] of f32", Needed="x [M, n, C] or [M, C, n], of f32, bf16 or f16"
func.func @wide_streams(%x: tensor<8x4x64xf64>, %phi: tensor<4x256xf32>, %beta: tensor<4xf32>) -> tensor<8x4xf32> {
  %narrow = arith.truncf %x : tensor<8x4x64xf64> to tensor<8x4x64xf32>
  %flat = tensor.collapse_shape %narrow [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<4x256xf32>) -> tensor<8x4xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %proj, %b : tensor<8x4xf32>
  %h = mhc.sigmoid %z : tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// A gate that weighs its streams as the norm leaves them, its weight and all.
// CHECK: remark: [Missed] aggregate-form | Category:mhc-raise:aggregate | {{.*}}Found="h_pre times 'arith.mulf', [8, 4, 64] of f32", Needed="a sum over the streams of h_pre x, as x is projected"
func.func @normed_streams_weighed(%x: tensor<8x4x64xf32>, %phi: tensor<4x256xf32>, %w: tensor<256xf32>) -> tensor<8x1x64xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %square = arith.mulf %flat, %flat : tensor<8x256xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x256xf32> -> tensor<8xf32>
  %s = math.rsqrt %ms : tensor<8xf32>
  %sb = mhc.broadcast %s dims = [0] : tensor<8xf32> -> tensor<8x256xf32>
  %scaled = arith.mulf %flat, %sb : tensor<8x256xf32>
  %wb = mhc.broadcast %w dims = [1] : tensor<256xf32> -> tensor<8x256xf32>
  %normed = arith.mulf %scaled, %wb : tensor<8x256xf32>
  %z = mhc.matmul %normed, %phi transpose_rhs : (tensor<8x256xf32>, tensor<4x256xf32>) -> tensor<8x4xf32>
  %h = mhc.sigmoid %z : tensor<8x4xf32>
  %row = tensor.expand_shape %h [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
  %apart = tensor.expand_shape %normed [[0], [1, 2]] output_shape [8, 4, 64] : tensor<8x256xf32> into tensor<8x4x64xf32>
  %u = mhc.batch_matmul %row, %apart : (tensor<8x1x4xf32>, tensor<8x4x64xf32>) -> tensor<8x1x64xf32>
  return %u : tensor<8x1x64xf32>
}

// A call outside the function makes something else of a gate's logits, as a dropout does: alone, and in front of a bias.
// CHECK: remark: [Missed] gate-function | Category:mhc-raise:gates | Function=function_outside | Found="argument 3 'dropout', [8, 4] of f32", Needed='mhc.sigmoid'
func.func @function_outside(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %beta: tensor<24xf32>, %drop: tensor<8x4xf32> {mhc.made_of = array<i64: 0>, mhc.name = "dropout"}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %proj, %b : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %h = mhc.sigmoid %drop : tensor<8x4xf32>
  return %z0, %h : tensor<8x4xf32>, tensor<8x4xf32>
}

// CHECK: remark: [Missed] gate-function | Category:mhc-raise:gates | Function=function_outside_of_product | Found="argument 3 'dropout', [8, 4] of f32", Needed='mhc.sigmoid'
func.func @function_outside_of_product(%x: tensor<8x4x64xf32>, %phi: tensor<24x256xf32>, %beta: tensor<4xf32>, %drop: tensor<8x4xf32> {mhc.made_of = array<i64: 0>, mhc.name = "dropout"}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x64xf32> into tensor<8x256xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x256xf32>, tensor<24x256xf32>) -> tensor<8x24xf32>
  %z0 = tensor.extract_slice %proj[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %drop, %b : tensor<8x4xf32>
  %h = mhc.sigmoid %z : tensor<8x4xf32>
  return %z0, %h : tensor<8x4xf32>, tensor<8x4xf32>
}

// A number of no result says nothing.
// CHECK-NOT: Function=made_of_no_result
func.func @made_of_no_result(%x: tensor<8x4xf32> {mhc.made_of = array<i64: 7, -1>}) -> tensor<8x4xf32> {
  %gate = mhc.sigmoid %x : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

// A call outside the function takes the diagonal of a residual map, as einsum "tii,tic->tic" does.
// CHECK: remark: [Missed] combine-form | Category:mhc-raise:post | Function=diagonal_outside | Found="argument 2 'diagonal', [8, 4] of f32", Needed="a sum of h_res x and h_post times the sublayer's output"
func.func @diagonal_outside(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %diagonal: tensor<8x4xf32> {mhc.made_of = array<i64: 0>, mhc.name = "diagonal"}) -> (tensor<8x4x4xf32>, tensor<8x4x64xf32>) {
  %mix = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>) <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 5> -> (mix : tensor<8x4x4xf32>)
  %d = mhc.broadcast %diagonal dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %out = arith.mulf %d, %x : tensor<8x4x64xf32>
  return %mix, %out : tensor<8x4x4xf32>, tensor<8x4x64xf32>
}

// One that measures the map mixes no streams.
func.func @measured_outside(%z: tensor<8x4x4xf32>, %norm: tensor<8x1xf32> {mhc.made_of = array<i64: 0>, mhc.name = "norm"}) -> (tensor<8x4x4xf32>, tensor<8x1xf32>) {
  %mix = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>) <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 5> -> (mix : tensor<8x4x4xf32>)
  %squares = arith.mulf %norm, %norm : tensor<8x1xf32>
  return %mix, %squares : tensor<8x4x4xf32>, tensor<8x1xf32>
}
