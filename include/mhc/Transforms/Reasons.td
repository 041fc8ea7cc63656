//===- Reasons.td - Why a site stays as it is ----*- tablegen -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One record per reason for which code that looks like mHC is not fused. The codes are fixed: users filter, count and
// search by them. A remark adds the op at fault, what was found there and what was needed.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TRANSFORMS_REASONS
#define MHC_TRANSFORMS_REASONS

class Reason<string pass_, string name_, string meaning_, string change_, bit unfused_ = 1> {
  string pass = pass_;
  string name = name_;       // the code, as in "norm-width" for Reason::normWidth
  string meaning = meaning_; // what is not as it should be
  string change = change_;   // what the author of the program can do about it
  bit unfused = unfused_;    // without it, the site is fused and something else is lost
}
class RaiseReason<string name, string meaning, string change> : Reason<"mhc-raise", name, meaning, change>;
class FuseReason<string name, string meaning, string change, bit unfused = 1>
  : Reason<"mhc-fuse", name, meaning, change, unfused>;
class RecomputeReason<string name, string meaning, string change>
  : Reason<"mhc-autodiff", name, meaning, change, /*unfused=*/0>;
class LayoutReason<string name, string meaning, string change>
  : Reason<"mhc-set-layout", name, meaning, change, /*unfused=*/0>;

//===----------------------------------------------------------------------===//
// Residual maps
//===----------------------------------------------------------------------===//

def : RaiseReason<"sinkhorn-eps", "the normalisations do not all use one eps",
  "add the same eps to every sum, or bound every sum by it">;
def : RaiseReason<"sinkhorn-eps-sign", "the eps of a normalisation is negative or no number",
  "add an eps of at least 0: with another the sums may be 0">;
def : RaiseReason<"sinkhorn-eps-place", "an eps is added to the matrix between two normalisations",
  "add the eps to the sums: m / (sum(m) + eps) in place of m / sum(m) + eps">;
def : RaiseReason<"sinkhorn-axis", "a normalisation sums neither rows nor columns",
  "sum the rows and the columns of each token's matrix in turn">;
def : RaiseReason<"sinkhorn-order", "two normalisations that follow each other sum the same dimension",
  "sum rows and columns in turn, in one order throughout">;
def : RaiseReason<"sinkhorn-odd", "an iteration lacks one of its two normalisations",
  "end with the dimension that is not the first">;
def : RaiseReason<"sinkhorn-divisor", "a normalisation divides by other values than sums of rows or columns",
  "divide by the sums of the matrix that is normalised">;
def : RaiseReason<"sinkhorn-guard", "a selection chooses what a normalisation divides by",
  "add an eps to every sum, or bound every sum by it: sums of exponentials are not zero">;
def : RaiseReason<"sinkhorn-scaling", "factors of rows and columns are not the reciprocals of sums in turn",
  "compute u = 1 / (K v) and v = 1 / (K^T u) in turn from ones, with one eps or none, and u K v once at the end">;
def : RaiseReason<"sinkhorn-start", "what is normalised is no exponential or sigmoid of logits",
  "start from exp, softmax or sigmoid of the residual logits">;
def : RaiseReason<"sinkhorn-rounds", "the matrix, or what scales it, is rounded between two normalisations",
  "iterate in f32, where autocast is off, and round behind the last normalisation if at all">;
def : RaiseReason<"sinkhorn-iterations", "there are more iterations than the op takes",
  "iterate at most 1000 times; 20 are usual">;
def : RaiseReason<"sinkhorn-type", "the iteration is not in f32", "iterate in f32">;
def : RaiseReason<"logits-not-a-value", "the logits of an iteration are no tensor of their own",
  "add up all parts of the residual logits before their exponential is taken">;
def : RaiseReason<"permutation-order", "the softmax weighs no table of all permutations in lexicographic order",
  "list the permutations of n in lexicographic order, as a constant">;

//===----------------------------------------------------------------------===//
// Front ends of gated delta nets
//===----------------------------------------------------------------------===//

def : RaiseReason<"gated-delta-taps", "a convolution is not the causal one of the op",
  "multiply each of the 1 to 8 last tokens by its own column of one weight, the token itself by the last">;
def : RaiseReason<"gated-delta-norm", "the norm of q or k is another one",
  "divide each head by the root of its sum of squares plus an eps">;
def : RaiseReason<"gated-delta-decay", "the decay of the state is another function",
  "compute -exp(A_log) * softplus(alpha + dt_bias)">;

//===----------------------------------------------------------------------===//
// Gates and their projection
//===----------------------------------------------------------------------===//

def : RaiseReason<"alpha-per-column", "the scale of the projection differs from column to column",
  "scale each group of gates, and the residual logits, by one alpha">;
def : RaiseReason<"scale-form", "the projection is scaled by more than one factor per token and one alpha per group",
  "compute s * (x . phi) * alpha + beta, with alpha a stored number">;
def : RaiseReason<"bias-form", "the bias is not one value per row of the projection",
  "store the bias as [2n + n*n], the same for all tokens">;
def : RaiseReason<"gate-function", "a group of the projection goes through another function than a sigmoid",
  "make h_pre and h_post by sigmoids of the scaled projection and a bias, with no other function before or behind">;
def : RaiseReason<"gate-clamp", "a gate, or the residual logits, are bounded by numbers, which no kernel does",
  "leave the bounds away: a sigmoid has its own, and exp does not overflow behind the subtraction of a maximum">;
def : RaiseReason<"gate-rows", "the rows of the projection are read one by one, or in an order that no gates have",
  "keep the rows of h_pre, of h_post and of the residual logits together">;
def : RaiseReason<"norm-per-stream", "the root mean square is taken for each stream on its own",
  "take the mean over all n*C values of a token">;
def : RaiseReason<"x-not-whole", "what is projected are not as many streams as there are gates",
  "project the streams as they are stored, all of them">;
def : RaiseReason<"projection-width", "the projection does not sum over exactly a token's streams",
  "project the flattened streams [M, n*C] by a phi that is a value of its own, [N, n*C]">;
def : RaiseReason<"norm-of-other-tensor", "the root mean square is of another tensor than the projected one",
  "take the root mean square of the streams that are projected">;
def : RaiseReason<"norm-form", "the factor of a token is no reciprocal root mean square",
  "scale the projection by 1/sqrt(mean(x^2) + eps), 1/(sqrt(mean(x^2)) + eps) or 1/max(sqrt(mean(x^2)), eps), or by "
  "nothing per token">;
def : RaiseReason<"norm-width", "the root mean square does not run over all of a token's streams",
  "take the mean over all n*C values of a token">;
def : RaiseReason<"norm-of-other-tokens", "the root mean square is of other tokens than those that it scales",
  "scale each token by its own root mean square">;
def : RaiseReason<"norm-elsewhere", "what is projected comes from outside the function, and the streams as well",
  "take the root mean square of all n*C values in the function that projects: no other norm, and nothing that breaks "
  "the graph between them">;
def : RaiseReason<"projection-behind-call", "a call that no op stands for makes what is projected, and not what h_pre weighs",
  "project the streams that h_pre weighs, with an RMS norm of all n*C values of a token or none: leave away what detaches "
  "or drops them, or another norm, or apply it to what the sublayer reads">;
def : RaiseReason<"second-gate-missing", "only one gate of the projection is there",
  "make h_pre, h_post and the residual logits from consecutive rows of one projection, and use all of them in the "
  "sublayer whose streams are projected">;
def : RaiseReason<"logits-missing", "the residual logits of the projection are not there",
  "make the residual logits from the rows behind both gates, or project the rows of the gates only">;
def : RaiseReason<"gate-used-early", "a gate is used before the inputs of the other gates are known",
  "compute what the gates need before their first use">;
def : RaiseReason<"stored-form", "alpha, beta, phi or x is stored in a form that no kernel reads",
  "pass each as a tensor of its own: x [M, n, C] or [M, C, n], phi [N, n*C] or [n*C, N], alpha [3], beta [N]">;

def : RaiseReason<"projection-type", "streams are mixed by coefficients of a projection in f64",
  "project in f32: kernels sum in f32 or more">;
def : RaiseReason<"projection-per-stream", "the coefficients are projected from one stream, or from a sum of all",
  "nothing: ops project all streams side by side; a mix by other coefficients is an op of its own where it is h_pre x, or "
  "h_res x + h_post y">;
def : RaiseReason<"projection-form", "streams are mixed by coefficients of a product that is read as no projection",
  "project the flattened streams once, scale them per token and group, add a bias, and take sigmoids of two groups">;

def : RaiseReason<"projection-of-other-tensor", "h_pre weighs another tensor than the projected one",
  "project the streams that h_pre weighs, with an RMS norm of all n*C values of a token or none, and no other norm; "
  "where h_pre is meant for another tensor, nothing: these ops are found apart">;

def : RaiseReason<"proof-failed", "the op that was matched computes something else",
  "nothing: the code runs as it is written; please report it, the matcher is wrong">;

//===----------------------------------------------------------------------===//
// Mixes of streams
//===----------------------------------------------------------------------===//

def : RaiseReason<"factor-per-channel", "a factor of the sublayer's output differs per stream and channel",
  "drop from the sublayer's output, or mask it, before h_post multiplies it; or drop from the sum h_res x + h_post y">;
def : RaiseReason<"dropout-of-part", "dropout takes a part only of what is added to the mixed streams",
  "drop from the sum of h_post times the sublayer's output and h_post times the bias">;
def : RaiseReason<"dropout-order", "dropout numbers the elements in another order than that of the streams",
  "drop from [M, n, C] where the streams are [M, n, C], and from [M, C, n] where they are [M, C, n]">;
def : RaiseReason<"branch-not-a-value", "h_post and the sublayer's output are not values of their own",
  "compute the whole of each in f32 before they are multiplied">;
def : RaiseReason<"mix-not-a-value", "the residual matrix or the streams are no values of their own",
  "compute the residual matrix [M, n, n] as one tensor before it mixes the streams">;
def : RaiseReason<"result-wider", "the result is kept in a wider type than the streams",
  "round the result to the type of the streams, or store the streams in the wider type">;
def : RaiseReason<"branch-wider", "the sublayer's output is wider than the streams",
  "round the sublayer's output to the type of the streams">;

def : RaiseReason<"branch-form", "what h_post multiplies has no channels",
  "multiply the sublayer's output [M, C] by h_post">;
def : RaiseReason<"branch-twice", "h_post multiplies more than one tensor",
  "add the outputs of the sublayer before they are multiplied by h_post">;
def : RaiseReason<"combine-form", "the residual matrix mixes streams in a combine of another form",
  "compute h_res x + h_post y as one sum, over all of the channels of a token">;

def : RaiseReason<"aggregate-form", "h_pre is read by code that mixes no streams as an aggregate does",
  "compute u = sum_i h_pre[i] x[i] over all channels of a token">;
def : RaiseReason<"stream-fractions", "the sublayer reads or makes several vectors of a token, such as fractions of its channels",
  "nothing: ops give the sublayer one vector, as wide as a stream, and take one">;
def : RaiseReason<"residual-form", "the residual logits are read by code that makes no known residual map",
  "make one residual map of them: by Sinkhorn iterations, as a mix of all permutations, or the logits themselves, and "
  "detach nothing in it">;

def : RaiseReason<"stream-count", "there is one stream only, or more than 16", "use 2 to 16 streams">;

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

def : FuseReason<"no-projection", "the gates are made from no mhc.projection",
  "compute the projection in the same function as its gates">;
def : FuseReason<"no-aggregate", "h_pre mixes no streams that were projected for it",
  "mix the projected streams by their own h_pre">;
def : FuseReason<"roundings-differ", "h_pre is rounded where it mixes the streams, and not alike where else it is read",
  "round h_pre once, for all that read it">;
def : FuseReason<"fold-rounds", "h_post h_pre^T, or the residual map that it is subtracted from, is rounded before that",
  "subtract in f32, and round the difference", /*unfused=*/0>;
def : FuseReason<"statistic-differs", "the statistic of the gates is not the multiplier of the projection",
  "scale the gates by the reciprocal root mean square that belongs to the projection">;
def : FuseReason<"logits-shared", "the residual logits are not read by one residual map alone",
  "read the residual logits as [M, n, n] or [M, n!], once">;
def : FuseReason<"no-residual-map", "the residual logits leave the function, and no map is made of them there",
  "make the residual map in the function that projects: nothing may break the graph between them">;
def : FuseReason<"projection-shared", "the projection has other users and would be computed twice",
  "read h_pre, h_post and the residual map in place of the projection">;
def : FuseReason<"narrow-shared", "the unused rows of the projection have other users",
  "project the rows that others use on their own", /*unfused=*/0>;
def : FuseReason<"gradient-shared", "the streams' gradient of mhc.post has users besides mhc.pre_bwd",
  "nothing: the program reads the streams at more than one place", /*unfused=*/0>;
def : FuseReason<"gradient-from-elsewhere", "mhc.post_bwd adds to a gradient from elsewhere",
  "nothing: the program reads the streams behind the sublayer at more than one place", /*unfused=*/0>;

def : FuseReason<"boundary-streams", "something else than mhc.post makes the streams that mhc.pre or mhc.head reads",
  "read the streams of the sublayer before as it writes them, in the same layout and type", /*unfused=*/0>;
def : FuseReason<"boundary-form", "the streams change their layout, shape or type between two sublayers",
  "give all sublayers streams of one layout and type", /*unfused=*/0>;
def : FuseReason<"boundary-control-flow", "control flow is between two sublayers",
  "unroll the loop over the layers, or leave the condition out", /*unfused=*/0>;
def : FuseReason<"boundary-gradient-shared", "the gradient of the streams between two sublayers has users besides mhc.post_bwd",
  "nothing: the program reads that gradient itself", /*unfused=*/0>;
def : FuseReason<"boundary-order", "one of the two ops at the boundary of two sublayers needs what the other makes",
  "nothing: the program makes something of the streams that the other op reads", /*unfused=*/0>;

//===----------------------------------------------------------------------===//
// Recomputing
//===----------------------------------------------------------------------===//

def : RecomputeReason<"group-ends", "one mhc.rebuild cannot compute this layer and the one before",
  "give consecutive layers streams of one layout and type, a bias to all or none, and dropouts of one rate and of evenly "
  "spaced stream numbers to all or none">;
def : RecomputeReason<"streams-not-of-post", "the streams stay saved because they are not the output of mhc.post",
  "combine the streams by a residual matrix and h_post, which mhc.post can compute again">;

//===----------------------------------------------------------------------===//
// Layout of streams
//===----------------------------------------------------------------------===//

def : LayoutReason<"layout-shared", "the streams keep their layout: other code makes or reads them as well",
  "write that code for the other layout, or begin with mhc.expand and end with mhc.contract or mhc.head">;
def : LayoutReason<"layout-dropout", "the streams keep their layout: a dropout numbers their elements in memory order",
  "write the streams in the other layout, which drops other elements">;
def : LayoutReason<"layout-open-sizes", "the streams keep their layout: their sizes are open",
  "give the numbers of streams and of channels in the types">;

//===----------------------------------------------------------------------===//
// Graphs of PyTorch
//===----------------------------------------------------------------------===//

def : Reason<"mhc-rewrite-aten", "graph-break", "PyTorch's graph breaks inside a chain, or between it and its streams",
  "move what breaks the graph, such as a print, into the sublayer or between sublayers, or follow PyTorch's hints: they are "
  "in the list of graph breaks">;

#endif // MHC_TRANSFORMS_REASONS
