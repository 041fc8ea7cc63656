// RUN: mhc-opt %s | FileCheck %s
// RUN: mhc-opt %s -emit-bytecode | mhc-opt | FileCheck %s

// CHECK-LABEL: @streams_first
func.func @streams_first(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) -> tensor<?x64xbf16> {
  // CHECK: %[[U:.*]] = mhc.aggregate(x = %{{.*}} : tensor<?x4x64xbf16>, h_pre = %{{.*}} : tensor<?x4xf32>)
  // CHECK-SAME: <layout = nC> -> (u : tensor<?x64xbf16>)
  // CHECK-NEXT: return %[[U]]
  %u = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  return %u : tensor<?x64xbf16>
}

// CHECK-LABEL: @streams_last_static
func.func @streams_last_static(%x: tensor<2x64x4xf32>, %h_pre: tensor<2x4xf32>) -> tensor<2x64xf32> {
  // CHECK: mhc.aggregate({{.*}}) <layout = Cn> -> (u : tensor<2x64xf32>)
  %u = mhc.aggregate(x = %x : tensor<2x64x4xf32>, h_pre = %h_pre : tensor<2x4xf32>) <layout = Cn>
    -> (u : tensor<2x64xf32>)
  return %u : tensor<2x64xf32>
}

// The operands may come in any order; the printed form has the record's.
// CHECK-LABEL: @any_order_any_channels
func.func @any_order_any_channels(%x: tensor<?x1x?xf16>, %h_pre: tensor<?x1xf32>) -> tensor<?x?xf16> {
  // CHECK: mhc.aggregate(x = %{{.*}}, h_pre = %{{.*}}) <layout = nC> -> (u : tensor<?x?xf16>) {note = 1 : i64}
  %u = mhc.aggregate(h_pre = %h_pre : tensor<?x1xf32>, x = %x : tensor<?x1x?xf16>) <layout = nC>
    -> (u : tensor<?x?xf16>) {note = 1}
  return %u : tensor<?x?xf16>
}

// Results are called by the names of the record.
// CHECK-LABEL: @result_name
func.func @result_name(%x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>) -> tensor<?x64xbf16> {
  // CHECK: %u = mhc.aggregate
  %0 = mhc.aggregate(x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xbf16>)
  return %0 : tensor<?x64xbf16>
}

// CHECK-LABEL: @gradient_of_the_weights_only
func.func @gradient_of_the_weights_only(%d_u: tensor<?x64xf16>, %x: tensor<?x64x4xf16>, %h_pre: tensor<?x4xf32>)
    -> tensor<?x4xf32> {
  // CHECK: %[[D:.*]] = mhc.aggregate_bwd(d_u = %{{.*}}, x = %{{.*}}, h_pre = %{{.*}}) <layout = Cn> -> (d_h_pre : tensor<?x4xf32>)
  // CHECK-NEXT: return %[[D]]
  %d_h_pre = mhc.aggregate_bwd(d_u = %d_u : tensor<?x64xf16>, x = %x : tensor<?x64x4xf16>, h_pre = %h_pre : tensor<?x4xf32>)
    <layout = Cn> -> (d_h_pre : tensor<?x4xf32>)
  return %d_h_pre : tensor<?x4xf32>
}

// CHECK-LABEL: @gradient_from_a_start
func.func @gradient_from_a_start(%d_u: tensor<?x64xbf16>, %x: tensor<?x4x64xbf16>, %h_pre: tensor<?x4xf32>,
                                 %start: tensor<?x4x64xf32>) -> tensor<?x4x64xbf16> {
  // CHECK: mhc.aggregate_bwd({{.*}}d_x_in = %{{.*}} : tensor<?x4x64xf32>) <layout = nC> -> (d_x : tensor<?x4x64xbf16>)
  %d_x = mhc.aggregate_bwd(d_u = %d_u : tensor<?x64xbf16>, x = %x : tensor<?x4x64xbf16>, h_pre = %h_pre : tensor<?x4xf32>,
      d_x_in = %start : tensor<?x4x64xf32>) <layout = nC> -> (d_x : tensor<?x4x64xbf16>)
  return %d_x : tensor<?x4x64xbf16>
}
