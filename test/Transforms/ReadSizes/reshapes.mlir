// RUN: mhc-opt %s --split-input-file --mhc-read-sizes --canonicalize --cse | FileCheck %s

// The shape of a view with two open sizes, as exporters compute it: sizes may be negative, one may be inferred.

// CHECK-LABEL: @two_open_sizes(
// CHECK-NOT: cf.assert
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] : tensor<?x?x4x16xf32> into tensor<?x?x64xf32>
// CHECK-NOT: tensor.reshape
func.func @two_open_sizes(%x: tensor<?x?x4x16xf32>) -> tensor<?x?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %k = arith.constant 64 : i64
  %d0 = tensor.dim %x, %c0 : tensor<?x?x4x16xf32>
  %d1 = tensor.dim %x, %c1 : tensor<?x?x4x16xf32>
  %b = arith.index_cast %d0 : index to i64
  %s = arith.index_cast %d1 : index to i64
  %b_less = arith.cmpi slt, %b, %zero : i64
  %s_less = arith.cmpi slt, %s, %zero : i64
  %b_or_1 = arith.select %b_less, %one, %b : i64
  %bs = arith.muli %b_or_1, %s : i64
  %rest = arith.select %s_less, %b_or_1, %bs : i64
  %known = arith.muli %rest, %k : i64
  %all = arith.muli %b, %s : i64
  %elements = arith.muli %all, %k : i64
  %inferred = arith.divsi %elements, %known : i64
  %to_b = arith.select %b_less, %inferred, %b : i64
  %to_s = arith.select %s_less, %inferred, %s : i64
  %fine = arith.cmpi sge, %all, %zero : i64
  cf.assert %fine, "unimplemented: dynamic negative broadcast sizes"
  %shape = tensor.from_elements %to_b, %to_s, %k : tensor<3xi64>
  %r = tensor.reshape %x(%shape) : (tensor<?x?x4x16xf32>, tensor<3xi64>) -> tensor<?x?x64xf32>
  return %r : tensor<?x?x64xf32>
}

// -----

// Tokens become one dimension, whose size is a quotient, and come apart again.

// CHECK-LABEL: @joined_and_apart(
// CHECK: %[[JOINED:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<?x?x64xf32> into tensor<?x64xf32>
// CHECK: tensor.expand_shape %[[JOINED]] {{\[\[}}0], [1, 2]] {{.*}} into tensor<?x16x4xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] {{.*}} into tensor<?x?x16x4xf32>
// CHECK-NOT: tensor.reshape
func.func @joined_and_apart(%x: tensor<?x?x64xf32>) -> (tensor<?x16x4xf32>, tensor<?x?x16x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant 64 : i64
  %c = arith.constant 16 : i64
  %n = arith.constant 4 : i64
  %d0 = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %d1 = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %b = arith.index_cast %d0 : index to i64
  %s = arith.index_cast %d1 : index to i64
  %bs = arith.muli %b, %s : i64
  %elements = arith.muli %bs, %k : i64
  %m = arith.divsi %elements, %k : i64
  %joined = tensor.from_elements %m, %c, %n : tensor<3xi64>
  %y = tensor.reshape %x(%joined) : (tensor<?x?x64xf32>, tensor<3xi64>) -> tensor<?x16x4xf32>
  %apart = tensor.from_elements %b, %s, %c, %n : tensor<4xi64>
  %z = tensor.reshape %y(%apart) : (tensor<?x16x4xf32>, tensor<4xi64>) -> tensor<?x?x16x4xf32>
  return %y, %z : tensor<?x16x4xf32>, tensor<?x?x16x4xf32>
}

// -----

// A size that the body states is asked of the caller: what states it may go.

// CHECK-LABEL: @stated(
// CHECK-SAME: tensor<?x1x8xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<?x1x8xf32> into tensor<?x8xf32>
func.func @stated(%x: tensor<?x?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %cast = tensor.cast %x : tensor<?x?x8xf32> to tensor<?x1x8xf32>
  %m = tensor.dim %cast, %c0 : tensor<?x1x8xf32>
  %shape = tensor.from_elements %m, %c8 : tensor<2xindex>
  %r = tensor.reshape %cast(%shape) : (tensor<?x1x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// Nothing says what the shape is.

// CHECK-LABEL: @unknown(
// CHECK: tensor.reshape
func.func @unknown(%x: tensor<?x?x8xf32>, %shape: tensor<4xindex>) -> tensor<?x?x4x2xf32> {
  %r = tensor.reshape %x(%shape) : (tensor<?x?x8xf32>, tensor<4xindex>) -> tensor<?x?x4x2xf32>
  return %r : tensor<?x?x4x2xf32>
}

// -----

// A size of -1 is none: it follows from the others, as between types with one open size.

// CHECK-LABEL: @inferred(
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<?x4x2xf32> into tensor<?x8xf32>
// CHECK: tensor.reshape %{{.*}} -> tensor<?x?xf32>
func.func @inferred(%x: tensor<?x4x2xf32>) -> (tensor<?x8xf32>, tensor<?x?xf32>) {
  %rest = arith.constant -1 : index
  %c8 = arith.constant 8 : index
  %shape = tensor.from_elements %rest, %c8 : tensor<2xindex>
  %one = tensor.reshape %x(%shape) : (tensor<?x4x2xf32>, tensor<2xindex>) -> tensor<?x8xf32>
  %two = tensor.reshape %x(%shape) : (tensor<?x4x2xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %one, %two : tensor<?x8xf32>, tensor<?x?xf32>
}

// -----

// An open size is a multiple: no other divides it exactly.
// CHECK-LABEL: @open_multiple(
// CHECK: arith.floordivsi
// CHECK: %[[WIDE:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2], [3]] output_shape [{{.*}}, 4, {{.*}}, 48] : tensor<?x?x48xf32> into tensor<?x4x?x48xf32>
// CHECK: %[[ALL:.*]] = math.exp %[[WIDE]]
// CHECK: tensor.collapse_shape %[[ALL]] {{\[\[}}0, 1], [2], [3]] : tensor<?x4x?x48xf32> into tensor<?x?x48xf32>
// CHECK-NOT: tensor.reshape
func.func @open_multiple(%x: tensor<?x?x48xf32>) -> tensor<?x?x48xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4 : i64
  %c = arith.constant 48 : i64
  %d0 = tensor.dim %x, %c0 : tensor<?x?x48xf32>
  %d1 = tensor.dim %x, %c1 : tensor<?x?x48xf32>
  %bn = arith.index_cast %d0 : index to i64
  %t = arith.index_cast %d1 : index to i64
  %b = arith.floordivsi %bn, %n : i64
  %apart = tensor.from_elements %b, %n, %t, %c : tensor<4xi64>
  %wide = tensor.reshape %x(%apart) : (tensor<?x?x48xf32>, tensor<4xi64>) -> tensor<?x4x?x48xf32>
  %exp = math.exp %wide : tensor<?x4x?x48xf32>
  %joined = tensor.from_elements %bn, %t, %c : tensor<3xi64>
  %out = tensor.reshape %exp(%joined) : (tensor<?x4x?x48xf32>, tensor<3xi64>) -> tensor<?x?x48xf32>
  return %out : tensor<?x?x48xf32>
}

// -----

// Two open sizes may share out the factor in any way.
// CHECK-LABEL: @factor_of_two_sizes(
// CHECK: tensor.reshape
func.func @factor_of_two_sizes(%x: tensor<?x?xf32>, %a: i64, %b: i64) -> tensor<?x4x?xf32> {
  %n = arith.constant 4 : i64
  %shape = tensor.from_elements %a, %n, %b : tensor<3xi64>
  %out = tensor.reshape %x(%shape) : (tensor<?x?xf32>, tensor<3xi64>) -> tensor<?x4x?xf32>
  return %out : tensor<?x4x?xf32>
}
