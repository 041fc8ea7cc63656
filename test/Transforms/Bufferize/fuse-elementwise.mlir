// RUN: mhc-opt %s -convert-mhc-to-linalg -mhc-fuse-elementwise | FileCheck %s

// CHECK-LABEL: @chain_into_a_reduction
func.func @chain_into_a_reduction(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?xf32> {
  // CHECK: linalg.generic
  // CHECK-SAME: ["parallel", "reduction"]
  // CHECK: arith.mulf
  // CHECK: math.sqrt
  // CHECK: arith.addf
  // CHECK-NOT: linalg.generic
  %0 = arith.mulf %x, %y : tensor<?x8xf32>
  %1 = math.sqrt %0 : tensor<?x8xf32>
  %2 = mhc.reduce sum %1 dims = [1] : tensor<?x8xf32> -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// Moments and weight of an optimizer's step: one loop stores what others read, too.
// CHECK-LABEL: @value_with_later_readers
func.func @value_with_later_readers(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: %[[ALL:.*]]:3 = linalg.generic
  // CHECK: arith.mulf
  // CHECK: math.sqrt
  // CHECK: math.absf
  // CHECK-NOT: linalg.generic
  // CHECK: return %[[ALL]]#{{[0-2]}}, %[[ALL]]#{{[0-2]}}, %[[ALL]]#{{[0-2]}}
  %0 = arith.mulf %x, %x : tensor<?x8xf32>
  %1 = math.sqrt %0 : tensor<?x8xf32>
  %2 = math.absf %1 : tensor<?x8xf32>
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// A value is there before the first of its readers.
// CHECK-LABEL: @value_with_an_earlier_reader
func.func @value_with_an_earlier_reader(%x: tensor<?x8xf32>, %y: tensor<8x?xf32>) -> (tensor<?x8xf32>, tensor<8x?xf32>) {
  // CHECK: %[[MUL:.*]] = linalg.generic
  // CHECK: arith.mulf
  // CHECK: linalg.generic {{.*}} ins(%[[MUL]]
  // CHECK: linalg.generic
  // CHECK: math.sqrt
  %0 = arith.mulf %x, %x : tensor<?x8xf32>
  %1 = mhc.transpose %0 perm = [1, 0] : tensor<?x8xf32> -> tensor<8x?xf32>
  %2 = math.sqrt %0 : tensor<?x8xf32>
  return %2, %1 : tensor<?x8xf32>, tensor<8x?xf32>
}

// CHECK-LABEL: @value_read_twice_by_one
func.func @value_read_twice_by_one(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: %[[ROOT:.*]] = linalg.generic
  // CHECK: math.sqrt
  // CHECK: linalg.generic {{.*}} ins(%[[ROOT]], %[[ROOT]]
  %0 = math.sqrt %x : tensor<?x8xf32>
  %1 = arith.mulf %0, %0 : tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// A sum is no place to store what others read.
// CHECK-LABEL: @value_of_a_sum_and_another
func.func @value_of_a_sum_and_another(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>) {
  // CHECK: %[[MUL:.*]] = linalg.generic
  // CHECK: arith.mulf
  // CHECK: linalg.generic {{.*}}"reduction"{{.*}} ins(%[[MUL]]
  %0 = arith.mulf %x, %x : tensor<?x8xf32>
  %1 = mhc.reduce sum %0 dims = [1] : tensor<?x8xf32> -> tensor<?xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?xf32>
}

// A value that a loop reads is not recomputed in every iteration.
// CHECK-LABEL: @outside_of_a_loop
func.func @outside_of_a_loop(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = tensor.dim %x, %c0 : tensor<?xf32>
  %empty = tensor.empty(%M) : tensor<?xf32>
  // CHECK: math.exp
  // CHECK: scf.for
  // CHECK: arith.mulf
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.exp %in : f32
    linalg.yield %e : f32
  } -> tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%it = %x) -> tensor<?xf32> {
    %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]}
        ins(%y, %it : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %m = arith.mulf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<?xf32>
    scf.yield %z : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// A sum over no dimension adds each element once; repeated with the elements it would add three times.
// CHECK-LABEL: @sum_that_is_repeated
func.func @sum_that_is_repeated(%x: tensor<8xf32>) -> tensor<3x8xf32> {
  // CHECK: linalg.generic {{.*}}["parallel"]
  // CHECK: arith.addf
  // CHECK: linalg.generic {{.*}}["parallel", "parallel"]
  // CHECK-NOT: arith.addf
  // CHECK: return
  %0 = mhc.reduce sum %x dims = [] : tensor<8xf32> -> tensor<8xf32>
  %1 = mhc.broadcast %0 dims = [1] : tensor<8xf32> -> tensor<3x8xf32>
  return %1 : tensor<3x8xf32>
}

// A mask of places is made again by each of its readers.
// CHECK-LABEL: @mask_of_several
func.func @mask_of_several(%places: tensor<64xi32>, %x: tensor<8x64x64xf32>, %y: tensor<8x64x64xf32>)
    -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  // CHECK: linalg.generic {{.*}}"reduction"{{.*}} ins(%arg0, %arg0, %arg1
  // CHECK: arith.cmpi
  // CHECK: linalg.generic {{.*}}"reduction"{{.*}} ins(%arg0, %arg0, %arg2
  // CHECK: arith.cmpi
  // CHECK-NOT: linalg.generic
  // CHECK: return
  %zero = arith.constant dense<0.0> : tensor<8x64x64xf32>
  %rows = mhc.broadcast %places dims = [1] : tensor<64xi32> -> tensor<8x64x64xi32>
  %columns = mhc.broadcast %places dims = [2] : tensor<64xi32> -> tensor<8x64x64xi32>
  %mask = arith.cmpi sle, %columns, %rows : tensor<8x64x64xi32>
  %0 = arith.select %mask, %x, %zero : tensor<8x64x64xi1>, tensor<8x64x64xf32>
  %1 = mhc.reduce sum %0 dims = [2] : tensor<8x64x64xf32> -> tensor<8x64xf32>
  %2 = arith.select %mask, %y, %zero : tensor<8x64x64xi1>, tensor<8x64x64xf32>
  %3 = mhc.reduce sum %2 dims = [2] : tensor<8x64x64xf32> -> tensor<8x64xf32>
  return %1, %3 : tensor<8x64xf32>, tensor<8x64xf32>
}

// One of values that are many themselves is not.
// CHECK-LABEL: @mask_of_many
func.func @mask_of_many(%a: tensor<8x64xf32>, %x: tensor<8x64xf32>, %y: tensor<8x64xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: arith.cmpf
  // CHECK-NOT: arith.cmpf
  // CHECK: return
  %zero = arith.constant dense<0.0> : tensor<8x64xf32>
  %mask = arith.cmpf ogt, %a, %zero : tensor<8x64xf32>
  %0 = arith.select %mask, %x, %zero : tensor<8x64xi1>, tensor<8x64xf32>
  %1 = mhc.reduce sum %0 dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %2 = arith.select %mask, %y, %zero : tensor<8x64xi1>, tensor<8x64xf32>
  %3 = mhc.reduce sum %2 dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  return %1, %3 : tensor<8xf32>, tensor<8xf32>
}
