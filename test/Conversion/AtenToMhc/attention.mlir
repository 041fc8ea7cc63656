// RUN: mhc-opt %s --allow-unregistered-dialect --mhc-rewrite-aten | FileCheck %s

// Attention that repeats heads, and a product behind a norm: neither is beside a site.
// CHECK: "calls": [],
// CHECK-NEXT: "missed": [],
// CHECK: "nodes": {}}

func.func @graph(%v0: tensor<32xf32> {mhc.name = "arg0_1"}, %v1: i64 {mhc.name = "arg1_1"}, %v2: i64 {mhc.name = "arg2_1"}, %v3: tensor<?x?x32xf32> {mhc.name = "arg3_1", mhc.dims = ["s77", "s27", "32"]}, %v4: tensor<32x32xf32> {mhc.name = "arg4_1"}, %v5: tensor<8x32xf32> {mhc.name = "arg5_1"}) -> (tensor<?x?x32xf32>) {
  %v6 = "aten.pow.Tensor_Scalar"(%v3) {"self" = 0 : index, "exponent" = 2 : i64, mhc.dims = [["s77", "s27", "32"]]} : (tensor<?x?x32xf32>) -> (tensor<?x?x32xf32>) loc("pow_1"("functional.py":3012:1))
  %v7 = "aten.mean.dim"(%v6) {"self" = 0 : index, "dim" = [2 : i64], "keepdim" = true, mhc.dims = [["s77", "s27", "1"]]} : (tensor<?x?x32xf32>) -> (tensor<?x?x1xf32>) loc("mean"("functional.py":3012:1))
  %v8 = "aten.add.Scalar"(%v7) {"self" = 0 : index, "other" = 1.1920928955078125e-07 : f64, "alpha" = 1 : i64, mhc.dims = [["s77", "s27", "1"]]} : (tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) loc("add_4"("functional.py":3012:1))
  %v9 = "aten.rsqrt.default"(%v8) {"self" = 0 : index, mhc.dims = [["s77", "s27", "1"]]} : (tensor<?x?x1xf32>) -> (tensor<?x?x1xf32>) loc("rsqrt"("functional.py":3012:1))
  %v10 = "aten.mul.Tensor"(%v3, %v9) {"self" = 0 : index, "other" = 1 : index, mhc.dims = [["s77", "s27", "32"]]} : (tensor<?x?x32xf32>, tensor<?x?x1xf32>) -> (tensor<?x?x32xf32>) loc("mul_2"("functional.py":3012:1))
  %v11 = "aten.mul.Tensor"(%v10, %v0) {"self" = 0 : index, "other" = 1 : index, mhc.dims = [["s77", "s27", "32"]]} : (tensor<?x?x32xf32>, tensor<32xf32>) -> (tensor<?x?x32xf32>) loc("mul_3"("functional.py":3012:1))
  %v12 = "aten.t.default"(%v4) {"self" = 0 : index} : (tensor<32x32xf32>) -> (tensor<32x32xf32>) loc("t"("export.py":31:1))
  %v13 = "mul"(%v1, %v2) {"0" = 0 : index, "1" = 1 : index} : (i64, i64) -> (i64) loc("mul_13"("export.py":31:1))
  %v14 = "aten.view.default"(%v11, %v13) {"self" = 0 : index, "size" = [1 : index, 32 : i64], mhc.dims = [["s27*s77", "32"]]} : (tensor<?x?x32xf32>, i64) -> (tensor<?x32xf32>) loc("view"("export.py":31:1))
  %v15 = "aten.mm.default"(%v14, %v12) {"self" = 0 : index, "mat2" = 1 : index, mhc.dims = [["s27*s77", "32"]]} : (tensor<?x32xf32>, tensor<32x32xf32>) -> (tensor<?x32xf32>) loc("mm"("export.py":31:1))
  %v16 = "aten._unsafe_view.default"(%v15, %v1, %v2) {"self" = 0 : index, "size" = [1 : index, 2 : index, 32 : i64], mhc.dims = [["s77", "s27", "32"]]} : (tensor<?x32xf32>, i64, i64) -> (tensor<?x?x32xf32>) loc("_unsafe_view"("export.py":31:1))
  %v17 = "aten.view.default"(%v16, %v1, %v2) {"self" = 0 : index, "size" = [1 : index, 2 : index, 4 : i64, 8 : i64], mhc.dims = [["s77", "s27", "4", "8"]]} : (tensor<?x?x32xf32>, i64, i64) -> (tensor<?x?x4x8xf32>) loc("view_1"("export.py":31:1))
  %v18 = "aten.transpose.int"(%v17) {"self" = 0 : index, "dim0" = 1 : i64, "dim1" = 2 : i64, mhc.dims = [["s77", "4", "s27", "8"]]} : (tensor<?x?x4x8xf32>) -> (tensor<?x4x?x8xf32>) loc("transpose"("export.py":31:1))
  %v19 = "aten.t.default"(%v5) {"self" = 0 : index} : (tensor<8x32xf32>) -> (tensor<32x8xf32>) loc("t_1"("export.py":31:1))
  %v20 = "aten.view.default"(%v11, %v13) {"self" = 0 : index, "size" = [1 : index, 32 : i64], mhc.dims = [["s27*s77", "32"]]} : (tensor<?x?x32xf32>, i64) -> (tensor<?x32xf32>) loc("view_2"("export.py":31:1))
  %v21 = "aten.mm.default"(%v20, %v19) {"self" = 0 : index, "mat2" = 1 : index, mhc.dims = [["s27*s77", "8"]]} : (tensor<?x32xf32>, tensor<32x8xf32>) -> (tensor<?x8xf32>) loc("mm_1"("export.py":31:1))
  %v22 = "aten._unsafe_view.default"(%v21, %v1, %v2) {"self" = 0 : index, "size" = [1 : index, 2 : index, 8 : i64], mhc.dims = [["s77", "s27", "8"]]} : (tensor<?x8xf32>, i64, i64) -> (tensor<?x?x8xf32>) loc("_unsafe_view_1"("export.py":31:1))
  %v23 = "aten.slice.Tensor"(%v22) {"self" = 0 : index, "dim" = 0 : i64, "start" = 0 : i64, "end" = 9223372036854775807 : i64, "step" = 1 : i64, mhc.dims = [["s77", "s27", "8"]]} : (tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>) loc("slice_1"("export.py":32:1))
  %v24 = "aten.unsqueeze.default"(%v23) {"self" = 0 : index, "dim" = 1 : i64, mhc.dims = [["s77", "1", "s27", "8"]]} : (tensor<?x?x8xf32>) -> (tensor<?x1x?x8xf32>) loc("unsqueeze"("export.py":32:1))
  %v25 = "aten.slice.Tensor"(%v24) {"self" = 0 : index, "dim" = 2 : i64, "start" = 0 : i64, "end" = 9223372036854775807 : i64, "step" = 1 : i64, mhc.dims = [["s77", "1", "s27", "8"]]} : (tensor<?x1x?x8xf32>) -> (tensor<?x1x?x8xf32>) loc("slice_2"("export.py":32:1))
  %v26 = "aten.expand.default"(%v25) {"self" = 0 : index, "size" = [-1 : i64, 4 : i64, -1 : i64, -1 : i64], "implicit" = false, mhc.dims = [["s77", "4", "s27", "8"]]} : (tensor<?x1x?x8xf32>) -> (tensor<?x4x?x8xf32>) loc("expand"("export.py":32:1))
  %v27 = "aten.view.default"(%v26, %v1, %v2) {"self" = 0 : index, "size" = [1 : index, 4 : i64, 2 : index, 8 : i64], mhc.dims = [["s77", "4", "s27", "8"]]} : (tensor<?x4x?x8xf32>, i64, i64) -> (tensor<?x4x?x8xf32>) loc("view_3"("export.py":32:1))
  %v28 = "aten.transpose.int"(%v27) {"self" = 0 : index, "dim0" = -1 : i64, "dim1" = -2 : i64, mhc.dims = [["s77", "4", "8", "s27"]]} : (tensor<?x4x?x8xf32>) -> (tensor<?x4x8x?xf32>) loc("transpose_1"("export.py":33:1))
  %v29 = "mul"(%v1) {"0" = 0 : index, "1" = 4 : i64} : (i64) -> (i64) loc("mul_46"("export.py":33:1))
  %v30 = "aten.expand.default"(%v18, %v1, %v2) {"self" = 0 : index, "size" = [1 : index, 4 : i64, 2 : index, 8 : i64], "implicit" = false, mhc.dims = [["s77", "4", "s27", "8"]]} : (tensor<?x4x?x8xf32>, i64, i64) -> (tensor<?x4x?x8xf32>) loc("expand_1"("export.py":33:1))
  %v31 = "aten.clone.default"(%v30) {"self" = 0 : index, "memory_format" = "torch.contiguous_format", mhc.dims = [["s77", "4", "s27", "8"]]} : (tensor<?x4x?x8xf32>) -> (tensor<?x4x?x8xf32>) loc("clone"("export.py":33:1))
  %v32 = "aten._unsafe_view.default"(%v31, %v29, %v2) {"self" = 0 : index, "size" = [1 : index, 2 : index, 8 : i64], mhc.dims = [["4*s77", "s27", "8"]]} : (tensor<?x4x?x8xf32>, i64, i64) -> (tensor<?x?x8xf32>) loc("_unsafe_view_2"("export.py":33:1))
  %v33 = "aten.expand.default"(%v28, %v1, %v2) {"self" = 0 : index, "size" = [1 : index, 4 : i64, 8 : i64, 2 : index], "implicit" = false, mhc.dims = [["s77", "4", "8", "s27"]]} : (tensor<?x4x8x?xf32>, i64, i64) -> (tensor<?x4x8x?xf32>) loc("expand_2"("export.py":33:1))
  %v34 = "aten.clone.default"(%v33) {"self" = 0 : index, "memory_format" = "torch.contiguous_format", mhc.dims = [["s77", "4", "8", "s27"]]} : (tensor<?x4x8x?xf32>) -> (tensor<?x4x8x?xf32>) loc("clone_1"("export.py":33:1))
  %v35 = "aten._unsafe_view.default"(%v34, %v29, %v2) {"self" = 0 : index, "size" = [1 : index, 8 : i64, 2 : index], mhc.dims = [["4*s77", "8", "s27"]]} : (tensor<?x4x8x?xf32>, i64, i64) -> (tensor<?x8x?xf32>) loc("_unsafe_view_3"("export.py":33:1))
  %v36 = "aten.bmm.default"(%v32, %v35) {"self" = 0 : index, "mat2" = 1 : index, mhc.dims = [["4*s77", "s27", "s27"]]} : (tensor<?x?x8xf32>, tensor<?x8x?xf32>) -> (tensor<?x?x?xf32>) loc("bmm"("export.py":33:1))
  %v37 = "aten.view.default"(%v36, %v1, %v2, %v2) {"self" = 0 : index, "size" = [1 : index, 4 : i64, 2 : index, 3 : index], mhc.dims = [["s77", "4", "s27", "s27"]]} : (tensor<?x?x?xf32>, i64, i64, i64) -> (tensor<?x4x?x?xf32>) loc("view_4"("export.py":33:1))
  %v38 = "aten._softmax.default"(%v37) {"self" = 0 : index, "dim" = -1 : i64, "half_to_float" = false, mhc.dims = [["s77", "4", "s27", "s27"]]} : (tensor<?x4x?x?xf32>) -> (tensor<?x4x?x?xf32>) loc("_softmax"("export.py":33:1))
  %v39 = "aten.expand.default"(%v38, %v1, %v2, %v2) {"self" = 0 : index, "size" = [1 : index, 4 : i64, 2 : index, 3 : index], "implicit" = false, mhc.dims = [["s77", "4", "s27", "s27"]]} : (tensor<?x4x?x?xf32>, i64, i64, i64) -> (tensor<?x4x?x?xf32>) loc("expand_3"("export.py":34:1))
  %v40 = "aten.view.default"(%v39, %v29, %v2, %v2) {"self" = 0 : index, "size" = [1 : index, 2 : index, 3 : index], mhc.dims = [["4*s77", "s27", "s27"]]} : (tensor<?x4x?x?xf32>, i64, i64, i64) -> (tensor<?x?x?xf32>) loc("view_5"("export.py":34:1))
  %v41 = "aten.expand.default"(%v27, %v1, %v2) {"self" = 0 : index, "size" = [1 : index, 4 : i64, 2 : index, 8 : i64], "implicit" = false, mhc.dims = [["s77", "4", "s27", "8"]]} : (tensor<?x4x?x8xf32>, i64, i64) -> (tensor<?x4x?x8xf32>) loc("expand_4"("export.py":34:1))
  %v42 = "aten.clone.default"(%v41) {"self" = 0 : index, "memory_format" = "torch.contiguous_format", mhc.dims = [["s77", "4", "s27", "8"]]} : (tensor<?x4x?x8xf32>) -> (tensor<?x4x?x8xf32>) loc("clone_2"("export.py":34:1))
  %v43 = "aten._unsafe_view.default"(%v42, %v29, %v2) {"self" = 0 : index, "size" = [1 : index, 2 : index, 8 : i64], mhc.dims = [["4*s77", "s27", "8"]]} : (tensor<?x4x?x8xf32>, i64, i64) -> (tensor<?x?x8xf32>) loc("_unsafe_view_4"("export.py":34:1))
  %v44 = "aten.bmm.default"(%v40, %v43) {"self" = 0 : index, "mat2" = 1 : index, mhc.dims = [["4*s77", "s27", "8"]]} : (tensor<?x?x?xf32>, tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>) loc("bmm_1"("export.py":34:1))
  %v45 = "aten.view.default"(%v44, %v1, %v2) {"self" = 0 : index, "size" = [1 : index, 4 : i64, 2 : index, 8 : i64], mhc.dims = [["s77", "4", "s27", "8"]]} : (tensor<?x?x8xf32>, i64, i64) -> (tensor<?x4x?x8xf32>) loc("view_6"("export.py":34:1))
  %v46 = "aten.transpose.int"(%v45) {"self" = 0 : index, "dim0" = 1 : i64, "dim1" = 2 : i64, mhc.dims = [["s77", "s27", "4", "8"]]} : (tensor<?x4x?x8xf32>) -> (tensor<?x?x4x8xf32>) loc("transpose_2"("export.py":34:1))
  %v47 = "aten.clone.default"(%v46) {"self" = 0 : index, "memory_format" = "torch.contiguous_format", mhc.dims = [["s77", "s27", "4", "8"]]} : (tensor<?x?x4x8xf32>) -> (tensor<?x?x4x8xf32>) loc("clone_3"("export.py":34:1))
  %v48 = "aten._unsafe_view.default"(%v47, %v1, %v2) {"self" = 0 : index, "size" = [1 : index, 2 : index, 32 : i64], mhc.dims = [["s77", "s27", "32"]]} : (tensor<?x?x4x8xf32>, i64, i64) -> (tensor<?x?x32xf32>) loc("_unsafe_view_5"("export.py":34:1))
  %v49 = "aten.add.Tensor"(%v3, %v48) {"self" = 0 : index, "other" = 1 : index, "alpha" = 1 : i64, mhc.dims = [["s77", "s27", "32"]]} : (tensor<?x?x32xf32>, tensor<?x?x32xf32>) -> (tensor<?x?x32xf32>) loc("add_5"("export.py":34:1))
  return %v49 : tensor<?x?x32xf32>
}
