// RUN: mhc-opt %s --split-input-file --verify-diagnostics

func.func @unknown_kernel(%x: memref<?xf32>) {
  // expected-error @below {{names no kernel op: 'mhc.softmax'}}
  mhc.launch "mhc.softmax" ins(%x : memref<?xf32>) outs(%x : memref<?xf32>) counts = [1, 1] config = {}
  return
}

// -----

func.func @counts_are_short(%x: memref<?x24xf32>, %mix: memref<?x4x4xf32>) {
  // expected-error @below {{has 1 tensor in 'counts'; 'mhc.permutation_mix' has 2}}
  mhc.launch "mhc.permutation_mix" ins(%x : memref<?x24xf32>) outs(%mix : memref<?x4x4xf32>) counts = [1] config = {}
  return
}

// -----

func.func @counts_differ(%x: memref<?x24xf32>, %mix: memref<?x4x4xf32>) {
  // expected-error @below {{'counts' has 0 for 'mix'; needed 1}}
  mhc.launch "mhc.permutation_mix" ins(%x : memref<?x24xf32>) outs(%mix : memref<?x4x4xf32>) counts = [1, 0] config = {}
  return
}

// -----

func.func @two_of_one(%x: memref<?x24xf32>, %mix: memref<?x4x4xf32>) {
  // expected-error @below {{'counts' has 2 for 'logits'; needed 1}}
  mhc.launch "mhc.permutation_mix" ins(%x, %x : memref<?x24xf32>, memref<?x24xf32>) outs(%mix : memref<?x4x4xf32>)
    counts = [2, 1] config = {}
  return
}

// -----

func.func @fewer_than_none(%x: memref<?x4x8xf32>) {
  // expected-error @below {{'counts' has -1 for 'h_pre'; needed at least 0}}
  mhc.launch "mhc.rebuild" ins(%x : memref<?x4x8xf32>) counts = [1, -1, 0, 0, 0, 0, 0, 0, 0] config = {}
  return
}

// -----

func.func @numbers_of_buffers(%x: memref<?x24xf32>, %mix: memref<?x4x4xf32>) {
  // expected-error @below {{has 2 inputs and 1 outputs; 'counts' has 1 and 1}}
  mhc.launch "mhc.permutation_mix" ins(%x, %x : memref<?x24xf32>, memref<?x24xf32>) outs(%mix : memref<?x4x4xf32>)
    counts = [1, 1] config = {}
  return
}

// -----

// A launch has the tensors and attributes that its kernel op could have.

func.func @no_attributes(%x: memref<?x4x4xf32>) {
  // expected-error @below {{'mhc.sinkhorn' op requires attribute}}
  mhc.launch "mhc.sinkhorn" ins(%x : memref<?x4x4xf32>) outs(%x : memref<?x4x4xf32>) counts = [1, 1] config = {}
  return
}

// -----

func.func @kind_of_attribute(%x: memref<?x4x4xf32>) {
  // expected-error @below {{of 'mhc.sinkhorn': attribute 'init' failed to satisfy constraint}}
  mhc.launch "mhc.sinkhorn" ins(%x : memref<?x4x4xf32>) outs(%x : memref<?x4x4xf32>) counts = [1, 1]
    config = {init = "x", order = #mhc.order<row_col>, denom = #mhc.denom<none>, eps = 0.0 : f64, iters = 20 : i64}
  return
}

// -----

func.func @rank(%x: memref<?x4xf32>, %y: memref<?x4x4xf32>) {
  // expected-error @below {{'mhc.sinkhorn' op operand #0}}
  mhc.launch "mhc.sinkhorn" ins(%x : memref<?x4xf32>) outs(%y : memref<?x4x4xf32>) counts = [1, 1]
    config = {init = #mhc.init<exp>, order = #mhc.order<row_col>, denom = #mhc.denom<none>, eps = 0.0 : f64,
              iters = 20 : i64}
  return
}

// -----

func.func @elements(%x: memref<?x4x4xi64>, %y: memref<?x4x4xf32>) {
  // expected-error @below {{'mhc.sinkhorn' op operand #0}}
  mhc.launch "mhc.sinkhorn" ins(%x : memref<?x4x4xi64>) outs(%y : memref<?x4x4xf32>) counts = [1, 1]
    config = {init = #mhc.init<exp>, order = #mhc.order<row_col>, denom = #mhc.denom<none>, eps = 0.0 : f64,
              iters = 20 : i64}
  return
}

// -----

func.func @buffers_of_buffers(%x: memref<?x4x4xmemref<4xf32>>, %y: memref<?x4x4xf32>) {
  // expected-error @below {{of 'mhc.sinkhorn': a tensor has no elements of type 'memref<4xf32>'}}
  mhc.launch "mhc.sinkhorn" ins(%x : memref<?x4x4xmemref<4xf32>>) outs(%y : memref<?x4x4xf32>) counts = [1, 1]
    config = {}
  return
}
