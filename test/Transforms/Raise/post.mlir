// RUN: mhc-opt %s -mhc-raise | FileCheck %s
// RUN: mhc-opt %s -mhc-raise --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// h_post[m,o] (f[m,c] + bias[c]) + sum_i A[m,o,i] x[m,i,c]

// REMARK: Remark="found post: orientation oi"
// CHECK-LABEL: @output_streams_first
func.func @output_streams_first(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                                %r: tensor<8x4x4xf32>) -> tensor<8x4x64xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post(f = %arg0 : tensor<8x64xf32>, h_post = %arg1 : tensor<8x4xf32>, x = %arg2 : tensor<8x4x64xf32>, h_res = %arg3 :
  // CHECK-SAME: <layout = nC, orient = oi>
  // CHECK: return %[[OUT]]
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// CHECK-LABEL: @input_streams_first
func.func @input_streams_first(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                               %r: tensor<8x4x4xf32>) -> tensor<8x4x64xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post(f = %arg0 : tensor<8x64xf32>, h_post = %arg1 : tensor<8x4xf32>, x = %arg2 : tensor<8x4x64xf32>, h_res = %arg3 :
  // CHECK-SAME: <layout = nC, orient = io>
  // CHECK: return %[[OUT]]
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %x transpose_lhs : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// CHECK-LABEL: @residual_matrix_transposed_by_an_op
func.func @residual_matrix_transposed_by_an_op(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                                               %r: tensor<8x4x4xf32>) -> tensor<8x4x64xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post(f = %arg0 : tensor<8x64xf32>, h_post = %arg1 : tensor<8x4xf32>, x = %arg2 : tensor<8x4x64xf32>, h_res = %arg3 :
  // CHECK-SAME: <layout = nC, orient = io>
  // CHECK: return %[[OUT]]
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %t = mhc.transpose %r perm = [0, 2, 1] : tensor<8x4x4xf32> -> tensor<8x4x4xf32>
  %mix = mhc.batch_matmul %t, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// x[c,i] A[o,i]
// CHECK-LABEL: @streams_last
func.func @streams_last(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x64x4xf32>, %r: tensor<8x4x4xf32>)
    -> tensor<8x64x4xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post(f = %arg0 : tensor<8x64xf32>, h_post = %arg1 : tensor<8x4xf32>, x = %arg2 : tensor<8x64x4xf32>, h_res = %arg3 :
  // CHECK-SAME: <layout = Cn, orient = oi>
  // CHECK: return %[[OUT]]
  %ho = mhc.broadcast %h dims = [0, 2] : tensor<8x4xf32> -> tensor<8x64x4xf32>
  %fo = mhc.broadcast %f dims = [0, 1] : tensor<8x64xf32> -> tensor<8x64x4xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x64x4xf32>
  %mix = mhc.batch_matmul %x, %r transpose_rhs : (tensor<8x64x4xf32>, tensor<8x4x4xf32>) -> tensor<8x64x4xf32>
  %out = arith.addf %branch, %mix : tensor<8x64x4xf32>
  return %out : tensor<8x64x4xf32>
}

// CHECK-LABEL: @streams_last_and_input_first
func.func @streams_last_and_input_first(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x64x4xf32>,
                                        %r: tensor<8x4x4xf32>) -> tensor<8x64x4xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post(f = %arg0 : tensor<8x64xf32>, h_post = %arg1 : tensor<8x4xf32>, x = %arg2 : tensor<8x64x4xf32>, h_res = %arg3 :
  // CHECK-SAME: <layout = Cn, orient = io>
  // CHECK: return %[[OUT]]
  %ho = mhc.broadcast %h dims = [0, 2] : tensor<8x4xf32> -> tensor<8x64x4xf32>
  %fo = mhc.broadcast %f dims = [0, 1] : tensor<8x64xf32> -> tensor<8x64x4xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x64x4xf32>
  %mix = mhc.batch_matmul %x, %r : (tensor<8x64x4xf32>, tensor<8x4x4xf32>) -> tensor<8x64x4xf32>
  %out = arith.addf %branch, %mix : tensor<8x64x4xf32>
  return %out : tensor<8x64x4xf32>
}

// Broadcasts and a reduction in place of the batched product.
// CHECK-LABEL: @mix_by_products_and_a_sum
func.func @mix_by_products_and_a_sum(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                                     %r: tensor<8x4x4xf32>) -> tensor<8x4x64xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post(f = %arg0 : tensor<8x64xf32>, h_post = %arg1 : tensor<8x4xf32>, x = %arg2 : tensor<8x4x64xf32>, h_res = %arg3 :
  // CHECK-SAME: <layout = nC, orient = oi>
  // CHECK: return %[[OUT]]
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %ra = mhc.broadcast %r dims = [0, 1, 2] : tensor<8x4x4xf32> -> tensor<8x4x4x64xf32>
  %xa = mhc.broadcast %x dims = [0, 2, 3] : tensor<8x4x64xf32> -> tensor<8x4x4x64xf32>
  %pa = arith.mulf %ra, %xa : tensor<8x4x4x64xf32>
  %mix = mhc.reduce sum %pa dims = [2] : tensor<8x4x4x64xf32> -> tensor<8x4x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// CHECK-LABEL: @bias_added_to_the_output_of_the_sublayer
func.func @bias_added_to_the_output_of_the_sublayer(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                                                    %r: tensor<8x4x4xf32>, %b: tensor<64xf32>) -> tensor<8x4x64xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post(f = %arg0 : tensor<8x64xf32>, bias = %arg4 : tensor<64xf32>, h_post = %arg1 : tensor<8x4xf32>, x = %arg2 : tensor<8x4x64xf32>, h_res = %arg3 :
  // CHECK-SAME: <layout = nC, orient = oi>
  // CHECK: return %[[OUT]]
  %ball = mhc.broadcast %b dims = [1] : tensor<64xf32> -> tensor<8x64xf32>
  %fb = arith.addf %f, %ball : tensor<8x64xf32>
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %fb dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// The number is of the sublayer's output with its bias: neither loses it.
// CHECK-LABEL: @output_scaled_with_its_bias
func.func @output_scaled_with_its_bias(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                                       %r: tensor<8x4x4xf32>, %b: tensor<64xf32>)
    -> (tensor<8x4x64xf32>, tensor<8x64xf32>) {
  // CHECK: %[[SUM:.*]] = arith.addf %arg0, %{{.*}} : tensor<8x64xf32>
  // CHECK: %[[F:.*]] = arith.mulf %[[SUM]], %{{.*}} : tensor<8x64xf32>
  // CHECK: mhc.post(f = %[[F]] : tensor<8x64xf32>, h_post = %arg1 :
  %two = arith.constant dense<2.0> : tensor<8x64xf32>
  %ball = mhc.broadcast %b dims = [1] : tensor<64xf32> -> tensor<8x64xf32>
  %fb = arith.addf %f, %ball : tensor<8x64xf32>
  %scaled = arith.mulf %fb, %two : tensor<8x64xf32>
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %scaled dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x64xf32>
  return %out, %scaled : tensor<8x4x64xf32>, tensor<8x64xf32>
}

// CHECK-LABEL: @bias_with_a_gate_of_its_own_term
func.func @bias_with_a_gate_of_its_own_term(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                                            %r: tensor<8x4x4xf32>, %b: tensor<64xf32>) -> tensor<8x4x64xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post(f = %arg0 : tensor<8x64xf32>, bias = %arg4 : tensor<64xf32>, h_post = %arg1 : tensor<8x4xf32>, x = %arg2 : tensor<8x4x64xf32>, h_res = %arg3 :
  // CHECK-SAME: <layout = nC, orient = oi>
  // CHECK: return %[[OUT]]
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %bo = mhc.broadcast %b dims = [2] : tensor<64xf32> -> tensor<8x4x64xf32>
  %shift = arith.mulf %ho, %bo : tensor<8x4x64xf32>
  %both = arith.addf %branch, %shift : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %both, %mix : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// A number in front of a gate belongs to whatever value has it.
// CHECK-LABEL: @gate_that_is_scaled_where_it_is_used
func.func @gate_that_is_scaled_where_it_is_used(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                                                %r: tensor<8x4x4xf32>) -> tensor<8x4x64xf32> {
  // CHECK: %[[H:.*]] = arith.mulf %arg1
  // CHECK: mhc.post(f = %arg0 : tensor<8x64xf32>, h_post = %[[H]]
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %h2 = arith.mulf %h, %two : tensor<8x4xf32>
  %ho = mhc.broadcast %h2 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// Everything in f32, one rounding at the end.
// CHECK-LABEL: @streams_in_bf16
func.func @streams_in_bf16(%f: tensor<8x64xbf16>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xbf16>, %r: tensor<8x4x4xf32>)
    -> tensor<8x4x64xbf16> {
  // CHECK: mhc.post(f = %arg0 : tensor<8x64xbf16>, h_post = %arg1 : tensor<8x4xf32>, x = %arg2 : tensor<8x4x64xbf16>,
  %fw = arith.extf %f : tensor<8x64xbf16> to tensor<8x64xf32>
  %xw = arith.extf %x : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %fw dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %xw : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x64xf32>
  %small = arith.truncf %out : tensor<8x4x64xf32> to tensor<8x4x64xbf16>
  return %small : tensor<8x4x64xbf16>
}

// The bare mix stays for the code that reads it.
// CHECK-LABEL: @mix_with_another_user
func.func @mix_with_another_user(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                                 %r: tensor<8x4x4xf32>) -> (tensor<8x4x64xf32>, tensor<8x4x64xf32>) {
  // CHECK: %[[MIX:.*]] = mhc.batch_matmul %arg3, %arg2
  // CHECK: %[[OUT:.*]] = mhc.post(
  // CHECK: return %[[OUT]], %[[MIX]]
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x64xf32>
  return %out, %mix : tensor<8x4x64xf32>, tensor<8x4x64xf32>
}

// A mask per stream and channel.
// REMARK: [Missed] factor-per-channel | {{.*}}Found="argument 4, [8, 4, 64] of f32", Needed="one value per stream"
// CHECK-LABEL: @no_post_with_a_dropout_mask
func.func @no_post_with_a_dropout_mask(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                                       %r: tensor<8x4x4xf32>, %keep: tensor<8x4x64xf32>) -> tensor<8x4x64xf32> {
  // CHECK-NOT: mhc.post
  // CHECK: return
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %kept = arith.mulf %branch, %keep : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %kept, %mix : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// The gate of the bias is three times that of f, and a value of its own.
// REMARK: [Missed] branch-not-a-value | {{.*}}Found="{{.*}}", Needed="h_post [M, n] and the sublayer's output [M, C]"
// CHECK-LABEL: @no_post_when_the_bias_has_another_gate
func.func @no_post_when_the_bias_has_another_gate(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                                                  %r: tensor<8x4x4xf32>, %b: tensor<64xf32>) -> tensor<8x4x64xf32> {
  // CHECK-NOT: mhc.post
  // CHECK: return
  %three = arith.constant dense<3.0> : tensor<8x4xf32>
  %h3 = arith.mulf %h, %three : tensor<8x4xf32>
  %h3o = mhc.broadcast %h3 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %bo = mhc.broadcast %b dims = [2] : tensor<64xf32> -> tensor<8x4x64xf32>
  %shift = arith.mulf %h3o, %bo : tensor<8x4x64xf32>
  %both = arith.addf %branch, %shift : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %both, %mix : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// CHECK-LABEL: @no_post_from_four_streams_to_two
func.func @no_post_from_four_streams_to_two(%f: tensor<8x64xf32>, %h: tensor<8x2xf32>, %x: tensor<8x4x64xf32>,
                                            %r: tensor<8x2x4xf32>) -> tensor<8x2x64xf32> {
  // CHECK-NOT: mhc.post
  // CHECK: return
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x2xf32> -> tensor<8x2x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x2x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x2x64xf32>
  %mix = mhc.batch_matmul %r, %x : (tensor<8x2x4xf32>, tensor<8x4x64xf32>) -> tensor<8x2x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x2x64xf32>
  return %out : tensor<8x2x64xf32>
}

// Streams in f32 that only a product rounds, as autocast does, are those of a result in f32.
// CHECK-LABEL: @streams_that_a_product_rounds
// CHECK: mhc.post({{.*}} x = %[[X:.*]] : tensor<8x4x64xf32>
func.func @streams_that_a_product_rounds(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %y: tensor<8x4x64xf32>,
                                         %m: tensor<8x4x4xbf16>) -> tensor<8x4x64xf32> {
  %x = math.absf %y : tensor<8x4x64xf32>
  %rounded = arith.truncf %x : tensor<8x4x64xf32> to tensor<8x4x64xbf16>
  %mixed = mhc.batch_matmul %m, %rounded : (tensor<8x4x4xbf16>, tensor<8x4x64xbf16>) -> tensor<8x4x64xbf16>
  %wide = arith.extf %mixed : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %hb = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fb = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hb, %fb : tensor<8x4x64xf32>
  %out = arith.addf %wide, %branch : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// They are also where the projection and the aggregate read them rounded: those stay as narrow as they were.
// CHECK-LABEL: @streams_that_all_products_round
// CHECK: %[[WIDE:.*]] = math.absf
// CHECK: %[[NARROW:.*]] = arith.truncf %[[WIDE]]
// CHECK: mhc.projection(x = %[[NARROW]] : tensor<8x4x64xbf16>
// CHECK: mhc.aggregate(x = %[[NARROW]] : tensor<8x4x64xbf16>
// CHECK: mhc.post({{.*}} x = %[[WIDE]] : tensor<8x4x64xf32>
func.func @streams_that_all_products_round(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %y: tensor<8x4x64xf32>,
    %phi: tensor<24x256xbf16>, %g: tensor<8x4xf32>, %m: tensor<8x4x4xbf16>)
    -> (tensor<8x24xf32>, tensor<8x64xbf16>, tensor<8x4x64xf32>) {
  %x = math.absf %y : tensor<8x4x64xf32>
  %rounded = arith.truncf %x : tensor<8x4x64xf32> to tensor<8x4x64xbf16>
  %proj, %stat = mhc.projection(x = %rounded : tensor<8x4x64xbf16>, phi = %phi : tensor<24x256xbf16>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<8x24xf32>, stat : tensor<8xf32>)
  %x32 = arith.extf %rounded : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %gb = mhc.broadcast %g dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %weighed = arith.mulf %x32, %gb : tensor<8x4x64xf32>
  %u32 = mhc.reduce sum %weighed dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  %u = arith.truncf %u32 : tensor<8x64xf32> to tensor<8x64xbf16>
  %mixed = mhc.batch_matmul %m, %rounded : (tensor<8x4x4xbf16>, tensor<8x4x64xbf16>) -> tensor<8x4x64xbf16>
  %wide = arith.extf %mixed : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %hb = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fb = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hb, %fb : tensor<8x4x64xf32>
  %out = arith.addf %wide, %branch : tensor<8x4x64xf32>
  return %proj, %u, %out : tensor<8x24xf32>, tensor<8x64xbf16>, tensor<8x4x64xf32>
}

// A result that is rounded as the streams are is that of the rounded ones.
// CHECK-LABEL: @streams_and_result_rounded_alike
// CHECK: %[[NARROW:.*]] = arith.truncf
// CHECK: mhc.projection(x = %[[NARROW]] : tensor<8x4x64xbf16>
// CHECK: mhc.post({{.*}} x = %[[NARROW]] : tensor<8x4x64xbf16>
func.func @streams_and_result_rounded_alike(%f: tensor<8x64xbf16>, %h: tensor<8x4xf32>, %y: tensor<8x4x64xf32>,
    %phi: tensor<24x256xbf16>, %r: tensor<8x4x4xf32>) -> (tensor<8x24xf32>, tensor<8x4x64xbf16>) {
  %x = math.absf %y : tensor<8x4x64xf32>
  %rounded = arith.truncf %x : tensor<8x4x64xf32> to tensor<8x4x64xbf16>
  %proj, %stat = mhc.projection(x = %rounded : tensor<8x4x64xbf16>, phi = %phi : tensor<24x256xbf16>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (proj : tensor<8x24xf32>, stat : tensor<8xf32>)
  %x32 = arith.extf %rounded : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %mixed = mhc.batch_matmul %r, %x32 : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %f32 = arith.extf %f : tensor<8x64xbf16> to tensor<8x64xf32>
  %hb = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fb = mhc.broadcast %f32 dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hb, %fb : tensor<8x4x64xf32>
  %sum = arith.addf %mixed, %branch : tensor<8x4x64xf32>
  %out = arith.truncf %sum : tensor<8x4x64xf32> to tensor<8x4x64xbf16>
  return %proj, %out : tensor<8x24xf32>, tensor<8x4x64xbf16>
}

// REMARK: [Missed] result-wider | {{.*}}Found="'arith.addf', [8, 4, 64] of f32", Needed="elements of bf16"
// CHECK-LABEL: @no_post_when_the_result_is_kept_wider
func.func @no_post_when_the_result_is_kept_wider(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xbf16>,
                                                 %r: tensor<8x4x4xf32>) -> tensor<8x4x64xf32> {
  // CHECK-NOT: mhc.post
  // CHECK: return
  %xw = arith.extf %x : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %xw : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// REMARK: [Missed] branch-wider | {{.*}}Found="argument 0, [8, 64] of f32", Needed="elements of bf16"
// CHECK-LABEL: @no_post_when_the_output_of_the_sublayer_is_wider
func.func @no_post_when_the_output_of_the_sublayer_is_wider(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>,
                                                            %x: tensor<8x4x64xbf16>, %r: tensor<8x4x4xf32>)
    -> tensor<8x4x64xbf16> {
  // CHECK-NOT: mhc.post
  // CHECK: return
  %xw = arith.extf %x : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %xw : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x64xf32>
  %small = arith.truncf %out : tensor<8x4x64xf32> to tensor<8x4x64xbf16>
  return %small : tensor<8x4x64xbf16>
}

// The mix is doubled after the product: no value is the doubled matrix.
// REMARK: [Missed] mix-not-a-value | {{.*}}Found="{{.*}}", Needed="one residual matrix [M, n, n]"
// CHECK-LABEL: @no_post_when_the_mix_is_scaled
func.func @no_post_when_the_mix_is_scaled(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                                          %r: tensor<8x4x4xf32>) -> tensor<8x4x64xf32> {
  // CHECK-NOT: mhc.post
  // CHECK: return
  %two = arith.constant dense<2.0> : tensor<8x4x64xf32>
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %doubled = arith.mulf %mix, %two : tensor<8x4x64xf32>
  %out = arith.addf %branch, %doubled : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// x is only added.
// CHECK-LABEL: @no_post_of_streams_that_are_not_mixed
func.func @no_post_of_streams_that_are_not_mixed(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                                                 %r: tensor<8x4x4xf32>) -> tensor<8x4x64xf32> {
  // CHECK-NOT: mhc.post
  // CHECK: return
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %out = arith.addf %branch, %x : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// C = n: x and the residual matrix can be told apart by no size; either reading computes the same.
// CHECK-LABEL: @as_many_channels_as_streams
func.func @as_many_channels_as_streams(%f: tensor<8x4xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x4xf32>,
                                       %r: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: mhc.post(
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x4xf32>
  %mix = mhc.batch_matmul %r, %x : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x4xf32>
  return %out : tensor<8x4x4xf32>
}

// Code that treats streams one by one: the sums and the concatenation are rolled up again.
// CHECK-LABEL: @stream_by_stream
func.func @stream_by_stream(%f: tensor<8x64xf32>, %h: tensor<8x2xf32>, %x: tensor<8x2x64xf32>, %r: tensor<8x2x2xf32>)
    -> tensor<8x2x64xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post(f = %arg0 : tensor<8x64xf32>, h_post = %arg1 : tensor<8x2xf32>, x = %arg2
  // CHECK-SAME: <layout = nC, orient = oi>
  // CHECK: return %[[OUT]]
  %x0 = tensor.extract_slice %x[0, 0, 0] [8, 1, 64] [1, 1, 1] : tensor<8x2x64xf32> to tensor<8x64xf32>
  %x1 = tensor.extract_slice %x[0, 1, 0] [8, 1, 64] [1, 1, 1] : tensor<8x2x64xf32> to tensor<8x64xf32>
  %r00 = tensor.extract_slice %r[0, 0, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %r01 = tensor.extract_slice %r[0, 0, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %r10 = tensor.extract_slice %r[0, 1, 0] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %r11 = tensor.extract_slice %r[0, 1, 1] [8, 1, 1] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8xf32>
  %b00 = mhc.broadcast %r00 dims = [0] : tensor<8xf32> -> tensor<8x64xf32>
  %b01 = mhc.broadcast %r01 dims = [0] : tensor<8xf32> -> tensor<8x64xf32>
  %b10 = mhc.broadcast %r10 dims = [0] : tensor<8xf32> -> tensor<8x64xf32>
  %b11 = mhc.broadcast %r11 dims = [0] : tensor<8xf32> -> tensor<8x64xf32>
  %p00 = arith.mulf %b00, %x0 : tensor<8x64xf32>
  %p01 = arith.mulf %b01, %x1 : tensor<8x64xf32>
  %p10 = arith.mulf %b10, %x0 : tensor<8x64xf32>
  %p11 = arith.mulf %b11, %x1 : tensor<8x64xf32>
  %m0 = arith.addf %p00, %p01 : tensor<8x64xf32>
  %m1 = arith.addf %p10, %p11 : tensor<8x64xf32>
  %e0 = tensor.expand_shape %m0 [[0], [1, 2]] output_shape [8, 1, 64] : tensor<8x64xf32> into tensor<8x1x64xf32>
  %e1 = tensor.expand_shape %m1 [[0], [1, 2]] output_shape [8, 1, 64] : tensor<8x64xf32> into tensor<8x1x64xf32>
  %mix = tensor.concat dim(1) %e0, %e1 : (tensor<8x1x64xf32>, tensor<8x1x64xf32>) -> tensor<8x2x64xf32>
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x2xf32> -> tensor<8x2x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x2x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x2x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x2x64xf32>
  return %out : tensor<8x2x64xf32>
}

// A map that was found takes the place of what its slices, whose number of tokens is dynamic, were cut from.
// CHECK-LABEL: @slices_of_a_map_that_was_found
func.func @slices_of_a_map_that_was_found(%f: tensor<?x8xf32>, %h: tensor<?x2xf32>, %x: tensor<?x2x8xf32>,
                                          %w: tensor<?x2x8xf32>) -> tensor<?x2x8xf32> {
  // CHECK: %[[MAP:.*]] = mhc.sinkhorn(
  // CHECK: %[[OUT:.*]] = mhc.post(f = %arg0 : tensor<?x8xf32>, h_post = %arg1 : tensor<?x2xf32>, x = %arg2 : tensor<?x2x8xf32>, h_res = %[[MAP]] :
  // CHECK-SAME: <layout = nC, orient = oi>
  // CHECK: return %[[OUT]]
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x2x8xf32>
  %z = mhc.batch_matmul %x, %w transpose_rhs : (tensor<?x2x8xf32>, tensor<?x2x8xf32>) -> tensor<?x2x2xf32>
  %e = math.exp %z : tensor<?x2x2xf32>
  %rows = mhc.reduce sum %e dims = [2] : tensor<?x2x2xf32> -> tensor<?x2xf32>
  %row = mhc.broadcast %rows dims = [0, 1] : tensor<?x2xf32> -> tensor<?x2x2xf32>
  %er = arith.divf %e, %row : tensor<?x2x2xf32>
  %columns = mhc.reduce sum %er dims = [1] : tensor<?x2x2xf32> -> tensor<?x2xf32>
  %column = mhc.broadcast %columns dims = [0, 2] : tensor<?x2xf32> -> tensor<?x2x2xf32>
  %map = arith.divf %er, %column : tensor<?x2x2xf32>
  %r00 = tensor.extract_slice %map[0, 0, 0] [%M, 1, 1] [1, 1, 1] : tensor<?x2x2xf32> to tensor<?xf32>
  %r01 = tensor.extract_slice %map[0, 0, 1] [%M, 1, 1] [1, 1, 1] : tensor<?x2x2xf32> to tensor<?xf32>
  %r10 = tensor.extract_slice %map[0, 1, 0] [%M, 1, 1] [1, 1, 1] : tensor<?x2x2xf32> to tensor<?xf32>
  %r11 = tensor.extract_slice %map[0, 1, 1] [%M, 1, 1] [1, 1, 1] : tensor<?x2x2xf32> to tensor<?xf32>
  %b00 = mhc.broadcast %r00 dims = [0] : tensor<?xf32> -> tensor<?x8xf32>
  %b01 = mhc.broadcast %r01 dims = [0] : tensor<?xf32> -> tensor<?x8xf32>
  %b10 = mhc.broadcast %r10 dims = [0] : tensor<?xf32> -> tensor<?x8xf32>
  %b11 = mhc.broadcast %r11 dims = [0] : tensor<?xf32> -> tensor<?x8xf32>
  %x0 = tensor.extract_slice %x[0, 0, 0] [%M, 1, 8] [1, 1, 1] : tensor<?x2x8xf32> to tensor<?x8xf32>
  %x1 = tensor.extract_slice %x[0, 1, 0] [%M, 1, 8] [1, 1, 1] : tensor<?x2x8xf32> to tensor<?x8xf32>
  %t00 = arith.mulf %b00, %x0 : tensor<?x8xf32>
  %t01 = arith.mulf %b01, %x1 : tensor<?x8xf32>
  %t10 = arith.mulf %b10, %x0 : tensor<?x8xf32>
  %t11 = arith.mulf %b11, %x1 : tensor<?x8xf32>
  %y0 = arith.addf %t00, %t01 : tensor<?x8xf32>
  %y1 = arith.addf %t10, %t11 : tensor<?x8xf32>
  %u0 = tensor.expand_shape %y0 [[0], [1, 2]] output_shape [%M, 1, 8] : tensor<?x8xf32> into tensor<?x1x8xf32>
  %u1 = tensor.expand_shape %y1 [[0], [1, 2]] output_shape [%M, 1, 8] : tensor<?x8xf32> into tensor<?x1x8xf32>
  %mixed = tensor.concat dim(1) %u0, %u1 : (tensor<?x1x8xf32>, tensor<?x1x8xf32>) -> tensor<?x2x8xf32>
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<?x2xf32> -> tensor<?x2x8xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<?x8xf32> -> tensor<?x2x8xf32>
  %branch = arith.mulf %ho, %fo : tensor<?x2x8xf32>
  %out = arith.addf %branch, %mixed : tensor<?x2x8xf32>
  return %out : tensor<?x2x8xf32>
}

// The streams in their own order are the transpose of a sum.
// CHECK-LABEL: @computed_transposed
func.func @computed_transposed(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x64x4xf32>,
                               %r: tensor<8x4x4xf32>) -> tensor<8x64x4xf32> {
  // CHECK: %[[OUT:.*]] = mhc.post(f = %arg0 : tensor<8x64xf32>, h_post = %arg1 : tensor<8x4xf32>, x = %arg2 : tensor<8x64x4xf32>, h_res = %arg3 :
  // CHECK-SAME: <layout = Cn, orient = oi>
  // CHECK: return %[[OUT]]
  %h1 = tensor.expand_shape %h [[0], [1, 2]] output_shape [8, 4, 1] : tensor<8x4xf32> into tensor<8x4x1xf32>
  %f1 = tensor.expand_shape %f [[0], [1, 2]] output_shape [8, 1, 64] : tensor<8x64xf32> into tensor<8x1x64xf32>
  %branch = mhc.batch_matmul %h1, %f1 : (tensor<8x4x1xf32>, tensor<8x1x64xf32>) -> tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %x transpose_rhs : (tensor<8x4x4xf32>, tensor<8x64x4xf32>) -> tensor<8x4x64xf32>
  %sum = arith.addf %branch, %mix : tensor<8x4x64xf32>
  %out = mhc.transpose %sum perm = [0, 2, 1] : tensor<8x4x64xf32> -> tensor<8x64x4xf32>
  return %out : tensor<8x64x4xf32>
}

// The sublayer's output was rounded before it was widened and transposed.
// CHECK-LABEL: @rounded_behind_a_transpose
func.func @rounded_behind_a_transpose(%z: tensor<64x8xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xbf16>,
                                      %r: tensor<8x4x4xf32>) -> tensor<8x4x64xbf16> {
  // CHECK: %[[NARROW:.*]] = arith.truncf %{{.*}} : tensor<64x8xf32> to tensor<64x8xbf16>
  // CHECK: %[[F:.*]] = mhc.transpose %[[NARROW]] perm = [1, 0]
  // CHECK: mhc.post(f = %[[F]] : tensor<8x64xbf16>,
  %tanh = math.tanh %z : tensor<64x8xf32>
  %narrow = arith.truncf %tanh : tensor<64x8xf32> to tensor<64x8xbf16>
  %wide = arith.extf %narrow : tensor<64x8xbf16> to tensor<64x8xf32>
  %f = mhc.transpose %wide perm = [1, 0] : tensor<64x8xf32> -> tensor<8x64xf32>
  %xw = arith.extf %x : tensor<8x4x64xbf16> to tensor<8x4x64xf32>
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %xw : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %sum = arith.addf %branch, %mix : tensor<8x4x64xf32>
  %out = arith.truncf %sum : tensor<8x4x64xf32> to tensor<8x4x64xbf16>
  return %out : tensor<8x4x64xbf16>
}

// The first site of a model in linalg: what mixes the streams repeats the embedding itself.
// CHECK-LABEL: @rows_in_place_of_streams
func.func @rows_in_place_of_streams(%x: tensor<8x64xf32>, %f: tensor<8x64xf32>, %h: tensor<8x4xf32>,
                                    %r: tensor<8x4x4xf32>) -> (tensor<8x4x64xf32>, tensor<8x4x64xf32>) {
  // CHECK: %[[S:.*]] = mhc.expand(x = %arg0
  // CHECK: mhc.post(f = %arg1 : tensor<8x64xf32>, h_post = %arg2 : tensor<8x4xf32>, x = %[[S]] : tensor<8x4x64xf32>, h_res = %arg3
  // CHECK-SAME: <layout = nC, orient = oi>
  %streams = mhc.broadcast %x dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %xo = mhc.broadcast %x dims = [0, 3] : tensor<8x64xf32> -> tensor<8x4x4x64xf32>
  %ro = mhc.broadcast %r dims = [0, 1, 2] : tensor<8x4x4xf32> -> tensor<8x4x4x64xf32>
  %products = arith.mulf %xo, %ro : tensor<8x4x4x64xf32>
  %mix = mhc.reduce sum %products dims = [2] : tensor<8x4x4x64xf32> -> tensor<8x4x64xf32>
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x64xf32>
  return %out, %streams : tensor<8x4x64xf32>, tensor<8x4x64xf32>
}

// Nothing makes as many streams of it.
// CHECK-LABEL: @rows_that_are_no_streams
// CHECK-NOT: mhc.post
func.func @rows_that_are_no_streams(%x: tensor<8x64xf32>, %f: tensor<8x64xf32>, %h: tensor<8x4xf32>,
                                    %r: tensor<8x4x4xf32>) -> (tensor<8x4x64xf32>, tensor<8x3x64xf32>) {
  %streams = mhc.broadcast %x dims = [0, 2] : tensor<8x64xf32> -> tensor<8x3x64xf32>
  %xo = mhc.broadcast %x dims = [0, 3] : tensor<8x64xf32> -> tensor<8x4x4x64xf32>
  %ro = mhc.broadcast %r dims = [0, 1, 2] : tensor<8x4x4xf32> -> tensor<8x4x4x64xf32>
  %products = arith.mulf %xo, %ro : tensor<8x4x4x64xf32>
  %mix = mhc.reduce sum %products dims = [2] : tensor<8x4x4x64xf32> -> tensor<8x4x64xf32>
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x64xf32>
  return %out, %streams : tensor<8x4x64xf32>, tensor<8x3x64xf32>
}

// The program rounds the sum, and not what the sublayer's product is without its bias.
// CHECK-LABEL: @bias_below_the_rounding
func.func @bias_below_the_rounding(%v: tensor<8x32xbf16>, %w: tensor<32x64xbf16>, %h: tensor<8x4xf32>,
    %x: tensor<8x4x64xbf16>, %A: tensor<8x4x4xf32>, %bias: tensor<64xf32>) -> tensor<8x4x64xbf16> {
  // CHECK: %[[F:.*]] = arith.truncf %{{.*}} : tensor<8x64xf32> to tensor<8x64xbf16>
  // CHECK: mhc.post(f = %[[F]] : tensor<8x64xbf16>, h_post = %arg2
  %product = mhc.matmul %v, %w : (tensor<8x32xbf16>, tensor<32x64xbf16>) -> tensor<8x64xf32>
  %biases = mhc.broadcast %bias dims = [1] : tensor<64xf32> -> tensor<8x64xf32>
  %sum = arith.addf %product, %biases : tensor<8x64xf32>
  %f = arith.truncf %sum : tensor<8x64xf32> to tensor<8x64xbf16>
  %wide = arith.extf %f : tensor<8x64xbf16> to tensor<8x64xf32>
  %gates = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %rows = mhc.broadcast %wide dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %gates, %rows : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %A, %x : (tensor<8x4x4xf32>, tensor<8x4x64xbf16>) -> tensor<8x4x64xf32>
  %all = arith.addf %mix, %branch : tensor<8x4x64xf32>
  %out = arith.truncf %all : tensor<8x4x64xf32> to tensor<8x4x64xbf16>
  return %out : tensor<8x4x64xbf16>
}

// The gate is multiplied by one factor of the sublayer's output first.
// CHECK-LABEL: @output_in_two_factors
func.func @output_in_two_factors(%f: tensor<8x64xf32>, %w: tensor<64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                                 %r: tensor<8x4x4xf32>) -> tensor<8x4x64xf32> {
  // CHECK: %[[W:.*]] = mhc.broadcast %arg1 dims = [1] : tensor<64xf32> -> tensor<8x64xf32>
  // CHECK: %[[F:.*]] = arith.mulf {{.*}}%[[W]]
  // CHECK: mhc.post(f = %[[F]] : tensor<8x64xf32>, h_post = %arg2 : tensor<8x4xf32>, x = %arg3
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %wo = mhc.broadcast %w dims = [2] : tensor<64xf32> -> tensor<8x4x64xf32>
  %gated = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %branch = arith.mulf %gated, %wo : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// The new streams are computed in another layout, and transposed.
// CHECK-LABEL: @computed_transposed_and_read_both_ways
func.func @computed_transposed_and_read_both_ways(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                                                  %r: tensor<8x4x4xf32>) -> (tensor<8x4x64xf32>, tensor<8x64x4xf32>) {
  // CHECK: %[[OUT:.*]] = mhc.post({{.*}} x = %arg2 : tensor<8x4x64xf32>{{.*}} <layout = nC, orient = oi>
  // CHECK: %[[T:.*]] = mhc.transpose %[[OUT]] perm = [0, 2, 1]
  // CHECK: return %[[OUT]], %[[T]]
  %ho = mhc.broadcast %h dims = [0, 2] : tensor<8x4xf32> -> tensor<8x64x4xf32>
  %fo = mhc.broadcast %f dims = [0, 1] : tensor<8x64xf32> -> tensor<8x64x4xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x64x4xf32>
  %mix = mhc.batch_matmul %x, %r transpose_lhs transpose_rhs : (tensor<8x4x64xf32>, tensor<8x4x4xf32>) -> tensor<8x64x4xf32>
  %sum = arith.addf %branch, %mix : tensor<8x64x4xf32>
  %out = mhc.transpose %sum perm = [0, 2, 1] : tensor<8x64x4xf32> -> tensor<8x4x64xf32>
  return %out, %sum : tensor<8x4x64xf32>, tensor<8x64x4xf32>
}

// The new streams are in another layout than the old ones.
// CHECK-LABEL: @post_into_another_layout
// CHECK: %[[OUT:.*]] = mhc.post({{.*}} x = %arg1 : tensor<8x4x64xf32>{{.*}} <layout = nC, orient = oi>
// CHECK: %[[T:.*]] = mhc.transpose %[[OUT]] perm = [0, 2, 1]
// CHECK: return %[[T]]
func.func @post_into_another_layout(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>)
    -> tensor<8x64x4xf32> {
  %map = mhc.sinkhorn(logits = %z : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %turned = mhc.transpose %mixed perm = [0, 2, 1] : tensor<8x4x64xf32> -> tensor<8x64x4xf32>
  %hw = mhc.broadcast %h dims = [0, 2] : tensor<8x4xf32> -> tensor<8x64x4xf32>
  %fw = mhc.broadcast %f dims = [0, 1] : tensor<8x64xf32> -> tensor<8x64x4xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x64x4xf32>
  %out = arith.addf %turned, %branch : tensor<8x64x4xf32>
  return %out : tensor<8x64x4xf32>
}

// The rows of one residual map, one with sums and one with means in it.
// CHECK-LABEL: @map_in_two_spellings
// CHECK: %[[MIX:.*]] = mhc.sinkhorn(
// CHECK-NOT: mhc.sinkhorn
// CHECK: mhc.post({{.*}} h_res = %[[MIX]]
func.func @map_in_two_spellings(%z: tensor<8x2x2xf32>, %x: tensor<8x2x16xf32>, %f: tensor<8x16xf32>, %h: tensor<8x2xf32>)
    -> tensor<8x2x16xf32> {
  %e = math.exp %z : tensor<8x2x2xf32>
  %s_row = mhc.reduce sum %e dims = [2] : tensor<8x2x2xf32> -> tensor<8x2xf32>
  %b_row = mhc.broadcast %s_row dims = [0, 1] : tensor<8x2xf32> -> tensor<8x2x2xf32>
  %row = arith.divf %e, %b_row : tensor<8x2x2xf32>
  %s_col = mhc.reduce sum %row dims = [1] : tensor<8x2x2xf32> -> tensor<8x2xf32>
  %b_col = mhc.broadcast %s_col dims = [0, 2] : tensor<8x2xf32> -> tensor<8x2x2xf32>
  %divided = arith.divf %row, %b_col : tensor<8x2x2xf32>
  %two = arith.constant dense<2.0> : tensor<8x2xf32>
  %m_row = mhc.reduce mean %e dims = [2] : tensor<8x2x2xf32> -> tensor<8x2xf32>
  %t_row = arith.mulf %m_row, %two : tensor<8x2xf32>
  %c_row = mhc.broadcast %t_row dims = [0, 1] : tensor<8x2xf32> -> tensor<8x2x2xf32>
  %again = arith.divf %e, %c_row : tensor<8x2x2xf32>
  %t_col = mhc.reduce sum %again dims = [1] : tensor<8x2x2xf32> -> tensor<8x2xf32>
  %c_col = mhc.broadcast %t_col dims = [0, 2] : tensor<8x2xf32> -> tensor<8x2x2xf32>
  %by_means = arith.divf %again, %c_col : tensor<8x2x2xf32>
  %first = tensor.extract_slice %divided[0, 0, 0] [8, 1, 2] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8x1x2xf32>
  %second = tensor.extract_slice %by_means[0, 1, 0] [8, 1, 2] [1, 1, 1] : tensor<8x2x2xf32> to tensor<8x1x2xf32>
  %res = tensor.concat dim(1) %first, %second : (tensor<8x1x2xf32>, tensor<8x1x2xf32>) -> tensor<8x2x2xf32>
  %mixed = mhc.batch_matmul %res, %x : (tensor<8x2x2xf32>, tensor<8x2x16xf32>) -> tensor<8x2x16xf32>
  %h_all = mhc.broadcast %h dims = [0, 1] : tensor<8x2xf32> -> tensor<8x2x16xf32>
  %f_all = mhc.broadcast %f dims = [0, 2] : tensor<8x16xf32> -> tensor<8x2x16xf32>
  %branch = arith.mulf %h_all, %f_all : tensor<8x2x16xf32>
  %out = arith.addf %branch, %mixed : tensor<8x2x16xf32>
  return %out : tensor<8x2x16xf32>
}

// A residual map less h_post h_pre^T, behind which streams are no sum.
// REMARK: [Missed] combine-form | {{.*}}Function=no_post_of_a_folded_map | Found="'mhc.batch_matmul', [8, 4, 16] of f32"
// CHECK-LABEL: @no_post_of_a_folded_map
func.func @no_post_of_a_folded_map(%x: tensor<8x4x16xf32>, %logits: tensor<8x4x4xf32>, %outer: tensor<8x4x4xf32>,
                                   %branch: tensor<8x4x16xf32>) -> tensor<8x4x16xf32> {
  // CHECK-NOT: mhc.post
  // CHECK: return
  %map = mhc.sinkhorn(logits = %logits : tensor<8x4x4xf32>) <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 3> -> (mix : tensor<8x4x4xf32>)
  %folded = arith.subf %map, %outer : tensor<8x4x4xf32>
  %mixed = mhc.batch_matmul %folded, %x : (tensor<8x4x4xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  %bent = math.tanh %mixed : tensor<8x4x16xf32>
  %out = arith.addf %bent, %branch : tensor<8x4x16xf32>
  return %out : tensor<8x4x16xf32>
}

// A norm behind scales the sum that is the post, and is none that is missed.
// REMARK: Function=post_before_a_norm | Remark="made 1 post"
// CHECK-LABEL: @post_before_a_norm
func.func @post_before_a_norm(%f: tensor<8x64xf32>, %h: tensor<8x4xf32>, %x: tensor<8x4x64xf32>,
                              %r: tensor<8x4x4xf32>) -> (tensor<8x4x64xf32>, tensor<8x4x64xf32>) {
  // CHECK: mhc.post
  %eps = arith.constant dense<1.0e-06> : tensor<8x4xf32>
  %ho = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fo = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %ho, %fo : tensor<8x4x64xf32>
  %mix = mhc.batch_matmul %r, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %out = arith.addf %branch, %mix : tensor<8x4x64xf32>
  %square = arith.mulf %out, %out : tensor<8x4x64xf32>
  %mean = mhc.reduce mean %square dims = [2] : tensor<8x4x64xf32> -> tensor<8x4xf32>
  %sum = arith.addf %mean, %eps : tensor<8x4xf32>
  %root = math.rsqrt %sum : tensor<8x4xf32>
  %roots = mhc.broadcast %root dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %normed = arith.mulf %out, %roots : tensor<8x4x64xf32>
  return %out, %normed : tensor<8x4x64xf32>, tensor<8x4x64xf32>
}
