// RUN: mhc-opt %s --split-input-file --verify-diagnostics

func.func @inner_differs(%a: tensor<2x8xf32>, %b: tensor<24x8xf32>) {
  // expected-error @below {{dimension 'K' is 8 in 'lhs' but 24 in 'rhs'}}
  %out = mhc.matmul %a, %b : (tensor<2x8xf32>, tensor<24x8xf32>) -> tensor<2x24xf32>
  return
}

// -----

func.func @result_differs(%a: tensor<2x8xf32>, %b: tensor<24x8xf32>) {
  // expected-error @below {{dimension 'N' is 24 in 'rhs' but 8 in 'out'}}
  %out = mhc.matmul %a, %b transpose_rhs : (tensor<2x8xf32>, tensor<24x8xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @batch_differs(%a: tensor<2x4x4xf32>, %b: tensor<3x4x8xf32>) {
  // expected-error @below {{dimension 'B' is 2 in 'lhs' but 3 in 'rhs'}}
  %out = mhc.batch_matmul %a, %b : (tensor<2x4x4xf32>, tensor<3x4x8xf32>) -> tensor<2x4x8xf32>
  return
}

// -----

func.func @rank(%a: tensor<2x4x4xf32>, %b: tensor<4x8xf32>) {
  // expected-error @below {{operand #0 must be 2D tensor of 32-bit float or bfloat16 type or 16-bit float values, but got 'tensor<2x4x4xf32>'}}
  %out = mhc.matmul %a, %b : (tensor<2x4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
