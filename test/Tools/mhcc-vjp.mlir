// The derivative that the user names is the one that is compiled: 1 here, where that of the body is 3.

// RUN: mhcc %s --grad=f --run=f_grad --arg x=%S/Inputs/y.npy --arg d_y=%S/Inputs/y.npy --expect d_x=%S/Inputs/y.npy \
// RUN:   | FileCheck %s
// RUN: sed 's/mhc.vjp = @triple_vjp/mhc.vjp = @triple_vjp, no_inline/' %s > %t.apart.mlir
// RUN: mhcc %t.apart.mlir --grad=f --run=f_grad --arg x=%S/Inputs/y.npy --arg d_y=%S/Inputs/y.npy \
// RUN:   --expect d_x=%S/Inputs/y.npy | FileCheck %s
// CHECK: d_x: match, max abs error 0,

// Without the attribute it is that of the body.
// RUN: sed 's/attributes {mhc.vjp = @triple_vjp}//' %s > %t.body.mlir
// RUN: not mhcc %t.body.mlir --grad=f --run=f_grad --arg x=%S/Inputs/y.npy --arg d_y=%S/Inputs/y.npy \
// RUN:   --expect d_x=%S/Inputs/y.npy | FileCheck %s --check-prefix=BODY
// BODY: d_x: MISMATCH

// The halves and the reference use it, too, and nothing of the call is left.
// RUN: mhcc %s --grad=f --verify | FileCheck %s --check-prefix=VERIFY
// VERIFY: entry f_grad
// VERIFY: d_x: verified
// RUN: mhcc %s --grad=f --compile-to=fuse | FileCheck %s --check-prefix=FUSED
// FUSED-NOT: call
// FUSED-LABEL: func.func @f_bwd(%arg0: tensor<?x4xf32> {mhc.dims = ["M", "4"], mhc.name = "d_y"})
// FUSED-NEXT: return %arg0

// A function that names its derivative itself.
// RUN: mhcc %s --grad=triple --run=triple_grad --arg x=%S/Inputs/y.npy --arg d_y=%S/Inputs/y.npy \
// RUN:   --expect d_x=%S/Inputs/y.npy | FileCheck %s

// Without --grad, a call is inlined whatever it says.
// RUN: mhcc %t.apart.mlir --verify | FileCheck %s --check-prefix=FORWARD
// FORWARD: y: verified

func.func @triple(%x: tensor<?x4xf32> {mhc.name = "x"}) -> (tensor<?x4xf32> {mhc.name = "y"})
    attributes {mhc.vjp = @triple_vjp} {
  %twice = arith.addf %x, %x : tensor<?x4xf32>
  %y = arith.addf %twice, %x : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
func.func private @triple_vjp(%x: tensor<?x4xf32>, %d_y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %d_y : tensor<?x4xf32>
}
func.func @f(%x: tensor<?x4xf32> {mhc.name = "x"}) -> (tensor<?x4xf32> {mhc.name = "y"}) {
  %y = call @triple(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
