// RUN: mhc-opt %s -mhc-state-sizes -split-input-file | FileCheck %s
// RUN: mhc-opt %s -mhc-state-sizes -mhc-raise -mhc-describe-entries -split-input-file | FileCheck %s

// Joined tokens no longer say that both sizes are equal.
// CHECK-LABEL: @elementwise
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<?x?x8xf32> {mhc.dims = ["M", "d1", "8"]
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<?x?x8xf32> {mhc.dims = ["M", "d1", "8"]
// CHECK-SAME: -> (tensor<?x?x8xf32> {mhc.dims = ["M", "d1", "8"]
func.func @elementwise(%x: tensor<?x?x8xf32>, %y: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %z = arith.mulf %x, %y : tensor<?x?x8xf32>
  return %z : tensor<?x?x8xf32>
}

// -----

// CHECK-LABEL: @product
// CHECK-SAME: tensor<?x?x8xf32> {mhc.dims = ["M", "d1", "8"]
// CHECK-SAME: tensor<?x8xf32> {mhc.dims = ["M*d1", "8"]
func.func @product(%x: tensor<?x?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %joined = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  %z = arith.mulf %joined, %y : tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: @sums
// CHECK-SAME: tensor<?xf32> {mhc.dims = ["M"]
// CHECK-SAME: tensor<?xf32> {mhc.dims = ["d1"]
// CHECK-SAME: tensor<?xf32> {mhc.dims = ["M+d1"]
// CHECK-SAME: tensor<?xf32> {mhc.dims = ["M+3"]
// CHECK-SAME: tensor<?xf32> {mhc.dims = ["M-1"]
func.func @sums(%x: tensor<?xf32>, %y: tensor<?xf32>, %both: tensor<?xf32>, %wide: tensor<?xf32>,
                %short: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %joined = tensor.concat dim(0) %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %a = arith.addf %joined, %both : tensor<?xf32>
  %padded = tensor.pad %x low[2] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<?xf32>
  %b = arith.addf %padded, %wide : tensor<?xf32>
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %less = arith.subi %size, %c1 : index
  %tail = tensor.extract_slice %x[1] [%less] [1] : tensor<?xf32> to tensor<?xf32>
  %c = arith.addf %tail, %short : tensor<?xf32>
  return %a, %b, %c : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// -----

// Neither side is the size of one argument.
// CHECK-LABEL: @two_products
// CHECK-SAME: tensor<?x?xf32> {mhc.dims = ["M", "d1"]
// CHECK-SAME: tensor<?x?xf32> {mhc.dims = ["d2", "d3"]
// CHECK-SAME: mhc.conditions = ["M*d1=d2*d3"]
func.func @two_products(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<f32> {
  %a = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %b = tensor.collapse_shape %y [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %z = arith.mulf %a, %b : tensor<?xf32>
  %sum = mhc.reduce sum %z dims = [0] : tensor<?xf32> -> tensor<f32>
  return %sum : tensor<f32>
}

// -----

// A program asserts it, and no op needs it.
// CHECK-LABEL: @asserted
// CHECK-SAME: tensor<?xf32> {mhc.dims = ["M"]
// CHECK-SAME: tensor<?xf32> {mhc.dims = ["M"]
func.func @asserted(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %k = tensor.dim %y, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %m, %k : index
  cf.assert %same, "mismatched sizes"
  return %x, %y : tensor<?xf32>, tensor<?xf32>
}

// -----

// Exporters write products and sums of sizes as maps.
// CHECK-LABEL: @size_of_a_map
// CHECK-SAME: tensor<2x?x8xf32> {mhc.dims = ["2", "M", "8"]
// CHECK-SAME: -> (tensor<?x8xf32> {mhc.dims = ["2*M+1", "8"]
func.func @size_of_a_map(%x: tensor<2x?x8xf32>) -> tensor<?x8xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c1 : tensor<2x?x8xf32>
  %m = affine.apply affine_map<()[s0] -> (s0 * 2 + 1)>()[%t]
  %y = tensor.splat %zero[%m] : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
