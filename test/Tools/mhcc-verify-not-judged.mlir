// A result that cannot be judged is not called verified, and the command does not end with 0.

// RUN: not mhcc %s --verify --entry=chaos --size=M=64 | FileCheck %s --check-prefix=CHAOS
// RUN: not mhcc %s --verify --entry=undefined | FileCheck %s --check-prefix=NAN
// RUN: mhcc %s --verify --entry=root | FileCheck %s --check-prefix=ROOT
// RUN: not mhcc %s --verify --entry=rounded --size=M=64 --tolerance=0.5 | FileCheck %s --check-prefix=GIVEN

// Forty iterations of a chaotic map make the first rounding as large as the result.
// CHAOS: y: not judged, largest error {{.*}} of the largest value (tolerance {{.*}}, 16 times what rounding does)
// CHAOS-NEXT: y: a tolerance above 0.05 would pass wrong results
func.func @chaos(%x: tensor<?xf32> {mhc.name = "x"}) -> (tensor<?xf32> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 40 : index
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

// Roots of negative numbers are NaN on both sides, which says nothing.
// NAN: arguments of at least 0: with others the reference is no number
// NAN-NEXT: y: not judged: the reference has 13 values that are no number
func.func @undefined(%x: tensor<?xf32> {mhc.name = "x"}) -> (tensor<?xf32> {mhc.name = "y"}) {
  %e = math.exp %x : tensor<?xf32>
  %negative = arith.negf %e : tensor<?xf32>
  %y = math.sqrt %negative : tensor<?xf32>
  return %y : tensor<?xf32>
}

// A root of what the caller passes.
// ROOT: arguments of at least 0: with others the reference is no number
// ROOT-NEXT: y: verified
func.func @root(%x: tensor<?xf32> {mhc.name = "x"}) -> (tensor<?xf32> {mhc.name = "y"}) {
  %y = math.sqrt %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// Nor does a tolerance that is given pass more than that.
// GIVEN: y: not judged, largest error {{.*}} (tolerance 0.5)
func.func @rounded(%x: tensor<?xf32> {mhc.name = "x"}) -> (tensor<?xf32> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?xf32>
  %large = arith.constant 3.2e+01 : bf16
  %larges = tensor.splat %large[%M] : tensor<?xbf16>
  %narrow = arith.truncf %x : tensor<?xf32> to tensor<?xbf16>
  %sum = arith.addf %narrow, %larges : tensor<?xbf16>
  %rest = arith.subf %sum, %larges : tensor<?xbf16>
  %y = arith.extf %rest : tensor<?xbf16> to tensor<?xf32>
  return %y : tensor<?xf32>
}
