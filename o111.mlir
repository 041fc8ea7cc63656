module {
  func.func @case(%arg0: tensor<?x8xf32> {mhc.name = "x"}, %arg1: tensor<40x35xf32> {mhc.name = "phi0"}, %arg2: tensor<3xf32> {mhc.name = "alpha0"}, %arg3: tensor<35xf32> {mhc.name = "beta0"}, %arg4: tensor<8x8xf32> {mhc.name = "w_sub0"}, %arg5: tensor<8xf32> {mhc.name = "bias0"}, %arg6: tensor<40x35xf32> {mhc.name = "phi1"}, %arg7: tensor<3xf32> {mhc.name = "alpha1"}, %arg8: tensor<35xf32> {mhc.name = "beta1"}, %arg9: tensor<8x8xf32> {mhc.name = "w_sub1"}, %arg10: tensor<8xf32> {mhc.name = "bias1"}) -> (tensor<?x8xf32> {mhc.name = "out"}, tensor<?x40xf32> {mhc.name = "streams"}) {
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x8xf32>
    %streams = mhc.expand(x = %arg0 : tensor<?x8xf32>) <layout = nC> -> (streams : tensor<?x5x8xf32>)
    %u, %h_post, %h_res = mhc.pre(x = %streams : tensor<?x5x8xf32>, phi = %arg1 : tensor<40x35xf32>, alpha = %arg2 : tensor<3xf32>, beta = %arg3 : tensor<35xf32>) <layout = nC, phi_layout = in_out, norm = inside, norm_eps = 1.0e-05, pre_eps = 1.0e-02, post_mult = 1.0, res_map = sinkhorn, init = exp, order = col_row, denom = clamp, sk_eps = 1.0e-12, iters = 5, fold_pre = false> -> (u : tensor<?x8xf32>, h_post : tensor<?x5xf32>, h_res : tensor<?x5x5xf32>)
    %out = mhc.matmul %u, %arg4 transpose_rhs : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    %0 = math.tanh %out : tensor<?x8xf32>
    %1 = mhc.broadcast %arg5[%dim] dims = [1] : tensor<8xf32> -> tensor<?x8xf32>
    %2 = arith.addf %0, %1 : tensor<?x8xf32>
    %3 = mhc.broadcast %h_post dims = [0, 1] : tensor<?x5xf32> -> tensor<?x5x8xf32>
    %4 = mhc.broadcast %2 dims = [0, 2] : tensor<?x8xf32> -> tensor<?x5x8xf32>
    %5 = arith.mulf %3, %4 : tensor<?x5x8xf32>
    %streams_0 = mhc.expand(x = %arg0 : tensor<?x8xf32>) <layout = Cn> -> (streams : tensor<?x8x5xf32>)
    %out_1 = mhc.batch_matmul %streams_0, %h_res : (tensor<?x8x5xf32>, tensor<?x5x5xf32>) -> tensor<?x8x5xf32>
    %6 = mhc.transpose %out_1 perm = [0, 2, 1] : tensor<?x8x5xf32> -> tensor<?x5x8xf32>
    %7 = arith.addf %6, %5 : tensor<?x5x8xf32>
    %u_2, %h_post_3, %h_res_4 = mhc.pre(x = %7 : tensor<?x5x8xf32>, phi = %arg6 : tensor<40x35xf32>, alpha = %arg7 : tensor<3xf32>, beta = %arg8 : tensor<35xf32>) <layout = nC, phi_layout = in_out, norm = inside, norm_eps = 1.0e-05, pre_eps = 1.0e-02, post_mult = 1.0, res_map = sinkhorn, init = exp, order = col_row, denom = clamp, sk_eps = 1.0e-12, iters = 5, fold_pre = false> -> (u : tensor<?x8xf32>, h_post : tensor<?x5xf32>, h_res : tensor<?x5x5xf32>)
    %out_5 = mhc.matmul %u_2, %arg9 transpose_rhs : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    %8 = math.tanh %out_5 : tensor<?x8xf32>
    %out_6 = mhc.post(f = %8 : tensor<?x8xf32>, bias = %arg10 : tensor<8xf32>, h_post = %h_post_3 : tensor<?x5xf32>, x = %7 : tensor<?x5x8xf32>, h_res = %h_res_4 : tensor<?x5x5xf32>) <layout = nC, orient = io> -> (out : tensor<?x5x8xf32>)
    %collapsed = tensor.collapse_shape %out_6 [[0], [1, 2]] : tensor<?x5x8xf32> into tensor<?x40xf32>
    %out_7 = mhc.contract(x = %out_6 : tensor<?x5x8xf32>) <layout = nC, mode = mean> -> (out : tensor<?x8xf32>)
    return %out_7, %collapsed : tensor<?x8xf32>, tensor<?x40xf32>
  }
}

