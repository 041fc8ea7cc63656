// RUN: mhc-opt %s -split-input-file -verify-diagnostics -mhc-flatten-branches | FileCheck %s

// CHECK-LABEL: @nested
// CHECK-SAME: %[[C:.*]]: i1, %[[D:.*]]: i1, %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>
func.func @nested(%c: i1, %d: i1, %x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK-DAG: %[[TANH:.*]] = math.tanh %[[X]]
  // CHECK-DAG: %[[NEG:.*]] = arith.negf %[[X]]
  // CHECK-DAG: %[[EXP:.*]] = math.exp %[[X]]
  // CHECK: %[[INNER:.*]] = arith.select %[[D]], %[[NEG]], %[[EXP]]
  // CHECK-DAG: %[[OUTER:.*]] = arith.select %[[C]], %[[TANH]], %[[INNER]]
  // CHECK-DAG: %[[OTHER:.*]] = arith.select %[[C]], %[[X]], %[[TANH]]
  // CHECK: return %[[OUTER]], %[[OTHER]]
  %t = math.tanh %x : tensor<?xf32>
  %0:2 = scf.if %c -> (tensor<?xf32>, tensor<?xf32>) {
    scf.yield %t, %x : tensor<?xf32>, tensor<?xf32>
  } else {
    %1 = scf.if %d -> tensor<?xf32> {
      %n = arith.negf %x : tensor<?xf32>
      scf.yield %n : tensor<?xf32>
    } else {
      %e = math.exp %x : tensor<?xf32>
      scf.yield %e : tensor<?xf32>
    }
    scf.yield %1, %t : tensor<?xf32>, tensor<?xf32>
  }
  return %0#0, %0#1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// An element is read by both sides: inside of the tensor also where the side is not taken.

// CHECK-LABEL: @elements
// CHECK-SAME: %[[I:.*]]: index, %[[C:.*]]: i1, %[[D:.*]]: i1, %[[X:[^:]*]]: tensor<4xf32>, %[[Y:[^:]*]]: tensor<?xf32>
func.func @elements(%i: index, %c: i1, %d: i1, %x: tensor<4xf32>, %y: tensor<?xf32>) -> f32 {
  // CHECK-DAG: %[[C3:c3.*]] = arith.constant 3 : index
  // CHECK-DAG: %[[AX:.*]] = arith.select %[[C]], %[[I]], %{{.*}}
  // CHECK-DAG: tensor.extract %[[X]][%[[AX]]]
  // CHECK-DAG: %[[INNER:.*]] = arith.select %[[D]], %[[I]], %{{.*}}
  // CHECK-DAG: %[[AY:.*]] = arith.select %[[C]], %{{.*}}, %[[INNER]]
  // CHECK-DAG: tensor.extract %[[Y]][%[[AY]]]
  // CHECK-DAG: tensor.extract %[[X]][%[[C3]]]
  %c3 = arith.constant 3 : index
  %0 = scf.if %c -> f32 {
    %1 = tensor.extract %x[%i] : tensor<4xf32>
    scf.yield %1 : f32
  } else {
    %2 = scf.if %d -> f32 {
      %3 = tensor.extract %y[%i] : tensor<?xf32>
      scf.yield %3 : f32
    } else {
      %4 = tensor.extract %x[%c3] : tensor<4xf32>
      scf.yield %4 : f32
    }
    scf.yield %2 : f32
  }
  return %0 : f32
}

// -----

// A part that a side reads may lie outside where sizes do not take the side: it is empty then.

// CHECK-LABEL: @parts
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x4xf32>
func.func @parts(%x: tensor<?x4xf32>, %z: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[LONG:.*]] = arith.cmpi uge
  // CHECK: %[[PLACE:.*]] = arith.select %[[LONG]], %c36, %[[NONE:.*]] : index
  // CHECK: %[[ROWS:.*]] = arith.select %[[LONG]], %c4, %[[NONE]] : index
  // CHECK: %[[PART:.*]] = tensor.extract_slice %[[X]][%[[PLACE]], 0] [%[[ROWS]], 4] [1, 1]
  // CHECK: %[[ZEROS:.*]] = tensor.splat %{{.*}} : tensor<4x4xf32>
  // CHECK: tensor.insert_slice %[[PART]] into %[[ZEROS]][0, 0] [%[[ROWS]], 4] [1, 1]
  %c0 = arith.constant 0 : index
  %c40 = arith.constant 40 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %c = arith.cmpi uge, %M, %c40 : index
  %r = scf.if %c -> tensor<4x4xf32> {
    %0 = tensor.extract_slice %x[36, 0] [4, 4] [1, 1] : tensor<?x4xf32> to tensor<4x4xf32>
    scf.yield %0 : tensor<4x4xf32>
  } else {
    scf.yield %z : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

// All branches around it count, and a part that is inside anyhow stays.

// CHECK-LABEL: @nested_parts
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x4xf32>, %[[W:[^:]*]]: tensor<8x4xf32>
func.func @nested_parts(%x: tensor<?x4xf32>, %w: tensor<8x4xf32>, %z: tensor<4x4xf32>, %flag: i1) -> tensor<4x4xf32> {
  // CHECK: %[[OTHER:.*]] = arith.cmpi eq
  // CHECK: %[[FOUR:.*]] = arith.cmpi eq
  // CHECK: %[[NOT:.*]] = arith.xori %[[OTHER]], %true
  // CHECK: %[[TAKEN:.*]] = arith.andi %[[FOUR]], %[[NOT]]
  // CHECK: %[[ROWS:.*]] = arith.select %[[TAKEN]], %c4{{.*}}, %
  // CHECK: tensor.extract_slice %[[X]][%{{.*}}, 0] [%[[ROWS]], 4]
  // CHECK: tensor.extract_slice %[[W]][4, 0] [4, 4]
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %other = arith.cmpi eq, %M, %c3 : index
  %r = scf.if %other -> tensor<4x4xf32> {
    scf.yield %z : tensor<4x4xf32>
  } else {
    %four = arith.cmpi eq, %M, %c4 : index
    %inner = scf.if %four -> tensor<4x4xf32> {
      %rows = scf.if %flag -> tensor<4x4xf32> {
        %known = tensor.cast %x : tensor<?x4xf32> to tensor<4x4xf32>
        scf.yield %known : tensor<4x4xf32>
      } else {
        scf.yield %z : tensor<4x4xf32>
      }
      scf.yield %rows : tensor<4x4xf32>
    } else {
      %0 = tensor.extract_slice %w[4, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
      scf.yield %0 : tensor<4x4xf32>
    }
    scf.yield %inner : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

func.func @sizes(%c: i1, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{'scf.if' cannot be compiled: the sides give result 0 different sizes in dimension 0}}
  %0 = scf.if %c -> tensor<?xf32> {
    scf.yield %x : tensor<?xf32>
  } else {
    scf.yield %y : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

// -----

func.func @division(%c: i1, %a: i64, %b: i64) -> i64 {
  // expected-error @below {{'scf.if' cannot be compiled: both sides are computed, and 'arith.divsi' may run only where its side is taken}}
  %0 = scf.if %c -> i64 {
    %1 = arith.divsi %a, %b : i64
    scf.yield %1 : i64
  } else {
    scf.yield %a : i64
  }
  return %0 : i64
}
