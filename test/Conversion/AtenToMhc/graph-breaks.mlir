// RUN: sed 's/FIRST/select_2/' %s | mhc-opt --allow-unregistered-dialect --mhc-rewrite-aten | FileCheck %s --check-prefixes=INSIDE,BEHIND
// RUN: sed 's/FIRST/t_1/' %s | mhc-opt --allow-unregistered-dialect --mhc-rewrite-aten | FileCheck %s --check-prefixes=OUTSIDE,BEHIND

// Three graphs of PyTorch as one. A break inside the coefficients, or between the streams and what contracts them, loses
// an op; one in the sublayer does not, whose bias mhc.post adds.
// INSIDE: "code":"graph-break"{{.*}}"found":"'mhc.pre' in parts on both sides"{{.*}}"where":"model.py:26"
// OUTSIDE-NOT: model.py:26
// BEHIND: "code":"graph-break"{{.*}}"found":"'mhc.contract' on one side, its site on the other"{{.*}}"where":"model.py:12"
// OUTSIDE-NOT: model.py:26
// BEHIND: "code":"graph-break"{{.*}}"found":"'mhc.post' of coefficients from no graph, as where a loop breaks"{{.*}}"where":"model.py:31"

func.func @graph(%v0: tensor<3x2x8xf32> {mhc.name = "arg0_1"}, %v1: tensor<8x16xf32> {mhc.name = "arg1_1"}, %v2: tensor<3xf32> {mhc.name = "arg2_1"}, %v3: tensor<8xf32> {mhc.name = "arg3_1"}, %v36: tensor<8x8xf32> {mhc.name = "arg2_2"}, %v37: tensor<8xf32> {mhc.name = "arg3_2"}) -> (tensor<3x8xf32>) attributes {mhc.breaks = {FIRST = loc("model.py":26:1), mean_1 = loc("model.py":12:1)}} {
  %v4 = "aten.view.default"(%v0) {"self" = 0 : index, "size" = [3 : i64, 16 : i64]} : (tensor<3x2x8xf32>) -> (tensor<3x16xf32>) loc("view")
  %v5 = "aten.pow.Tensor_Scalar"(%v4) {"self" = 0 : index, "exponent" = 2 : i64} : (tensor<3x16xf32>) -> (tensor<3x16xf32>) loc("pow_1")
  %v6 = "aten.mean.dim"(%v5) {"self" = 0 : index, "dim" = [-1 : i64], "keepdim" = true} : (tensor<3x16xf32>) -> (tensor<3x1xf32>) loc("mean")
  %v7 = "aten.add.Tensor"(%v6) {"self" = 0 : index, "other" = 1.0e-06 : f64, "alpha" = 1 : i64} : (tensor<3x1xf32>) -> (tensor<3x1xf32>) loc("add")
  %v8 = "aten.rsqrt.default"(%v7) {"self" = 0 : index} : (tensor<3x1xf32>) -> (tensor<3x1xf32>) loc("rsqrt")
  %v9 = "aten.t.default"(%v1) {"self" = 0 : index} : (tensor<8x16xf32>) -> (tensor<16x8xf32>) loc("t")
  %v10 = "aten.mm.default"(%v4, %v9) {"self" = 0 : index, "mat2" = 1 : index} : (tensor<3x16xf32>, tensor<16x8xf32>) -> (tensor<3x8xf32>) loc("mm")
  %v11 = "aten.mul.Tensor"(%v10, %v8) {"self" = 0 : index, "other" = 1 : index} : (tensor<3x8xf32>, tensor<3x1xf32>) -> (tensor<3x8xf32>) loc("mul")
  %v12:3 = "aten.split_with_sizes.default"(%v11) {"self" = 0 : index, "split_sizes" = [2 : i64, 2 : i64, 4 : i64], "dim" = -1 : i64} : (tensor<3x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x4xf32>) loc("split_with_sizes")
  %v13 = "aten.select.int"(%v2) {"self" = 0 : index, "dim" = 0 : i64, "index" = 0 : i64} : (tensor<3xf32>) -> (tensor<f32>) loc("select")
  %v14 = "aten.mul.Tensor"(%v12#0, %v13) {"self" = 0 : index, "other" = 1 : index} : (tensor<3x2xf32>, tensor<f32>) -> (tensor<3x2xf32>) loc("mul_1")
  %v15 = "aten.slice.Tensor"(%v3) {"self" = 0 : index, "dim" = 0 : i64, "start" = 0 : i64, "end" = 2 : i64, "step" = 1 : i64} : (tensor<8xf32>) -> (tensor<2xf32>) loc("slice_1")
  %v16 = "aten.add.Tensor"(%v14, %v15) {"self" = 0 : index, "other" = 1 : index, "alpha" = 1 : i64} : (tensor<3x2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>) loc("add_1")
  %v17 = "aten.sigmoid.default"(%v16) {"self" = 0 : index} : (tensor<3x2xf32>) -> (tensor<3x2xf32>) loc("sigmoid")
  %v18 = "aten.select.int"(%v2) {"self" = 0 : index, "dim" = 0 : i64, "index" = 1 : i64} : (tensor<3xf32>) -> (tensor<f32>) loc("select_1")
  %v19 = "aten.mul.Tensor"(%v12#1, %v18) {"self" = 0 : index, "other" = 1 : index} : (tensor<3x2xf32>, tensor<f32>) -> (tensor<3x2xf32>) loc("mul_2")
  %v20 = "aten.slice.Tensor"(%v3) {"self" = 0 : index, "dim" = 0 : i64, "start" = 2 : i64, "end" = 4 : i64, "step" = 1 : i64} : (tensor<8xf32>) -> (tensor<2xf32>) loc("slice_2")
  %v21 = "aten.add.Tensor"(%v19, %v20) {"self" = 0 : index, "other" = 1 : index, "alpha" = 1 : i64} : (tensor<3x2xf32>, tensor<2xf32>) -> (tensor<3x2xf32>) loc("add_2")
  %v22 = "aten.sigmoid.default"(%v21) {"self" = 0 : index} : (tensor<3x2xf32>) -> (tensor<3x2xf32>) loc("sigmoid_1")
  %v23 = "aten.mul.Tensor"(%v22) {"self" = 0 : index, "other" = 2 : i64} : (tensor<3x2xf32>) -> (tensor<3x2xf32>) loc("mul_3")
  %v24 = "aten.select.int"(%v2) {"self" = 0 : index, "dim" = 0 : i64, "index" = 2 : i64} : (tensor<3xf32>) -> (tensor<f32>) loc("select_2")
  %v25 = "aten.mul.Tensor"(%v12#2, %v24) {"self" = 0 : index, "other" = 1 : index} : (tensor<3x4xf32>, tensor<f32>) -> (tensor<3x4xf32>) loc("mul_4")
  %v26 = "aten.slice.Tensor"(%v3) {"self" = 0 : index, "dim" = 0 : i64, "start" = 4 : i64, "end" = 9223372036854775807 : i64, "step" = 1 : i64} : (tensor<8xf32>) -> (tensor<4xf32>) loc("slice_3")
  %v27 = "aten.add.Tensor"(%v25, %v26) {"self" = 0 : index, "other" = 1 : index, "alpha" = 1 : i64} : (tensor<3x4xf32>, tensor<4xf32>) -> (tensor<3x4xf32>) loc("add_3")
  %v28 = "aten.view.default"(%v27) {"self" = 0 : index, "size" = [3 : i64, 2 : i64, 2 : i64]} : (tensor<3x4xf32>) -> (tensor<3x2x2xf32>) loc("view_1")
  %v29 = "aten.exp.default"(%v28) {"self" = 0 : index} : (tensor<3x2x2xf32>) -> (tensor<3x2x2xf32>) loc("exp")
  %v30 = "aten.sum.dim_IntList"(%v29) {"self" = 0 : index, "dim" = [-1 : i64], "keepdim" = true} : (tensor<3x2x2xf32>) -> (tensor<3x2x1xf32>) loc("sum_1")
  %v31 = "aten.add.Tensor"(%v30) {"self" = 0 : index, "other" = 1.0e-06 : f64, "alpha" = 1 : i64} : (tensor<3x2x1xf32>) -> (tensor<3x2x1xf32>) loc("add_4")
  %v32 = "aten.div.Tensor"(%v29, %v31) {"self" = 0 : index, "other" = 1 : index} : (tensor<3x2x2xf32>, tensor<3x2x1xf32>) -> (tensor<3x2x2xf32>) loc("div")
  %v33 = "aten.sum.dim_IntList"(%v32) {"self" = 0 : index, "dim" = [-2 : i64], "keepdim" = true} : (tensor<3x2x2xf32>) -> (tensor<3x1x2xf32>) loc("sum_2")
  %v34 = "aten.add.Tensor"(%v33) {"self" = 0 : index, "other" = 1.0e-06 : f64, "alpha" = 1 : i64} : (tensor<3x1x2xf32>) -> (tensor<3x1x2xf32>) loc("add_5")
  %v35 = "aten.div.Tensor"(%v32, %v34) {"self" = 0 : index, "other" = 1 : index} : (tensor<3x2x2xf32>, tensor<3x1x2xf32>) -> (tensor<3x2x2xf32>) loc("div_1")
  %v38 = "aten.unsqueeze.default"(%v17) {"self" = 0 : index, "dim" = -1 : i64} : (tensor<3x2xf32>) -> (tensor<3x2x1xf32>) loc("unsqueeze")
  %v39 = "aten.mul.Tensor"(%v38, %v0) {"self" = 0 : index, "other" = 1 : index} : (tensor<3x2x1xf32>, tensor<3x2x8xf32>) -> (tensor<3x2x8xf32>) loc("mul_5")
  %v40 = "aten.sum.dim_IntList"(%v39) {"self" = 0 : index, "dim" = [-2 : i64], "keepdim" = false} : (tensor<3x2x8xf32>) -> (tensor<3x8xf32>) loc("sum_3")
  %v41 = "aten.t.default"(%v36) {"self" = 0 : index} : (tensor<8x8xf32>) -> (tensor<8x8xf32>) loc("t_1")
  %v42 = "aten.addmm.default"(%v37, %v40, %v41) {"self" = 0 : index, "mat1" = 1 : index, "mat2" = 2 : index, "beta" = 1 : i64, "alpha" = 1 : i64} : (tensor<8xf32>, tensor<3x8xf32>, tensor<8x8xf32>) -> (tensor<3x8xf32>) loc("addmm")
  %v43 = "aten.expand.default"(%v35) {"self" = 0 : index, "size" = [3 : i64, 2 : i64, 2 : i64], "implicit" = false} : (tensor<3x2x2xf32>) -> (tensor<3x2x2xf32>) loc("expand")
  %v44 = "aten.view.default"(%v43) {"self" = 0 : index, "size" = [3 : i64, 2 : i64, 2 : i64]} : (tensor<3x2x2xf32>) -> (tensor<3x2x2xf32>) loc("view_2")
  %v45 = "aten.expand.default"(%v0) {"self" = 0 : index, "size" = [3 : i64, 2 : i64, 8 : i64], "implicit" = false} : (tensor<3x2x8xf32>) -> (tensor<3x2x8xf32>) loc("expand_1")
  %v46 = "aten.view.default"(%v45) {"self" = 0 : index, "size" = [3 : i64, 2 : i64, 8 : i64]} : (tensor<3x2x8xf32>) -> (tensor<3x2x8xf32>) loc("view_3")
  %v47 = "aten.bmm.default"(%v44, %v46) {"self" = 0 : index, "mat2" = 1 : index} : (tensor<3x2x2xf32>, tensor<3x2x8xf32>) -> (tensor<3x2x8xf32>) loc("bmm")
  %v48 = "aten.view.default"(%v47) {"self" = 0 : index, "size" = [3 : i64, 2 : i64, 8 : i64]} : (tensor<3x2x8xf32>) -> (tensor<3x2x8xf32>) loc("view_4")
  %v49 = "aten.unsqueeze.default"(%v23) {"self" = 0 : index, "dim" = -1 : i64} : (tensor<3x2xf32>) -> (tensor<3x2x1xf32>) loc("unsqueeze_1")
  %v50 = "aten.unsqueeze.default"(%v42) {"self" = 0 : index, "dim" = -2 : i64} : (tensor<3x8xf32>) -> (tensor<3x1x8xf32>) loc("unsqueeze_2")
  %v51 = "aten.mul.Tensor"(%v49, %v50) {"self" = 0 : index, "other" = 1 : index} : (tensor<3x2x1xf32>, tensor<3x1x8xf32>) -> (tensor<3x2x8xf32>) loc("mul_6")
  %v52 = "aten.add.Tensor"(%v48, %v51) {"self" = 0 : index, "other" = 1 : index, "alpha" = 1 : i64} : (tensor<3x2x8xf32>, tensor<3x2x8xf32>) -> (tensor<3x2x8xf32>) loc("add_6")
  %v53 = "aten.mean.dim"(%v52) {"self" = 0 : index, "dim" = [-2 : i64], "keepdim" = false} : (tensor<3x2x8xf32>) -> (tensor<3x8xf32>) loc("mean_1")
  return %v53 : tensor<3x8xf32>
}

// Coefficients of a function that is in no graph; those of the aggregate are the caller's.
func.func @outside(%x: tensor<3x2x8xf32> {mhc.name = "arg0_1"}, %pre: tensor<3x2x1xf32> {mhc.name = "arg1_1"}, %res: tensor<3x2x2xf32> {mhc.name = "arg2_1"}, %post: tensor<3x2x1xf32> {mhc.name = "arg3_1"}) -> tensor<3x2x8xf32> attributes {mhc.breaks = {arg2_1 = loc("model.py":31:1)}} {
  %0 = "aten.mul.Tensor"(%pre, %x) {"self" = 0 : index, "other" = 1 : index} : (tensor<3x2x1xf32>, tensor<3x2x8xf32>) -> (tensor<3x2x8xf32>) loc("mul")
  %1 = "aten.sum.dim_IntList"(%0) {"self" = 0 : index, "dim" = [-2 : i64], "keepdim" = false} : (tensor<3x2x8xf32>) -> (tensor<3x8xf32>) loc("sum_1")
  %2 = "aten.bmm.default"(%res, %x) {"self" = 0 : index, "mat2" = 1 : index} : (tensor<3x2x2xf32>, tensor<3x2x8xf32>) -> (tensor<3x2x8xf32>) loc("bmm")
  %3 = "aten.unsqueeze.default"(%1) {"self" = 0 : index, "dim" = -2 : i64} : (tensor<3x8xf32>) -> (tensor<3x1x8xf32>) loc("unsqueeze")
  %4 = "aten.mul.Tensor"(%post, %3) {"self" = 0 : index, "other" = 1 : index} : (tensor<3x2x1xf32>, tensor<3x1x8xf32>) -> (tensor<3x2x8xf32>) loc("mul_1")
  %5 = "aten.add.Tensor"(%2, %4) {"self" = 0 : index, "other" = 1 : index, "alpha" = 1 : i64} : (tensor<3x2x8xf32>, tensor<3x2x8xf32>) -> (tensor<3x2x8xf32>) loc("add")
  return %5 : tensor<3x2x8xf32>
}
