// The compiled kernels against the float64 evaluator, which draws its numbers one by one; dropout backwards as well.
// RUN: mhcc %s --fuse=none --grad=dropout --verify | FileCheck %s

// CHECK: entry normal
// CHECK-NEXT: out: verified
func.func @normal(%seed: tensor<2xi64>) -> (tensor<1001xf32> {mhc.name = "out"}) {
  %out = mhc.random(seed = %seed : tensor<2xi64>) <distribution = normal, stream = 3> -> (out : tensor<1001xf32>)
  return %out : tensor<1001xf32>
}

// CHECK: entry uniform
// CHECK-NEXT: out: verified
func.func @uniform(%seed: tensor<2xi64>) -> (tensor<5x7xf32> {mhc.name = "out"}) {
  %out = mhc.random(seed = %seed : tensor<2xi64>) <distribution = uniform, stream = 9> -> (out : tensor<35xf32>)
  %rows = tensor.expand_shape %out [[0, 1]] output_shape [5, 7] : tensor<35xf32> into tensor<5x7xf32>
  return %rows : tensor<5x7xf32>
}

// CHECK: entry dropout
// CHECK-NEXT: out: verified
// CHECK: entry dropout_grad
// CHECK-NEXT: out: verified
// CHECK-NEXT: d_x: verified
func.func @dropout(%x: tensor<?x77xbf16> {mhc.name = "x"}, %seed: tensor<2xi64> {mhc.name = "seed"})
    -> (tensor<?x77xbf16> {mhc.name = "out"}) {
  %out = mhc.dropout(x = %x : tensor<?x77xbf16>, seed = %seed : tensor<2xi64>) <rate = 0.25, stream = 2>
    -> (out : tensor<?x77xbf16>)
  return %out : tensor<?x77xbf16>
}
