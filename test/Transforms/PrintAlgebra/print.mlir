// RUN: mhc-opt %s --mhc-print-algebra -o /dev/null | FileCheck %s

// Products and reshapes are indices; a definition that is read inside another has a name.
// CHECK-LABEL: @aggregate
// CHECK: %[[DIM:.*]] = %[[DIM]][]
// CHECK: %expanded = %arg0[i0<s0,i2<4]
// CHECK: %[[U:.*]] = sum{r0<4}(%arg0[i0<s0,r0<4] * %arg1[i0<s0,r0<4,i2<8])
func.func @aggregate(%h: tensor<?x4xf32>, %x: tensor<?x4x8xf32>) -> tensor<?x1x8xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4x8xf32>
  %row = tensor.expand_shape %h [[0], [1, 2]] output_shape [%M, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
  %u = mhc.batch_matmul %row, %x : (tensor<?x1x4xf32>, tensor<?x4x8xf32>) -> tensor<?x1x8xf32>
  return %u : tensor<?x1x8xf32>
}

// CHECK-LABEL: @norm
// CHECK: #[[SUM:[0-9]+]][i0<s0] = (sum{r0<24}((%arg0[i0<s0,r0<24])^2) + 0.00024)
// CHECK-NEXT: %[[N:.*]] = 4.898979 * %arg0[i0<s0,i1<24] * (#[[SUM]][i0<s0])^-1/2
// CHECK: %extracted_slice = 4.898979 * %arg0[i0<s0,20+i1<4] * (#[[SUM]][i0<s0])^-1/2
// CHECK: %expanded = 4.898979 * %arg0[i0<s0,20+2*i1<2+i2<2] * (#[[SUM]][i0<s0])^-1/2
func.func @norm(%x: tensor<?x24xf32>) -> tensor<?x2x2xf32> {
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x24xf32>
  %n = mhc.rms_norm %x eps = 1.0e-05 : tensor<?x24xf32>
  %s = tensor.extract_slice %n[0, 20] [%M, 4] [1, 1] : tensor<?x24xf32> to tensor<?x4xf32>
  %r = tensor.expand_shape %s [[0], [1, 2]] output_shape [%M, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  return %r : tensor<?x2x2xf32>
}

// One number, joined of parts that have no size in common.
// CHECK-LABEL: @number_of_two_sizes
// CHECK: %concat = 1
// CHECK-NEXT: %out = sum{r0<85}(%arg0[i0<s0,r0<85])
func.func @number_of_two_sizes(%x: tensor<?x85xf32>) -> tensor<?x1xf32> {
  %ones = arith.constant dense<1.0> : tensor<85x1xf32>
  %first = tensor.extract_slice %ones[0, 0] [42, 1] [1, 1] : tensor<85x1xf32> to tensor<42x1xf32>
  %second = tensor.extract_slice %ones[42, 0] [43, 1] [1, 1] : tensor<85x1xf32> to tensor<43x1xf32>
  %all = tensor.concat dim(0) %first, %second : (tensor<42x1xf32>, tensor<43x1xf32>) -> tensor<85x1xf32>
  %out = mhc.matmul %x, %all : (tensor<?x85xf32>, tensor<85x1xf32>) -> tensor<?x1xf32>
  return %out : tensor<?x1xf32>
}
