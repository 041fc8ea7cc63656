// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-read-aten | FileCheck %s

// A maximum that is subtracted from the logits of an exponential, which is then divided by its sum, has no derivative:
// it may be detached or not.

// CHECK-LABEL: @row
// CHECK: math.exp
func.func @row(%x: tensor<8x4x4xf32> {mhc.name = "x"}) -> tensor<8x4x4xf32> {
  %m = "aten.amax.default"(%x) {self = 0 : index, dim = [-1], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x4x1xf32> loc("amax")
  %d = "aten.detach.default"(%m) {self = 0 : index} : (tensor<8x4x1xf32>) -> tensor<8x4x1xf32> loc("detach")
  %s = "aten.sub.Tensor"(%x, %d) {self = 0 : index, other = 1 : index, alpha = 1 : i64} : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x4xf32> loc("sub")
  %e = "aten.exp.default"(%s) {self = 0 : index} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32> loc("exp")
  %r = "aten.sum.dim_IntList"(%e) {self = 0 : index, dim = [2], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x4x1xf32> loc("sum")
  %p = "aten.add.Tensor"(%r) {self = 0 : index, other = 1.0e-06 : f64, alpha = 1 : i64} : (tensor<8x4x1xf32>) -> tensor<8x4x1xf32> loc("add")
  %q = "aten.div.Tensor"(%e, %p) {self = 0 : index, other = 1 : index} : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x4xf32> loc("div")
  return %q : tensor<8x4x4xf32>
}

// The logits are detached for it.

// CHECK-LABEL: @of_detached_logits
// CHECK: math.exp
func.func @of_detached_logits(%x: tensor<8x4x4xf32> {mhc.name = "x"}) -> tensor<8x4x4xf32> {
  %d = "aten.detach.default"(%x) {self = 0 : index} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32> loc("detach")
  %m = "aten.amax.default"(%d) {self = 0 : index, dim = [-1], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x4x1xf32> loc("amax")
  %s = "aten.sub.Tensor"(%x, %m) {self = 0 : index, other = 1 : index, alpha = 1 : i64} : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x4xf32> loc("sub")
  %e = "aten.exp.default"(%s) {self = 0 : index} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32> loc("exp")
  %r = "aten.sum.dim_IntList"(%e) {self = 0 : index, dim = [2], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x4x1xf32> loc("sum")
  %p = "aten.add.Tensor"(%r) {self = 0 : index, other = 1.0e-06 : f64, alpha = 1 : i64} : (tensor<8x4x1xf32>) -> tensor<8x4x1xf32> loc("add")
  %q = "aten.div.Tensor"(%e, %p) {self = 0 : index, other = 1 : index} : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x4xf32> loc("div")
  return %q : tensor<8x4x4xf32>
}

// The maximum of each matrix is one number for a row, which drops out of the quotient.

// CHECK-LABEL: @matrix
// CHECK: math.exp
func.func @matrix(%x: tensor<8x4x4xf32> {mhc.name = "x"}) -> tensor<8x4x4xf32> {
  %m = "aten.amax.default"(%x) {self = 0 : index, dim = [-1, -2], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x1x1xf32> loc("amax")
  %d = "aten.detach.default"(%m) {self = 0 : index} : (tensor<8x1x1xf32>) -> tensor<8x1x1xf32> loc("detach")
  %s = "aten.sub.Tensor"(%x, %d) {self = 0 : index, other = 1 : index, alpha = 1 : i64} : (tensor<8x4x4xf32>, tensor<8x1x1xf32>) -> tensor<8x4x4xf32> loc("sub")
  %e = "aten.exp.default"(%s) {self = 0 : index} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32> loc("exp")
  %r = "aten.sum.dim_IntList"(%e) {self = 0 : index, dim = [2], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x4x1xf32> loc("sum")
  %q = "aten.div.Tensor"(%e, %r) {self = 0 : index, other = 1 : index} : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x4xf32> loc("div")
  return %q : tensor<8x4x4xf32>
}

// With an eps it does not: a row's sum may be as small.

// CHECK-LABEL: @matrix_with_eps
// CHECK: %[[D:.*]]: tensor<8x1x1xf32> {{[{].*}}mhc.name = "detach"}
func.func @matrix_with_eps(%x: tensor<8x4x4xf32> {mhc.name = "x"}) -> tensor<8x4x4xf32> {
  %m = "aten.amax.default"(%x) {self = 0 : index, dim = [-1, -2], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x1x1xf32> loc("amax")
  %d = "aten.detach.default"(%m) {self = 0 : index} : (tensor<8x1x1xf32>) -> tensor<8x1x1xf32> loc("detach")
  %s = "aten.sub.Tensor"(%x, %d) {self = 0 : index, other = 1 : index, alpha = 1 : i64} : (tensor<8x4x4xf32>, tensor<8x1x1xf32>) -> tensor<8x4x4xf32> loc("sub")
  %e = "aten.exp.default"(%s) {self = 0 : index} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32> loc("exp")
  %r = "aten.sum.dim_IntList"(%e) {self = 0 : index, dim = [2], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x4x1xf32> loc("sum")
  %p = "aten.add.Tensor"(%r) {self = 0 : index, other = 1.0e-06 : f64, alpha = 1 : i64} : (tensor<8x4x1xf32>) -> tensor<8x4x1xf32> loc("add")
  %q = "aten.div.Tensor"(%e, %p) {self = 0 : index, other = 1 : index} : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x4xf32> loc("div")
  return %q : tensor<8x4x4xf32>
}

// The sum is over other logits than the maximum, an eps is no small one, and something else reads the sum.

// CHECK-LABEL: @other_dim
// CHECK: %[[D:.*]]: tensor<8x4x1xf32> {{[{].*}}mhc.name = "detach"}
func.func @other_dim(%x: tensor<8x4x4xf32> {mhc.name = "x"}) -> tensor<8x4x4xf32> {
  %m = "aten.amax.default"(%x) {self = 0 : index, dim = [-1], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x4x1xf32> loc("amax")
  %d = "aten.detach.default"(%m) {self = 0 : index} : (tensor<8x4x1xf32>) -> tensor<8x4x1xf32> loc("detach")
  %s = "aten.sub.Tensor"(%x, %d) {self = 0 : index, other = 1 : index, alpha = 1 : i64} : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x4xf32> loc("sub")
  %e = "aten.exp.default"(%s) {self = 0 : index} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32> loc("exp")
  %r = "aten.sum.dim_IntList"(%e) {self = 0 : index, dim = [1], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x1x4xf32> loc("sum")
  %q = "aten.div.Tensor"(%e, %r) {self = 0 : index, other = 1 : index} : (tensor<8x4x4xf32>, tensor<8x1x4xf32>) -> tensor<8x4x4xf32> loc("div")
  return %q : tensor<8x4x4xf32>
}

// Something else reads the detached logits.

// CHECK-LABEL: @logits_are_read
// CHECK: %[[D:.*]]: tensor<8x4x4xf32> {{[{].*}}mhc.name = "detach"}
func.func @logits_are_read(%x: tensor<8x4x4xf32> {mhc.name = "x"}) -> (tensor<8x4x4xf32>, tensor<8x4x4xf32>) {
  %d = "aten.detach.default"(%x) {self = 0 : index} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32> loc("detach")
  %m = "aten.amax.default"(%d) {self = 0 : index, dim = [-1], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x4x1xf32> loc("amax")
  %s = "aten.sub.Tensor"(%x, %m) {self = 0 : index, other = 1 : index, alpha = 1 : i64} : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x4xf32> loc("sub")
  %e = "aten.exp.default"(%s) {self = 0 : index} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32> loc("exp")
  %r = "aten.sum.dim_IntList"(%e) {self = 0 : index, dim = [2], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x4x1xf32> loc("sum")
  %q = "aten.div.Tensor"(%e, %r) {self = 0 : index, other = 1 : index} : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x4xf32> loc("div")
  %l = "aten.log.default"(%d) {self = 0 : index} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32> loc("log")
  return %q, %l : tensor<8x4x4xf32>, tensor<8x4x4xf32>
}

// CHECK-LABEL: @large_eps
// CHECK: %[[D:.*]]: tensor<8x4x1xf32> {{[{].*}}mhc.name = "detach"}
func.func @large_eps(%x: tensor<8x4x4xf32> {mhc.name = "x"}) -> tensor<8x4x4xf32> {
  %m = "aten.amax.default"(%x) {self = 0 : index, dim = [-1], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x4x1xf32> loc("amax")
  %d = "aten.detach.default"(%m) {self = 0 : index} : (tensor<8x4x1xf32>) -> tensor<8x4x1xf32> loc("detach")
  %s = "aten.sub.Tensor"(%x, %d) {self = 0 : index, other = 1 : index, alpha = 1 : i64} : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x4xf32> loc("sub")
  %e = "aten.exp.default"(%s) {self = 0 : index} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32> loc("exp")
  %r = "aten.sum.dim_IntList"(%e) {self = 0 : index, dim = [2], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x4x1xf32> loc("sum")
  %p = "aten.add.Tensor"(%r) {self = 0 : index, other = 1.0e-02 : f64, alpha = 1 : i64} : (tensor<8x4x1xf32>) -> tensor<8x4x1xf32> loc("add")
  %q = "aten.div.Tensor"(%e, %p) {self = 0 : index, other = 1 : index} : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x4xf32> loc("div")
  return %q : tensor<8x4x4xf32>
}

// CHECK-LABEL: @sum_is_read
// CHECK: %[[D:.*]]: tensor<8x4x1xf32> {{[{].*}}mhc.name = "detach"}
func.func @sum_is_read(%x: tensor<8x4x4xf32> {mhc.name = "x"}) -> (tensor<8x4x4xf32>, tensor<8x4x1xf32>) {
  %m = "aten.amax.default"(%x) {self = 0 : index, dim = [-1], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x4x1xf32> loc("amax")
  %d = "aten.detach.default"(%m) {self = 0 : index} : (tensor<8x4x1xf32>) -> tensor<8x4x1xf32> loc("detach")
  %s = "aten.sub.Tensor"(%x, %d) {self = 0 : index, other = 1 : index, alpha = 1 : i64} : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x4xf32> loc("sub")
  %e = "aten.exp.default"(%s) {self = 0 : index} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32> loc("exp")
  %r = "aten.sum.dim_IntList"(%e) {self = 0 : index, dim = [2], keepdim = true} : (tensor<8x4x4xf32>) -> tensor<8x4x1xf32> loc("sum")
  %q = "aten.div.Tensor"(%e, %r) {self = 0 : index, other = 1 : index} : (tensor<8x4x4xf32>, tensor<8x4x1xf32>) -> tensor<8x4x4xf32> loc("div")
  %l = "aten.log.default"(%r) {self = 0 : index} : (tensor<8x4x1xf32>) -> tensor<8x4x1xf32> loc("log")
  return %q, %l : tensor<8x4x4xf32>, tensor<8x4x1xf32>
}
