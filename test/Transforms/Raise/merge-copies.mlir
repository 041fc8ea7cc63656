// Equal computations are one value: across a loop, not out of it, and also where MLIR's own pass has to do it since
// something in the function has effects.
// RUN: mhc-opt %s -mhc-normalise | FileCheck %s

// CHECK-LABEL: func @loop
// CHECK: %[[BEFORE:.*]] = math.exp %arg0
// CHECK-NOT: math.exp %arg0
// CHECK: scf.for
// CHECK: %[[INSIDE:.*]] = math.tanh %arg0
// CHECK-NEXT: arith.addf %[[BEFORE]], %[[INSIDE]]
// CHECK: scf.yield
// CHECK: %[[BEHIND:.*]] = math.tanh %arg0
// CHECK-NOT: math.tanh
// CHECK: return %[[BEFORE]], %{{.*}}, %[[BEHIND]], %[[BEHIND]]
func.func @loop(%x: tensor<8xf32>, %turns: index)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %before = math.exp %x : tensor<8xf32>
  %carried = scf.for %i = %c0 to %turns step %c1 iter_args(%it = %x) -> (tensor<8xf32>) {
    %same = math.exp %x : tensor<8xf32>
    %inside = math.tanh %x : tensor<8xf32>
    %sum = arith.addf %same, %inside : tensor<8xf32>
    %next = arith.mulf %sum, %it : tensor<8xf32>
    scf.yield %next : tensor<8xf32>
  }
  %behind = math.tanh %x : tensor<8xf32>
  %again = math.tanh %x : tensor<8xf32>
  return %before, %carried, %behind, %again : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @effects
// CHECK: %[[ONE:.*]] = math.exp %arg0
// CHECK: call @other
// CHECK-NOT: math.exp
// CHECK: return %[[ONE]], %[[ONE]]
func.func private @other()
func.func @effects(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %one = math.exp %x : tensor<8xf32>
  call @other() : () -> ()
  %two = math.exp %x : tensor<8xf32>
  return %one, %two : tensor<8xf32>, tensor<8xf32>
}
