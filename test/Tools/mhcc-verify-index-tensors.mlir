// RUN: mhcc %s --verify | FileCheck %s
// RUN: mhcc %s --verify --fuse=none | FileCheck %s

// Tensors of index are temporaries, constants and single elements as others are: an index is 64 bits in memory.
// CHECK: result0: verified, largest error 0,
// CHECK: result1: verified, largest error 0,
// CHECK: result2: verified, largest error 0,
func.func @f(%x: tensor<?x4xi32>) -> (tensor<?x4xi32>, tensor<4xi64>, tensor<1x4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %some = arith.constant dense<[3, 0, -7, 1099511627776]> : tensor<4xindex>
  %0 = arith.index_cast %x : tensor<?x4xi32> to tensor<?x4xindex>
  %twice = arith.addi %0, %0 : tensor<?x4xindex>
  %row = tensor.extract_slice %twice[0, 0] [1, 4] [1, 1] : tensor<?x4xindex> to tensor<4xindex>
  %more = arith.addi %row, %some : tensor<4xindex>
  %back = arith.index_cast %twice : tensor<?x4xindex> to tensor<?x4xi32>
  %sum = arith.index_cast %more : tensor<4xindex> to tensor<4xi64>
  %number = tensor.extract %some[%c1] : tensor<4xindex>
  %first = tensor.extract_slice %back[%number, 0] [1, 4] [1, 1] : tensor<?x4xi32> to tensor<1x4xi32>
  return %back, %sum, %first : tensor<?x4xi32>, tensor<4xi64>, tensor<1x4xi32>
}
