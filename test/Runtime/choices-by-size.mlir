// A side may read what is there only where sizes take the side.
// RUN: mhcc %s --verify --size=M=0 | FileCheck %s
// RUN: mhcc %s --verify --size=M=4 | FileCheck %s
// RUN: mhcc %s --verify --size=M=39 | FileCheck %s
// RUN: mhcc %s --verify --size=M=41 | FileCheck %s
// RUN: mhcc %s --verify --size=M=4 --fuse=none | FileCheck %s
// CHECK: entry slice
// CHECK: y: verified
// CHECK: entry row
// CHECK: y: verified
// CHECK: entry known
// CHECK: y: verified
// CHECK: entry element
// CHECK: y: verified

func.func @slice(%x: tensor<?x4xf32>) -> (tensor<4x4xf32> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c40 = arith.constant 40 : index
  %zeros = arith.constant dense<0.0> : tensor<4x4xf32>
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %c = arith.cmpi uge, %M, %c40 : index
  %y = scf.if %c -> tensor<4x4xf32> {
    %0 = tensor.extract_slice %x[36, 0] [4, 4] [1, 1] : tensor<?x4xf32> to tensor<4x4xf32>
    scf.yield %0 : tensor<4x4xf32>
  } else {
    scf.yield %zeros : tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}

func.func @row(%x: tensor<?x4xf32>) -> (tensor<4xf32> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %ones = arith.constant dense<1.0> : tensor<4xf32>
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %c = arith.cmpi eq, %M, %c0 : index
  %y = scf.if %c -> tensor<4xf32> {
    scf.yield %ones : tensor<4xf32>
  } else {
    %0 = tensor.extract_slice %x[0, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

func.func @known(%x: tensor<?x4xf32>) -> (tensor<4x4xf32> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zeros = arith.constant dense<0.0> : tensor<4x4xf32>
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %c = arith.cmpi eq, %M, %c4 : index
  %y = scf.if %c -> tensor<4x4xf32> {
    %0 = tensor.cast %x : tensor<?x4xf32> to tensor<4x4xf32>
    scf.yield %0 : tensor<4x4xf32>
  } else {
    scf.yield %zeros : tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}

func.func @element(%x: tensor<?x4xf32>) -> (tensor<1xf32> {mhc.name = "y"}) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %c = arith.cmpi sgt, %M, %c0 : index
  %y = scf.if %c -> f32 {
    %0 = tensor.extract %x[%c0, %c0] : tensor<?x4xf32>
    scf.yield %0 : f32
  } else {
    scf.yield %one : f32
  }
  %tensor = tensor.from_elements %y : tensor<1xf32>
  return %tensor : tensor<1xf32>
}
