// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-read-aten | FileCheck %s

// Calls that are left as they are.

// An op without a row.
// CHECK-LABEL: func.func @unknown(
// CHECK-NEXT: return{{$}}
func.func @unknown(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.cos.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// Products of what was f64, and functions that leaf ops do not have in f64.
// CHECK-LABEL: func.func @wide_mm(
// CHECK-NEXT: return{{$}}
func.func @wide_mm(%a: tensor<2x4xf64> {mhc.name = "a"}, %b: tensor<4x3xf64> {mhc.name = "b"}) -> (tensor<2x3xf64>) {
  %0 = "aten.mm.default"(%a, %b) {"self" = 0 : index, "mat2" = 1 : index} : (tensor<2x4xf64>, tensor<4x3xf64>) -> (tensor<2x3xf64>) loc("n")
  return %0 : tensor<2x3xf64>
}

// CHECK-LABEL: func.func @wide_sigmoid(
// CHECK-NEXT: return{{$}}
func.func @wide_sigmoid(%a: tensor<2x4xf64> {mhc.name = "a"}) -> (tensor<2x4xf64>) {
  %0 = "aten.sigmoid.default"(%a) {"self" = 0 : index} : (tensor<2x4xf64>) -> (tensor<2x4xf64>) loc("n")
  return %0 : tensor<2x4xf64>
}

// CHECK-LABEL: func.func @wide_softmax(
// CHECK-NEXT: return{{$}}
func.func @wide_softmax(%a: tensor<2x4xf64> {mhc.name = "a"}) -> (tensor<2x4xf64>) {
  %0 = "aten._softmax.default"(%a) {"self" = 0 : index, "dim" = 1 : i64, "half_to_float" = false} : (tensor<2x4xf64>) -> (tensor<2x4xf64>) loc("n")
  return %0 : tensor<2x4xf64>
}

// Integers.
// CHECK-LABEL: func.func @integers(
// CHECK-NEXT: return{{$}}
func.func @integers(%a: tensor<2xi64> {mhc.name = "a"}, %b: tensor<2xi64> {mhc.name = "b"}) -> (tensor<2xi64>) {
  %0 = "aten.add.Tensor"(%a, %b) {"self" = 0 : index, "other" = 1 : index, "alpha" = 1 : i64} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>) loc("n")
  return %0 : tensor<2xi64>
}

// A factor of integers without a sign, or of booleans.
// CHECK-LABEL: func.func @integer_factor(
// CHECK-NEXT: return{{$}}
func.func @integer_factor(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<4xui8> {mhc.name = "b"}, %c: tensor<4xi1> {mhc.name = "c"}) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = "aten.mul.Tensor"(%a, %b) {"self" = 0 : index, "other" = 1 : index} : (tensor<2x4xf32>, tensor<4xui8>) -> (tensor<2x4xf32>) loc("n")
  %1 = "aten.mul.Tensor"(%a, %c) {"self" = 0 : index, "other" = 1 : index} : (tensor<2x4xf32>, tensor<4xi1>) -> (tensor<2x4xf32>) loc("o")
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// A number that is no literal.
// CHECK-LABEL: func.func @symbol(
// CHECK-NEXT: return{{$}}
func.func @symbol(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: f64 {mhc.name = "b"}) -> (tensor<2x4xf32>) {
  %0 = "aten.mul.Tensor"(%a, %b) {"self" = 0 : index, "other" = 1 : index} : (tensor<2x4xf32>, f64) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// A quotient that is rounded to an integer.
// CHECK-LABEL: func.func @rounded_quotient(
// CHECK-NEXT: return{{$}}
func.func @rounded_quotient(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}) -> (tensor<2x4xf32>) {
  %0 = "aten.div.Tensor"(%a, %b) {"self" = 0 : index, "other" = 1 : index, "rounding_mode" = "floor"} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// A power that is no literal.
// CHECK-LABEL: func.func @open_power(
// CHECK-NEXT: return{{$}}
func.func @open_power(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: i64 {mhc.name = "b"}) -> (tensor<2x4xf32>) {
  %0 = "aten.pow.Tensor_Scalar"(%a, %b) {"self" = 0 : index, "exponent" = 1 : index} : (tensor<2x4xf32>, i64) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// A mask of another shape.
// CHECK-LABEL: func.func @spread_mask(
// CHECK-NEXT: return{{$}}
func.func @spread_mask(%a: tensor<4xi1> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}, %c: tensor<2x4xf32> {mhc.name = "c"}) -> (tensor<2x4xf32>) {
  %0 = "aten.where.self"(%a, %b, %c) {"condition" = 0 : index, "self" = 1 : index, "other" = 2 : index} : (tensor<4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// A sum over a dimension that is no literal.
// CHECK-LABEL: func.func @no_dim(
// CHECK-NEXT: return{{$}}
func.func @no_dim(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: i64 {mhc.name = "b"}) -> (tensor<2xf32>) {
  %0 = "aten.sum.dim_IntList"(%a, %b) {"self" = 0 : index, "dim" = [1 : index], "keepdim" = false} : (tensor<2x4xf32>, i64) -> (tensor<2xf32>) loc("n")
  return %0 : tensor<2xf32>
}

// A dimension that a tensor does not have.
// CHECK-LABEL: func.func @far_dim(
// CHECK-NEXT: return{{$}}
func.func @far_dim(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2xf32>) {
  %0 = "aten.amax.default"(%a) {"self" = 0 : index, "dim" = [2 : i64], "keepdim" = false} : (tensor<2x4xf32>) -> (tensor<2xf32>) loc("n")
  return %0 : tensor<2xf32>
}

// A log-sum-exp over several dimensions.
// CHECK-LABEL: func.func @two_dims(
// CHECK-NEXT: return{{$}}
func.func @two_dims(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<f32>) {
  %0 = "aten.logsumexp.default"(%a) {"self" = 0 : index, "dim" = [0 : i64, 1 : i64], "keepdim" = false} : (tensor<2x4xf32>) -> (tensor<f32>) loc("n")
  return %0 : tensor<f32>
}

// The places of the largest elements.
// CHECK-LABEL: func.func @places(
// CHECK-NEXT: return{{$}}
func.func @places(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2xf32>, tensor<2xi64>) {
  %0:2 = "aten.max.dim"(%a) {"self" = 0 : index, "dim" = 1 : i64, "keepdim" = false} : (tensor<2x4xf32>) -> (tensor<2xf32>, tensor<2xi64>) loc("n")
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi64>
}

// A norm of another order.
// CHECK-LABEL: func.func @largest(
// CHECK-NEXT: return{{$}}
func.func @largest(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2xf32>) {
  %0 = "aten.linalg_vector_norm.default"(%a) {"self" = 0 : index, "ord" = 0x7FF0000000000000 : f64, "dim" = [1 : i64], "keepdim" = false} : (tensor<2x4xf32>) -> (tensor<2xf32>) loc("n")
  return %0 : tensor<2xf32>
}

// A scaled bias.
// CHECK-LABEL: func.func @scaled_addmm(
// CHECK-NEXT: return{{$}}
func.func @scaled_addmm(%a: tensor<3xf32> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}, %c: tensor<4x3xf32> {mhc.name = "c"}) -> (tensor<2x3xf32>) {
  %0 = "aten.addmm.default"(%a, %b, %c) {"self" = 0 : index, "mat1" = 1 : index, "mat2" = 2 : index, "beta" = 2 : i64, "alpha" = 1 : i64} : (tensor<3xf32>, tensor<2x4xf32>, tensor<4x3xf32>) -> (tensor<2x3xf32>) loc("n")
  return %0 : tensor<2x3xf32>
}

// A product of two types.
// CHECK-LABEL: func.func @mixed_mm(
// CHECK-NEXT: return{{$}}
func.func @mixed_mm(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<4x3xbf16> {mhc.name = "b"}) -> (tensor<2x3xf32>) {
  %0 = "aten.mm.default"(%a, %b) {"self" = 0 : index, "mat2" = 1 : index} : (tensor<2x4xf32>, tensor<4x3xbf16>) -> (tensor<2x3xf32>) loc("n")
  return %0 : tensor<2x3xf32>
}

// The same of a batch.
// CHECK-LABEL: func.func @mixed_bmm(
// CHECK-NEXT: return{{$}}
func.func @mixed_bmm(%a: tensor<5x2x4xf32> {mhc.name = "a"}, %b: tensor<5x4x3xbf16> {mhc.name = "b"}) -> (tensor<5x2x3xf32>) {
  %0 = "aten.bmm.default"(%a, %b) {"self" = 0 : index, "mat2" = 1 : index} : (tensor<5x2x4xf32>, tensor<5x4x3xbf16>) -> (tensor<5x2x3xf32>) loc("n")
  return %0 : tensor<5x2x3xf32>
}

// Bits of another type.
// CHECK-LABEL: func.func @as_integers(
// CHECK-NEXT: return{{$}}
func.func @as_integers(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xi32>) {
  %0 = "aten.view.dtype"(%a) {"self" = 0 : index, "dtype" = "torch.int32"} : (tensor<2x4xf32>) -> (tensor<2x4xi32>) loc("n")
  return %0 : tensor<2x4xi32>
}

// A view whose sizes are not known.
// CHECK-LABEL: func.func @unknown_sizes(
// CHECK-NEXT: return{{$}}
func.func @unknown_sizes(%a: tensor<?x4xf32> {mhc.name = "a", mhc.dims = ["?", "4"]}) -> (tensor<?x2xf32>) {
  %0 = "aten.view.default"(%a) {"self" = 0 : index, mhc.dims = [["?", "2"]]} : (tensor<?x4xf32>) -> (tensor<?x2xf32>) loc("n")
  return %0 : tensor<?x2xf32>
}

// A view with a size that no argument has by itself.
// CHECK-LABEL: func.func @no_symbol(
// CHECK-NEXT: return{{$}}
func.func @no_symbol(%a: tensor<?x4xf32> {mhc.name = "a", mhc.dims = ["a*b", "4"]}) -> (tensor<?x?x4xf32>) {
  %0 = "aten.view.default"(%a) {"self" = 0 : index, mhc.dims = [["a", "b", "4"]]} : (tensor<?x4xf32>) -> (tensor<?x?x4xf32>) loc("n")
  return %0 : tensor<?x?x4xf32>
}

// A view of open sizes that no groups of dimensions share.
// CHECK-LABEL: func.func @no_groups(
// CHECK-NEXT: return{{$}}
func.func @no_groups(%a: tensor<?x4xf32> {mhc.name = "a", mhc.dims = ["a", "4"]}) -> (tensor<4x?xf32>) {
  %0 = "aten.view.default"(%a) {"self" = 0 : index, mhc.dims = [["4", "a+1"]]} : (tensor<?x4xf32>) -> (tensor<4x?xf32>) loc("n")
  return %0 : tensor<4x?xf32>
}

// A convolution of all channels.
// CHECK-LABEL: func.func @all_channels(
// CHECK-NEXT: return{{$}}
func.func @all_channels(%x: tensor<2x6x8xf32> {mhc.name = "x"}, %w: tensor<6x6x2xf32> {mhc.name = "w"}) -> (tensor<2x6x9xf32>) {
  %0 = "aten.convolution.default"(%x, %w) {"input" = 0 : index, "weight" = 1 : index, "stride" = [1 : i64], "padding" = [1 : i64], "dilation" = [1 : i64], "transposed" = false, "groups" = 1 : i64, "output_padding" = [0 : i64]} : (tensor<2x6x8xf32>, tensor<6x6x2xf32>) -> (tensor<2x6x9xf32>) loc("n")
  return %0 : tensor<2x6x9xf32>
}

// Every second element of a convolution.
// CHECK-LABEL: func.func @strided_convolution(
// CHECK-NEXT: return{{$}}
func.func @strided_convolution(%x: tensor<2x6x8xf32> {mhc.name = "x"}, %w: tensor<6x1x2xf32> {mhc.name = "w"}) -> (tensor<2x6x5xf32>) {
  %0 = "aten.convolution.default"(%x, %w) {"input" = 0 : index, "weight" = 1 : index, "stride" = [2 : i64], "padding" = [1 : i64], "dilation" = [1 : i64], "transposed" = false, "groups" = 6 : i64, "output_padding" = [0 : i64]} : (tensor<2x6x8xf32>, tensor<6x1x2xf32>) -> (tensor<2x6x5xf32>) loc("n")
  return %0 : tensor<2x6x5xf32>
}

// Every second tap.
// CHECK-LABEL: func.func @dilated(
// CHECK-NEXT: return{{$}}
func.func @dilated(%x: tensor<2x6x8xf32> {mhc.name = "x"}, %w: tensor<6x1x2xf32> {mhc.name = "w"}) -> (tensor<2x6x8xf32>) {
  %0 = "aten.convolution.default"(%x, %w) {"input" = 0 : index, "weight" = 1 : index, "stride" = [1 : i64], "padding" = [1 : i64], "dilation" = [2 : i64], "transposed" = false, "groups" = 6 : i64, "output_padding" = [0 : i64]} : (tensor<2x6x8xf32>, tensor<6x1x2xf32>) -> (tensor<2x6x8xf32>) loc("n")
  return %0 : tensor<2x6x8xf32>
}

// A convolution that goes the other way.
// CHECK-LABEL: func.func @transposed_convolution(
// CHECK-NEXT: return{{$}}
func.func @transposed_convolution(%x: tensor<2x6x8xf32> {mhc.name = "x"}, %w: tensor<6x1x2xf32> {mhc.name = "w"}) -> (tensor<2x6x7xf32>) {
  %0 = "aten.convolution.default"(%x, %w) {"input" = 0 : index, "weight" = 1 : index, "stride" = [1 : i64], "padding" = [1 : i64], "dilation" = [1 : i64], "transposed" = true, "groups" = 6 : i64, "output_padding" = [0 : i64]} : (tensor<2x6x8xf32>, tensor<6x1x2xf32>) -> (tensor<2x6x7xf32>) loc("n")
  return %0 : tensor<2x6x7xf32>
}

// A convolution of planes.
// CHECK-LABEL: func.func @plane(
// CHECK-NEXT: return{{$}}
func.func @plane(%x: tensor<2x6x8x8xf32> {mhc.name = "x"}, %w: tensor<6x1x1x2xf32> {mhc.name = "w"}) -> (tensor<2x6x10x9xf32>) {
  %0 = "aten.convolution.default"(%x, %w) {"input" = 0 : index, "weight" = 1 : index, "stride" = [1 : i64], "padding" = [1 : i64], "dilation" = [1 : i64], "transposed" = false, "groups" = 6 : i64, "output_padding" = [0 : i64]} : (tensor<2x6x8x8xf32>, tensor<6x1x1x2xf32>) -> (tensor<2x6x10x9xf32>) loc("n")
  return %0 : tensor<2x6x10x9xf32>
}

// Several results of each channel.
// CHECK-LABEL: func.func @several_each(
// CHECK-NEXT: return{{$}}
func.func @several_each(%x: tensor<2x6x8xf32> {mhc.name = "x"}, %w: tensor<12x1x2xf32> {mhc.name = "w"}) -> (tensor<2x12x9xf32>) {
  %0 = "aten.convolution.default"(%x, %w) {"input" = 0 : index, "weight" = 1 : index, "stride" = [1 : i64], "padding" = [1 : i64], "dilation" = [1 : i64], "transposed" = false, "groups" = 6 : i64, "output_padding" = [0 : i64]} : (tensor<2x6x8xf32>, tensor<12x1x2xf32>) -> (tensor<2x12x9xf32>) loc("n")
  return %0 : tensor<2x12x9xf32>
}

// One tap at every second pixel.
// CHECK-LABEL: func.func @strided_pointwise(
// CHECK-NEXT: return{{$}}
func.func @strided_pointwise(%x: tensor<2x6x4x4xf32> {mhc.name = "x"}, %w: tensor<4x6x1x1xf32> {mhc.name = "w"}) -> (tensor<2x4x2x2xf32>) {
  %0 = "aten.convolution.default"(%x, %w) {"input" = 0 : index, "weight" = 1 : index, "stride" = [2 : i64, 2 : i64], "padding" = [0 : i64, 0 : i64], "dilation" = [1 : i64, 1 : i64], "transposed" = false, "groups" = 1 : i64, "output_padding" = [0 : i64, 0 : i64]} : (tensor<2x6x4x4xf32>, tensor<4x6x1x1xf32>) -> (tensor<2x4x2x2xf32>) loc("n")
  return %0 : tensor<2x4x2x2xf32>
}

// One tap, also beside the image.
// CHECK-LABEL: func.func @padded_pointwise(
// CHECK-NEXT: return{{$}}
func.func @padded_pointwise(%x: tensor<2x6x4x4xf32> {mhc.name = "x"}, %w: tensor<4x6x1x1xf32> {mhc.name = "w"}) -> (tensor<2x4x6x4xf32>) {
  %0 = "aten.convolution.default"(%x, %w) {"input" = 0 : index, "weight" = 1 : index, "stride" = [1 : i64, 1 : i64], "padding" = [1 : i64, 0 : i64], "dilation" = [1 : i64, 1 : i64], "transposed" = false, "groups" = 1 : i64, "output_padding" = [0 : i64, 0 : i64]} : (tensor<2x6x4x4xf32>, tensor<4x6x1x1xf32>) -> (tensor<2x4x6x4xf32>) loc("n")
  return %0 : tensor<2x4x6x4xf32>
}

// One tap for each pair of channels of a group.
// CHECK-LABEL: func.func @grouped_pointwise(
// CHECK-NEXT: return{{$}}
func.func @grouped_pointwise(%x: tensor<2x6x4x4xf32> {mhc.name = "x"}, %w: tensor<4x3x1x1xf32> {mhc.name = "w"}) -> (tensor<2x4x4x4xf32>) {
  %0 = "aten.convolution.default"(%x, %w) {"input" = 0 : index, "weight" = 1 : index, "stride" = [1 : i64, 1 : i64], "padding" = [0 : i64, 0 : i64], "dilation" = [1 : i64, 1 : i64], "transposed" = false, "groups" = 2 : i64, "output_padding" = [0 : i64, 0 : i64]} : (tensor<2x6x4x4xf32>, tensor<4x3x1x1xf32>) -> (tensor<2x4x4x4xf32>) loc("n")
  return %0 : tensor<2x4x4x4xf32>
}

// The softplus of another threshold.
// CHECK-LABEL: func.func @early_softplus(
// CHECK-NEXT: return{{$}}
func.func @early_softplus(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.softplus.default"(%a) {"self" = 0 : index, "beta" = 1 : i64, "threshold" = 2 : i64} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// Every second element.
// CHECK-LABEL: func.func @step(
// CHECK-NEXT: return{{$}}
func.func @step(%a: tensor<2x8xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.slice.Tensor"(%a) {"self" = 0 : index, "dim" = 1 : i64, "start" = 0 : i64, "end" = 8 : i64, "step" = 2 : i64} : (tensor<2x8xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// A part of an open dimension.
// CHECK-LABEL: func.func @open_slice(
// CHECK-NEXT: return{{$}}
func.func @open_slice(%a: tensor<?x4xf32> {mhc.name = "a", mhc.dims = ["M", "4"]}) -> (tensor<?x4xf32>) {
  %0 = "aten.slice.Tensor"(%a) {"self" = 0 : index, "dim" = 0 : i64, "start" = 1 : i64, "end" = 9223372036854775807 : i64, "step" = 1 : i64, mhc.dims = [["M-1", "4"]]} : (tensor<?x4xf32>) -> (tensor<?x4xf32>) loc("n")
  return %0 : tensor<?x4xf32>
}

// An end that is no literal.
// CHECK-LABEL: func.func @open_end(
// CHECK-NEXT: return{{$}}
func.func @open_end(%a: tensor<2x8xf32> {mhc.name = "a"}, %b: i64 {mhc.name = "b"}) -> (tensor<2x4xf32>) {
  %0 = "aten.slice.Tensor"(%a, %b) {"self" = 0 : index, "dim" = 1 : i64, "start" = 0 : i64, "end" = 1 : index, "step" = 1 : i64} : (tensor<2x8xf32>, i64) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// An index that is no literal.
// CHECK-LABEL: func.func @open_index(
// CHECK-NEXT: return{{$}}
func.func @open_index(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: i64 {mhc.name = "b"}) -> (tensor<4xf32>) {
  %0 = "aten.select.int"(%a, %b) {"self" = 0 : index, "dim" = 0 : i64, "index" = 1 : index} : (tensor<2x4xf32>, i64) -> (tensor<4xf32>) loc("n")
  return %0 : tensor<4xf32>
}

// Parts of an open dimension.
// CHECK-LABEL: func.func @open_split(
// CHECK-NEXT: return{{$}}
func.func @open_split(%a: tensor<?x4xf32> {mhc.name = "a", mhc.dims = ["M", "4"]}) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0:2 = "aten.split.Tensor"(%a) {"self" = 0 : index, "split_size" = 2 : i64, "dim" = 0 : i64} : (tensor<?x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) loc("n")
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// Elements of an open dimension.
// CHECK-LABEL: func.func @open_unbind(
// CHECK-NEXT: return{{$}}
func.func @open_unbind(%a: tensor<?x4xf32> {mhc.name = "a", mhc.dims = ["M", "4"]}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = "aten.unbind.int"(%a) {"self" = 0 : index, "dim" = 0 : i64} : (tensor<?x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) loc("n")
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// Parts of two types.
// CHECK-LABEL: func.func @mixed_cat(
// CHECK-NEXT: return{{$}}
func.func @mixed_cat(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<2x4xbf16> {mhc.name = "b"}) -> (tensor<4x4xf32>) {
  %0 = "aten.cat.default"(%a, %b) {"tensors" = [0 : index, 1 : index], "dim" = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xbf16>) -> (tensor<4x4xf32>) loc("n")
  return %0 : tensor<4x4xf32>
}

// An empty part of another rank.
// CHECK-LABEL: func.func @empty_cat(
// CHECK-NEXT: return{{$}}
func.func @empty_cat(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<0xf32> {mhc.name = "b"}) -> (tensor<2x4xf32>) {
  %0 = "aten.cat.default"(%a, %b) {"tensors" = [0 : index, 1 : index], "dim" = 0 : i64} : (tensor<2x4xf32>, tensor<0xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// A number that is no literal.
// CHECK-LABEL: func.func @open_full(
// CHECK-NEXT: return{{$}}
func.func @open_full(%a: f64 {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.full.default"(%a) {"size" = [2 : i64, 4 : i64], "fill_value" = 0 : index} : (f64) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// Copies along two dimensions of several elements, and every second one.
// CHECK-LABEL: func.func @repeated(
// CHECK-NEXT: return{{$}}
func.func @repeated(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<6x8xf32>) {
  %0 = "aten.repeat.default"(%a) {"self" = 0 : index, "repeats" = [3 : i64, 2 : i64]} : (tensor<2x4xf32>) -> (tensor<6x8xf32>) loc("n")
  return %0 : tensor<6x8xf32>
}

// CHECK-LABEL: func.func @scattered(
// CHECK-NEXT: return{{$}}
func.func @scattered(%a: tensor<2x6xf32> {mhc.name = "a"}, %b: tensor<2x2xf32> {mhc.name = "b"}) -> (tensor<2x6xf32>) {
  %0 = "aten.slice_scatter.default"(%a, %b) {"self" = 0 : index, "src" = 1 : index, "dim" = 1 : i64, "start" = 1 : i64, "end" = 5 : i64, "step" = 2 : i64} : (tensor<2x6xf32>, tensor<2x2xf32>) -> (tensor<2x6xf32>) loc("n")
  return %0 : tensor<2x6xf32>
}

// A part of the product, and what the derivative of a function keeps.
// CHECK-LABEL: func.func @part_of_product(
// CHECK-NEXT: return{{$}}
func.func @part_of_product(%a: tensor<5x2x3xf32> {mhc.name = "a"}, %b: tensor<5x2x4xf32> {mhc.name = "b"}, %c: tensor<5x4x3xf32> {mhc.name = "c"}) -> (tensor<5x2x3xf32>) {
  %0 = "aten.baddbmm.default"(%a, %b, %c) {"self" = 0 : index, "batch1" = 1 : index, "batch2" = 2 : index, "beta" = 1 : i64, "alpha" = 0.5 : f64} : (tensor<5x2x3xf32>, tensor<5x2x4xf32>, tensor<5x4x3xf32>) -> (tensor<5x2x3xf32>) loc("n")
  return %0 : tensor<5x2x3xf32>
}

// CHECK-LABEL: func.func @kept_for_the_derivative(
// CHECK-NEXT: return{{$}}
func.func @kept_for_the_derivative(%a: tensor<4xf32> {mhc.name = "a"}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = "aten.log_sigmoid_forward.default"(%a) {"self" = 0 : index} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) loc("n")
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// Calls whose arguments are none that PyTorch would accept.

// CHECK-LABEL: func.func @operand_below_zero(
// CHECK-NEXT: return{{$}}
func.func @operand_below_zero(%a: tensor<2x4xf32> {mhc.name = "a"}) -> tensor<2x4xf32> {
  %0 = "aten.exp.default"(%a) {"self" = -1 : index} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @identity_of_rank_1(
// CHECK-NEXT: return{{$}}
func.func @identity_of_rank_1(%a: tensor<4xf32> {mhc.name = "a"}) -> tensor<4xf32> {
  %0 = "aten.eye.default"() {"n" = 4 : i64} : () -> tensor<4xf32> loc("n")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @identity_of_integers(
// CHECK-NEXT: return{{$}}
func.func @identity_of_integers() -> tensor<4x4xi64> {
  %0 = "aten.eye.default"() {"n" = 4 : i64} : () -> tensor<4x4xi64> loc("n")
  return %0 : tensor<4x4xi64>
}

// CHECK-LABEL: func.func @diagonal_above(
// CHECK-NEXT: return{{$}}
func.func @diagonal_above(%a: tensor<3x2xf32> {mhc.name = "a"}) -> tensor<3x3x3xf32> {
  %0 = "aten.diag_embed.default"(%a) {"self" = 0 : index, "offset" = 1 : i64, "dim1" = -2 : i64, "dim2" = -1 : i64} : (tensor<3x2xf32>) -> tensor<3x3x3xf32> loc("n")
  return %0 : tensor<3x3x3xf32>
}

// CHECK-LABEL: func.func @diagonal_of_open_size(
// CHECK-NEXT: return{{$}}
func.func @diagonal_of_open_size(%a: tensor<3x?xf32> {mhc.name = "a"}) -> tensor<3x?x?xf32> {
  %0 = "aten.diag_embed.default"(%a) {"self" = 0 : index, "offset" = 0 : i64, "dim1" = -2 : i64, "dim2" = -1 : i64} : (tensor<3x?xf32>) -> tensor<3x?x?xf32> loc("n")
  return %0 : tensor<3x?x?xf32>
}

// CHECK-LABEL: func.func @stack_above(
// CHECK-NEXT: return{{$}}
func.func @stack_above(%a: tensor<4x8xf32> {mhc.name = "a"}) -> tensor<2x4x8xf32> {
  %0 = "aten.stack.default"(%a) {"tensors" = [0 : index, 0 : index], "dim" = 100 : i64} : (tensor<4x8xf32>) -> tensor<2x4x8xf32> loc("n")
  return %0 : tensor<2x4x8xf32>
}

// CHECK-LABEL: func.func @stack_below(
// CHECK-NEXT: return{{$}}
func.func @stack_below(%a: tensor<4x8xf32> {mhc.name = "a"}) -> tensor<2x4x8xf32> {
  %0 = "aten.stack.default"(%a) {"tensors" = [0 : index, 0 : index], "dim" = -100 : i64} : (tensor<4x8xf32>) -> tensor<2x4x8xf32> loc("n")
  return %0 : tensor<2x4x8xf32>
}

// CHECK-LABEL: func.func @stack_of_ranks(
// CHECK-NEXT: return{{$}}
func.func @stack_of_ranks(%a: tensor<8xf32> {mhc.name = "a"}) -> tensor<2x4x8xf32> {
  %0 = "aten.stack.default"(%a) {"tensors" = [0 : index, 0 : index], "dim" = 0 : i64} : (tensor<8xf32>) -> tensor<2x4x8xf32> loc("n")
  return %0 : tensor<2x4x8xf32>
}

// CHECK-LABEL: func.func @mm_of_ranks(
// CHECK-NEXT: return{{$}}
func.func @mm_of_ranks(%a: tensor<1x8x16xf32> {mhc.name = "a"}, %b: tensor<8xf32> {mhc.name = "b"}) -> tensor<1x8xf32> {
  %0 = "aten.mm.default"(%a, %b) {"self" = 0 : index, "mat2" = 1 : index} : (tensor<1x8x16xf32>, tensor<8xf32>) -> tensor<1x8xf32> loc("n")
  return %0 : tensor<1x8xf32>
}

// CHECK-LABEL: func.func @bmm_of_ranks(
// CHECK-NEXT: return{{$}}
func.func @bmm_of_ranks(%a: tensor<8x16xf32> {mhc.name = "a"}, %b: tensor<8xf32> {mhc.name = "b"}) -> tensor<1x8xf32> {
  %0 = "aten.bmm.default"(%a, %b) {"self" = 0 : index, "mat2" = 1 : index} : (tensor<8x16xf32>, tensor<8xf32>) -> tensor<1x8xf32> loc("n")
  return %0 : tensor<1x8xf32>
}

// CHECK-LABEL: func.func @mv_of_a_scalar(
// CHECK-NEXT: return{{$}}
func.func @mv_of_a_scalar(%a: tensor<8x16xf32> {mhc.name = "a"}, %b: tensor<f32> {mhc.name = "b"}) -> tensor<8xf32> {
  %0 = "aten.mv.default"(%a, %b) {"self" = 0 : index, "vec" = 1 : index} : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32> loc("n")
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @addmm_of_ranks(
// CHECK-NEXT: return{{$}}
func.func @addmm_of_ranks(%a: tensor<4x8xf32> {mhc.name = "a"}, %b: tensor<8xf32> {mhc.name = "b"}) -> tensor<4x8xf32> {
  %0 = "aten.addmm.default"(%a, %b) {"self" = 0 : index, "mat1" = 1 : index, "mat2" = 0 : index} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> loc("n")
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @detach_of_nothing(
// CHECK-NEXT: return{{$}}
func.func @detach_of_nothing(%a: tensor<4xf32> {mhc.name = "a"}) -> tensor<4xf32> {
  %0 = "aten.detach.default"() {} : () -> tensor<4xf32> loc("n")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @slice_to_rank_1(
// CHECK-NEXT: return{{$}}
func.func @slice_to_rank_1(%a: tensor<4x8xf32> {mhc.name = "a"}) -> tensor<4xf32> {
  %0 = "aten.slice.Tensor"(%a) {"self" = 0 : index, "dim" = 1 : i64, "start" = 0 : i64, "end" = 4 : i64} : (tensor<4x8xf32>) -> tensor<4xf32> loc("n")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @split_to_rank_1(
// CHECK-NEXT: return{{$}}
func.func @split_to_rank_1(%a: tensor<4x8xf32> {mhc.name = "a"}) -> tensor<4xf32> {
  %0 = "aten.split.Tensor"(%a) {"self" = 0 : index, "dim" = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xf32> loc("n")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @repeat_less_than_rank(
// CHECK-NEXT: return{{$}}
func.func @repeat_less_than_rank(%a: tensor<4x8xf32> {mhc.name = "a"}) -> tensor<4x8xf32> {
  %0 = "aten.repeat.default"(%a) {"self" = 0 : index, "repeats" = [2]} : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("n")
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @scatter_of_rank_1(
// CHECK-NEXT: return{{$}}
func.func @scatter_of_rank_1(%a: tensor<4x8xf32> {mhc.name = "a"}, %b: tensor<4xf32> {mhc.name = "b"}) -> tensor<4x8xf32> {
  %0 = "aten.slice_scatter.default"(%a, %b) {"self" = 0 : index, "src" = 1 : index, "dim" = 1 : i64} : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32> loc("n")
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @select_scatter_of_rank_2(
// CHECK-NEXT: return{{$}}
func.func @select_scatter_of_rank_2(%a: tensor<4x8xf32> {mhc.name = "a"}, %b: tensor<4x8xf32> {mhc.name = "b"}) -> tensor<4x8xf32> {
  %0 = "aten.select_scatter.default"(%a, %b) {"self" = 0 : index, "src" = 1 : index, "dim" = 1 : i64, "index" = 0 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("n")
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @one_result_of_two(
// CHECK-NEXT: return{{$}}
func.func @one_result_of_two(%a: tensor<4x8xf32> {mhc.name = "a"}) -> tensor<4xf32> {
  %0 = "aten.max.dim"(%a) {"self" = 0 : index, "dim" = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xf32> loc("n")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_dim_twice(
// CHECK-NEXT: return{{$}}
func.func @a_dim_twice(%a: tensor<4x8xf32> {mhc.name = "a"}) -> tensor<4x4xf32> {
  %0 = "aten.permute.default"(%a) {"self" = 0 : index, "dims" = [0, 0]} : (tensor<4x8xf32>) -> tensor<4x4xf32> loc("n")
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @sizes_that_do_not_meet(
// CHECK-NEXT: return{{$}}
func.func @sizes_that_do_not_meet(%a: tensor<4x8xf32> {mhc.name = "a"}, %b: tensor<3x8xf32> {mhc.name = "b"}) -> tensor<4x8xf32> {
  %0 = "aten.add.Tensor"(%a, %b) {"self" = 0 : index, "other" = 1 : index} : (tensor<4x8xf32>, tensor<3x8xf32>) -> tensor<4x8xf32> loc("n")
  return %0 : tensor<4x8xf32>
}

// Sizes that are no text are not known.
// CHECK-LABEL: func.func @sizes_without_text(
// CHECK-NEXT: return{{$}}
func.func @sizes_without_text(%a: tensor<?x4xf32> {mhc.name = "a", mhc.dims = [3, 4]}) -> tensor<?x2x2xf32> {
  %0 = "aten.view.default"(%a) {"self" = 0 : index, mhc.dims = [[3, "2", "2"]]}
    : (tensor<?x4xf32>) -> tensor<?x2x2xf32> loc("n")
  return %0 : tensor<?x2x2xf32>
}

// Rows that no constant says, and one that is not there.
// CHECK-LABEL: func.func @unknown_rows(
// CHECK-NEXT: return{{$}}
func.func @unknown_rows(%a: tensor<3xf32> {mhc.name = "a"}, %i: tensor<2xi64> {mhc.name = "i"}) -> (tensor<2xf32>) {
  %0 = "aten.index_select.default"(%a, %i) {"self" = 0 : index, "dim" = 0 : i64, "index" = 1 : index} : (tensor<3xf32>, tensor<2xi64>) -> (tensor<2xf32>) loc("n")
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @row_behind_the_last(
// CHECK-NEXT: return{{$}}
func.func @row_behind_the_last(%a: tensor<3xf32> {mhc.name = "a"}) -> (tensor<2xf32>) {
  %0 = "get_attr"() {"constant" = [0 : i64, 3 : i64]} : () -> (tensor<2xi64>) loc("i")
  %1 = "aten.index_select.default"(%a, %0) {"self" = 0 : index, "dim" = 0 : i64, "index" = 1 : index} : (tensor<3xf32>, tensor<2xi64>) -> (tensor<2xf32>) loc("n")
  return %1 : tensor<2xf32>
}

// Factors and steps that are known at each call only.
// CHECK-LABEL: func.func @open_factor(
// CHECK-NEXT: return{{$}}
func.func @open_factor(%a: tensor<2x4xf32> {mhc.name = "a"}, %s: f64 {mhc.name = "s"}) -> (tensor<2x4xf32>) {
  %0 = "aten.add.Tensor"(%a, %a, %s) {"self" = 0 : index, "other" = 1 : index, "alpha" = 2 : index} : (tensor<2x4xf32>, tensor<2x4xf32>, f64) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @open_factor_of_product(
// CHECK-NEXT: return{{$}}
func.func @open_factor_of_product(%a: tensor<3xf32> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}, %c: tensor<4x3xf32> {mhc.name = "c"}, %s: f64 {mhc.name = "s"}) -> (tensor<2x3xf32>) {
  %0 = "aten.addmm.default"(%a, %b, %c, %s) {"self" = 0 : index, "mat1" = 1 : index, "mat2" = 2 : index, "beta" = 3 : index, "alpha" = 1 : i64} : (tensor<3xf32>, tensor<2x4xf32>, tensor<4x3xf32>, f64) -> (tensor<2x3xf32>) loc("n")
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @open_step(
// CHECK-NEXT: return{{$}}
func.func @open_step(%a: tensor<6x4xf32> {mhc.name = "a"}, %s: i64 {mhc.name = "s"}) -> (tensor<3x4xf32>) {
  %0 = "aten.slice.Tensor"(%a, %s) {"self" = 0 : index, "dim" = 0 : i64, "start" = 0 : i64, "end" = 9223372036854775807 : i64, "step" = 1 : index} : (tensor<6x4xf32>, i64) -> (tensor<3x4xf32>) loc("n")
  return %0 : tensor<3x4xf32>
}

// A slice of what is empty, of which MLIR has none.
// CHECK-LABEL: func.func @empty_slice(
// CHECK-NEXT: return{{$}}
func.func @empty_slice(%a: tensor<0x4xf32> {mhc.name = "a"}) -> (tensor<0x3xf32>) {
  %0 = "aten.slice.Tensor"(%a) {"self" = 0 : index, "dim" = 1 : i64, "start" = 1 : i64, "end" = 4 : i64, "step" = 1 : i64} : (tensor<0x4xf32>) -> (tensor<0x3xf32>) loc("n")
  return %0 : tensor<0x3xf32>
}
