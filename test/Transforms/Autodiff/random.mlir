// RUN: mhc-opt %s -mhc-autodiff=function=f | FileCheck %s

// The backward pass draws the numbers again: it needs the seed, and no mask is saved.
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[SEED:.*]]: tensor<2xi64> {mhc.name = "arg1"}, %[[G:.*]]: tensor<?x8xbf16> {mhc.name = "d_result0"})
// CHECK: %[[WIDE:.*]] = arith.extf %[[G]]
// CHECK: %[[D:.*]] = mhc.dropout(x = %[[WIDE]] : tensor<?x8xf32>, seed = %[[SEED]] : tensor<2xi64>)
// CHECK-SAME: <rate = 2.5e-01, stream = 6>
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[D]]
// CHECK: return %[[ROUNDED]]
func.func @f(%x: tensor<?x8xbf16>, %seed: tensor<2xi64>) -> tensor<?x8xbf16> {
  %out = mhc.dropout(x = %x : tensor<?x8xbf16>, seed = %seed : tensor<2xi64>) <rate = 0.25, stream = 6> -> (out : tensor<?x8xbf16>)
  return %out : tensor<?x8xbf16>
}
