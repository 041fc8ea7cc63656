// RUN: mhc-opt %s -mhc-raise -mhc-fuse --remarks-filter-analyse='mhc.*' 2>&1 >/dev/null | FileCheck %s --implicit-check-not='[Analysis] sites'

// Counts of the sites that each pass made something of, and of those it declined, by function and by kind.

// CHECK: sites.mlir:[[#@LINE+1]]:1: remark: [Analysis] sites | Category:mhc-raise | Function=both | Remark="made 1 sinkhorn; declined 1 post"
func.func @both(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
                %mask: tensor<8x4x64xf32>) -> tensor<8x4x64xf32> {
  %m = math.exp %z : tensor<8x4x4xf32>
  %rows = mhc.reduce sum %m dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %rows_all = mhc.broadcast %rows dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %normal = arith.divf %m, %rows_all : tensor<8x4x4xf32>
  %cols = mhc.reduce sum %normal dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %cols_all = mhc.broadcast %cols dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %map = arith.divf %normal, %cols_all : tensor<8x4x4xf32>
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x64xf32> -> tensor<8x4x64xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x64xf32>
  %masked = arith.mulf %branch, %mask : tensor<8x4x64xf32>
  %out = arith.addf %mixed, %masked : tensor<8x4x64xf32>
  return %out : tensor<8x4x64xf32>
}

// CHECK: [Analysis] sites | Category:mhc-raise | Function=raised | Remark="made 2 aggregate"
func.func @raised(%x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %g: tensor<8x4xf32>)
    -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %hw = mhc.broadcast %h dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %hx = arith.mulf %x, %hw : tensor<8x4x64xf32>
  %u = mhc.reduce sum %hx dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  %gw = mhc.broadcast %g dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %gx = arith.mulf %x, %gw : tensor<8x4x64xf32>
  %v = mhc.reduce sum %gx dims = [1] : tensor<8x4x64xf32> -> tensor<8x64xf32>
  return %u, %v : tensor<8x64xf32>, tensor<8x64xf32>
}

// CHECK: [Analysis] sites | Category:mhc-fuse | Function=declined | Remark="made nothing; declined 1 pre"
func.func @declined(%x: tensor<?x4x64xf32>, %proj: tensor<?x4xf32>, %alpha: tensor<1xf32>, %beta: tensor<4xf32>)
    -> tensor<?x64xf32> {
  %h = mhc.gates(proj = %proj : tensor<?x4xf32>, alpha = %alpha : tensor<1xf32>, beta = %beta : tensor<4xf32>)
    <stat_form = applied, norm_eps = 0.0, pre_eps = 0.0, post_mult = 1.0> -> (h_pre : tensor<?x4xf32>)
  %u = mhc.aggregate(x = %x : tensor<?x4x64xf32>, h_pre = %h : tensor<?x4xf32>) <layout = nC>
    -> (u : tensor<?x64xf32>)
  return %u : tensor<?x64xf32>
}

// Nothing here looks like mHC.
func.func @plain(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %y = arith.addf %x, %x : tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}
