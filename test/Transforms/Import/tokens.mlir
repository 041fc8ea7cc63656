// A reshape that splits tokens alone gets no second one beside it: imported twice, a program is as imported once.
// RUN: mhc-opt %s -mhc-import > %t.once
// RUN: mhc-opt %t.once -mhc-import > %t.twice
// RUN: diff %t.once %t.twice
// RUN: FileCheck %s < %t.once

// CHECK-LABEL: @apart
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape
// CHECK: math.exp %[[ROWS]] : tensor<?x8xf32>
// CHECK-NOT: tensor.expand_shape %{{.*}} {{\[\[0\], \[1\]\]}}
func.func @apart(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  %y = math.exp %rows : tensor<?x8xf32>
  %out = tensor.expand_shape %y [[0, 1], [2]] output_shape [%s, %b, 8] : tensor<?x8xf32> into tensor<?x?x8xf32>
  return %out : tensor<?x?x8xf32>
}
