// RUN: mhc-opt %s | FileCheck %s
// RUN: mhc-opt %s -emit-bytecode | mhc-opt | FileCheck %s

// CHECK-LABEL: @unary
func.func @unary(%x: tensor<?x4xbf16>) -> tensor<?x4xbf16> {
  // CHECK: mhc.sigmoid %{{.*}} : tensor<?x4xbf16>
  %a = mhc.sigmoid %x : tensor<?x4xbf16>
  // CHECK: mhc.silu %{{.*}} : tensor<?x4xbf16>
  %b = mhc.silu %a : tensor<?x4xbf16>
  // CHECK: mhc.softplus %{{.*}} : tensor<?x4xbf16>
  %c = mhc.softplus %b : tensor<?x4xbf16>
  return %c : tensor<?x4xbf16>
}

// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
  // CHECK: mhc.softmax %{{.*}} dim = 2 : tensor<?x4x4xf32>
  %out = mhc.softmax %x dim = 2 : tensor<?x4x4xf32>
  return %out : tensor<?x4x4xf32>
}

// CHECK-LABEL: @rms_norm
func.func @rms_norm(%x: tensor<?x256xf16>, %w: tensor<256xf16>) -> tensor<?x256xf16> {
  // CHECK: mhc.rms_norm %{{.*}}, %{{.*}} eps = {{.*}} : tensor<?x256xf16>, tensor<256xf16>
  %a = mhc.rms_norm %x, %w eps = 1.0e-06 : tensor<?x256xf16>, tensor<256xf16>
  // CHECK: mhc.rms_norm %{{[^,]*}} eps = 0.000000e+00 : tensor<?x256xf16>
  %b = mhc.rms_norm %a eps = 0.0 : tensor<?x256xf16>
  return %b : tensor<?x256xf16>
}

// CHECK-LABEL: @reduce
func.func @reduce(%x: tensor<?x4x8xf32>) -> (tensor<?x8xf32>, tensor<f32>, tensor<?x4x8xf32>) {
  // CHECK: mhc.reduce sum %{{.*}} dims = [1] : tensor<?x4x8xf32> -> tensor<?x8xf32>
  %a = mhc.reduce sum %x dims = [1] : tensor<?x4x8xf32> -> tensor<?x8xf32>
  // CHECK: mhc.reduce max %{{.*}} dims = [0, 1, 2] : tensor<?x4x8xf32> -> tensor<f32>
  %b = mhc.reduce max %x dims = [0, 1, 2] : tensor<?x4x8xf32> -> tensor<f32>
  // CHECK: mhc.reduce mean %{{.*}} dims = [] : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
  %c = mhc.reduce mean %x dims = [] : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
  return %a, %b, %c : tensor<?x8xf32>, tensor<f32>, tensor<?x4x8xf32>
}

// CHECK-LABEL: @broadcast_of_integers
func.func @broadcast_of_integers(%ids: tensor<7xi32>) -> tensor<7x5xi32> {
  // CHECK: mhc.broadcast %{{.*}} dims = [0] : tensor<7xi32> -> tensor<7x5xi32>
  %out = mhc.broadcast %ids dims = [0] : tensor<7xi32> -> tensor<7x5xi32>
  return %out : tensor<7x5xi32>
}

// CHECK-LABEL: @broadcast
func.func @broadcast(%beta: tensor<24xf32>, %s: tensor<?x1xf32>, %zero: tensor<f32>, %M: index)
    -> (tensor<?x24xf32>, tensor<?x24xf32>, tensor<2x?xf32>) {
  // CHECK: mhc.broadcast %{{.*}}[%{{.*}}] dims = [1] : tensor<24xf32> -> tensor<?x24xf32>
  %a = mhc.broadcast %beta[%M] dims = [1] : tensor<24xf32> -> tensor<?x24xf32>
  // CHECK: mhc.broadcast %{{.*}} dims = [0, 1] : tensor<?x1xf32> -> tensor<?x24xf32>
  %b = mhc.broadcast %s dims = [0, 1] : tensor<?x1xf32> -> tensor<?x24xf32>
  // CHECK: mhc.broadcast %{{.*}}[%{{.*}}] dims = [] : tensor<f32> -> tensor<2x?xf32>
  %c = mhc.broadcast %zero[%M] dims = [] : tensor<f32> -> tensor<2x?xf32>
  return %a, %b, %c : tensor<?x24xf32>, tensor<?x24xf32>, tensor<2x?xf32>
}

// CHECK-LABEL: @transpose
func.func @transpose(%x: tensor<?x4x8xf32>) -> tensor<8x?x4xf32> {
  // CHECK: mhc.transpose %{{.*}} perm = [2, 0, 1] : tensor<?x4x8xf32> -> tensor<8x?x4xf32>
  %out = mhc.transpose %x perm = [2, 0, 1] : tensor<?x4x8xf32> -> tensor<8x?x4xf32>
  return %out : tensor<8x?x4xf32>
}
