// RUN: mhc-opt %s -mhc-raise | FileCheck %s --implicit-check-not=mhc.whole
// RUN: mhc-opt %s -mhc-raise --remarks-filter-missed='mhc.*' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISS --implicit-check-not=Missed

// Streams that are masked in front of a layer are the product: all of the layer reads it.
// CHECK-LABEL: func.func @mask(
// CHECK: %[[X:.*]] = arith.mulf %arg0, %{{.*}} : tensor<8x4x16xf32>
// CHECK: mhc.projection(x = %[[X]] : tensor<8x4x16xf32>, phi = %arg2 :
// CHECK: mhc.gates
// CHECK: mhc.aggregate(x = %[[X]] :
// CHECK: mhc.post({{.*}}x = %[[X]] :
func.func @mask(%x: tensor<8x4x16xf32>, %mask: tensor<8xf32>, %phi: tensor<24x64xf32>, %beta: tensor<24xf32>)
    -> tensor<8x4x16xf32> {
  %wide = mhc.broadcast %mask dims = [0] : tensor<8xf32> -> tensor<8x4x16xf32>
  %masked = arith.mulf %x, %wide : tensor<8x4x16xf32>
  %flat = tensor.collapse_shape %masked [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %square = arith.mulf %flat, %flat : tensor<8x64xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %shifted = arith.addf %mean, %eps : tensor<8xf32>
  %inv = math.rsqrt %shifted : tensor<8xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %scale = mhc.broadcast %inv dims = [0] : tensor<8xf32> -> tensor<8x24xf32>
  %scaled = arith.mulf %proj, %scale : tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %scaled, %b : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %matrices = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %map = mhc.sinkhorn(logits = %matrices : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %prew = mhc.broadcast %pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %weighed = arith.mulf %prew, %masked : tensor<8x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x16xf32> -> tensor<8x16xf32>
  %f = math.tanh %u : tensor<8x16xf32>
  %mixed = mhc.batch_matmul %map, %masked : (tensor<8x4x4xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  %hw = mhc.broadcast %post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x16xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x16xf32>
  return %out : tensor<8x4x16xf32>
}

// The mask is of what is projected alone: the streams that are mixed have none.
// MISS: remark: [Missed] projection-of-other-tensor | {{.*}}Function=mask_of_the_projection
// CHECK-LABEL: func.func @mask_of_the_projection(
// CHECK: %[[X:.*]] = arith.mulf %arg0, %{{.*}} : tensor<8x4x16xf32>
// CHECK: mhc.projection(x = %[[X]] : tensor<8x4x16xf32>, phi = %arg2 :
// CHECK: mhc.aggregate(x = %arg0 :
// CHECK: mhc.post({{.*}}x = %arg0 :
func.func @mask_of_the_projection(%x: tensor<8x4x16xf32>, %mask: tensor<8xf32>, %phi: tensor<24x64xf32>,
                                  %beta: tensor<24xf32>) -> tensor<8x4x16xf32> {
  %wide = mhc.broadcast %mask dims = [0] : tensor<8xf32> -> tensor<8x4x16xf32>
  %masked = arith.mulf %x, %wide : tensor<8x4x16xf32>
  %flat = tensor.collapse_shape %masked [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %square = arith.mulf %flat, %flat : tensor<8x64xf32>
  %mean = mhc.reduce mean %square dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %eps = arith.constant dense<1.0e-06> : tensor<8xf32>
  %shifted = arith.addf %mean, %eps : tensor<8xf32>
  %inv = math.rsqrt %shifted : tensor<8xf32>
  %proj = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %scale = mhc.broadcast %inv dims = [0] : tensor<8xf32> -> tensor<8x24xf32>
  %scaled = arith.mulf %proj, %scale : tensor<8x24xf32>
  %b = mhc.broadcast %beta dims = [1] : tensor<24xf32> -> tensor<8x24xf32>
  %z = arith.addf %scaled, %b : tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %matrices = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %map = mhc.sinkhorn(logits = %matrices : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %prew = mhc.broadcast %pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %weighed = arith.mulf %prew, %x : tensor<8x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x16xf32> -> tensor<8x16xf32>
  %f = math.tanh %u : tensor<8x16xf32>
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  %hw = mhc.broadcast %post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x16xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x16xf32>
  return %out : tensor<8x4x16xf32>
}

// The same of a layer without a norm, where nothing squares the product: a weight of each channel,
// CHECK-LABEL: func.func @gain(
// CHECK: %[[X:.*]] = arith.mulf %arg0, %{{.*}} : tensor<8x4x16xf32>
// CHECK: mhc.projection(x = %[[X]] : tensor<8x4x16xf32>, phi = %arg2 :
// CHECK: mhc.gates
// CHECK: mhc.aggregate(x = %[[X]] :
// CHECK: mhc.post({{.*}}x = %[[X]] :
func.func @gain(%x: tensor<8x4x16xf32>, %gain: tensor<16xf32>, %phi: tensor<24x64xf32>) -> tensor<8x4x16xf32> {
  %wide = mhc.broadcast %gain dims = [2] : tensor<16xf32> -> tensor<8x4x16xf32>
  %made = arith.mulf %x, %wide : tensor<8x4x16xf32>
  %flat = tensor.collapse_shape %made [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %z = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %matrices = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %map = mhc.sinkhorn(logits = %matrices : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %prew = mhc.broadcast %pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %weighed = arith.mulf %prew, %made : tensor<8x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x16xf32> -> tensor<8x16xf32>
  %f = math.tanh %u : tensor<8x16xf32>
  %mixed = mhc.batch_matmul %map, %made : (tensor<8x4x4xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  %hw = mhc.broadcast %post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x16xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x16xf32>
  return %out : tensor<8x4x16xf32>
}

// or the sigmoid of the streams themselves. Without a sum it is no norm.
// CHECK-LABEL: func.func @activation(
// CHECK: %[[X:.*]] = mhc.silu %arg0 : tensor<8x4x16xf32>
// CHECK: mhc.projection(x = %[[X]] : tensor<8x4x16xf32>, phi = %arg1 :
// CHECK: mhc.gates
// CHECK: mhc.aggregate(x = %[[X]] :
// CHECK: mhc.post({{.*}}x = %[[X]] :
func.func @activation(%x: tensor<8x4x16xf32>, %phi: tensor<24x64xf32>) -> tensor<8x4x16xf32> {
  %made = mhc.silu %x : tensor<8x4x16xf32>
  %flat = tensor.collapse_shape %made [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %z = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %matrices = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %map = mhc.sinkhorn(logits = %matrices : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %prew = mhc.broadcast %pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %weighed = arith.mulf %prew, %made : tensor<8x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x16xf32> -> tensor<8x16xf32>
  %f = math.tanh %u : tensor<8x16xf32>
  %mixed = mhc.batch_matmul %map, %made : (tensor<8x4x4xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  %hw = mhc.broadcast %post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x16xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x16xf32>
  return %out : tensor<8x4x16xf32>
}

// The streams that are mixed are those without the weight: they stay apart from what is projected.
// CHECK-LABEL: func.func @gain_of_the_gates(
// CHECK: %[[X:.*]] = arith.mulf %arg0, %{{.*}} : tensor<8x4x16xf32>
// CHECK: mhc.projection(x = %[[X]] : tensor<8x4x16xf32>, phi = %arg2 :
// CHECK: mhc.aggregate(x = %[[X]] :
// CHECK: mhc.post({{.*}}x = %arg0 :
func.func @gain_of_the_gates(%x: tensor<8x4x16xf32>, %gain: tensor<16xf32>, %phi: tensor<24x64xf32>)
    -> tensor<8x4x16xf32> {
  %wide = mhc.broadcast %gain dims = [2] : tensor<16xf32> -> tensor<8x4x16xf32>
  %made = arith.mulf %x, %wide : tensor<8x4x16xf32>
  %flat = tensor.collapse_shape %made [[0], [1, 2]] : tensor<8x4x16xf32> into tensor<8x64xf32>
  %z = mhc.matmul %flat, %phi transpose_rhs : (tensor<8x64xf32>, tensor<24x64xf32>) -> tensor<8x24xf32>
  %z0 = tensor.extract_slice %z[0, 0] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z1 = tensor.extract_slice %z[0, 4] [8, 4] [1, 1] : tensor<8x24xf32> to tensor<8x4xf32>
  %z2 = tensor.extract_slice %z[0, 8] [8, 16] [1, 1] : tensor<8x24xf32> to tensor<8x16xf32>
  %pre = mhc.sigmoid %z0 : tensor<8x4xf32>
  %post = mhc.sigmoid %z1 : tensor<8x4xf32>
  %matrices = tensor.expand_shape %z2 [[0], [1, 2]] output_shape [8, 4, 4] : tensor<8x16xf32> into tensor<8x4x4xf32>
  %map = mhc.sinkhorn(logits = %matrices : tensor<8x4x4xf32>)
    <init = exp, order = col_row, denom = add, eps = 1.0e-05, iters = 10> -> (mix : tensor<8x4x4xf32>)
  %prew = mhc.broadcast %pre dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %weighed = arith.mulf %prew, %made : tensor<8x4x16xf32>
  %u = mhc.reduce sum %weighed dims = [1] : tensor<8x4x16xf32> -> tensor<8x16xf32>
  %f = math.tanh %u : tensor<8x16xf32>
  %mixed = mhc.batch_matmul %map, %x : (tensor<8x4x4xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  %hw = mhc.broadcast %post dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x16xf32>
  %fw = mhc.broadcast %f dims = [0, 2] : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %branch = arith.mulf %hw, %fw : tensor<8x4x16xf32>
  %out = arith.addf %mixed, %branch : tensor<8x4x16xf32>
  return %out : tensor<8x4x16xf32>
}
