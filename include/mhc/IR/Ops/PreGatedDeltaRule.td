//===- PreGatedDeltaRule.td - The front end of a gated delta net layer ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_PREGATEDDELTARULE
#define MHC_IR_OPS_PREGATEDDELTARULE

include "mhc/IR/MhcBase.td"

def Mhc_HeadCount : ConfinedAttr<I64Attr, [Mhc_IntRange<1, 65536>]>;
def Mhc_TapCount : Mhc_DimBound<"k", 1, 8>;

/// The projection, of which z is read where it is copied.
def Mhc_WithGate : Mhc_Flippable<Mhc_Floats, ["M", "b", "D"], ["b", "M", "D"], "seq_layout"> {
  let elementsRead = "b*M*(gate_count > 0 ? D : E + 2*hv)";
}
/// The projection without z, whose gradient is that of the gate.
def Mhc_WithoutGate : Mhc_Flippable<Mhc_Floats, ["M", "b", "D"], ["b", "M", "D"], "seq_layout"> {
  let elementsRead = "b*M*(E + 2*hv)";
}

/// Operands that the front end of a gated delta net and its gradient share, and the sizes of both.
class Mhc_GatedDeltaBase<string mnemonic, list<Trait> traits> : Mhc_KernelOp<mnemonic, traits> {
  dag inputs = (ins
    Mhc_LikeOrF32<"qkvzba", ["E", "k"]>:$conv_weight, Optional<Mhc_LikeOrF32<"qkvzba", ["E"]>>:$conv_bias,
    Mhc_LikeOrF32<"qkvzba", ["hv"]>:$A_log, Mhc_LikeOrF32<"qkvzba", ["hv"]>:$dt_bias,
    Optional<Mhc_Cuts<"M", ["s"]>>:$cu_seqlens,
    Optional<Mhc_FlippableLike<"qkvzba", ["p", "b", "E"], ["b", "p", "E"], "seq_layout">>:$left_boundary);
  dag options = (ins Mhc_HeadCount:$num_key_heads, BoolAttr:$qk_l2norm, Mhc_Eps:$l2_eps,
    Mhc_Factor:$softplus_threshold, Mhc_SeqLayoutAttr:$seq_layout, Mhc_Optional<Mhc_GdnImplAttr, "fused">:$impl);
  list<Mhc_DimRule> sizes = [Mhc_DimRule<"E", "2*num_key_heads*dk + hv*dv">, Mhc_DimRule<"D", "E + hv*dv + 2*hv">,
                             Mhc_DimRule<"p", "k - 1">];
  let dimRules = sizes;
  let dimBounds = [Mhc_TapCount, Mhc_DimBound<"b", 1>, Mhc_DimBound<"hv", 1>, Mhc_DimBound<"dk", 1>,
                   Mhc_DimBound<"dv", 1>, Mhc_DimBound<"s", 1>];
  let verifyExtra = 1;
  let roundsInside = 1;
}

def Mhc_PreGatedDeltaRuleOp : Mhc_GatedDeltaBase<"pre_gated_delta_rule",
    [DeclareOpInterfaceMethods<DecomposableOpInterface>, DeclareOpInterfaceMethods<DifferentiableOpInterface>,
     DeclareOpInterfaceMethods<FlattenableOpInterface>, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "Compute all inputs of the gated delta rule from one projection, in one pass";
  let description = [{
    Everything between the input projection of a gated delta net layer and the recurrence (math.md 3.11): a causal
    depthwise convolution, SiLU, the norm of q and k, the repetition of their heads, and the gates g and beta.

        a[m,c] = conv_bias[c] + sum_j conv_weight[c,j] * x[m-(k-1)+j,c]       u = a / (1 + exp(-a))
        query[h] = u / sqrt(sum u^2 + l2_eps) of q-head floor(h * num_key_heads / hv), key alike, value = u, gate = z
        beta = 1/(1 + exp(-b))       g = -exp(A_log) * softplus(alpha + dt_bias)

    `D` holds q and k of `num_key_heads` heads of `dk` channels, v and z of `hv` heads of `dv`, then b and alpha of `hv`;
    E are the channels of q, k and v, which are convolved. Tokens before the first one of a sequence count as zero, or
    are those of `left_boundary`, the last k - 1 of the sequence's part that another device has. With `cu_seqlens`,
    which starts at 0, does not decrease and ends at M, the tokens are a row of sequences one behind the other.
    Where the alpha + dt_bias is above `softplus_threshold` the softplus is that sum itself.

    Sums are in f32. Results of 16 bits: a is rounded, u of q and k is rounded before the norm, and every result but g
    once, when it is stored. The results are stored sequence first. `silu` is u of q and k. The order of the results is
    fixed; `gate` may be absent, where z is read in `qkvzba` itself.

    C1: hv is a multiple of num_key_heads. C2: `cu_seqlens` goes with b = 1 and without `left_boundary`.

    ```mlir
    func.func @pre_gated_delta_rule(%qkvzba: tensor<?x1x100xbf16>, %conv_weight: tensor<64x4xbf16>,
                                    %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
        -> (tensor<1x?x2x16xbf16>, tensor<1x?x2x16xbf16>, tensor<1x?x2x16xbf16>, tensor<1x?x2x16xbf16>,
            tensor<1x?x2xbf16>, tensor<1x?x2xf32>) {
      %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %qkvzba : tensor<?x1x100xbf16>,
          conv_weight = %conv_weight : tensor<64x4xbf16>, A_log = %A_log : tensor<2xf32>,
          dt_bias = %dt_bias : tensor<2xf32>)
        <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0,
         seq_layout = MbD>
        -> (query : tensor<1x?x2x16xbf16>, key : tensor<1x?x2x16xbf16>, value : tensor<1x?x2x16xbf16>,
            gate : tensor<1x?x2x16xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
      return %query, %key, %value, %gate, %beta, %g : tensor<1x?x2x16xbf16>, tensor<1x?x2x16xbf16>,
          tensor<1x?x2x16xbf16>, tensor<1x?x2x16xbf16>, tensor<1x?x2xbf16>, tensor<1x?x2xf32>
    }
    ```
  }];
  let arguments = !con((ins Mhc_WithGate:$qkvzba), inputs, options);
  let results = (outs Mhc_Like<"qkvzba", ["b", "M", "hv", "dk"]>:$query, Mhc_Like<"qkvzba", ["b", "M", "hv", "dk"]>:$key,
    Mhc_Like<"qkvzba", ["b", "M", "hv", "dv"]>:$value, Optional<Mhc_Like<"qkvzba", ["b", "M", "hv", "dv"]>>:$gate,
    Mhc_Like<"qkvzba", ["b", "M", "hv"]>:$beta, Mhc_Tensor<[F32], ["b", "M", "hv"]>:$g,
    Optional<Mhc_Like<"qkvzba", ["b", "M", "F"]>>:$silu);
  let flops = "b*M*(E*(2*k + 4) + (qk_l2norm ? 6*num_key_heads*dk : 0) + 10*hv)";
  let dimRules = sizes # [Mhc_DimRule<"F", "2*num_key_heads*dk">];
}

def Mhc_PreGatedDeltaRuleBwdOp : Mhc_GatedDeltaBase<"pre_gated_delta_rule_bwd",
    [DeclareOpInterfaceMethods<DecomposableOpInterface>, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "Gradients of mhc.pre_gated_delta_rule, in one pass";
  let description = [{
    The gradients of the operands from those of the results (math.md 3.11). a and u are computed again. A gradient that
    is absent counts as zero, one that is no result is not computed; `d_z` of the operand is not read but copied from
    `d_gate`, and zero without it. Sums over tokens are in f32 and in a fixed order. The constraints are those of `mhc.pre_gated_delta_rule`.

    C1: hv is a multiple of num_key_heads. C2: `cu_seqlens` goes with b = 1 and without `left_boundary`. C3:
    `d_conv_bias` and `d_left_boundary` need the operand.

    ```mlir
    func.func @pre_gated_delta_rule_bwd(%d_query: tensor<1x?x2x16xbf16>, %d_key: tensor<1x?x2x16xbf16>,
                                        %d_value: tensor<1x?x2x16xbf16>, %d_gate: tensor<1x?x2x16xbf16>,
                                        %d_beta: tensor<1x?x2xbf16>, %d_g: tensor<1x?x2xf32>,
                                        %qkvzba: tensor<?x1x100xbf16>, %conv_weight: tensor<64x4xbf16>,
                                        %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>)
        -> (tensor<?x1x100xbf16>, tensor<64x4xf32>) {
      %d_qkvzba, %d_conv_weight = mhc.pre_gated_delta_rule_bwd(d_query = %d_query : tensor<1x?x2x16xbf16>,
          d_key = %d_key : tensor<1x?x2x16xbf16>, d_value = %d_value : tensor<1x?x2x16xbf16>,
          d_gate = %d_gate : tensor<1x?x2x16xbf16>, d_beta = %d_beta : tensor<1x?x2xbf16>, d_g = %d_g : tensor<1x?x2xf32>,
          qkvzba = %qkvzba : tensor<?x1x100xbf16>, conv_weight = %conv_weight : tensor<64x4xbf16>,
          A_log = %A_log : tensor<2xf32>, dt_bias = %dt_bias : tensor<2xf32>)
        <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0,
         seq_layout = MbD>
        -> (d_qkvzba : tensor<?x1x100xbf16>, d_conv_weight : tensor<64x4xf32>)
      return %d_qkvzba, %d_conv_weight : tensor<?x1x100xbf16>, tensor<64x4xf32>
    }
    ```
  }];
  let arguments = !con((ins Mhc_Like<"qkvzba", ["b", "M", "hv", "dk"]>:$d_query,
    Mhc_Like<"qkvzba", ["b", "M", "hv", "dk"]>:$d_key, Mhc_Like<"qkvzba", ["b", "M", "hv", "dv"]>:$d_value,
    Optional<Mhc_Like<"qkvzba", ["b", "M", "hv", "dv"]>>:$d_gate, Mhc_Like<"qkvzba", ["b", "M", "hv"]>:$d_beta,
    Mhc_Tensor<[F32], ["b", "M", "hv"]>:$d_g,
    Mhc_WithoutGate:$qkvzba), inputs, options);
  let results = (outs
    Optional<Mhc_FlippableLike<"qkvzba", ["M", "b", "D"], ["b", "M", "D"], "seq_layout">>:$d_qkvzba,
    Optional<Mhc_WeightGradient<["E", "k"]>>:$d_conv_weight, Optional<Mhc_WeightGradient<["E"]>>:$d_conv_bias,
    Optional<Mhc_WeightGradient<["hv"]>>:$d_A_log, Optional<Mhc_WeightGradient<["hv"]>>:$d_dt_bias,
    Optional<Mhc_FlippableLike<"qkvzba", ["p", "b", "E"], ["b", "p", "E"], "seq_layout">>:$d_left_boundary);
  let flops = "b*M*(E*(6*k + 12) + (qk_l2norm ? 14*num_key_heads*dk : 0) + 4*hv*dk + 20*hv)";
}

#endif // MHC_IR_OPS_PREGATEDDELTARULE
