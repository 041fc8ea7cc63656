// RUN: mhc-opt %s -mhc-set-gdn-impl=impl=streamed | FileCheck %s --check-prefix=STREAMED
// RUN: mhc-opt %s -mhc-set-gdn-impl=impl=ref | FileCheck %s --check-prefix=REF
// RUN: mhc-opt %s -mhc-set-gdn-impl | FileCheck %s --check-prefix=OWN
// RUN: not mhc-opt %s -mhc-set-gdn-impl=impl=mega 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: gdn-impl.mlir:[[@LINE+12]]:1: error: 'mega' is no implementation of gated delta; needed 'ref', 'streamed' or 'fused'

// The program's own choice stays; without an option, the function chooses.
// STREAMED-LABEL: func.func @layer
// STREAMED: mhc.pre_gated_delta_rule({{.*}}impl = streamed>
// STREAMED: mhc.pre_gated_delta_rule({{.*}}impl = fused>
// REF-LABEL: func.func @layer
// REF-NOT: mhc.pre_gated_delta_rule
// REF: mhc.shift
// OWN-LABEL: func.func @layer
// OWN: mhc.pre_gated_delta_rule({{.*}}seq_layout = MbD, impl = streamed>

func.func @layer(%x: tensor<?x1x100xbf16>, %w: tensor<64x4xbf16>, %A: tensor<2xf32>)
    -> (tensor<1x?x2xf32>, tensor<1x?x2xf32>) attributes {mhc.gdn_impl = "streamed"} {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x1x100xbf16>,
      conv_weight = %w : tensor<64x4xbf16>, A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x?x2x16xbf16>, key : tensor<1x?x2x16xbf16>, value : tensor<1x?x2x16xbf16>,
        gate : tensor<1x?x2x16xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
  %query2, %key2, %value2, %gate2, %beta2, %g2 = mhc.pre_gated_delta_rule(qkvzba = %x : tensor<?x1x100xbf16>,
      conv_weight = %w : tensor<64x4xbf16>, A_log = %A : tensor<2xf32>, dt_bias = %A : tensor<2xf32>)
    <num_key_heads = 1, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD, impl = fused>
    -> (query : tensor<1x?x2x16xbf16>, key : tensor<1x?x2x16xbf16>, value : tensor<1x?x2x16xbf16>,
        gate : tensor<1x?x2x16xbf16>, beta : tensor<1x?x2xbf16>, g : tensor<1x?x2xf32>)
  return %g, %g2 : tensor<1x?x2xf32>, tensor<1x?x2xf32>
}
