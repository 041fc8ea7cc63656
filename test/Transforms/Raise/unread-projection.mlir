// RUN: mhc-opt %s --mhc-raise --remarks-filter-missed='mhc.*' 2>&1 >/dev/null | FileCheck %s --implicit-check-not='[Missed]'
// RUN: not mhcc %s --fail-if-unfused 2>&1 | FileCheck %s --check-prefix=UNFUSED

// Streams that are mixed by coefficients of a product over all of a token's channels are a site, also where no matcher
// comes near it.

// UNFUSED: error: not fused: {{.*}}f64

// CHECK: [Missed] projection-type | Category:mhc-raise:gates | Function=projected_in_f64 | Found="argument 2, [128, 4] of f64", Needed="a product of f32, bf16 or f16"
func.func @projected_in_f64(%x: tensor<?x4x32xf32>, %m: tensor<?x4x4xf32>, %phi: tensor<128x4xf64>) -> (tensor<?x32xf32>, tensor<?x4x32xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %M = tensor.dim %x, %c0 : tensor<?x4x32xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x32xf32> into tensor<?x128xf32>
  %wide = arith.extf %flat : tensor<?x128xf32> to tensor<?x128xf64>
  %e = tensor.empty(%M) : tensor<?x4xf64>
  %start = linalg.fill ins(%zero : f64) outs(%e : tensor<?x4xf64>) -> tensor<?x4xf64>
  %p = linalg.matmul ins(%wide, %phi : tensor<?x128xf64>, tensor<128x4xf64>) outs(%start : tensor<?x4xf64>) -> tensor<?x4xf64>
  %z = arith.truncf %p : tensor<?x4xf64> to tensor<?x4xf32>
  %h = mhc.sigmoid %z : tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x32xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x32xf32>)
  %mixed = mhc.batch_matmul %m, %x : (tensor<?x4x4xf32>, tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
  return %u, %mixed : tensor<?x32xf32>, tensor<?x4x32xf32>
}

// CHECK: [Missed] gate-function | Category:mhc-raise:gates | Function=through_another_function | Found='math.tanh', Needed='mhc.sigmoid'
func.func @through_another_function(%x: tensor<?x4x32xf32>, %phi: tensor<128x16xf32>) -> tensor<?x4x32xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x32xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x32xf32> into tensor<?x128xf32>
  %p = mhc.matmul %flat, %phi : (tensor<?x128xf32>, tensor<128x16xf32>) -> tensor<?x16xf32>
  %t = math.tanh %p : tensor<?x16xf32>
  %map = tensor.expand_shape %t [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %y = mhc.batch_matmul %map, %x : (tensor<?x4x4xf32>, tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
  return %y : tensor<?x4x32xf32>
}

// Two weights are of one site, which is told once.
// CHECK: [Missed] gate-function | Category:mhc-raise:gates | Function=softmax_in_place_of_sigmoids | Found='mhc.softmax', Needed='mhc.sigmoid'
func.func @softmax_in_place_of_sigmoids(%x: tensor<8x4x32xf32>, %phi: tensor<4x128xf32>, %psi: tensor<4x128xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x32xf32> into tensor<8x128xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x128xf32>, tensor<4x128xf32>) -> tensor<8x4xf32>
  %q = mhc.matmul %flat, %psi transpose_rhs : (tensor<8x128xf32>, tensor<4x128xf32>) -> tensor<8x4xf32>
  %pre = mhc.softmax %p dim = 1 : tensor<8x4xf32>
  %post = mhc.softmax %q dim = 1 : tensor<8x4xf32>
  return %pre, %post : tensor<8x4xf32>, tensor<8x4xf32>
}

// Several products of the same streams are told once.
// CHECK: [Missed] projection-form | Category:mhc-raise:gates | Function=in_two_products | Found="'mhc.matmul', [?, 4] of f32"
func.func @in_two_products(%x: tensor<?x4x32xf32>, %phi: tensor<128x4xf32>, %psi: tensor<128x16xf32>)
    -> (tensor<?x32xf32>, tensor<?x4x32xf32>) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x32xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x32xf32> into tensor<?x128xf32>
  %z = mhc.matmul %flat, %phi : (tensor<?x128xf32>, tensor<128x4xf32>) -> tensor<?x4xf32>
  %h = math.absf %z : tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x32xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x32xf32>)
  %y = mhc.matmul %flat, %psi : (tensor<?x128xf32>, tensor<128x16xf32>) -> tensor<?x16xf32>
  %r = math.absf %y : tensor<?x16xf32>
  %res = tensor.expand_shape %r [[0], [1, 2]] output_shape [%M, 4, 4] : tensor<?x16xf32> into tensor<?x4x4xf32>
  %out = mhc.batch_matmul %res, %x : (tensor<?x4x4xf32>, tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
  return %u, %out : tensor<?x32xf32>, tensor<?x4x32xf32>
}

// Coefficients of a product of another width are of other code.
func.func @other_width(%x: tensor<?x4x32xf32>, %v: tensor<?x64xf32>, %w: tensor<64x4xf32>) -> tensor<?x32xf32> {
  %p = mhc.matmul %v, %w : (tensor<?x64xf32>, tensor<64x4xf32>) -> tensor<?x4xf32>
  %h = mhc.sigmoid %p : tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x32xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x32xf32>)
  return %u : tensor<?x32xf32>
}

// Each stream is projected on its own, as by hyper-connections without a manifold.
// CHECK: [Missed] projection-per-stream | {{.*}}Function=stream_by_stream | Found="'mhc.matmul', [?, 1] of f32", Needed="a product over the 128 channels of all streams of a token"
func.func @stream_by_stream(%x: tensor<?x4x32xf32>, %m: tensor<?x4x4xf32>, %w: tensor<32x1xf32>) -> (tensor<?x32xf32>, tensor<?x4x32xf32>) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x32xf32>
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x4x32xf32> into tensor<?x32xf32>
  %p = mhc.matmul %rows, %w : (tensor<?x32xf32>, tensor<32x1xf32>) -> tensor<?x1xf32>
  %z = tensor.expand_shape %p [[0, 1], [2]] output_shape [%M, 4, 1] : tensor<?x1xf32> into tensor<?x4x1xf32>
  %s = mhc.sigmoid %z : tensor<?x4x1xf32>
  %h = tensor.collapse_shape %s [[0], [1, 2]] : tensor<?x4x1xf32> into tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x32xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x32xf32>)
  %mixed = mhc.batch_matmul %m, %x : (tensor<?x4x4xf32>, tensor<?x4x32xf32>) -> tensor<?x4x32xf32>
  return %u, %mixed : tensor<?x32xf32>, tensor<?x4x32xf32>
}

// The same by a batch of one product, as exporters write a weight that has a dimension for it.
// CHECK: [Missed] projection-per-stream | Category:mhc-raise:gates | Function=in_a_batch_of_one | Found="'mhc.batch_matmul', [1, 32, 1] of f32", Needed="a product over the 128 channels of all streams of a token", {{.*}}="nothing: ops project all streams side by side; a mix by other coefficients is an op of its own where it is h_pre x, or h_res x + h_post y"
func.func @in_a_batch_of_one(%x: tensor<8x4x32xf32>, %m: tensor<8x4x4xf32>, %w: tensor<1x32x1xf32>) -> (tensor<8x32xf32>, tensor<8x4x32xf32>) {
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<8x4x32xf32> into tensor<32x32xf32>
  %one = tensor.expand_shape %rows [[0, 1], [2]] output_shape [1, 32, 32] : tensor<32x32xf32> into tensor<1x32x32xf32>
  %p = mhc.batch_matmul %one, %w : (tensor<1x32x32xf32>, tensor<1x32x1xf32>) -> tensor<1x32x1xf32>
  %t = math.tanh %p : tensor<1x32x1xf32>
  %flat = tensor.collapse_shape %t [[0, 1, 2]] : tensor<1x32x1xf32> into tensor<32xf32>
  %h = tensor.expand_shape %flat [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
  %u = mhc.aggregate(x = %x : tensor<8x4x32xf32>, h_pre = %h : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  %mixed = mhc.batch_matmul %m, %x : (tensor<8x4x4xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32>
  return %u, %mixed : tensor<8x32xf32>, tensor<8x4x32xf32>
}

// The same behind a norm outside the function.
// CHECK: [Missed] projection-per-stream | {{.*}}Function=normed_stream_by_stream | Found="'mhc.matmul', [32, 1] of f32"
func.func @normed_stream_by_stream(%x: tensor<8x4x32xf32>, %m: tensor<8x4x4xf32>, %normed: tensor<8x4x32xf32> {mhc.made_of = array<i64: 1>}, %w: tensor<32x1xf32>)
    -> (tensor<8x32xf32>, tensor<8x4x32xf32>, tensor<8x4x32xf32>) {
  %rows = tensor.collapse_shape %normed [[0, 1], [2]] : tensor<8x4x32xf32> into tensor<32x32xf32>
  %p = mhc.matmul %rows, %w : (tensor<32x32xf32>, tensor<32x1xf32>) -> tensor<32x1xf32>
  %t = math.tanh %p : tensor<32x1xf32>
  %flat = tensor.collapse_shape %t [[0, 1]] : tensor<32x1xf32> into tensor<32xf32>
  %h = tensor.expand_shape %flat [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
  %u = mhc.aggregate(x = %x : tensor<8x4x32xf32>, h_pre = %h : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  %mixed = mhc.batch_matmul %m, %x : (tensor<8x4x4xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32>
  return %u, %x, %mixed : tensor<8x32xf32>, tensor<8x4x32xf32>, tensor<8x4x32xf32>
}

// A layer with a gate of its own in front of the coefficients: that gate is no norm of a stream.
// CHECK: [Missed] projection-form | {{.*}}Function=behind_a_layer | Found="'mhc.matmul', [8, 8] of f32"
func.func @behind_a_layer(%x: tensor<8x4x32xf32>, %m: tensor<8x4x4xf32>, %a: tensor<8x128xf32>, %b: tensor<4x8xf32>, %beta: tensor<4xf32>) -> (tensor<8x32xf32>, tensor<8x4x32xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x32xf32> into tensor<8x128xf32>
  %p = mhc.matmul %flat, %a transpose_rhs : (tensor<8x128xf32>, tensor<8x128xf32>) -> tensor<8x8xf32>
  %s = mhc.sigmoid %p : tensor<8x8xf32>
  %y = arith.mulf %p, %s : tensor<8x8xf32>
  %q = mhc.matmul %y, %b transpose_rhs : (tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<8x4xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %q, %bias : tensor<8x4xf32>
  %h = mhc.sigmoid %z : tensor<8x4xf32>
  %u = mhc.aggregate(x = %x : tensor<8x4x32xf32>, h_pre = %h : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  %mixed = mhc.batch_matmul %m, %x : (tensor<8x4x4xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32>
  return %u, %mixed : tensor<8x32xf32>, tensor<8x4x32xf32>
}

// The same with a norm outside the function between the two products.
// CHECK: [Missed] projection-form | {{.*}}Function=behind_a_normed_layer | Found="'mhc.matmul', [8, 8] of f32"
func.func @behind_a_normed_layer(%x: tensor<8x4x32xf32>, %m: tensor<8x4x4xf32>, %a: tensor<8x128xf32>, %b: tensor<4x8xf32>,
    %normed: tensor<8x8xf32> {mhc.made_of = array<i64: 1>}) -> (tensor<8x32xf32>, tensor<8x8xf32>, tensor<8x4x32xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x32xf32> into tensor<8x128xf32>
  %p = mhc.matmul %flat, %a transpose_rhs : (tensor<8x128xf32>, tensor<8x128xf32>) -> tensor<8x8xf32>
  %s = mhc.sigmoid %normed : tensor<8x8xf32>
  %y = arith.mulf %normed, %s : tensor<8x8xf32>
  %q = mhc.matmul %y, %b transpose_rhs : (tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<8x4xf32>
  %h = mhc.sigmoid %q : tensor<8x4xf32>
  %u = mhc.aggregate(x = %x : tensor<8x4x32xf32>, h_pre = %h : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  %mixed = mhc.batch_matmul %m, %x : (tensor<8x4x4xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32>
  return %u, %p, %mixed : tensor<8x32xf32>, tensor<8x8xf32>, tensor<8x4x32xf32>
}

// Experts are as wide as streams. They are weighed by a product of what they read, and not of what they make.
func.func @experts(%u: tensor<8x32xf32>, %router: tensor<32x4xf32>, %w: tensor<32x128xf32>) -> tensor<8x32xf32> {
  %p = mhc.matmul %u, %router : (tensor<8x32xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  %shares = mhc.softmax %p dim = 1 : tensor<8x4xf32>
  %all = mhc.matmul %u, %w : (tensor<8x32xf32>, tensor<32x128xf32>) -> tensor<8x128xf32>
  %made = tensor.expand_shape %all [[0], [1, 2]] output_shape [8, 4, 32] : tensor<8x128xf32> into tensor<8x4x32xf32>
  %out = mhc.aggregate(x = %made : tensor<8x4x32xf32>, h_pre = %shares : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  return %out : tensor<8x32xf32>
}

// Nor are the keys of a query a projection of the values that it weighs.
func.func @one_query(%u: tensor<8x32xf32>, %w: tensor<32x32xf32>, %keys: tensor<8x4x32xf32>, %values: tensor<8x4x32xf32>) -> tensor<8x32xf32> {
  %q = mhc.matmul %u, %w : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32>
  %rows = mhc.broadcast %q dims = [0, 2] : tensor<8x32xf32> -> tensor<8x4x32xf32>
  %products = arith.mulf %rows, %keys : tensor<8x4x32xf32>
  %scores = mhc.reduce sum %products dims = [2] : tensor<8x4x32xf32> -> tensor<8x4xf32>
  %shares = mhc.softmax %scores dim = 1 : tensor<8x4xf32>
  %out = mhc.aggregate(x = %values : tensor<8x4x32xf32>, h_pre = %shares : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  return %out : tensor<8x32xf32>
}

// The rows of each stream lie together, so that those of a gate lie apart.
// CHECK: [Missed] gate-rows | {{.*}}Function=rows_of_each_stream | Found="{{.*}}", Needed="rows of h_pre, of h_post and of the logits, each in one piece"
func.func @rows_of_each_stream(%x: tensor<8x4x32xf32>, %phi: tensor<24x128xf32>) -> tensor<8x4xf32> {
  %proj, %stat = mhc.projection(x = %x : tensor<8x4x32xf32>, phi = %phi : tensor<24x128xf32>) <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms> -> (proj : tensor<8x24xf32>, stat : tensor<8xf32>)
  %rows = tensor.expand_shape %proj [[0], [1, 2]] output_shape [8, 4, 6] : tensor<8x24xf32> into tensor<8x4x6xf32>
  %first = tensor.extract_slice %rows[0, 0, 0] [8, 4, 1] [1, 1, 1] : tensor<8x4x6xf32> to tensor<8x4xf32>
  %gate = mhc.sigmoid %first : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

// h_post and the residual matrix side by side, in one product with the streams and the sublayer's output: the parts of
// the matrix are not those of the streams.
// CHECK: [Missed] combine-form | {{.*}}Function=side_by_side | Found="'mhc.batch_matmul', [8, 4, 32] of f32", Needed="a sum of h_res x and h_post times the sublayer's output"
func.func @side_by_side(%rows: tensor<8x5x32xf32>, %z: tensor<8x4x4xf32>, %h: tensor<8x4x1xf32>) -> tensor<8x4x32xf32> {
  %mix = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>) <init = exp, order = row_col, denom = none, eps = 0.0, iters = 2> -> (mix : tensor<8x4x4xf32>)
  %maps = tensor.concat dim(2) %h, %mix : (tensor<8x4x1xf32>, tensor<8x4x4xf32>) -> tensor<8x4x5xf32>
  %out = mhc.batch_matmul %maps, %rows : (tensor<8x4x5xf32>, tensor<8x5x32xf32>) -> tensor<8x4x32xf32>
  return %out : tensor<8x4x32xf32>
}

// A matrix behind a reshape by sizes that are not known.
// CHECK: [Missed] combine-form | {{.*}}Function=behind_a_reshape | Found="'mhc.matmul', [?, 32] of f32", Needed="a sum of h_res x and h_post times the sublayer's output"
func.func @behind_a_reshape(%x: tensor<4x32xf32>, %z: tensor<?x4x4xf32>, %shape: tensor<2xi64>) -> tensor<?x32xf32> {
  %mix = mhc.sinkhorn(logits = %z : tensor<?x4x4xf32>) <init = exp, order = row_col, denom = none, eps = 0.0, iters = 2> -> (mix : tensor<?x4x4xf32>)
  %map = tensor.reshape %mix(%shape) : (tensor<?x4x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %out = mhc.matmul %map, %x : (tensor<?x4xf32>, tensor<4x32xf32>) -> tensor<?x32xf32>
  return %out : tensor<?x32xf32>
}

// Attention among few tokens: its scores are no projection of the values.
func.func @heads(%q: tensor<3x8x64xf32>, %k: tensor<3x8x64xf32>, %v: tensor<3x8x64xf32>) -> tensor<3x8x64xf32> {
  %scores = mhc.batch_matmul %q, %k transpose_rhs : (tensor<3x8x64xf32>, tensor<3x8x64xf32>) -> tensor<3x8x8xf32>
  %shares = mhc.softmax %scores dim = 2 : tensor<3x8x8xf32>
  %out = mhc.batch_matmul %shares, %v : (tensor<3x8x8xf32>, tensor<3x8x64xf32>) -> tensor<3x8x64xf32>
  return %out : tensor<3x8x64xf32>
}

// Nor is what they are made of, where the values have as few channels as there are streams.
func.func @heads_of_few_channels(%u: tensor<64x64xf32>, %w: tensor<64x48xf32>) -> tensor<1x64x16xf32> {
  %p = mhc.matmul %u, %w : (tensor<64x64xf32>, tensor<64x48xf32>) -> tensor<64x48xf32>
  %all = tensor.expand_shape %p [[0, 1], [2]] output_shape [1, 64, 48] : tensor<64x48xf32> into tensor<1x64x48xf32>
  %q = tensor.extract_slice %all[0, 0, 0] [1, 64, 16] [1, 1, 1] : tensor<1x64x48xf32> to tensor<1x64x16xf32>
  %k = tensor.extract_slice %all[0, 0, 16] [1, 64, 16] [1, 1, 1] : tensor<1x64x48xf32> to tensor<1x64x16xf32>
  %v = tensor.extract_slice %all[0, 0, 32] [1, 64, 16] [1, 1, 1] : tensor<1x64x48xf32> to tensor<1x64x16xf32>
  %scores = mhc.batch_matmul %q, %k transpose_rhs : (tensor<1x64x16xf32>, tensor<1x64x16xf32>) -> tensor<1x64x64xf32>
  %shares = mhc.softmax %scores dim = 2 : tensor<1x64x64xf32>
  %out = mhc.batch_matmul %shares, %v : (tensor<1x64x64xf32>, tensor<1x64x16xf32>) -> tensor<1x64x16xf32>
  return %out : tensor<1x64x16xf32>
}

// Where a site was found, a layer behind a norm is none because heads of attention are as many and as wide.
func.func @layer_as_wide_as_heads(%x: tensor<8x4x64xf32>, %f: tensor<8x64xf32>, %post: tensor<8x4xf32>, %res: tensor<8x4x4xf32>,
    %values: tensor<8x4x16xf32>, %shares: tensor<8x4xf32>, %u: tensor<8x64xf32>, %w: tensor<32x64xf32>)
    -> (tensor<8x4x64xf32>, tensor<8x16xf32>, tensor<8x32xf32>) {
  %y = mhc.post(f = %f : tensor<8x64xf32>, h_post = %post : tensor<8x4xf32>, x = %x : tensor<8x4x64xf32>, h_res = %res : tensor<8x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<8x4x64xf32>)
  %head = mhc.aggregate(x = %values : tensor<8x4x16xf32>, h_pre = %shares : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x16xf32>)
  %streams = tensor.expand_shape %u [[0], [1, 2]] output_shape [8, 4, 16] : tensor<8x64xf32> into tensor<8x4x16xf32>
  %proj, %stat = mhc.projection(x = %streams : tensor<8x4x16xf32>, phi = %w : tensor<32x64xf32>) <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms> -> (proj : tensor<8x32xf32>, stat : tensor<8xf32>)
  %act = math.tanh %proj : tensor<8x32xf32>
  return %y, %head, %act : tensor<8x4x64xf32>, tensor<8x16xf32>, tensor<8x32xf32>
}

// Nor is a layer that heads of one token are weighed by, of which there are as many channels as it sums.
func.func @heads_beside_a_site(%x: tensor<1x4x64xf32>, %f: tensor<1x64xf32>, %post: tensor<1x4xf32>, %res: tensor<1x4x4xf32>,
    %values: tensor<1x4x16xf32>, %u: tensor<1x64xf32>, %w: tensor<64x4xf32>) -> (tensor<1x4x64xf32>, tensor<1x16xf32>) {
  %y = mhc.post(f = %f : tensor<1x64xf32>, h_post = %post : tensor<1x4xf32>, x = %x : tensor<1x4x64xf32>, h_res = %res : tensor<1x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<1x4x64xf32>)
  %scores = mhc.matmul %u, %w : (tensor<1x64xf32>, tensor<64x4xf32>) -> tensor<1x4xf32>
  %shares = mhc.softmax %scores dim = 1 : tensor<1x4xf32>
  %head = mhc.aggregate(x = %values : tensor<1x4x16xf32>, h_pre = %shares : tensor<1x4xf32>) <layout = nC> -> (u : tensor<1x16xf32>)
  return %y, %head : tensor<1x4x64xf32>, tensor<1x16xf32>
}

// A vector is added to what is projected: no part of the site is missing, but it is a projection of another tensor.
// CHECK: [Missed] projection-of-other-tensor | Category:mhc-raise:pre | Function=with_a_vector | Found="'arith.addf', [8, 4, 32] of f32", Needed="a projection of the streams that h_pre weighs"
func.func @with_a_vector(%x: tensor<8x4x32xf32>, %shift: tensor<4x32xf32>, %phi: tensor<4x128xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> tensor<8x32xf32> {
  %shifts = mhc.broadcast %shift dims = [1, 2] : tensor<4x32xf32> -> tensor<8x4x32xf32>
  %y = arith.addf %x, %shifts : tensor<8x4x32xf32>
  %proj, %stat = mhc.projection(x = %y : tensor<8x4x32xf32>, phi = %phi : tensor<4x128xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms> -> (proj : tensor<8x4xf32>, stat : tensor<8xf32>)
  %h_pre = mhc.gates(proj = %proj : tensor<8x4xf32>, stat = %stat : tensor<8xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0> -> (h_pre : tensor<8x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<8x4x32xf32>, h_pre = %h_pre : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  return %u : tensor<8x32xf32>
}

// Gates that weigh what was projected miss nothing, whatever else they weigh.
func.func @and_another(%x: tensor<8x4x32xf32>, %y: tensor<8x4x32xf32>, %phi: tensor<4x128xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> (tensor<8x32xf32>, tensor<8x32xf32>) {
  %proj, %stat = mhc.projection(x = %x : tensor<8x4x32xf32>, phi = %phi : tensor<4x128xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms> -> (proj : tensor<8x4xf32>, stat : tensor<8xf32>)
  %h_pre = mhc.gates(proj = %proj : tensor<8x4xf32>, stat = %stat : tensor<8xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0> -> (h_pre : tensor<8x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<8x4x32xf32>, h_pre = %h_pre : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  %v = mhc.aggregate(x = %y : tensor<8x4x32xf32>, h_pre = %h_pre : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  return %u, %v : tensor<8x32xf32>, tensor<8x32xf32>
}

// A norm outside the function makes of the streams what is projected: told where that is computed.
// CHECK: unread-projection.mlir:[[#@LINE+2]]:{{.*}} [Missed] norm-elsewhere | Category:mhc-raise:pre | Function=normed_outside | Found="argument 1 'native_layer_norm', [8, 128] of f32", Needed="a projection of the streams that h_pre weighs"
func.func @normed_outside(%x: tensor<8x4x32xf32>,
    %normed: tensor<8x128xf32> {mhc.name = "native_layer_norm"}, %phi: tensor<4x128xf32>, %alpha: tensor<1xf32>,
    %beta: tensor<4xf32>) -> tensor<8x32xf32> {
  %y = tensor.expand_shape %normed [[0], [1, 2]] output_shape [8, 4, 32] : tensor<8x128xf32> into tensor<8x4x32xf32>
  %proj, %stat = mhc.projection(x = %y : tensor<8x4x32xf32>, phi = %phi : tensor<4x128xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms> -> (proj : tensor<8x4xf32>, stat : tensor<8xf32>)
  %h_pre = mhc.gates(proj = %proj : tensor<8x4xf32>, stat = %stat : tensor<8xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0> -> (h_pre : tensor<8x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<8x4x32xf32>, h_pre = %h_pre : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  return %u : tensor<8x32xf32>
}

// A call makes what is projected: told where it is.
// CHECK: unread-projection.mlir:[[#@LINE+2]]:{{.*}} [Missed] projection-behind-call | Category:mhc-raise:pre | Function=behind_a_call | Found="argument 1 'native_layer_norm', [8, 128] of f32", Needed="a projection of the streams that h_pre weighs"
func.func @behind_a_call(%x: tensor<8x4x32xf32>,
    %normed: tensor<8x128xf32> {mhc.made_of = array<i64>, mhc.name = "native_layer_norm"}, %phi: tensor<4x128xf32>, %alpha: tensor<1xf32>,
    %beta: tensor<4xf32>) -> tensor<8x32xf32> {
  %y = tensor.expand_shape %normed [[0], [1, 2]] output_shape [8, 4, 32] : tensor<8x128xf32> into tensor<8x4x32xf32>
  %proj, %stat = mhc.projection(x = %y : tensor<8x4x32xf32>, phi = %phi : tensor<4x128xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms> -> (proj : tensor<8x4xf32>, stat : tensor<8xf32>)
  %h_pre = mhc.gates(proj = %proj : tensor<8x4xf32>, stat = %stat : tensor<8xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0> -> (h_pre : tensor<8x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<8x4x32xf32>, h_pre = %h_pre : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  return %u : tensor<8x32xf32>
}

// Gates that are made of a vector of another width are of other code.
func.func @of_a_vector(%x: tensor<8x4x32xf32>, %y: tensor<8x4x8xf32>, %phi: tensor<4x32xf32>, %alpha: tensor<1xf32>,
    %beta: tensor<4xf32>) -> tensor<8x32xf32> {
  %proj, %stat = mhc.projection(x = %y : tensor<8x4x8xf32>, phi = %phi : tensor<4x32xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms> -> (proj : tensor<8x4xf32>, stat : tensor<8xf32>)
  %h_pre = mhc.gates(proj = %proj : tensor<8x4xf32>, stat = %stat : tensor<8xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0> -> (h_pre : tensor<8x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<8x4x32xf32>, h_pre = %h_pre : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  return %u : tensor<8x32xf32>
}

// The mean of the streams is projected. That the gates are divided by their sum is no part of the cause.
// CHECK: [Missed] projection-of-other-tensor | Category:mhc-raise:pre | Function=of_the_sum | Found="'mhc.contract', [8, 32] of f32", Needed="a projection of the streams that h_pre weighs"
func.func @of_the_sum(%x: tensor<8x4x32xf32>, %phi: tensor<4x32xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>) -> tensor<8x32xf32> {
  %sum = mhc.contract(x = %x : tensor<8x4x32xf32>) <layout = nC, mode = sum> -> (out : tensor<8x32xf32>)
  %y = tensor.expand_shape %sum [[0], [1, 2]] output_shape [8, 4, 8] : tensor<8x32xf32> into tensor<8x4x8xf32>
  %proj, %stat = mhc.projection(x = %y : tensor<8x4x8xf32>, phi = %phi : tensor<4x32xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms> -> (proj : tensor<8x4xf32>, stat : tensor<8xf32>)
  %h_pre = mhc.gates(proj = %proj : tensor<8x4xf32>, stat = %stat : tensor<8xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0> -> (h_pre : tensor<8x4xf32>)
  %total = mhc.reduce sum %h_pre dims = [1] : tensor<8x4xf32> -> tensor<8xf32>
  %totals = mhc.broadcast %total dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %shares = arith.divf %h_pre, %totals : tensor<8x4xf32>
  %u = mhc.aggregate(x = %x : tensor<8x4x32xf32>, h_pre = %shares : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  return %u : tensor<8x32xf32>
}

// A layer behind a norm, of one stream's channels, is none.
func.func @clamped_layer(%s: tensor<?x4x64xf32>, %h: tensor<?x4xf32>, %w: tensor<32x64xf32>)
    -> (tensor<?x64xf32>, tensor<?x32xf32>) {
  %u = mhc.aggregate(x = %s : tensor<?x4x64xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x64xf32>)
  %c0 = arith.constant 0 : index
  %M = tensor.dim %u, %c0 : tensor<?x64xf32>
  %square = arith.mulf %u, %u : tensor<?x64xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x64xf32> -> tensor<?xf32>
  %eps = arith.constant 1.0e-6 : f32
  %all = tensor.splat %eps[%M] : tensor<?xf32>
  %sum = arith.addf %mean, %all : tensor<?xf32>
  %r = math.rsqrt %sum : tensor<?xf32>
  %each = mhc.broadcast %r dims = [0] : tensor<?xf32> -> tensor<?x64xf32>
  %normed = arith.mulf %u, %each : tensor<?x64xf32>
  %gate = mhc.matmul %normed, %w transpose_rhs : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
  %limit = arith.constant 7.0 : f32
  %limits = tensor.splat %limit[%M] : tensor<?x32xf32>
  %clamped = arith.minimumf %gate, %limits : tensor<?x32xf32>
  return %u, %clamped : tensor<?x64xf32>, tensor<?x32xf32>
}

// A layer behind a norm has as many rows as gates of 16 streams would have. Its vector is never taken apart.
func.func @layer(%x: tensor<?x64xf32>, %w: tensor<64x32xf32>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x64xf32>
  %eps = arith.constant 1.0e-06 : f32
  %e = tensor.splat %eps[%M] : tensor<?xf32>
  %q = arith.mulf %x, %x : tensor<?x64xf32>
  %m = mhc.reduce mean %q dims = [1] : tensor<?x64xf32> -> tensor<?xf32>
  %s = arith.addf %m, %e : tensor<?xf32>
  %r = math.rsqrt %s : tensor<?xf32>
  %b = mhc.broadcast %r dims = [0] : tensor<?xf32> -> tensor<?x64xf32>
  %n = arith.mulf %x, %b : tensor<?x64xf32>
  %p = mhc.matmul %n, %w : (tensor<?x64xf32>, tensor<64x32xf32>) -> tensor<?x32xf32>
  %y = mhc.silu %p : tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// The sublayer reads a function of the streams as h_res mixed them.
// CHECK: [Missed] aggregate-form | {{.*}}Found="h_res x, 'mhc.batch_matmul', [8, 4, 16] of f32", Needed="a sum over the streams of h_pre x, as x was before h_res mixed it"
func.func @reads_mixed_streams(%x: tensor<8x4x16xf32>, %z: tensor<8x4x4xf32>, %pre: tensor<8x4xf32>,
                               %post: tensor<8x4xf32>, %w: tensor<16x16xf32>) -> tensor<8x4x16xf32> {
  %h_res = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = none, eps = 0.0, iters = 20> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %h_res, %x : (tensor<8x4x4xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  %row = tensor.expand_shape %pre [[0], [1, 2]] output_shape [8, 1, 4] : tensor<8x4xf32> into tensor<8x1x4xf32>
  %bent = math.tanh %mixed : tensor<8x4x16xf32>
  %read = mhc.batch_matmul %row, %bent : (tensor<8x1x4xf32>, tensor<8x4x16xf32>) -> tensor<8x1x16xf32>
  %u = tensor.collapse_shape %read [[0], [1, 2]] : tensor<8x1x16xf32> into tensor<8x16xf32>
  %f = mhc.matmul %u, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %gates = mhc.broadcast %post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %outputs = mhc.broadcast %f dims = [0, 2] : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %branch = arith.mulf %gates, %outputs : tensor<8x4x16xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x16xf32>
  return %out : tensor<8x4x16xf32>
}

// Streams that one map mixes for all tokens are no combine. The product of two maps is what streams are weighed by.
// CHECK: [Missed] combine-form | {{.*}}Function=mixed_for_all_tokens | Found="'mhc.matmul', [4, 128] of f32", Needed="a sum of h_res x and h_post times the sublayer's output"
func.func @mixed_for_all_tokens(%x: tensor<4x128xf32>, %z: tensor<4x4xf32>, %pre: tensor<1x4xf32>)
    -> (tensor<1x128xf32>, tensor<1x128xf32>) {
  %logits = tensor.expand_shape %z [[0, 1], [2]] output_shape [1, 4, 4] : tensor<4x4xf32> into tensor<1x4x4xf32>
  %mix = mhc.sinkhorn(logits = %logits : tensor<1x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 2> -> (mix : tensor<1x4x4xf32>)
  %map = tensor.collapse_shape %mix [[0, 1], [2]] : tensor<1x4x4xf32> into tensor<4x4xf32>
  %mixed = mhc.matmul %map, %x : (tensor<4x4xf32>, tensor<4x128xf32>) -> tensor<4x128xf32>
  %streams = tensor.expand_shape %mixed [[0, 1], [2]] output_shape [1, 4, 128] : tensor<4x128xf32> into tensor<1x4x128xf32>
  %u = mhc.aggregate(x = %streams : tensor<1x4x128xf32>, h_pre = %pre : tensor<1x4xf32>) <layout = nC> -> (u : tensor<1x128xf32>)
  %other = mhc.sinkhorn(logits = %logits : tensor<1x4x4xf32>)
    <init = exp, order = row_col, denom = none, eps = 0.0, iters = 3> -> (mix : tensor<1x4x4xf32>)
  %rows = tensor.collapse_shape %other [[0, 1], [2]] : tensor<1x4x4xf32> into tensor<4x4xf32>
  %weights = mhc.matmul %pre, %rows : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %all = tensor.expand_shape %x [[0, 1], [2]] output_shape [1, 4, 128] : tensor<4x128xf32> into tensor<1x4x128xf32>
  %v = mhc.aggregate(x = %all : tensor<1x4x128xf32>, h_pre = %weights : tensor<1x4xf32>) <layout = nC> -> (u : tensor<1x128xf32>)
  return %u, %v : tensor<1x128xf32>, tensor<1x128xf32>
}

// Two mixes for a sublayer, each of half as many channels as it reads.
// CHECK: [Missed] stream-fractions | Category:mhc-raise:aggregate | Function=halves_of_channels | Found="'mhc.batch_matmul', [8, 2, 32] of f32"
func.func @halves_of_channels(%x: tensor<8x4x32xf32>, %phi: tensor<8x128xf32>, %alpha: tensor<1xf32>,
                              %beta: tensor<8xf32>) -> tensor<8x64xf32> {
  %proj, %stat = mhc.projection(x = %x : tensor<8x4x32xf32>, phi = %phi : tensor<8x128xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms> -> (proj : tensor<8x8xf32>, stat : tensor<8xf32>)
  %h = mhc.gates(proj = %proj : tensor<8x8xf32>, stat = %stat : tensor<8xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<8xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0> -> (h_pre : tensor<8x8xf32>)
  %map = tensor.expand_shape %h [[0], [1, 2]] output_shape [8, 2, 4] : tensor<8x8xf32> into tensor<8x2x4xf32>
  %mixes = mhc.batch_matmul %map, %x : (tensor<8x2x4xf32>, tensor<8x4x32xf32>) -> tensor<8x2x32xf32>
  %u = tensor.collapse_shape %mixes [[0], [1, 2]] : tensor<8x2x32xf32> into tensor<8x64xf32>
  return %u : tensor<8x64xf32>
}

// The output in two parts, each with a gate of its own.
// CHECK: [Missed] stream-fractions | Category:mhc-raise:post | Function=halves_of_an_output | Found="'mhc.batch_matmul', [8, 4, 32] of f32"
func.func @halves_of_an_output(%x: tensor<8x4x32xf32>, %z: tensor<8x4x4xf32>, %post: tensor<8x4x2xf32>,
                               %f: tensor<8x2x32xf32>) -> tensor<8x4x32xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32>
  %branch = mhc.batch_matmul %post, %f : (tensor<8x4x2xf32>, tensor<8x2x32xf32>) -> tensor<8x4x32xf32>
  %y = arith.addf %mixed, %branch : tensor<8x4x32xf32>
  return %y : tensor<8x4x32xf32>
}

// A gate beside the site weighs another output of the sublayer, which is added to the streams: it weighs none itself, and
// is no h_pre of what reads them next.
func.func @second_output(%x: tensor<8x4x32xf32>, %phi: tensor<4x128xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>,
    %f: tensor<8x32xf32>, %next: tensor<8x4xf32>) -> tensor<8x32xf32> {
  %proj, %stat = mhc.projection(x = %x : tensor<8x4x32xf32>, phi = %phi : tensor<4x128xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms> -> (proj : tensor<8x4xf32>, stat : tensor<8xf32>)
  %gate = mhc.gates(proj = %proj : tensor<8x4xf32>, stat = %stat : tensor<8xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 0.0, post_mult = 2.0> -> (h_pre : tensor<8x4xf32>)
  %gates = mhc.broadcast %gate dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x32xf32>
  %rows = mhc.broadcast %f dims = [0, 2] : tensor<8x32xf32> -> tensor<8x4x32xf32>
  %part = arith.mulf %gates, %rows : tensor<8x4x32xf32>
  %y = arith.addf %x, %part : tensor<8x4x32xf32>
  %u = mhc.aggregate(x = %y : tensor<8x4x32xf32>, h_pre = %next : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  return %u : tensor<8x32xf32>
}

// Vectors that are weighed and added up, and mixed no further, are pooled: by weights of each,
func.func @pooled(%x: tensor<?x4x32xf32>, %w: tensor<32x1xf32>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x32xf32>
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x4x32xf32> into tensor<?x32xf32>
  %p = mhc.matmul %rows, %w : (tensor<?x32xf32>, tensor<32x1xf32>) -> tensor<?x1xf32>
  %z = tensor.expand_shape %p [[0, 1], [2]] output_shape [%M, 4, 1] : tensor<?x1xf32> into tensor<?x4x1xf32>
  %s = mhc.sigmoid %z : tensor<?x4x1xf32>
  %h = tensor.collapse_shape %s [[0], [1, 2]] : tensor<?x4x1xf32> into tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x32xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x32xf32>)
  return %u : tensor<?x32xf32>
}

// or of all.
func.func @pooled_by_all(%x: tensor<?x4x32xf32>, %phi: tensor<4x128xf32>) -> tensor<?x32xf32> {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x32xf32> into tensor<?x128xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x128xf32>, tensor<4x128xf32>) -> tensor<?x4xf32>
  %h = mhc.softmax %p dim = 1 : tensor<?x4xf32>
  %u = mhc.aggregate(x = %x : tensor<?x4x32xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x32xf32>)
  return %u : tensor<?x32xf32>
}

// A classifier reads the streams, and nothing is weighed by it.
func.func @classified(%x: tensor<?x4x32xf32>, %phi: tensor<24x128xf32>, %logits: tensor<?x4x4xf32>, %h: tensor<?x4xf32>,
    %f: tensor<?x32xf32>) -> (tensor<?x4x32xf32>, tensor<?x24xf32>, tensor<?x24xf32>) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x32xf32>
  %res = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<?x4x4xf32>)
  %out = mhc.post(f = %f : tensor<?x32xf32>, h_post = %h : tensor<?x4xf32>, x = %x : tensor<?x4x32xf32>,
    h_res = %res : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x32xf32>)
  %flat = tensor.collapse_shape %out [[0], [1, 2]] : tensor<?x4x32xf32> into tensor<?x128xf32>
  %square = arith.mulf %flat, %flat : tensor<?x128xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<?x128xf32> -> tensor<?xf32>
  %r = math.rsqrt %ms : tensor<?xf32>
  %rb = mhc.broadcast %r dims = [0] : tensor<?xf32> -> tensor<?x128xf32>
  %normed = arith.mulf %flat, %rb : tensor<?x128xf32>
  %p = mhc.matmul %normed, %phi transpose_rhs : (tensor<?x128xf32>, tensor<24x128xf32>) -> tensor<?x24xf32>
  %t = math.tanh %p : tensor<?x24xf32>
  %s = mhc.sigmoid %p : tensor<?x24xf32>
  return %out, %t, %s : tensor<?x4x32xf32>, tensor<?x24xf32>, tensor<?x24xf32>
}

// A loss reads what gates and a residual map are made of, which are found all the same.
func.func @read_by_a_loss(%x: tensor<8x4x32xf32>, %phi: tensor<24x128xf32>)
    -> (tensor<8x32xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<f32>, tensor<f32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x32xf32> into tensor<8x128xf32>
  %square = arith.mulf %flat, %flat : tensor<8x128xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x128xf32> -> tensor<8xf32>
  %r = math.rsqrt %ms : tensor<8xf32>
  %rb = mhc.broadcast %r dims = [0] : tensor<8xf32> -> tensor<8x128xf32>
  %normed = arith.mulf %flat, %rb : tensor<8x128xf32>
  %p = mhc.matmul %normed, %phi transpose_rhs : (tensor<8x128xf32>, tensor<24x128xf32>) -> tensor<8x24xf32>
  %a = tensor.extract_slice %p[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %b = tensor.extract_slice %p[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %c = tensor.extract_slice %p[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %pre = mhc.sigmoid %a : tensor<8x4xf32>
  %post = mhc.sigmoid %b : tensor<8x4xf32>
  %z = tensor.expand_shape %c [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %res = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<8x4x32xf32>, h_pre = %pre : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  %bent = math.tanh %a : tensor<8x4xf32>
  %first = mhc.reduce mean %bent dims = [0, 1] : tensor<8x4xf32> -> tensor<f32>
  %size = math.absf %z : tensor<8x4x4xf32>
  %second = mhc.reduce mean %size dims = [0, 1, 2] : tensor<8x4x4xf32> -> tensor<f32>
  return %u, %post, %res, %first, %second : tensor<8x32xf32>, tensor<8x4xf32>, tensor<8x4x4xf32>, tensor<f32>, tensor<f32>
}

// Four heads are mixed for a layer by maps of the token that they are parts of.
func.func @mixed_heads(%x: tensor<8x32xf32>, %w: tensor<16x32xf32>, %o: tensor<32x32xf32>) -> tensor<8x32xf32> {
  %p = mhc.matmul %x, %w transpose_rhs : (tensor<8x32xf32>, tensor<16x32xf32>) -> tensor<8x16xf32>
  %t = math.absf %p : tensor<8x16xf32>
  %map = tensor.expand_shape %t [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %heads = tensor.expand_shape %x [[0], [1, 2]] output_shape [8, 4, 8] : tensor<8x32xf32> into tensor<8x4x8xf32>
  %y = mhc.batch_matmul %map, %heads : (tensor<8x4x4xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
  %flat = tensor.collapse_shape %y [[0], [1, 2]] : tensor<8x4x8xf32> into tensor<8x32xf32>
  %out = mhc.matmul %flat, %o transpose_rhs : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32>
  return %out : tensor<8x32xf32>
}

// Attention over four tokens, of which all are pooled.
func.func @attention(%x: tensor<8x4x32xf32>, %q: tensor<32x32xf32>, %w: tensor<32x1xf32>) -> tensor<8x32xf32> {
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<8x4x32xf32> into tensor<32x32xf32>
  %p = mhc.matmul %rows, %q : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %queries = tensor.expand_shape %p [[0, 1], [2]] output_shape [8, 4, 32] : tensor<32x32xf32> into tensor<8x4x32xf32>
  %scores = mhc.batch_matmul %queries, %x transpose_rhs : (tensor<8x4x32xf32>, tensor<8x4x32xf32>) -> tensor<8x4x4xf32>
  %map = mhc.softmax %scores dim = 2 : tensor<8x4x4xf32>
  %y = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32>
  %tokens = tensor.collapse_shape %y [[0, 1], [2]] : tensor<8x4x32xf32> into tensor<32x32xf32>
  %z = mhc.matmul %tokens, %w : (tensor<32x32xf32>, tensor<32x1xf32>) -> tensor<32x1xf32>
  %s = mhc.sigmoid %z : tensor<32x1xf32>
  %flat = tensor.collapse_shape %s [[0, 1]] : tensor<32x1xf32> into tensor<32xf32>
  %h = tensor.expand_shape %flat [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
  %u = mhc.aggregate(x = %y : tensor<8x4x32xf32>, h_pre = %h : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  return %u : tensor<8x32xf32>
}

// Points that are matched.
func.func @matched(%a: tensor<2x4x32xf32>, %b: tensor<2x4x32xf32>) -> tensor<2x4x32xf32> {
  %pairs = mhc.batch_matmul %a, %b transpose_rhs : (tensor<2x4x32xf32>, tensor<2x4x32xf32>) -> tensor<2x4x4xf32>
  %map = mhc.sinkhorn(logits = %pairs : tensor<2x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<2x4x4xf32>)
  %y = mhc.batch_matmul %map, %b : (tensor<2x4x4xf32>, tensor<2x4x32xf32>) -> tensor<2x4x32xf32>
  return %y : tensor<2x4x32xf32>
}

// Heads have gates of all heads, and are not added up.
func.func @gated_heads(%y: tensor<8x4x8xf32>, %phi: tensor<4x32xf32>, %beta: tensor<4xf32>) -> tensor<8x32xf32> {
  %flat = tensor.collapse_shape %y [[0], [1, 2]] : tensor<8x4x8xf32> into tensor<8x32xf32>
  %square = arith.mulf %flat, %flat : tensor<8x32xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<8x32xf32> -> tensor<8xf32>
  %r = math.rsqrt %ms : tensor<8xf32>
  %rb = mhc.broadcast %r dims = [0] : tensor<8xf32> -> tensor<8x32xf32>
  %normed = arith.mulf %flat, %rb : tensor<8x32xf32>
  %p = mhc.matmul %normed, %phi transpose_rhs : (tensor<8x32xf32>, tensor<4x32xf32>) -> tensor<8x4xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<4xf32> -> tensor<8x4xf32>
  %z = arith.addf %p, %bias : tensor<8x4xf32>
  %h = mhc.sigmoid %z : tensor<8x4xf32>
  %each = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x8xf32>
  %gated = arith.mulf %each, %y : tensor<8x4x8xf32>
  %out = tensor.collapse_shape %gated [[0], [1, 2]] : tensor<8x4x8xf32> into tensor<8x32xf32>
  return %out : tensor<8x32xf32>
}

// Fewer rows than those of gates and logits.
// CHECK: [Missed] projection-form | {{.*}}Function=too_few_rows | Found="'mhc.matmul', [8, 20] of f32", Needed="24 rows of phi: 4 of h_pre, 4 of h_post and 16 of the logits"
func.func @too_few_rows(%x: tensor<8x4x32xf32>, %phi: tensor<20x128xf32>) -> (tensor<8x32xf32>, tensor<8x4x32xf32>) {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x4x32xf32> into tensor<8x128xf32>
  %p = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x128xf32>, tensor<20x128xf32>) -> tensor<8x20xf32>
  %a = tensor.extract_slice %p[0, 0] [8, 4] [1, 1] : tensor<8x20xf32> to tensor<8x4xf32>
  %pre = math.absf %a : tensor<8x4xf32>
  %c = tensor.extract_slice %p[0, 4] [8, 16] [1, 1] : tensor<8x20xf32> to tensor<8x16xf32>
  %r = math.absf %c : tensor<8x16xf32>
  %res = tensor.expand_shape %r [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %u = mhc.aggregate(x = %x : tensor<8x4x32xf32>, h_pre = %pre : tensor<8x4xf32>) <layout = nC> -> (u : tensor<8x32xf32>)
  %mixed = mhc.batch_matmul %res, %x : (tensor<8x4x4xf32>, tensor<8x4x32xf32>) -> tensor<8x4x32xf32>
  return %u, %mixed : tensor<8x32xf32>, tensor<8x4x32xf32>
}
