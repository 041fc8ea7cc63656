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
