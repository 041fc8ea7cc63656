// RUN: mhc-opt %s -mhc-decompose -o %t.mlir
// RUN: mhc-opt %t.mlir -mhc-raise | FileCheck %s

// Sequences in a row: shifts that stay in the sequence of each token.

// CHECK-LABEL: @packed
// CHECK-NEXT: mhc.pre_gated_delta_rule(qkvzba = %arg0 : tensor<?x1x200xf32>, conv_weight = %arg1 : tensor<128x4xf32>, A_log = %arg2 : tensor<4xf32>, dt_bias = %arg3 : tensor<4xf32>, cu_seqlens = %arg4 : tensor<?xi32>) <num_key_heads = 2, qk_l2norm = true
// CHECK-NEXT: return %query, %key, %value, %gate, %beta, %g

// One tap without starts.
// RUN: sed 's/\(mhc.shift %[a-z_0-9]*\), %[0-9]*\( dim = 1 by = 2 : tensor<1x?x128xf32>\).*/\1\2/' %t.mlir > %t.without.mlir
// RUN: not diff %t.mlir %t.without.mlir > %t.diff
// RUN: mhc-opt %t.without.mlir -mhc-raise --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=SEVERAL --implicit-check-not=mhc.pre_gated
// SEVERAL: [Missed] gated-delta-taps | {{.*}}Found="taps of several sequences"

// One tap whose sequences start elsewhere.
// RUN: sed -e 's/^.*mhc.sequence_starts %arg4.*/%cut = tensor.extract_slice %arg4[0] [2] [1] : tensor<?xi32> to tensor<2xi32>\n%other = mhc.sequence_starts %cut[%dim] : tensor<2xi32> -> tensor<?xi32>\n&/' \
// RUN:   -e 's/\(mhc.shift %[a-z_0-9]*\), %[0-9]* dim = 1 by = 2/\1, %other dim = 1 by = 2/' %t.mlir > %t.other.mlir
// RUN: mhc-opt %t.other.mlir -mhc-raise --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=SEVERAL --implicit-check-not=mhc.pre_gated

// Starts that something else computes.
// RUN: sed 's/mhc.sequence_starts %arg4.*/tensor.extract_slice %arg4[0] [%dim] [1] : tensor<?xi32> to tensor<?xi32>/' %t.mlir > %t.starts.mlir
// RUN: mhc-opt %t.starts.mlir -mhc-raise --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=STARTS --implicit-check-not=mhc.pre_gated
// STARTS: [Missed] gated-delta-taps | {{.*}}Found="starts of sequences that are computed in another way", Needed="mhc.sequence_starts of cu_seqlens"

// A batch of such rows, which C2 of the op excludes.
// RUN: sed 's/?x1x/?x2x/g; s/1x?x/2x?x/g; s/\[1, %/[2, %/g' %t.mlir > %t.batch.mlir
// RUN: mhc-opt %t.batch.mlir -mhc-raise --remarks-filter='mhc.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=BATCH --implicit-check-not=mhc.pre_gated
// BATCH: [Missed] gated-delta-taps | {{.*}}Found="a batch of rows of sequences", Needed="one row"

func.func @packed(%qkvzba: tensor<?x1x200xf32>, %conv_weight: tensor<128x4xf32>, %A_log: tensor<4xf32>,
                  %dt_bias: tensor<4xf32>, %cu_seqlens: tensor<?xi32>)
    -> (tensor<1x?x4x16xf32>, tensor<1x?x4x16xf32>, tensor<1x?x4x16xf32>, tensor<1x?x4x16xf32>, tensor<1x?x4xf32>,
        tensor<1x?x4xf32>) {
  %query, %key, %value, %gate, %beta, %g = mhc.pre_gated_delta_rule(qkvzba = %qkvzba : tensor<?x1x200xf32>,
      conv_weight = %conv_weight : tensor<128x4xf32>, A_log = %A_log : tensor<4xf32>,
      dt_bias = %dt_bias : tensor<4xf32>, cu_seqlens = %cu_seqlens : tensor<?xi32>)
    <num_key_heads = 2, qk_l2norm = true, l2_eps = 1.0e-06, softplus_threshold = 20.0, seq_layout = MbD>
    -> (query : tensor<1x?x4x16xf32>, key : tensor<1x?x4x16xf32>, value : tensor<1x?x4x16xf32>,
        gate : tensor<1x?x4x16xf32>, beta : tensor<1x?x4xf32>, g : tensor<1x?x4xf32>)
  return %query, %key, %value, %gate, %beta, %g : tensor<1x?x4x16xf32>, tensor<1x?x4x16xf32>, tensor<1x?x4x16xf32>,
      tensor<1x?x4x16xf32>, tensor<1x?x4xf32>, tensor<1x?x4xf32>
}
