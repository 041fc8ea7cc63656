// RUN: mhc-opt %s -mhc-bufferize -verify-diagnostics

func.func @size_of_nobody(%proj: tensor<?x?xf32>, %stat: tensor<?xf32>, %alpha: tensor<3xf32>, %beta: tensor<?xf32>)
    -> tensor<?x?xf32> {
  // expected-error @below {{'mhc.gates' op has a result whose size none of its operands has}}
  %h_pre, %h_post, %logits = mhc.gates(proj = %proj : tensor<?x?xf32>, stat = %stat : tensor<?xf32>,
      alpha = %alpha : tensor<3xf32>, beta = %beta : tensor<?xf32>)
    <stat_form = inv_rms, norm_eps = 0.0, pre_eps = 1.0e-06, post_mult = 2.0>
    -> (h_pre : tensor<?x4xf32>, h_post : tensor<?x4xf32>, logits : tensor<?x?xf32>)
  return %logits : tensor<?x?xf32>
}
