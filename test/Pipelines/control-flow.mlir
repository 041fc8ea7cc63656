// Loops and branches, compiled and in the float64 evaluator.
// RUN: mhcc %s --verify | FileCheck %s
// RUN: mhcc %s --verify --fuse=none --size=M=1 | FileCheck %s

// The number of turns is data: it comes from an argument.
// CHECK: entry turns
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
func.func @turns(%x: tensor<?x4xf32>, %n: tensor<1xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  %number = tensor.extract %n[%c0] : tensor<1xf32>
  %many = arith.cmpf ogt, %number, %zero : f32
  %turns = arith.select %many, %c7, %c3 : index
  %y = math.exp %x : tensor<?x4xf32>
  %0:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%a = %x, %b = %y) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %sum = arith.addf %a, %b : tensor<?x4xf32>
    %next = math.tanh %sum : tensor<?x4xf32>
    %inner = scf.for %j = %c0 to %i step %c1 iter_args(%it = %next) -> tensor<?x4xf32> {
      %more = arith.mulf %it, %y : tensor<?x4xf32>
      %less = arith.subf %more, %b : tensor<?x4xf32>
      %small = math.tanh %less : tensor<?x4xf32>
      scf.yield %small : tensor<?x4xf32>
    }
    scf.yield %next, %inner : tensor<?x4xf32>, tensor<?x4xf32>
  }
  %last = arith.addf %0#1, %y : tensor<?x4xf32>
  return %0#0, %last : tensor<?x4xf32>, tensor<?x4xf32>
}

// A chain in a loop becomes one kernel.
// CHECK: entry streams
// CHECK-NEXT: result0: verified
func.func @streams(%x: tensor<?x4x8xf32>, %h: tensor<?x4xf32>) -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0 = scf.for %i = %c0 to %c5 step %c1 iter_args(%it = %x) -> tensor<?x4x8xf32> {
    %weights = mhc.broadcast %h dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x8xf32>
    %products = arith.mulf %it, %weights : tensor<?x4x8xf32>
    %u = mhc.reduce sum %products dims = [1] : tensor<?x4x8xf32> -> tensor<?x8xf32>
    %all = mhc.broadcast %u dims = [0, 2] : tensor<?x8xf32> -> tensor<?x4x8xf32>
    %mixed = arith.addf %it, %all : tensor<?x4x8xf32>
    %next = math.tanh %mixed : tensor<?x4x8xf32>
    scf.yield %next : tensor<?x4x8xf32>
  }
  return %0 : tensor<?x4x8xf32>
}

// CHECK: entry branch
// CHECK-NEXT: result0: verified
func.func @branch(%x: tensor<?x4xbf16>, %n: tensor<2xf32>) -> tensor<?x4xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.extract %n[%c0] : tensor<2xf32>
  %b = tensor.extract %n[%c1] : tensor<2xf32>
  %less = arith.cmpf olt, %a, %b : f32
  %0 = scf.if %less -> tensor<?x4xbf16> {
    %1 = math.tanh %x : tensor<?x4xbf16>
    scf.yield %1 : tensor<?x4xbf16>
  } else {
    %2 = arith.negf %x : tensor<?x4xbf16>
    scf.yield %2 : tensor<?x4xbf16>
  }
  return %0 : tensor<?x4xbf16>
}
