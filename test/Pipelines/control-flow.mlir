// Loops and branches, compiled and in the float64 evaluator.
// RUN: mhcc %s --verify | FileCheck %s
// RUN: mhcc %s --verify --fuse=none --size=M=1 | FileCheck %s

// The number of iterations is data: it comes from an argument.
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

// Two tensors change places. That they stay as long is said by neither alone, once loops over a known number of rows
// have become ops on whole tensors.
// CHECK: entry places
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
func.func @places(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%M) : tensor<?x4xf32>
  %y = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x, %b = %y) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %next = linalg.tanh ins(%a : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    scf.yield %b, %next : tensor<?x4xf32>, tensor<?x4xf32>
  }
  return %r#0, %r#1 : tensor<?x4xf32>, tensor<?x4xf32>
}

// A loop that ends where the error is small: the condition reads values.
// CHECK: entry until
// CHECK-NEXT: result0: verified
func.func @until(%z: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  %one = arith.constant 1.0 : f32
  %small = arith.constant 1.0e-3 : f32
  %start = math.exp %z : tensor<?x4x4xf32>
  %out = scf.while (%it = %start) : (tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
    %sums = mhc.reduce sum %it dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %largest = mhc.reduce max %sums dims = [0, 1] : tensor<?x4xf32> -> tensor<f32>
    %sum = tensor.extract %largest[] : tensor<f32>
    %off = arith.subf %sum, %one : f32
    %more = arith.cmpf ogt, %off, %small : f32
    scf.condition(%more) %it : tensor<?x4x4xf32>
  } do {
  ^bb0(%m: tensor<?x4x4xf32>):
    %row = mhc.reduce sum %m dims = [2] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %row_all = mhc.broadcast %row dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %by_row = arith.divf %m, %row_all : tensor<?x4x4xf32>
    %col = mhc.reduce sum %by_row dims = [1] : tensor<?x4x4xf32> -> tensor<?x4xf32>
    %col_all = mhc.broadcast %col dims = [0, 2] : tensor<?x4xf32> -> tensor<?x4x4xf32>
    %by_col = arith.divf %by_row, %col_all : tensor<?x4x4xf32>
    scf.yield %by_col : tensor<?x4x4xf32>
  }
  return %out : tensor<?x4x4xf32>
}

// The values passed on are computed beside the condition, the carried ones swap places, and one of them is a number.
// CHECK: entry passed
// CHECK-NEXT: result0: verified
// CHECK-NEXT: result1: verified
// CHECK-NEXT: result2: verified
func.func @passed(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<1xi64>) {
  %limit = arith.constant 0.02 : f32
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %most = arith.constant 5 : i64
  %sum = arith.addf %x, %y : tensor<?x4xf32>
  %out:3 = scf.while (%a = %sum, %b = %y, %n = %c0)
      : (tensor<?x4xf32>, tensor<?x4xf32>, i64) -> (tensor<?x4xf32>, tensor<?x4xf32>, i64) {
    %next = math.tanh %a : tensor<?x4xf32>
    %square = arith.mulf %next, %next : tensor<?x4xf32>
    %largest = mhc.reduce max %square dims = [0, 1] : tensor<?x4xf32> -> tensor<f32>
    %value = tensor.extract %largest[] : tensor<f32>
    %big = arith.cmpf ogt, %value, %limit : f32
    %few = arith.cmpi slt, %n, %most : i64
    %more = arith.andi %big, %few : i1
    scf.condition(%more) %next, %b, %n : tensor<?x4xf32>, tensor<?x4xf32>, i64
  } do {
  ^bb0(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>, %n: i64):
    %m = arith.addi %n, %c1 : i64
    scf.yield %b, %a, %m : tensor<?x4xf32>, tensor<?x4xf32>, i64
  }
  %number = tensor.from_elements %out#2 : tensor<1xi64>
  return %out#0, %out#1, %number : tensor<?x4xf32>, tensor<?x4xf32>, tensor<1xi64>
}

// The condition is carried in a tensor of rank 0, and the body has a loop.
// CHECK: entry nested
// CHECK-NEXT: result0: verified
func.func @nested(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %true = arith.constant dense<true> : tensor<i1>
  %small = arith.constant 0.1 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %out:2 = scf.while (%a = %x, %go = %true) : (tensor<?x4xf32>, tensor<i1>) -> (tensor<?x4xf32>, tensor<i1>) {
    %more = tensor.extract %go[] : tensor<i1>
    scf.condition(%more) %a, %go : tensor<?x4xf32>, tensor<i1>
  } do {
  ^bb0(%a: tensor<?x4xf32>, %go: tensor<i1>):
    %inner:2 = scf.for %k = %c0 to %c3 step %c1 iter_args(%p = %a, %q = %y) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
      %product = arith.mulf %p, %q : tensor<?x4xf32>
      %next = math.tanh %product : tensor<?x4xf32>
      scf.yield %q, %next : tensor<?x4xf32>, tensor<?x4xf32>
    }
    %size = math.absf %inner#1 : tensor<?x4xf32>
    %largest = mhc.reduce max %size dims = [0, 1] : tensor<?x4xf32> -> tensor<f32>
    %value = tensor.extract %largest[] : tensor<f32>
    %big = arith.cmpf ogt, %value, %small : f32
    %next = tensor.from_elements %big : tensor<i1>
    scf.yield %inner#1, %next : tensor<?x4xf32>, tensor<i1>
  }
  return %out#0 : tensor<?x4xf32>
}
