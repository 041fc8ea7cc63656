// RUN: split-file %s %t
// DEFINE: %{raise} = mhc-opt -  -mhc-raise --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix

// Spellings of softplus: bounded, by a threshold, by a comparison. One that holds at its limit has the number before as
// threshold.

// RUN: cat %t/front %t/shifts %t/repeated %t/softplus | %{raise}=TWENTY
// TWENTY: mhc.pre_gated_delta_rule({{.*}}softplus_threshold = 2.0e+01,
// RUN: cat %t/front %t/shifts %t/repeated %t/maximum | %{raise}=TWENTY
// RUN: cat %t/front %t/shifts %t/repeated %t/clamp | %{raise}=TWENTY
// RUN: cat %t/front %t/shifts %t/repeated %t/relu | %{raise}=TWENTY
// RUN: cat %t/front %t/shifts %t/repeated %t/logsigmoid | %{raise}=TWENTY
// RUN: cat %t/front %t/shifts %t/repeated %t/bounded | %{raise}=TWENTY
// RUN: cat %t/front %t/shifts %t/repeated %t/passed-on | %{raise}=TWENTY
// RUN: cat %t/front %t/shifts %t/repeated %t/threshold | %{raise}=FIFTEEN
// FIFTEEN: mhc.pre_gated_delta_rule({{.*}}softplus_threshold = 1.5e+01,
// RUN: cat %t/front %t/shifts %t/repeated %t/at-limit | %{raise}=FOUR
// FOUR: mhc.pre_gated_delta_rule({{.*}}softplus_threshold = 3.999999761581421,

// RUN: cat %t/front %t/shifts %t/repeated %t/other-bound | %{raise}=FUNCTION --implicit-check-not=mhc.pre_gated
// FUNCTION: [Missed] gated-delta-decay | {{.*}}Found="-exp(A_log) times another function"
// RUN: cat %t/front %t/shifts %t/repeated %t/crossed | %{raise}=FUNCTION --implicit-check-not=mhc.pre_gated
// RUN: cat %t/front %t/shifts %t/repeated %t/minimum | %{raise}=FUNCTION --implicit-check-not=mhc.pre_gated
// RUN: cat %t/front %t/shifts %t/repeated %t/passed-on | sed 's/select .is, .same/select %%is, %%zero/' | %{raise}=FUNCTION --implicit-check-not=mhc.pre_gated

// A decay of the other sign.
// RUN: cat %t/front %t/shifts %t/repeated %t/softplus | sed 's/mulf .rate/mulf %%each/' | %{raise}=SIGN --implicit-check-not=mhc.pre_gated
// SIGN: [Missed] gated-delta-decay | {{.*}}Found="exp(A_log) times softplus", Needed="-exp(A_log) times it"

//--- front
func.func @front(%x: tensor<2x8x28xf32>, %w: tensor<16x3xf32>, %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>,
                 %left: tensor<2x2x16xf32>)
    -> (tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2xf32>,
        tensor<2x8x2xf32>) {
  %qkv = tensor.extract_slice %x[0, 0, 0] [2, 8, 16] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x16xf32>
  %a = call @convolution(%qkv, %w, %left) : (tensor<2x8x16xf32>, tensor<16x3xf32>, tensor<2x2x16xf32>) -> tensor<2x8x16xf32>
  %u = mhc.silu %a : tensor<2x8x16xf32>
  %q = tensor.extract_slice %u[0, 0, 0] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %k = tensor.extract_slice %u[0, 0, 4] [2, 8, 4] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x4xf32>
  %query = call @heads(%q) : (tensor<2x8x4xf32>) -> tensor<2x8x2x4xf32>
  %key = call @heads(%k) : (tensor<2x8x4xf32>) -> tensor<2x8x2x4xf32>
  %v = tensor.extract_slice %u[0, 0, 8] [2, 8, 8] [1, 1, 1] : tensor<2x8x16xf32> to tensor<2x8x8xf32>
  %value = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %z = tensor.extract_slice %x[0, 0, 16] [2, 8, 8] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x8xf32>
  %gate = tensor.expand_shape %z [[0], [1], [2, 3]] output_shape [2, 8, 2, 4] : tensor<2x8x8xf32> into tensor<2x8x2x4xf32>
  %b = tensor.extract_slice %x[0, 0, 24] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %beta = mhc.sigmoid %b : tensor<2x8x2xf32>
  %alpha = tensor.extract_slice %x[0, 0, 26] [2, 8, 2] [1, 1, 1] : tensor<2x8x28xf32> to tensor<2x8x2xf32>
  %bias = mhc.broadcast %dt_bias dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %p = arith.addf %alpha, %bias : tensor<2x8x2xf32>
  %softplus = call @softplus(%p) : (tensor<2x8x2xf32>) -> tensor<2x8x2xf32>
  %exp = math.exp %A_log : tensor<2xf32>
  %each = mhc.broadcast %exp dims = [2] : tensor<2xf32> -> tensor<2x8x2xf32>
  %rate = arith.negf %each : tensor<2x8x2xf32>
  %g = arith.mulf %rate, %softplus : tensor<2x8x2xf32>
  return %query, %key, %value, %gate, %beta, %g : tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>,
      tensor<2x8x2x4xf32>, tensor<2x8x2xf32>, tensor<2x8x2xf32>
}

//--- softplus
func.func private @softplus(%p: tensor<2x8x2xf32>) -> tensor<2x8x2xf32> {
  %softplus = mhc.softplus %p : tensor<2x8x2xf32>
  return %softplus : tensor<2x8x2xf32>
}

//--- maximum
func.func private @softplus(%p: tensor<2x8x2xf32>) -> tensor<2x8x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x8x2xf32>
  %positive = arith.maximumf %p, %zero : tensor<2x8x2xf32>
  %size = math.absf %p : tensor<2x8x2xf32>
  %minus = arith.negf %size : tensor<2x8x2xf32>
  %exp = math.exp %minus : tensor<2x8x2xf32>
  %log = math.log1p %exp : tensor<2x8x2xf32>
  %softplus = arith.addf %positive, %log : tensor<2x8x2xf32>
  return %softplus : tensor<2x8x2xf32>
}

//--- clamp
func.func private @softplus(%p: tensor<2x8x2xf32>) -> tensor<2x8x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x8x2xf32>
  %is = arith.cmpf ult, %p, %zero : tensor<2x8x2xf32>
  %positive = arith.select %is, %zero, %p : tensor<2x8x2xi1>, tensor<2x8x2xf32>
  %size = math.absf %p : tensor<2x8x2xf32>
  %minus = arith.negf %size : tensor<2x8x2xf32>
  %exp = math.exp %minus : tensor<2x8x2xf32>
  %log = math.log1p %exp : tensor<2x8x2xf32>
  %softplus = arith.addf %positive, %log : tensor<2x8x2xf32>
  return %softplus : tensor<2x8x2xf32>
}

//--- relu
func.func private @softplus(%p: tensor<2x8x2xf32>) -> tensor<2x8x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x8x2xf32>
  %is = arith.cmpf ugt, %p, %zero : tensor<2x8x2xf32>
  %positive = arith.select %is, %p, %zero : tensor<2x8x2xi1>, tensor<2x8x2xf32>
  %size = math.absf %p : tensor<2x8x2xf32>
  %minus = arith.negf %size : tensor<2x8x2xf32>
  %exp = math.exp %minus : tensor<2x8x2xf32>
  %log = math.log1p %exp : tensor<2x8x2xf32>
  %softplus = arith.addf %positive, %log : tensor<2x8x2xf32>
  return %softplus : tensor<2x8x2xf32>
}

//--- logsigmoid
func.func private @softplus(%p: tensor<2x8x2xf32>) -> tensor<2x8x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x8x2xf32>
  %n = arith.negf %p : tensor<2x8x2xf32>
  %is = arith.cmpf olt, %zero, %n : tensor<2x8x2xf32>
  %least = arith.select %is, %zero, %n : tensor<2x8x2xi1>, tensor<2x8x2xf32>
  %size = math.absf %n : tensor<2x8x2xf32>
  %minus = arith.negf %size : tensor<2x8x2xf32>
  %exp = math.exp %minus : tensor<2x8x2xf32>
  %log = math.log1p %exp : tensor<2x8x2xf32>
  %logsigmoid = arith.subf %least, %log : tensor<2x8x2xf32>
  %softplus = arith.negf %logsigmoid : tensor<2x8x2xf32>
  return %softplus : tensor<2x8x2xf32>
}

//--- bounded
func.func private @softplus(%p: tensor<2x8x2xf32>) -> tensor<2x8x2xf32> {
  %limit = arith.constant dense<20.0> : tensor<2x8x2xf32>
  %least = arith.minimumf %p, %limit : tensor<2x8x2xf32>
  %exp = math.exp %least : tensor<2x8x2xf32>
  %log = math.log1p %exp : tensor<2x8x2xf32>
  %is = arith.cmpf ole, %p, %limit : tensor<2x8x2xf32>
  %softplus = arith.select %is, %log, %p : tensor<2x8x2xi1>, tensor<2x8x2xf32>
  return %softplus : tensor<2x8x2xf32>
}

//--- passed-on
func.func private @softplus(%p: tensor<2x8x2xf32>) -> tensor<2x8x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x8x2xf32>
  %positive = arith.maximumf %p, %zero : tensor<2x8x2xf32>
  %difference = arith.subf %p, %zero : tensor<2x8x2xf32>
  %is = arith.cmpf une, %difference, %difference : tensor<2x8x2xf32>
  %same = arith.addf %p, %zero : tensor<2x8x2xf32>
  %size = math.absf %difference : tensor<2x8x2xf32>
  %minus = arith.negf %size : tensor<2x8x2xf32>
  %exp = math.exp %minus : tensor<2x8x2xf32>
  %log = math.log1p %exp : tensor<2x8x2xf32>
  %stable = arith.addf %positive, %log : tensor<2x8x2xf32>
  %softplus = arith.select %is, %same, %stable : tensor<2x8x2xi1>, tensor<2x8x2xf32>
  return %softplus : tensor<2x8x2xf32>
}

//--- threshold
func.func private @softplus(%p: tensor<2x8x2xf32>) -> tensor<2x8x2xf32> {
  %limit = arith.constant dense<15.0> : tensor<2x8x2xf32>
  %exp = math.exp %p : tensor<2x8x2xf32>
  %log = math.log1p %exp : tensor<2x8x2xf32>
  %is = arith.cmpf ogt, %p, %limit : tensor<2x8x2xf32>
  %softplus = arith.select %is, %p, %log : tensor<2x8x2xi1>, tensor<2x8x2xf32>
  return %softplus : tensor<2x8x2xf32>
}

//--- at-limit
func.func private @softplus(%p: tensor<2x8x2xf32>) -> tensor<2x8x2xf32> {
  %limit = arith.constant dense<4.0> : tensor<2x8x2xf32>
  %exp = math.exp %p : tensor<2x8x2xf32>
  %log = math.log1p %exp : tensor<2x8x2xf32>
  %is = arith.cmpf olt, %p, %limit : tensor<2x8x2xf32>
  %softplus = arith.select %is, %log, %p : tensor<2x8x2xi1>, tensor<2x8x2xf32>
  return %softplus : tensor<2x8x2xf32>
}

//--- other-bound
func.func private @softplus(%p: tensor<2x8x2xf32>) -> tensor<2x8x2xf32> {
  %limit = arith.constant dense<20.0> : tensor<2x8x2xf32>
  %bound = arith.constant dense<10.0> : tensor<2x8x2xf32>
  %least = arith.minimumf %p, %bound : tensor<2x8x2xf32>
  %exp = math.exp %least : tensor<2x8x2xf32>
  %log = math.log1p %exp : tensor<2x8x2xf32>
  %is = arith.cmpf ole, %p, %limit : tensor<2x8x2xf32>
  %softplus = arith.select %is, %log, %p : tensor<2x8x2xi1>, tensor<2x8x2xf32>
  return %softplus : tensor<2x8x2xf32>
}

//--- crossed
func.func private @softplus(%p: tensor<2x8x2xf32>) -> tensor<2x8x2xf32> {
  %limit = arith.constant dense<20.0> : tensor<2x8x2xf32>
  %exp = math.exp %p : tensor<2x8x2xf32>
  %log = math.log1p %exp : tensor<2x8x2xf32>
  %is = arith.cmpf ogt, %p, %limit : tensor<2x8x2xf32>
  %softplus = arith.select %is, %log, %p : tensor<2x8x2xi1>, tensor<2x8x2xf32>
  return %softplus : tensor<2x8x2xf32>
}

//--- minimum
func.func private @softplus(%p: tensor<2x8x2xf32>) -> tensor<2x8x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x8x2xf32>
  %positive = arith.minimumf %p, %zero : tensor<2x8x2xf32>
  %size = math.absf %p : tensor<2x8x2xf32>
  %minus = arith.negf %size : tensor<2x8x2xf32>
  %exp = math.exp %minus : tensor<2x8x2xf32>
  %log = math.log1p %exp : tensor<2x8x2xf32>
  %softplus = arith.addf %positive, %log : tensor<2x8x2xf32>
  return %softplus : tensor<2x8x2xf32>
}

//--- shifts
func.func private @convolution(%x: tensor<2x8x16xf32>, %w: tensor<16x3xf32>, %left: tensor<2x2x16xf32>) -> tensor<2x8x16xf32> {
  %x0 = mhc.shift %x dim = 1 by = 2 : tensor<2x8x16xf32>
  %x1 = mhc.shift %x dim = 1 by = 1 : tensor<2x8x16xf32>
  %x2 = mhc.shift %x dim = 1 by = 0 : tensor<2x8x16xf32>
  %w0 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b0 = mhc.broadcast %w0 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p0 = arith.mulf %x0, %b0 : tensor<2x8x16xf32>
  %w1 = tensor.extract_slice %w[0, 1] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b1 = mhc.broadcast %w1 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p1 = arith.mulf %x1, %b1 : tensor<2x8x16xf32>
  %w2 = tensor.extract_slice %w[0, 2] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16xf32>
  %b2 = mhc.broadcast %w2 dims = [2] : tensor<16xf32> -> tensor<2x8x16xf32>
  %p2 = arith.mulf %x2, %b2 : tensor<2x8x16xf32>
  %s = arith.addf %p0, %p1 : tensor<2x8x16xf32>
  %a = arith.addf %s, %p2 : tensor<2x8x16xf32>
  return %a : tensor<2x8x16xf32>
}

//--- repeated
func.func private @heads(%flat: tensor<2x8x4xf32>) -> tensor<2x8x2x4xf32> {
  %squares = arith.mulf %flat, %flat : tensor<2x8x4xf32>
  %sum = mhc.reduce sum %squares dims = [2] : tensor<2x8x4xf32> -> tensor<2x8xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<2x8xf32>
  %safe = arith.addf %sum, %eps : tensor<2x8xf32>
  %scale = math.rsqrt %safe : tensor<2x8xf32>
  %scales = mhc.broadcast %scale dims = [0, 1] : tensor<2x8xf32> -> tensor<2x8x4xf32>
  %unit = arith.mulf %flat, %scales : tensor<2x8x4xf32>
  %heads = mhc.broadcast %unit dims = [0, 1, 3] : tensor<2x8x4xf32> -> tensor<2x8x2x4xf32>
  return %heads : tensor<2x8x2x4xf32>
}
