// RUN: mhc-opt %s --split-input-file --verify-diagnostics

func.func @outputs_of_sublayers(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %b: tensor<8xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{has 1 of 'f' and 2 of 'out'; needed equally many}}
  %out:2 = mhc.rebuild(x = %x : tensor<?x4x8xf32>, f = [%f] : tensor<?x8xf32>, h_post = [%p, %p] : tensor<?x4xf32>,
      h_res = [%r, %r] : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : 2 of tensor<?x4x8xf32>)
  return
}

// -----

func.func @gates(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %b: tensor<8xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{has 3 of 'h_post' and 2 of 'out'; needed equally many}}
  %out:2 = mhc.rebuild(x = %x : tensor<?x4x8xf32>, f = [%f, %f] : tensor<?x8xf32>, h_post = [%p, %p, %p] : tensor<?x4xf32>,
      h_res = [%r, %r] : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : 2 of tensor<?x4x8xf32>)
  return
}

// -----

func.func @matrices(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %b: tensor<8xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{has 1 of 'h_res' and 2 of 'out'; needed equally many}}
  %out:2 = mhc.rebuild(x = %x : tensor<?x4x8xf32>, f = [%f, %f] : tensor<?x8xf32>, h_post = [%p, %p] : tensor<?x4xf32>,
      h_res = [%r] : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : 2 of tensor<?x4x8xf32>)
  return
}

// -----

func.func @biases(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %b: tensor<8xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{has 1 of 'bias' and 2 of 'out'; needed equally many}}
  %out:2 = mhc.rebuild(x = %x : tensor<?x4x8xf32>, f = [%f, %f] : tensor<?x8xf32>, bias = [%b] : tensor<8xf32>, h_post = [%p, %p] : tensor<?x4xf32>,
      h_res = [%r, %r] : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : 2 of tensor<?x4x8xf32>)
  return
}

// -----

func.func @inputs_without_weights(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %b: tensor<8xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{has 0 of 'h_pre' and 2 of 'u'; needed equally many}}
  %u:4 = mhc.rebuild(x = %x : tensor<?x4x8xf32>, f = [%f, %f] : tensor<?x8xf32>, h_post = [%p, %p] : tensor<?x4xf32>,
      h_res = [%r, %r] : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (u : 2 of tensor<?x8xf32>, out : 2 of tensor<?x4x8xf32>)
  return
}

// -----

func.func @too_few_inputs(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %b: tensor<8xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{has 1 of 'u' and 2 of 'out'; needed 0, 2 or 3}}
  %u:3 = mhc.rebuild(x = %x : tensor<?x4x8xf32>, h_pre = [%p] : tensor<?x4xf32>, f = [%f, %f] : tensor<?x8xf32>, h_post = [%p, %p] : tensor<?x4xf32>,
      h_res = [%r, %r] : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (u : 1 of tensor<?x8xf32>, out : 2 of tensor<?x4x8xf32>)
  return
}

// -----

func.func @shape(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %b: tensor<8xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{dimension 'C' is 8 in 'x' but 9 in 'out'}}
  %out:2 = mhc.rebuild(x = %x : tensor<?x4x8xf32>, f = [%f, %f] : tensor<?x8xf32>, h_post = [%p, %p] : tensor<?x4xf32>,
      h_res = [%r, %r] : tensor<?x4x4xf32>) <layout = nC, orient = oi> -> (out : 2 of tensor<?x4x9xf32>)
  return
}

// -----

func.func @nothing(%x: tensor<?x4x8xf32>) {
  // expected-error @below {{has no 'out'; needed one per layer}}
  mhc.rebuild(x = %x : tensor<?x4x8xf32>) <layout = nC, orient = oi> -> ()
  return
}

// -----

func.func @types_of_a_list(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %g: tensor<2x8xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>) {
  // expected-error @below {{the tensors of 'f' differ in type}}
  %out:2 = "mhc.rebuild"(%x, %f, %g, %p, %p, %r, %r) <{layout = #mhc.layout<nC>, orient = #mhc.orient<oi>,
      operandSegmentSizes = array<i32: 1, 0, 2, 0, 2, 2, 0>, resultSegmentSizes = array<i32: 0, 2>}>
    : (tensor<?x4x8xf32>, tensor<?x8xf32>, tensor<2x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4x4xf32>, tensor<?x4x4xf32>)
    -> (tensor<?x4x8xf32>, tensor<?x4x8xf32>)
  return
}

// -----

func.func @length_of_a_list(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>) {
  %out = mhc.rebuild(x = %x : tensor<?x4x8xf32>, f = [%f] : tensor<?x8xf32>, h_post = [%p] : tensor<?x4xf32>,
      h_res = [%r] : tensor<?x4x4xf32>) <layout = nC, orient = oi>
      // expected-error @below {{a list of -1 results; needed 1 to 4, as many as the op has operands}}
      -> (out : -1 of tensor<?x4x8xf32>)
  return
}

// -----

func.func @seeds(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %s: tensor<2xi64>) {
  // expected-error @below {{has 1 of 'seed' and 2 of 'out'; needed equally many}}
  %out:2 = mhc.rebuild(x = %x : tensor<?x4x8xf32>, f = [%f, %f] : tensor<?x8xf32>, h_post = [%p, %p] : tensor<?x4xf32>,
      h_res = [%r, %r] : tensor<?x4x4xf32>, seed = [%s] : tensor<2xi64>) <layout = nC, orient = oi, rate = 0.5, stream = 1, stream_step = 1>
    -> (out : 2 of tensor<?x4x8xf32>)
  return
}

// -----

func.func @seeds_alone(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %s: tensor<2xi64>) {
  // expected-error @below {{has 'seed' without 'rate'; needed both or none}}
  %out:2 = mhc.rebuild(x = %x : tensor<?x4x8xf32>, f = [%f, %f] : tensor<?x8xf32>, h_post = [%p, %p] : tensor<?x4xf32>,
      h_res = [%r, %r] : tensor<?x4x4xf32>, seed = [%s, %s] : tensor<2xi64>) <layout = nC, orient = oi>
    -> (out : 2 of tensor<?x4x8xf32>)
  return
}

// -----

func.func @step(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %s: tensor<2xi64>) {
  // expected-error @below {{has 'seed' without 'stream_step'; needed both or none}}
  %out:2 = mhc.rebuild(x = %x : tensor<?x4x8xf32>, f = [%f, %f] : tensor<?x8xf32>, h_post = [%p, %p] : tensor<?x4xf32>,
      h_res = [%r, %r] : tensor<?x4x4xf32>, seed = [%s, %s] : tensor<2xi64>) <layout = nC, orient = oi, rate = 0.5, stream = 1>
    -> (out : 2 of tensor<?x4x8xf32>)
  return
}

// -----

func.func @step_alone(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %s: tensor<2xi64>) {
  // expected-error @below {{has 'stream_step' without 'seed'; needed both or none}}
  %out:2 = mhc.rebuild(x = %x : tensor<?x4x8xf32>, f = [%f, %f] : tensor<?x8xf32>, h_post = [%p, %p] : tensor<?x4xf32>,
      h_res = [%r, %r] : tensor<?x4x4xf32>) <layout = nC, orient = oi, stream_step = 1>
    -> (out : 2 of tensor<?x4x8xf32>)
  return
}

// -----

func.func @last_stream(%x: tensor<?x4x8xf32>, %f: tensor<?x8xf32>, %p: tensor<?x4xf32>, %r: tensor<?x4x4xf32>, %s: tensor<2xi64>) {
  // expected-error @below {{'stream' of the last layer is -1; needed 0 to 4294967295}}
  %out:2 = mhc.rebuild(x = %x : tensor<?x4x8xf32>, f = [%f, %f] : tensor<?x8xf32>, h_post = [%p, %p] : tensor<?x4xf32>,
      h_res = [%r, %r] : tensor<?x4x4xf32>, seed = [%s, %s] : tensor<2xi64>) <layout = nC, orient = oi, rate = 0.5, stream = 1, stream_step = -2>
    -> (out : 2 of tensor<?x4x8xf32>)
  return
}
