// RUN: mhc-opt %s -verify-diagnostics -mhc-pipeline-split=stages=9223372036854775807

// expected-error @below {{'f' is to have 9223372036854775807 stages; found 1 'mhc.post' in 1 blocks, needed one for each stage in one block}}
func.func @f(%x: tensor<8x4x16xf32>, %f: tensor<8x16xf32>, %h: tensor<8x4xf32>, %w: tensor<8x4x4xf32>)
    -> tensor<8x4x16xf32> {
  %y = mhc.post(f = %f : tensor<8x16xf32>, h_post = %h : tensor<8x4xf32>, x = %x : tensor<8x4x16xf32>,
                h_res = %w : tensor<8x4x4xf32>) <layout = nC, orient = io> -> (out : tensor<8x4x16xf32>)
  return %y : tensor<8x4x16xf32>
}
