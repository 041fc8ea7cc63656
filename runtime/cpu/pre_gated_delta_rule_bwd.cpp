//===- pre_gated_delta_rule_bwd.cpp - Gradients of that front end ---------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   du = r*(dy - r^2*u*sum dy*u) of q and k, dy the sum over copies, r = 1/sqrt(sum u^2 + l2_eps); du = d_value of v
//   da = du * s*(1 + a*(1 - s)), s = sigmoid(a)
//   dx[n,c] = sum_j w[c,j] * da[n+(k-1)-j,c]      dw[c,j] = sum_n da[n,c] * x[n-(k-1)+j,c]      db[c] = sum_n da[n,c]
//   d_b = d_beta * beta*(1 - beta)                d_alpha = d_g * -exp(A_log) * sigmoid(alpha + dt_bias)
//   d_A_log = sum d_g * g                         d_dt_bias = sum d_alpha
//
// Plan    Head by head as pre_gated_delta_rule, in short loops: a, then du and da of a token's channels in a row, then
//         the sums and dx of a pair of vectors down all tokens, with sums and weights in registers. A run of tokens
//         keeps the da of the last k - 1 tokens of each head and its partial sums in the second-level cache, so that x
//         and the gradients are read once; dx follows da by k - 1 tokens, so a run computes the da of k - 1 tokens
//         more. A tile is a run, or a share of its heads where there are few. Large results bypass the caches.
// Bytes   per token 2*hv*(dk + dv) + hv of the gradients, 4*hv, E + 2*hv of x and D of dx.
// Needs   scratch memory of 4*(k + 1)*E for each run and 4*(3*k + 1)*E for each thread, and 4*(k + 31) of a head's
//         width; streaming stores need heads and rows of a multiple of 64 bytes.
// Round   a and u as in pre_gated_delta_rule, each result once. Sums over tokens are those of 128 tokens, compensated.
//
//===------------------------------------------------------------------------===//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pre_gated_delta_rule_bwd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "cpu/GatedDeltaBwd-inl.h"

#include "cpu/Entry.h"
#include "cpu/Partials.h"
#include "cpu/Tokens.h"
#include "src/Checks.h"

HWY_BEFORE_NAMESPACE();
namespace mhcrt {
namespace HWY_NAMESPACE {

/// The tokens of a run whose results are stored.
struct Run {
  int64_t first, last;
};

/// Where the gradient of the input of token n goes, one of a piece's sequence or of the k - 1 before it; null where it
/// is not wanted or another run's.
template <typename T>
HWY_INLINE T *inputRow(const GatedDeltaBwdCall &args, const Piece &piece, Run run, int64_t n, int64_t channel) {
  const int64_t owner = HWY_MAX(n, piece.begin);
  if (owner < run.first || owner >= run.last)
    return nullptr;
  if (n >= piece.begin)
    return args.d_qkvzba ? static_cast<T *>(args.d_qkvzba) + piece.rowOf(n) * args.D + channel : nullptr;
  return args.d_left_boundary
             ? static_cast<T *>(args.d_left_boundary) + boundaryRowOf(args, piece, piece.begin - n) * args.E + channel
             : nullptr;
}

/// dx of what has its last term in a piece, which is more where its sequence ends. The da of token n is at
/// das[(n - piece.n + k - 1)*pad].
template <bool kStream, typename T>
HWY_INLINE void inputsBwd(const GatedDeltaBwdCall &args, const Piece &piece, Run run, int64_t head, const float *das) {
  const int64_t k = args.k, pad = args.heads.pad(head), width = args.heads.width(head), last = piece.n + piece.count;
  const float *planes = args.planes + (k + 1) * args.heads.plane(head);
  const int64_t start = piece.n - (k - 1), stop = last == piece.end ? last : last - (k - 1);
  T *to[kMostRows];
  for (int64_t n = start; n < stop; ++n)
    to[n - start] = inputRow<T>(args, piece, run, n, args.heads.channel(head));
  for (int64_t n = start; n < stop;) {
    const int64_t groups = n >= piece.begin ? HWY_MAX((last - (k - 1) - n) / kTogether, 0) : 0;
    const float *da = das + (n - start) * pad;
    T *const *row = to + (n - start);
    if (groups == 0)
      inputTokens<1, 0, false>(da, planes, width, pad, k, HWY_MAX(piece.begin - n, 0), HWY_MIN(k, last - n), 1, row);
    else if (k == 4)
      inputTokens<kTogether, 4, kStream>(da, planes, width, pad, k, 0, k, groups, row);
    else
      inputTokens<kTogether, 0, kStream>(da, planes, width, pad, k, 0, k, groups, row);
    n += groups ? groups * kTogether : 1;
  }
}

template <bool kStream, typename T>
HWY_INLINE void headBwd(const GatedDeltaBwdCall &args, const Piece &piece, Run run, int64_t head, int64_t ahead,
                        const GatedDeltaRoom &room) {
  const Heads &heads = args.heads;
  const int64_t k = args.k, pad = heads.pad(head), hv = heads.values;
  const TapRows<T> taps = tapRows<T>(args, piece, heads.channel(head));
  convolveHead(args, piece, head, taps.rows, ahead, room.u);
  float *carry = room.carry + (k - 1) * heads.plane(head), *da = room.da + (k - 1) * pad;
  if (heads.isValue(head))
    valueHeadBwd(static_cast<const T *>(args.d_value) + (piece.n * hv + head - 2 * heads.keys) * heads.dv,
                 hv * heads.dv, piece.count, heads.dv, pad, room.u, da);
  else
    keyHeadBwd(args,
               static_cast<const T *>(head < heads.keys ? args.d_query : args.d_key) +
                   (piece.n * hv + heads.copy(head)) * heads.dk,
               hv * heads.dk, piece.count, pad, room.u, da);
  float *sums = room.sums + (k + 1) * heads.plane(head);
  if (args.wantsSums() && piece.n < run.last)
    args.d_conv_bias ? sumHead<true>(args, piece, head, taps.rows, da, sums)
                     : sumHead<false>(args, piece, head, taps.rows, da, sums);
  if (!args.wantsInputs())
    return;
  std::memcpy(room.da, carry, (k - 1) * pad * sizeof(float));
  inputsBwd<kStream, T>(args, piece, run, head, room.da);
  std::memcpy(carry, room.da + piece.count * pad, (k - 1) * pad * sizeof(float));
}

/// The gradients of one token's beta and g, and what they add to sums[2][padded hv].
template <typename T>
HWY_INLINE void gatesBwd(const GatedDeltaBwdCall &args, const Piece &piece, int64_t n, float *sums) {
  const int64_t hv = args.hv, row = piece.rowOf(n) * args.D + args.E + hv * args.dv;
  const T *raw = static_cast<const T *>(args.qkvzba) + row, *dBeta = static_cast<const T *>(args.d_beta) + n * hv;
  T *to = args.d_qkvzba ? static_cast<T *>(args.d_qkvzba) + row : nullptr;
  const V one = hn::Set(d, 1.0f), threshold = hn::Set(d, static_cast<float>(args.softplus_threshold));
  float *shifts = sums + Heads::padded(hv);
  const float *shift = args.planes + args.gateSums(), *rate = shift + Heads::padded(hv);
  for (int64_t h = 0; h < hv; h += kLanes) {
    const int64_t count = hv - h;
    const V p = hn::Add(loadSome(raw + hv + h, count), load(shift + h));
    const V grad = hn::Mul(load(rate + h), loadSome(floats(args.d_g) + n * hv + h, count));
    const V dAlpha = hn::Mul(grad, hn::IfThenElse(hn::Gt(p, threshold), one, sigmoid(p)));
    const V beta = sigmoid(loadSome(raw + h, count));
    store(hn::MulAdd(grad, softplus(p, threshold), load(sums + h)), sums + h);
    store(hn::Add(dAlpha, load(shifts + h)), shifts + h);
    if (!to)
      continue;
    storeSome(hn::Mul(loadSome(dBeta + h, count), hn::Mul(beta, hn::Sub(one, beta))), to + h, count);
    storeSome(dAlpha, to + hv + h, count);
  }
}

/// The gradient of z of token n: zeros where there is none of the gate.
template <bool kStream, typename T>
HWY_INLINE void gateBwd(const GatedDeltaBwdCall &args, const Piece &piece, HeadRange z, int64_t n) {
  T *to = static_cast<T *>(args.d_qkvzba) + piece.rowOf(n) * args.D + args.E + z.first;
  if (args.d_gate)
    copyBits<kStream>(static_cast<const T *>(args.d_gate) + n * args.hv * args.dv + z.first, z.last - z.first,
                      kAheadBytes / sizeof(T), to);
  else
    std::memset(static_cast<void *>(to), 0, (z.last - z.first) * sizeof(T));
}

/// The channels of token n that are not convolved.
template <bool kStream, typename T>
HWY_INLINE void restOfTokenBwd(const GatedDeltaBwdCall &args, const Piece &piece, HeadRange range, int64_t n,
                               float *sums) {
  if (args.d_qkvzba)
    gateBwd<kStream, T>(args, piece, args.heads.valueChannels(range), n);
  if (range.last == args.heads.count())
    gatesBwd<T>(args, piece, n, sums);
}

template <bool kStream, typename T>
HWY_INLINE void gatedDeltaBwdTyped(const GatedDeltaBwdCall &args, HeadRange range, Run run, int64_t first, int64_t last,
                                   const GatedDeltaRoom &room) {
  const bool isConvolved = args.wantsSums() || args.wantsInputs();
  constexpr int64_t kSpan = kSpanTokens / 2; // it has three times the forward's rows
  Piece pieces[kSpanTokens];
  for (int64_t span = first; span < last; span += kSpan) {
    const int64_t count = spanPieces(args, span, HWY_MIN(last, span + kSpan), pieces);
    for (int64_t head = range.first; isConvolved && head < range.last; ++head)
      for (int64_t i = 0; i < count; ++i)
        headBwd<kStream, T>(args, pieces[i], run, head, aheadOf(args, range, head, 1, kSpan * pieces[i].step), room);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t t = 0; t < pieces[i].count && pieces[i].n < run.last; ++t)
        restOfTokenBwd<kStream, T>(args, pieces[i], range, pieces[i].n + t, room.sums + args.gateSums());
  }
  if (kStream)
    hwy::FlushStream();
}

/// Tokens [first, last) of some heads, which follow those of the call before. Behind the run's last there is no more
/// than the dx of the run. z goes with v, the gates with the last head.
void gatedDeltaBwdTokens(const GatedDeltaBwdCall &args, HeadRange range, int64_t runFirst, int64_t runLast,
                         int64_t first, int64_t last, const GatedDeltaRoom &room) {
  const Run run = {runFirst, runLast};
  const bool streams = args.bypasses && kPair * mhcrt_dtype_bytes(args.qkvzba_type) >= kAlignment;
  if (args.qkvzba_type == MHCRT_F32)
    streams ? gatedDeltaBwdTyped<true, float>(args, range, run, first, last, room)
            : gatedDeltaBwdTyped<false, float>(args, range, run, first, last, room);
  else if (args.qkvzba_type == MHCRT_BF16)
    streams ? gatedDeltaBwdTyped<true, Bf16>(args, range, run, first, last, room)
            : gatedDeltaBwdTyped<false, Bf16>(args, range, run, first, last, room);
  else
    gatedDeltaBwdTyped<false, F16>(args, range, run, first, last, room);
}

void gatedDeltaBwdWeights(const GatedDeltaBwdCall &args, int64_t head) {
  if (args.qkvzba_type == MHCRT_BF16)
    headPlanes<Bf16>(args, args.heads, head, args.planes);
  else
    headPlanes<float>(args, args.heads, head, args.planes);
}

/// One head's planes of sums to its rows of d_conv_weight and d_conv_bias.
template <typename T>
HWY_INLINE void storeSums(const GatedDeltaBwdCall &args, int64_t head, const float *sums) {
  const int64_t k = args.k, pad = args.heads.pad(head), width = args.heads.width(head);
  const int64_t first = args.heads.channel(head);
  float *weight = floats(args.d_conv_weight), *bias = floats(args.d_conv_bias);
  for (int64_t c = 0; c < width; c += kPair)
    for (int64_t j = 0; j <= k; ++j) {
      HWY_ALIGN float row[kPair];
      V a, b;
      loadPlane(sums + j * pad + c, a, b);
      storePairAs<false, T>(a, b, row);
      float *to = j < k ? weight : bias;
      const int64_t step = j < k ? k : 1, at = (first + c) * step + (j < k ? j : 0);
      for (int64_t i = 0; to && i < HWY_MIN(kPair, width - c); ++i)
        to[at + i * step] = row[i];
    }
}

void gatedDeltaBwdSums(const GatedDeltaBwdCall &args, int64_t head, const float *sums) {
  sums += (args.k + 1) * args.heads.plane(head);
  if (args.qkvzba_type == MHCRT_BF16)
    storeSums<Bf16>(args, head, sums);
  else
    storeSums<float>(args, head, sums);
}

} // namespace HWY_NAMESPACE
} // namespace mhcrt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mhcrt {
HWY_EXPORT(gatedDeltaBwdTokens);
HWY_EXPORT(gatedDeltaBwdWeights);
HWY_EXPORT(gatedDeltaBwdSums);
} // namespace mhcrt

using namespace mhcrt;

/// Runs of tokens that have partial sums, whole multiples of kRunTokens.
static constexpr int64_t kRuns = 16;
/// Tokens of a run that plain sums add.
static constexpr int64_t kSumTokens = 128;

/// The sums of a head range's tile: a part of those of its run, and of the gates where it has the last head.
static HeadRange sumsOf(const GatedDeltaBwdCall &args, HeadRange range) {
  const int64_t first = (args.k + 1) * args.heads.plane(range.first);
  return {first, range.last == args.heads.count() ? args.sums() : (args.k + 1) * args.heads.plane(range.last)};
}

static void runTile(const GatedDeltaBwdCall &args, const TokenRuns &runs, int64_t run, HeadRange range,
                    const GatedDeltaRoom &room, float *partials) {
  const int64_t first = runs.first(run), last = runs.last(run), behind = std::min(runs.M, last + args.k - 1);
  const HeadRange part = sumsOf(args, range);
  const int64_t count = part.last - part.first;
  const CompensatedSums sums = {partials + part.first, room.rests + part.first};
  const auto tokens = [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(gatedDeltaBwdTokens)(args, range, first, last, begin, end, room);
  };
  sums.clear(count);
  const int64_t planes = (args.k - 1) * args.heads.plane(range.first);
  std::fill_n(room.carry + planes, (args.k - 1) * args.heads.plane(range.last) - planes, 0.0f);
  for (int64_t n = first; n < last; n += kSumTokens) {
    std::fill_n(room.sums + part.first, count, 0.0f);
    tokens(n, std::min(last, n + kSumTokens));
    sums.add(room.sums + part.first, count);
  }
  sums.store(sums.sums, count);
  if (args.wantsInputs())
    tokens(last, behind);
}

/// Adds the partial sums up, to those of the first run, and stores them.
static void addRuns(mhcrt_context &context, const GatedDeltaBwdCall &args, int64_t runs, float *partials) {
  const int64_t gates = args.gateSums(), stride = args.sums();
  if (args.wantsSums())
    context.parallelFor(args.heads.count(), [&](int64_t head, int) {
      const HeadRange part = {(args.k + 1) * args.heads.plane(head), (args.k + 1) * args.heads.plane(head + 1)};
      addPartials(partials, runs, stride, part.first, part.last, nullptr, partials);
      HWY_DYNAMIC_DISPATCH(gatedDeltaBwdSums)(args, head, partials);
    });
  if (args.d_A_log)
    addPartials(partials + gates, runs, stride, 0, args.hv, nullptr, floats(args.d_A_log));
  if (args.d_dt_bias)
    addPartials(partials + gates + Heads::padded(args.hv), runs, stride, 0, args.hv, nullptr, floats(args.d_dt_bias));
}

mhcrt_status mhcrt::runPreGatedDeltaRuleBwd(mhcrt_context &context, const PreGatedDeltaRuleBwdArgs &a) {
  if (!checkPreGatedDeltaRuleBwd(context, a, Ids::OnHost))
    return context.status;
  const int64_t tokens = a.M * a.b, size = mhcrt_dtype_bytes(a.qkvzba_type);
  const bool bypasses = a.d_qkvzba && streams(a.d_qkvzba, tokens, a.D * size) && a.dk * size % kAlignment == 0 &&
                        a.dv * size % kAlignment == 0;
  GatedDeltaBwdCall args = {a, Heads(a), nullptr, bypasses};
  const TokenRuns runs(tokens, kRunTokens, kRuns);
  const int64_t planes = args.sums(), sums = saturatingMul(std::max<int64_t>(1, runs.count), args.sums());
  if (!context.reserveScratch("mhcrt_pre_gated_delta_rule_bwd", saturatingMul(4, saturatingAdd(planes, sums)),
                              4 * GatedDeltaRoom::floats(args)))
    return context.status;

  args.planes = reinterpret_cast<float *>(context.sharedScratch());
  float *partials = args.planes + planes;
  context.parallelFor(args.heads.count() + 1,
                      [&](int64_t head, int) { HWY_DYNAMIC_DISPATCH(gatedDeltaBwdWeights)(args, head); });
  const GatedDeltaTiles tiles(args.heads, runs.count, context.pool.threads());
  context.parallelFor(tiles.count(), [&](int64_t tile, int thread) {
    const int64_t run = tiles.run(tile);
    const GatedDeltaRoom room(args, reinterpret_cast<float *>(context.threadScratch(thread)));
    runTile(args, runs, run, tiles.heads(tile), room, partials + run * args.sums());
  });
  addRuns(context, args, runs.count, partials);
  if (tokens == 0 && a.d_left_boundary)
    std::memset(a.d_left_boundary, 0, a.p * a.b * a.E * size);
  return MHCRT_OK;
}

MHCRT_ENTRY(pre_gated_delta_rule_bwd, PreGatedDeltaRuleBwd)
#endif // HWY_ONCE
