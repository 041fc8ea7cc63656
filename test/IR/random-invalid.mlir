// RUN: mhc-opt %s --split-input-file --verify-diagnostics

func.func @seed_alone(%seed: tensor<1xi64>) {
  // expected-error-re @below {{dimension 'S' is 1 in 'seed'; needed 2{{$}}}}
  %out = mhc.random(seed = %seed : tensor<1xi64>) <distribution = normal, stream = 0> -> (out : tensor<8xf32>)
  return
}

// -----

func.func @narrow_seed(%seed: tensor<2xi32>) {
  // expected-error @below {{operand #0 must be 1D tensor of 64-bit signless integer values, but got 'tensor<2xi32>'}}
  %out = mhc.random(seed = %seed : tensor<2xi32>) <distribution = normal, stream = 0> -> (out : tensor<8xf32>)
  return
}

// -----

func.func @distribution(%seed: tensor<2xi64>) {
  // expected-error @below {{'distribution' is 'cauchy'; expected 'uniform', 'normal'}}
  %out = mhc.random(seed = %seed : tensor<2xi64>) <distribution = cauchy, stream = 0> -> (out : tensor<8xf32>)
  return
}

// -----

func.func @how_many(%seed: tensor<2xi64>) {
  // expected-error @below {{has a result of type 'tensor<?xf32>'; needed a static size}}
  %out = mhc.random(seed = %seed : tensor<2xi64>) <distribution = normal, stream = 0> -> (out : tensor<?xf32>)
  return
}

// -----

func.func @stream_of_two_words(%seed: tensor<2xi64>) {
  // expected-error @below {{attribute 'stream' failed to satisfy constraint: 64-bit signless integer attribute that is 0 to 4294967295 (found 4294967296 : i64)}}
  %out = mhc.random(seed = %seed : tensor<2xi64>) <distribution = normal, stream = 4294967296> -> (out : tensor<8xf32>)
  return
}

// -----

func.func @rate(%x: tensor<2x8xf32>, %seed: tensor<2xi64>) {
  // expected-error @below {{attribute 'rate' failed to satisfy constraint: 64-bit float attribute that is at least 0 and less than 1 (found 1.000000e+00 : f64)}}
  %out = mhc.dropout(x = %x : tensor<2x8xf32>, seed = %seed : tensor<2xi64>) <rate = 1.0, stream = 0> -> (out : tensor<2x8xf32>)
  return
}

// -----

func.func @dropout_stream(%x: tensor<2x8xf32>, %seed: tensor<2xi64>) {
  // expected-error @below {{attribute 'stream' failed to satisfy constraint: 64-bit signless integer attribute that is 0 to 4294967295 (found -1 : i64)}}
  %out = mhc.dropout(x = %x : tensor<2x8xf32>, seed = %seed : tensor<2xi64>) <rate = 0.5, stream = -1> -> (out : tensor<2x8xf32>)
  return
}
