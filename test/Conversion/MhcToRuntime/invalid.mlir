// RUN: mhc-opt %s -convert-mhc-to-runtime -split-input-file -verify-diagnostics

// expected-error @below {{argument 0 of entry 'not_described' is not described; run mhc-describe-entries before convert-mhc-to-runtime}}
func.func @not_described(%x: memref<?xf32>) {
  return
}

// -----

func.func @no_place(%x: memref<4xf32> {mhc.name = "x", mhc.dims = ["4"]}) {
  // expected-error @below {{a temporary has no place; run mhc-plan-memory before convert-mhc-to-runtime}}
  %t = memref.alloc() : memref<4xf32>
  return
}

// -----

func.func @not_outlined(%x: memref<4xf32> {mhc.name = "x", mhc.dims = ["4"]}) {
  // expected-error @below {{'memref.copy' on buffers cannot be lowered to the runtime}}
  memref.copy %x, %x : memref<4xf32> to memref<4xf32>
  return
}

// -----

memref.global "private" constant @k : memref<1xcomplex<f32>> = dense<(1.0, 2.0)>
func.func @no_width(%x: memref<4xf32> {mhc.name = "x", mhc.dims = ["4"]}) {
  // expected-error @below {{this constant has elements of 'complex<f32>'; needed integers, floats or index}}
  %k = memref.get_global @k : memref<1xcomplex<f32>>
  return
}
