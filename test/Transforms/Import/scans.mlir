// Prefix sums and products as torch-mlir writes them.
// RUN: mhc-opt %s --mhc-import | FileCheck %s

// Their numbers, fused or not, are those of a program that writes each step out.
// RUN: mhcc %s --run=spelled --arg %S/../../Tools/Inputs/y.npy --out sums=%t.sums.npy --out products=%t.products.npy \
// RUN:   --out last=%t.last.npy
// RUN: mhcc %s --run=scanned --arg %S/../../Tools/Inputs/y.npy --expect sums=%t.sums.npy \
// RUN:   --expect products=%t.products.npy --expect last=%t.last.npy | FileCheck %s --check-prefix=NUMBERS
// RUN: mhcc %s --fuse=none --run=scanned --arg %S/../../Tools/Inputs/y.npy --expect sums=%t.sums.npy \
// RUN:   --expect products=%t.products.npy --expect last=%t.last.npy | FileCheck %s --check-prefix=NUMBERS
// NUMBERS-COUNT-3: match, max abs error 0,

// A scan of static size has a gradient.
// RUN: mhcc %s --grad=products --verify | FileCheck %s --check-prefix=GRADIENT
// GRADIENT: d_x: verified

// An empty one has no first element.
// RUN: sed 's/(3, 4)/(0, 4)/' %S/../../Tools/Inputs/y.npy | head -c 128 > %t.empty.npy
// RUN: not mhcc %s --run=scanned --arg %t.empty.npy 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: entry 'scanned': the size of a slice in dimension 0 is 1; needed 0 (at scans.mlir:

// CHECK-LABEL: func @scanned
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x4xf32>
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %[[X]][%{{.*}}, 0] [1, 4]
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}}, %[[LAST:.*]] = %[[FIRST]])
// CHECK: %[[ROW:.*]] = tensor.extract_slice %[[X]][%[[I]], 0] [1, 4]
// CHECK: arith.addf %[[LAST]], %[[ROW]] : tensor<4xf32>
func.func @scanned(%x: tensor<?x4xf32> {mhc.dims = ["M", "4"]})
    -> (tensor<?x4xf32> {mhc.name = "sums"}, tensor<?x4xf32> {mhc.name = "products"}, tensor<4xf32> {mhc.name = "last"}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%m) : tensor<?x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x4xf32>) -> tensor<?x4xf32>
  %row = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %sums:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<?x4xf32>)
      outs(%zeros, %start : tensor<?x4xf32>, tensor<4xf32>) {
  ^bb0(%sum: f32, %new: f32):
    %next = arith.addf %sum, %new : f32
    tm_tensor.yield %next : f32
  } -> tensor<?x4xf32>, tensor<4xf32>
  %products = func.call @products_of(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %sums#0, %products, %sums#1 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>
}

// Not inclusive, so that each element is the product of those before it, from 0.5 on.
func.func private @products_of(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%m) : tensor<?x4xf32>
  %column = tensor.empty(%m) : tensor<?xf32>
  %start = linalg.fill ins(%half : f32) outs(%column : tensor<?xf32>) -> tensor<?xf32>
  %products:2 = tm_tensor.scan dimension(1) inclusive(false) ins(%x : tensor<?x4xf32>)
      outs(%empty, %start : tensor<?x4xf32>, tensor<?xf32>) {
  ^bb0(%product: f32, %new: f32):
    %next = arith.mulf %product, %new : f32
    tm_tensor.yield %next : f32
  } -> tensor<?x4xf32>, tensor<?xf32>
  return %products#0 : tensor<?x4xf32>
}
func.func @products(%x: tensor<?x4xf32> {mhc.name = "x"}) -> tensor<?x4xf32> {
  %products = func.call @products_of(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %products : tensor<?x4xf32>
}

func.func @spelled(%x: tensor<3x4xf32>)
    -> (tensor<3x4xf32> {mhc.name = "sums"}, tensor<3x4xf32> {mhc.name = "products"}, tensor<4xf32> {mhc.name = "last"}) {
  %0 = tensor.extract_slice %x[0, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<1x4xf32>
  %x1 = tensor.extract_slice %x[1, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<1x4xf32>
  %x2 = tensor.extract_slice %x[2, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<1x4xf32>
  %1 = arith.addf %0, %x1 : tensor<1x4xf32>
  %2 = arith.addf %1, %x2 : tensor<1x4xf32>
  %sums = tensor.concat dim(0) %0, %1, %2 : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %last = tensor.collapse_shape %2 [[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
  %p0 = arith.constant dense<0.5> : tensor<3x1xf32>
  %y0 = tensor.extract_slice %x[0, 0] [3, 1] [1, 1] : tensor<3x4xf32> to tensor<3x1xf32>
  %y1 = tensor.extract_slice %x[0, 1] [3, 1] [1, 1] : tensor<3x4xf32> to tensor<3x1xf32>
  %y2 = tensor.extract_slice %x[0, 2] [3, 1] [1, 1] : tensor<3x4xf32> to tensor<3x1xf32>
  %p1 = arith.mulf %p0, %y0 : tensor<3x1xf32>
  %p2 = arith.mulf %p1, %y1 : tensor<3x1xf32>
  %p3 = arith.mulf %p2, %y2 : tensor<3x1xf32>
  %products = tensor.concat dim(1) %p0, %p1, %p2, %p3
    : (tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  return %sums, %products, %last : tensor<3x4xf32>, tensor<3x4xf32>, tensor<4xf32>
}

// A scan of constants is a constant, along either dimension.
// CHECK-LABEL: func @constants
func.func @constants() -> (tensor<2x3xi64>, tensor<2xi64>, tensor<2x3xi64>) {
  // CHECK-DAG: %[[SUMS:.*]] = arith.constant dense<{{\[\[}}4, 8, 24], [1, 3, 6]]> : tensor<2x3xi64>
  // CHECK-DAG: %[[LAST:.*]] = arith.constant dense<[24, 6]> : tensor<2xi64>
  // CHECK-DAG: %[[BEFORE:.*]] = arith.constant dense<{{\[\[}}7, 8, 9], [11, 12, 25]]> : tensor<2x3xi64>
  // CHECK: return %[[SUMS]], %[[LAST]], %[[BEFORE]]
  %x = arith.constant dense<[[4, 4, 16], [1, 2, 3]]> : tensor<2x3xi64>
  %empty = tensor.empty() : tensor<2x3xi64>
  %start = tensor.empty() : tensor<2xi64>
  %sums:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<2x3xi64>)
      outs(%empty, %start : tensor<2x3xi64>, tensor<2xi64>) {
  ^bb0(%sum: i64, %new: i64):
    %next = arith.addi %sum, %new : i64
    tm_tensor.yield %next : i64
  } -> tensor<2x3xi64>, tensor<2xi64>
  %sevens = arith.constant dense<[7, 8, 9]> : tensor<3xi64>
  %before:2 = tm_tensor.scan dimension(0) inclusive(false) ins(%x : tensor<2x3xi64>)
      outs(%empty, %sevens : tensor<2x3xi64>, tensor<3xi64>) {
  ^bb0(%sum: i64, %new: i64):
    %next = arith.addi %sum, %new : i64
    tm_tensor.yield %next : i64
  } -> tensor<2x3xi64>, tensor<3xi64>
  return %sums#0, %sums#1, %before#0 : tensor<2x3xi64>, tensor<2xi64>, tensor<2x3xi64>
}

// The last of an exclusive scan whose types know less than each other.
// CHECK-LABEL: func @open_start
// CHECK: tensor.cast %{{.*}} : tensor<?xf32> to tensor<4xf32>
// CHECK: scf.for
func.func @open_start(%x: tensor<?x4xf32>, %start: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%m) : tensor<?x4xf32>
  %sums:2 = tm_tensor.scan dimension(0) inclusive(false) ins(%x : tensor<?x4xf32>)
      outs(%empty, %start : tensor<?x4xf32>, tensor<?xf32>) {
  ^bb0(%sum: f32, %new: f32):
    %next = arith.maximumf %sum, %new : f32
    tm_tensor.yield %next : f32
  } -> tensor<?x4xf32>, tensor<?xf32>
  return %sums#1 : tensor<?xf32>
}
