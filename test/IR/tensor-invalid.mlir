// RUN: mhc-opt %s --split-input-file --verify-diagnostics

func.func @softmax_dim(%x: tensor<?x4xf32>) {
  // expected-error @below {{has dim 2; the operand has rank 2}}
  %out = mhc.softmax %x dim = 2 : tensor<?x4xf32>
  return
}

// -----

func.func @softmax_negative_dim(%x: tensor<?x4xf32>) {
  // expected-error @below {{attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %out = mhc.softmax %x dim = -1 : tensor<?x4xf32>
  return
}

// -----

func.func @integers(%x: tensor<4xi32>) {
  // expected-error @below {{operand #0 must be ranked tensor of 32-bit float or bfloat16 type or 16-bit float values, but got 'tensor<4xi32>'}}
  %out = mhc.sigmoid %x : tensor<4xi32>
  return
}

// -----

func.func @rms_norm_of_a_scalar(%x: tensor<f32>) {
  // expected-error @below {{has an operand of rank 0; needed at least 1}}
  %out = mhc.rms_norm %x eps = 1.0e-06 : tensor<f32>
  return
}

// -----

func.func @rms_norm_eps(%x: tensor<?x8xf32>) {
  // expected-error @below {{attribute 'eps' failed to satisfy constraint: 64-bit float attribute that is finite and at least 0 (found -5.000000e-01 : f64)}}
  %out = mhc.rms_norm %x eps = -0.5 : tensor<?x8xf32>
  return
}

// -----

func.func @rms_norm_weight(%x: tensor<?x8xf32>, %w: tensor<4xf32>) {
  // expected-error @below {{has a weight of type 'tensor<4xf32>'; needed one dimension, the last of 'tensor<?x8xf32>'}}
  %out = mhc.rms_norm %x, %w eps = 1.0e-06 : tensor<?x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @rms_norm_weight_type(%x: tensor<?x8xf32>, %w: tensor<8xbf16>) {
  // expected-error @below {{has a weight with elements of type 'bf16'; needed 'f32'}}
  %out = mhc.rms_norm %x, %w eps = 1.0e-06 : tensor<?x8xf32>, tensor<8xbf16>
  return
}

// -----

func.func @reduce_dim(%x: tensor<?x8xf32>) {
  // expected-error @below {{reduces dimension 2; the operand has rank 2}}
  %out = mhc.reduce sum %x dims = [2] : tensor<?x8xf32> -> tensor<?xf32>
  return
}

// -----

func.func @reduce_twice(%x: tensor<?x8xf32>) {
  // expected-error @below {{reduces dimension 1 twice}}
  %out = mhc.reduce mean %x dims = [1, 1] : tensor<?x8xf32> -> tensor<?xf32>
  return
}

// -----

func.func @reduce_type(%x: tensor<?x8xbf16>) {
  // expected-error @below {{has a result of type 'tensor<?xf32>'; needed 'tensor<?xbf16>'}}
  %out = mhc.reduce sum %x dims = [1] : tensor<?x8xbf16> -> tensor<?xf32>
  return
}

// -----

func.func @reduce_kind(%x: tensor<?x8xf32>) {
  // expected-error @+2 {{expected ::mhc::ReduceKind to be one of: sum, max, mean}}
  // expected-error @below {{failed to parse Mhc_ReduceKindAttr parameter 'value'}}
  %out = mhc.reduce min %x dims = [1] : tensor<?x8xf32> -> tensor<?xf32>
  return
}

// -----

func.func @broadcast_type(%x: tensor<8xbf16>) {
  // expected-error @below {{has a result with elements of type 'f32'; needed 'bf16'}}
  %out = mhc.broadcast %x dims = [1] : tensor<8xbf16> -> tensor<2x8xf32>
  return
}

// -----

func.func @broadcast_too_few_dims(%x: tensor<2x8xf32>) {
  // expected-error @below {{has 1 dim; the operand has rank 2}}
  %out = mhc.broadcast %x dims = [1] : tensor<2x8xf32> -> tensor<2x8xf32>
  return
}

// -----

func.func @broadcast_descending(%x: tensor<2x8xf32>) {
  // expected-error @below {{has dims [1, 0]; needed ascending dimensions of 'tensor<8x2xf32>'}}
  %out = mhc.broadcast %x dims = [1, 0] : tensor<2x8xf32> -> tensor<8x2xf32>
  return
}

// -----

func.func @broadcast_out_of_rank(%x: tensor<8xf32>) {
  // expected-error @below {{has dims [2]; needed ascending dimensions of 'tensor<2x8xf32>'}}
  %out = mhc.broadcast %x dims = [2] : tensor<8xf32> -> tensor<2x8xf32>
  return
}

// -----

func.func @broadcast_size(%x: tensor<4xf32>) {
  // expected-error @below {{maps dimension 0 of 'tensor<4xf32>' to dimension 1 of 'tensor<2x8xf32>'; needed equal sizes, or 1 in the operand}}
  %out = mhc.broadcast %x dims = [1] : tensor<4xf32> -> tensor<2x8xf32>
  return
}

// -----

func.func @broadcast_missing_size(%x: tensor<8xf32>) {
  // expected-error @below {{has 0 sizes; needed 1, one per dynamic result dimension that the operand does not give}}
  %out = mhc.broadcast %x dims = [1] : tensor<8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @broadcast_needless_size(%x: tensor<?xf32>, %M: index) {
  // expected-error @below {{has 1 size; needed 0, one per dynamic result dimension that the operand does not give}}
  %out = mhc.broadcast %x[%M] dims = [0] : tensor<?xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @transpose_not_a_permutation(%x: tensor<2x8xf32>) {
  // expected-error @below {{has perm [0, 0]; needed a permutation of 2 dimensions}}
  %out = mhc.transpose %x perm = [0, 0] : tensor<2x8xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @transpose_of_a_scalar(%x: tensor<f32>) {
  // expected-error @below {{has perm [0]; needed a permutation of 0 dimensions}}
  %out = mhc.transpose %x perm = [0] : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @transpose_out_of_rank(%x: tensor<2x8xf32>) {
  // expected-error @below {{has perm [1, 2]; needed a permutation of 2 dimensions}}
  %out = mhc.transpose %x perm = [1, 2] : tensor<2x8xf32> -> tensor<8x2xf32>
  return
}

// -----

func.func @transpose_type(%x: tensor<2x8xf32>) {
  // expected-error @below {{has a result of type 'tensor<2x8xf32>'; needed 'tensor<8x2xf32>'}}
  %out = mhc.transpose %x perm = [1, 0] : tensor<2x8xf32> -> tensor<2x8xf32>
  return
}
