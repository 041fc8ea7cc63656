// A model that rounds to f16 on the way is not called wrong for it, though its result is f32.

// RUN: mhcc %s --verify --size=M=64 | FileCheck %s
// RUN: not mhcc %s --verify --size=M=64 --tolerance=2e-5 | FileCheck %s --check-prefix=STRICT

// CHECK: y: verified, largest error {{.*}} of the largest value (tolerance {{.*}}, 16 times what rounding does)
// STRICT: y: WRONG, largest error {{.*}} (tolerance 2e-05)
func.func @narrow(%x: tensor<?xf32> {mhc.name = "x"}) -> (tensor<?xf32> {mhc.name = "y"}) {
  %narrow = arith.truncf %x : tensor<?xf32> to tensor<?xf16>
  %larger = arith.maxnumf %narrow, %narrow : tensor<?xf16>
  %y = arith.extf %larger : tensor<?xf16> to tensor<?xf32>
  return %y : tensor<?xf32>
}
