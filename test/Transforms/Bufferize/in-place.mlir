// RUN: mhc-opt %s -split-input-file -verify-diagnostics -mhc-phase-bufferize | FileCheck %s

// The kernel and the sum write where the caller's numbers are; the results' own parameters stay unused.
// CHECK-LABEL: func.func @accumulate(
// CHECK-SAME: %[[PHI:[a-z0-9]+]]: memref<4x32xf32> {mhc.dims = ["4", "32"], mhc.in_place, mhc.name = "d_phi"}
// CHECK-SAME: %[[B:[a-z0-9]+]]: memref<4xf32> {mhc.dims = ["4"], mhc.in_place, mhc.name = "d_b"}
// CHECK-SAME: memref<4x32xf32> {mhc.dims = ["4", "32"], mhc.in_place, mhc.name = "d_phi", mhc.result}
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: mhc.launch "mhc.projection_bwd" {{.*}}outs(%[[PHI]]
// CHECK-NOT: memref.copy
// CHECK: linalg.generic {{.*}} outs(%[[B]] :
// CHECK-NOT: memref.copy
// CHECK: return
func.func @accumulate(%d_proj: tensor<?x4xf32>, %x: tensor<?x4x8xf32>, %phi: tensor<4x32xf32>,
                      %sum: tensor<4x32xf32> {mhc.name = "d_phi"}, %b: tensor<4xf32>, %sum_b: tensor<4xf32> {mhc.name = "d_b"})
    -> (tensor<4x32xf32> {mhc.name = "d_phi", mhc.in_place}, tensor<4xf32> {mhc.name = "d_b", mhc.in_place}) {
  %d_phi = mhc.projection_bwd(d_proj = %d_proj : tensor<?x4xf32>, x = %x : tensor<?x4x8xf32>,
      phi = %phi : tensor<4x32xf32>, d_phi_in = %sum : tensor<4x32xf32>)
    <layout = nC, phi_layout = out_in, norm = inside, norm_eps = 1.0e-06, stat_form = inv_rms>
    -> (d_phi : tensor<4x32xf32>)
  %d_b = arith.addf %sum_b, %b : tensor<4xf32>
  return %d_phi, %d_b : tensor<4x32xf32>, tensor<4xf32>
}

// -----

// A sum with other readers is not overwritten while it is needed: the result is copied at the end.
// CHECK-LABEL: func.func @read_twice(
// CHECK-SAME: %[[SUM:[a-z0-9]+]]: memref<4xf32> {mhc.dims = ["4"], mhc.in_place,
// CHECK-SAME: %[[BEFORE:[a-z0-9]+]]: memref<4xf32> {mhc.dims = ["4"], mhc.name = "result1", mhc.result}
// CHECK: linalg.generic
// CHECK: memref.copy %[[SUM]], %[[BEFORE]]
// CHECK-NEXT: memref.copy %{{.*}}, %[[SUM]]
// CHECK-NEXT: return
func.func @read_twice(%sum: tensor<4xf32> {mhc.name = "s"}) -> (tensor<4xf32> {mhc.name = "s", mhc.in_place}, tensor<4xf32>) {
  %twice = arith.addf %sum, %sum : tensor<4xf32>
  return %twice, %sum : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{result 0 of entry 'untied' has 'mhc.in_place', but no argument has its name and type}}
func.func @untied(%x: tensor<4xf32> {mhc.name = "x"}) -> (tensor<4xf32> {mhc.name = "y", mhc.in_place}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{result 0 of entry 'exchanged' has 'mhc.in_place', but is another argument}}
func.func @exchanged(%a: tensor<4xf32> {mhc.name = "a"}, %b: tensor<4xf32> {mhc.name = "b"})
    -> (tensor<4xf32> {mhc.name = "a", mhc.in_place}, tensor<4xf32> {mhc.name = "b", mhc.in_place}) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}
