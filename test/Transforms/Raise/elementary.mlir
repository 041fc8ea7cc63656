// RUN: mhc-opt %s -mhc-raise | FileCheck %s

// sigmoid and softmax in the spellings that models use.

// CHECK-LABEL: @sigmoid_of_a_negation
func.func @sigmoid_of_a_negation(%z: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[S:.*]] = mhc.sigmoid %arg0
  // CHECK: return %[[S]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1.0 : f32
  %M = tensor.dim %z, %c0 : tensor<?x4xf32>
  %ones = tensor.splat %c1[%M] : tensor<?x4xf32>
  %0 = arith.negf %z : tensor<?x4xf32>
  %1 = math.exp %0 : tensor<?x4xf32>
  %2 = arith.addf %ones, %1 : tensor<?x4xf32>
  %3 = arith.divf %ones, %2 : tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}

// CHECK-LABEL: @sigmoid_of_a_difference_from_zero
func.func @sigmoid_of_a_difference_from_zero(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: mhc.sigmoid %arg0
  %zero = arith.constant dense<0.0> : tensor<8x4xf32>
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %0 = arith.subf %zero, %z : tensor<8x4xf32>
  %1 = math.exp %0 : tensor<8x4xf32>
  %2 = arith.addf %1, %one : tensor<8x4xf32>
  %3 = arith.divf %one, %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// CHECK-LABEL: @sigmoid_by_tanh
func.func @sigmoid_by_tanh(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: mhc.sigmoid %arg0
  %half = arith.constant dense<0.5> : tensor<8x4xf32>
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %0 = arith.mulf %z, %half : tensor<8x4xf32>
  %1 = math.tanh %0 : tensor<8x4xf32>
  %2 = arith.addf %1, %one : tensor<8x4xf32>
  %3 = arith.mulf %half, %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// CHECK-LABEL: @sigmoid_of_the_negative
func.func @sigmoid_of_the_negative(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[NEGATIVE:.*]] = arith.negf %arg0
  // CHECK: mhc.sigmoid %[[NEGATIVE]]
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %0 = math.exp %z : tensor<8x4xf32>
  %1 = arith.addf %0, %one : tensor<8x4xf32>
  %2 = arith.divf %one, %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// CHECK-LABEL: @no_sigmoid_with_a_two_in_the_denominator
func.func @no_sigmoid_with_a_two_in_the_denominator(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NOT: mhc.sigmoid
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %0 = arith.negf %z : tensor<8x4xf32>
  %1 = math.exp %0 : tensor<8x4xf32>
  %2 = arith.addf %1, %two : tensor<8x4xf32>
  %3 = arith.divf %one, %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// mhc.sigmoid is an op on tensors.
// CHECK-LABEL: @no_sigmoid_of_a_scalar
func.func @no_sigmoid_of_a_scalar(%z: f32) -> f32 {
  // CHECK-NOT: mhc.sigmoid
  // CHECK: return
  %one = arith.constant 1.0 : f32
  %0 = arith.negf %z : f32
  %1 = math.exp %0 : f32
  %2 = arith.addf %1, %one : f32
  %3 = arith.divf %one, %2 : f32
  return %3 : f32
}

// CHECK-LABEL: @softmax_shifted_by_the_maximum
func.func @softmax_shifted_by_the_maximum(%z: tensor<?x24xf32>) -> tensor<?x24xf32> {
  // CHECK: mhc.softmax %arg0 dim = 1
  %0 = mhc.reduce max %z dims = [1] : tensor<?x24xf32> -> tensor<?xf32>
  %1 = mhc.broadcast %0 dims = [0] : tensor<?xf32> -> tensor<?x24xf32>
  %2 = arith.subf %z, %1 : tensor<?x24xf32>
  %3 = math.exp %2 : tensor<?x24xf32>
  %4 = mhc.reduce sum %3 dims = [1] : tensor<?x24xf32> -> tensor<?xf32>
  %5 = mhc.broadcast %4 dims = [0] : tensor<?xf32> -> tensor<?x24xf32>
  %6 = arith.divf %3, %5 : tensor<?x24xf32>
  return %6 : tensor<?x24xf32>
}

// A shift that differs along the dimension does not drop out: the softmax is that of the shifted value.
// CHECK-LABEL: @softmax_along_the_other_dimension_than_the_shift
func.func @softmax_along_the_other_dimension_than_the_shift(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK: %[[D:.*]] = arith.subf %arg0
  // CHECK: mhc.softmax %[[D]] dim = 2
  %0 = mhc.reduce max %z dims = [1] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %1 = mhc.broadcast %0 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %2 = arith.subf %z, %1 : tensor<8x4x4xf32>
  %3 = math.exp %2 : tensor<8x4x4xf32>
  %4 = mhc.reduce sum %3 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %5 = mhc.broadcast %4 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %6 = arith.divf %3, %5 : tensor<8x4x4xf32>
  return %6 : tensor<8x4x4xf32>
}

// Row sums that are repeated along the columns divide other elements than they sum.
// CHECK-LABEL: @no_softmax_when_the_sum_is_transposed
func.func @no_softmax_when_the_sum_is_transposed(%z: tensor<8x4x4xf32>) -> tensor<8x4x4xf32> {
  // CHECK-NOT: mhc.softmax
  // CHECK: return
  %0 = math.exp %z : tensor<8x4x4xf32>
  %1 = mhc.reduce sum %0 dims = [2] : tensor<8x4x4xf32> -> tensor<8x4xf32>
  %2 = mhc.broadcast %1 dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %3 = arith.divf %0, %2 : tensor<8x4x4xf32>
  return %3 : tensor<8x4x4xf32>
}

// CHECK-LABEL: @no_softmax_by_a_sum_of_reciprocals
func.func @no_softmax_by_a_sum_of_reciprocals(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NOT: mhc.softmax
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %0 = math.exp %z : tensor<8x4xf32>
  %1 = arith.divf %one, %0 : tensor<8x4xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<8x4xf32> -> tensor<8xf32>
  %3 = mhc.broadcast %2 dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %4 = arith.divf %0, %3 : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// CHECK-LABEL: @sigmoid_of_exp_of_the_value
func.func @sigmoid_of_exp_of_the_value(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: mhc.sigmoid %arg0
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %0 = math.exp %z : tensor<8x4xf32>
  %1 = arith.addf %0, %one : tensor<8x4xf32>
  %2 = arith.divf %0, %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// CHECK-LABEL: @no_sigmoid_of_two_exponents
func.func @no_sigmoid_of_two_exponents(%z: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NOT: mhc.sigmoid
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %0 = math.exp %z : tensor<8x4xf32>
  %1 = math.exp %y : tensor<8x4xf32>
  %2 = arith.addf %1, %one : tensor<8x4xf32>
  %3 = arith.divf %0, %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// CHECK-LABEL: @sigmoid_as_one_minus_its_mirror_image
func.func @sigmoid_as_one_minus_its_mirror_image(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: mhc.sigmoid %arg0
  // CHECK-NEXT: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %0 = math.exp %z : tensor<8x4xf32>
  %1 = arith.addf %0, %one : tensor<8x4xf32>
  %2 = arith.divf %one, %1 : tensor<8x4xf32>
  %3 = arith.subf %one, %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// CHECK-LABEL: @doubled_gate_by_tanh
func.func @doubled_gate_by_tanh(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[GATE:.*]] = mhc.sigmoid %arg0
  // CHECK: arith.mulf %[[GATE]], %{{.*}}
  %half = arith.constant dense<0.5> : tensor<8x4xf32>
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %0 = arith.mulf %z, %half : tensor<8x4xf32>
  %1 = math.tanh %0 : tensor<8x4xf32>
  %2 = arith.addf %1, %one : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// exp(z) * (1 / ((1 + exp(z)) + 0))
// CHECK-LABEL: @sigmoid_by_a_reciprocal
func.func @sigmoid_by_a_reciprocal(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[S:.*]] = mhc.sigmoid %arg0
  // CHECK-NEXT: return %[[S]]
  %zero = arith.constant dense<0.0> : tensor<8x4xf32>
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %exp = math.exp %z : tensor<8x4xf32>
  %sum = arith.addf %exp, %one : tensor<8x4xf32>
  %same = arith.addf %sum, %zero : tensor<8x4xf32>
  %inverse = arith.divf %one, %same : tensor<8x4xf32>
  %gate = arith.mulf %exp, %inverse : tensor<8x4xf32>
  return %gate : tensor<8x4xf32>
}

// A sigmoid stays one where it is a factor of something else.
// CHECK-LABEL: @sigmoid_that_multiplies
func.func @sigmoid_that_multiplies(%z: tensor<8x4xf32>, %x: tensor<8x4x64xf32>) -> tensor<8x4x64xf32> {
  // CHECK: mhc.sigmoid %arg0
  %zero = arith.constant dense<0.0> : tensor<8x4x64xf32>
  %one = arith.constant dense<1.0> : tensor<8x4x64xf32>
  %wide = mhc.broadcast %z dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x64xf32>
  %negative = arith.negf %wide : tensor<8x4x64xf32>
  %exp = math.exp %negative : tensor<8x4x64xf32>
  %sum = arith.addf %exp, %one : tensor<8x4x64xf32>
  %same = arith.addf %sum, %zero : tensor<8x4x64xf32>
  %gate = arith.divf %one, %same : tensor<8x4x64xf32>
  %product = arith.mulf %gate, %x : tensor<8x4x64xf32>
  return %product : tensor<8x4x64xf32>
}

// Sigmoids of all columns are one.
// CHECK-LABEL: @sigmoids_of_columns
func.func @sigmoids_of_columns(%z: tensor<8x2xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: mhc.sigmoid %arg0 : tensor<8x2xf32>
  // CHECK-NOT: mhc.sigmoid
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %z1 = tensor.extract_slice %z[0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %n0 = arith.negf %z0 : tensor<8xf32>
  %n1 = arith.negf %z1 : tensor<8xf32>
  %e0 = math.exp %n0 : tensor<8xf32>
  %e1 = math.exp %n1 : tensor<8xf32>
  %s0 = arith.addf %e0, %one : tensor<8xf32>
  %s1 = arith.addf %e1, %one : tensor<8xf32>
  %g0 = arith.divf %one, %s0 : tensor<8xf32>
  %g1 = arith.divf %one, %s1 : tensor<8xf32>
  return %g0, %g1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: @no_gate_of_the_whole_tanh
func.func @no_gate_of_the_whole_tanh(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NOT: mhc.sigmoid
  // CHECK: return
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %0 = math.tanh %z : tensor<8x4xf32>
  %1 = arith.addf %0, %one : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: @softmax_by_its_logarithm
func.func @softmax_by_its_logarithm(%z: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: mhc.softmax %arg0 dim = 1
  %max = mhc.reduce max %z dims = [1] : tensor<?x4xf32> -> tensor<?xf32>
  %0 = mhc.broadcast %max dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %1 = arith.subf %z, %0 : tensor<?x4xf32>
  %2 = math.exp %1 : tensor<?x4xf32>
  %sum = mhc.reduce sum %2 dims = [1] : tensor<?x4xf32> -> tensor<?xf32>
  %3 = math.log %sum : tensor<?xf32>
  %4 = mhc.broadcast %3 dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %5 = arith.subf %1, %4 : tensor<?x4xf32>
  %6 = math.exp %5 : tensor<?x4xf32>
  return %6 : tensor<?x4xf32>
}

// CHECK-LABEL: @sigmoid_by_half_a_tanh
func.func @sigmoid_by_half_a_tanh(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[S:.*]] = mhc.sigmoid %arg0
  // CHECK: return %[[S]]
  %half = arith.constant dense<0.5> : tensor<8x4xf32>
  %0 = arith.mulf %z, %half : tensor<8x4xf32>
  %1 = math.tanh %0 : tensor<8x4xf32>
  %2 = arith.mulf %1, %half : tensor<8x4xf32>
  %3 = arith.addf %2, %half : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// A maximum that starts at the lowest number, and a product with the reciprocal of the sum, as TOSA has them.
// CHECK-LABEL: @softmax_from_the_lowest_number
func.func @softmax_from_the_lowest_number(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[S:.*]] = mhc.softmax %arg0 dim = 1
  // CHECK: return %[[S]]
  %lowest = arith.constant dense<-3.40282347E+38> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %reduced = mhc.reduce max %z dims = [1] : tensor<8x4xf32> -> tensor<8xf32>
  %max = arith.maximumf %lowest, %reduced : tensor<8xf32>
  %0 = mhc.broadcast %max dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %1 = arith.subf %z, %0 : tensor<8x4xf32>
  %2 = math.exp %1 : tensor<8x4xf32>
  %sum = mhc.reduce sum %2 dims = [1] : tensor<8x4xf32> -> tensor<8xf32>
  %inverse = arith.divf %one, %sum : tensor<8xf32>
  %3 = mhc.broadcast %inverse dims = [0] : tensor<8xf32> -> tensor<8x4xf32>
  %4 = arith.mulf %3, %2 : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// Its logarithm is of use as well: a step of an iteration is such a value.
// CHECK-LABEL: @no_softmax_where_the_logarithm_is_read
func.func @no_softmax_where_the_logarithm_is_read(%z: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  // CHECK-NOT: mhc.softmax
  // CHECK: return
  %0 = math.exp %z : tensor<?x4xf32>
  %sum = mhc.reduce sum %0 dims = [1] : tensor<?x4xf32> -> tensor<?xf32>
  %1 = math.log %sum : tensor<?xf32>
  %2 = mhc.broadcast %1 dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %3 = arith.subf %z, %2 : tensor<?x4xf32>
  %4 = math.exp %3 : tensor<?x4xf32>
  return %3, %4 : tensor<?x4xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: @sigmoid_by_the_reciprocal
func.func @sigmoid_by_the_reciprocal(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[S:.*]] = mhc.sigmoid %arg0
  // CHECK-NEXT: return %[[S]]
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %0 = math.exp %z : tensor<8x4xf32>
  %1 = arith.addf %one, %0 : tensor<8x4xf32>
  %2 = arith.divf %one, %1 : tensor<8x4xf32>
  %3 = arith.mulf %2, %0 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// CHECK-LABEL: @twice_the_sigmoid_as_a_quotient
func.func @twice_the_sigmoid_as_a_quotient(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: %[[TWO:.*]] = arith.constant dense<2.0
  // CHECK: %[[S:.*]] = mhc.sigmoid %arg0
  // CHECK-NEXT: arith.mulf %[[S]], %[[TWO]]
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %two = arith.constant dense<2.0> : tensor<8x4xf32>
  %0 = arith.negf %z : tensor<8x4xf32>
  %1 = math.exp %0 : tensor<8x4xf32>
  %2 = arith.addf %1, %one : tensor<8x4xf32>
  %3 = arith.divf %two, %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// A gate that multiplies by the reciprocal of what was repeated before is a gate all the same.
// CHECK-LABEL: @sigmoid_under_a_repeated_divisor
func.func @sigmoid_under_a_repeated_divisor(%z: tensor<8x4xf32>, %x: tensor<8x4x16xf32>) -> tensor<8x4x16xf32> {
  // CHECK: mhc.sigmoid %arg0
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %ones = arith.constant dense<1.0> : tensor<8x4x16xf32>
  %0 = arith.negf %z : tensor<8x4xf32>
  %1 = math.exp %0 : tensor<8x4xf32>
  %2 = arith.addf %1, %one : tensor<8x4xf32>
  %3 = mhc.broadcast %2 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %4 = arith.divf %ones, %3 : tensor<8x4x16xf32>
  %5 = arith.mulf %x, %4 : tensor<8x4x16xf32>
  return %5 : tensor<8x4x16xf32>
}

// One gate in two spellings is one.
// CHECK-LABEL: @sigmoid_in_two_spellings
func.func @sigmoid_in_two_spellings(%z: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  // CHECK: %[[S:.*]] = mhc.sigmoid %arg0
  // CHECK-NEXT: return %[[S]], %[[S]]
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %0 = math.exp %z : tensor<8x4xf32>
  %1 = arith.addf %0, %one : tensor<8x4xf32>
  %2 = arith.divf %0, %1 : tensor<8x4xf32>
  %3 = arith.negf %z : tensor<8x4xf32>
  %4 = math.exp %3 : tensor<8x4xf32>
  %5 = arith.addf %4, %one : tensor<8x4xf32>
  %6 = arith.divf %one, %5 : tensor<8x4xf32>
  return %2, %6 : tensor<8x4xf32>, tensor<8x4xf32>
}

// Whatever is the same in a row drops out of the quotient, and the sum may be taken by a product.
// CHECK-LABEL: @softmax_less_the_mean
func.func @softmax_less_the_mean(%z: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // CHECK: %[[S:.*]] = mhc.softmax %arg0 dim = 1
  // CHECK-NEXT: return %[[S]]
  %mean = mhc.reduce mean %z dims = [1] : tensor<8x6xf32> -> tensor<8xf32>
  %0 = mhc.broadcast %mean dims = [0] : tensor<8xf32> -> tensor<8x6xf32>
  %1 = arith.subf %z, %0 : tensor<8x6xf32>
  %2 = math.exp %1 : tensor<8x6xf32>
  %ones = arith.constant dense<1.0> : tensor<6x6xf32>
  %3 = mhc.matmul %2, %ones : (tensor<8x6xf32>, tensor<6x6xf32>) -> tensor<8x6xf32>
  %4 = arith.divf %2, %3 : tensor<8x6xf32>
  return %4 : tensor<8x6xf32>
}

// CHECK-LABEL: @softmax_of_repeated_rows
func.func @softmax_of_repeated_rows(%z: tensor<8x6xf32>) -> tensor<8x6x20xf32> {
  // CHECK: %[[S:.*]] = mhc.softmax %arg0 dim = 1
  // CHECK-NEXT: mhc.broadcast %[[S]] dims = [0, 1]
  %0 = mhc.broadcast %z dims = [0, 1] : tensor<8x6xf32> -> tensor<8x6x20xf32>
  %1 = math.exp %0 : tensor<8x6x20xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<8x6x20xf32> -> tensor<8x20xf32>
  %3 = mhc.broadcast %2 dims = [0, 2] : tensor<8x20xf32> -> tensor<8x6x20xf32>
  %4 = arith.divf %1, %3 : tensor<8x6x20xf32>
  return %4 : tensor<8x6x20xf32>
}

// A quotient of what may be negative has no logarithm, whatever else the program takes it of.
// CHECK-LABEL: @no_softmax_of_signed_weights
func.func @no_softmax_of_signed_weights(%w: tensor<8x6xf32>, %y: tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  // CHECK-NOT: mhc.softmax
  // CHECK: return
  %log = math.log %w : tensor<8x6xf32>
  %other = math.exp %y : tensor<8x6xf32>
  %product = arith.mulf %log, %other : tensor<8x6xf32>
  %0 = mhc.reduce sum %w dims = [1] : tensor<8x6xf32> -> tensor<8xf32>
  %1 = mhc.broadcast %0 dims = [0] : tensor<8xf32> -> tensor<8x6xf32>
  %2 = arith.divf %w, %1 : tensor<8x6xf32>
  return %product, %2 : tensor<8x6xf32>, tensor<8x6xf32>
}

// Logits that are halved in front of their groups, of which the gates are made by tanh(z / 2).
// CHECK-LABEL: func.func @halved_logits
// CHECK: %[[H_PRE:.*]], %[[H_POST:.*]], %{{.*}} = mhc.gates(
// CHECK-NOT: math.tanh
// CHECK: return %[[H_PRE]], %[[H_POST]]
func.func @halved_logits(%streams: tensor<8x4x16xf32>, %phi: tensor<24x64xf32>, %alphas: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  %half = arith.constant dense<0.5> : tensor<8x24xf32>
  %halves = arith.constant dense<0.5> : tensor<8x4xf32>
  %ones = arith.constant dense<1.0> : tensor<8x4xf32>
  %x = tensor.collapse_shape %streams [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %proj = mhc.matmul %x, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %a0 = tensor.extract_slice %alphas[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %a1 = tensor.extract_slice %alphas[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %a2 = tensor.extract_slice %alphas[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %r0 = mhc.broadcast %a0 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %r1 = mhc.broadcast %a1 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %r2 = mhc.broadcast %a2 dims = [0] : tensor<1xf32> -> tensor<16xf32>
  %alpha = tensor.concat dim(0) %r0, %r1, %r2 : (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> tensor<24xf32>
  %factors = mhc.broadcast %alpha dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %scaled = arith.mulf %proj, %factors : tensor<8x24xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %scaled, %bias : tensor<8x24xf32>
  %w = arith.mulf %z, %half : tensor<8x24xf32>
  %w_pre = tensor.extract_slice %w[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %w_post = tensor.extract_slice %w[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %logits = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %t_pre = math.tanh %w_pre : tensor<8x4xf32>
  %s_pre = arith.addf %ones, %t_pre : tensor<8x4xf32>
  %h_pre = arith.mulf %s_pre, %halves : tensor<8x4xf32>
  %t_post = math.tanh %w_post : tensor<8x4xf32>
  %s_post = arith.addf %ones, %t_post : tensor<8x4xf32>
  return %h_pre, %s_post, %logits : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// The same with a weight for each group, and the streams innermost.
// CHECK-LABEL: func.func @halved_logits_of_three_weights
// CHECK: %[[H_PRE:.*]], %[[H_POST:.*]], %{{.*}} = mhc.gates(
// CHECK-NOT: math.tanh
// CHECK: return %[[H_PRE]], %[[H_POST]]
func.func @halved_logits_of_three_weights(%streams: tensor<8x16x4xf32>, %w0: tensor<64x4xf32>, %w1: tensor<64x4xf32>,
                                          %w2: tensor<64x16xf32>, %alphas: tensor<3xf32>, %beta: tensor<24xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>) {
  %half = arith.constant dense<0.5> : tensor<8x24xf32>
  %halves = arith.constant dense<0.5> : tensor<8x4xf32>
  %ones = arith.constant dense<1.0> : tensor<8x4xf32>
  %x = tensor.collapse_shape %streams [[0], [1, 2]] : tensor<8x16x4xf32> into tensor<8x64xf32>
  %phi = tensor.concat dim(1) %w0, %w1, %w2 : (tensor<64x4xf32>, tensor<64x4xf32>, tensor<64x16xf32>) -> tensor<64x24xf32>
  %proj = mhc.matmul %x, %phi : (tensor<8x64xf32>, tensor<64x24xf32>) -> tensor<8x24xf32>
  %a0 = tensor.extract_slice %alphas[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %a1 = tensor.extract_slice %alphas[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %a2 = tensor.extract_slice %alphas[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %r0 = mhc.broadcast %a0 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %r1 = mhc.broadcast %a1 dims = [0] : tensor<1xf32> -> tensor<4xf32>
  %r2 = mhc.broadcast %a2 dims = [0] : tensor<1xf32> -> tensor<16xf32>
  %alpha = tensor.concat dim(0) %r0, %r1, %r2 : (tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> tensor<24xf32>
  %factors = mhc.broadcast %alpha dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %scaled = arith.mulf %proj, %factors : tensor<8x24xf32>
  %bias = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %scaled, %bias : tensor<8x24xf32>
  %w = arith.mulf %z, %half : tensor<8x24xf32>
  %w_pre = tensor.extract_slice %w[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %w_post = tensor.extract_slice %w[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %logits = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %t_pre = math.tanh %w_pre : tensor<8x4xf32>
  %s_pre = arith.addf %ones, %t_pre : tensor<8x4xf32>
  %h_pre = arith.mulf %s_pre, %halves : tensor<8x4xf32>
  %t_post = math.tanh %w_post : tensor<8x4xf32>
  %s_post = arith.addf %ones, %t_post : tensor<8x4xf32>
  return %h_pre, %s_post, %logits : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x16xf32>
}

// The scaled argument of another function stays its argument.
// CHECK-LABEL: func.func @no_logits
// CHECK: math.tanh
// CHECK-NOT: mhc.sigmoid
func.func @no_logits(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %ones = arith.constant dense<1.0> : tensor<8x4xf32>
  %w = arith.addf %x, %y : tensor<8x4xf32>
  %t = math.tanh %w : tensor<8x4xf32>
  %s = arith.addf %ones, %t : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// Columns of what was halved as a whole: tanh(z / 2) of each is a sigmoid of z.
// CHECK-LABEL: func.func @halved_in_front
// CHECK-SAME: (%[[Z:.*]]: tensor<8x2xf32>)
// CHECK: %[[GATES:.*]] = mhc.sigmoid %[[Z]]
// CHECK-NOT: math.tanh
// CHECK: %[[H0:.*]] = tensor.extract_slice %[[GATES]][0, 0]
// CHECK: %[[H1:.*]] = tensor.extract_slice %[[GATES]][0, 1]
// CHECK: return %[[H0]], %[[H1]]
func.func @halved_in_front(%z: tensor<8x2xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %half = arith.constant dense<0.5> : tensor<8x2xf32>
  %halves = arith.constant dense<0.5> : tensor<8xf32>
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  %w = arith.mulf %z, %half : tensor<8x2xf32>
  %w0 = tensor.extract_slice %w[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %w1 = tensor.extract_slice %w[0, 1] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %t0 = math.tanh %w0 : tensor<8xf32>
  %s0 = arith.addf %ones, %t0 : tensor<8xf32>
  %h0 = arith.mulf %s0, %halves : tensor<8xf32>
  %t1 = math.tanh %w1 : tensor<8xf32>
  %s1 = arith.addf %ones, %t1 : tensor<8xf32>
  %h1 = arith.mulf %s1, %halves : tensor<8xf32>
  return %h0, %h1 : tensor<8xf32>, tensor<8xf32>
}

// A quarter of z is no half: the sigmoid would be of z / 2, which is nowhere.
// CHECK-LABEL: func.func @quartered_in_front
// CHECK: math.tanh
// CHECK-NOT: mhc.sigmoid
func.func @quartered_in_front(%z: tensor<8x2xf32>) -> tensor<8xf32> {
  %quarter = arith.constant dense<0.25> : tensor<8x2xf32>
  %halves = arith.constant dense<0.5> : tensor<8xf32>
  %ones = arith.constant dense<1.0> : tensor<8xf32>
  %w = arith.mulf %z, %quarter : tensor<8x2xf32>
  %w0 = tensor.extract_slice %w[0, 0] [8, 1] [1, 1] : tensor<8x2xf32> to tensor<8xf32>
  %t = math.tanh %w0 : tensor<8xf32>
  %s = arith.addf %ones, %t : tensor<8xf32>
  %h = arith.mulf %s, %halves : tensor<8xf32>
  return %h : tensor<8xf32>
}

// Halves of one sigmoid in two spellings, joined again, are the sigmoid.
// CHECK-LABEL: @halves_in_two_spellings
func.func @halves_in_two_spellings(%z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK-NEXT: %[[GATE:.*]] = mhc.sigmoid %arg0
  // CHECK-NEXT: return %[[GATE]]
  %one = arith.constant dense<1.0> : tensor<8x4xf32>
  %opposite = arith.negf %z : tensor<8x4xf32>
  %exp = math.exp %opposite : tensor<8x4xf32>
  %sum = arith.addf %exp, %one : tensor<8x4xf32>
  %gate = arith.divf %one, %sum : tensor<8x4xf32>
  %exp_of_z = math.exp %z : tensor<8x4xf32>
  %sum_of_z = arith.addf %exp_of_z, %one : tensor<8x4xf32>
  %mirror = arith.divf %one, %sum_of_z : tensor<8x4xf32>
  %same = arith.subf %one, %mirror : tensor<8x4xf32>
  %first = tensor.extract_slice %gate[0, 0] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %second = tensor.extract_slice %same[0, 2] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %out = tensor.concat dim(1) %first, %second : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x4xf32>
  return %out : tensor<8x4xf32>
}
