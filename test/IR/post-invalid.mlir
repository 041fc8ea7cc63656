// RUN: mhc-opt %s --split-input-file --verify-diagnostics

func.func @residual_not_square(%f: tensor<?x64xbf16>, %p: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %r: tensor<?x4x3xf32>) {
  // expected-error @below {{dimension 'n' is 4 in 'h_post' but 3 in 'h_res'}}
  %out = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %r : tensor<?x4x3xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  return
}

// -----

func.func @bias_length(%f: tensor<?x64xbf16>, %b: tensor<4xbf16>, %p: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{dimension 'C' is 64 in 'f' but 4 in 'bias'}}
  %out = mhc.post(f = %f : tensor<?x64xbf16>, bias = %b : tensor<4xbf16>, h_post = %p : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi>
    -> (out : tensor<?x4x64xbf16>)
  return
}

// -----

func.func @bias_type(%f: tensor<?x64xbf16>, %b: tensor<64xf16>, %p: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{'bias' has elements of type 'f16'; needed 'bf16', the type of 'x', or f32}}
  %out = mhc.post(f = %f : tensor<?x64xbf16>, bias = %b : tensor<64xf16>, h_post = %p : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xbf16>, h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi>
    -> (out : tensor<?x4x64xbf16>)
  return
}

// -----

func.func @type_of_the_sublayer(%f: tensor<?x64xf32>, %p: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{'f' has elements of type 'f32'; needed 'bf16', the type of 'x'}}
  %out = mhc.post(f = %f : tensor<?x64xf32>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xbf16>)
  return
}

// -----

func.func @orientation(%f: tensor<?x64xbf16>, %p: tensor<?x4xf32>, %x: tensor<?x4x64xbf16>, %r: tensor<?x4x4xf32>) {
  // expected-error @+2 {{'orient' is 'out_in'; expected 'oi', 'io'}}
  %out = mhc.post(f = %f : tensor<?x64xbf16>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x64xbf16>,
      h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = out_in> -> (out : tensor<?x4x64xbf16>)
  return
}
