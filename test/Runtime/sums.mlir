// Sums in loops are as exact for a million terms as for a few, and have the same bits for any number of threads.
// RUN: rm -rf %t && mkdir %t && %python %S/Inputs/sums.py %t
// RUN: mhcc %s -o %t/fused.so
// RUN: mhcc %s --fuse=none -o %t/plain.so
// RUN: mhc-run %t/fused.so --entry sums --args %t --expect columns=%t/columns.npy --expect squares=%t/squares.npy --expect mean=%t/mean.npy --expect rows=%t/rows.npy --expect outer=%t/outer.npy --expect shares=%t/shares.npy --tolerance 2e-5 --threads 1 --out columns=%t/columns1.npy --out mean=%t/mean1.npy --out rows=%t/rows1.npy
// RUN: mhc-run %t/plain.so --entry sums --args %t --expect columns=%t/columns.npy --expect squares=%t/squares.npy --expect mean=%t/mean.npy --expect rows=%t/rows.npy --expect outer=%t/outer.npy --expect shares=%t/shares.npy --tolerance 2e-5
// RUN: mhc-run %t/fused.so --entry sums --args %t --threads 3 --out columns=%t/columns3.npy --out mean=%t/mean3.npy --out rows=%t/rows3.npy
// RUN: mhc-run %t/fused.so --entry part --arg x=%t/x.npy --arg rows=%t/count.npy --expect columns=%t/columns.npy --tolerance 2e-5
// RUN: cmp %t/columns1.npy %t/columns3.npy
// RUN: cmp %t/mean1.npy %t/mean3.npy
// RUN: cmp %t/rows1.npy %t/rows3.npy

#terms = affine_map<(d0, d1) -> (d1)>
#weights = affine_map<(d0, d1) -> (d0)>
func.func @sums(%x: tensor<?x5xf32> {mhc.name = "x"}, %y: tensor<?xf32> {mhc.name = "y"},
                %w: tensor<5xf32> {mhc.name = "w"}, %logits: tensor<?xf32> {mhc.name = "logits"})
    -> (tensor<5xf32> {mhc.name = "columns"}, tensor<5xf32> {mhc.name = "squares"}, tensor<f32> {mhc.name = "mean"},
        tensor<5xf32> {mhc.name = "rows"}, tensor<5xf32> {mhc.name = "outer"}, tensor<?xf32> {mhc.name = "shares"}) {
  %columns = mhc.reduce sum %x dims = [0] : tensor<?x5xf32> -> tensor<5xf32>
  %products = arith.mulf %x, %x : tensor<?x5xf32>
  %squares = mhc.reduce sum %products dims = [0] : tensor<?x5xf32> -> tensor<5xf32>
  %mean = mhc.reduce mean %x dims = [0, 1] : tensor<?x5xf32> -> tensor<f32>
  %turned = mhc.transpose %x perm = [1, 0] : tensor<?x5xf32> -> tensor<5x?xf32>
  %doubled = arith.addf %turned, %turned : tensor<5x?xf32>
  %twice = mhc.reduce sum %doubled dims = [1] : tensor<5x?xf32> -> tensor<5xf32>
  %half = arith.constant dense<0.5> : tensor<5xf32>
  %rows = arith.mulf %twice, %half : tensor<5xf32>
  // No operand has an element for each term.
  %zero = arith.constant dense<0.0> : tensor<5xf32>
  %outer = linalg.generic {indexing_maps = [#terms, #weights, #weights], iterator_types = ["parallel", "reduction"]}
      ins(%y, %w : tensor<?xf32>, tensor<5xf32>) outs(%zero : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<5xf32>
  %shares = mhc.softmax %logits dim = 0 : tensor<?xf32>
  return %columns, %squares, %mean, %rows, %outer, %shares
      : tensor<5xf32>, tensor<5xf32>, tensor<f32>, tensor<5xf32>, tensor<5xf32>, tensor<?xf32>
}

// The number of rows depends on data.
func.func @part(%x: tensor<?x5xf32> {mhc.name = "x"}, %rows: tensor<1xi64> {mhc.name = "rows"})
    -> (tensor<5xf32> {mhc.name = "columns"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.extract %rows[%c0] : tensor<1xi64>
  %size = arith.index_cast %n : i64 to index
  %part = tensor.extract_slice %x[0, 0] [%size, 5] [1, 1] : tensor<?x5xf32> to tensor<?x5xf32>
  %columns = mhc.reduce sum %part dims = [0] : tensor<?x5xf32> -> tensor<5xf32>
  return %columns : tensor<5xf32>
}
