// --verify finds sizes that fulfil what the manifest demands: the usual ones where they do, else the next.
// RUN: mhcc %s --verify | FileCheck %s --implicit-check-not=WRONG
// CHECK: entry products
// CHECK: z: verified
// CHECK: entry thirds
// CHECK: z: verified
// CHECK: entry squares
// CHECK: z: verified
// CHECK: entry shorter
// CHECK: z: verified

// Sizes that are given stay.
// RUN: mhcc %s --verify --entry=thirds --size=M=6 --size=d1=4 | FileCheck %s --check-prefix=GIVEN
// GIVEN: z: verified
// RUN: not mhcc %s --verify --entry=thirds --size=M=7 --size=d1=4 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: mhcc: error: no sizes up to 4096 were found for entry 'thirds'; needed M*d1 = 3*d2; give some by '--size'
// RUN: not mhcc %s --verify --entry=shorter --size=M=7 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: mhcc: error: argument 'y' is f32[M-300]; 'M-300' is no size with those that '--size' gives
// RUN: sed 's/constant 300/constant 5000/; s/%x.300./%x[5000]/' %s > %t.mlir
// RUN: not mhcc %t.mlir --verify --entry=shorter 2>&1 | FileCheck %s --check-prefix=FAR
// FAR: mhcc: error: no sizes up to 4096 were found for entry 'shorter'; needed M-5000 of at least 1; give some by '--size'

func.func @products(%x: tensor<?x?xf32> {mhc.name = "x"}, %y: tensor<?x?xf32> {mhc.name = "y"})
    -> (tensor<f32> {mhc.name = "z"}) {
  %a = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %b = tensor.collapse_shape %y [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %p = arith.mulf %a, %b : tensor<?xf32>
  %z = mhc.reduce sum %p dims = [0] : tensor<?xf32> -> tensor<f32>
  return %z : tensor<f32>
}

func.func @thirds(%x: tensor<?x?xf32> {mhc.name = "x"}, %y: tensor<?x3xf32> {mhc.name = "y"})
    -> (tensor<f32> {mhc.name = "z"}) {
  %a = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %b = tensor.collapse_shape %y [[0, 1]] : tensor<?x3xf32> into tensor<?xf32>
  %p = arith.mulf %a, %b : tensor<?xf32>
  %z = mhc.reduce sum %p dims = [0] : tensor<?xf32> -> tensor<f32>
  return %z : tensor<f32>
}

func.func @squares(%x: tensor<?x?xf32> {mhc.name = "x"}, %y: tensor<?x2xf32> {mhc.name = "y"})
    -> (tensor<f32> {mhc.name = "z"}) {
  %t = mhc.transpose %x perm = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
  %s = arith.mulf %t, %x : tensor<?x?xf32>
  %a = tensor.collapse_shape %s [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %b = tensor.collapse_shape %y [[0, 1]] : tensor<?x2xf32> into tensor<?xf32>
  %p = arith.mulf %a, %b : tensor<?xf32>
  %z = mhc.reduce sum %p dims = [0] : tensor<?xf32> -> tensor<f32>
  return %z : tensor<f32>
}

func.func @shorter(%x: tensor<?xf32> {mhc.name = "x"}, %y: tensor<?xf32> {mhc.name = "y"})
    -> (tensor<?xf32> {mhc.name = "z"}) {
  %c0 = arith.constant 0 : index
  %c300 = arith.constant 300 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %less = arith.subi %m, %c300 : index
  %rest = tensor.extract_slice %x[300] [%less] [1] : tensor<?xf32> to tensor<?xf32>
  %z = arith.mulf %rest, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}
