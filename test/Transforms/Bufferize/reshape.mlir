// RUN: mhcc %s --fuse=none --verify --size=M=5 | FileCheck %s

// A reshape whose sizes nothing tells to be those of its operand goes by way of all elements in a row.

// CHECK: result0: verified
func.func @main(%x: tensor<?x?x6xf32>) -> tensor<?x?x2x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %B = tensor.dim %x, %c0 : tensor<?x?x6xf32>
  %T = tensor.dim %x, %c1 : tensor<?x?x6xf32>
  %rest = arith.remsi %T, %T : index
  %length = arith.subi %T, %rest : index
  %whole = tensor.extract_slice %x[0, 0, 0] [%B, %length, 6] [1, 1, 1] : tensor<?x?x6xf32> to tensor<?x?x6xf32>
  %e = math.exp %whole : tensor<?x?x6xf32>
  %sizes = tensor.from_elements %B, %T, %c2, %c3 : tensor<4xindex>
  %r = tensor.reshape %e(%sizes) : (tensor<?x?x6xf32>, tensor<4xindex>) -> tensor<?x?x2x3xf32>
  %y = arith.addf %r, %r : tensor<?x?x2x3xf32>
  return %y : tensor<?x?x2x3xf32>
}
