// RUN: mhc-opt %s -mhc-plan-memory -split-input-file -verify-diagnostics

func.func @size_from_data(%n: memref<1xi64> {mhc.dims = ["1"]}) {
  %c0 = arith.constant 0 : index
  %wide = memref.load %n[%c0] : memref<1xi64>
  %size = arith.index_cast %wide : i64 to index
  // expected-error @below {{the size of this temporary does not follow from the sizes of the arguments}}
  %a = memref.alloc(%size) : memref<?xf32>
  return
}

// -----

func.func @unknown_alias(%x: memref<4xf32> {mhc.dims = ["4"]}, %which: i1) {
  %a = memref.alloc() : memref<4xf32>
  // expected-error @below {{'arith.select' makes a buffer that the memory plan cannot follow}}
  %b = arith.select %which, %a, %x : memref<4xf32>
  return
}

// -----

func.func @no_width(%x: memref<4xf32> {mhc.dims = ["4"]}) {
  // expected-error @below {{this temporary has elements of 'complex<f32>'; needed integers, floats or index}}
  %a = memref.alloc() : memref<4xcomplex<f32>>
  return
}
