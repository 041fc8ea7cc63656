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

// -----

func.func @seed_alone(%f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %x: tensor<?x4x8xf32>, %r: tensor<?x4x4xf32>, %s: tensor<2xi64>) {
  // expected-error @below {{has 'seed' without 'rate'; needed both or none}}
  %out = mhc.post(f = %f : tensor<?x8xf32>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %r : tensor<?x4x4xf32>, seed = %s : tensor<2xi64>) <layout = nC, orient = oi>
    -> (out : tensor<?x4x8xf32>)
  return
}

// -----

func.func @seed_without_stream(%f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %x: tensor<?x4x8xf32>, %r: tensor<?x4x4xf32>, %s: tensor<2xi64>) {
  // expected-error @below {{has 'seed' without 'stream'; needed both or none}}
  %out = mhc.post(f = %f : tensor<?x8xf32>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %r : tensor<?x4x4xf32>, seed = %s : tensor<2xi64>) <layout = nC, orient = oi, rate = 0.5>
    -> (out : tensor<?x4x8xf32>)
  return
}

// -----

func.func @rate_alone(%f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %x: tensor<?x4x8xf32>, %r: tensor<?x4x4xf32>, %s: tensor<2xi64>) {
  // expected-error @below {{has 'rate' without 'seed'; needed both or none}}
  %out = mhc.post(f = %f : tensor<?x8xf32>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi, rate = 0.5>
    -> (out : tensor<?x4x8xf32>)
  return
}

// -----

func.func @stream_alone(%f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %x: tensor<?x4x8xf32>, %r: tensor<?x4x4xf32>, %s: tensor<2xi64>) {
  // expected-error @below {{has 'stream' without 'seed'; needed both or none}}
  %out = mhc.post(f = %f : tensor<?x8xf32>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi, stream = 1>
    -> (out : tensor<?x4x8xf32>)
  return
}

// -----

func.func @rate(%f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %x: tensor<?x4x8xf32>, %r: tensor<?x4x4xf32>, %s: tensor<2xi64>) {
  // expected-error @below {{attribute 'rate' failed to satisfy constraint: 64-bit float attribute that is at least 0 and less than 1 (found 1.000000e+00 : f64)}}
  %out = mhc.post(f = %f : tensor<?x8xf32>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %r : tensor<?x4x4xf32>, seed = %s : tensor<2xi64>) <layout = nC, orient = oi, rate = 1.0, stream = 1>
    -> (out : tensor<?x4x8xf32>)
  return
}

// -----

func.func @stream(%f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %x: tensor<?x4x8xf32>, %r: tensor<?x4x4xf32>, %s: tensor<2xi64>) {
  // expected-error @below {{attribute 'stream' failed to satisfy constraint: 64-bit signless integer attribute that is 0 to 4294967295 (found 4294967296 : i64)}}
  %out = mhc.post(f = %f : tensor<?x8xf32>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %r : tensor<?x4x4xf32>, seed = %s : tensor<2xi64>) <layout = nC, orient = oi, rate = 0.5, stream = 4294967296>
    -> (out : tensor<?x4x8xf32>)
  return
}

// -----

func.func @seed_of_gradients(%f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %x: tensor<?x4x8xf32>, %r: tensor<?x4x4xf32>, %s: tensor<2xi64>) {
  // expected-error @below {{has 'seed' without 'stream'; needed both or none}}
  %d = mhc.post_bwd(d_out = %x : tensor<?x4x8xf32>, f = %f : tensor<?x8xf32>, h_post = %p : tensor<?x4xf32>,
      x = %x : tensor<?x4x8xf32>, h_res = %r : tensor<?x4x4xf32>, seed = %s : tensor<2xi64>)
    <layout = nC, orient = oi, rate = 0.5> -> (d_f : tensor<?x8xf32>)
  return
}

// -----

func.func @row_without_the_attribute(%f: tensor<?x64xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{'x' has 2 dimensions; needed [M, n, C] without 'equal_x'}}
  %out = mhc.post(f = %f : tensor<?x64xf32>, h_post = %p : tensor<?x4xf32>, x = %f : tensor<?x64xf32>,
      h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x4x64xf32>)
  return
}

// -----

func.func @streams_with_the_attribute(%f: tensor<?x64xf32>, %p: tensor<?x4xf32>, %x: tensor<?x4x64xf32>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{'d_out' has 3 dimensions; needed [M, C] with 'equal_d_out'}}
  %d_f = mhc.post_bwd(d_out = %x : tensor<?x4x64xf32>, f = %f : tensor<?x64xf32>, h_post = %p : tensor<?x4xf32>,
      x = %x : tensor<?x4x64xf32>, h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi, equal_d_out>
    -> (d_f : tensor<?x64xf32>)
  return
}

// -----

func.func @another_width(%f: tensor<?x64xf32>, %p: tensor<?x4xf32>, %x: tensor<?x32xf32>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{dimension 'C' is 64 in 'f' but 32 in 'x'}}
  %out = mhc.post(f = %f : tensor<?x64xf32>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x32xf32>,
      h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi, equal_x> -> (out : tensor<?x4x64xf32>)
  return
}

// -----

func.func @streams_where_a_sum_is_written(%f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %x: tensor<?x4x8xf32>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{'out' has 3 dimensions; needed [M, C] with 'contracted'}}
  %out = mhc.post(f = %f : tensor<?x8xf32>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi, contracted = sum> -> (out : tensor<?x4x8xf32>)
  return
}

// -----

func.func @sum_where_streams_are_written(%f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %x: tensor<?x4x8xf32>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{'out' has 2 dimensions; needed [M, n, C] without 'contracted'}}
  %out = mhc.post(f = %f : tensor<?x8xf32>, h_post = %p : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      h_res = %r : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : tensor<?x8xf32>)
  return
}
