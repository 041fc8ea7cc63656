// A result that is NaN in f32 alone is WRONG, and the reason is given.

// RUN: not mhcc %s --verify --size=M=4 | FileCheck %s

// CHECK: y: WRONG, largest error {{.*}}; the model overflows or underflows in its types)
// CHECK-NEXT: y: 4 values are wrong, the first at [0]: got {{-?}}nan, expected 1
func.func @quotient(%x: tensor<?xf32> {mhc.name = "x"}) -> (tensor<?xf32> {mhc.name = "y"}) {
  %far = arith.constant -200.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %shift = tensor.splat %far[%m] : tensor<?xf32>
  %z = arith.addf %x, %shift : tensor<?xf32>
  %e = math.exp %z : tensor<?xf32>
  %y = arith.divf %e, %e : tensor<?xf32>
  return %y : tensor<?xf32>
}
