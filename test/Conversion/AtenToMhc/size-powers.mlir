// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-read-aten | FileCheck %s

// The places of a convolution, by one name wherever they are: its width is its height.
// CHECK-LABEL: @places
// CHECK: tensor.collapse_shape %arg0 {{\[\[}}0], [1], [2, 3]]
func.func @places(%x: tensor<?x16x?x?xf32> {mhc.name = "x", mhc.dims = ["b", "16", "(s//4)", "(s//4)"]}, %b: i64 {mhc.name = "b"}, %p: i64 {mhc.name = "p"}) -> tensor<?x16x?xf32> {
  %0 = "aten.view.default"(%x, %b, %p) {self = 0 : index, size = [1 : index, 16, 2 : index], mhc.dims = [["b", "16", "((s//4))**2"]]} : (tensor<?x16x?x?xf32>, i64, i64) -> (tensor<?x16x?xf32>) loc("view")
  return %0 : tensor<?x16x?xf32>
}

// Padded, they are a sum to that power; a maximum is one size.
// CHECK-LABEL: @padded
// CHECK: tensor.collapse_shape %arg0 {{\[\[}}0], [1], [2, 3]]
func.func @padded(%x: tensor<?x16x?x?xf32> {mhc.name = "x", mhc.dims = ["Max(1,b-2)", "16", "(((s-1)//2))+1", "(((s-1)//2))+1"]}, %b: i64 {mhc.name = "b"}, %p: i64 {mhc.name = "p"}) -> tensor<?x16x?xf32> {
  %0 = "aten.view.default"(%x, %b, %p) {self = 0 : index, size = [1 : index, 16, 2 : index], mhc.dims = [["Max(1,b-2)", "16", "(((s-1)//2))**2+2*(((s-1)//2))+1"]]} : (tensor<?x16x?x?xf32>, i64, i64) -> (tensor<?x16x?xf32>) loc("view")
  return %0 : tensor<?x16x?xf32>
}

// Another power is another number.
// CHECK-LABEL: @cubed
// CHECK-NOT: tensor.collapse_shape
// CHECK: return
func.func @cubed(%x: tensor<?x16x?x?xf32> {mhc.name = "x", mhc.dims = ["b", "16", "(s//4)", "(s//4)"]}, %b: i64 {mhc.name = "b"}, %p: i64 {mhc.name = "p"}) -> tensor<?x16x?xf32> {
  %0 = "aten.view.default"(%x, %b, %p) {self = 0 : index, size = [1 : index, 16, 2 : index], mhc.dims = [["b", "16", "((s//4))**3"]]} : (tensor<?x16x?x?xf32>, i64, i64) -> (tensor<?x16x?xf32>) loc("view")
  return %0 : tensor<?x16x?xf32>
}

// The width, as the number of all places by the height: they are one.
// CHECK-LABEL: @quotient
// CHECK: tensor.expand_shape %arg0 {{\[\[}}0, 1, 2], [3]]
func.func @quotient(%x: tensor<?x16xf32> {mhc.name = "x", mhc.dims = ["b*s**2", "16"]}, %y: tensor<?x?xf32> {mhc.name = "y", mhc.dims = ["b", "s"]}, %b: i64 {mhc.name = "b"}, %s: i64 {mhc.name = "s"}) -> (tensor<?x?x?x16xf32>, tensor<?x?xf32>) {
  %0 = "aten.view.default"(%x, %b, %s) {self = 0 : index, size = [1 : index, 2 : index, 2 : index, 16], mhc.dims = [["b", "s", "((s**2)//s)", "16"]]} : (tensor<?x16xf32>, i64, i64) -> (tensor<?x?x?x16xf32>) loc("view")
  %1 = "aten.neg.default"(%y) {self = 0 : index, mhc.dims = [["b", "s"]]} : (tensor<?x?xf32>) -> tensor<?x?xf32> loc("neg")
  return %0, %1 : tensor<?x?x?x16xf32>, tensor<?x?xf32>
}

// A quotient that rounds is none of its factors.
// CHECK-LABEL: @rounded_quotient
// CHECK-NOT: tensor.expand_shape
// CHECK: return
func.func @rounded_quotient(%x: tensor<?x16xf32> {mhc.name = "x", mhc.dims = ["b*s", "16"]}, %y: tensor<?x?xf32> {mhc.name = "y", mhc.dims = ["b", "s"]}, %b: i64 {mhc.name = "b"}, %s: i64 {mhc.name = "s"}) -> tensor<?x?x16xf32> {
  %0 = "aten.view.default"(%x, %b, %s) {self = 0 : index, size = [1 : index, 2 : index, 16], mhc.dims = [["b", "((s+1)//2)", "16"]]} : (tensor<?x16xf32>, i64, i64) -> (tensor<?x?x16xf32>) loc("view")
  return %0 : tensor<?x?x16xf32>
}
