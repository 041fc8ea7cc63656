// RUN: mhc-opt %s --mhc-raise | FileCheck %s

// One product whose columns feed several consumers: a projection reads its columns of the weight.

// CHECK-LABEL: @columns_for_something_else(
// CHECK-DAG: %[[PHI:.*]] = tensor.extract_slice %arg1[0, 0] [64, 8] [1, 1]
// CHECK-DAG: %[[BETA:.*]] = tensor.extract_slice %arg3[0] [8] [1]
// CHECK-DAG: %[[ALL:.*]] = mhc.matmul
// CHECK-DAG: mhc.projection(x = %arg0 : tensor<?x2x32xf32>, phi = %[[PHI]] : tensor<64x8xf32>)
// CHECK: %[[PRE:.*]], %[[POST:.*]], %{{.*}} = mhc.gates({{.*}} alpha = %arg2 : tensor<3xf32>, beta = %[[BETA]] : tensor<8xf32>)
// CHECK: %[[REST:.*]] = tensor.extract_slice %[[ALL]][0, 8]
// CHECK: return %[[PRE]], %[[POST]], %{{.*}}, %[[REST]]
func.func @columns_for_something_else(%x: tensor<?x2x32xf32>, %phi: tensor<64x20xf32>, %alpha: tensor<3xf32>, %beta: tensor<20xf32>)
    -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2x2xf32>, tensor<?x12xf32>) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x2x32xf32>
  %eps1 = arith.constant 1.0e-06 : f32
  %eps = tensor.splat %eps1[%M] : tensor<?xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x2x32xf32> into tensor<?x64xf32>
  %proj = mhc.matmul %flat, %phi : (tensor<?x64xf32>, tensor<64x20xf32>) -> tensor<?x20xf32>
  %square = arith.mulf %flat, %flat : tensor<?x64xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<?x64xf32> -> tensor<?xf32>
  %ms_eps = arith.addf %ms, %eps : tensor<?xf32>
  %s = math.rsqrt %ms_eps : tensor<?xf32>
  %pp0 = tensor.extract_slice %proj[0, 0] [%M, 2] [1, 1] : tensor<?x20xf32> to tensor<?x2xf32>
  %sp0 = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x2xf32>
  %np0 = arith.mulf %pp0, %sp0 : tensor<?x2xf32>
  %ap0 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<f32>
  %awp0 = mhc.broadcast %ap0[%M] dims = [] : tensor<f32> -> tensor<?x2xf32>
  %pap0 = arith.mulf %np0, %awp0 : tensor<?x2xf32>
  %bp0 = tensor.extract_slice %beta[0] [2] [1] : tensor<20xf32> to tensor<2xf32>
  %bwp0 = mhc.broadcast %bp0[%M] dims = [1] : tensor<2xf32> -> tensor<?x2xf32>
  %zp0 = arith.addf %pap0, %bwp0 : tensor<?x2xf32>
  %gp0 = mhc.sigmoid %zp0 : tensor<?x2xf32>
  %pp1 = tensor.extract_slice %proj[0, 2] [%M, 2] [1, 1] : tensor<?x20xf32> to tensor<?x2xf32>
  %sp1 = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x2xf32>
  %np1 = arith.mulf %pp1, %sp1 : tensor<?x2xf32>
  %ap1 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<f32>
  %awp1 = mhc.broadcast %ap1[%M] dims = [] : tensor<f32> -> tensor<?x2xf32>
  %pap1 = arith.mulf %np1, %awp1 : tensor<?x2xf32>
  %bp1 = tensor.extract_slice %beta[2] [2] [1] : tensor<20xf32> to tensor<2xf32>
  %bwp1 = mhc.broadcast %bp1[%M] dims = [1] : tensor<2xf32> -> tensor<?x2xf32>
  %zp1 = arith.addf %pap1, %bwp1 : tensor<?x2xf32>
  %gp1 = mhc.sigmoid %zp1 : tensor<?x2xf32>
  %pp2 = tensor.extract_slice %proj[0, 4] [%M, 4] [1, 1] : tensor<?x20xf32> to tensor<?x4xf32>
  %sp2 = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %np2 = arith.mulf %pp2, %sp2 : tensor<?x4xf32>
  %ap2 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<f32>
  %awp2 = mhc.broadcast %ap2[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %pap2 = arith.mulf %np2, %awp2 : tensor<?x4xf32>
  %bp2 = tensor.extract_slice %beta[4] [4] [1] : tensor<20xf32> to tensor<4xf32>
  %bwp2 = mhc.broadcast %bp2[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %zp2 = arith.addf %pap2, %bwp2 : tensor<?x4xf32>
  %mp = tensor.expand_shape %zp2 [[0], [1, 2]] output_shape [%M, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  %hp = mhc.sinkhorn(logits = %mp : tensor<?x2x2xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 2> -> (mix : tensor<?x2x2xf32>)
  %rest = tensor.extract_slice %proj[0, 8] [%M, 12] [1, 1] : tensor<?x20xf32> to tensor<?x12xf32>
  return %gp0, %gp1, %hp, %rest : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2x2xf32>, tensor<?x12xf32>
}

// CHECK-LABEL: @coefficients_in_the_last_columns(
// CHECK-DAG: %[[PHI:.*]] = tensor.extract_slice %arg1[0, 12] [64, 8] [1, 1]
// CHECK-DAG: %[[BETA:.*]] = tensor.extract_slice %arg3[12] [8] [1]
// CHECK-DAG: mhc.projection(x = %arg0 : tensor<?x2x32xf32>, phi = %[[PHI]] : tensor<64x8xf32>)
// CHECK: mhc.gates({{.*}} alpha = %arg2 : tensor<3xf32>, beta = %[[BETA]] : tensor<8xf32>)
func.func @coefficients_in_the_last_columns(%x: tensor<?x2x32xf32>, %phi: tensor<64x20xf32>, %alpha: tensor<3xf32>, %beta: tensor<20xf32>)
    -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2x2xf32>, tensor<?x12xf32>) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x2x32xf32>
  %eps1 = arith.constant 1.0e-06 : f32
  %eps = tensor.splat %eps1[%M] : tensor<?xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x2x32xf32> into tensor<?x64xf32>
  %proj = mhc.matmul %flat, %phi : (tensor<?x64xf32>, tensor<64x20xf32>) -> tensor<?x20xf32>
  %square = arith.mulf %flat, %flat : tensor<?x64xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<?x64xf32> -> tensor<?xf32>
  %ms_eps = arith.addf %ms, %eps : tensor<?xf32>
  %s = math.rsqrt %ms_eps : tensor<?xf32>
  %pp0 = tensor.extract_slice %proj[0, 12] [%M, 2] [1, 1] : tensor<?x20xf32> to tensor<?x2xf32>
  %sp0 = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x2xf32>
  %np0 = arith.mulf %pp0, %sp0 : tensor<?x2xf32>
  %ap0 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<f32>
  %awp0 = mhc.broadcast %ap0[%M] dims = [] : tensor<f32> -> tensor<?x2xf32>
  %pap0 = arith.mulf %np0, %awp0 : tensor<?x2xf32>
  %bp0 = tensor.extract_slice %beta[12] [2] [1] : tensor<20xf32> to tensor<2xf32>
  %bwp0 = mhc.broadcast %bp0[%M] dims = [1] : tensor<2xf32> -> tensor<?x2xf32>
  %zp0 = arith.addf %pap0, %bwp0 : tensor<?x2xf32>
  %gp0 = mhc.sigmoid %zp0 : tensor<?x2xf32>
  %pp1 = tensor.extract_slice %proj[0, 14] [%M, 2] [1, 1] : tensor<?x20xf32> to tensor<?x2xf32>
  %sp1 = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x2xf32>
  %np1 = arith.mulf %pp1, %sp1 : tensor<?x2xf32>
  %ap1 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<f32>
  %awp1 = mhc.broadcast %ap1[%M] dims = [] : tensor<f32> -> tensor<?x2xf32>
  %pap1 = arith.mulf %np1, %awp1 : tensor<?x2xf32>
  %bp1 = tensor.extract_slice %beta[14] [2] [1] : tensor<20xf32> to tensor<2xf32>
  %bwp1 = mhc.broadcast %bp1[%M] dims = [1] : tensor<2xf32> -> tensor<?x2xf32>
  %zp1 = arith.addf %pap1, %bwp1 : tensor<?x2xf32>
  %gp1 = mhc.sigmoid %zp1 : tensor<?x2xf32>
  %pp2 = tensor.extract_slice %proj[0, 16] [%M, 4] [1, 1] : tensor<?x20xf32> to tensor<?x4xf32>
  %sp2 = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %np2 = arith.mulf %pp2, %sp2 : tensor<?x4xf32>
  %ap2 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<f32>
  %awp2 = mhc.broadcast %ap2[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %pap2 = arith.mulf %np2, %awp2 : tensor<?x4xf32>
  %bp2 = tensor.extract_slice %beta[16] [4] [1] : tensor<20xf32> to tensor<4xf32>
  %bwp2 = mhc.broadcast %bp2[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %zp2 = arith.addf %pap2, %bwp2 : tensor<?x4xf32>
  %mp = tensor.expand_shape %zp2 [[0], [1, 2]] output_shape [%M, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  %hp = mhc.sinkhorn(logits = %mp : tensor<?x2x2xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 2> -> (mix : tensor<?x2x2xf32>)
  %rest = tensor.extract_slice %proj[0, 0] [%M, 12] [1, 1] : tensor<?x20xf32> to tensor<?x12xf32>
  return %gp0, %gp1, %hp, %rest : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2x2xf32>, tensor<?x12xf32>
}

// CHECK-LABEL: @two_sites_side_by_side(
// CHECK-NOT: mhc.matmul
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %arg1[0, 0] [64, 8] [1, 1]
// CHECK: mhc.projection(x = %arg0 : tensor<?x2x32xf32>, phi = %[[FIRST]] : tensor<64x8xf32>)
// CHECK: %[[ALPHA:.*]] = tensor.extract_slice %arg2[0] [3] [1]
// CHECK: mhc.gates({{.*}} alpha = %[[ALPHA]] : tensor<3xf32>
// CHECK: %[[SECOND:.*]] = tensor.extract_slice %arg1[0, 8] [64, 8] [1, 1]
// CHECK: mhc.projection(x = %arg0 : tensor<?x2x32xf32>, phi = %[[SECOND]] : tensor<64x8xf32>)
// CHECK: %[[ALPHA:.*]] = tensor.extract_slice %arg2[3] [3] [1]
// CHECK: mhc.gates({{.*}} alpha = %[[ALPHA]] : tensor<3xf32>
// CHECK-NOT: mhc.matmul
func.func @two_sites_side_by_side(%x: tensor<?x2x32xf32>, %phi: tensor<64x16xf32>, %alpha: tensor<6xf32>, %beta: tensor<16xf32>)
    -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2x2xf32>) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x2x32xf32>
  %eps1 = arith.constant 1.0e-06 : f32
  %eps = tensor.splat %eps1[%M] : tensor<?xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x2x32xf32> into tensor<?x64xf32>
  %proj = mhc.matmul %flat, %phi : (tensor<?x64xf32>, tensor<64x16xf32>) -> tensor<?x16xf32>
  %square = arith.mulf %flat, %flat : tensor<?x64xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<?x64xf32> -> tensor<?xf32>
  %ms_eps = arith.addf %ms, %eps : tensor<?xf32>
  %s = math.rsqrt %ms_eps : tensor<?xf32>
  %pp0 = tensor.extract_slice %proj[0, 0] [%M, 2] [1, 1] : tensor<?x16xf32> to tensor<?x2xf32>
  %sp0 = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x2xf32>
  %np0 = arith.mulf %pp0, %sp0 : tensor<?x2xf32>
  %ap0 = tensor.extract_slice %alpha[0] [1] [1] : tensor<6xf32> to tensor<f32>
  %awp0 = mhc.broadcast %ap0[%M] dims = [] : tensor<f32> -> tensor<?x2xf32>
  %pap0 = arith.mulf %np0, %awp0 : tensor<?x2xf32>
  %bp0 = tensor.extract_slice %beta[0] [2] [1] : tensor<16xf32> to tensor<2xf32>
  %bwp0 = mhc.broadcast %bp0[%M] dims = [1] : tensor<2xf32> -> tensor<?x2xf32>
  %zp0 = arith.addf %pap0, %bwp0 : tensor<?x2xf32>
  %gp0 = mhc.sigmoid %zp0 : tensor<?x2xf32>
  %pp1 = tensor.extract_slice %proj[0, 2] [%M, 2] [1, 1] : tensor<?x16xf32> to tensor<?x2xf32>
  %sp1 = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x2xf32>
  %np1 = arith.mulf %pp1, %sp1 : tensor<?x2xf32>
  %ap1 = tensor.extract_slice %alpha[1] [1] [1] : tensor<6xf32> to tensor<f32>
  %awp1 = mhc.broadcast %ap1[%M] dims = [] : tensor<f32> -> tensor<?x2xf32>
  %pap1 = arith.mulf %np1, %awp1 : tensor<?x2xf32>
  %bp1 = tensor.extract_slice %beta[2] [2] [1] : tensor<16xf32> to tensor<2xf32>
  %bwp1 = mhc.broadcast %bp1[%M] dims = [1] : tensor<2xf32> -> tensor<?x2xf32>
  %zp1 = arith.addf %pap1, %bwp1 : tensor<?x2xf32>
  %gp1 = mhc.sigmoid %zp1 : tensor<?x2xf32>
  %pp2 = tensor.extract_slice %proj[0, 4] [%M, 4] [1, 1] : tensor<?x16xf32> to tensor<?x4xf32>
  %sp2 = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %np2 = arith.mulf %pp2, %sp2 : tensor<?x4xf32>
  %ap2 = tensor.extract_slice %alpha[2] [1] [1] : tensor<6xf32> to tensor<f32>
  %awp2 = mhc.broadcast %ap2[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %pap2 = arith.mulf %np2, %awp2 : tensor<?x4xf32>
  %bp2 = tensor.extract_slice %beta[4] [4] [1] : tensor<16xf32> to tensor<4xf32>
  %bwp2 = mhc.broadcast %bp2[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %zp2 = arith.addf %pap2, %bwp2 : tensor<?x4xf32>
  %mp = tensor.expand_shape %zp2 [[0], [1, 2]] output_shape [%M, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  %hp = mhc.sinkhorn(logits = %mp : tensor<?x2x2xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 2> -> (mix : tensor<?x2x2xf32>)
  %pq0 = tensor.extract_slice %proj[0, 8] [%M, 2] [1, 1] : tensor<?x16xf32> to tensor<?x2xf32>
  %sq0 = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x2xf32>
  %nq0 = arith.mulf %pq0, %sq0 : tensor<?x2xf32>
  %aq0 = tensor.extract_slice %alpha[3] [1] [1] : tensor<6xf32> to tensor<f32>
  %awq0 = mhc.broadcast %aq0[%M] dims = [] : tensor<f32> -> tensor<?x2xf32>
  %paq0 = arith.mulf %nq0, %awq0 : tensor<?x2xf32>
  %bq0 = tensor.extract_slice %beta[8] [2] [1] : tensor<16xf32> to tensor<2xf32>
  %bwq0 = mhc.broadcast %bq0[%M] dims = [1] : tensor<2xf32> -> tensor<?x2xf32>
  %zq0 = arith.addf %paq0, %bwq0 : tensor<?x2xf32>
  %gq0 = mhc.sigmoid %zq0 : tensor<?x2xf32>
  %pq1 = tensor.extract_slice %proj[0, 10] [%M, 2] [1, 1] : tensor<?x16xf32> to tensor<?x2xf32>
  %sq1 = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x2xf32>
  %nq1 = arith.mulf %pq1, %sq1 : tensor<?x2xf32>
  %aq1 = tensor.extract_slice %alpha[4] [1] [1] : tensor<6xf32> to tensor<f32>
  %awq1 = mhc.broadcast %aq1[%M] dims = [] : tensor<f32> -> tensor<?x2xf32>
  %paq1 = arith.mulf %nq1, %awq1 : tensor<?x2xf32>
  %bq1 = tensor.extract_slice %beta[10] [2] [1] : tensor<16xf32> to tensor<2xf32>
  %bwq1 = mhc.broadcast %bq1[%M] dims = [1] : tensor<2xf32> -> tensor<?x2xf32>
  %zq1 = arith.addf %paq1, %bwq1 : tensor<?x2xf32>
  %gq1 = mhc.sigmoid %zq1 : tensor<?x2xf32>
  %pq2 = tensor.extract_slice %proj[0, 12] [%M, 4] [1, 1] : tensor<?x16xf32> to tensor<?x4xf32>
  %sq2 = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %nq2 = arith.mulf %pq2, %sq2 : tensor<?x4xf32>
  %aq2 = tensor.extract_slice %alpha[5] [1] [1] : tensor<6xf32> to tensor<f32>
  %awq2 = mhc.broadcast %aq2[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %paq2 = arith.mulf %nq2, %awq2 : tensor<?x4xf32>
  %bq2 = tensor.extract_slice %beta[12] [4] [1] : tensor<16xf32> to tensor<4xf32>
  %bwq2 = mhc.broadcast %bq2[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %zq2 = arith.addf %paq2, %bwq2 : tensor<?x4xf32>
  %mq = tensor.expand_shape %zq2 [[0], [1, 2]] output_shape [%M, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  %hq = mhc.sinkhorn(logits = %mq : tensor<?x2x2xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 2> -> (mix : tensor<?x2x2xf32>)
  return %gp0, %gp1, %hp, %gq0, %gq1, %hq : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2x2xf32>
}

// Columns in another order are put in that of the op.
// CHECK-LABEL: @columns_in_another_order(
// CHECK-DAG: %[[PRE:.*]] = tensor.extract_slice %arg1[0, 2] [64, 2]
// CHECK-DAG: %[[POST:.*]] = tensor.extract_slice %arg1[0, 8] [64, 2]
// CHECK-DAG: %[[RES:.*]] = tensor.extract_slice %arg1[0, 4] [64, 4]
// CHECK: %[[PHI:.*]] = tensor.concat dim(1) %[[PRE]], %[[POST]], %[[RES]]
// CHECK-DAG: mhc.projection(x = %arg0 : tensor<?x2x32xf32>, phi = %[[PHI]]
func.func @columns_in_another_order(%x: tensor<?x2x32xf32>, %phi: tensor<64x20xf32>, %alpha: tensor<3xf32>, %beta: tensor<20xf32>)
    -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2x2xf32>) {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x2x32xf32>
  %eps1 = arith.constant 1.0e-06 : f32
  %eps = tensor.splat %eps1[%M] : tensor<?xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x2x32xf32> into tensor<?x64xf32>
  %proj = mhc.matmul %flat, %phi : (tensor<?x64xf32>, tensor<64x20xf32>) -> tensor<?x20xf32>
  %square = arith.mulf %flat, %flat : tensor<?x64xf32>
  %ms = mhc.reduce mean %square dims = [1] : tensor<?x64xf32> -> tensor<?xf32>
  %ms_eps = arith.addf %ms, %eps : tensor<?xf32>
  %s = math.rsqrt %ms_eps : tensor<?xf32>
  %pp0 = tensor.extract_slice %proj[0, 2] [%M, 2] [1, 1] : tensor<?x20xf32> to tensor<?x2xf32>
  %sp0 = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x2xf32>
  %np0 = arith.mulf %pp0, %sp0 : tensor<?x2xf32>
  %ap0 = tensor.extract_slice %alpha[0] [1] [1] : tensor<3xf32> to tensor<f32>
  %awp0 = mhc.broadcast %ap0[%M] dims = [] : tensor<f32> -> tensor<?x2xf32>
  %pap0 = arith.mulf %np0, %awp0 : tensor<?x2xf32>
  %bp0 = tensor.extract_slice %beta[2] [2] [1] : tensor<20xf32> to tensor<2xf32>
  %bwp0 = mhc.broadcast %bp0[%M] dims = [1] : tensor<2xf32> -> tensor<?x2xf32>
  %zp0 = arith.addf %pap0, %bwp0 : tensor<?x2xf32>
  %gp0 = mhc.sigmoid %zp0 : tensor<?x2xf32>
  %pp1 = tensor.extract_slice %proj[0, 8] [%M, 2] [1, 1] : tensor<?x20xf32> to tensor<?x2xf32>
  %sp1 = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x2xf32>
  %np1 = arith.mulf %pp1, %sp1 : tensor<?x2xf32>
  %ap1 = tensor.extract_slice %alpha[1] [1] [1] : tensor<3xf32> to tensor<f32>
  %awp1 = mhc.broadcast %ap1[%M] dims = [] : tensor<f32> -> tensor<?x2xf32>
  %pap1 = arith.mulf %np1, %awp1 : tensor<?x2xf32>
  %bp1 = tensor.extract_slice %beta[8] [2] [1] : tensor<20xf32> to tensor<2xf32>
  %bwp1 = mhc.broadcast %bp1[%M] dims = [1] : tensor<2xf32> -> tensor<?x2xf32>
  %zp1 = arith.addf %pap1, %bwp1 : tensor<?x2xf32>
  %gp1 = mhc.sigmoid %zp1 : tensor<?x2xf32>
  %pp2 = tensor.extract_slice %proj[0, 4] [%M, 4] [1, 1] : tensor<?x20xf32> to tensor<?x4xf32>
  %sp2 = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %np2 = arith.mulf %pp2, %sp2 : tensor<?x4xf32>
  %ap2 = tensor.extract_slice %alpha[2] [1] [1] : tensor<3xf32> to tensor<f32>
  %awp2 = mhc.broadcast %ap2[%M] dims = [] : tensor<f32> -> tensor<?x4xf32>
  %pap2 = arith.mulf %np2, %awp2 : tensor<?x4xf32>
  %bp2 = tensor.extract_slice %beta[4] [4] [1] : tensor<20xf32> to tensor<4xf32>
  %bwp2 = mhc.broadcast %bp2[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %zp2 = arith.addf %pap2, %bwp2 : tensor<?x4xf32>
  %mp = tensor.expand_shape %zp2 [[0], [1, 2]] output_shape [%M, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  %hp = mhc.sinkhorn(logits = %mp : tensor<?x2x2xf32>) <init = exp_rowmax, order = row_col, denom = none, eps = 0.0, iters = 2> -> (mix : tensor<?x2x2xf32>)
  return %gp0, %gp1, %hp : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2x2xf32>
}
