// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-read-aten | FileCheck %s

//===----------------------------------------------------------------------===//
// Arithmetic: operands take the shape and the type of the result.
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @add(
// CHECK-NEXT: [[V0:%.+]] = arith.addf %arg0, %arg1 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @add(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}) -> (tensor<2x4xf32>) {
  %0 = "aten.add.Tensor"(%a, %b) {"self" = 0 : index, "other" = 1 : index, "alpha" = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @add_scaled(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<3.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.mulf %arg1, [[V0]] : tensor<2x4xf32>
// CHECK-NEXT: [[V2:%.+]] = arith.addf %arg0, [[V1]] : tensor<2x4xf32>
// CHECK-NEXT: return [[V2]] : tensor<2x4xf32>
func.func @add_scaled(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}) -> (tensor<2x4xf32>) {
  %0 = "aten.add.Tensor"(%a, %b) {"self" = 0 : index, "other" = 1 : index, "alpha" = 3 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// PyTorch rounds integers to the type of the result first.
// CHECK-LABEL: func.func @integers(
// CHECK-NEXT: [[V0:%.+]] = arith.sitofp %arg1 : tensor<4xi64> to tensor<4xbf16>
// CHECK-NEXT: [[V1:%.+]] = mhc.broadcast [[V0]] dims = [1] : tensor<4xbf16> -> tensor<2x4xbf16>
// CHECK-NEXT: [[V2:%.+]] = arith.mulf %arg0, [[V1]] : tensor<2x4xbf16>
// CHECK-NEXT: return [[V2]] : tensor<2x4xbf16>
func.func @integers(%a: tensor<2x4xbf16> {mhc.name = "a"}, %b: tensor<4xi64> {mhc.name = "b"}) -> (tensor<2x4xbf16>) {
  %0 = "aten.mul.Tensor"(%a, %b) {"self" = 0 : index, "other" = 1 : index} : (tensor<2x4xbf16>, tensor<4xi64>) -> (tensor<2x4xbf16>) loc("n")
  return %0 : tensor<2x4xbf16>
}

// CHECK-LABEL: func.func @add_number(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<9.99999997E-7> : tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.addf %arg0, [[V0]] : tensor<2x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4xf32>
func.func @add_number(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.add.Scalar"(%a) {"self" = 0 : index, "other" = 1.0e-06 : f64, "alpha" = 1 : i64} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @add_row(
// CHECK-NEXT: [[V0:%.+]] = mhc.broadcast %arg1 dims = [1] : tensor<4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.addf %arg0, [[V0]] : tensor<2x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4xf32>
func.func @add_row(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<4xf32> {mhc.name = "b"}) -> (tensor<2x4xf32>) {
  %0 = "aten.add.Tensor"(%a, %b) {"self" = 0 : index, "other" = 1 : index, "alpha" = 1 : i64} : (tensor<2x4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @add_open(
// CHECK-NEXT: [[V0:%.+]] = arith.constant 0 : index
// CHECK-NEXT: [[V1:%.+]] = tensor.dim %arg0, [[V0]] : tensor<?x4xf32>
// CHECK-NEXT: [[V2:%.+]] = mhc.broadcast %arg1{{.*}} dims = [0, 1] : tensor<1x4xf32> -> tensor<?x4xf32>
// CHECK-NEXT: [[V3:%.+]] = arith.addf %arg0, [[V2]] : tensor<?x4xf32>
// CHECK-NEXT: return [[V3]] : tensor<?x4xf32>
func.func @add_open(%a: tensor<?x4xf32> {mhc.name = "a", mhc.dims = ["M", "4"]}, %b: tensor<1x4xf32> {mhc.name = "b"}) -> (tensor<?x4xf32>) {
  %0 = "aten.add.Tensor"(%a, %b) {"self" = 0 : index, "other" = 1 : index, "alpha" = 1 : i64, mhc.dims = [["M", "4"]]} : (tensor<?x4xf32>, tensor<1x4xf32>) -> (tensor<?x4xf32>) loc("n")
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @sub(
// CHECK-NEXT: [[V0:%.+]] = arith.subf %arg0, %arg1 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @sub(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}) -> (tensor<2x4xf32>) {
  %0 = "aten.sub.Tensor"(%a, %b) {"self" = 0 : index, "other" = 1 : index, "alpha" = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @sub_number(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<1.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.subf %arg0, [[V0]] : tensor<2x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4xf32>
func.func @sub_number(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.sub.Scalar"(%a) {"self" = 0 : index, "other" = 1 : i64, "alpha" = 1 : i64} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @rsub_scalar(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<1.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.subf [[V0]], %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4xf32>
func.func @rsub_scalar(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.rsub.Scalar"(%a) {"self" = 0 : index, "other" = 1 : i64, "alpha" = 1 : i64} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @rsub_tensor(
// CHECK-NEXT: [[V0:%.+]] = arith.subf %arg1, %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @rsub_tensor(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}) -> (tensor<2x4xf32>) {
  %0 = "aten.rsub.Tensor"(%a, %b) {"self" = 0 : index, "other" = 1 : index, "alpha" = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// A factor of f32 meets bf16 in f32.
// CHECK-LABEL: func.func @mul_wide(
// CHECK-NEXT: [[V0:%.+]] = arith.extf %arg0 : tensor<2x4xbf16> to tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = mhc.broadcast %arg1 dims = [] : tensor<f32> -> tensor<2x4xf32>
// CHECK-NEXT: [[V2:%.+]] = arith.mulf [[V0]], [[V1]] : tensor<2x4xf32>
// CHECK-NEXT: [[V3:%.+]] = arith.truncf [[V2]] : tensor<2x4xf32> to tensor<2x4xbf16>
// CHECK-NEXT: return [[V3]] : tensor<2x4xbf16>
func.func @mul_wide(%a: tensor<2x4xbf16> {mhc.name = "a"}, %b: tensor<f32> {mhc.name = "b"}) -> (tensor<2x4xbf16>) {
  %0 = "aten.mul.Tensor"(%a, %b) {"self" = 0 : index, "other" = 1 : index} : (tensor<2x4xbf16>, tensor<f32>) -> (tensor<2x4xbf16>) loc("n")
  return %0 : tensor<2x4xbf16>
}

// CHECK-LABEL: func.func @mul_number(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<2.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.mulf %arg0, [[V0]] : tensor<2x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4xf32>
func.func @mul_number(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.mul.Scalar"(%a) {"self" = 0 : index, "other" = 2 : i64} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @div_tensor(
// CHECK-NEXT: [[V0:%.+]] = arith.divf %arg0, %arg1 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @div_tensor(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}) -> (tensor<2x4xf32>) {
  %0 = "aten.div.Tensor"(%a, %b) {"self" = 0 : index, "other" = 1 : index} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @div_number(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<2.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.divf %arg0, [[V0]] : tensor<2x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4xf32>
func.func @div_number(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.div.Scalar"(%a) {"self" = 0 : index, "other" = 2 : i64} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @maximum_default(
// CHECK-NEXT: [[V0:%.+]] = arith.maximumf %arg0, %arg1 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @maximum_default(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}) -> (tensor<2x4xf32>) {
  %0 = "aten.maximum.default"(%a, %b) {"self" = 0 : index, "other" = 1 : index} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @minimum_default(
// CHECK-NEXT: [[V0:%.+]] = arith.minimumf %arg0, %arg1 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @minimum_default(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}) -> (tensor<2x4xf32>) {
  %0 = "aten.minimum.default"(%a, %b) {"self" = 0 : index, "other" = 1 : index} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @clamp(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<0.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.maximumf %arg0, [[V0]] : tensor<2x4xf32>
// CHECK-NEXT: [[V2:%.+]] = arith.constant dense<1.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: [[V3:%.+]] = arith.minimumf [[V1]], [[V2]] : tensor<2x4xf32>
// CHECK-NEXT: return [[V3]] : tensor<2x4xf32>
func.func @clamp(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.clamp.default"(%a) {"self" = 0 : index, "min" = 0.0 : f64, "max" = 1.0 : f64} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @clamp_tensor(
// CHECK-NEXT: [[V0:%.+]] = arith.maximumf %arg0, %arg1 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @clamp_tensor(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}) -> (tensor<2x4xf32>) {
  %0 = "aten.clamp.Tensor"(%a, %b) {"self" = 0 : index, "min" = 1 : index} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @clamp_min(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<9.99999997E-7> : tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.maximumf %arg0, [[V0]] : tensor<2x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4xf32>
func.func @clamp_min(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.clamp_min.default"(%a) {"self" = 0 : index, "min" = 1.0e-06 : f64} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @clamp_min_tensor(
// CHECK-NEXT: [[V0:%.+]] = arith.maximumf %arg0, %arg1 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @clamp_min_tensor(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}) -> (tensor<2x4xf32>) {
  %0 = "aten.clamp_min.Tensor"(%a, %b) {"self" = 0 : index, "min" = 1 : index} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @clamp_max(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<1.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.minimumf %arg0, [[V0]] : tensor<2x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4xf32>
func.func @clamp_max(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.clamp_max.default"(%a) {"self" = 0 : index, "max" = 1 : i64} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @where(
// CHECK-NEXT: [[V0:%.+]] = arith.select %arg0, %arg1, %arg2 : tensor<2x4xi1>, tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @where(%a: tensor<2x4xi1> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}, %c: tensor<2x4xf32> {mhc.name = "c"}) -> (tensor<2x4xf32>) {
  %0 = "aten.where.self"(%a, %b, %c) {"condition" = 0 : index, "self" = 1 : index, "other" = 2 : index} : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @pow(
// CHECK-NEXT: [[V0:%.+]] = arith.mulf %arg0, %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @pow(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.pow.Tensor_Scalar"(%a) {"self" = 0 : index, "exponent" = 2 : i64} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @pow_half(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<-5.000000e-01> : tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = math.powf %arg0, [[V0]] : tensor<2x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4xf32>
func.func @pow_half(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.pow.Tensor_Scalar"(%a) {"self" = 0 : index, "exponent" = -0.5 : f64} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @neg(
// CHECK-NEXT: [[V0:%.+]] = arith.negf %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @neg(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.neg.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @abs(
// CHECK-NEXT: [[V0:%.+]] = math.absf %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @abs(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.abs.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @exp(
// CHECK-NEXT: [[V0:%.+]] = math.exp %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @exp(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.exp.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @exp2(
// CHECK-NEXT: [[V0:%.+]] = math.exp2 %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @exp2(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.exp2.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @expm1(
// CHECK-NEXT: [[V0:%.+]] = math.expm1 %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @expm1(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.expm1.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @log(
// CHECK-NEXT: [[V0:%.+]] = math.log %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @log(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.log.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @log1p(
// CHECK-NEXT: [[V0:%.+]] = math.log1p %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @log1p(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.log1p.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @sqrt(
// CHECK-NEXT: [[V0:%.+]] = math.sqrt %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @sqrt(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.sqrt.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @rsqrt(
// CHECK-NEXT: [[V0:%.+]] = math.rsqrt %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @rsqrt(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.rsqrt.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @tanh(
// CHECK-NEXT: [[V0:%.+]] = math.tanh %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @tanh(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.tanh.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @erf(
// CHECK-NEXT: [[V0:%.+]] = math.erf %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @erf(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.erf.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @sigmoid(
// CHECK-NEXT: [[V0:%.+]] = mhc.sigmoid %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @sigmoid(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.sigmoid.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @silu(
// CHECK-NEXT: [[V0:%.+]] = mhc.silu %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @silu(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.silu.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @addcmul(
// CHECK-NEXT: [[V0:%.+]] = arith.extf %arg0 : tensor<2x4xbf16> to tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = mhc.broadcast %arg1 dims = [0, 1] : tensor<2x1xf32> -> tensor<2x4xf32>
// CHECK-NEXT: [[V2:%.+]] = arith.extf %arg2 : tensor<4xbf16> to tensor<4xf32>
// CHECK-NEXT: [[V3:%.+]] = mhc.broadcast [[V2]] dims = [1] : tensor<4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: [[V4:%.+]] = arith.mulf [[V1]], [[V3]] : tensor<2x4xf32>
// CHECK-NEXT: [[V5:%.+]] = arith.constant dense<3.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: [[V6:%.+]] = arith.mulf [[V4]], [[V5]] : tensor<2x4xf32>
// CHECK-NEXT: [[V7:%.+]] = arith.addf [[V0]], [[V6]] : tensor<2x4xf32>
// CHECK-NEXT: return [[V7]] : tensor<2x4xf32>
func.func @addcmul(%a: tensor<2x4xbf16> {mhc.name = "a"}, %b: tensor<2x1xf32> {mhc.name = "b"}, %c: tensor<4xbf16> {mhc.name = "c"}) -> (tensor<2x4xf32>) {
  %0 = "aten.addcmul.default"(%a, %b, %c) {"self" = 0 : index, "tensor1" = 1 : index, "tensor2" = 2 : index, "value" = 3 : i64} : (tensor<2x4xbf16>, tensor<2x1xf32>, tensor<4xbf16>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @log_sigmoid(
// CHECK-NEXT: [[V0:%.+]] = arith.extf %arg0 : tensor<2x4xbf16> to tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.negf [[V0]] : tensor<2x4xf32>
// CHECK-NEXT: [[V2:%.+]] = mhc.softplus [[V1]] : tensor<2x4xf32>
// CHECK-NEXT: [[V3:%.+]] = arith.negf [[V2]] : tensor<2x4xf32>
// CHECK-NEXT: [[V4:%.+]] = arith.truncf [[V3]] : tensor<2x4xf32> to tensor<2x4xbf16>
// CHECK-NEXT: return [[V4]] : tensor<2x4xbf16>
func.func @log_sigmoid(%a: tensor<2x4xbf16> {mhc.name = "a"}) -> (tensor<2x4xbf16>) {
  %0:2 = "aten.log_sigmoid_forward.default"(%a) {"self" = 0 : index} : (tensor<2x4xbf16>) -> (tensor<2x4xbf16>, tensor<0xbf16>) loc("n")
  return %0#0 : tensor<2x4xbf16>
}

// CHECK-LABEL: func.func @softplus(
// CHECK-NEXT: [[V0:%.+]] = mhc.softplus %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @softplus(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.softplus.default"(%a) {"self" = 0 : index, "beta" = 1 : i64, "threshold" = 20 : i64} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @reciprocal(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<1.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.divf [[V0]], %arg0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4xf32>
func.func @reciprocal(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.reciprocal.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @relu(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<0.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.maximumf %arg0, [[V0]] : tensor<2x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4xf32>
func.func @relu(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.relu.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

//===----------------------------------------------------------------------===//
// Sums, maxima and products.
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @sum_all(
// CHECK-NEXT: [[V0:%.+]] = mhc.reduce sum %arg0 dims = [0, 1] : tensor<2x4xf32> -> tensor<f32>
// CHECK-NEXT: return [[V0]] : tensor<f32>
func.func @sum_all(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<f32>) {
  %0 = "aten.sum.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<f32>) loc("n")
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @sum(
// CHECK-NEXT: [[V0:%.+]] = mhc.reduce sum %arg0 dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
// CHECK-NEXT: return [[V0]] : tensor<2xf32>
func.func @sum(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2xf32>) {
  %0 = "aten.sum.dim_IntList"(%a) {"self" = 0 : index, "dim" = [-1 : i64], "keepdim" = false} : (tensor<2x4xf32>) -> (tensor<2xf32>) loc("n")
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @sum_keep(
// CHECK-NEXT: [[V0:%.+]] = mhc.reduce sum %arg0 dims = [1] : tensor<?x4xf32> -> tensor<?xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.constant 0 : index
// CHECK-NEXT: [[V2:%.+]] = tensor.dim %arg0, [[V1]] : tensor<?x4xf32>
// CHECK-NEXT: [[V3:%.+]] = tensor.expand_shape [[V0]] {{\[\[}}0, 1]] output_shape {{.*}} : tensor<?xf32> into tensor<?x1xf32>
// CHECK-NEXT: return [[V3]] : tensor<?x1xf32>
func.func @sum_keep(%a: tensor<?x4xf32> {mhc.name = "a", mhc.dims = ["M", "4"]}) -> (tensor<?x1xf32>) {
  %0 = "aten.sum.dim_IntList"(%a) {"self" = 0 : index, "dim" = [-1 : i64], "keepdim" = true, mhc.dims = [["M", "1"]]} : (tensor<?x4xf32>) -> (tensor<?x1xf32>) loc("n")
  return %0 : tensor<?x1xf32>
}

// CHECK-LABEL: func.func @sum_wide(
// CHECK-NEXT: [[V0:%.+]] = arith.extf %arg0 : tensor<2x4xbf16> to tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = mhc.reduce sum [[V0]] dims = [0] : tensor<2x4xf32> -> tensor<4xf32>
// CHECK-NEXT: return [[V1]] : tensor<4xf32>
func.func @sum_wide(%a: tensor<2x4xbf16> {mhc.name = "a"}) -> (tensor<4xf32>) {
  %0 = "aten.sum.dim_IntList"(%a) {"self" = 0 : index, "dim" = [0 : i64], "keepdim" = false, "dtype" = "torch.float32"} : (tensor<2x4xbf16>) -> (tensor<4xf32>) loc("n")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @mean_all(
// CHECK-NEXT: [[V0:%.+]] = mhc.reduce mean %arg0 dims = [0, 1] : tensor<2x4xf32> -> tensor<f32>
// CHECK-NEXT: return [[V0]] : tensor<f32>
func.func @mean_all(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<f32>) {
  %0 = "aten.mean.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<f32>) loc("n")
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @mean(
// CHECK-NEXT: [[V0:%.+]] = mhc.reduce mean %arg0 dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
// CHECK-NEXT: [[V1:%.+]] = tensor.expand_shape [[V0]] {{\[\[}}0, 1]] output_shape [2, 1] : tensor<2xf32> into tensor<2x1xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x1xf32>
func.func @mean(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x1xf32>) {
  %0 = "aten.mean.dim"(%a) {"self" = 0 : index, "dim" = [1 : i64], "keepdim" = true} : (tensor<2x4xf32>) -> (tensor<2x1xf32>) loc("n")
  return %0 : tensor<2x1xf32>
}

// CHECK-LABEL: func.func @amax(
// CHECK-NEXT: [[V0:%.+]] = mhc.reduce max %arg0 dims = [0] : tensor<2x4xf32> -> tensor<4xf32>
// CHECK-NEXT: [[V1:%.+]] = tensor.expand_shape [[V0]] {{\[\[}}0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<1x4xf32>
func.func @amax(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<1x4xf32>) {
  %0 = "aten.amax.default"(%a) {"self" = 0 : index, "dim" = [-2 : i64], "keepdim" = true} : (tensor<2x4xf32>) -> (tensor<1x4xf32>) loc("n")
  return %0 : tensor<1x4xf32>
}

// CHECK-LABEL: func.func @softmax(
// CHECK-NEXT: [[V0:%.+]] = mhc.softmax %arg0 dim = 1 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @softmax(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten._softmax.default"(%a) {"self" = 0 : index, "dim" = -1 : i64, "half_to_float" = false} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @softmax_int(
// CHECK-NEXT: [[V0:%.+]] = mhc.softmax %arg0 dim = 0 : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @softmax_int(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.softmax.int"(%a) {"self" = 0 : index, "dim" = 0 : i64} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @log_softmax(
// CHECK-NEXT: [[V0:%.+]] = arith.extf %arg0 : tensor<2x4xbf16> to tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = mhc.reduce max [[V0]] dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
// CHECK-NEXT: [[V2:%.+]] = mhc.broadcast [[V1]] dims = [0] : tensor<2xf32> -> tensor<2x4xf32>
// CHECK-NEXT: [[V3:%.+]] = arith.subf [[V0]], [[V2]] : tensor<2x4xf32>
// CHECK-NEXT: [[V4:%.+]] = math.exp [[V3]] : tensor<2x4xf32>
// CHECK-NEXT: [[V5:%.+]] = mhc.reduce sum [[V4]] dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
// CHECK-NEXT: [[V6:%.+]] = mhc.broadcast [[V5]] dims = [0] : tensor<2xf32> -> tensor<2x4xf32>
// CHECK-NEXT: [[V7:%.+]] = math.log [[V6]] : tensor<2x4xf32>
// CHECK-NEXT: [[V8:%.+]] = arith.subf [[V3]], [[V7]] : tensor<2x4xf32>
// CHECK-NEXT: [[V9:%.+]] = arith.truncf [[V8]] : tensor<2x4xf32> to tensor<2x4xbf16>
// CHECK-NEXT: return [[V9]] : tensor<2x4xbf16>
func.func @log_softmax(%a: tensor<2x4xbf16> {mhc.name = "a"}) -> (tensor<2x4xbf16>) {
  %0 = "aten._log_softmax.default"(%a) {"self" = 0 : index, "dim" = -1 : i64, "half_to_float" = false} : (tensor<2x4xbf16>) -> (tensor<2x4xbf16>) loc("n")
  return %0 : tensor<2x4xbf16>
}

// CHECK-LABEL: func.func @log_softmax_int(
// CHECK-NEXT: [[V0:%.+]] = mhc.reduce max %arg0 dims = [0] : tensor<2x4xf32> -> tensor<4xf32>
// CHECK-NEXT: [[V1:%.+]] = mhc.broadcast [[V0]] dims = [1] : tensor<4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: [[V2:%.+]] = arith.subf %arg0, [[V1]] : tensor<2x4xf32>
// CHECK-NEXT: [[V3:%.+]] = math.exp [[V2]] : tensor<2x4xf32>
// CHECK-NEXT: [[V4:%.+]] = mhc.reduce sum [[V3]] dims = [0] : tensor<2x4xf32> -> tensor<4xf32>
// CHECK-NEXT: [[V5:%.+]] = mhc.broadcast [[V4]] dims = [1] : tensor<4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: [[V6:%.+]] = math.log [[V5]] : tensor<2x4xf32>
// CHECK-NEXT: [[V7:%.+]] = arith.subf [[V2]], [[V6]] : tensor<2x4xf32>
// CHECK-NEXT: return [[V7]] : tensor<2x4xf32>
func.func @log_softmax_int(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.log_softmax.int"(%a) {"self" = 0 : index, "dim" = 0 : i64} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @logsumexp(
// CHECK-NEXT: [[V0:%.+]] = mhc.reduce max %arg0 dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
// CHECK-NEXT: [[V1:%.+]] = mhc.reduce max %arg0 dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
// CHECK-NEXT: [[V2:%.+]] = mhc.broadcast [[V1]] dims = [0] : tensor<2xf32> -> tensor<2x4xf32>
// CHECK-NEXT: [[V3:%.+]] = arith.subf %arg0, [[V2]] : tensor<2x4xf32>
// CHECK-NEXT: [[V4:%.+]] = math.exp [[V3]] : tensor<2x4xf32>
// CHECK-NEXT: [[V5:%.+]] = mhc.reduce sum [[V4]] dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
// CHECK-NEXT: [[V6:%.+]] = math.log [[V5]] : tensor<2xf32>
// CHECK-NEXT: [[V7:%.+]] = arith.addf [[V0]], [[V6]] : tensor<2xf32>
// CHECK-NEXT: [[V8:%.+]] = tensor.expand_shape [[V7]] {{\[\[}}0, 1]] output_shape [2, 1] : tensor<2xf32> into tensor<2x1xf32>
// CHECK-NEXT: return [[V8]] : tensor<2x1xf32>
func.func @logsumexp(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x1xf32>) {
  %0 = "aten.logsumexp.default"(%a) {"self" = 0 : index, "dim" = [1 : i64], "keepdim" = true} : (tensor<2x4xf32>) -> (tensor<2x1xf32>) loc("n")
  return %0 : tensor<2x1xf32>
}

// CHECK-LABEL: func.func @_fused_rms_norm(
// CHECK-NEXT: [[X:%.+]] = arith.extf %arg0 : tensor<2x4xbf16> to tensor<2x4xf32>
// CHECK-NEXT: [[SQUARES:%.+]] = arith.mulf [[X]], [[X]]
// CHECK-NEXT: [[MEAN:%.+]] = mhc.reduce mean [[SQUARES]] dims = [1]
// CHECK-NEXT: [[WIDE:%.+]] = mhc.broadcast [[MEAN]] dims = [0]
// CHECK-NEXT: [[EPS:%.+]] = arith.constant dense<9.99999997E-7> : tensor<2x4xf32>
// CHECK-NEXT: [[ROOM:%.+]] = arith.addf [[WIDE]], [[EPS]]
// CHECK-NEXT: [[FACTOR:%.+]] = math.rsqrt [[ROOM]]
// CHECK-NEXT: [[NORMED:%.+]] = arith.mulf [[X]], [[FACTOR]]
// CHECK:      [[WEIGHTED:%.+]] = arith.mulf [[NORMED]],
// CHECK:      [[FACTORS:%.+]] = tensor.expand_shape {{.*}} : tensor<2xf32> into tensor<2x1xf32>
// CHECK-NEXT: [[ROUNDED:%.+]] = arith.truncf [[WEIGHTED]]
// CHECK-NEXT: return [[ROUNDED]], [[FACTORS]]
func.func @_fused_rms_norm(%a: tensor<2x4xbf16> {mhc.name = "a"}, %w: tensor<4xbf16> {mhc.name = "w"}) -> (tensor<2x4xbf16>, tensor<2x1xf32>) {
  %0:2 = "aten._fused_rms_norm.default"(%a, %w) {"input" = 0 : index, "normalized_shape" = [4 : i64], "weight" = 1 : index, "eps" = 1.0e-06 : f64} : (tensor<2x4xbf16>, tensor<4xbf16>) -> (tensor<2x4xbf16>, tensor<2x1xf32>) loc("n")
  return %0#0, %0#1 : tensor<2x4xbf16>, tensor<2x1xf32>
}

// CHECK-LABEL: func.func @_fused_rms_norm_without_eps(
// CHECK:      arith.constant dense<1.1920929E-7> : tensor<2x4xf32>
func.func @_fused_rms_norm_without_eps(%a: tensor<2x4xbf16> {mhc.name = "a"}) -> (tensor<2x4xbf16>) {
  %0:2 = "aten._fused_rms_norm.default"(%a) {"input" = 0 : index, "normalized_shape" = [4 : i64]} : (tensor<2x4xbf16>) -> (tensor<2x4xbf16>, tensor<2x1xf32>) loc("n")
  return %0#0 : tensor<2x4xbf16>
}

// In f64 it stays what it is.
// CHECK-LABEL: func.func @_fused_rms_norm_of_doubles() {
// CHECK-NEXT: return
func.func @_fused_rms_norm_of_doubles(%a: tensor<2x4xf64> {mhc.name = "a"}) -> (tensor<2x4xf64>) {
  %0:2 = "aten._fused_rms_norm.default"(%a) {"input" = 0 : index, "normalized_shape" = [4 : i64]} : (tensor<2x4xf64>) -> (tensor<2x4xf64>, tensor<2x1xf64>) loc("n")
  return %0#0 : tensor<2x4xf64>
}

// CHECK-LABEL: func.func @max_all(
// CHECK-NEXT: [[V0:%.+]] = mhc.reduce max %arg0 dims = [0, 1] : tensor<2x4xf32> -> tensor<f32>
// CHECK-NEXT: return [[V0]] : tensor<f32>
func.func @max_all(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<f32>) {
  %0 = "aten.max.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<f32>) loc("n")
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @max_dim(
// CHECK-NEXT: [[V0:%.+]] = mhc.reduce max %arg0 dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
// CHECK-NEXT: return [[V0]] : tensor<2xf32>
func.func @max_dim(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2xf32>) {
  %0:2 = "aten.max.dim"(%a) {"self" = 0 : index, "dim" = -1 : i64, "keepdim" = false} : (tensor<2x4xf32>) -> (tensor<2xf32>, tensor<2xi64>) loc("n")
  return %0#0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @vector_norm(
// CHECK-NEXT: [[V0:%.+]] = arith.extf %arg0 : tensor<2x4xbf16> to tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.mulf [[V0]], [[V0]] : tensor<2x4xf32>
// CHECK-NEXT: [[V2:%.+]] = mhc.reduce sum [[V1]] dims = [1] : tensor<2x4xf32> -> tensor<2xf32>
// CHECK-NEXT: [[V3:%.+]] = tensor.expand_shape [[V2]] {{.*}} into tensor<2x1xf32>
// CHECK-NEXT: [[V4:%.+]] = math.sqrt [[V3]] : tensor<2x1xf32>
// CHECK-NEXT: [[V5:%.+]] = arith.truncf [[V4]] : tensor<2x1xf32> to tensor<2x1xbf16>
// CHECK-NEXT: return [[V5]] : tensor<2x1xbf16>
func.func @vector_norm(%a: tensor<2x4xbf16> {mhc.name = "a"}) -> (tensor<2x1xbf16>) {
  %0 = "aten.linalg_vector_norm.default"(%a) {"self" = 0 : index, "ord" = 2 : i64, "dim" = [-1 : i64], "keepdim" = true} : (tensor<2x4xbf16>) -> (tensor<2x1xbf16>) loc("n")
  return %0 : tensor<2x1xbf16>
}

// CHECK-LABEL: func.func @sum_of_magnitudes(
// CHECK-NEXT: [[V0:%.+]] = math.absf %arg0 : tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = mhc.reduce sum [[V0]] dims = [0] : tensor<2x4xf32> -> tensor<4xf32>
// CHECK-NEXT: return [[V1]] : tensor<4xf32>
func.func @sum_of_magnitudes(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<4xf32>) {
  %0 = "aten.linalg_vector_norm.default"(%a) {"self" = 0 : index, "ord" = 1.0 : f64, "dim" = [0 : i64], "keepdim" = false} : (tensor<2x4xf32>) -> (tensor<4xf32>) loc("n")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @mm(
// CHECK-NEXT: [[V0:%.+]] = mhc.matmul %arg0, %arg1 : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x3xf32>
func.func @mm(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<4x3xf32> {mhc.name = "b"}) -> (tensor<2x3xf32>) {
  %0 = "aten.mm.default"(%a, %b) {"self" = 0 : index, "mat2" = 1 : index} : (tensor<2x4xf32>, tensor<4x3xf32>) -> (tensor<2x3xf32>) loc("n")
  return %0 : tensor<2x3xf32>
}

// A product in f64 of what was narrower is one in f32; what is added to it stays in f64.
// CHECK-LABEL: func.func @wide_mm(
// CHECK: [[V0:%.+]] = mhc.matmul {{.*}} -> tensor<2x3xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.extf [[V0]] : tensor<2x3xf32> to tensor<2x3xf64>
// CHECK-NEXT: [[V2:%.+]] = arith.extf %arg2 : tensor<2x3xf32> to tensor<2x3xf64>
// CHECK-NEXT: [[V3:%.+]] = arith.addf [[V1]], [[V2]] : tensor<2x3xf64>
// CHECK-NEXT: return [[V3]] : tensor<2x3xf64>
func.func @wide_mm(%a: tensor<2x4xbf16> {mhc.name = "a"}, %b: tensor<3x4xf32> {mhc.name = "b"}, %c: tensor<2x3xf32> {mhc.name = "c"}) -> (tensor<2x3xf64>) {
  %0 = "aten._to_copy.default"(%a) {"self" = 0 : index, "dtype" = "torch.float64"} : (tensor<2x4xbf16>) -> (tensor<2x4xf64>) loc("n0")
  %1 = "aten._to_copy.default"(%b) {"self" = 0 : index, "dtype" = "torch.float64"} : (tensor<3x4xf32>) -> (tensor<3x4xf64>) loc("n1")
  %2 = "aten.mul.Tensor"(%1) {"self" = 0 : index, "other" = 2.0 : f64} : (tensor<3x4xf64>) -> (tensor<3x4xf64>) loc("n2")
  %3 = "aten.t.default"(%2) {"self" = 0 : index} : (tensor<3x4xf64>) -> (tensor<4x3xf64>) loc("n3")
  %4 = "aten.mm.default"(%0, %3) {"self" = 0 : index, "mat2" = 1 : index} : (tensor<2x4xf64>, tensor<4x3xf64>) -> (tensor<2x3xf64>) loc("n4")
  %5 = "aten.add.Tensor"(%4, %c) {"self" = 0 : index, "other" = 1 : index, "alpha" = 1 : i64} : (tensor<2x3xf64>, tensor<2x3xf32>) -> (tensor<2x3xf64>) loc("n5")
  return %5 : tensor<2x3xf64>
}

// CHECK-LABEL: func.func @eye(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<{{\[\[}}1.000000e+00, 0.000000e+00], [0.000000e+00, 1.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x2xf32>
func.func @eye() -> (tensor<2x2xf32>) {
  %0 = "aten.eye.default"() {"n" = 2 : i64, "dtype" = "torch.float32"} : () -> (tensor<2x2xf32>) loc("n")
  return %0 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @eye_wide(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<{{\[\[}}1.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 1.000000e+00, 0.000000e+00]]> : tensor<2x3xbf16>
// CHECK-NEXT: return [[V0]] : tensor<2x3xbf16>
func.func @eye_wide() -> (tensor<2x3xbf16>) {
  %0 = "aten.eye.m"() {"n" = 2 : i64, "m" = 3 : i64, "dtype" = "torch.bfloat16"} : () -> (tensor<2x3xbf16>) loc("n")
  return %0 : tensor<2x3xbf16>
}

// CHECK-LABEL: func.func @diag_embed(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<{{\[\[}}1.000000e+00, 0.000000e+00], [0.000000e+00, 1.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT: [[V1:%.+]] = mhc.broadcast %arg0 dims = [0, 1] : tensor<3x2xf32> -> tensor<3x2x2xf32>
// CHECK-NEXT: [[V2:%.+]] = mhc.broadcast [[V0]] dims = [1, 2] : tensor<2x2xf32> -> tensor<3x2x2xf32>
// CHECK-NEXT: [[V3:%.+]] = arith.mulf [[V1]], [[V2]] : tensor<3x2x2xf32>
// CHECK-NEXT: return [[V3]] : tensor<3x2x2xf32>
func.func @diag_embed(%a: tensor<3x2xf32> {mhc.name = "a"}) -> (tensor<3x2x2xf32>) {
  %0 = "aten.diag_embed.default"(%a) {"self" = 0 : index, "offset" = 0 : i64, "dim1" = -2 : i64, "dim2" = -1 : i64} : (tensor<3x2xf32>) -> (tensor<3x2x2xf32>) loc("n")
  return %0 : tensor<3x2x2xf32>
}

// CHECK-LABEL: func.func @mv(
// CHECK-NEXT: [[V0:%.+]] = tensor.expand_shape %arg1 {{\[\[}}0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
// CHECK-NEXT: [[V1:%.+]] = mhc.matmul %arg0, [[V0]] : (tensor<2x4xf32>, tensor<4x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: [[V2:%.+]] = tensor.collapse_shape [[V1]] {{\[\[}}0, 1]] : tensor<2x1xf32> into tensor<2xf32>
// CHECK-NEXT: return [[V2]] : tensor<2xf32>
func.func @mv(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<4xf32> {mhc.name = "b"}) -> (tensor<2xf32>) {
  %0 = "aten.mv.default"(%a, %b) {"self" = 0 : index, "vec" = 1 : index} : (tensor<2x4xf32>, tensor<4xf32>) -> (tensor<2xf32>) loc("n")
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @bmm(
// CHECK-NEXT: [[V0:%.+]] = mhc.batch_matmul %arg0, %arg1 : (tensor<5x2x4xf32>, tensor<5x4x3xf32>) -> tensor<5x2x3xf32>
// CHECK-NEXT: return [[V0]] : tensor<5x2x3xf32>
func.func @bmm(%a: tensor<5x2x4xf32> {mhc.name = "a"}, %b: tensor<5x4x3xf32> {mhc.name = "b"}) -> (tensor<5x2x3xf32>) {
  %0 = "aten.bmm.default"(%a, %b) {"self" = 0 : index, "mat2" = 1 : index} : (tensor<5x2x4xf32>, tensor<5x4x3xf32>) -> (tensor<5x2x3xf32>) loc("n")
  return %0 : tensor<5x2x3xf32>
}

// CHECK-LABEL: func.func @addmm(
// CHECK-NEXT: [[V0:%.+]] = mhc.broadcast %arg0 dims = [1] : tensor<3xf32> -> tensor<2x3xf32>
// CHECK-NEXT: [[V1:%.+]] = mhc.matmul %arg1, %arg2 : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: [[V2:%.+]] = arith.addf [[V1]], [[V0]] : tensor<2x3xf32>
// CHECK-NEXT: return [[V2]] : tensor<2x3xf32>
func.func @addmm(%a: tensor<3xf32> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}, %c: tensor<4x3xf32> {mhc.name = "c"}) -> (tensor<2x3xf32>) {
  %0 = "aten.addmm.default"(%a, %b, %c) {"self" = 0 : index, "mat1" = 1 : index, "mat2" = 2 : index, "beta" = 1 : i64, "alpha" = 1 : i64} : (tensor<3xf32>, tensor<2x4xf32>, tensor<4x3xf32>) -> (tensor<2x3xf32>) loc("n")
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @baddbmm(
// CHECK-NEXT: [[V0:%.+]] = mhc.batch_matmul %arg1, %arg2 : (tensor<5x2x4xf32>, tensor<5x4x3xf32>) -> tensor<5x2x3xf32>
// CHECK-NEXT: [[V1:%.+]] = arith.addf [[V0]], %arg0 : tensor<5x2x3xf32>
// CHECK-NEXT: return [[V1]] : tensor<5x2x3xf32>
func.func @baddbmm(%a: tensor<5x2x3xf32> {mhc.name = "a"}, %b: tensor<5x2x4xf32> {mhc.name = "b"}, %c: tensor<5x4x3xf32> {mhc.name = "c"}) -> (tensor<5x2x3xf32>) {
  %0 = "aten.baddbmm.default"(%a, %b, %c) {"self" = 0 : index, "batch1" = 1 : index, "batch2" = 2 : index, "beta" = 1 : i64, "alpha" = 1 : i64} : (tensor<5x2x3xf32>, tensor<5x2x4xf32>, tensor<5x4x3xf32>) -> (tensor<5x2x3xf32>) loc("n")
  return %0 : tensor<5x2x3xf32>
}

// In f32, and rounded once.
// CHECK-LABEL: func.func @convolution(
// CHECK-NEXT: [[ZERO:%.+]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: [[X:%.+]] = arith.extf %arg0
// CHECK-NEXT: [[PADDED:%.+]] = tensor.pad [[X]] low[0, 0, 1] high[0, 0, 1]
// CHECK: [[X0:%.+]] = tensor.extract_slice [[PADDED]][0, 0, 0] [2, 6, 9] [1, 1, 1]
// CHECK-NEXT: [[W0:%.+]] = tensor.extract_slice %arg1[0, 0, 0] [6, 1, 1] [1, 1, 1]
// CHECK-NEXT: [[C0:%.+]] = tensor.collapse_shape [[W0]]
// CHECK-NEXT: [[B0:%.+]] = mhc.broadcast [[C0]] dims = [1] : tensor<6xf32> -> tensor<2x6x9xf32>
// CHECK-NEXT: [[P0:%.+]] = arith.mulf [[X0]], [[B0]]
// CHECK-NEXT: [[X1:%.+]] = tensor.extract_slice [[PADDED]][0, 0, 1] [2, 6, 9] [1, 1, 1]
// CHECK: [[P1:%.+]] = arith.mulf [[X1]]
// CHECK-NEXT: [[SUM:%.+]] = arith.addf [[P0]], [[P1]]
// CHECK-NEXT: [[BIAS:%.+]] = mhc.broadcast %arg2 dims = [1]
// CHECK-NEXT: [[ALL:%.+]] = arith.addf [[SUM]], [[BIAS]]
// CHECK-NEXT: [[OUT:%.+]] = arith.truncf [[ALL]]
// CHECK-NEXT: return [[OUT]] : tensor<2x6x9xbf16>
func.func @convolution(%x: tensor<2x6x8xbf16> {mhc.name = "x"}, %w: tensor<6x1x2xf32> {mhc.name = "w"}, %b: tensor<6xf32> {mhc.name = "b"}) -> (tensor<2x6x9xbf16>) {
  %0 = "aten.convolution.default"(%x, %w, %b) {"input" = 0 : index, "weight" = 1 : index, "bias" = 2 : index, "stride" = [1 : i64], "padding" = [1 : i64], "dilation" = [1 : i64], "transposed" = false, "output_padding" = [0 : i64], "groups" = 6 : i64} : (tensor<2x6x8xbf16>, tensor<6x1x2xf32>, tensor<6xf32>) -> (tensor<2x6x9xbf16>) loc("n")
  return %0 : tensor<2x6x9xbf16>
}

// CHECK-LABEL: func.func @convolution_open(
// CHECK: [[PADDED:%.+]] = tensor.pad %arg0 low[0, 0, 2] high[0, 0, 2]
// CHECK: tensor.extract_slice [[PADDED]][0, 0, 0] {{.*}} : tensor<?x6x?xf32> to tensor<?x6x?xf32>
func.func @convolution_open(%x: tensor<?x6x?xf32> {mhc.name = "x", mhc.dims = ["B", "6", "M"]}, %w: tensor<6x1x1xf32> {mhc.name = "w"}) -> (tensor<?x6x?xf32>) {
  %0 = "aten.convolution.default"(%x, %w) {"input" = 0 : index, "weight" = 1 : index, "stride" = [1 : i64], "padding" = [2 : i64], "dilation" = [1 : i64], "transposed" = false, "output_padding" = [0 : i64], "groups" = 6 : i64, mhc.dims = [["B", "6", "M+4"]]} : (tensor<?x6x?xf32>, tensor<6x1x1xf32>) -> (tensor<?x6x?xf32>) loc("n")
  return %0 : tensor<?x6x?xf32>
}

// One tap for each pair of channels: their product at each pixel.
// CHECK-LABEL: func.func @pointwise_convolution(
// CHECK-NEXT: [[PIXELS:%.+]] = mhc.transpose %arg0 perm = [0, 2, 3, 1] : tensor<2x6x3x5xf32> -> tensor<2x3x5x6xf32>
// CHECK-NEXT: [[W:%.+]] = tensor.collapse_shape %arg1 {{\[\[}}0], [1, 2, 3]] : tensor<4x6x1x1xf32> into tensor<4x6xf32>
// CHECK-NEXT: [[WT:%.+]] = mhc.transpose [[W]] perm = [1, 0]
// CHECK-NEXT: [[ROWS:%.+]] = tensor.collapse_shape [[PIXELS]] {{\[\[}}0, 1, 2], [3]]
// CHECK-NEXT: [[PRODUCT:%.+]] = mhc.matmul [[ROWS]], [[WT]] : (tensor<30x6xf32>, tensor<6x4xf32>) -> tensor<30x4xf32>
// CHECK-NEXT: [[SPLIT:%.+]] = tensor.expand_shape [[PRODUCT]] {{\[\[}}0, 1, 2], [3]]
// CHECK-NEXT: [[FRONT:%.+]] = mhc.transpose [[SPLIT]] perm = [0, 3, 1, 2] : tensor<2x3x5x4xf32> -> tensor<2x4x3x5xf32>
// CHECK-NEXT: [[BIAS:%.+]] = mhc.broadcast %arg2 dims = [1]
// CHECK-NEXT: [[ALL:%.+]] = arith.addf [[FRONT]], [[BIAS]]
// CHECK-NEXT: return [[ALL]]
func.func @pointwise_convolution(%x: tensor<2x6x3x5xf32> {mhc.name = "x"}, %w: tensor<4x6x1x1xf32> {mhc.name = "w"}, %b: tensor<4xf32> {mhc.name = "b"}) -> (tensor<2x4x3x5xf32>) {
  %0 = "aten.convolution.default"(%x, %w, %b) {"input" = 0 : index, "weight" = 1 : index, "bias" = 2 : index, "stride" = [1 : i64, 1 : i64], "padding" = [0 : i64, 0 : i64], "dilation" = [1 : i64, 1 : i64], "transposed" = false, "output_padding" = [0 : i64, 0 : i64], "groups" = 1 : i64} : (tensor<2x6x3x5xf32>, tensor<4x6x1x1xf32>, tensor<4xf32>) -> (tensor<2x4x3x5xf32>) loc("n")
  return %0 : tensor<2x4x3x5xf32>
}

// CHECK-LABEL: func.func @pointwise_convolution_open(
// CHECK: mhc.matmul {{.*}} : (tensor<?x6xbf16>, tensor<6x4xbf16>) -> tensor<?x4xbf16>
// CHECK: return {{.*}} : tensor<?x4x?xbf16>
func.func @pointwise_convolution_open(%x: tensor<?x6x?xbf16> {mhc.name = "x", mhc.dims = ["B", "6", "M"]}, %w: tensor<4x6x1xbf16> {mhc.name = "w"}) -> (tensor<?x4x?xbf16>) {
  %0 = "aten.convolution.default"(%x, %w) {"input" = 0 : index, "weight" = 1 : index, "stride" = [1 : i64], "padding" = [0 : i64], "dilation" = [1 : i64], "transposed" = false, "output_padding" = [0 : i64], "groups" = 1 : i64, mhc.dims = [["B", "4", "M"]]} : (tensor<?x6x?xbf16>, tensor<4x6x1xbf16>) -> (tensor<?x4x?xbf16>) loc("n")
  return %0 : tensor<?x4x?xbf16>
}

//===----------------------------------------------------------------------===//
// Views and copies.
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @view(
// CHECK-NEXT: [[V0:%.+]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1]] : tensor<2x4xf32> into tensor<8xf32>
// CHECK-NEXT: return [[V0]] : tensor<8xf32>
func.func @view(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<8xf32>) {
  %0 = "aten.view.default"(%a) {"self" = 0 : index, "size" = [8 : i64]} : (tensor<2x4xf32>) -> (tensor<8xf32>) loc("n")
  return %0 : tensor<8xf32>
}

// Groups of dimensions are as small as can be.
// CHECK-LABEL: func.func @view_joined(
// CHECK-NEXT: [[V0:%.+]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2, 3]] : tensor<?x?x4x8xf32> into tensor<?x32xf32>
// CHECK-NEXT: return [[V0]] : tensor<?x32xf32>
func.func @view_joined(%a: tensor<?x?x4x8xf32> {mhc.name = "a", mhc.dims = ["b", "s", "4", "8"]}) -> (tensor<?x32xf32>) {
  %0 = "aten.view.default"(%a) {"self" = 0 : index, mhc.dims = [["b*s", "32"]]} : (tensor<?x?x4x8xf32>) -> (tensor<?x32xf32>) loc("n")
  return %0 : tensor<?x32xf32>
}

// A symbol of 64 elements, as Dynamo has them behind a graph break.
// CHECK-LABEL: func.func @view_split(
// CHECK: tensor.cast %arg0 : tensor<?x?xf32> to tensor<?x64xf32>
// CHECK: tensor.expand_shape {{.*}} : tensor<?x64xf32> into tensor<?x4x16xf32>
func.func @view_split(%a: tensor<?x?xf32> {mhc.name = "a", mhc.dims = ["s", "64"]}) -> (tensor<?x4x16xf32>) {
  %0 = "aten.view.default"(%a) {"self" = 0 : index, mhc.dims = [["s", "4", "16"]]} : (tensor<?x?xf32>) -> (tensor<?x4x16xf32>) loc("n")
  return %0 : tensor<?x4x16xf32>
}

// Sizes come from any argument that has them.
// CHECK-LABEL: func.func @unsafe_view(
// CHECK-NEXT: [[V0:%.+]] = arith.constant 1 : index
// CHECK-NEXT: [[V1:%.+]] = tensor.dim %arg1, [[V0]] : tensor<?x?xi64>
// CHECK-NEXT: [[V2:%.+]] = arith.constant 0 : index
// CHECK-NEXT: [[V3:%.+]] = tensor.dim %arg1, [[V2]] : tensor<?x?xi64>
// CHECK-NEXT: [[V4:%.+]] = tensor.expand_shape %arg0 {{\[\[}}0, 1], [2, 3]] output_shape {{.*}} : tensor<?x24xf32> into tensor<?x?x4x6xf32>
// CHECK-NEXT: return [[V4]] : tensor<?x?x4x6xf32>
func.func @unsafe_view(%a: tensor<?x24xf32> {mhc.name = "a", mhc.dims = ["b*s", "24"]}, %b: tensor<?x?xi64> {mhc.name = "b", mhc.dims = ["b", "s"]}) -> (tensor<?x?x4x6xf32>) {
  %0 = "aten._unsafe_view.default"(%a, %b) {"self" = 0 : index, mhc.dims = [["b", "s", "4", "6"]]} : (tensor<?x24xf32>, tensor<?x?xi64>) -> (tensor<?x?x4x6xf32>) loc("n")
  return %0 : tensor<?x?x4x6xf32>
}

// CHECK-LABEL: func.func @reshape(
// CHECK-NEXT: [[V0:%.+]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1]] : tensor<4x6xf32> into tensor<24xf32>
// CHECK-NEXT: [[V1:%.+]] = tensor.expand_shape [[V0]] {{\[\[}}0, 1]] output_shape [3, 8] : tensor<24xf32> into tensor<3x8xf32>
// CHECK-NEXT: return [[V1]] : tensor<3x8xf32>
func.func @reshape(%a: tensor<4x6xf32> {mhc.name = "a"}) -> (tensor<3x8xf32>) {
  %0 = "aten.reshape.default"(%a) {"self" = 0 : index, "size" = [3 : i64, 8 : i64]} : (tensor<4x6xf32>) -> (tensor<3x8xf32>) loc("n")
  return %0 : tensor<3x8xf32>
}

// CHECK-LABEL: func.func @unsqueeze(
// CHECK-NEXT: [[V0:%.+]] = tensor.expand_shape %arg0 {{\[\[}}0], [1, 2]] output_shape [2, 1, 4] : tensor<2x4xf32> into tensor<2x1x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x1x4xf32>
func.func @unsqueeze(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x1x4xf32>) {
  %0 = "aten.unsqueeze.default"(%a) {"self" = 0 : index, "dim" = 1 : i64} : (tensor<2x4xf32>) -> (tensor<2x1x4xf32>) loc("n")
  return %0 : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @squeeze(
// CHECK-NEXT: [[V0:%.+]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1, 2]] : tensor<1x4x1xf32> into tensor<4xf32>
// CHECK-NEXT: return [[V0]] : tensor<4xf32>
func.func @squeeze(%a: tensor<1x4x1xf32> {mhc.name = "a"}) -> (tensor<4xf32>) {
  %0 = "aten.squeeze.default"(%a) {"self" = 0 : index} : (tensor<1x4x1xf32>) -> (tensor<4xf32>) loc("n")
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @squeeze_dim(
// CHECK-NEXT: [[V0:%.+]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1]] : tensor<1x1xf32> into tensor<1xf32>
// CHECK-NEXT: return [[V0]] : tensor<1xf32>
func.func @squeeze_dim(%a: tensor<1x1xf32> {mhc.name = "a"}) -> (tensor<1xf32>) {
  %0 = "aten.squeeze.dim"(%a) {"self" = 0 : index, "dim" = 0 : i64} : (tensor<1x1xf32>) -> (tensor<1xf32>) loc("n")
  return %0 : tensor<1xf32>
}

// CHECK-LABEL: func.func @squeeze_dims(
// CHECK-NEXT: [[V0:%.+]] = tensor.collapse_shape %arg0 [] : tensor<1x1xf32> into tensor<f32>
// CHECK-NEXT: return [[V0]] : tensor<f32>
func.func @squeeze_dims(%a: tensor<1x1xf32> {mhc.name = "a"}) -> (tensor<f32>) {
  %0 = "aten.squeeze.dims"(%a) {"self" = 0 : index, "dim" = [0 : i64, 1 : i64]} : (tensor<1x1xf32>) -> (tensor<f32>) loc("n")
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @permute(
// CHECK-NEXT: [[V0:%.+]] = mhc.transpose %arg0 perm = [0, 2, 1] : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4x3xf32>
func.func @permute(%a: tensor<2x3x4xf32> {mhc.name = "a"}) -> (tensor<2x4x3xf32>) {
  %0 = "aten.permute.default"(%a) {"self" = 0 : index, "dims" = [0 : i64, -1 : i64, 1 : i64]} : (tensor<2x3x4xf32>) -> (tensor<2x4x3xf32>) loc("n")
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @transpose(
// CHECK-NEXT: [[V0:%.+]] = mhc.transpose %arg0 perm = [2, 1, 0] : tensor<2x3x4xf32> -> tensor<4x3x2xf32>
// CHECK-NEXT: return [[V0]] : tensor<4x3x2xf32>
func.func @transpose(%a: tensor<2x3x4xf32> {mhc.name = "a"}) -> (tensor<4x3x2xf32>) {
  %0 = "aten.transpose.int"(%a) {"self" = 0 : index, "dim0" = -1 : i64, "dim1" = 0 : i64} : (tensor<2x3x4xf32>) -> (tensor<4x3x2xf32>) loc("n")
  return %0 : tensor<4x3x2xf32>
}

// CHECK-LABEL: func.func @t(
// CHECK-NEXT: [[V0:%.+]] = mhc.transpose %arg0 perm = [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
// CHECK-NEXT: return [[V0]] : tensor<4x2xf32>
func.func @t(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<4x2xf32>) {
  %0 = "aten.t.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<4x2xf32>) loc("n")
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @expand(
// CHECK-NEXT: [[V0:%.+]] = mhc.broadcast %arg0 dims = [0, 1, 2] : tensor<2x1x4xf32> -> tensor<2x3x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x3x4xf32>
func.func @expand(%a: tensor<2x1x4xf32> {mhc.name = "a"}) -> (tensor<2x3x4xf32>) {
  %0 = "aten.expand.default"(%a) {"self" = 0 : index, "size" = [2 : i64, 3 : i64, -1 : i64]} : (tensor<2x1x4xf32>) -> (tensor<2x3x4xf32>) loc("n")
  return %0 : tensor<2x3x4xf32>
}

// One vector for each stream of one token, and a row that a square matrix is divided by.
// CHECK-LABEL: func.func @streams_of_a_token(
// CHECK: mhc.expand
// CHECK-LABEL: func.func @row_of_a_matrix(
// CHECK-NEXT: [[V0:%.+]] = mhc.broadcast %arg0 dims = [0, 1, 2, 3] : tensor<1x1x1x4xf32> -> tensor<1x1x4x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<1x1x4x4xf32>
func.func @streams_of_a_token(%a: tensor<1x1x1x8xf32> {mhc.name = "a"}) -> (tensor<1x1x4x8xf32>) {
  %0 = "aten.expand.default"(%a) {"self" = 0 : index, "size" = [-1 : i64, -1 : i64, 4 : i64, -1 : i64], "implicit" = false} : (tensor<1x1x1x8xf32>) -> (tensor<1x1x4x8xf32>) loc("n")
  return %0 : tensor<1x1x4x8xf32>
}
func.func @row_of_a_matrix(%a: tensor<1x1x1x4xf32> {mhc.name = "a"}) -> (tensor<1x1x4x4xf32>) {
  %0 = "aten.expand.default"(%a) {"self" = 0 : index, "size" = [-1 : i64, -1 : i64, 4 : i64, -1 : i64], "implicit" = false} : (tensor<1x1x1x4xf32>) -> (tensor<1x1x4x4xf32>) loc("n")
  return %0 : tensor<1x1x4x4xf32>
}

// CHECK-LABEL: func.func @repeat(
// CHECK-NEXT: [[V0:%.+]] = mhc.broadcast %arg0 dims = [1, 2, 3] : tensor<2x1x4xf32> -> tensor<5x2x3x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<5x2x3x4xf32>
func.func @repeat(%a: tensor<2x1x4xf32> {mhc.name = "a"}) -> (tensor<5x2x3x4xf32>) {
  %0 = "aten.repeat.default"(%a) {"self" = 0 : index, "repeats" = [5 : i64, 1 : i64, 3 : i64, 1 : i64]} : (tensor<2x1x4xf32>) -> (tensor<5x2x3x4xf32>) loc("n")
  return %0 : tensor<5x2x3x4xf32>
}

// Streams side by side in one dimension
// CHECK-LABEL: func.func @repeat_all(
// CHECK-NEXT: [[V0:%.+]] = mhc.broadcast %arg0 dims = [0, 1, 3] : tensor<2x3x4xf32> -> tensor<2x3x5x4xf32>
// CHECK-NEXT: [[V1:%.+]] = tensor.collapse_shape [[V0]] {{\[\[}}0], [1], [2, 3]] : tensor<2x3x5x4xf32> into tensor<2x3x20xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x3x20xf32>
func.func @repeat_all(%a: tensor<2x3x4xf32> {mhc.name = "a"}) -> (tensor<2x3x20xf32>) {
  %0 = "aten.repeat.default"(%a) {"self" = 0 : index, "repeats" = [1 : i64, 1 : i64, 5 : i64]} : (tensor<2x3x4xf32>) -> (tensor<2x3x20xf32>) loc("n")
  return %0 : tensor<2x3x20xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK-NEXT: [[V0:%.+]] = tensor.extract_slice %arg0[0, 8] [2, 16] [1, 1] : tensor<2x24xf32> to tensor<2x16xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x16xf32>
func.func @slice(%a: tensor<2x24xf32> {mhc.name = "a"}) -> (tensor<2x16xf32>) {
  %0 = "aten.slice.Tensor"(%a) {"self" = 0 : index, "dim" = 1 : i64, "start" = 8 : i64, "end" = 9223372036854775807 : i64, "step" = 1 : i64} : (tensor<2x24xf32>) -> (tensor<2x16xf32>) loc("n")
  return %0 : tensor<2x16xf32>
}

// A part of a head that has no numbers, as where no part of it is turned by its position.
// CHECK-LABEL: func.func @slice_of_nothing(
// CHECK-NEXT: [[V0:%.+]] = tensor.extract_slice %arg0[0, 0] [2, 0] [1, 1] : tensor<2x24xf32> to tensor<2x0xf32>
// CHECK-NEXT: return [[V0]]
func.func @slice_of_nothing(%a: tensor<2x24xf32> {mhc.name = "a"}) -> (tensor<2x0xf32>) {
  %0 = "aten.slice.Tensor"(%a) {"self" = 0 : index, "dim" = 1 : i64, "start" = 24 : i64, "end" = 9223372036854775807 : i64, "step" = 1 : i64} : (tensor<2x24xf32>) -> (tensor<2x0xf32>) loc("n")
  return %0 : tensor<2x0xf32>
}

// As much of an open dimension as mhc.dims says.
// CHECK-LABEL: func.func @slice_open(
// CHECK: [[V0:%.+]] = tensor.dim %arg1
// CHECK-NEXT: [[V1:%.+]] = tensor.extract_slice %arg0[0, 0] {{\[}}[[V0]], 6] [1, 1] : tensor<?x6xf32> to tensor<?x6xf32>
// CHECK-NEXT: arith.mulf [[V1]], [[V1]]
func.func @slice_open(%x: tensor<?x6xf32> {mhc.name = "x", mhc.dims = ["M+3", "6"]}, %M: i64 {mhc.name = "M"}, %y: tensor<?xf32> {mhc.name = "y", mhc.dims = ["M"]}) -> (tensor<?x6xf32>) {
  %0 = "aten.slice.Tensor"(%x, %M) {"self" = 0 : index, "dim" = 0 : i64, "start" = 0 : i64, "end" = 1 : index, "step" = 1 : i64, mhc.dims = [["M", "6"]]} : (tensor<?x6xf32>, i64) -> (tensor<?x6xf32>) loc("n")
  %1 = "aten.mul.Tensor"(%0, %0) {"self" = 0 : index, "other" = 1 : index, mhc.dims = [["M", "6"]]} : (tensor<?x6xf32>, tensor<?x6xf32>) -> (tensor<?x6xf32>) loc("m")
  return %1 : tensor<?x6xf32>
}

// CHECK-LABEL: func.func @slice_back(
// CHECK-NEXT: [[V0:%.+]] = tensor.extract_slice %arg0[0, 8] [2, 12] [1, 1] : tensor<2x24xf32> to tensor<2x12xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x12xf32>
func.func @slice_back(%a: tensor<2x24xf32> {mhc.name = "a"}) -> (tensor<2x12xf32>) {
  %0 = "aten.slice.Tensor"(%a) {"self" = 0 : index, "dim" = 1 : i64, "start" = -16 : i64, "end" = -4 : i64, "step" = 1 : i64} : (tensor<2x24xf32>) -> (tensor<2x12xf32>) loc("n")
  return %0 : tensor<2x12xf32>
}

// CHECK-LABEL: func.func @select(
// CHECK-NEXT: [[V0:%.+]] = tensor.extract_slice %arg0[0, 2] [2, 1] [1, 1] : tensor<2x3xf32> to tensor<2x1xf32>
// CHECK-NEXT: [[V1:%.+]] = tensor.collapse_shape [[V0]] {{\[\[}}0, 1]] : tensor<2x1xf32> into tensor<2xf32>
// CHECK-NEXT: return [[V1]] : tensor<2xf32>
func.func @select(%a: tensor<2x3xf32> {mhc.name = "a"}) -> (tensor<2xf32>) {
  %0 = "aten.select.int"(%a) {"self" = 0 : index, "dim" = 1 : i64, "index" = -1 : i64} : (tensor<2x3xf32>) -> (tensor<2xf32>) loc("n")
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @split(
// CHECK-NEXT: [[V0:%.+]] = tensor.extract_slice %arg0[0, 0] [2, 4] [1, 1] : tensor<2x7xf32> to tensor<2x4xf32>
// CHECK-NEXT: [[V1:%.+]] = tensor.extract_slice %arg0[0, 4] [2, 3] [1, 1] : tensor<2x7xf32> to tensor<2x3xf32>
// CHECK-NEXT: return [[V0]], [[V1]] : tensor<2x4xf32>, tensor<2x3xf32>
func.func @split(%a: tensor<2x7xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>, tensor<2x3xf32>) {
  %0:2 = "aten.split.Tensor"(%a) {"self" = 0 : index, "split_size" = 4 : i64, "dim" = -1 : i64} : (tensor<2x7xf32>) -> (tensor<2x4xf32>, tensor<2x3xf32>) loc("n")
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @split_with_sizes(
// CHECK-NEXT: [[V0:%.+]] = tensor.extract_slice %arg0[0, 0] [2, 1] [1, 1] : tensor<2x7xf32> to tensor<2x1xf32>
// CHECK-NEXT: [[V1:%.+]] = tensor.extract_slice %arg0[0, 1] [2, 6] [1, 1] : tensor<2x7xf32> to tensor<2x6xf32>
// CHECK-NEXT: return [[V0]], [[V1]] : tensor<2x1xf32>, tensor<2x6xf32>
func.func @split_with_sizes(%a: tensor<2x7xf32> {mhc.name = "a"}) -> (tensor<2x1xf32>, tensor<2x6xf32>) {
  %0:2 = "aten.split_with_sizes.default"(%a) {"self" = 0 : index, "split_sizes" = [1 : i64, 6 : i64], "dim" = 1 : i64} : (tensor<2x7xf32>) -> (tensor<2x1xf32>, tensor<2x6xf32>) loc("n")
  return %0#0, %0#1 : tensor<2x1xf32>, tensor<2x6xf32>
}

// CHECK-LABEL: func.func @unbind(
// CHECK-NEXT: [[V0:%.+]] = tensor.extract_slice %arg0[0, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<1x3xf32>
// CHECK-NEXT: [[V1:%.+]] = tensor.collapse_shape [[V0]] {{\[\[}}0, 1]] : tensor<1x3xf32> into tensor<3xf32>
// CHECK-NEXT: [[V2:%.+]] = tensor.extract_slice %arg0[1, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<1x3xf32>
// CHECK-NEXT: [[V3:%.+]] = tensor.collapse_shape [[V2]] {{\[\[}}0, 1]] : tensor<1x3xf32> into tensor<3xf32>
// CHECK-NEXT: return [[V1]], [[V3]] : tensor<3xf32>, tensor<3xf32>
func.func @unbind(%a: tensor<2x3xf32> {mhc.name = "a"}) -> (tensor<3xf32>, tensor<3xf32>) {
  %0:2 = "aten.unbind.int"(%a) {"self" = 0 : index, "dim" = 0 : i64} : (tensor<2x3xf32>) -> (tensor<3xf32>, tensor<3xf32>) loc("n")
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @slice_scatter(
// CHECK-NEXT: [[V0:%.+]] = tensor.extract_slice %arg0[0, 0] [2, 1] [1, 1] : tensor<2x6xf32> to tensor<2x1xf32>
// CHECK-NEXT: [[V1:%.+]] = tensor.extract_slice %arg0[0, 3] [2, 3] [1, 1] : tensor<2x6xf32> to tensor<2x3xf32>
// CHECK-NEXT: [[V2:%.+]] = tensor.concat dim(1) [[V0]], %arg1, [[V1]] : (tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: return [[V2]] : tensor<2x6xf32>
func.func @slice_scatter(%a: tensor<2x6xf32> {mhc.name = "a"}, %b: tensor<2x2xf32> {mhc.name = "b"}) -> (tensor<2x6xf32>) {
  %0 = "aten.slice_scatter.default"(%a, %b) {"self" = 0 : index, "src" = 1 : index, "dim" = 1 : i64, "start" = 1 : i64, "end" = 3 : i64, "step" = 1 : i64} : (tensor<2x6xf32>, tensor<2x2xf32>) -> (tensor<2x6xf32>) loc("n")
  return %0 : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @select_scatter(
// CHECK-NEXT: [[V0:%.+]] = tensor.expand_shape %arg1 {{\[\[}}0, 1], [2]] output_shape [2, 1, 3] : tensor<2x3xf32> into tensor<2x1x3xf32>
// CHECK-NEXT: [[V1:%.+]] = tensor.extract_slice %arg0[0, 0, 0] [2, 5, 3] [1, 1, 1] : tensor<2x6x3xf32> to tensor<2x5x3xf32>
// CHECK-NEXT: [[V2:%.+]] = tensor.concat dim(1) [[V1]], [[V0]] : (tensor<2x5x3xf32>, tensor<2x1x3xf32>) -> tensor<2x6x3xf32>
// CHECK-NEXT: return [[V2]] : tensor<2x6x3xf32>
func.func @select_scatter(%a: tensor<2x6x3xf32> {mhc.name = "a"}, %b: tensor<2x3xf32> {mhc.name = "b"}) -> (tensor<2x6x3xf32>) {
  %0 = "aten.select_scatter.default"(%a, %b) {"self" = 0 : index, "src" = 1 : index, "dim" = 1 : i64, "index" = -1 : i64} : (tensor<2x6x3xf32>, tensor<2x3xf32>) -> (tensor<2x6x3xf32>) loc("n")
  return %0 : tensor<2x6x3xf32>
}

// CHECK-LABEL: func.func @cat(
// CHECK-NEXT: [[V0:%.+]] = tensor.concat dim(1) %arg0, %arg1 : (tensor<2x4xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x7xf32>
func.func @cat(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<2x3xf32> {mhc.name = "b"}) -> (tensor<2x7xf32>) {
  %0 = "aten.cat.default"(%a, %b) {"tensors" = [0 : index, 1 : index], "dim" = -1 : i64} : (tensor<2x4xf32>, tensor<2x3xf32>) -> (tensor<2x7xf32>) loc("n")
  return %0 : tensor<2x7xf32>
}

// CHECK-LABEL: func.func @stack(
// CHECK-NEXT: [[V0:%.+]] = tensor.expand_shape %arg0 {{\[\[}}0, 1], [2]] output_shape [2, 1, 4] : tensor<2x4xf32> into tensor<2x1x4xf32>
// CHECK-NEXT: [[V1:%.+]] = tensor.expand_shape %arg1 {{\[\[}}0, 1], [2]] output_shape [2, 1, 4] : tensor<2x4xf32> into tensor<2x1x4xf32>
// CHECK-NEXT: [[V2:%.+]] = tensor.concat dim(1) [[V0]], [[V1]] : (tensor<2x1x4xf32>, tensor<2x1x4xf32>) -> tensor<2x2x4xf32>
// CHECK-NEXT: return [[V2]] : tensor<2x2x4xf32>
func.func @stack(%a: tensor<2x4xf32> {mhc.name = "a"}, %b: tensor<2x4xf32> {mhc.name = "b"}) -> (tensor<2x2x4xf32>) {
  %0 = "aten.stack.default"(%a, %b) {"tensors" = [0 : index, 1 : index], "dim" = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x2x4xf32>) loc("n")
  return %0 : tensor<2x2x4xf32>
}

// CHECK-LABEL: func.func @to_copy(
// CHECK-NEXT: [[V0:%.+]] = arith.truncf %arg0 : tensor<2x4xf32> to tensor<2x4xbf16>
// CHECK-NEXT: return [[V0]] : tensor<2x4xbf16>
func.func @to_copy(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xbf16>) {
  %0 = "aten._to_copy.default"(%a) {"self" = 0 : index, "dtype" = "torch.bfloat16"} : (tensor<2x4xf32>) -> (tensor<2x4xbf16>) loc("n")
  return %0 : tensor<2x4xbf16>
}

// A number, as torch.vmap makes a tensor of one.
// CHECK-LABEL: func.func @to_copy_of_number(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<6.400000e+01> : tensor<f32>
// CHECK-NEXT: [[V1:%.+]] = mhc.broadcast [[V0]]
// CHECK-NEXT: [[V2:%.+]] = arith.divf %arg0, [[V1]] : tensor<2x4xf32>
// CHECK-NEXT: return [[V2]] : tensor<2x4xf32>
func.func @to_copy_of_number(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten._to_copy.default"() {"self" = 64 : i64, "dtype" = "torch.float32"} : () -> (tensor<f32>) loc("n")
  %1 = "aten.div.Tensor"(%a, %0) {"self" = 0 : index, "other" = 1 : index} : (tensor<2x4xf32>, tensor<f32>) -> (tensor<2x4xf32>) loc("m")
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @convert_element_type(
// CHECK-NEXT: [[V0:%.+]] = arith.truncf %arg0 : tensor<2x4xf32> to tensor<2x4xbf16>
// CHECK-NEXT: return [[V0]] : tensor<2x4xbf16>
func.func @convert_element_type(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xbf16>) {
  %0 = "prims.convert_element_type.default"(%a) {"a" = 0 : index, "dtype" = "torch.bfloat16"} : (tensor<2x4xf32>) -> (tensor<2x4xbf16>) loc("n")
  return %0 : tensor<2x4xbf16>
}

// CHECK-LABEL: func.func @to(
// CHECK-NEXT: [[V0:%.+]] = arith.extf %arg0 : tensor<2x4xf16> to tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @to(%a: tensor<2x4xf16> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.to.dtype"(%a) {"self" = 0 : index, "dtype" = "torch.float32"} : (tensor<2x4xf16>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @full(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<5.000000e-01> : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @full() -> (tensor<2x4xf32>) {
  %0 = "aten.full.default"() {"fill_value" = 0.5 : f64} : () -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @full_like(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<5.000000e-01> : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @full_like() -> (tensor<2x4xf32>) {
  %0 = "aten.full_like.default"() {"fill_value" = 0.5 : f64} : () -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @new_full(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<5.000000e-01> : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @new_full() -> (tensor<2x4xf32>) {
  %0 = "aten.new_full.default"() {"fill_value" = 0.5 : f64} : () -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @zeros(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<0.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @zeros() -> (tensor<2x4xf32>) {
  %0 = "aten.zeros.default"() {"size" = [2 : i64, 4 : i64]} : () -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @ones(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<1.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @ones() -> (tensor<2x4xf32>) {
  %0 = "aten.ones.default"() {"size" = [2 : i64, 4 : i64]} : () -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @zeros_like(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<0.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @zeros_like() -> (tensor<2x4xf32>) {
  %0 = "aten.zeros_like.default"() {"size" = [2 : i64, 4 : i64]} : () -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @ones_like(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<1.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @ones_like() -> (tensor<2x4xf32>) {
  %0 = "aten.ones_like.default"() {"size" = [2 : i64, 4 : i64]} : () -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @new_zeros(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<0.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @new_zeros() -> (tensor<2x4xf32>) {
  %0 = "aten.new_zeros.default"() {"size" = [2 : i64, 4 : i64]} : () -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @new_ones(
// CHECK-NEXT: [[V0:%.+]] = arith.constant dense<1.000000e+00> : tensor<2x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @new_ones() -> (tensor<2x4xf32>) {
  %0 = "aten.new_ones.default"() {"size" = [2 : i64, 4 : i64]} : () -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @alias(
// CHECK-NEXT: return
func.func @alias(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.alias.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @clone(
// CHECK-NEXT: return
func.func @clone(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.clone.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @contiguous(
// CHECK-NEXT: return
func.func @contiguous(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.contiguous.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @lift_fresh_copy(
// CHECK-NEXT: return
func.func @lift_fresh_copy(%a: tensor<2x4xf32> {mhc.name = "a"}) -> (tensor<2x4xf32>) {
  %0 = "aten.lift_fresh_copy.default"(%a) {"self" = 0 : index} : (tensor<2x4xf32>) -> (tensor<2x4xf32>) loc("n")
  return %0 : tensor<2x4xf32>
}

//===----------------------------------------------------------------------===//
// Rows that a constant of the graph says.
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @index_select(
// CHECK-NEXT: [[S0:%.+]] = tensor.extract_slice %arg0[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
// CHECK-NEXT: [[C0:%.+]] = tensor.collapse_shape [[S0]] [] : tensor<1xf32> into tensor<f32>
// CHECK-NEXT: [[B0:%.+]] = mhc.broadcast [[C0]] dims = [] : tensor<f32> -> tensor<2xf32>
// CHECK-NEXT: [[S1:%.+]] = tensor.extract_slice %arg0[1] [2] [1] : tensor<3xf32> to tensor<2xf32>
// CHECK-NEXT: [[S2:%.+]] = tensor.extract_slice %arg0[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
// CHECK-NEXT: [[C2:%.+]] = tensor.collapse_shape [[S2]] [] : tensor<1xf32> into tensor<f32>
// CHECK-NEXT: [[B2:%.+]] = mhc.broadcast [[C2]] dims = [] : tensor<f32> -> tensor<2xf32>
// CHECK-NEXT: [[S3:%.+]] = tensor.extract_slice %arg0[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
// CHECK-NEXT: [[V:%.+]] = tensor.concat dim(0) [[B0]], [[S1]], [[B2]], [[S3]] :
// CHECK-NEXT: return [[V]] : tensor<7xf32>
func.func @index_select(%a: tensor<3xf32> {mhc.name = "a"}) -> (tensor<7xf32>) {
  %0 = "get_attr"() {"constant" = [0 : i64, 0 : i64, 1 : i64, 2 : i64, 2 : i64, 2 : i64, 0 : i64]} : () -> (tensor<7xi64>) loc("i")
  %1 = "aten.lift_fresh_copy.default"(%0) {"self" = 0 : index} : (tensor<7xi64>) -> (tensor<7xi64>) loc("c")
  %2 = "aten.index_select.default"(%a, %1) {"self" = 0 : index, "dim" = 0 : i64, "index" = 1 : index} : (tensor<3xf32>, tensor<7xi64>) -> (tensor<7xf32>) loc("n")
  return %2 : tensor<7xf32>
}

// CHECK-LABEL: func.func @index(
// CHECK: [[S0:%.+]] = tensor.extract_slice %arg0[1, 0] [1, {{%.+}}] [1, 1] : tensor<3x?xf32> to tensor<1x?xf32>
// CHECK: [[C0:%.+]] = tensor.collapse_shape [[S0]] {{\[\[}}0, 1]] : tensor<1x?xf32> into tensor<?xf32>
// CHECK: [[B0:%.+]] = mhc.broadcast [[C0]] dims = [1] : tensor<?xf32> -> tensor<2x?xf32>
// CHECK: [[S1:%.+]] = tensor.extract_slice %arg0[0, 0] [1, {{%.+}}] [1, 1] : tensor<3x?xf32> to tensor<1x?xf32>
// CHECK: tensor.concat dim(0) [[B0]], [[S1]] :
func.func @index(%a: tensor<3x?xf32> {mhc.name = "a"}) -> (tensor<3x?xf32>) {
  %0 = "get_attr"() {"constant" = [1 : i64, 1 : i64, 0 : i64]} : () -> (tensor<3xi64>) loc("i")
  %1 = "aten.index.Tensor"(%a, %0) {"self" = 0 : index, "indices" = [1 : index]} : (tensor<3x?xf32>, tensor<3xi64>) -> (tensor<3x?xf32>) loc("n")
  return %1 : tensor<3x?xf32>
}
