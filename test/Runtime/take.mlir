// The compiled kernels against the float64 evaluator, forward and backward. Random numbers of rows are 0 and 1.
// RUN: mhcc %s --fuse=none --grad=take --verify | FileCheck %s
// RUN: mhcc %s --fuse=none --grad=take --verify --size=M=0 | FileCheck %s
// A number that is no row of the table is an error.
// RUN: not mhcc %s --run=take --args %S/Inputs/take 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: mhcc: error: {{.*}}mhcrt_take: 'ids' has 3 at 1; needed 0 to 2
// With -g it names the line.
// RUN: not mhcc %s -g --run=take --args %S/Inputs/take 2>&1 | FileCheck %s --check-prefix=LINE
// LINE: mhcc: error: {{.*}}mhcrt_take: 'ids' has 3 at 1; needed 0 to 2 (at take.mlir:20:10)
// RUN: not mhcc %s --run=negative --args %S/Inputs/take 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: mhcc: error: {{.*}}mhcrt_take: 'ids' has -1 at 2; needed 0 to 6

// CHECK: entry take
// CHECK-NEXT: out: verified
// CHECK: entry take_grad
// CHECK-NEXT: out: verified
// CHECK-NEXT: d_table: verified
func.func @take(%table: tensor<3x65xf32> {mhc.name = "table"}, %ids: tensor<?xi32> {mhc.name = "ids"})
    -> (tensor<?x65xf32> {mhc.name = "out"}) {
  %out = mhc.take(table = %table : tensor<3x65xf32>, ids = %ids : tensor<?xi32>) -> (out : tensor<?x65xf32>)
  return %out : tensor<?x65xf32>
}

// CHECK: entry negative
// CHECK-NEXT: out: verified
func.func @negative(%wide: tensor<7x1xf16> {mhc.name = "wide"}, %ids: tensor<?xi32> {mhc.name = "negative"})
    -> (tensor<?x1xf16> {mhc.name = "out"}) {
  %out = mhc.take(table = %wide : tensor<7x1xf16>, ids = %ids : tensor<?xi32>) -> (out : tensor<?x1xf16>)
  return %out : tensor<?x1xf16>
}

// The sum starts from what is given, here in its buffer.
// CHECK: entry add
// CHECK-NEXT: out: verified
func.func @add(%rows: tensor<?x129xbf16>, %ids: tensor<?xi32>, %table: tensor<5x129xf32>)
    -> (tensor<5x129xf32> {mhc.name = "out"}) {
  %start = mhc.sigmoid %table : tensor<5x129xf32>
  %out = mhc.take_bwd(d_out = %rows : tensor<?x129xbf16>, ids = %ids : tensor<?xi32>, d_table_in = %start : tensor<5x129xf32>)
    -> (d_table : tensor<5x129xf32>)
  return %out : tensor<5x129xf32>
}
