// RUN: mhc-opt %s --split-input-file --verify-diagnostics

func.func @tokens_differ(%table: tensor<256x64xf32>, %ids: tensor<3xi32>) {
  // expected-error @below {{dimension 'M' is 3 in 'ids' but 4 in 'out'}}
  %out = mhc.take(table = %table : tensor<256x64xf32>, ids = %ids : tensor<3xi32>) -> (out : tensor<4x64xf32>)
  return
}

// -----

func.func @channels_differ(%table: tensor<256x64xf32>, %ids: tensor<3xi32>) {
  // expected-error @below {{dimension 'C' is 64 in 'table' but 8 in 'out'}}
  %out = mhc.take(table = %table : tensor<256x64xf32>, ids = %ids : tensor<3xi32>) -> (out : tensor<3x8xf32>)
  return
}

// -----

func.func @element_type(%table: tensor<256x64xbf16>, %ids: tensor<3xi32>) {
  // expected-error @below {{'out' has elements of type 'f32'; needed 'bf16', the type of 'table'}}
  %out = mhc.take(table = %table : tensor<256x64xbf16>, ids = %ids : tensor<3xi32>) -> (out : tensor<3x64xf32>)
  return
}

// -----

func.func @wide_indices(%table: tensor<256x64xf32>, %ids: tensor<3xi64>) {
  // expected-error @below {{operand #1 must be 1D tensor of 32-bit signless integer values, but got 'tensor<3xi64>'}}
  %out = mhc.take(table = %table : tensor<256x64xf32>, ids = %ids : tensor<3xi64>) -> (out : tensor<3x64xf32>)
  return
}

// -----

func.func @tables_differ(%d_out: tensor<3x64xf32>, %ids: tensor<3xi32>, %sum: tensor<256x64xf32>) {
  // expected-error @below {{dimension 'V' is 256 in 'd_table_in' but 255 in 'd_table'}}
  %out = mhc.take_bwd(d_out = %d_out : tensor<3x64xf32>, ids = %ids : tensor<3xi32>, d_table_in = %sum : tensor<256x64xf32>)
    -> (d_table : tensor<255x64xf32>)
  return
}
