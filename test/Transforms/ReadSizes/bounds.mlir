// RUN: mhc-opt %s --mhc-read-sizes | FileCheck %s

// The end of x[:M] behind a convolution, which has three tokens more: exporters take the smaller one of M and M + 3,
// and nothing below 0. Between two sizes either may be the smaller one.
// CHECK-LABEL: func.func @slices(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[Y:.*]]: tensor<?x4xf32>)
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[Y]], %c0
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[X]][0, 0] [%[[M]], 4] [1, 1]
// CHECK: tensor.expand_shape %[[PART]] {{.*}} output_shape [%[[M]], 2, 2]
// CHECK: %[[LESS:.*]] = arith.minsi %[[M]], %[[N]]
// CHECK: tensor.extract_slice %[[X]][0, 0] [%[[LESS]], 4] [1, 1]
func.func @slices(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> (tensor<?x2x2xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : i64
  %two = arith.constant 2 : i64
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %N = tensor.dim %y, %c0 : tensor<?x4xf32>
  %tokens = arith.index_cast %M : index to i64
  %longer = arith.addi %tokens, %c3 : i64
  %all = arith.index_cast %longer : i64 to index
  %some = arith.minsi %M, %all : index
  %end = arith.maxsi %some, %c0 : index
  %part = tensor.extract_slice %x[0, 0] [%end, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  %sizes = tensor.from_elements %tokens, %two, %two : tensor<3xi64>
  %split = tensor.reshape %part(%sizes) : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<?x2x2xf32>
  %less = arith.minsi %M, %N : index
  %common = tensor.extract_slice %x[0, 0] [%less, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  return %split, %common : tensor<?x2x2xf32>, tensor<?x4xf32>
}

// The same where nothing else computes with sizes.
// CHECK-LABEL: func.func @slice_alone(
// CHECK: %[[M:.*]] = tensor.dim %{{.*}}, %c0
// CHECK-NOT: arith.m
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [%[[M]], 4] [1, 1]
func.func @slice_alone(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %minus = arith.constant -1 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %longer = arith.addi %M, %c3 : index
  %isNegative = arith.cmpi slt, %M, %c0 : index
  %least = arith.select %isNegative, %minus, %M : index
  %some = arith.minsi %least, %longer : index
  %end = arith.maxsi %some, %c0 : index
  %part = tensor.extract_slice %x[0, 0] [%end, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  return %part : tensor<?x4xf32>
}

// x[1:M + 1] of a tensor of M + 3 tokens: a bound of a difference of another bound.
// CHECK-LABEL: func.func @slice_within(
// CHECK-NOT: arith.m
// CHECK: return
func.func @slice_within(%x: tensor<?x4xf32>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %longer = arith.addi %M, %c3 : index
  %end = arith.addi %M, %c1 : index
  %some = arith.minsi %end, %longer : index
  %count = arith.subi %some, %c1 : index
  %size = arith.maxsi %count, %c0 : index
  return %size : index
}

// x[:M + 1], where negative ends are counted from the last one, twice.
// CHECK-LABEL: func.func @chosen_again(
// CHECK: %[[M:.*]] = tensor.dim %{{.*}}, %c0
// CHECK: %[[END:.*]] = arith.addi %[[M]], %c1
// CHECK-NEXT: return %[[END]]
func.func @chosen_again(%x: tensor<?x4xf32>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %minus = arith.constant -1 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %end = arith.addi %M, %c1 : index
  %longer = arith.addi %M, %c3 : index
  %from_the_last = arith.addi %end, %longer : index
  %is_negative = arith.cmpi slt, %end, %c0 : index
  %place = arith.select %is_negative, %from_the_last, %end : index
  %is_before = arith.cmpi slt, %place, %c0 : index
  %bounded = arith.select %is_before, %minus, %place : index
  %some = arith.minsi %bounded, %longer : index
  return %some : index
}
