// RUN: mhc-opt %s -mhc-set-layout="target=cuda:sm_90a" --remarks-filter='mhc.*' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --implicit-check-not='[Passed]' --implicit-check-not='[Missed]' < %t.remarks
// RUN: mhc-opt %s -mhc-set-layout | FileCheck %s --check-prefix=CPU

// The layout of streams is free between ops that have one. On a GPU the cheaper one is taken, and weights that multiply a
// flattened token are transposed. Who reads the number of tokens sees no order. On a CPU all are faster for [M, n, C].
// CPU-LABEL: func.func @one_sublayer
// CPU: mhc.expand({{.*}}) <layout = nC>
// CPU-LABEL: func.func @narrow_channels
// CPU: mhc.expand({{.*}}) <layout = nC>
// CPU-LABEL: func.func @same_cost
// CPU: mhc.expand({{.*}}) <layout = nC>
// CPU: mhc.expand({{.*}}) <layout = nC>

// A projection in one launch reads [M, n, C] alone: one op of four has a slow kernel for [M, C, n].
// CHECK-LABEL: func.func @one_sublayer
// CHECK: %[[NORM_SPLIT:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [1024, 4] : tensor<4096xf32> into tensor<1024x4xf32>
// CHECK: %[[NORM_TURNED:.*]] = mhc.transpose %[[NORM_SPLIT]] perm = [1, 0] : tensor<1024x4xf32> -> tensor<4x1024xf32>
// CHECK: %[[NORM:.*]] = tensor.collapse_shape %[[NORM_TURNED]] {{\[\[}}0, 1]] : tensor<4x1024xf32> into tensor<4096xf32>
// CHECK: %[[PHI_SPLIT:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [24, 1024, 4] : tensor<24x4096xf32> into tensor<24x1024x4xf32>
// CHECK: %[[PHI_TURNED:.*]] = mhc.transpose %[[PHI_SPLIT]] perm = [0, 2, 1] : tensor<24x1024x4xf32> -> tensor<24x4x1024xf32>
// CHECK: %[[PHI:.*]] = tensor.collapse_shape %[[PHI_TURNED]] {{\[\[}}0], [1, 2]] : tensor<24x4x1024xf32> into tensor<24x4096xf32>
// CHECK: %[[X:.*]] = mhc.expand({{.*}}) <layout = nC> -> (streams : tensor<?x4x1024xbf16>)
// CHECK: tensor.dim %[[X]], %{{.*}} : tensor<?x4x1024xbf16>
// CHECK: mhc.pre(x = %[[X]] : tensor<?x4x1024xbf16>, phi = %[[PHI]] : tensor<24x4096xf32>, norm_weight = %[[NORM]] : tensor<4096xf32>, {{.*}}) <layout = nC, phi_layout = out_in,
// CHECK: %[[Y:.*]] = mhc.post({{.*}}x = %[[X]] : tensor<?x4x1024xbf16>, {{.*}}) <layout = nC, orient = oi> -> (out : tensor<?x4x1024xbf16>)
// CHECK: mhc.contract(x = %[[Y]] : tensor<?x4x1024xbf16>) <layout = nC, mode = mean>
// REMARK: set-layout.mlir:[[#@LINE+4]]:{{.*}}: remark: [Passed] layout | Category:mhc-set-layout | Function=one_sublayer | Remark="streams of 4 ops from Cn to nC: slow kernels 1 before, 0 now; 409600 bytes of weights are transposed in each call"
func.func @one_sublayer(%e: tensor<?x1024xbf16>, %phi: tensor<24x4096xf32>, %norm: tensor<4096xf32>,
                        %alpha: tensor<3xf32>, %beta: tensor<24xf32>) -> (tensor<?x1024xbf16>, index) {
  %c0 = arith.constant 0 : index
  %x = mhc.expand(x = %e : tensor<?x1024xbf16>) <layout = Cn> -> (streams : tensor<?x1024x4xbf16>)
  %M = tensor.dim %x, %c0 : tensor<?x1024x4xbf16>
  %u, %h_post, %h_res = mhc.pre(x = %x : tensor<?x1024x4xbf16>, phi = %phi : tensor<24x4096xf32>,
      norm_weight = %norm : tensor<4096xf32>, alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<24xf32>)
    <layout = Cn, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 0.0, post_mult = 2.0,
     res_map = sinkhorn, init = softmax_eps, order = row_col, denom = add, sk_eps = 1.0e-06, iters = 20, fold_pre = false>
    -> (u : tensor<?x1024xbf16>, h_post : tensor<?x4xf32>, h_res : tensor<?x4x4xf32>)
  %y = mhc.post(f = %u : tensor<?x1024xbf16>, h_post = %h_post : tensor<?x4xf32>, x = %x : tensor<?x1024x4xbf16>,
      h_res = %h_res : tensor<?x4x4xf32>) <layout = Cn, orient = oi> -> (out : tensor<?x1024x4xbf16>)
  %out = mhc.contract(x = %y : tensor<?x1024x4xbf16>) <layout = Cn, mode = mean> -> (out : tensor<?x1024xbf16>)
  return %out, %M : tensor<?x1024xbf16>, index
}

// Channels of 132 bytes are no vectors of 16, the four streams of two channels are one.
// CHECK-LABEL: func.func @narrow_channels
// CHECK-NOT: mhc.transpose
// CHECK: mhc.aggregate({{.*}}) <layout = Cn>
// CHECK: mhc.contract({{.*}} : tensor<?x66x4xbf16>) <layout = Cn, mode = sum>
// REMARK: [Passed] layout | Category:mhc-set-layout | Function=narrow_channels | Remark="streams of 3 ops from nC to Cn: slow kernels 3 before, 0 now"
func.func @narrow_channels(%e: tensor<?x66xbf16>, %h: tensor<?x4xf32>) -> (tensor<?x66xbf16>, tensor<?x66xbf16>) {
  %x = mhc.expand(x = %e : tensor<?x66xbf16>) <layout = nC> -> (streams : tensor<?x4x66xbf16>)
  %u = mhc.aggregate(x = %x : tensor<?x4x66xbf16>, h_pre = %h : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x66xbf16>)
  %out = mhc.contract(x = %x : tensor<?x4x66xbf16>) <layout = nC, mode = sum> -> (out : tensor<?x66xbf16>)
  return %u, %out : tensor<?x66xbf16>, tensor<?x66xbf16>
}

// Both layouts have the same kernels: streams keep theirs. So do those of f32 around a projection.
// CHECK-LABEL: func.func @same_cost
// CHECK: mhc.expand({{.*}}) <layout = Cn>
// CHECK: mhc.head({{.*}}) <layout = Cn
func.func @same_cost(%e: tensor<?x64xbf16>, %f: tensor<?x1024xf32>, %phi: tensor<4x4096xf32>, %alpha: tensor<1xf32>,
                     %beta: tensor<4xf32>) -> (tensor<?x64xbf16>, tensor<?x1024xf32>) {
  %x = mhc.expand(x = %e : tensor<?x64xbf16>) <layout = Cn> -> (streams : tensor<?x64x4xbf16>)
  %out = mhc.contract(x = %x : tensor<?x64x4xbf16>) <layout = Cn, mode = sum> -> (out : tensor<?x64xbf16>)
  %wide = mhc.expand(x = %f : tensor<?x1024xf32>) <layout = Cn> -> (streams : tensor<?x1024x4xf32>)
  %u = mhc.head(x = %wide : tensor<?x1024x4xf32>, phi = %phi : tensor<4x4096xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = Cn, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06> -> (out : tensor<?x1024xf32>)
  return %out, %u : tensor<?x64xbf16>, tensor<?x1024xf32>
}

// Two tokens save less than the weights cost: 2 x 10240 bytes of a slow kernel, 2 x 65536 of phi. Fifty save more.
// CHECK-LABEL: func.func @few_tokens
// CHECK: mhc.head({{.*}}) <layout = Cn
// CHECK: mhc.head({{.*}}) <layout = nC
// REMARK: [Passed] layout | Category:mhc-set-layout | Function=few_tokens | Remark="streams of 2 ops from Cn to nC: slow kernels 1 before, 0 now; 65536 bytes of weights are transposed in each call"
func.func @few_tokens(%e: tensor<2x1024xbf16>, %many: tensor<50x1024xbf16>, %phi: tensor<4x4096xf32>, %alpha: tensor<1xf32>,
                      %beta: tensor<4xf32>) -> (tensor<2x1024xbf16>, tensor<50x1024xbf16>) {
  %x = mhc.expand(x = %e : tensor<2x1024xbf16>) <layout = Cn> -> (streams : tensor<2x1024x4xbf16>)
  %u = mhc.head(x = %x : tensor<2x1024x4xbf16>, phi = %phi : tensor<4x4096xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = Cn, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06> -> (out : tensor<2x1024xbf16>)
  %y = mhc.expand(x = %many : tensor<50x1024xbf16>) <layout = Cn> -> (streams : tensor<50x1024x4xbf16>)
  %v = mhc.head(x = %y : tensor<50x1024x4xbf16>, phi = %phi : tensor<4x4096xf32>, alpha = %alpha : tensor<1xf32>,
      beta = %beta : tensor<4xf32>)
    <layout = Cn, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, pre_eps = 1.0e-06> -> (out : tensor<50x1024xbf16>)
  return %u, %v : tensor<2x1024xbf16>, tensor<50x1024xbf16>
}


// The gradient of a weight is transposed back.
// CHECK-LABEL: func.func @gradient
// CHECK: mhc.transpose %{{.*}} perm = [0, 2, 1] : tensor<24x1024x4xf32> -> tensor<24x4x1024xf32>
// CHECK: %[[D_X:.*]], %[[D_PHI:.*]] = mhc.projection_bwd({{.*}}) <layout = nC, {{.*}}> -> (d_x : tensor<?x4x1024xbf16>, d_phi : tensor<24x4096xf32>)
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %[[D_PHI]] {{\[\[}}0], [1, 2]] output_shape [24, 4, 1024]
// CHECK: %[[TURNED:.*]] = mhc.transpose %[[SPLIT]] perm = [0, 2, 1] : tensor<24x4x1024xf32> -> tensor<24x1024x4xf32>
// CHECK: %[[BACK:.*]] = tensor.collapse_shape %[[TURNED]] {{\[\[}}0], [1, 2]]
// CHECK: mhc.contract(x = %[[D_X]]
// CHECK: return %{{.*}}, %[[BACK]]
// REMARK: [Passed] layout | Category:mhc-set-layout | Function=gradient | Remark="streams of 3 ops from Cn to nC: slow kernels 1 before, 0 now; 786432 bytes of weights are transposed in each call"
func.func @gradient(%e: tensor<?x1024xbf16>, %d_proj: tensor<?x24xf32>, %phi: tensor<24x4096xf32>)
    -> (tensor<?x1024xbf16>, tensor<24x4096xf32>) {
  %x = mhc.expand(x = %e : tensor<?x1024xbf16>) <layout = Cn> -> (streams : tensor<?x1024x4xbf16>)
  %d_x, %d_phi = mhc.projection_bwd(d_proj = %d_proj : tensor<?x24xf32>, x = %x : tensor<?x1024x4xbf16>,
      phi = %phi : tensor<24x4096xf32>)
    <layout = Cn, phi_layout = out_in, norm = none, norm_eps = 0.0, stat_form = mean_square>
    -> (d_x : tensor<?x1024x4xbf16>, d_phi : tensor<24x4096xf32>)
  %d_e = mhc.contract(x = %d_x : tensor<?x1024x4xbf16>) <layout = Cn, mode = sum> -> (out : tensor<?x1024xbf16>)
  return %d_e, %d_phi : tensor<?x1024xbf16>, tensor<24x4096xf32>
}

// In front of fusion a projection decides like the op that it becomes a part of: of mhc.pre with 24 columns, of mhc.head with 4.
// CHECK-LABEL: func.func @unfused
// CHECK-COUNT-2: mhc.projection({{.*}}) <layout = nC, phi_layout = in_out,
// CHECK: mhc.aggregate({{.*}}) <layout = nC>
// REMARK: [Passed] layout | Category:mhc-set-layout | Function=unfused | Remark="streams of 4 ops from Cn to nC: slow kernels 2 before, 0 now; 458752 bytes of weights are transposed in each call"
func.func @unfused(%e: tensor<?x1024xbf16>, %phi: tensor<4096x24xf32>, %head: tensor<4096x4xf32>, %h: tensor<?x4xf32>)
    -> (tensor<?x24xf32>, tensor<?x4xf32>, tensor<?x1024xbf16>) {
  %x = mhc.expand(x = %e : tensor<?x1024xbf16>) <layout = Cn> -> (streams : tensor<?x1024x4xbf16>)
  %proj, %stat = mhc.projection(x = %x : tensor<?x1024x4xbf16>, phi = %phi : tensor<4096x24xf32>)
    <layout = Cn, phi_layout = in_out, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x24xf32>, stat : tensor<?xf32>)
  %few, %stat2 = mhc.projection(x = %x : tensor<?x1024x4xbf16>, phi = %head : tensor<4096x4xf32>)
    <layout = Cn, phi_layout = in_out, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<?x4xf32>, stat : tensor<?xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x1024x4xbf16>, h_pre = %h : tensor<?x4xf32>) <layout = Cn> -> (u : tensor<?x1024xbf16>)
  return %proj, %few, %u : tensor<?x24xf32>, tensor<?x4xf32>, tensor<?x1024xbf16>
}
