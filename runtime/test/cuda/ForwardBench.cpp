//===- ForwardBench.cpp - Checks and times of the fast kernels ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mhcrt-cuda-bench [--check] [--time] [--only=NAMES]
// Built without the project, in runtime/:
//   nvcc -gencode=arch=compute_90a,code=sm_90a -O3 -std=c++17 --extended-lambda --expt-relaxed-constexpr -cudart static
//     -I. -Iinclude cuda/*_sm90.cu cuda/*_n4.cu cuda/TensorMap.cu cuda/Needs.cpp src/CallState.cpp
//     test/cuda/*.cu test/cuda/*.cpp -o mhcrt-cuda-bench
// Checks against loops in f64: every width, ragged numbers of tokens, attributes at random; the same bits over runs and
// over cuts of the batch. Times: graph replays over inputs that exceed the caches, beside a copy of the same run.
//
//===------------------------------------------------------------------------===//
#include "Cases.h"
#include "mhcrt/kernels.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>

using namespace mhcrt::test;

using Maker = Case (*)(int64_t, int64_t, const Options &);

static int failures = 0;
static std::map<std::string, double> worst; ///< error of each output over all checks
static int checks = 0;

static void fail(const Case &c, const std::string &what) {
  ++failures;
  std::printf("FAILED %s, M %ld, C %ld: %s\n", c.name.c_str(), long(c.M), long(c.C), what.c_str());
  std::fflush(stdout);
}

static std::vector<uint64_t> run(const Case &c, int64_t tokens, int64_t hashed) {
  for (const Output &output : c.outputs)
    poison(output.buffer);
  check(c.launch(tokens, nullptr), c.name.c_str());
  std::vector<uint64_t> hashes;
  for (const Output &output : c.outputs)
    hashes.push_back(hash(output.buffer, hashed * output.perToken));
  return hashes;
}

/// The largest error over its limit.
static void checkCase(const Case &c) {
  ++checks;
  if (!c.takes.empty())
    return fail(c, c.takes);
  const int64_t some = std::max<int64_t>(1, c.M * 2 / 3);
  const std::vector<uint64_t> cut = run(c, some, some), first = run(c, c.M, some), again = run(c, c.M, some);
  if (first != again)
    fail(c, "other bits in the second run");
  if (cut != first)
    fail(c, "other bits with fewer tokens");
  const std::vector<Buffer> expected = c.reference();
  for (size_t k = 0; k < c.outputs.size(); ++k) {
    const Output &output = c.outputs[k];
    const double distance = error(output.buffer, expected[k], c.M * output.perToken);
    double &most = worst[c.name + " " + output.name];
    most = std::max(most, distance);
    if (!(distance <= output.limit))
      fail(c, output.name + " is off by " + std::to_string(distance));
  }
}

static constexpr int64_t kWidths[] = {768, 1280, 2048, 2560, 4096, 5120, 6144, 7168};

/// Attributes at random; the ring takes bf16 only.
static Options draw(std::mt19937 &random, bool ring, uint64_t seed) {
  const auto below = [&](int n) { return static_cast<int32_t>(random() % n); };
  constexpr int32_t kTypes[] = {MHCRT_BF16, MHCRT_F16, MHCRT_F32};
  Options o;
  o.seed = seed;
  o.type = ring ? MHCRT_BF16 : kTypes[below(3)];
  o.phiType = below(3) ? MHCRT_F32 : MHCRT_BF16;
  o.weightType = below(2) ? MHCRT_NONE : below(2) ? MHCRT_F32 : MHCRT_BF16;
  const int bias = below(3);
  o.biasType = bias == 0 ? MHCRT_NONE : bias == 1 ? MHCRT_F32 : o.type;
  o.phiLayout = below(2), o.norm = below(3), o.orient = below(2), o.statForm = below(3);
  o.resMap = below(4) ? MHCRT_RES_MAP_SINKHORN : MHCRT_RES_MAP_IDENTITY;
  o.init = below(5), o.order = below(2), o.denom = below(3), o.iters = 1 + below(20);
  o.foldPre = below(4) == 0, o.saves = below(2), o.wantsDx = below(2), o.startsDx = o.wantsDx && below(2),
  o.anyArch = below(2);
  return o;
}

static void checkAll(const std::string &name, Maker maker, bool ring) {
  std::mt19937 random(7);
  uint64_t seed = 1;
  for (const int64_t C : kWidths) {
    for (const int64_t M : {1, 7, 8, 15, 16, 17, 127, 1000})
      checkCase(maker(M, C, draw(random, ring, seed += 10)));
    checkCase(maker(8192, C, draw(random, ring, seed += 10)));
  }
  for (int k = 0; k < 60; ++k) { // more attributes, and for the streaming kernels other widths
    const int64_t C = ring ? kWidths[random() % 8] : 8 * (1 + random() % 300);
    checkCase(maker(1 + random() % 300, C, draw(random, ring, seed += 10)));
  }
  std::printf("checked %-14s %d calls so far, %d failures\n", name.c_str(), checks, failures);
  std::fflush(stdout);
}

static void timeCase(Maker maker, int64_t M, int64_t C, Options options, double copy) {
  constexpr double kCaches = 150e6; // three times the second-level cache
  std::vector<Case> sets;
  sets.push_back(maker(M, C, options));
  const int count = std::clamp(static_cast<int>(kCaches / sets[0].bytes) + 1, 2, 40);
  while (static_cast<int>(sets.size()) < count) {
    options.seed += 10;
    sets.push_back(maker(M, C, options));
  }
  std::vector<std::function<void(cudaStream_t)>> calls;
  for (const Case &c : sets)
    calls.push_back([&c](cudaStream_t stream) { check(c.launch(c.M, stream), c.name.c_str()); });
  const double limit = sets[0].bytes / copy, us = microseconds(calls, std::max(limit, 5.0));
  std::printf("| %-24s | %5ldx%-4ld | %7.1f | %6.1f | %5.0f | %5.1f |\n", sets[0].name.c_str(), long(M), long(C), us,
              limit, sets[0].bytes / us / 1e3, 100 * limit / us);
  std::fflush(stdout);
}

struct Shape {
  int64_t M, C;
};

static void timeAll(const std::string &only, int multiprocessors) {
  const double copy = copySpeed();
  std::printf("copy of 1 GiB: %.0f GB/s\n| kernel | shape | us | limit | GB/s | %% |\n|---|---|---|---|---|---|\n",
              copy / 1e3);
  Options plain, withDx, adding;
  plain.multiprocessors = withDx.multiprocessors = adding.multiprocessors = multiprocessors;
  withDx.wantsDx = adding.wantsDx = adding.startsDx = true;
  const struct {
    const char *name;
    Maker maker;
    Options options;
    bool main;
  } kernels[] = {{"pre", preCase, plain, true},
                 {"projection", projectionCase, plain, true},
                 {"post_bwd", postBwdCase, plain, true},
                 {"post", postCase, plain, true},
                 {"aggregate", aggregateCase, plain, true},
                 {"post_bwd", postBwdCase, withDx, true},
                 {"aggregate_bwd", aggregateBwdCase, withDx, false},
                 {"aggregate_bwd", aggregateBwdCase, adding, false},
                 {"expand", expandCase, plain, false},
                 {"contract", contractCase, plain, false}};
  for (const auto &kernel : kernels) {
    if (!only.empty() && only.find(kernel.name) == std::string::npos)
      continue;
    const std::vector<Shape> most = {{8192, 4096},  {8192, 7168}, {8192, 2560}, {8192, 1280}, {4096, 1280},
                                     {32768, 4096}, {65536, 768}, {128, 4096},  {8192, 2048}, {8192, 5120},
                                     {8192, 6144},  {16, 4096},   {16, 1280},   {1024, 4096}};
    const std::vector<Shape> some = {{8192, 4096}, {8192, 7168}, {4096, 1280}, {128, 4096}};
    for (const Shape shape : kernel.main ? most : some)
      timeCase(kernel.maker, shape.M, shape.C, kernel.options, copy);
  }
}

int main(int argc, char **argv) {
  std::string only;
  bool checksToo = false, times = false;
  for (int k = 1; k < argc; ++k) {
    checksToo |= !std::strcmp(argv[k], "--check");
    times |= !std::strcmp(argv[k], "--time");
    if (!std::strncmp(argv[k], "--only=", 7))
      only = argv[k] + 7;
  }
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  const struct {
    const char *name;
    Maker maker;
    bool ring;
  } kernels[] = {
      {"pre", preCase, true},        {"projection", projectionCase, true}, {"post_bwd", postBwdCase, false},
      {"post", postCase, false},     {"aggregate", aggregateCase, false},  {"aggregate_bwd", aggregateBwdCase, false},
      {"expand", expandCase, false}, {"contract", contractCase, false}};
  if (checksToo) {
    for (const auto &kernel : kernels)
      if (only.empty() || only.find(kernel.name) != std::string::npos)
        checkAll(kernel.name, kernel.maker, kernel.ring);
    for (const auto &entry : worst)
      std::printf("worst %-34s %.1e\n", entry.first.c_str(), entry.second);
  }
  if (times)
    timeAll(only, properties.multiProcessorCount);
  return failures != 0;
}
