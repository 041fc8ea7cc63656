// RUN: mhc-opt %s | FileCheck %s
// RUN: mhc-opt %s -emit-bytecode | mhc-opt | FileCheck %s

// CHECK-LABEL: @take
func.func @take(%table: tensor<256x64xbf16>, %ids: tensor<?xi32>) -> tensor<?x64xbf16> {
  // CHECK: %out = mhc.take(table = %{{.*}} : tensor<256x64xbf16>, ids = %{{.*}} : tensor<?xi32>) -> (out : tensor<?x64xbf16>)
  %out = mhc.take(table = %table : tensor<256x64xbf16>, ids = %ids : tensor<?xi32>) -> (out : tensor<?x64xbf16>)
  return %out : tensor<?x64xbf16>
}

// CHECK-LABEL: @take_bwd
func.func @take_bwd(%d_out: tensor<5x?xf16>, %ids: tensor<5xi32>, %sum: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // CHECK: %d_table = mhc.take_bwd(d_out = %{{.*}} : tensor<5x?xf16>, ids = %{{.*}} : tensor<5xi32>, d_table_in = %{{.*}} : tensor<?x?xf32>) -> (d_table : tensor<?x?xf32>)
  %d_table = mhc.take_bwd(d_out = %d_out : tensor<5x?xf16>, ids = %ids : tensor<5xi32>, d_table_in = %sum : tensor<?x?xf32>)
    -> (d_table : tensor<?x?xf32>)
  return %d_table : tensor<?x?xf32>
}
