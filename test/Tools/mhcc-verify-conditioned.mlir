// A model that makes much of every rounding is not called wrong for it: the tolerance follows from how far the result
// moves when the arguments and all steps are rounded. Thirteen iterations of a chaotic map double an error each.

// RUN: mhcc %s --verify --size=M=64 | FileCheck %s
// RUN: not mhcc %s --verify --size=M=64 --tolerance=2e-5 | FileCheck %s --check-prefix=STRICT

// CHECK: y: verified, largest error {{.*}} of the largest value (tolerance {{.*}}, 16 times what rounding does)
// STRICT: y: WRONG, largest error {{.*}} (tolerance 2e-05)
func.func @logistic(%x: tensor<?xf32> {mhc.name = "x"}) -> (tensor<?xf32> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 13 : index
  %M = tensor.dim %x, %c0 : tensor<?xf32>
  %one = arith.constant 1.0 : f32
  %rate = arith.constant 3.9 : f32
  %ones = tensor.splat %one[%M] : tensor<?xf32>
  %rates = tensor.splat %rate[%M] : tensor<?xf32>
  %start = mhc.sigmoid %x : tensor<?xf32>
  %y = scf.for %i = %c0 to %turns step %c1 iter_args(%v = %start) -> (tensor<?xf32>) {
    %rest = arith.subf %ones, %v : tensor<?xf32>
    %product = arith.mulf %v, %rest : tensor<?xf32>
    %next = arith.mulf %rates, %product : tensor<?xf32>
    scf.yield %next : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}
