// RUN: mhc-opt %s --split-input-file --verify-diagnostics

// The checks of the record, which are the same code for every kernel op, are tested here.

func.func @streams_differ(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x3xf32>) {
  // expected-error @below {{dimension 'n' is 4 in 'x' but 3 in 'h_pre'}}
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x3xf32>) <layout = nC> -> (u : tensor<?x64xbf16>)
  return
}

// -----

func.func @tokens_differ(%x: tensor<2x4x64xbf16>, %h_pre: tensor<?x4xf32>) {
  // expected-error @below {{dimension 'M' is 2 in 'x' but 3 in 'u'}}
  %u = mhc.aggregate(x = %x : tensor<2x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC> -> (u : tensor<3x64xbf16>)
  return
}

// -----

func.func @layout_of_the_other_kind(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) {
  // expected-error @below {{dimension 'n' is 64 in 'x' but 4 in 'h_pre'}}
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = Cn> -> (u : tensor<?x64xbf16>)
  return
}

// -----

func.func @too_many_streams(%x: tensor<?x17x64xbf16>, %h_pre: tensor<?x17xf32>) {
  // expected-error @below {{dimension 'n' is 17 in 'x'; needed 1 to 16}}
  %u = mhc.aggregate(x = %x : tensor<?x17x64xbf16>, h_pre = %h_pre : tensor<?x17xf32>) <layout = nC> -> (u : tensor<?x64xbf16>)
  return
}

// -----

func.func @no_streams(%x: tensor<?x0x64xbf16>, %h_pre: tensor<?x0xf32>) {
  // expected-error @below {{dimension 'n' is 0 in 'x'; needed 1 to 16}}
  %u = mhc.aggregate(x = %x : tensor<?x0x64xbf16>, h_pre = %h_pre : tensor<?x0xf32>) <layout = nC> -> (u : tensor<?x64xbf16>)
  return
}

// -----

func.func @no_channels(%x: tensor<?x4x0xbf16>, %h_pre: tensor<?x4xf32>) {
  // expected-error @below {{dimension 'C' is 0 in 'x'; needed at least 1}}
  %u = mhc.aggregate(x = %x : tensor<?x4x0xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x0xbf16>)
  return
}

// -----

// No tokens are a legal number of them.
func.func @no_tokens(%x: tensor<0x4x8xbf16>, %h_pre: tensor<0x4xf32>) {
  %u = mhc.aggregate(x = %x : tensor<0x4x8xbf16>, h_pre = %h_pre : tensor<0x4xf32>) <layout = nC> -> (u : tensor<0x8xbf16>)
  return
}

// -----

func.func @dynamic_streams(%x: tensor<?x?x64xbf16>, %h_pre: tensor<?x4xf32>) {
  // expected-error @below {{dimension 'n' is dynamic in 'x'; needed a static size}}
  %u = mhc.aggregate(x = %x : tensor<?x?x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x64xbf16>)
  return
}

// -----

func.func @element_type_of_result(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) {
  // expected-error @below {{'u' has elements of type 'f32'; needed 'bf16', the type of 'x'}}
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x64xf32>)
  return
}

// -----

func.func @coefficients_not_f32(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xbf16>) {
  // expected-error @below {{operand #1 must be 2D tensor of 32-bit float values, but got 'tensor<?x4xbf16>'}}
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xbf16>) <layout = nC> -> (u : tensor<?x64xbf16>)
  return
}

// -----

func.func @rank(%x: tensor<?x?x4x64xbf16>, %h_pre: tensor<?x4xf32>) {
  // expected-error @below {{operand #0 must be 3D tensor of 32-bit float or bfloat16 type or 16-bit float values, but got 'tensor<?x?x4x64xbf16>'}}
  %u = mhc.aggregate(x = %x : tensor<?x?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x64xbf16>)
  return
}

// -----

func.func @unknown_operand(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) {
  // expected-error @below {{no 'y' here; expected one of 'x', 'h_pre'}}
  %u = mhc.aggregate(y = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC> -> (u : tensor<?x64xbf16>)
  return
}

// -----

func.func @unknown_result(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) {
  // expected-error @below {{no 'out' here; expected one of 'u'}}
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC> -> (out : tensor<?x64xbf16>)
  return
}

// -----

func.func @operand_twice(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) {
  // expected-error @below {{'x' is given twice}}
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, x = %x : tensor<?x4x64xbf16>) <layout = nC> -> (u : tensor<?x64xbf16>)
  return
}

// -----

func.func @operand_missing(%x: tensor<?x4x64xbf16>) {
  // expected-error @below {{'mhc.aggregate' needs 'h_pre'}}
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>) <layout = nC> -> (u : tensor<?x64xbf16>)
  return
}

// -----

func.func @attribute_missing(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) {
  // expected-error @below {{'mhc.aggregate' needs attribute 'layout'}}
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) -> (u : tensor<?x64xbf16>)
  return
}

// -----

func.func @attribute_unknown(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) {
  // expected-error @below {{'mhc.aggregate' has no attribute 'eps'}}
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <eps = 1.0> -> (u : tensor<?x64xbf16>)
  return
}

// -----

func.func @attribute_twice(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) {
  // expected-error @below {{'layout' is given twice}}
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC, layout = nC> -> (u : tensor<?x64xbf16>)
  return
}

// -----

func.func @enum_value(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) {
  // expected-error @below {{'layout' is 'nc'; expected 'nC', 'Cn'}}
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nc> -> (u : tensor<?x64xbf16>)
  return
}

// -----

// The generic form of an op that lacks an attribute is an error of the verifier, and can be printed.
func.func @generic_without_attribute(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) {
  // expected-error @below {{requires attribute 'layout'}}
  %u = "mhc.aggregate"(%x, %h_pre) : (tensor<?x4x64xbf16>, tensor<?x4xf32>) -> tensor<?x64xbf16>
  return
}

// -----

func.func @start_without_its_gradient(%d_u: tensor<?x64xbf16>, %x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>, %s: tensor<?x4x64xf32>) {
  // expected-error @below {{has 'd_x_in' without 'd_x', which starts from it}}
  %d_h_pre = mhc.aggregate_bwd(d_u = %d_u : tensor<?x64xbf16>, x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>,
      d_x_in = %s : tensor<?x4x64xf32>) <layout = nC> -> (d_h_pre : tensor<?x4xf32>)
  return
}

// -----

func.func @type_of_the_gradient(%d_u: tensor<?x64xbf16>, %x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) {
  // expected-error @below {{'d_x' has elements of type 'f16'; needed 'bf16', the type of 'x', or f32}}
  %d_x = mhc.aggregate_bwd(d_u = %d_u : tensor<?x64xbf16>, x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>)
    <layout = nC> -> (d_x : tensor<?x4x64xf16>)
  return
}

// -----

func.func @too_large(%x: tensor<99999999999x4x64xf32>, %h: tensor<99999999999x4xf32>) {
  // expected-error @below {{'tensor<99999999999x4x64xf32>' is larger than 64 TiB}}
  %u = mhc.aggregate(x = %x : tensor<99999999999x4x64xf32>, h_pre = %h : tensor<99999999999x4xf32>) <layout = nC>
    -> (u : tensor<99999999999x64xf32>)
  return
}
