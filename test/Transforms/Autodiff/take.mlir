// RUN: mhc-opt %s -split-input-file -mhc-autodiff=function=f | FileCheck %s

// The table is not read backwards; the sum starts from zeros.
// CHECK-LABEL: func.func @f_bwd
// CHECK-SAME: (%[[IDS:.*]]: tensor<?xi32> {mhc.name = "arg1"}, %[[G:.*]]: tensor<?x8xf32> {mhc.name = "d_result0"})
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<16x8xf32>
// CHECK: %[[D:.*]] = mhc.take_bwd(d_out = %[[G]] : tensor<?x8xf32>, ids = %[[IDS]] : tensor<?xi32>,
// CHECK-SAME: d_table_in = %[[ZEROS]] : tensor<16x8xf32>)
// CHECK: return %[[D]]
func.func @f(%table: tensor<16x8xf32>, %ids: tensor<?xi32>) -> tensor<?x8xf32> {
  %out = mhc.take(table = %table : tensor<16x8xf32>, ids = %ids : tensor<?xi32>) -> (out : tensor<?x8xf32>)
  return %out : tensor<?x8xf32>
}

// -----

// The sum starts from the table's gradient from elsewhere: no pass of its own adds it.
// CHECK-LABEL: func.func @f_bwd
// CHECK: %[[OTHER:.*]] = mhc.matmul {{.*}} transpose_lhs
// CHECK: %[[D:.*]] = mhc.take_bwd({{.*}}d_table_in = %[[OTHER]] : tensor<16x8xf32>)
// CHECK-NOT: arith.addf
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[D]] : tensor<16x8xf32> to tensor<16x8xbf16>
// CHECK: return %[[ROUNDED]]
func.func @f(%table: tensor<16x8xbf16>, %ids: tensor<?xi32>) -> tensor<?x16xbf16> {
  %out = mhc.take(table = %table : tensor<16x8xbf16>, ids = %ids : tensor<?xi32>) -> (out : tensor<?x8xbf16>)
  %logits = mhc.matmul %out, %table transpose_rhs : (tensor<?x8xbf16>, tensor<16x8xbf16>) -> tensor<?x16xbf16>
  return %logits : tensor<?x16xbf16>
}
