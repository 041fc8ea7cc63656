//===- TorchOps.td - Ops of PyTorch and of the module mhcc ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mhc-tblgen makes torch.ops.mhc.* and the functions of the module mhcc of it. Tensors, dimensions and attributes are
// those of the op records.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_PYTHON_TORCHOPS
#define MHC_PYTHON_TORCHOPS

include "TorchClasses.td"
include "mhc/IR/MhcOps.td"

def : Torch_Ops<[
  Mhc_PreOp, Mhc_PreBwdOp, Mhc_PostOp, Mhc_PostBwdOp, Mhc_PostPreOp, Mhc_PostPreBwdOp, Mhc_PostHeadOp,
  Mhc_HeadOp, Mhc_HeadBwdOp, Mhc_ProjectionOp, Mhc_ProjectionBwdOp,
  Mhc_GatesOp, Mhc_GatesBwdOp, Mhc_SinkhornOp, Mhc_SinkhornBwdOp, Mhc_PermutationMixOp, Mhc_PermutationMixBwdOp,
  Mhc_AggregateOp, Mhc_AggregateBwdOp, Mhc_ExpandOp, Mhc_ContractOp,
  Mhc_PreGatedDeltaRuleOp, Mhc_PreGatedDeltaRuleBwdOp]>;

def : Torch_Default<"layout", "\"nC\"">;
def : Torch_Default<"phi_layout", "\"out_in\"">;
def : Torch_Default<"norm", "\"inside\"">;
def : Torch_Default<"norm_eps", "1e-6">;
def : Torch_Default<"stat_form", "\"inv_rms\"">;
def : Torch_Default<"pre_eps", "0.0">;
def : Torch_Default<"post_mult", "2.0">;
def : Torch_Default<"res_map", "\"sinkhorn\"">;
def : Torch_Default<"init", "\"softmax_eps\"">;
def : Torch_Default<"order", "\"row_col\"">;
def : Torch_Default<"denom", "\"add\"">;
def : Torch_Default<"eps", "1e-6">;
def : Torch_Default<"sk_eps", "1e-6">;
def : Torch_Default<"iters", "20">;
def : Torch_Default<"fold_pre", "False">;
def : Torch_Default<"orient", "\"oi\"">;
def : Torch_Default<"qk_l2norm", "True">;
def : Torch_Default<"l2_eps", "1e-6">;
def : Torch_Default<"softplus_threshold", "20.0">;
def : Torch_Default<"seq_layout", "\"bMD\"">;

def : Torch_Function<Mhc_PreOp, [Torch_Result<"u">], ["h_in"]>;
def : Torch_Function<Mhc_HeadOp>;
def : Torch_Function<Mhc_ProjectionOp, [Torch_Result<"stat", "stat_form != \"applied\"">]>;
def : Torch_Function<Mhc_GatesOp, [Torch_Result<"h_post", "alpha.shape[0] == 3">,
                                   Torch_Result<"logits", "alpha.shape[0] == 3">]> {
  let sizes = [Mhc_DimRule<"R", "proj.shape[-1] - 2 * n if alpha.shape[0] == 3 else 0">];
}
def : Torch_Function<Mhc_SinkhornOp>;
def : Torch_Function<Mhc_PermutationMixOp>;
def : Torch_Function<Mhc_AggregateOp>;
def : Torch_Function<Mhc_ExpandOp>;
def : Torch_Function<Mhc_ContractOp>;
// D, E and hv give the widths of the heads; the kernel has an error where they do not.
def : Torch_Function<Mhc_PreGatedDeltaRuleOp, [Torch_Result<"gate">]> {
  let sizes = [
    Mhc_DimRule<"dk", "(2 * conv_weight.shape[0] + 2 * A_log.shape[0] - qkvzba.shape[-1]) // max(2 * num_key_heads, 1)">,
    Mhc_DimRule<"dv", "(qkvzba.shape[-1] - conv_weight.shape[0]) // max(A_log.shape[0], 1) - 2">,
    Mhc_DimRule<"F", "0">];
}

#endif // MHC_PYTHON_TORCHOPS
