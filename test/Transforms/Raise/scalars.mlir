// RUN: mhc-opt %s -mhc-raise -mhc-fuse | FileCheck %s
// RUN: mhcc %s --verify

// Exporters read alpha element by element: the number is repeated, or the body of a linalg op reads it. It is a slice.

// One of three, repeated.
// CHECK-LABEL: @splat3(
// CHECK: %[[ALPHA:.*]] = tensor.extract_slice %arg2[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
// CHECK: mhc.head({{.*}}alpha = %[[ALPHA]]
func.func @splat3(%x: tensor<?x4x64xf32> {mhc.name = "x"}, %phi: tensor<4x256xf32> {mhc.name = "phi"},
                %alpha: tensor<3xf32> {mhc.name = "alpha"}, %beta: tensor<4xf32> {mhc.name = "beta"})
    -> (tensor<?x64xf32> {mhc.name = "u"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %eps = arith.constant 1.0e-06 : f32
  %eps_all = tensor.splat %eps[%M] : tensor<?xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %h = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x256xf32>, tensor<4x256xf32>) -> tensor<?x4xf32>
  %square = arith.mulf %flat, %flat : tensor<?x256xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %mean_eps = arith.addf %mean, %eps_all : tensor<?xf32>
  %s = math.rsqrt %mean_eps : tensor<?xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %t = arith.mulf %h, %s_all : tensor<?x4xf32>
  %a = tensor.extract %alpha[%c1] : tensor<3xf32>
  %alpha_all = tensor.splat %a[%M] : tensor<?x4xf32>
  %scaled = arith.mulf %t, %alpha_all : tensor<?x4xf32>
  %beta_all = mhc.broadcast %beta[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %z = arith.addf %scaled, %beta_all : tensor<?x4xf32>
  %h_pre = mhc.sigmoid %z : tensor<?x4xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %products = arith.mulf %x, %weights : tensor<?x4x64xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %u : tensor<?x64xf32>
}

// A tensor of rank 0, times a number.
// CHECK-LABEL: @scaled0(
// CHECK: mhc.head(
func.func @scaled0(%x: tensor<?x4x64xf32> {mhc.name = "x"}, %phi: tensor<4x256xf32> {mhc.name = "phi"},
                %alpha: tensor<f32> {mhc.name = "alpha"}, %beta: tensor<4xf32> {mhc.name = "beta"})
    -> (tensor<?x64xf32> {mhc.name = "u"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %eps = arith.constant 1.0e-06 : f32
  %eps_all = tensor.splat %eps[%M] : tensor<?xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %h = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x256xf32>, tensor<4x256xf32>) -> tensor<?x4xf32>
  %square = arith.mulf %flat, %flat : tensor<?x256xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %mean_eps = arith.addf %mean, %eps_all : tensor<?xf32>
  %s = math.rsqrt %mean_eps : tensor<?xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %t = arith.mulf %h, %s_all : tensor<?x4xf32>
  %a0 = tensor.extract %alpha[] : tensor<f32>
  %two = arith.constant 0.5 : f32
  %a = arith.mulf %a0, %two : f32
  %alpha_all = tensor.splat %a[%M] : tensor<?x4xf32>
  %scaled = arith.mulf %t, %alpha_all : tensor<?x4xf32>
  %beta_all = mhc.broadcast %beta[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %z = arith.addf %scaled, %beta_all : tensor<?x4xf32>
  %h_pre = mhc.sigmoid %z : tensor<?x4xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %products = arith.mulf %x, %weights : tensor<?x4x64xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %u : tensor<?x64xf32>
}

// The only element, in a body that captures it.
// CHECK-LABEL: @outside1(
// CHECK: mhc.head({{.*}}alpha = %arg2
func.func @outside1(%x: tensor<?x4x64xf32> {mhc.name = "x"}, %phi: tensor<4x256xf32> {mhc.name = "phi"},
                %alpha: tensor<1xf32> {mhc.name = "alpha"}, %beta: tensor<4xf32> {mhc.name = "beta"})
    -> (tensor<?x64xf32> {mhc.name = "u"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %eps = arith.constant 1.0e-06 : f32
  %eps_all = tensor.splat %eps[%M] : tensor<?xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %h = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x256xf32>, tensor<4x256xf32>) -> tensor<?x4xf32>
  %square = arith.mulf %flat, %flat : tensor<?x256xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %mean_eps = arith.addf %mean, %eps_all : tensor<?xf32>
  %s = math.rsqrt %mean_eps : tensor<?xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %t = arith.mulf %h, %s_all : tensor<?x4xf32>
  %a = tensor.extract %alpha[%c0] : tensor<1xf32>
  %e = tensor.empty(%M) : tensor<?x4xf32>
  %scaled = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %w = arith.mulf %v, %a : f32
    linalg.yield %w : f32
  } -> tensor<?x4xf32>
  %beta_all = mhc.broadcast %beta[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %z = arith.addf %scaled, %beta_all : tensor<?x4xf32>
  %h_pre = mhc.sigmoid %z : tensor<?x4xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %products = arith.mulf %x, %weights : tensor<?x4x64xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %u : tensor<?x64xf32>
}

// One of two dimensions, read in the body.
// CHECK-LABEL: @body22(
// CHECK: mhc.head(
func.func @body22(%x: tensor<?x4x64xf32> {mhc.name = "x"}, %phi: tensor<4x256xf32> {mhc.name = "phi"},
                %alpha: tensor<2x2xf32> {mhc.name = "alpha"}, %beta: tensor<4xf32> {mhc.name = "beta"})
    -> (tensor<?x64xf32> {mhc.name = "u"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %eps = arith.constant 1.0e-06 : f32
  %eps_all = tensor.splat %eps[%M] : tensor<?xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x64xf32> into tensor<?x256xf32>
  %h = mhc.matmul %flat, %phi transpose_rhs : (tensor<?x256xf32>, tensor<4x256xf32>) -> tensor<?x4xf32>
  %square = arith.mulf %flat, %flat : tensor<?x256xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<?x256xf32> -> tensor<?xf32>
  %mean_eps = arith.addf %mean, %eps_all : tensor<?xf32>
  %s = math.rsqrt %mean_eps : tensor<?xf32>
  %s_all = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %t = arith.mulf %h, %s_all : tensor<?x4xf32>
  %e = tensor.empty(%M) : tensor<?x4xf32>
  %scaled = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %a = tensor.extract %alpha[%c1, %c0] : tensor<2x2xf32>
    %w = arith.mulf %v, %a : f32
    linalg.yield %w : f32
  } -> tensor<?x4xf32>
  %beta_all = mhc.broadcast %beta[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %z = arith.addf %scaled, %beta_all : tensor<?x4xf32>
  %h_pre = mhc.sigmoid %z : tensor<?x4xf32>
  %weights = mhc.broadcast %h_pre dims = [0, 1] : tensor<?x4xf32> -> tensor<?x4x64xf32>
  %products = arith.mulf %x, %weights : tensor<?x4x64xf32>
  %u = mhc.reduce sum %products dims = [1] : tensor<?x4x64xf32> -> tensor<?x64xf32>
  return %u : tensor<?x64xf32>
}

// Which element is read is not known: it is no slice that a kernel could be given.
// CHECK-LABEL: @unknown_place(
// CHECK: tensor.extract
func.func @unknown_place(%x: tensor<?x4xf32>, %alpha: tensor<3xf32>, %which: tensor<1xi64>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %number = tensor.extract %which[%c0] : tensor<1xi64>
  %place = arith.index_cast %number : i64 to index
  %a = tensor.extract %alpha[%place] : tensor<3xf32>
  %all = tensor.splat %a[%M] : tensor<?x4xf32>
  %y = arith.mulf %x, %all : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
