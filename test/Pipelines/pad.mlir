// Rows of an open number are padded, to one that is no sum or product of sizes, too.
// RUN: mhcc %s --verify | FileCheck %s
// RUN: mhcc %s --verify --fuse=none --size=M=8 | FileCheck %s
// RUN: mhcc %s --verify --size=M=1 | FileCheck %s

// CHECK: entry by_number
// CHECK-NEXT: result0: verified
func.func @by_number(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %p = tensor.pad %x low[1, 0] high[2, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x4xf32> to tensor<?x7xf32>
  %t = math.exp %p : tensor<?x7xf32>
  %s = tensor.extract_slice %t[0, 1] [%M, 4] [1, 1] : tensor<?x7xf32> to tensor<?x4xf32>
  return %s : tensor<?x4xf32>
}

// CHECK: entry to_multiple
// CHECK-NEXT: result0: verified
func.func @to_multiple(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %rest = arith.remsi %M, %c8 : index
  %more = arith.subi %c8, %rest : index
  %high = arith.remsi %more, %c8 : index
  %p = tensor.pad %x low[0, 0] high[%high, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x4xf32> to tensor<?x4xf32>
  %t = math.exp %p : tensor<?x4xf32>
  %s = tensor.extract_slice %t[0, 0] [%M, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  return %s : tensor<?x4xf32>
}

// CHECK: entry columns
// CHECK-NEXT: result0: verified
func.func @columns(%x: tensor<?x4xf32>) -> tensor<?x6xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x4xf32> to tensor<?x6xf32>
  return %p : tensor<?x6xf32>
}

// CHECK: entry apply
// CHECK-NEXT: result0: verified
func.func @apply(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %high = affine.apply affine_map<()[s] -> ((s ceildiv 8) * 8 - s)>()[%M]
  %p = tensor.pad %x low[0, 0] high[%high, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x4xf32> to tensor<?x4xf32>
  %sum = mhc.reduce sum %p dims = [1] : tensor<?x4xf32> -> tensor<?xf32>
  %s = tensor.extract_slice %sum[0] [%M] [1] : tensor<?xf32> to tensor<?xf32>
  %b = mhc.broadcast %s dims = [0] : tensor<?xf32> -> tensor<?x4xf32>
  return %b : tensor<?x4xf32>
}

// Each token gets the one before it.
// CHECK: entry shift
// CHECK-NEXT: result0: verified
func.func @shift(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = tensor.dim %x, %c0 : tensor<?x4xf32>
  %less = arith.subi %M, %c1 : index
  %part = tensor.extract_slice %x[0, 0] [%less, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  %p = tensor.pad %part low[1, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x4xf32> to tensor<?x4xf32>
  %y = arith.addf %p, %x : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
