// RUN: mhc-opt %s --split-input-file --verify-diagnostics

func.func @channels_differ(%x: tensor<?x64xf32>) {
  // expected-error @below {{dimension 'C' is 64 in 'x' but 32 in 'streams'}}
  %streams = mhc.expand(x = %x : tensor<?x64xf32>) <layout = nC> -> (streams : tensor<?x4x32xf32>)
  return
}

// -----

func.func @streams_unknown(%x: tensor<?x64xf32>) {
  // expected-error @below {{dimension 'n' is dynamic in 'streams'; needed a static size}}
  %streams = mhc.expand(x = %x : tensor<?x64xf32>) <layout = nC> -> (streams : tensor<?x?x64xf32>)
  return
}

// -----

func.func @element_type(%x: tensor<?x64xf32>) {
  // expected-error @below {{'streams' has elements of type 'bf16'; needed 'f32', the type of 'x'}}
  %streams = mhc.expand(x = %x : tensor<?x64xf32>) <layout = nC> -> (streams : tensor<?x4x64xbf16>)
  return
}

// -----

func.func @contract_mode(%x: tensor<?x4x64xf32>) {
  // expected-error @below {{'mode' is 'max'; expected 'mean', 'sum'}}
  %out = mhc.contract(x = %x : tensor<?x4x64xf32>) <layout = nC, mode = max> -> (out : tensor<?x64xf32>)
  return
}

// -----

func.func @contract_channels(%x: tensor<?x4x64xf32>) {
  // expected-error @below {{dimension 'C' is 64 in 'x' but 4 in 'out'}}
  %out = mhc.contract(x = %x : tensor<?x4x64xf32>) <layout = nC, mode = sum> -> (out : tensor<?x4xf32>)
  return
}
