//===- PostPre.h - post_pre, its gradient, post_head as two kernels -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_POSTPRE_H
#define MHCRT_SRC_POSTPRE_H

#include "KernelArgs.h"

namespace mhcrt {

/// Gives `part` a tensor of `whole`, which may have another name there.
#define MHCRT_TENSOR_AS(part, name, whole, wholeName)                                                                  \
  part.name = whole.wholeName, part.name##_type = whole.wholeName##_type
#define MHCRT_TENSOR(part, name, whole) MHCRT_TENSOR_AS(part, name, whole, name)

/// Operands that post and its gradient read alike.
template <typename Part, typename Whole>
void takePost(Part &part, const Whole &a) {
  MHCRT_TENSOR(part, f, a);
  MHCRT_TENSOR(part, bias, a);
  MHCRT_TENSOR(part, h_post, a);
  MHCRT_TENSOR(part, x, a);
  MHCRT_TENSOR(part, h_res, a);
  MHCRT_TENSOR(part, seed, a);
  part.M = a.M, part.C = a.C, part.n = a.n, part.S = a.S;
  part.layout = a.layout, part.orient = a.orient, part.rate = a.rate, part.stream = a.stream;
  part.equal_x = a.equal_x;
}

/// Operands that pre, head and their gradients read alike, but for x.
template <typename Part, typename Whole>
void takeGates(Part &part, const Whole &a) {
  MHCRT_TENSOR(part, phi, a);
  MHCRT_TENSOR(part, norm_weight, a);
  MHCRT_TENSOR(part, alpha, a);
  MHCRT_TENSOR(part, beta, a);
  MHCRT_TENSOR(part, proj, a);
  MHCRT_TENSOR(part, stat, a);
  part.M = a.M, part.C = a.C, part.n = a.n, part.K = a.K, part.A = a.A;
  part.layout = a.layout, part.phi_layout = a.phi_layout, part.norm = a.norm, part.norm_eps = a.norm_eps;
  part.pre_eps = a.pre_eps, part.precision = a.precision, part.h_pre_format = a.h_pre_format;
}

/// The same of pre and its gradient.
template <typename Part, typename Whole>
void takePre(Part &part, const Whole &a) {
  takeGates(part, a);
  part.N = a.N, part.post_mult = a.post_mult, part.res_map = a.res_map, part.init = a.init;
  part.order = a.order, part.denom = a.denom, part.sk_eps = a.sk_eps, part.iters = a.iters;
  part.fold_pre = a.fold_pre, part.h_post_format = a.h_post_format, part.sk_format = a.sk_format;
  part.solver = a.solver;
}

/// The post that writes y.
inline PostArgs postOf(const PostPreArgs &a) {
  PostArgs post = {};
  takePost(post, a);
  MHCRT_TENSOR_AS(post, out, a, y);
  return post;
}

/// The pre that reads y.
inline PreArgs preOf(const PostPreArgs &a) {
  PreArgs pre = {};
  takePre(pre, a);
  MHCRT_TENSOR_AS(pre, x, a, y);
  MHCRT_TENSOR(pre, h_in, a);
  MHCRT_TENSOR(pre, u, a);
  MHCRT_TENSOR(pre, h_pre, a);
  MHCRT_TENSOR_AS(pre, h_post, a, next_h_post);
  MHCRT_TENSOR_AS(pre, h_res, a, next_h_res);
  pre.h_res_format = a.h_res_format;
  return pre;
}

/// The post whose streams the head reads, into `y`.
inline PostArgs postOf(const PostHeadArgs &a, void *y) {
  PostArgs post = {};
  takePost(post, a);
  post.out = y, post.out_type = a.x_type;
  return post;
}

/// The head that reads `y`.
inline HeadArgs headOf(const PostHeadArgs &a, const void *y) {
  HeadArgs head = {};
  takeGates(head, a);
  head.x = y, head.x_type = a.x_type;
  MHCRT_TENSOR(head, out, a);
  MHCRT_TENSOR(head, h_pre, a);
  return head;
}

/// The post that makes y again, into `y`.
inline PostArgs postOf(const PostPreBwdArgs &a, void *y) {
  PostArgs post = {};
  takePost(post, a);
  post.out = y, post.out_type = a.x_type;
  return post;
}

/// The gradient of the pre that read `y`; that of y goes to `dy`.
inline PreBwdArgs preBwdOf(const PostPreBwdArgs &a, const void *y, void *dy) {
  PreBwdArgs pre = {};
  takePre(pre, a);
  pre.x = y, pre.x_type = a.x_type;
  pre.d_x = dy, pre.d_x_type = a.x_type;
  MHCRT_TENSOR(pre, d_u, a);
  MHCRT_TENSOR(pre, d_h_pre, a);
  MHCRT_TENSOR_AS(pre, d_h_post, a, d_next_h_post);
  MHCRT_TENSOR_AS(pre, d_h_res, a, d_next_h_res);
  MHCRT_TENSOR_AS(pre, d_x_in, a, d_y);
  MHCRT_TENSOR(pre, d_out, a);
  MHCRT_TENSOR_AS(pre, h_res, a, next_h_res);
  MHCRT_TENSOR(pre, d_phi_in, a);
  MHCRT_TENSOR(pre, d_norm_weight_in, a);
  MHCRT_TENSOR(pre, d_alpha_in, a);
  MHCRT_TENSOR(pre, d_beta_in, a);
  MHCRT_TENSOR(pre, d_phi, a);
  MHCRT_TENSOR(pre, d_norm_weight, a);
  MHCRT_TENSOR(pre, d_alpha, a);
  MHCRT_TENSOR(pre, d_beta, a);
  pre.orient = a.next_orient, pre.equal_d_out = a.equal_d_out;
  return pre;
}

/// The gradient of the post that wrote y, of that of y in `dy`.
inline PostBwdArgs postBwdOf(const PostPreBwdArgs &a, const void *dy) {
  PostBwdArgs post = {};
  takePost(post, a);
  post.d_out = dy, post.d_out_type = a.x_type;
  MHCRT_TENSOR(post, d_bias_in, a);
  MHCRT_TENSOR(post, d_f, a);
  MHCRT_TENSOR(post, d_h_post, a);
  MHCRT_TENSOR(post, d_h_res, a);
  MHCRT_TENSOR(post, d_x, a);
  MHCRT_TENSOR(post, d_bias, a);
  return post;
}

#undef MHCRT_TENSOR
#undef MHCRT_TENSOR_AS

} // namespace mhcrt

#endif // MHCRT_SRC_POSTPRE_H
