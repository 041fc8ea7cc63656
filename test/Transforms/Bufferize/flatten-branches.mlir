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
