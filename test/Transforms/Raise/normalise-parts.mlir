// RUN: mhc-opt %s --mhc-normalise | FileCheck %s

// A computation on all parts of a value is computed of the value.

// CHECK-LABEL: @of_both_halves(
func.func @of_both_halves(%a: tensor<?x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  // CHECK: %[[B:.*]] = math.tanh %arg0 : tensor<?x8xf32>
  // CHECK: %[[SUB:.*]] = arith.subf %arg0, %[[B]] : tensor<?x8xf32>
  // CHECK-DAG: tensor.extract_slice %[[SUB]][0, 0] [%{{.*}}, 4] [1, 1]
  // CHECK-DAG: tensor.extract_slice %[[SUB]][0, 4] [%{{.*}}, 4] [1, 1]
  // CHECK-NOT: arith.subf
  // CHECK: return
  %c0 = arith.constant 0 : index
  %M = tensor.dim %a, %c0 : tensor<?x8xf32>
  %b = math.tanh %a : tensor<?x8xf32>
  %a0 = tensor.extract_slice %a[0, 0] [%M, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %b0 = tensor.extract_slice %b[0, 0] [%M, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %0 = arith.subf %a0, %b0 : tensor<?x4xf32>
  %a1 = tensor.extract_slice %a[0, 4] [%M, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %b1 = tensor.extract_slice %b[0, 4] [%M, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %1 = arith.subf %a1, %b1 : tensor<?x4xf32>
  %2 = arith.mulf %0, %0 : tensor<?x4xf32>
  return %1, %2 : tensor<?x4xf32>, tensor<?x4xf32>
}

// Where the whole is computed anyway, one part will do.
// CHECK-LABEL: @of_the_whole_and_a_column(
func.func @of_the_whole_and_a_column(%a: tensor<16x3xf32>) -> (tensor<16xf32>, tensor<16x3xf32>) {
  // CHECK: %[[SUM:.*]] = arith.addf %arg0, %{{.*}} : tensor<16x3xf32>
  // CHECK-NEXT: %[[COLUMN:.*]] = tensor.extract_slice %[[SUM]][0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  // CHECK-NEXT: return %[[COLUMN]], %[[SUM]]
  %eps = arith.constant dense<1.0e-4> : tensor<16x3xf32>
  %part = tensor.extract_slice %eps[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %a1 = tensor.extract_slice %a[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %0 = arith.addf %a1, %part : tensor<16xf32>
  %1 = arith.addf %a, %eps : tensor<16x3xf32>
  return %0, %1 : tensor<16xf32>, tensor<16x3xf32>
}

// Also where the whole is a part of another.
// CHECK-LABEL: @of_a_part_and_a_column_of_it(
func.func @of_a_part_and_a_column_of_it(%a: tensor<16x8xf32>) -> (tensor<16xf32>, tensor<16x3xf32>) {
  // CHECK: %[[PART:.*]] = tensor.extract_slice %arg0[0, 4] [16, 3] [1, 1]
  // CHECK: %[[SUM:.*]] = arith.addf %[[PART]], %{{.*}} : tensor<16x3xf32>
  // CHECK-NEXT: %[[COLUMN:.*]] = tensor.extract_slice %[[SUM]][0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  // CHECK-NEXT: return %[[COLUMN]], %[[SUM]]
  %eps = arith.constant dense<1.0e-4> : tensor<16x3xf32>
  %one = arith.constant dense<1.0e-4> : tensor<16xf32>
  %part = tensor.extract_slice %a[0, 4] [16, 3] [1, 1] : tensor<16x8xf32> to tensor<16x3xf32>
  %column = tensor.extract_slice %part[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %0 = arith.addf %column, %one : tensor<16xf32>
  %1 = arith.addf %part, %eps : tensor<16x3xf32>
  return %0, %1 : tensor<16xf32>, tensor<16x3xf32>
}

// The whole would cost more than one part of it.
// CHECK-LABEL: @of_one_half(
func.func @of_one_half(%a: tensor<16x8xf32>) -> tensor<16x4xf32> {
  // CHECK: math.exp %{{.*}} : tensor<16x4xf32>
  %a0 = tensor.extract_slice %a[0, 0] [16, 4] [1, 1] : tensor<16x8xf32> to tensor<16x4xf32>
  %0 = math.exp %a0 : tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}

// Values of which only the parts have one size.
// CHECK-LABEL: @of_parts_of_other_sizes(
func.func @of_parts_of_other_sizes(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>, %n: index)
    -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  // CHECK-COUNT-2: arith.mulf %{{.*}} : tensor<?x2xf32>
  %a0 = tensor.extract_slice %a[0, 0] [%n, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  %b0 = tensor.extract_slice %b[0, 0] [%n, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  %0 = arith.mulf %a0, %b0 : tensor<?x2xf32>
  %a1 = tensor.extract_slice %a[0, 2] [%n, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  %b1 = tensor.extract_slice %b[0, 2] [%n, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  %1 = arith.mulf %a1, %b1 : tensor<?x2xf32>
  return %0, %1 : tensor<?x2xf32>, tensor<?x2xf32>
}

// Parts in different places.
// CHECK-LABEL: @of_halves_swapped(
func.func @of_halves_swapped(%a: tensor<16x8xf32>, %b: tensor<16x8xf32>) -> (tensor<16x4xf32>, tensor<16x4xf32>) {
  // CHECK-COUNT-2: arith.mulf %{{.*}} : tensor<16x4xf32>
  %a0 = tensor.extract_slice %a[0, 0] [16, 4] [1, 1] : tensor<16x8xf32> to tensor<16x4xf32>
  %b1 = tensor.extract_slice %b[0, 4] [16, 4] [1, 1] : tensor<16x8xf32> to tensor<16x4xf32>
  %0 = arith.mulf %a0, %b1 : tensor<16x4xf32>
  %a1 = tensor.extract_slice %a[0, 4] [16, 4] [1, 1] : tensor<16x8xf32> to tensor<16x4xf32>
  %b0 = tensor.extract_slice %b[0, 0] [16, 4] [1, 1] : tensor<16x8xf32> to tensor<16x4xf32>
  %1 = arith.mulf %a1, %b0 : tensor<16x4xf32>
  return %0, %1 : tensor<16x4xf32>, tensor<16x4xf32>
}

// Both halves of a function, joined again. Only `%e` is read twice, within it.
// CHECK-LABEL: @computed_in_halves(
func.func @computed_in_halves(%x: tensor<?x8xf32>, %b: tensor<8xf32>, %s: tensor<?xf32>) -> tensor<?x8xf32> {
  // CHECK: %[[B:.*]] = mhc.broadcast %arg1[%{{.*}}] dims = [1] : tensor<8xf32> -> tensor<?x8xf32>
  // CHECK: %[[Z:.*]] = arith.addf %arg0, %[[B]]
  // CHECK: %[[E:.*]] = math.exp %[[Z]]
  // CHECK: %[[TWO:.*]] = tensor.splat
  // CHECK: %[[LIFTED:.*]] = arith.addf %[[E]], %[[TWO]]
  // CHECK: %[[Q:.*]] = arith.divf %[[E]], %[[LIFTED]]
  // CHECK: %[[S:.*]] = mhc.broadcast %arg2 dims = [0] : tensor<?xf32> -> tensor<?x8xf32>
  // CHECK: %[[OUT:.*]] = arith.mulf %[[Q]], %[[S]]
  // CHECK-NEXT: return %[[OUT]]
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x8xf32>
  %number = arith.constant 2.0 : f32
  %two = tensor.splat %number[%M] : tensor<?x4xf32>
  %scale = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  %x0 = tensor.extract_slice %x[0, 0] [%M, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %x1 = tensor.extract_slice %x[0, 4] [%M, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %b0 = tensor.extract_slice %b[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %b1 = tensor.extract_slice %b[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %r0 = mhc.broadcast %b0[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %r1 = mhc.broadcast %b1[%M] dims = [1] : tensor<4xf32> -> tensor<?x4xf32>
  %z0 = arith.addf %x0, %r0 : tensor<?x4xf32>
  %z1 = arith.addf %x1, %r1 : tensor<?x4xf32>
  %e0 = math.exp %z0 : tensor<?x4xf32>
  %e1 = math.exp %z1 : tensor<?x4xf32>
  %l0 = arith.addf %e0, %two : tensor<?x4xf32>
  %l1 = arith.addf %e1, %two : tensor<?x4xf32>
  %q0 = arith.divf %e0, %l0 : tensor<?x4xf32>
  %q1 = arith.divf %e1, %l1 : tensor<?x4xf32>
  %o0 = arith.mulf %q0, %scale : tensor<?x4xf32>
  %o1 = arith.mulf %q1, %scale : tensor<?x4xf32>
  %out = tensor.concat dim(1) %o0, %o1 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return %out : tensor<?x8xf32>
}

// The first halves multiply the same, the second do not.
// CHECK-LABEL: @halves_of_two_products(
func.func @halves_of_two_products(%x: tensor<16x8xf32>, %y: tensor<16x4xf32>) -> tensor<16x8xf32> {
  // CHECK: tensor.concat
  %x0 = tensor.extract_slice %x[0, 0] [16, 4] [1, 1] : tensor<16x8xf32> to tensor<16x4xf32>
  %x1 = tensor.extract_slice %x[0, 4] [16, 4] [1, 1] : tensor<16x8xf32> to tensor<16x4xf32>
  %0 = arith.mulf %x0, %x0 : tensor<16x4xf32>
  %1 = arith.mulf %x1, %y : tensor<16x4xf32>
  %out = tensor.concat dim(1) %0, %1 : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x8xf32>
  return %out : tensor<16x8xf32>
}

// Lists of operands that begin alike are not one.
// CHECK-LABEL: @halves_that_begin_alike(
func.func @halves_that_begin_alike(%x: tensor<16x4xf32>, %y: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // CHECK-NEXT: %[[E:.*]] = math.exp %arg1
  // CHECK-NEXT: %[[Z:.*]] = math.exp %[[E]]
  // CHECK-NEXT: %[[OUT:.*]] = arith.mulf %[[Z]], %[[E]]
  // CHECK-NEXT: return %[[OUT]]
  %y0 = tensor.extract_slice %y[0, 0] [16, 4] [1, 1] : tensor<16x8xf32> to tensor<16x4xf32>
  %y1 = tensor.extract_slice %y[0, 4] [16, 4] [1, 1] : tensor<16x8xf32> to tensor<16x4xf32>
  %e0 = math.exp %y0 : tensor<16x4xf32>
  %e1 = math.exp %y1 : tensor<16x4xf32>
  %z0 = math.exp %e0 : tensor<16x4xf32>
  %z1 = math.exp %e1 : tensor<16x4xf32>
  %0 = arith.mulf %z0, %e0 : tensor<16x4xf32>
  %1 = arith.mulf %z1, %e1 : tensor<16x4xf32>
  %out = tensor.concat dim(1) %0, %1 : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x8xf32>
  return %out : tensor<16x8xf32>
}

// A sum of parts beside the sum of the wholes, one of which is joined.
// CHECK-LABEL: @parts_beside_the_sum(
func.func @parts_beside_the_sum(%x: tensor<16x8xf32>, %y: tensor<16x4xf32>, %z: tensor<16x4xf32>)
    -> (tensor<16x8xf32>, tensor<16x4xf32>) {
  // CHECK: %[[SUM:.*]] = arith.addf %arg0, %{{.*}} : tensor<16x8xf32>
  // CHECK-NEXT: %[[PART:.*]] = tensor.extract_slice %[[SUM]][0, 4] [16, 4] [1, 1]
  // CHECK-NEXT: return %[[SUM]], %[[PART]]
  %w = tensor.concat dim(1) %y, %z : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x8xf32>
  %sum = arith.addf %x, %w : tensor<16x8xf32>
  %x1 = tensor.extract_slice %x[0, 4] [16, 4] [1, 1] : tensor<16x8xf32> to tensor<16x4xf32>
  %w1 = tensor.extract_slice %w[0, 4] [16, 4] [1, 1] : tensor<16x8xf32> to tensor<16x4xf32>
  %part = arith.addf %x1, %w1 : tensor<16x4xf32>
  return %sum, %part : tensor<16x8xf32>, tensor<16x4xf32>
}

// Insertions that begin alike.
// CHECK-LABEL: @insertions_with_one_beginning(
func.func @insertions_with_one_beginning(%a: tensor<16x4xf32>, %b: tensor<16x4xf32>, %c: tensor<16x4xf32>)
    -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  // CHECK-DAG: %[[AB:.*]] = tensor.concat dim(1) %arg0, %arg1
  // CHECK-DAG: %[[AC:.*]] = tensor.concat dim(1) %arg0, %arg2
  // CHECK: return %[[AB]], %[[AC]]
  %empty = tensor.empty() : tensor<16x8xf32>
  %0 = tensor.insert_slice %a into %empty[0, 0] [16, 4] [1, 1] : tensor<16x4xf32> into tensor<16x8xf32>
  %1 = tensor.insert_slice %b into %0[0, 4] [16, 4] [1, 1] : tensor<16x4xf32> into tensor<16x8xf32>
  %2 = tensor.insert_slice %c into %0[0, 4] [16, 4] [1, 1] : tensor<16x4xf32> into tensor<16x8xf32>
  return %1, %2 : tensor<16x8xf32>, tensor<16x8xf32>
}
// The whole is computed transposed: the repeated rows are copies until that is undone.
// CHECK-LABEL: @of_the_whole_transposed(
func.func @of_the_whole_transposed(%x: tensor<8x4x4xf32>, %s: tensor<8x4xf32>) -> (tensor<8x4x4xf32>, tensor<8xf32>) {
  // CHECK: %[[ALL:.*]] = arith.divf %arg0, %{{.*}} : tensor<8x4x4xf32>
  // CHECK-NEXT: %[[PART:.*]] = tensor.extract_slice %[[ALL]][0, 0, 1] [8, 1, 1]
  // CHECK-NEXT: return %[[ALL]], %[[PART]]
  %rows = mhc.broadcast %s dims = [0, 2] : tensor<8x4xf32> -> tensor<8x4x4xf32>
  %x0 = tensor.extract_slice %x[0, 0, 1] [8, 1, 1] [1, 1, 1] : tensor<8x4x4xf32> to tensor<8xf32>
  %s0 = tensor.extract_slice %rows[0, 0, 1] [8, 1, 1] [1, 1, 1] : tensor<8x4x4xf32> to tensor<8xf32>
  %part = arith.divf %x0, %s0 : tensor<8xf32>
  %xt = mhc.transpose %x perm = [1, 2, 0] : tensor<8x4x4xf32> -> tensor<4x4x8xf32>
  %rt = mhc.transpose %rows perm = [1, 2, 0] : tensor<8x4x4xf32> -> tensor<4x4x8xf32>
  %q = arith.divf %xt, %rt : tensor<4x4x8xf32>
  %all = mhc.transpose %q perm = [2, 0, 1] : tensor<4x4x8xf32> -> tensor<8x4x4xf32>
  return %all, %part : tensor<8x4x4xf32>, tensor<8xf32>
}
