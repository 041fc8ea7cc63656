// RUN: mhc-opt %s -split-input-file -verify-diagnostics

func.func @dimension(%x: tensor<2x3xf32>, %start: tensor<2xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{has dimension 2 of 'tensor<2x3xf32>'; needed one from 0 to 1}}
  %y:2 = tm_tensor.scan dimension(2) inclusive(true) ins(%x : tensor<2x3xf32>)
      outs(%x, %start : tensor<2x3xf32>, tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    tm_tensor.yield %a : f32
  } -> tensor<2x3xf32>, tensor<2xf32>
  return %y#0 : tensor<2x3xf32>
}

// -----

func.func @out(%x: tensor<2x3xf32>, %out: tensor<2x4xf32>, %start: tensor<2xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{has 'out' of type 'tensor<2x4xf32>'; needed 'tensor<2x3xf32>'}}
  %y:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<2x3xf32>)
      outs(%out, %start : tensor<2x4xf32>, tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    tm_tensor.yield %a : f32
  } -> tensor<2x4xf32>, tensor<2xf32>
  return %y#0 : tensor<2x4xf32>
}

// -----

func.func @start(%x: tensor<2x3xf32>, %start: tensor<3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{has 'start' of type 'tensor<3xf32>'; needed 'tensor<2xf32>'}}
  %y:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<2x3xf32>)
      outs(%x, %start : tensor<2x3xf32>, tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    tm_tensor.yield %a : f32
  } -> tensor<2x3xf32>, tensor<3xf32>
  return %y#0 : tensor<2x3xf32>
}

// -----

func.func @results(%x: tensor<2x3xf32>, %start: tensor<2xf32>) -> tensor<2x?xf32> {
  // expected-error@+1 {{has results of types 'tensor<2x?xf32>', 'tensor<2xf32>'; needed 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
  %y:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<2x3xf32>)
      outs(%x, %start : tensor<2x3xf32>, tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    tm_tensor.yield %a : f32
  } -> tensor<2x?xf32>, tensor<2xf32>
  return %y#0 : tensor<2x?xf32>
}

// -----

func.func @arguments(%x: tensor<2x3xf32>, %start: tensor<2xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{has a body of types ('f32', 'f64'); needed two arguments of type 'f32'}}
  %y:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<2x3xf32>)
      outs(%x, %start : tensor<2x3xf32>, tensor<2xf32>) {
  ^bb0(%a: f32, %b: f64):
    tm_tensor.yield %a : f32
  } -> tensor<2x3xf32>, tensor<2xf32>
  return %y#0 : tensor<2x3xf32>
}

// -----

func.func @yield(%x: tensor<2x3xf32>, %start: tensor<2xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{has a body that yields 'f64'; needed 'tm_tensor.yield' of 'f32'}}
  %y:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<2x3xf32>)
      outs(%x, %start : tensor<2x3xf32>, tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %wide = arith.extf %a : f32 to f64
    tm_tensor.yield %wide : f64
  } -> tensor<2x3xf32>, tensor<2xf32>
  return %y#0 : tensor<2x3xf32>
}

// -----

func.func @effects(%x: tensor<2x3xf32>, %start: tensor<2xf32>, %log: memref<f32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{has 'memref.store' in its body; needed ops that only compute}}
  %y:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<2x3xf32>)
      outs(%x, %start : tensor<2x3xf32>, tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    memref.store %a, %log[] : memref<f32>
    tm_tensor.yield %a : f32
  } -> tensor<2x3xf32>, tensor<2xf32>
  return %y#0 : tensor<2x3xf32>
}

// -----

// torch-mlir has more of them.
func.func @other(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{unregistered operation 'tm_tensor.attention' found in dialect ('tm_tensor') that does not allow unknown operations}}
  %y = "tm_tensor.attention"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
