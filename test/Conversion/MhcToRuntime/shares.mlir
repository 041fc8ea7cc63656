// Which share of a weight a rank has, and over which ranks a gradient is to be added up, is in the manifest.
// RUN: mhc-opt %s -split-input-file -verify-diagnostics -convert-mhc-to-runtime | FileCheck %s

// CHECK: llvm.mlir.global external constant @mhc_model_manifest
// CHECK-SAME: arg w f32 6 4\0Aresult d_w f32 6 4\0Asplit w 0 4 2\0Apartial d_w dp\0Asplit d_w 0 4 2\0Aend
func.func @f(%w: memref<6x4xf32> {mhc.name = "w", mhc.dims = ["6", "4"], mhc.split = array<i64: 0, 4, 2>},
             %d_w: memref<6x4xf32> {mhc.name = "d_w", mhc.dims = ["6", "4"], mhc.result, mhc.partial = "dp",
                                    mhc.split = array<i64: 0, 4, 2>}) {
  return
}

// -----

// expected-error @below {{'w' has 'mhc.split' array<i64: 2, 6>; needed integers: one of its dimensions, and the sizes of parts that are its size}}
func.func @dimension(%w: memref<6x4xf32> {mhc.name = "w", mhc.dims = ["6", "4"], mhc.split = array<i64: 2, 6>}) {
  return
}

// -----

// expected-error @below {{'w' has 'mhc.split' array<i64: 1, 2, 3>; needed integers: one of its dimensions, and the sizes of parts that are its size}}
func.func @sizes(%w: memref<6x4xf32> {mhc.name = "w", mhc.dims = ["6", "4"], mhc.split = array<i64: 1, 2, 3>}) {
  return
}

// -----

// expected-error @below {{'w' has 'mhc.split' "0"; needed integers: one of its dimensions, and the sizes of parts that are its size}}
func.func @text(%w: memref<6x4xf32> {mhc.name = "w", mhc.dims = ["6", "4"], mhc.split = "0"}) {
  return
}
