#!/usr/bin/env python3
"""Writes the mHC part of a transformer with many layers, spelled out in plain tensor ops: input for compile-time tests.

A layer has two sublayers. Each projects its streams, makes gates, runs Sinkhorn in a loop, aggregates, applies
tanh(u @ w) and mixes the result back into the streams; every weight is an argument of the function.

  make_model.py --layers 100 | mhc-opt --canonicalize --cse --mhc-raise --mhc-fuse --mlir-timing -o /dev/null
"""

import argparse
import re

CONSTANTS = """\
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.constant 19 : index
  %M = tensor.dim %x, %c0 : tensor<?xCxf32>
  %eps = arith.constant 1.0e-06 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %root = arith.constant ROOT : f32
  %eps_1 = tensor.splat %eps[%M] : tensor<?x1xf32>
  %one_1 = tensor.splat %one[%M] : tensor<?x1xf32>
  %root_1 = tensor.splat %root[%M] : tensor<?x1xf32>
  %eps_n = tensor.splat %eps[%M] : tensor<?xnxf32>
  %two_n = tensor.splat %two[%M] : tensor<?xnxf32>
  %eps_nn = tensor.splat %eps[%M] : tensor<?xnxnxf32>
  %eps_1n = tensor.splat %eps[%M] : tensor<?x1xnxf32>
  %eps_n1 = tensor.splat %eps[%M] : tensor<?xnx1xf32>
  %x_0 = mhc.broadcast %x dims = [0, 2] : tensor<?xCxf32> -> tensor<?xnxCxf32>
"""

SUBLAYER = """\

  // Sublayer @
  %x_flat_@ = tensor.collapse_shape %x_@ [[0], [1, 2]] : tensor<?xnxCxf32> into tensor<?xKxf32>
  %proj_@ = mhc.matmul %x_flat_@, %phi_@ transpose_rhs : (tensor<?xKxf32>, tensor<NxKxf32>) -> tensor<?xNxf32>
  %square_@ = arith.mulf %x_flat_@, %x_flat_@ : tensor<?xKxf32>
  %sum_@ = mhc.reduce sum %square_@ dims = [1] : tensor<?xKxf32> -> tensor<?xf32>
  %sum_1_@ = tensor.expand_shape %sum_@ [[0, 1]] output_shape [%M, 1] : tensor<?xf32> into tensor<?x1xf32>
  %norm_@ = math.sqrt %sum_1_@ : tensor<?x1xf32>
  %rms_@ = arith.divf %norm_@, %root_1 : tensor<?x1xf32>
  %rms_eps_@ = arith.addf %rms_@, %eps_1 : tensor<?x1xf32>
  %inv_rms_@ = arith.divf %one_1, %rms_eps_@ : tensor<?x1xf32>
  %scale_@ = mhc.broadcast %inv_rms_@ dims = [0, 1] : tensor<?x1xf32> -> tensor<?xNxf32>
  %normed_@ = arith.mulf %scale_@, %proj_@ : tensor<?xNxf32>
  %a0_@ = tensor.extract_slice %alpha_@[0] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %a1_@ = tensor.extract_slice %alpha_@[1] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %a2_@ = tensor.extract_slice %alpha_@[2] [1] [1] : tensor<3xf32> to tensor<1xf32>
  %a_pre_@ = mhc.broadcast %a0_@ dims = [0] : tensor<1xf32> -> tensor<nxf32>
  %a_post_@ = mhc.broadcast %a1_@ dims = [0] : tensor<1xf32> -> tensor<nxf32>
  %a_res_@ = mhc.broadcast %a2_@ dims = [0] : tensor<1xf32> -> tensor<Rxf32>
  %a_@ = tensor.concat dim(0) %a_pre_@, %a_post_@, %a_res_@ : (tensor<nxf32>, tensor<nxf32>, tensor<Rxf32>) -> tensor<Nxf32>
  %a_all_@ = mhc.broadcast %a_@[%M] dims = [1] : tensor<Nxf32> -> tensor<?xNxf32>
  %scaled_@ = arith.mulf %normed_@, %a_all_@ : tensor<?xNxf32>
  %b_all_@ = mhc.broadcast %beta_@[%M] dims = [1] : tensor<Nxf32> -> tensor<?xNxf32>
  %z_@ = arith.addf %scaled_@, %b_all_@ : tensor<?xNxf32>
  %z_pre_@ = tensor.extract_slice %z_@[0, 0] [%M, n] [1, 1] : tensor<?xNxf32> to tensor<?xnxf32>
  %z_post_@ = tensor.extract_slice %z_@[0, n] [%M, n] [1, 1] : tensor<?xNxf32> to tensor<?xnxf32>
  %z_res_@ = tensor.extract_slice %z_@[0, 2n] [%M, R] [1, 1] : tensor<?xNxf32> to tensor<?xRxf32>
  %s_pre_@ = mhc.sigmoid %z_pre_@ : tensor<?xnxf32>
  %h_pre_@ = arith.addf %s_pre_@, %eps_n : tensor<?xnxf32>
  %s_post_@ = mhc.sigmoid %z_post_@ : tensor<?xnxf32>
  %h_post_@ = arith.mulf %s_post_@, %two_n : tensor<?xnxf32>
  %logits_@ = tensor.expand_shape %z_res_@ [[0], [1, 2]] output_shape [%M, n, n] : tensor<?xRxf32> into tensor<?xnxnxf32>
  %soft_@ = mhc.softmax %logits_@ dim = 2 : tensor<?xnxnxf32>
  %start_@ = arith.addf %soft_@, %eps_nn : tensor<?xnxnxf32>
  %cols_@ = mhc.reduce sum %start_@ dims = [1] : tensor<?xnxnxf32> -> tensor<?xnxf32>
  %cols_1_@ = tensor.expand_shape %cols_@ [[0, 1], [2]] output_shape [%M, 1, n] : tensor<?xnxf32> into tensor<?x1xnxf32>
  %cols_eps_@ = arith.addf %cols_1_@, %eps_1n : tensor<?x1xnxf32>
  %cols_all_@ = mhc.broadcast %cols_eps_@ dims = [0, 1, 2] : tensor<?x1xnxf32> -> tensor<?xnxnxf32>
  %first_@ = arith.divf %start_@, %cols_all_@ : tensor<?xnxnxf32>
  %mix_@ = scf.for %i = %c0 to %turns step %c1 iter_args(%it = %first_@) -> (tensor<?xnxnxf32>) {
    %row = mhc.reduce sum %it dims = [2] : tensor<?xnxnxf32> -> tensor<?xnxf32>
    %row_1 = tensor.expand_shape %row [[0], [1, 2]] output_shape [%M, n, 1] : tensor<?xnxf32> into tensor<?xnx1xf32>
    %row_eps = arith.addf %row_1, %eps_n1 : tensor<?xnx1xf32>
    %row_all = mhc.broadcast %row_eps dims = [0, 1, 2] : tensor<?xnx1xf32> -> tensor<?xnxnxf32>
    %by_row = arith.divf %it, %row_all : tensor<?xnxnxf32>
    %col = mhc.reduce sum %by_row dims = [1] : tensor<?xnxnxf32> -> tensor<?xnxf32>
    %col_1 = tensor.expand_shape %col [[0, 1], [2]] output_shape [%M, 1, n] : tensor<?xnxf32> into tensor<?x1xnxf32>
    %col_eps = arith.addf %col_1, %eps_1n : tensor<?x1xnxf32>
    %col_all = mhc.broadcast %col_eps dims = [0, 1, 2] : tensor<?x1xnxf32> -> tensor<?xnxnxf32>
    %by_col = arith.divf %by_row, %col_all : tensor<?xnxnxf32>
    scf.yield %by_col : tensor<?xnxnxf32>
  }
  %pre_@ = mhc.broadcast %h_pre_@ dims = [0, 1] : tensor<?xnxf32> -> tensor<?xnxCxf32>
  %weighted_@ = arith.mulf %x_@, %pre_@ : tensor<?xnxCxf32>
  %u_@ = mhc.reduce sum %weighted_@ dims = [1] : tensor<?xnxCxf32> -> tensor<?xCxf32>
  %lin_@ = mhc.matmul %u_@, %w_@ transpose_rhs : (tensor<?xCxf32>, tensor<CxCxf32>) -> tensor<?xCxf32>
  %f_@ = math.tanh %lin_@ : tensor<?xCxf32>
  %post_@ = mhc.broadcast %h_post_@ dims = [0, 1] : tensor<?xnxf32> -> tensor<?xnxCxf32>
  %f_all_@ = mhc.broadcast %f_@ dims = [0, 2] : tensor<?xCxf32> -> tensor<?xnxCxf32>
  %branch_@ = arith.mulf %post_@, %f_all_@ : tensor<?xnxCxf32>
  %bias_all_@ = mhc.broadcast %bias_@[%M] dims = [2] : tensor<Cxf32> -> tensor<?xnxCxf32>
  %shift_@ = arith.mulf %post_@, %bias_all_@ : tensor<?xnxCxf32>
  %both_@ = arith.addf %branch_@, %shift_@ : tensor<?xnxCxf32>
  %mix_t_@ = mhc.transpose %mix_@ perm = [0, 2, 1] : tensor<?xnxnxf32> -> tensor<?xnxnxf32>
  %mixed_@ = mhc.batch_matmul %mix_t_@, %x_@ : (tensor<?xnxnxf32>, tensor<?xnxCxf32>) -> tensor<?xnxCxf32>
  %x_# = arith.addf %both_@, %mixed_@ : tensor<?xnxCxf32>
"""

WEIGHTS = ["phi_@: tensor<NxKxf32>", "alpha_@: tensor<3xf32>", "beta_@: tensor<Nxf32>", "w_@: tensor<CxCxf32>",
           "bias_@: tensor<Cxf32>"]


def make_model(layers, n, C):
    sizes = {"n": n, "2n": 2 * n, "C": C, "K": n * C, "R": n * n, "N": 2 * n + n * n}

    def fill(text, sublayer=0):
        text = text.replace("@", str(sublayer)).replace("#", str(sublayer + 1)).replace("ROOT", repr((n * C) ** 0.5))
        return re.sub("(?<=[x< ])(2n|[nCKRN])(?=[x,\\]])", lambda name: str(sizes[name.group()]), text)

    count = 2 * layers
    arguments = [fill("%x: tensor<?xCxf32>")]
    arguments += [fill("%" + weight, s) for s in range(count) for weight in WEIGHTS]
    print("func.func @model(" + ", ".join(arguments) + fill(") -> tensor<?xCxf32> {"))
    print(fill(CONSTANTS), end="")
    for sublayer in range(count):
        print(fill(SUBLAYER, sublayer), end="")
    print(fill("  %out = mhc.reduce mean %x_@ dims = [1] : tensor<?xnxCxf32> -> tensor<?xCxf32>", count))
    print(fill("  return %out : tensor<?xCxf32>\n}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=100)
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--channels", type=int, default=64)
    arguments = parser.parse_args()
    make_model(arguments.layers, arguments.streams, arguments.channels)


if __name__ == "__main__":
    main()
