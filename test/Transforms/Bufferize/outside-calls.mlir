// RUN: mhc-opt %s --mhc-describe-entries --mhc-bufferize --mhc-check-sizes | FileCheck %s
// RUN: mhc-opt %s --mhc-describe-entries --mhc-bufferize > %t.once
// RUN: mhc-opt %s --mhc-describe-entries --mhc-bufferize --mhc-bufferize > %t.twice
// RUN: diff %t.once %t.twice

// The caller allocates the results, as large as the argument that has a size of the same name, and arguments are not
// copied. Sizes of one name are checked.
// CHECK: func.func private @mix(memref<?x8xf32> {mhc.dims = ["M", "8"], mhc.name = "arg0"},
// CHECK-SAME: memref<?xf32> {mhc.dims = ["M"], mhc.name = "arg1"},
// CHECK-SAME: memref<8x?xf32> {mhc.dims = ["8", "M"], mhc.name = "y", mhc.result}) attributes {mhc.outside_function}
func.func private @mix(tensor<?x8xf32> {mhc.dims = ["M", "8"]}, tensor<?xf32> {mhc.dims = ["M"]})
    -> (tensor<8x?xf32> {mhc.dims = ["8", "M"], mhc.name = "y"})

// A program cannot say so of a function with a body, nor leave out the description.
// CHECK: func.func private @body(%{{.*}}: memref<4xf32>) -> memref<4xf32> {
func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mhc.outside_function} {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @call
// CHECK-SAME: %[[X:.*]]: memref<?x8xf32> {{.*}}, %[[W:.*]]: memref<?xf32>
func.func @call(%x: tensor<?x8xf32>, %w: tensor<?xf32>) -> tensor<8x?xf32> {
  // CHECK-DAG: %[[M:.*]] = memref.dim %[[X]]
  // CHECK-DAG: %[[Y:.*]] = memref.alloc(%{{.*}}) : memref<8x?xf32>
  // CHECK-NOT: memref.copy
  // CHECK: call @mix(%[[X]], %[[W]], %[[Y]]) : (memref<?x8xf32>, memref<?xf32>, memref<8x?xf32>) -> ()
  %y = func.call @mix(%x, %w) : (tensor<?x8xf32>, tensor<?xf32>) -> tensor<8x?xf32>
  return %y : tensor<8x?xf32>
}

// A part of the arguments' sizes is not known to be equal.
// CHECK-LABEL: func.func @part
func.func @part(%x: tensor<?x8xf32>, %w: tensor<?xf32>, %n: tensor<?xf32>) -> tensor<8x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %N = tensor.dim %n, %c0 : tensor<?xf32>
  %half = arith.divsi %N, %c2 : index
  %rows = tensor.extract_slice %x[0, 0] [%half, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  // CHECK: call @mhc.check_size({{.*}}) {mhc.checked = "'M' of 'arg1' in the call of 'mix'"}
  // CHECK: call @mix
  %y = func.call @mix(%rows, %w) : (tensor<?x8xf32>, tensor<?xf32>) -> tensor<8x?xf32>
  return %y : tensor<8x?xf32>
}
