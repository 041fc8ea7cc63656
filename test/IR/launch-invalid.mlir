// RUN: mhc-opt %s --split-input-file --verify-diagnostics

func.func @unknown_kernel(%x: memref<?xf32>) {
  // expected-error @below {{names no kernel op: 'mhc.softmax'}}
  mhc.launch "mhc.softmax" ins(%x : memref<?xf32>) outs(%x : memref<?xf32>) present = [true, true] config = {}
  return
}

// -----

func.func @present_is_short(%x: memref<?x24xf32>, %mix: memref<?x4x4xf32>) {
  // expected-error @below {{has 1 tensors in 'present'; 'mhc.permutation_mix' has 2}}
  mhc.launch "mhc.permutation_mix" ins(%x : memref<?x24xf32>) outs(%mix : memref<?x4x4xf32>) present = [true] config = {}
  return
}

// -----

func.func @present_differs(%x: memref<?x24xf32>, %mix: memref<?x4x4xf32>) {
  // expected-error @below {{has 1 inputs and 1 outputs; 'present' counts 1 and 0}}
  mhc.launch "mhc.permutation_mix" ins(%x : memref<?x24xf32>) outs(%mix : memref<?x4x4xf32>) present = [true, false] config = {}
  return
}
