// Remarks of passes, found and missed, stand beside the ops that they are about, before and after.
// RUN: mhc-opt %s --mhc-dump-graph=before,after | FileCheck %s

// CHECK: label="before";
// CHECK: [[MAP:"before_0_[0-9]+"]] [label="arith.divf\n{{[^"]*}}"];
// CHECK: [[MAP:"before_0_[0-9]+"]] [label="arith.divf\n{{[^"]*}}"];
// CHECK: [[MASKED:"before_0_[0-9]+"]] [label="arith.mulf\n{{[^"]*}}"];
// CHECK: [[MASKED:"before_0_[0-9]+"]] [label="arith.mulf\n{{[^"]*}}"];
// CHECK: [[FOUND:"before_0_remark0"]] [label="found sinkhorn: exp_rowmax, 1 iterations", shape=note, fillcolor="#e6f4e6"];
// CHECK: [[MAP]] -> [[FOUND]] [style=dashed, arrowhead=none];
// CHECK: [[MISS:"before_0_remark1"]] [label="factor-per-channel\nfound argument 4, [8, 4, 64] of f32\nneeded one value per stream", shape=note, fillcolor="#ffd9d9"];
// CHECK: [[MASKED]] -> [[MISS]] [style=dashed, arrowhead=none];
// A loop is no node: what it makes is made by its last op.
// CHECK: label="@loop:
// CHECK: [[LAST:"before_1_[0-9]+"]] [label="arith.divf x 3\n{{[^"]*}}"];
// CHECK: [[LAST:"before_1_[0-9]+"]] [label="arith.divf x 3\n{{[^"]*}}"];
// CHECK: [[FOUND:"before_1_remark[0-9]+"]] [label="found sinkhorn: exp_rowmax, 3 iterations"
// CHECK: [[LAST]] -> [[FOUND]] [style=dashed, arrowhead=none];
// CHECK: label="after";
// CHECK: [[SINKHORN:"after_0_[0-9]+"]] [label="mhc.sinkhorn\n
// CHECK: [[FOUND:"after_0_remark0"]] [label="found sinkhorn: exp_rowmax, 1 iterations"
// CHECK: [[SINKHORN]] -> [[FOUND]]
func.func @combine(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>, %h: tensor<8x4xf32>, %f: tensor<8x64xf32>,
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

func.func @loop(%z: tensor<8x4x4xf32>, %x: tensor<8x4x64xf32>) -> tensor<8x4x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %m = math.exp %z : tensor<8x4x4xf32>
  %map = scf.for %i = %c0 to %c3 step %c1 iter_args(%it = %m) -> tensor<8x4x4xf32> {
    %rows = mhc.reduce sum %it dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %rows_all = mhc.broadcast %rows dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %normal = arith.divf %it, %rows_all : tensor<8x4x4xf32>
    %cols = mhc.reduce sum %normal dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
    %cols_all = mhc.broadcast %cols dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
    %next = arith.divf %normal, %cols_all : tensor<8x4x4xf32>
    scf.yield %next : tensor<8x4x4xf32>
  }
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
  return %mixed : tensor<8x4x64xf32>
}
