//===- Main.cu - Checks and times the backward of pre and projection ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   cuda-bwd [--check] [--few] [--time] [--time-few]      --few: some small shapes, for a sanitizer; --time-few: two
//   shapes
//
// Checks: every output against float64 loops, the same bits twice, a token's d_x the same in a smaller batch. Times:
// the median of graph replays over buffers that do not fit into the second-level cache, beside a copy of the same run.
//
//===------------------------------------------------------------------------===//
#include "Case.h"
#include "cuda/StreamBwd.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>

using namespace mhcrt;

namespace {

bool failed = false;

/// bf16's rounding of d_x is 1.66e-3 by itself. Beyond it comes what W loses in f16: 2^-12 of a product, of which a
/// token with large gradients has more than the root mean square of all tokens says.
constexpr double kDxRelative = 1.8e-3, kDxExcess = 4e-3;

struct ExpectedMemory : Expected {
  std::vector<void *> blocks;
  ExpectedMemory(int64_t M, int64_t C, int64_t iters) {
    dx = make(M * 4 * C), dPhi = make(96 * C), dWeight = make(4 * C), dAlpha = make(3), dBeta = make(24);
    dProj = make(M * 24), scalars = make(M * 5), dW = make(96 * C), dz = make(M * 24), scaled = make(M * 24);
    history = make(M * (2 * iters + 1) * 16);
  }
  ~ExpectedMemory() {
    for (void *block : blocks)
      cudaFree(block);
  }
  double *make(int64_t count) {
    void *block = nullptr;
    CHECK(cudaMalloc(&block, count * 8));
    blocks.push_back(block);
    return static_cast<double *>(block);
  }
};

void judge(std::string &text, const char *name, Error error, double relative, double excess) {
  char buffer[96];
  const bool good = error.relative <= relative && error.excess <= excess;
  std::snprintf(buffer, sizeof buffer, " %s %.1e%s", name, error.relative, good ? "" : " WRONG");
  if (!good)
    std::snprintf(buffer, sizeof buffer, " %s %.1e (most %.1e) WRONG", name, error.relative, error.excess);
  text += buffer;
  failed |= !good;
}

std::string describe(const Options &o) {
  static const char *const inits[] = {"softmax_eps", "exp", "exp_rowmax", "exp_colmax", "log"};
  static const char *const denoms[] = {"add", "clamp", "none"}, *const norms[] = {"inside", "outside", "none"};
  static const char *const starts[] = {"none", "add", "mix"};
  char text[256];
  std::snprintf(text, sizeof text, "M %lld C %lld start %s%s phi %s%s%s norm %s %s%s/%s T %lld%s%s%s%s x %g z %g",
                (long long)o.M, (long long)o.C, starts[(int)o.start], o.orient == MHCRT_ORIENT_IO ? "/io" : "",
                o.phiType == MHCRT_BF16 ? "bf16" : "f32", o.phiLayout == MHCRT_PHI_LAYOUT_IN_OUT ? "/in_out" : "",
                o.weight ? "*weight" : "", norms[o.norm], inits[o.sinkhorn.init],
                o.sinkhorn.order == MHCRT_ORDER_COL_ROW ? "/col" : "", denoms[o.sinkhorn.denom],
                (long long)o.sinkhorn.iters, o.resMap == MHCRT_RES_MAP_IDENTITY ? " identity" : "",
                o.fold ? " fold" : "", o.sums ? " sums" : "", o.dhPre ? " dhPre" : "", o.xScale, o.logitScale);
  return text;
}

void runPre(Case &c, cudaStream_t stream) { CHECK(preBwdPasses(c.pre, c.scratch, multiprocessors(), stream)); }
void runProjection(Case &c, cudaStream_t stream) {
  CHECK(projectionBwdPasses(c.projection, c.scratch, multiprocessors(), stream));
}

std::vector<char> poisonedRun(Case &c, void (*run)(Case &, cudaStream_t)) {
  c.poison();
  run(c, nullptr);
  CHECK(cudaDeviceSynchronize());
  return c.outputs();
}

/// Fewer tokens give the same d_x.
bool sameInSmallerBatch(Case &c, const Options &o, const std::vector<char> &all) {
  const int64_t fewer = (o.M + 2) / 3, bytes = fewer * o.C * 8;
  c.pre.M = fewer;
  std::vector<char> some = poisonedRun(c, runPre);
  c.pre.M = o.M;
  return std::memcmp(all.data(), some.data(), bytes) == 0;
}

void note(std::string &text, bool good, const char *what) {
  if (!good)
    text += what;
  failed |= !good;
}

/// Coefficients' errors grow with the logits: the limits of the sums are for ordinary ones.
void checkPre(const Options &o, uint32_t seed) {
  Case c(o, seed);
  std::string text;
  if (Needs needs; !preBwdTakes(c.pre, needs)) {
    std::printf("pre_bwd    %s: NOT TAKEN, %s\n", describe(o).c_str(), needs.text().c_str());
    failed = true;
    return;
  }
  ExpectedMemory expected(o.M, o.C, o.sinkhorn.iters);
  referencePreBwd(c.pre, expected);
  const std::vector<char> first = poisonedRun(c, runPre);
  judge(text, "dx", compare(c.pre.dx, MHCRT_BF16, expected.dx, o.M * 4 * o.C), kDxRelative, kDxExcess);
  judge(text, "dphi", compare(c.pre.dPhi, MHCRT_F32, expected.dPhi, 96 * o.C), 2e-5, 1e-3);
  if (c.pre.dWeight)
    judge(text, "dweight", compare(c.pre.dWeight, MHCRT_F32, expected.dWeight, 4 * o.C), 2e-5, 1e-3);
  judge(text, "dalpha", compare(c.pre.dAlpha, MHCRT_F32, expected.dAlpha, 3), 2e-5, 1e-3);
  judge(text, "dbeta", compare(c.pre.dBeta, MHCRT_F32, expected.dBeta, 24), 2e-5, 1e-3);
  note(text, first == poisonedRun(c, runPre), " REPEAT DIFFERS");
  note(text, sameInSmallerBatch(c, o, first), " BATCH DIFFERS");
  std::printf("pre_bwd    %s:%s\n", describe(o).c_str(), text.c_str());
}

void checkProjection(const Options &o, uint32_t seed) {
  Case c(o, seed);
  std::string text;
  ExpectedMemory expected(o.M, o.C, 1);
  referenceProjectionBwd(c.projection, expected);
  const std::vector<char> first = poisonedRun(c, runProjection);
  judge(text, "dx", compare(c.pre.dx, MHCRT_BF16, expected.dx, o.M * 4 * o.C), kDxRelative, kDxExcess);
  judge(text, "dphi", compare(c.pre.dPhi, MHCRT_F32, expected.dPhi, 96 * o.C), 2e-5, 1e-3);
  if (c.pre.dWeight)
    judge(text, "dweight", compare(c.pre.dWeight, MHCRT_F32, expected.dWeight, 4 * o.C), 2e-5, 1e-3);
  note(text, first == poisonedRun(c, runProjection), " REPEAT DIFFERS");
  std::printf("projection %s%s:%s\n", describe(o).c_str(), o.meanSquare ? " ms" : "", text.c_str());
}

/// Every option comes up with every other one now and then.
Options randomOptions(uint32_t &state) {
  auto pick = [&](uint32_t count) {
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % count;
  };
  Options o;
  static const int64_t tokens[] = {1, 7, 8, 9, 16, 33, 127, 130, 257, 1000};
  static const int64_t iterations[] = {1, 2, 5, 20, 20, 40};
  o.M = tokens[pick(10)], o.C = 128 * (1 + pick(12));
  o.start = static_cast<Start>(pick(3));
  o.norm = pick(3), o.phiLayout = pick(2), o.phiType = pick(2) ? MHCRT_F32 : MHCRT_BF16;
  o.weight = pick(3) == 0, o.sums = pick(2), o.dhPre = pick(2), o.fold = pick(4) == 0;
  o.resMap = pick(8) ? MHCRT_RES_MAP_SINKHORN : MHCRT_RES_MAP_IDENTITY;
  o.orient = pick(2);
  o.sinkhorn = {static_cast<int32_t>(pick(5)), static_cast<int32_t>(pick(2)), static_cast<int32_t>(pick(3)), 1e-6f,
                iterations[pick(6)]};
  o.meanSquare = pick(2);
  return o;
}

void checkAll(bool few) {
  uint32_t state = 1, seed = 1;
  for (int i = 0; i < (few ? 12 : 2000); ++i) {
    const Options o = randomOptions(state);
    checkPre(o, seed++);
    Options p = o;
    p.start = o.start == Start::kMix ? Start::kNone : o.start;
    if (i % 3 == 0)
      checkProjection(p, seed++);
  }
  if (few)
    return;
  for (const Start start : {Start::kNone, Start::kAdd, Start::kMix}) {
    Options o;
    o.M = 4096, o.C = 4096, o.start = start;
    checkPre(o, seed++);
  }
  for (const int64_t C : {640, 7168, 16384}) {
    Options o;
    o.M = 200, o.C = C;
    checkPre(o, seed++);
    checkProjection(o, seed++);
  }
  Options tiny; // x near the eps of the outer norm: its root mean square is taken from x
  tiny.M = 40, tiny.C = 512, tiny.norm = MHCRT_NORM_OUTSIDE, tiny.xScale = 1e-6f;
  checkPre(tiny, seed++);
  checkProjection(tiny, seed++);
  Options steep; // saturated maps
  steep.M = 64, steep.C = 512, steep.logitScale = 20.0f;
  for (steep.sinkhorn.init = 0; steep.sinkhorn.init < 5; ++steep.sinkhorn.init)
    checkPre(steep, seed++);
}

//===------------------------------------------------------------------------===//
// Times
//===------------------------------------------------------------------------===//

double medianMicroseconds(const std::vector<std::function<void(cudaStream_t)>> &calls, double expected) {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (const auto &call : calls)
    call(stream);
  CHECK(cudaStreamSynchronize(stream));
  const int inner = std::max(1, static_cast<int>(3000 / (expected * calls.size())));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < inner; ++i)
    for (const auto &call : calls)
      call(stream);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphLaunch(executable, stream));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i < 9; ++i) {
    CHECK(cudaEventRecord(begin, stream));
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    times.push_back(0);
    CHECK(cudaEventElapsedTime(&times.back(), begin, end));
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] * 1e3 / (inner * calls.size());
}

/// Not in a graph: copies there go another, slower way.
double copyBandwidth() {
  constexpr int64_t kBytes = int64_t(1) << 30;
  void *from, *to;
  cudaEvent_t begin, end;
  CHECK(cudaMalloc(&from, kBytes));
  CHECK(cudaMalloc(&to, kBytes));
  CHECK(cudaMemset(from, 1, kBytes));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times(11);
  for (float &ms : times) {
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < 4; ++i)
      CHECK(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDeviceToDevice));
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
  }
  std::sort(times.begin(), times.end());
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
  return 8.0 * kBytes / (times[5] * 1e-3);
}

PreBwdRows rowsOf(const Case &c) { return preBwdRows(c.pre, c.scratch, multiprocessors()); }

/// The second launch alone, on whatever the first has left in scratch memory.
StreamBwdArgs streamAlone(const Case &c) {
  const PreBwdRows rows = rowsOf(c);
  StreamBwdArgs pass = {};
  pass.x = c.pre.x, pass.du = c.pre.du, pass.dxIn = c.pre.dxIn, pass.mix = c.pre.mix;
  pass.dProj = rows.dProj, pass.scalars = rows.scalars, pass.partials = rows.products;
  pass.phi = c.pre.phi, pass.dx = c.pre.dx;
  pass.M = c.pre.M, pass.C = c.pre.C, pass.phiType = c.pre.phiType, pass.phiLayout = c.pre.phiLayout;
  return pass;
}

/// The third.
WeightGradArgs restAlone(const Case &c) {
  WeightGradArgs rest = {};
  const PreBwdRows rows = rowsOf(c);
  rest.partials = rows.products, rest.groups = streamBwdGroups(c.pre.M, c.pre.C, multiprocessors());
  rest.phi = c.pre.phi, rest.phiType = c.pre.phiType, rest.phiLayout = c.pre.phiLayout;
  rest.dPhi = c.pre.dPhi, rest.K = 4 * c.pre.C, rest.gatePartials = rows.partials, rest.tiles = rows.tiles;
  rest.dAlpha = c.pre.dAlpha, rest.dBeta = c.pre.dBeta;
  return rest;
}

struct Timing {
  const char *name;
  Start start;
  int bytesPerChannel;
  std::function<void(Case &, cudaStream_t)> run;
};

const std::vector<Timing> &timings() {
  const auto stream = [](bool product) {
    return [product](Case &c, cudaStream_t s) {
      StreamBwdArgs pass = streamAlone(c);
      if (!product)
        pass.partials = nullptr;
      CHECK(streamBwd(pass, multiprocessors(), s));
    };
  };
  static const std::vector<Timing> all = {
      {"pre_bwd reduce", Start::kNone, 10, [](Case &c, cudaStream_t s) { CHECK(preBwdReduce(c.pre, rowsOf(c), s)); }},
      {"weight_grad", Start::kNone, 0, [](Case &c, cudaStream_t s) { CHECK(weightGrad(restAlone(c), s)); }},
      {"pre_bwd stream, add", Start::kAdd, 26, stream(true)},
      {"pre_bwd stream, mix", Start::kMix, 26, stream(true)},
      {"pre_bwd stream, mix, no dphi", Start::kMix, 26, stream(false)},
      {"pre_bwd, no d_x_in", Start::kNone, 28, runPre},
      {"pre_bwd, d_x_in", Start::kAdd, 36, runPre},
      {"pre_bwd, mix", Start::kMix, 36, runPre},
      {"projection_bwd", Start::kNone, 16, runProjection},
      {"projection_bwd, d_x_in", Start::kAdd, 24, runProjection}};
  return all;
}

void timeShape(int64_t M, int64_t C, int32_t phiType, double copy, bool all) {
  for (const Start start : {Start::kNone, Start::kAdd, Start::kMix}) {
    const int64_t setBytes = M * C * 26;
    const int sets = static_cast<int>(std::min<int64_t>(24, std::max<int64_t>(2, (300 << 20) / setBytes + 1)));
    std::vector<std::unique_ptr<Case>> cases;
    Options o;
    o.M = M, o.C = C, o.start = start, o.phiType = phiType;
    for (int i = 0; i < sets; ++i)
      cases.push_back(std::make_unique<Case>(o, 100 + i));
    for (auto &c : cases) // so that a launch alone finds what the ones before it leave
      runPre(*c, nullptr);
    for (const Timing &timing : timings()) {
      if (timing.start != start || (!all && std::strstr(timing.name, "no dphi")))
        continue;
      std::vector<std::function<void(cudaStream_t)>> calls;
      for (auto &c : cases)
        calls.push_back([&timing, &c](cudaStream_t s) { timing.run(*c, s); });
      const double bytes = static_cast<double>(timing.bytesPerChannel) * C * M, floor = bytes / copy * 1e6;
      const double us = medianMicroseconds(calls, std::max(floor, 2.0));
      std::printf("| %-28s | %lldx%lld | %s | %.1f | %.1f | %.0f | %.0f |\n", timing.name, (long long)M, (long long)C,
                  phiType == MHCRT_BF16 ? "bf16" : "f32", us, floor, bytes / us * 1e-3, 100 * floor / us);
      std::fflush(stdout);
    }
  }
}

void timeAll(bool brief) {
  const double copy = copyBandwidth();
  std::printf("copy %.3f TB/s, %d multiprocessors\n", copy * 1e-12, multiprocessors());
  std::printf("| kernel | MxC | phi | us | floor us | GB/s | %% of copy |\n|---|---|---|---|---|---|---|\n");
  timeShape(8192, 4096, MHCRT_F32, copy, true);
  timeShape(8192, 7168, MHCRT_F32, copy, true);
  if (brief)
    return;
  timeShape(8192, 4096, MHCRT_BF16, copy, true);
  timeShape(8192, 2560, MHCRT_F32, copy, false);
  timeShape(4096, 1280, MHCRT_F32, copy, false);
  timeShape(65536, 768, MHCRT_F32, copy, false);
  timeShape(32768, 4096, MHCRT_F32, copy, false);
  timeShape(128, 4096, MHCRT_F32, copy, false);
}

} // namespace

int main(int count, char **arguments) {
  bool check = count == 1, time = count == 1, brief = false, few = false;
  for (int i = 1; i < count; ++i) {
    check |= !std::strcmp(arguments[i], "--check");
    time |= !std::strcmp(arguments[i], "--time");
    few |= !std::strcmp(arguments[i], "--few");
    brief |= !std::strcmp(arguments[i], "--time-few");
  }
  if (check || few)
    checkAll(few);
  if (time || brief)
    timeAll(brief);
  std::printf(failed ? "FAILED\n" : "all good\n");
  return failed;
}
