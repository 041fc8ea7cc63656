// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f | FileCheck %s

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[G:.*]]: tensor<?x8xf32> {mhc.name = "d_result0"})
// CHECK: %[[M:.*]] = tensor.dim %[[G]]
// CHECK: tensor.expand_shape %[[G]] {{\[\[}}0], [1, 2]] output_shape [%[[M]], 2, 4]
func.func @f(%x: tensor<?x2x4xf32>) -> tensor<?x8xf32> {
  %y = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x2x4xf32> into tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[G:.*]]: tensor<2x4xf32> {mhc.name = "d_result0"})
// CHECK: tensor.collapse_shape %[[G]] {{\[\[}}0, 1]] : tensor<2x4xf32> into tensor<8xf32>
func.func @f(%x: tensor<8xf32>) -> tensor<2x4xf32> {
  %y = tensor.expand_shape %x [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[G:.*]]: tensor<?xf32> {mhc.name = "d_result0"})
// CHECK: tensor.cast %[[G]] : tensor<?xf32> to tensor<8xf32>
func.func @f(%x: tensor<8xf32>) -> tensor<?xf32> {
  %y = tensor.cast %x : tensor<8xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[G:.*]]: tensor<?xf32> {mhc.name = "d_result0"})
// CHECK: %[[ZEROS:.*]] = tensor.splat
// CHECK: tensor.insert_slice %[[G]] into %[[ZEROS]][0, 3] [%{{.*}}, 1] [1, 1] : tensor<?xf32> into tensor<?x8xf32>
func.func @f(%x: tensor<?x8xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x8xf32>
  %y = tensor.extract_slice %x[0, 3] [%M, 1] [1, 1] : tensor<?x8xf32> to tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[G:.*]]: tensor<8xf32> {mhc.name = "d_result0"})
// CHECK: %[[DPART:.*]] = tensor.extract_slice %[[G]][2] [3] [1]
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<3xf32>
// CHECK: %[[DX:.*]] = tensor.insert_slice %[[ZEROS]] into %[[G]][2] [3] [1]
// CHECK: return %[[DPART]], %[[DX]]
func.func @f(%part: tensor<3xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %y = tensor.insert_slice %part into %x[2] [3] [1] : tensor<3xf32> into tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Where one begins depends on the size of those before it.
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[A:.*]]: tensor<?xf32> {mhc.name = "arg0"}, %[[B:.*]]: tensor<?xf32> {mhc.name = "arg1"},
// CHECK-SAME:  %[[G:.*]]: tensor<?xf32> {mhc.name = "d_result0"})
// CHECK-DAG: %[[SIZE_A:.*]] = tensor.dim %[[A]]
// CHECK-DAG: %[[SIZE_B:.*]] = tensor.dim %[[B]]
// CHECK: %[[DA:.*]] = tensor.extract_slice %[[G]][0] [%[[SIZE_A]]] [1]
// CHECK: %[[OFFSET:.*]] = arith.addi %{{.*}}, %[[SIZE_A]]
// CHECK: %[[DB:.*]] = tensor.extract_slice %[[G]][%[[OFFSET]]] [%[[SIZE_B]]] [1]
// CHECK: return %[[DA]], %[[DB]]
func.func @f(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %y = tensor.concat dim(0) %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[G:.*]]: tensor<2x3xf32> {mhc.name = "d_result0"})
// CHECK: %[[SUM:.*]] = mhc.reduce{{ *}}sum %[[G]] dims = [0, 1] : tensor<2x3xf32> -> tensor<f32>
// CHECK: %[[SCALAR:.*]] = tensor.extract %[[SUM]][] : tensor<f32>
// CHECK: %[[ELEMENT:.*]] = tensor.from_elements %[[SCALAR]] : tensor<1xf32>
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK: tensor.insert_slice %[[ELEMENT]] into %[[ZEROS]][%{{.*}}] [1] [1]
func.func @f(%x: tensor<4xf32>) -> tensor<2x3xf32> {
  %c2 = arith.constant 2 : index
  %scalar = tensor.extract %x[%c2] : tensor<4xf32>
  %y = tensor.splat %scalar : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[G:.*]]: tensor<1x2xf32> {mhc.name = "d_result0"})
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: tensor.extract %[[G]][%{{.*}}, %[[C1]]] : tensor<1x2xf32>
func.func @f(%x: tensor<1xf32>) -> tensor<1x2xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %scalar = tensor.extract %x[%c0] : tensor<1xf32>
  %y = tensor.from_elements %one, %scalar : tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// -----

// Two sizes that no argument has are not one size. Each is that of a value made again.
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32> {mhc.name = "arg0"}, %[[G:.*]]: tensor<f32> {mhc.name = "d_result0"})
// CHECK-DAG: %[[HALF:.*]] = tensor.extract_slice %[[X]][0]
// CHECK-DAG: %[[LONGER:.*]] = tensor.concat dim(0) %[[X]], %[[HALF]] :
// CHECK-DAG: tensor.dim %[[LONGER]]
// CHECK-DAG: %[[LONGEST:.*]] = tensor.concat dim(0) %[[X]], %[[X]], %[[HALF]] :
// CHECK-DAG: tensor.dim %[[LONGEST]]
func.func @f(%x: tensor<?xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %size = arith.divui %m, %c2 : index
  %half = tensor.extract_slice %x[0] [%size] [1] : tensor<?xf32> to tensor<?xf32>
  %longer = tensor.concat dim(0) %x, %half : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %longest = tensor.concat dim(0) %x, %x, %half : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %a = mhc.reduce mean %longer dims = [0] : tensor<?xf32> -> tensor<f32>
  %b = mhc.reduce mean %longest dims = [0] : tensor<?xf32> -> tensor<f32>
  %y = arith.mulf %a, %b : tensor<f32>
  return %y : tensor<f32>
}

// -----

// The gradient of the padding goes to the number that pads.
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<?x7xf32> {mhc.name = "d_result0"}
// CHECK: %[[INSIDE:.*]] = tensor.extract_slice %[[G]][0, 1] [%{{.*}}, 4] [1, 1] : tensor<?x7xf32> to tensor<?x4xf32>
// CHECK-DAG: mhc.reduce{{ *}}sum %[[G]] dims = [0, 1]
// CHECK-DAG: mhc.reduce{{ *}}sum %[[INSIDE]] dims = [0, 1]
// CHECK: arith.subf
// CHECK: return %[[INSIDE]]
func.func @f(%x: tensor<?x4xf32>, %n: tensor<1xf32>) -> tensor<?x7xf32> {
  %c0 = arith.constant 0 : index
  %number = tensor.extract %n[%c0] : tensor<1xf32>
  %y = tensor.pad %x low[0, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %number : f32
  } : tensor<?x4xf32> to tensor<?x7xf32>
  return %y : tensor<?x7xf32>
}
