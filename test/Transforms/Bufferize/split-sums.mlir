// RUN: mhc-opt %s -convert-mhc-to-linalg -mhc-fuse-elementwise -mhc-split-sums -cse -canonicalize | FileCheck %s
// RUN: mhc-opt %s -convert-mhc-to-linalg -mhc-fuse-elementwise -mhc-split-sums=on-gpu -cse -canonicalize | FileCheck %s --check-prefix=GPU

// CHECK-DAG: #[[BLOCKS:.*]] = affine_map<(d0, d1, d2) -> (d0 * 256 + d1, d2)>
// CHECK-DAG: #[[KEPT:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[TENS:.*]] = affine_map<(d0, d1, d2) -> (d0 * 10 + d1, d2)>
// CHECK-DAG: #[[HUNDREDS:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 250 + d2)>

// Sums of 256 terms, in f32, are added in f64. What is left behind the last of them comes at last.
// CHECK-LABEL: @columns
// CHECK: %[[M:.*]] = tensor.dim %[[X:.*]], %c0
// CHECK: %[[P:.*]] = arith.divsi %[[M]], %c256
// CHECK: %[[FIRST:.*]] = arith.muli %[[P]], %c256
// CHECK: %[[PARTS:.*]] = tensor.empty(%[[P]]) : tensor<?x8xf32>
// CHECK: %[[ZERO:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[PARTS]]
// CHECK: %[[SUMS:.*]] = linalg.generic {indexing_maps = [#[[BLOCKS]], {{.*}}, #[[KEPT]]], iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[X]], {{.*}}) outs(%[[ZERO]]
// CHECK: %[[WIDE:.*]] = linalg.fill ins(%{{.*}} : f64)
// CHECK: %[[TOTAL:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[COLUMN]]], iterator_types = ["reduction", "parallel"]} ins(%[[SUMS]] {{.*}}) outs(%[[WIDE]] : tensor<8xf64>)
// CHECK: %[[LEFT:.*]] = arith.subi %[[M]], %[[FIRST]]
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[X]][%[[FIRST]], 0] [%[[LEFT]], 8] [1, 1]
// CHECK: %[[REST:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[COLUMN]]], iterator_types = ["reduction", "parallel"]} ins(%[[SLICE]] {{.*}}) outs(%{{.*}} : tensor<8xf32>)
// CHECK: %[[OUT:.*]] = linalg.generic {{.*}} ins(%[[TOTAL]], %[[REST]] {{.*}}) outs({{.*}} : tensor<8xf32>)
// CHECK: arith.addf {{.*}} : f64
// CHECK: arith.truncf
// CHECK: return %[[OUT]]
// Few, and of any length: a GPU gets work by blocks, too.
// GPU-LABEL: @columns
// GPU: arith.divsi
func.func @columns(%x: tensor<?x8xf32>) -> tensor<8xf32> {
  %0 = mhc.reduce sum %x dims = [0] : tensor<?x8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A divisor of the length leaves nothing behind the last block.
// CHECK-LABEL: @divisor
// CHECK-NOT: tensor.extract_slice
// CHECK: linalg.generic {indexing_maps = [#[[HUNDREDS]]
// CHECK-SAME: ["parallel", "parallel", "reduction"]
// CHECK-SAME: tensor<8x4xf32>
// CHECK-NOT: tensor.extract_slice
// CHECK: return
// A warp adds it in one launch.
// GPU-LABEL: @divisor
// GPU-COUNT-1: linalg.generic
// GPU-NOT: linalg.generic
// GPU: return
func.func @divisor(%x: tensor<8x1000xf32>) -> tensor<8xf32> {
  %0 = mhc.reduce sum %x dims = [1] : tensor<8x1000xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A lone thread of a GPU would add what two loops have left, so each of them has a launch.
// CHECK-LABEL: @everything
// CHECK: ["parallel", "parallel", "reduction"]
// CHECK-SAME: tensor<16384x16xf32>
// CHECK: ["reduction", "reduction"]
// CHECK-SAME: outs({{.*}} : tensor<f64>)
// GPU-LABEL: @everything
// GPU: ["parallel", "parallel", "reduction"]
// GPU-SAME: tensor<16384x16xf32>
// GPU: ["parallel", "reduction"]
// GPU-SAME: ins({{.*}} : tensor<16384x16xf32>) outs({{.*}} : tensor<16384xf64>)
// GPU: ["reduction"]
// GPU-SAME: ins({{.*}} : tensor<16384xf64>) outs({{.*}} : tensor<f64>)
// GPU: arith.truncf
func.func @everything(%x: tensor<16384x4096xf32>) -> tensor<f32> {
  %0 = arith.mulf %x, %x : tensor<16384x4096xf32>
  %1 = mhc.reduce sum %0 dims = [0, 1] : tensor<16384x4096xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// A block has all iterations of the inner loop; the blocks of all outer ones are added at last.
// CHECK-LABEL: @two_loops
// CHECK: linalg.generic {indexing_maps = [#[[TENS]]
// CHECK-SAME: ["parallel", "reduction", "reduction"]
// CHECK-SAME: tensor<10xf32>
func.func @two_loops(%x: tensor<100x25xf32>) -> tensor<f32> {
  %0 = mhc.reduce sum %x dims = [0, 1] : tensor<100x25xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// The outer loop need not be cut where the inner one is a block.
// CHECK-LABEL: @whole_rows
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<100x200xf32>) outs(%{{.*}} : tensor<100xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%{{.*}} : tensor<100xf32>) outs(%{{.*}} : tensor<f64>)
func.func @whole_rows(%x: tensor<100x200xf32>) -> tensor<f32> {
  %0 = mhc.reduce sum %x dims = [0, 1] : tensor<100x200xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// The producers of the terms are in the loops of the blocks and of the rest; so is the index of an iteration.
// CHECK-LABEL: @turns
// CHECK: linalg.generic {{.*}} ["parallel", "reduction"]
// CHECK: %[[BLOCK:.*]] = linalg.index 0
// CHECK: %[[BEFORE:.*]] = arith.muli %[[BLOCK]], %c256
// CHECK: %[[INSIDE:.*]] = linalg.index 1
// CHECK: arith.addi %[[BEFORE]], %[[INSIDE]]
// CHECK: arith.mulf
// CHECK: linalg.generic {{.*}} ["reduction"]
// CHECK: %[[TURN:.*]] = linalg.index 0
// CHECK: arith.addi %[[TURN]], %c768
// CHECK: arith.mulf
func.func @turns(%x: tensor<1009xf32>, %start: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<1009xf32>) outs(%start : tensor<f32>) {
  ^bb0(%in: f32, %sum: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %1 = arith.mulf %in, %f : f32
    %2 = arith.addf %sum, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
// A start that is not zero is added at last.
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<f64>, tensor<f32>, tensor<f32>)
// CHECK-COUNT-2: arith.addf {{.*}} : f64
// CHECK: arith.truncf

// The sums of blocks of a product would be as large as its operands: all is in f64.
// CHECK-LABEL: @product
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME: tensor<30x40xf64>
// CHECK: %[[TERM:.*]] = arith.mulf
// CHECK: %[[LONG:.*]] = arith.extf %[[TERM]]
// CHECK: arith.addf %{{.*}}, %[[LONG]] {{.*}} : f64
// CHECK: arith.truncf
// GPU-LABEL: @product
// GPU-NOT: f64
// GPU: return
func.func @product(%a: tensor<30x1000xf32>, %b: tensor<1000x40xf32>, %c: tensor<30x40xf32>) -> tensor<30x40xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<30x1000xf32>, tensor<1000x40xf32>) outs(%c : tensor<30x40xf32>) -> tensor<30x40xf32>
  return %0 : tensor<30x40xf32>
}

// Softmax stores its powers while it adds them.
// CHECK-LABEL: @softmax
// CHECK: %[[BOTH:.*]]:2 = linalg.generic {indexing_maps = [#[[HUNDREDS]], {{.*}}, #[[HUNDREDS]], {{.*}}], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: math.exp
// CHECK: } -> (tensor<4x1000xf32>, tensor<4x4xf32>)
// CHECK: ins(%[[BOTH]]#1 : tensor<4x4xf32>) outs(%{{.*}} : tensor<4xf64>)
// GPU-LABEL: @softmax
// GPU: math.exp
// GPU: } -> (tensor<4x1000xf32>, tensor<4xf32>)
func.func @softmax(%x: tensor<4x1000xf32>) -> tensor<4x1000xf32> {
  %0 = mhc.softmax %x dim = 1 : tensor<4x1000xf32>
  return %0 : tensor<4x1000xf32>
}

// Where something is left behind the blocks, the sums are taken from what is stored.
// CHECK-LABEL: @softmax_with_a_rest
// CHECK: %[[POWERS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ["parallel", "parallel", "reduction"]} ins(%[[POWERS]], %{{.*}} : tensor<4x1009xf32>
// CHECK: tensor.extract_slice %[[POWERS]][0, 768] [4, 241]
func.func @softmax_with_a_rest(%x: tensor<4x1009xf32>) -> tensor<4x1009xf32> {
  %0 = mhc.softmax %x dim = 1 : tensor<4x1009xf32>
  return %0 : tensor<4x1009xf32>
}

// Short sums, largest values and sums of other types are as they were.
// CHECK-LABEL: @others
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @others(%x: tensor<256x8xf32>, %y: tensor<?x8xf32>, %z: tensor<?x8xf64>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf64>) {
  %0 = mhc.reduce sum %x dims = [0] : tensor<256x8xf32> -> tensor<8xf32>
  %1 = mhc.reduce max %y dims = [0] : tensor<?x8xf32> -> tensor<8xf32>
  %2 = mhc.reduce sum %z dims = [0] : tensor<?x8xf64> -> tensor<8xf64>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf64>
}

// No memory can be planned for blocks whose number follows from data.
// CHECK-LABEL: @size_of_data
// CHECK-NOT: arith.divsi
// CHECK: outs(%{{.*}} : tensor<8xf64>)
// CHECK: return
func.func @size_of_data(%x: tensor<?x8xf32>, %sizes: tensor<1xi64>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %size = tensor.extract %sizes[%c0] : tensor<1xi64>
  %rows = arith.index_cast %size : i64 to index
  %part = tensor.extract_slice %x[0, 0] [%rows, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %0 = mhc.reduce sum %part dims = [0] : tensor<?x8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
