// RUN: mhc-opt %s --mhc-import | FileCheck %s

// A concatenation as stablehlo-legalize-to-linalg writes it: every element is chosen by its index.

// CHECK-LABEL: @chosen
// CHECK-SAME: %[[A:[^:]*]]: tensor<2x4xf32>, %[[B:[^:]*]]: tensor<2x1xf32>, %[[C:[^:]*]]: tensor<2x3xf32>
// CHECK: %[[ALL:.*]] = tensor.concat dim(1) %[[A]], %[[B]], %[[C]]
// CHECK: return %[[ALL]]
func.func @chosen(%a: tensor<2x4xf32>, %b: tensor<2x1xf32>, %c: tensor<2x3xf32>) -> tensor<2x8xf32> {
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %empty = tensor.empty() : tensor<2x8xf32>
  %all = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%empty : tensor<2x8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %first = arith.cmpi ult, %j, %c4 : index
    %x = scf.if %first -> (f32) {
      %y = tensor.extract %a[%i, %j] : tensor<2x4xf32>
      scf.yield %y : f32
    } else {
      %second = arith.cmpi ult, %j, %c5 : index
      %y = scf.if %second -> (f32) {
        %at = arith.subi %j, %c4 : index
        %z = tensor.extract %b[%i, %at] : tensor<2x1xf32>
        scf.yield %z : f32
      } else {
        %at = arith.subi %j, %c5 : index
        %z = tensor.extract %c[%i, %at] : tensor<2x3xf32>
        scf.yield %z : f32
      }
      scf.yield %y : f32
    }
    linalg.yield %x : f32
  } -> tensor<2x8xf32>
  return %all : tensor<2x8xf32>
}

// The second part is read from its second element on, so that this is no concatenation.

// CHECK-LABEL: @shifted
// CHECK-NOT: tensor.concat
func.func @shifted(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<8xf32> {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %empty = tensor.empty() : tensor<8xf32>
  %all = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%empty : tensor<8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %first = arith.cmpi ult, %i, %c4 : index
    %x = scf.if %first -> (f32) {
      %y = tensor.extract %a[%i] : tensor<4xf32>
      scf.yield %y : f32
    } else {
      %at = arith.subi %i, %c3 : index
      %y = tensor.extract %b[%at] : tensor<4xf32>
      scf.yield %y : f32
    }
    linalg.yield %x : f32
  } -> tensor<8xf32>
  return %all : tensor<8xf32>
}

// Transposed where it is read.

// CHECK-LABEL: @transposed
// CHECK-NOT: tensor.concat
func.func @transposed(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) -> tensor<2x4xf32> {
  %c2 = arith.constant 2 : index
  %empty = tensor.empty() : tensor<2x4xf32>
  %all = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%empty : tensor<2x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %first = arith.cmpi ult, %j, %c2 : index
    %x = scf.if %first -> (f32) {
      %y = tensor.extract %a[%j, %i] : tensor<2x2xf32>
      scf.yield %y : f32
    } else {
      %at = arith.subi %j, %c2 : index
      %y = tensor.extract %b[%i, %at] : tensor<2x2xf32>
      scf.yield %y : f32
    }
    linalg.yield %x : f32
  } -> tensor<2x4xf32>
  return %all : tensor<2x4xf32>
}
