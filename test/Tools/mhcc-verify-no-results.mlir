// RUN: not mhcc %s --verify | FileCheck %s

// CHECK: compared: the program as it is compiled
// CHECK-NEXT: f: not judged: it has no results
func.func @f(%x: tensor<4xf32>) {
  return
}
