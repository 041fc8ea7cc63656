// Every element is chosen by its index, and what is not chosen lies outside of its tensor: loops read it in neither
// case, and neither does the reference.

// RUN: mhcc %s --fuse=none --verify | FileCheck %s
// RUN: mhcc %s --verify | FileCheck %s
// CHECK: verified

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
