// RUN: mhc-opt %s -split-input-file -verify-diagnostics -mhc-keep-scalars | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// An extracted element, and values computed from it, stay in tensors of rank 0.
// CHECK-LABEL: @scale
// CHECK: %[[PART:.*]] = tensor.extract_slice %{{.*}}[1] [1] [1] : tensor<3xf32> to tensor<f32>
// CHECK: %[[TWICE:.*]] = linalg.generic {{.*}} iterator_types = []} ins(%[[PART]] : tensor<f32>)
// CHECK: arith.addf
// CHECK: linalg.generic {indexing_maps = [#[[ID:.*]], #{{.*}}, #[[ID]]], {{.*}}} ins(%{{.*}}, %[[TWICE]] : tensor<?xf32>, tensor<f32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[S:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.mulf %[[X]], %[[S]]
func.func @scale(%x: tensor<?xf32>, %scales: tensor<3xf32>, %init: tensor<?xf32>) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %scale = tensor.extract %scales[%c1] : tensor<3xf32>
  %twice = arith.addf %scale, %scale : f32
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.mulf %a, %twice : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// A scalar operand, too.
// CHECK-LABEL: @fill
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<f32>)
func.func @fill(%scales: tensor<3xf32>, %init: tensor<?xf32>) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %scale = tensor.extract %scales[%c1] : tensor<3xf32>
  %y = linalg.fill ins(%scale : f32) outs(%init : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Scalars that are no elements stay as they are.
// CHECK-LABEL: @host
// CHECK-NOT: linalg.generic {{.*}} iterator_types = []
func.func @host(%x: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?xf32>
  %N = arith.addi %M, %M : index
  return %N : index
}

// -----

func.func @turns(%n: tensor<1xi32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %number = tensor.extract %n[%c0] : tensor<1xi32>
  %turns = arith.index_cast %number : i32 to index
  // expected-error @below {{'scf.for' needs a value of the GPU on the host, where only sizes and constants are known}}
  %y = scf.for %i = %c0 to %turns step %c1 iter_args(%it = %x) -> tensor<4xf32> {
    scf.yield %it : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @until(%n: tensor<1xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 1.0 : f32
  %y = scf.while (%it = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %number = tensor.extract %n[%c0] : tensor<1xf32>
    %more = arith.cmpf ogt, %number, %limit : f32
    // expected-error @below {{'scf.condition' needs a value of the GPU on the host, where only sizes and constants are known}}
    scf.condition(%more) %it : tensor<4xf32>
  } do {
  ^bb0(%it: tensor<4xf32>):
    scf.yield %it : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
