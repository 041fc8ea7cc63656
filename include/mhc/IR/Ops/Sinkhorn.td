//===- Sinkhorn.td - Residual maps: Sinkhorn and permutation mixture ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_IR_OPS_SINKHORN
#define MHC_IR_OPS_SINKHORN

include "mhc/IR/MhcBase.td"

def Mhc_SinkhornOp : Mhc_KernelOp<"sinkhorn", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                               DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "Project mixing logits onto doubly stochastic matrices";
  let description = [{
    `iters` times divides the rows and the columns of each matrix by their sums, in the order `order`, starting from
    (math.md 3.4)

    - `softmax_eps`: the softmax of each row plus eps, which counts as the first row step;
    - `exp`, `exp_rowmax`, `exp_colmax`, `exp_max`: exp of the logits, shifted by nothing or by the maximum of the row,
      the column or the matrix;
    - `sigmoid`, `sigmoid_eps`: the sigmoid of the logits, and the same plus eps;
    - `log`: the logits; every step subtracts a log-sum-exp, and the exponential comes last.

    `denom` says how eps enters a division; `log` knows no eps. The last step is exact, the other direction converges.
    With `potentials` the start K is kept and scaled: the result is diag(u) K diag(v), a row step sets u to 1 / (K v +
    eps), a column step v to 1 / (K^T u + eps), and both begin as ones. Without eps that is `none`.

    With `format` `bf16` or `f16` the iteration runs as in a program whose tensors have that type: the logits and eps are
    rounded to it, and so is the result of every op. With r for a rounding, which is to nearest even, and sums in f32:

    - the start is r(softmax(z)) or r(sigmoid(z)), and then r(y + eps), or r(exp(z)), or r(exp(r(z - max)));
    - a step divides by s = r(sum y), by r(s + eps), or by max(s, eps): r(y / s);
    - a step of `log` is r(z - r(max + r(log s))) with s = r(sum r(exp(r(z - max)))), and the end is r(exp(z)).

    With `solver` `newton` the result is the limit of these iterations from exp of the logits: the matrix
    diag(e^u) exp(Z) diag(e^v) whose rows and columns all sum to 1, which is unique. At most `iters` safeguarded Newton
    steps on u lead to it, and v makes the columns exact after each. A matrix has no more steps once it is there: logits
    of a standard deviation of 3 take 4 or 5 (math.md 3.4).

    C1: `softmax_eps` needs order `row_col` and iters of at least 1. C2: `log` needs denom `none`. C3: `potentials` need
    `format` `f32`. C4: `newton` needs init `log`, order `row_col` and `format` `f32`: a limit has no start and no order.

    ```mlir
    func.func @sinkhorn(%logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
      %mix = mhc.sinkhorn(logits = %logits : tensor<?x4x4xf32>)
        <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20> -> (mix : tensor<?x4x4xf32>)
      return %mix : tensor<?x4x4xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_Tensor<[F32], ["M", "n", "n"]>:$logits, Mhc_InitAttr:$init, Mhc_OrderAttr:$order,
    Mhc_DenomAttr:$denom, Mhc_Eps:$eps, Mhc_IterCount:$iters, Mhc_OptionalFormat:$format,
    Mhc_OptionalSolver:$solver);
  let results = (outs Mhc_Tensor<[F32], ["M", "n", "n"]>:$mix);
  let flops = "M*n*n*(solver == 1 ? 7*n + 25 : 4*iters)"; // of five steps
  let verifyExtra = 1;
}

def Mhc_SinkhornBwdOp : Mhc_KernelOp<"sinkhorn_bwd", [DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Gradient of mhc.sinkhorn with respect to the logits";
  let description = [{
    Runs the iterations of `mhc.sinkhorn` again and then every step backwards (math.md 3.4): a step `y = x / d` gives
    `d_x = (d_y - sum(d_y * y)) / d`, without the sum where a clamp is active; a step in log space `d_x = d_y -
    exp(y) * sum(d_y)`; a step of potentials passes what its factors get to K and to the other factors. Exact for the
    number of iterations that was run. The shift by a maximum is differentiated as well: only without eps does it cancel.
    The constraints are those of `mhc.sinkhorn`.

    Of `newton` it is the gradient of the limit: with H the result and G its gradient, `d_logits[i,j] = H[i,j] (G[i,j] -
    a[i] - b[j])`, where a and b make all rows and columns of it sum to 0. One linear system of n - 1 unknowns gives
    them, and no step is run backwards.

    Of a `mhc.sinkhorn` with a `format` the gradient is the same, at the rounded logits: the derivative of a rounding
    counts as one, and the iteration runs in f32. A program that differentiates its own iteration in bf16 rounds the
    gradient at every step: with n = 4 that moves it by 1 % of a matrix's largest element, and by 4 % in one matrix of a
    hundred, whether the iteration was rounded or not.

    ```mlir
    func.func @sinkhorn_bwd(%d_mix: tensor<?x4x4xf32>, %logits: tensor<?x4x4xf32>) -> tensor<?x4x4xf32> {
      %d_logits = mhc.sinkhorn_bwd(d_mix = %d_mix : tensor<?x4x4xf32>, logits = %logits : tensor<?x4x4xf32>)
        <init = softmax_eps, order = row_col, denom = add, eps = 1.0e-06, iters = 20>
        -> (d_logits : tensor<?x4x4xf32>)
      return %d_logits : tensor<?x4x4xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_Tensor<[F32], ["M", "n", "n"]>:$d_mix, Mhc_Tensor<[F32], ["M", "n", "n"]>:$logits,
    Mhc_InitAttr:$init, Mhc_OrderAttr:$order, Mhc_DenomAttr:$denom, Mhc_Eps:$eps, Mhc_IterCount:$iters,
    Mhc_OptionalSolver:$solver);
  let results = (outs Mhc_Tensor<[F32], ["M", "n", "n"]>:$d_logits);
  let flops = "M*n*n*(solver == 1 ? 10*n + 40 : 12*iters)";
  let verifyExtra = 1;
}

def Mhc_PermutationMixOp : Mhc_KernelOp<"permutation_mix", [DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                                            DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "Mix all permutation matrices by the softmax of their logits";
  let description = [{
    `mix[m] = sum_p softmax(logits[m])[p] * P_p`, permutations in lexicographic order with the identity first
    (math.md 3.5). Doubly stochastic for any logits, without iterations. n is at most 6: R is n!.

    ```mlir
    func.func @permutation_mix(%logits: tensor<?x24xf32>) -> tensor<?x4x4xf32> {
      %mix = mhc.permutation_mix(logits = %logits : tensor<?x24xf32>) -> (mix : tensor<?x4x4xf32>)
      return %mix : tensor<?x4x4xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_Tensor<[F32], ["M", "R"]>:$logits);
  let results = (outs Mhc_Tensor<[F32], ["M", "n", "n"]>:$mix);
  let flops = "M*R*(n + 4)";
  let dimRules = [Mhc_DimRule<"R", "factorial(n)">];
  let verifyExtra = 1;
}

def Mhc_PermutationMixBwdOp
    : Mhc_KernelOp<"permutation_mix_bwd", [DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Gradient of mhc.permutation_mix with respect to the logits";
  let description = [{
    `d_a[m,p] = sum_r d_mix[m, r, perm_p(r)]`, then the gradient of the softmax (math.md 3.5).

    ```mlir
    func.func @permutation_mix_bwd(%d_mix: tensor<?x4x4xf32>, %logits: tensor<?x24xf32>) -> tensor<?x24xf32> {
      %d_logits = mhc.permutation_mix_bwd(d_mix = %d_mix : tensor<?x4x4xf32>, logits = %logits : tensor<?x24xf32>)
        -> (d_logits : tensor<?x24xf32>)
      return %d_logits : tensor<?x24xf32>
    }
    ```
  }];
  let arguments = (ins Mhc_Tensor<[F32], ["M", "n", "n"]>:$d_mix, Mhc_Tensor<[F32], ["M", "R"]>:$logits);
  let results = (outs Mhc_Tensor<[F32], ["M", "R"]>:$d_logits);
  let flops = "M*R*(n + 8)";
  let dimRules = [Mhc_DimRule<"R", "factorial(n)">];
  let verifyExtra = 1;
}

#endif // MHC_IR_OPS_SINKHORN
