// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-rewrite-aten=differentiate=true | FileCheck %s

// The front end of a gated delta net as PyTorch captures it, of numbers of tokens that are known, and of open ones. The
// kernel takes the place of all nodes.
// CHECK: "A_log":{"node":"arg2_1"},"F":0,"conv_weight":{"value":0},"dk":16,"dt_bias":{"node":"arg3_1"},"dv":16,
// CHECK-SAME: "num_key_heads":2,"qk_l2norm":true,"qkvzba":{"node":"arg0_1"},"seq_layout":"bMD","softplus_threshold":20}
// CHECK-SAME: "op":"mhc.pre_gated_delta_rule"
// CHECK-NEXT: "missed": [],
// CHECK-NEXT: "nodes": {"mul_2":{{.*}},"sigmoid":{{.*}},"view_2":{{.*}},"view_3":{{.*}},"view_4":{{.*}},"view_5":
// CHECK: "conv_weight":{"value":0},"dk":16,{{.*}}"qkvzba":{"node":"arg2_1"},"seq_layout":"bMD"
// CHECK-SAME: "op":"mhc.pre_gated_delta_rule"
// CHECK-NEXT: "missed": [],
// CHECK-NEXT: "nodes": {"mul_131":{{.*}},"sigmoid":{{.*}},"view_2":{{.*}},"view_3":{{.*}},"view_4":{{.*}},"view_5":
func.func @static(%v0: tensor<2x8x200xf32> {mhc.name = "arg0_1"}, %v1: tensor<128x1x4xf32> {mhc.name = "arg1_1"}, %v2: tensor<4xf32> {mhc.name = "arg2_1"}, %v3: tensor<4xf32> {mhc.name = "arg3_1"}) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) {
  %v4:4 = "aten.split_with_sizes.default"(%v0) {"self" = 0 : index, "split_sizes" = [128 : i64, 64 : i64, 4 : i64, 4 : i64], "dim" = -1 : i64} : (tensor<2x8x200xf32>) -> (tensor<2x8x128xf32>, tensor<2x8x64xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) loc("split_with_sizes"("front.py":8:1))
  %v13 = "aten.transpose.int"(%v4#0) {"self" = 0 : index, "dim0" = 1 : i64, "dim1" = 2 : i64} : (tensor<2x8x128xf32>) -> (tensor<2x128x8xf32>) loc("transpose"("front.py":9:1))
  %v14 = "aten.convolution.default"(%v13, %v1) {"input" = 0 : index, "weight" = 1 : index, "stride" = [1 : i64], "padding" = [3 : i64], "dilation" = [1 : i64], "transposed" = false, "output_padding" = [0 : i64], "groups" = 128 : i64} : (tensor<2x128x8xf32>, tensor<128x1x4xf32>) -> (tensor<2x128x11xf32>) loc("convolution"("front.py":9:1))
  %v15 = "aten.slice.Tensor"(%v14) {"self" = 0 : index, "dim" = 2 : i64, "start" = 0 : i64, "end" = 8 : i64, "step" = 1 : i64} : (tensor<2x128x11xf32>) -> (tensor<2x128x8xf32>) loc("slice_1"("front.py":9:1))
  %v16 = "aten.silu.default"(%v15) {"self" = 0 : index} : (tensor<2x128x8xf32>) -> (tensor<2x128x8xf32>) loc("silu"("front.py":10:1))
  %v17 = "aten.transpose.int"(%v16) {"self" = 0 : index, "dim0" = 1 : i64, "dim1" = 2 : i64} : (tensor<2x128x8xf32>) -> (tensor<2x8x128xf32>) loc("transpose_1"("front.py":10:1))
  %v18:3 = "aten.split_with_sizes.default"(%v17) {"self" = 0 : index, "split_sizes" = [32 : i64, 32 : i64, 64 : i64], "dim" = -1 : i64} : (tensor<2x8x128xf32>) -> (tensor<2x8x32xf32>, tensor<2x8x32xf32>, tensor<2x8x64xf32>) loc("split_with_sizes_1"("front.py":10:1))
  %v25 = "aten.view.default"(%v18#0) {"self" = 0 : index, "size" = [2 : i64, 8 : i64, 2 : i64, 16 : i64]} : (tensor<2x8x32xf32>) -> (tensor<2x8x2x16xf32>) loc("view"("front.py":11:1))
  %v26 = "aten.pow.Tensor_Scalar"(%v25) {"self" = 0 : index, "exponent" = 2 : i64} : (tensor<2x8x2x16xf32>) -> (tensor<2x8x2x16xf32>) loc("pow_1"("front.py":19:1))
  %v27 = "aten.sum.dim_IntList"(%v26) {"self" = 0 : index, "dim" = [-1 : i64], "keepdim" = true} : (tensor<2x8x2x16xf32>) -> (tensor<2x8x2x1xf32>) loc("sum_1"("front.py":19:1))
  %v28 = "aten.add.Tensor"(%v27) {"self" = 0 : index, "other" = 1.0e-06 : f64, "alpha" = 1 : i64} : (tensor<2x8x2x1xf32>) -> (tensor<2x8x2x1xf32>) loc("add"("front.py":19:1))
  %v29 = "aten.rsqrt.default"(%v28) {"self" = 0 : index} : (tensor<2x8x2x1xf32>) -> (tensor<2x8x2x1xf32>) loc("rsqrt"("front.py":19:1))
  %v30 = "aten.mul.Tensor"(%v25, %v29) {"self" = 0 : index, "other" = 1 : index} : (tensor<2x8x2x16xf32>, tensor<2x8x2x1xf32>) -> (tensor<2x8x2x16xf32>) loc("mul"("front.py":19:1))
  %v31 = "aten.view.default"(%v18#1) {"self" = 0 : index, "size" = [2 : i64, 8 : i64, 2 : i64, 16 : i64]} : (tensor<2x8x32xf32>) -> (tensor<2x8x2x16xf32>) loc("view_1"("front.py":11:1))
  %v32 = "aten.pow.Tensor_Scalar"(%v31) {"self" = 0 : index, "exponent" = 2 : i64} : (tensor<2x8x2x16xf32>) -> (tensor<2x8x2x16xf32>) loc("pow_2"("front.py":19:1))
  %v33 = "aten.sum.dim_IntList"(%v32) {"self" = 0 : index, "dim" = [-1 : i64], "keepdim" = true} : (tensor<2x8x2x16xf32>) -> (tensor<2x8x2x1xf32>) loc("sum_2"("front.py":19:1))
  %v34 = "aten.add.Tensor"(%v33) {"self" = 0 : index, "other" = 1.0e-06 : f64, "alpha" = 1 : i64} : (tensor<2x8x2x1xf32>) -> (tensor<2x8x2x1xf32>) loc("add_1"("front.py":19:1))
  %v35 = "aten.rsqrt.default"(%v34) {"self" = 0 : index} : (tensor<2x8x2x1xf32>) -> (tensor<2x8x2x1xf32>) loc("rsqrt_1"("front.py":19:1))
  %v36 = "aten.mul.Tensor"(%v31, %v35) {"self" = 0 : index, "other" = 1 : index} : (tensor<2x8x2x16xf32>, tensor<2x8x2x1xf32>) -> (tensor<2x8x2x16xf32>) loc("mul_1"("front.py":19:1))
  %v37 = "aten.unsqueeze.default"(%v30) {"self" = 0 : index, "dim" = 3 : i64} : (tensor<2x8x2x16xf32>) -> (tensor<2x8x2x1x16xf32>) loc("unsqueeze"("front.py":12:1))
  %v38 = "aten.expand.default"(%v37) {"self" = 0 : index, "size" = [2 : i64, 8 : i64, 2 : i64, 2 : i64, 16 : i64], "implicit" = false} : (tensor<2x8x2x1x16xf32>) -> (tensor<2x8x2x2x16xf32>) loc("expand"("front.py":12:1))
  %v39 = "aten.clone.default"(%v38) {"self" = 0 : index, "memory_format" = "torch.contiguous_format"} : (tensor<2x8x2x2x16xf32>) -> (tensor<2x8x2x2x16xf32>) loc("clone"("front.py":12:1))
  %v40 = "aten.view.default"(%v39) {"self" = 0 : index, "size" = [2 : i64, 8 : i64, 4 : i64, 16 : i64]} : (tensor<2x8x2x2x16xf32>) -> (tensor<2x8x4x16xf32>) loc("view_2"("front.py":12:1))
  %v41 = "aten.unsqueeze.default"(%v36) {"self" = 0 : index, "dim" = 3 : i64} : (tensor<2x8x2x16xf32>) -> (tensor<2x8x2x1x16xf32>) loc("unsqueeze_1"("front.py":12:1))
  %v42 = "aten.expand.default"(%v41) {"self" = 0 : index, "size" = [2 : i64, 8 : i64, 2 : i64, 2 : i64, 16 : i64], "implicit" = false} : (tensor<2x8x2x1x16xf32>) -> (tensor<2x8x2x2x16xf32>) loc("expand_1"("front.py":12:1))
  %v43 = "aten.clone.default"(%v42) {"self" = 0 : index, "memory_format" = "torch.contiguous_format"} : (tensor<2x8x2x2x16xf32>) -> (tensor<2x8x2x2x16xf32>) loc("clone_1"("front.py":12:1))
  %v44 = "aten.view.default"(%v43) {"self" = 0 : index, "size" = [2 : i64, 8 : i64, 4 : i64, 16 : i64]} : (tensor<2x8x2x2x16xf32>) -> (tensor<2x8x4x16xf32>) loc("view_3"("front.py":12:1))
  %v45 = "aten.exp.default"(%v2) {"self" = 0 : index} : (tensor<4xf32>) -> (tensor<4xf32>) loc("exp"("front.py":13:1))
  %v46 = "aten.neg.default"(%v45) {"self" = 0 : index} : (tensor<4xf32>) -> (tensor<4xf32>) loc("neg"("front.py":13:1))
  %v47 = "aten.add.Tensor"(%v4#3, %v3) {"self" = 0 : index, "other" = 1 : index, "alpha" = 1 : i64} : (tensor<2x8x4xf32>, tensor<4xf32>) -> (tensor<2x8x4xf32>) loc("add_2"("front.py":13:1))
  %v48 = "aten.softplus.default"(%v47) {"self" = 0 : index, "beta" = 1 : i64, "threshold" = 20 : i64} : (tensor<2x8x4xf32>) -> (tensor<2x8x4xf32>) loc("softplus"("front.py":13:1))
  %v49 = "aten.mul.Tensor"(%v46, %v48) {"self" = 0 : index, "other" = 1 : index} : (tensor<4xf32>, tensor<2x8x4xf32>) -> (tensor<2x8x4xf32>) loc("mul_2"("front.py":13:1))
  %v50 = "aten.view.default"(%v18#2) {"self" = 0 : index, "size" = [2 : i64, 8 : i64, 4 : i64, 16 : i64]} : (tensor<2x8x64xf32>) -> (tensor<2x8x4x16xf32>) loc("view_4"("front.py":14:1))
  %v51 = "aten.view.default"(%v4#1) {"self" = 0 : index, "size" = [2 : i64, 8 : i64, 4 : i64, 16 : i64]} : (tensor<2x8x64xf32>) -> (tensor<2x8x4x16xf32>) loc("view_5"("front.py":14:1))
  %v52 = "aten.sigmoid.default"(%v4#2) {"self" = 0 : index} : (tensor<2x8x4xf32>) -> (tensor<2x8x4xf32>) loc("sigmoid"("front.py":14:1))
  return %v40, %v44, %v50, %v51, %v52, %v49 : tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
}

func.func @open(%v0: i64 {mhc.name = "arg0_1"}, %v1: i64 {mhc.name = "arg1_1"}, %v2: tensor<?x?x200xf32> {mhc.name = "arg2_1", mhc.dims = ["s32", "s17", "200"]}, %v3: tensor<128x1x4xf32> {mhc.name = "arg3_1"}, %v4: tensor<4xf32> {mhc.name = "arg4_1"}, %v5: tensor<4xf32> {mhc.name = "arg5_1"}) -> (tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>) {
  %v6:4 = "aten.split_with_sizes.default"(%v2) {"self" = 0 : index, "split_sizes" = [128 : i64, 64 : i64, 4 : i64, 4 : i64], "dim" = -1 : i64, mhc.dims = [["s32", "s17", "128"], ["s32", "s17", "64"], ["s32", "s17", "4"], ["s32", "s17", "4"]]} : (tensor<?x?x200xf32>) -> (tensor<?x?x128xf32>, tensor<?x?x64xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>) loc("split_with_sizes"("front.py":8:1))
  %v15 = "aten.transpose.int"(%v6#0) {"self" = 0 : index, "dim0" = 1 : i64, "dim1" = 2 : i64, mhc.dims = [["s32", "128", "s17"]]} : (tensor<?x?x128xf32>) -> (tensor<?x128x?xf32>) loc("transpose"("front.py":9:1))
  %v16 = "aten.convolution.default"(%v15, %v3) {"input" = 0 : index, "weight" = 1 : index, "stride" = [1 : i64], "padding" = [3 : i64], "dilation" = [1 : i64], "transposed" = false, "output_padding" = [0 : i64], "groups" = 128 : i64, mhc.dims = [["s32", "128", "s17+3"]]} : (tensor<?x128x?xf32>, tensor<128x1x4xf32>) -> (tensor<?x128x?xf32>) loc("convolution"("front.py":9:1))
  %v17 = "aten.slice.Tensor"(%v16, %v1) {"self" = 0 : index, "dim" = 2 : i64, "start" = 0 : i64, "end" = 1 : index, "step" = 1 : i64, mhc.dims = [["s32", "128", "s17"]]} : (tensor<?x128x?xf32>, i64) -> (tensor<?x128x?xf32>) loc("slice_1"("front.py":9:1))
  %v18 = "aten.silu.default"(%v17) {"self" = 0 : index, mhc.dims = [["s32", "128", "s17"]]} : (tensor<?x128x?xf32>) -> (tensor<?x128x?xf32>) loc("silu"("front.py":10:1))
  %v19 = "aten.transpose.int"(%v18) {"self" = 0 : index, "dim0" = 1 : i64, "dim1" = 2 : i64, mhc.dims = [["s32", "s17", "128"]]} : (tensor<?x128x?xf32>) -> (tensor<?x?x128xf32>) loc("transpose_1"("front.py":10:1))
  %v20:3 = "aten.split_with_sizes.default"(%v19) {"self" = 0 : index, "split_sizes" = [32 : i64, 32 : i64, 64 : i64], "dim" = -1 : i64, mhc.dims = [["s32", "s17", "32"], ["s32", "s17", "32"], ["s32", "s17", "64"]]} : (tensor<?x?x128xf32>) -> (tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x?x64xf32>) loc("split_with_sizes_1"("front.py":10:1))
  %v27 = "aten.view.default"(%v20#0, %v0, %v1) {"self" = 0 : index, "size" = [1 : index, 2 : index, 2 : i64, 16 : i64], mhc.dims = [["s32", "s17", "2", "16"]]} : (tensor<?x?x32xf32>, i64, i64) -> (tensor<?x?x2x16xf32>) loc("view"("front.py":11:1))
  %v28 = "aten.pow.Tensor_Scalar"(%v27) {"self" = 0 : index, "exponent" = 2 : i64, mhc.dims = [["s32", "s17", "2", "16"]]} : (tensor<?x?x2x16xf32>) -> (tensor<?x?x2x16xf32>) loc("pow_1"("front.py":19:1))
  %v29 = "aten.sum.dim_IntList"(%v28) {"self" = 0 : index, "dim" = [-1 : i64], "keepdim" = true, mhc.dims = [["s32", "s17", "2", "1"]]} : (tensor<?x?x2x16xf32>) -> (tensor<?x?x2x1xf32>) loc("sum_1"("front.py":19:1))
  %v30 = "aten.add.Tensor"(%v29) {"self" = 0 : index, "other" = 1.0e-06 : f64, "alpha" = 1 : i64, mhc.dims = [["s32", "s17", "2", "1"]]} : (tensor<?x?x2x1xf32>) -> (tensor<?x?x2x1xf32>) loc("add_67"("front.py":19:1))
  %v31 = "aten.rsqrt.default"(%v30) {"self" = 0 : index, mhc.dims = [["s32", "s17", "2", "1"]]} : (tensor<?x?x2x1xf32>) -> (tensor<?x?x2x1xf32>) loc("rsqrt"("front.py":19:1))
  %v32 = "aten.mul.Tensor"(%v27, %v31) {"self" = 0 : index, "other" = 1 : index, mhc.dims = [["s32", "s17", "2", "16"]]} : (tensor<?x?x2x16xf32>, tensor<?x?x2x1xf32>) -> (tensor<?x?x2x16xf32>) loc("mul_57"("front.py":19:1))
  %v33 = "aten.view.default"(%v20#1, %v0, %v1) {"self" = 0 : index, "size" = [1 : index, 2 : index, 2 : i64, 16 : i64], mhc.dims = [["s32", "s17", "2", "16"]]} : (tensor<?x?x32xf32>, i64, i64) -> (tensor<?x?x2x16xf32>) loc("view_1"("front.py":11:1))
  %v34 = "aten.pow.Tensor_Scalar"(%v33) {"self" = 0 : index, "exponent" = 2 : i64, mhc.dims = [["s32", "s17", "2", "16"]]} : (tensor<?x?x2x16xf32>) -> (tensor<?x?x2x16xf32>) loc("pow_2"("front.py":19:1))
  %v35 = "aten.sum.dim_IntList"(%v34) {"self" = 0 : index, "dim" = [-1 : i64], "keepdim" = true, mhc.dims = [["s32", "s17", "2", "1"]]} : (tensor<?x?x2x16xf32>) -> (tensor<?x?x2x1xf32>) loc("sum_2"("front.py":19:1))
  %v36 = "aten.add.Tensor"(%v35) {"self" = 0 : index, "other" = 1.0e-06 : f64, "alpha" = 1 : i64, mhc.dims = [["s32", "s17", "2", "1"]]} : (tensor<?x?x2x1xf32>) -> (tensor<?x?x2x1xf32>) loc("add_103"("front.py":19:1))
  %v37 = "aten.rsqrt.default"(%v36) {"self" = 0 : index, mhc.dims = [["s32", "s17", "2", "1"]]} : (tensor<?x?x2x1xf32>) -> (tensor<?x?x2x1xf32>) loc("rsqrt_1"("front.py":19:1))
  %v38 = "aten.mul.Tensor"(%v33, %v37) {"self" = 0 : index, "other" = 1 : index, mhc.dims = [["s32", "s17", "2", "16"]]} : (tensor<?x?x2x16xf32>, tensor<?x?x2x1xf32>) -> (tensor<?x?x2x16xf32>) loc("mul_79"("front.py":19:1))
  %v39 = "aten.unsqueeze.default"(%v32) {"self" = 0 : index, "dim" = 3 : i64, mhc.dims = [["s32", "s17", "2", "1", "16"]]} : (tensor<?x?x2x16xf32>) -> (tensor<?x?x2x1x16xf32>) loc("unsqueeze"("front.py":12:1))
  %v40 = "aten.expand.default"(%v39, %v0, %v1) {"self" = 0 : index, "size" = [1 : index, 2 : index, 2 : i64, 2 : i64, 16 : i64], "implicit" = false, mhc.dims = [["s32", "s17", "2", "2", "16"]]} : (tensor<?x?x2x1x16xf32>, i64, i64) -> (tensor<?x?x2x2x16xf32>) loc("expand"("front.py":12:1))
  %v41 = "aten.clone.default"(%v40) {"self" = 0 : index, "memory_format" = "torch.contiguous_format", mhc.dims = [["s32", "s17", "2", "2", "16"]]} : (tensor<?x?x2x2x16xf32>) -> (tensor<?x?x2x2x16xf32>) loc("clone"("front.py":12:1))
  %v42 = "aten.view.default"(%v41, %v0, %v1) {"self" = 0 : index, "size" = [1 : index, 2 : index, 4 : i64, 16 : i64], mhc.dims = [["s32", "s17", "4", "16"]]} : (tensor<?x?x2x2x16xf32>, i64, i64) -> (tensor<?x?x4x16xf32>) loc("view_2"("front.py":12:1))
  %v43 = "aten.unsqueeze.default"(%v38) {"self" = 0 : index, "dim" = 3 : i64, mhc.dims = [["s32", "s17", "2", "1", "16"]]} : (tensor<?x?x2x16xf32>) -> (tensor<?x?x2x1x16xf32>) loc("unsqueeze_1"("front.py":12:1))
  %v44 = "aten.expand.default"(%v43, %v0, %v1) {"self" = 0 : index, "size" = [1 : index, 2 : index, 2 : i64, 2 : i64, 16 : i64], "implicit" = false, mhc.dims = [["s32", "s17", "2", "2", "16"]]} : (tensor<?x?x2x1x16xf32>, i64, i64) -> (tensor<?x?x2x2x16xf32>) loc("expand_1"("front.py":12:1))
  %v45 = "aten.clone.default"(%v44) {"self" = 0 : index, "memory_format" = "torch.contiguous_format", mhc.dims = [["s32", "s17", "2", "2", "16"]]} : (tensor<?x?x2x2x16xf32>) -> (tensor<?x?x2x2x16xf32>) loc("clone_1"("front.py":12:1))
  %v46 = "aten.view.default"(%v45, %v0, %v1) {"self" = 0 : index, "size" = [1 : index, 2 : index, 4 : i64, 16 : i64], mhc.dims = [["s32", "s17", "4", "16"]]} : (tensor<?x?x2x2x16xf32>, i64, i64) -> (tensor<?x?x4x16xf32>) loc("view_3"("front.py":12:1))
  %v47 = "aten.exp.default"(%v4) {"self" = 0 : index} : (tensor<4xf32>) -> (tensor<4xf32>) loc("exp"("front.py":13:1))
  %v48 = "aten.neg.default"(%v47) {"self" = 0 : index} : (tensor<4xf32>) -> (tensor<4xf32>) loc("neg"("front.py":13:1))
  %v49 = "aten.add.Tensor"(%v6#3, %v5) {"self" = 0 : index, "other" = 1 : index, "alpha" = 1 : i64, mhc.dims = [["s32", "s17", "4"]]} : (tensor<?x?x4xf32>, tensor<4xf32>) -> (tensor<?x?x4xf32>) loc("add_170"("front.py":13:1))
  %v50 = "aten.softplus.default"(%v49) {"self" = 0 : index, "beta" = 1 : i64, "threshold" = 20 : i64, mhc.dims = [["s32", "s17", "4"]]} : (tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>) loc("softplus"("front.py":13:1))
  %v51 = "aten.mul.Tensor"(%v48, %v50) {"self" = 0 : index, "other" = 1 : index, mhc.dims = [["s32", "s17", "4"]]} : (tensor<4xf32>, tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>) loc("mul_131"("front.py":13:1))
  %v52 = "aten.view.default"(%v20#2, %v0, %v1) {"self" = 0 : index, "size" = [1 : index, 2 : index, 4 : i64, 16 : i64], mhc.dims = [["s32", "s17", "4", "16"]]} : (tensor<?x?x64xf32>, i64, i64) -> (tensor<?x?x4x16xf32>) loc("view_4"("front.py":14:1))
  %v53 = "aten.view.default"(%v6#1, %v0, %v1) {"self" = 0 : index, "size" = [1 : index, 2 : index, 4 : i64, 16 : i64], mhc.dims = [["s32", "s17", "4", "16"]]} : (tensor<?x?x64xf32>, i64, i64) -> (tensor<?x?x4x16xf32>) loc("view_5"("front.py":14:1))
  %v54 = "aten.sigmoid.default"(%v6#2) {"self" = 0 : index, mhc.dims = [["s32", "s17", "4"]]} : (tensor<?x?x4xf32>) -> (tensor<?x?x4xf32>) loc("sigmoid"("front.py":14:1))
  return %v42, %v46, %v52, %v53, %v54, %v51 : tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4x16xf32>, tensor<?x?x4xf32>, tensor<?x?x4xf32>
}
