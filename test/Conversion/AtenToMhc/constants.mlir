// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-read-aten | FileCheck %s

// Numbers that are made of a constant tensor of the graph.

// Each place as often as a constant says.
// CHECK-LABEL: func.func @repeat_interleave(
// CHECK-NEXT: [[S0:%.+]] = tensor.extract_slice %arg0[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
// CHECK-NEXT: [[C0:%.+]] = tensor.collapse_shape [[S0]] [] : tensor<1xf32> into tensor<f32>
// CHECK-NEXT: [[B0:%.+]] = mhc.broadcast [[C0]] dims = [] : tensor<f32> -> tensor<2xf32>
// CHECK-NEXT: [[S1:%.+]] = tensor.extract_slice %arg0[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
// CHECK-NEXT: tensor.concat dim(0) [[B0]], [[S1]] :
func.func @repeat_interleave(%a: tensor<3xf32> {mhc.name = "a"}) -> (tensor<3xf32>) {
  %0 = "get_attr"() {"constant" = [2 : i64, 0 : i64, 1 : i64]} : () -> (tensor<3xi64>) loc("i")
  %1 = "aten.repeat_interleave.Tensor"(%0) {"repeats" = 0 : index, "output_size" = 3 : i64} : (tensor<3xi64>) -> (tensor<3xi64>) loc("r")
  %2 = "aten.index_select.default"(%a, %1) {"self" = 0 : index, "dim" = 0 : i64, "index" = 1 : index} : (tensor<3xf32>, tensor<3xi64>) -> (tensor<3xf32>) loc("n")
  return %2 : tensor<3xf32>
}
