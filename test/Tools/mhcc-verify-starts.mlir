// --verify fills what says where sequences start with starts, and judges other numbers as the compiled model does.
// RUN: mhcc %s --verify | FileCheck %s --implicit-check-not=WRONG
// RUN: mhcc %s --verify --fuse=none | FileCheck %s --implicit-check-not=WRONG
// CHECK: entry down
// CHECK: y: verified
// CHECK: entry up
// CHECK: y: verified
// CHECK: entry any
// CHECK: y: verified

func.func @down(%starts: tensor<?xi32>, %x: tensor<?x4xf32>) -> (tensor<?x4xf32> {mhc.name = "y"}) {
  %y = mhc.shift %x, %starts dim = 0 by = 3 : tensor<?x4xf32>, tensor<?xi32>
  return %y : tensor<?x4xf32>
}

func.func @up(%starts: tensor<?xi32>, %x: tensor<?x4xf32>) -> (tensor<?x4xf32> {mhc.name = "y"}) {
  %y = mhc.shift %x, %starts dim = 0 by = -3 : tensor<?x4xf32>, tensor<?xi32>
  return %y : tensor<?x4xf32>
}

// Sums of an argument, which is filled with 0 and 1, are no starts of sequences.
func.func @any(%numbers: tensor<?xi32>, %x: tensor<?x4xf32>) -> (tensor<?x4xf32> {mhc.name = "y"}) {
  %starts = arith.addi %numbers, %numbers : tensor<?xi32>
  %y = mhc.shift %x, %starts dim = 0 by = 1 : tensor<?x4xf32>, tensor<?xi32>
  return %y : tensor<?x4xf32>
}
