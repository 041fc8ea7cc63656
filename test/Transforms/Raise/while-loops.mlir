// RUN: mhc-opt %s --mhc-raise --split-input-file | FileCheck %s
// RUN: split-file %s %t
// RUN: mhcc %t/counted.mlir --verify

// The counter is a tensor of rank 0, and what compares and advances it is linalg, as pipelines leave a while loop of
// JAX's fori_loop.
// CHECK-LABEL: @counter_in_a_tensor
// CHECK: mhc.sinkhorn(logits = %arg0 : tensor<8x4x4xf32>) <init = exp, order = row_col, denom = add, eps = 1.0e-06, iters = 20>
// CHECK-NOT: scf.
//--- counted.mlir
func.func @counter_in_a_tensor(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %c20 = arith.constant 20 : i32
  %cst = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-6 : f32
  %e3 = tensor.empty() : tensor<8x4x4xf32>
  %start = linalg.exp ins(%z : tensor<8x4x4xf32>) outs(%e3 : tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %r:2 = scf.while (%i = %zero, %m = %start) : (tensor<i32>, tensor<8x4x4xf32>) -> (tensor<i32>, tensor<8x4x4xf32>) {
    %e = tensor.empty() : tensor<i1>
    %p = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%i : tensor<i32>) outs(%e : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %c = arith.cmpi slt, %in, %c20 : i32
      linalg.yield %c : i1
    } -> tensor<i1>
    %b = tensor.extract %p[] : tensor<i1>
    scf.condition(%b) %i, %m : tensor<i32>, tensor<8x4x4xf32>
  } do {
  ^bb0(%i: tensor<i32>, %m: tensor<8x4x4xf32>):
    %e1 = tensor.empty() : tensor<8x4x1xf32>
    %f1 = linalg.fill ins(%cst : f32) outs(%e1 : tensor<8x4x1xf32>) -> tensor<8x4x1xf32>
    %s1 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%m : tensor<8x4x4xf32>) outs(%f1 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %q = arith.addf %in, %out : f32
      linalg.yield %q : f32
    } -> tensor<8x4x1xf32>
    %d1 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, 0)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%m, %s1 : tensor<8x4x4xf32>, tensor<8x4x1xf32>) outs(%e3 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %s: f32, %out: f32):
      %g = arith.addf %s, %eps : f32
      %q = arith.divf %in, %g : f32
      linalg.yield %q : f32
    } -> tensor<8x4x4xf32>
    %e2 = tensor.empty() : tensor<8x1x4xf32>
    %f2 = linalg.fill ins(%cst : f32) outs(%e2 : tensor<8x1x4xf32>) -> tensor<8x1x4xf32>
    %s2 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, c, b)>, affine_map<(a, b, c) -> (a, 0, b)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%d1 : tensor<8x4x4xf32>) outs(%f2 : tensor<8x1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %q = arith.addf %in, %out : f32
      linalg.yield %q : f32
    } -> tensor<8x1x4xf32>
    %d2 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, 0, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d1, %s2 : tensor<8x4x4xf32>, tensor<8x1x4xf32>) outs(%e3 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %s: f32, %out: f32):
      %g = arith.addf %s, %eps : f32
      %q = arith.divf %in, %g : f32
      linalg.yield %q : f32
    } -> tensor<8x4x4xf32>
    %ei = tensor.empty() : tensor<i32>
    %n = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%i, %one : tensor<i32>, tensor<i32>) outs(%ei : tensor<i32>) {
    ^bb0(%in: i32, %s: i32, %out: i32):
      %q = arith.addi %in, %s : i32
      linalg.yield %q : i32
    } -> tensor<i32>
    scf.yield %n, %d2 : tensor<i32>, tensor<8x4x4xf32>
  }
  return %r#1 : tensor<8x4x4xf32>
}

// -----

// A number as counter; the peeled turn in front counts, too.
// CHECK-LABEL: @counter(
// CHECK: mhc.sinkhorn({{.*}}iters = 8>
// CHECK-NOT: scf.
func.func @counter(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %last = arith.constant 6 : i64
  %m = math.exp %z : tensor<8x4x4xf32>
  %row0 = mhc.reduce sum %m dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %row_all0 = mhc.broadcast %row0 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %by_row0 = arith.divf %m, %row_all0 : tensor<8x4x4xf32>
  %col0 = mhc.reduce sum %by_row0 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %col_all0 = mhc.broadcast %col0 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %by_col0 = arith.divf %by_row0, %col_all0 : tensor<8x4x4xf32>
  %out:2 = scf.while (%i = %zero, %it = %by_col0) : (i64, tensor<8x4x4xf32>) -> (i64, tensor<8x4x4xf32>) {
    %more = arith.cmpi sle, %i, %last : i64
    scf.condition(%more) %i, %it : i64, tensor<8x4x4xf32>
  } do {
  ^bb0(%i: i64, %m1: tensor<8x4x4xf32>):
    %row = mhc.reduce sum %m1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %row_all = mhc.broadcast %row dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %by_row = arith.divf %m1, %row_all : tensor<8x4x4xf32>
    %col = mhc.reduce sum %by_row dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %col_all = mhc.broadcast %col dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %by_col = arith.divf %by_row, %col_all : tensor<8x4x4xf32>
    %next = arith.addi %i, %one : i64
    scf.yield %next, %by_col : i64, tensor<8x4x4xf32>
  }
  return %out#1 : tensor<8x4x4xf32>
}

// -----

// The code behind reads the counter, which is 7 then.
// CHECK-LABEL: @counter_that_is_read
// CHECK: mhc.sinkhorn({{.*}}iters = 8>
// CHECK-NOT: scf.
func.func @counter_that_is_read(%z: tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8xf32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %last = arith.constant 6 : i64
  %m = math.exp %z : tensor<8x4x4xf32>
  %row0 = mhc.reduce sum %m dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %row_all0 = mhc.broadcast %row0 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %by_row0 = arith.divf %m, %row_all0 : tensor<8x4x4xf32>
  %col0 = mhc.reduce sum %by_row0 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %col_all0 = mhc.broadcast %col0 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %by_col0 = arith.divf %by_row0, %col_all0 : tensor<8x4x4xf32>
  %out:2 = scf.while (%i = %zero, %it = %by_col0) : (i64, tensor<8x4x4xf32>) -> (i64, tensor<8x4x4xf32>) {
    %more = arith.cmpi sle, %i, %last : i64
    scf.condition(%more) %i, %it : i64, tensor<8x4x4xf32>
  } do {
  ^bb0(%i: i64, %m1: tensor<8x4x4xf32>):
    %row = mhc.reduce sum %m1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %row_all = mhc.broadcast %row dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %by_row = arith.divf %m1, %row_all : tensor<8x4x4xf32>
    %col = mhc.reduce sum %by_row dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %col_all = mhc.broadcast %col dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %by_col = arith.divf %by_row, %col_all : tensor<8x4x4xf32>
    %next = arith.addi %i, %one : i64
    scf.yield %next, %by_col : i64, tensor<8x4x4xf32>
  }
  %turns = arith.sitofp %out#0 : i64 to f32
  %all = tensor.splat %turns : tensor<8xf32>
  return %out#1, %all : tensor<8x4x4xf32>, tensor<8xf32>
}

// -----

// Two turns in the body, one behind the loop, and half a one that stays.
// CHECK-LABEL: @odd_tail
// CHECK: %[[MIX:.*]] = mhc.sinkhorn({{.*}}iters = 21>
// CHECK-NOT: scf.
// CHECK: %[[SUM:.*]] = mhc.reduce sum %[[MIX]] dims = [2]
// CHECK: %[[ALL:.*]] = mhc.broadcast %[[SUM]]
// CHECK: %[[ROWS:.*]] = arith.divf %[[MIX]], %[[ALL]]
// CHECK: return %[[ROWS]]
func.func @odd_tail(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %turns = arith.constant 19 : index
  %start = math.exp %z : tensor<8x4x4xf32>
  %out:2 = scf.while (%i = %zero, %it = %start) : (index, tensor<8x4x4xf32>) -> (index, tensor<8x4x4xf32>) {
    %more = arith.cmpi ult, %i, %turns : index
    scf.condition(%more) %i, %it : index, tensor<8x4x4xf32>
  } do {
  ^bb0(%i: index, %m: tensor<8x4x4xf32>):
    %row = mhc.reduce sum %m dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %row_all = mhc.broadcast %row dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %by_row = arith.divf %m, %row_all : tensor<8x4x4xf32>
    %col = mhc.reduce sum %by_row dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %col_all = mhc.broadcast %col dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %by_col = arith.divf %by_row, %col_all : tensor<8x4x4xf32>
    %row2 = mhc.reduce sum %by_col dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %row_all2 = mhc.broadcast %row2 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %by_row2 = arith.divf %by_col, %row_all2 : tensor<8x4x4xf32>
    %col2 = mhc.reduce sum %by_row2 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %col_all2 = mhc.broadcast %col2 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %by_col2 = arith.divf %by_row2, %col_all2 : tensor<8x4x4xf32>
    %next = arith.addi %i, %two : index
    scf.yield %next, %by_col2 : index, tensor<8x4x4xf32>
  }
  %row3 = mhc.reduce sum %out#1 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %row_all3 = mhc.broadcast %row3 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %by_row3 = arith.divf %out#1, %row_all3 : tensor<8x4x4xf32>
  %col3 = mhc.reduce sum %by_row3 dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %col_all3 = mhc.broadcast %col3 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %by_col3 = arith.divf %by_row3, %col_all3 : tensor<8x4x4xf32>
  %row4 = mhc.reduce sum %by_col3 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %row_all4 = mhc.broadcast %row4 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %by_row4 = arith.divf %by_col3, %row_all4 : tensor<8x4x4xf32>
  return %by_row4 : tensor<8x4x4xf32>
}

// -----

//--- open.mlir
// A loop until the rows sum to one stays: nobody knows its number of turns.
// CHECK-LABEL: @until_it_is_good
// CHECK: scf.while
// CHECK-NOT: mhc.sinkhorn
func.func @until_it_is_good(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %small = arith.constant 1.0e-3 : f32
  %start = math.exp %z : tensor<8x4x4xf32>
  %out = scf.while (%it = %start) : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
    %sums = mhc.reduce sum %it dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %largest = mhc.reduce max %sums dims = [0, 1] : tensor<8x4xf32> -> tensor<f32>
    %sum = tensor.extract %largest[] : tensor<f32>
    %off = arith.subf %sum, %one : f32
    %more = arith.cmpf ogt, %off, %small : f32
    scf.condition(%more) %it : tensor<8x4x4xf32>
  } do {
  ^bb0(%m: tensor<8x4x4xf32>):
    %row = mhc.reduce sum %m dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %row_all = mhc.broadcast %row dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %by_row = arith.divf %m, %row_all : tensor<8x4x4xf32>
    %col = mhc.reduce sum %by_row dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %col_all = mhc.broadcast %col dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %by_col = arith.divf %by_row, %col_all : tensor<8x4x4xf32>
    scf.yield %by_col : tensor<8x4x4xf32>
  }
  return %out : tensor<8x4x4xf32>
}
