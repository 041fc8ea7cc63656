//===- RandomRules.cpp - Rules for random numbers ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One element at a time and from the definition in mhc/IR/Ops/Random.td, so that it checks the kernels.
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include "mhc/IR/MhcOps.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace mhc;
using namespace mhc::reference;
using llvm::Expected;

namespace {
/// Philox 4x32-10.
class Generator {
public:
  Generator(const HostTensor &seed, uint64_t stream)
      : key(static_cast<int64_t>(seed.data()[0])), offset(static_cast<int64_t>(seed.data()[1])), stream(stream) {}

  uint32_t word(int64_t element) const {
    std::array<uint32_t, 4> c = {low(element / 4), low(stream), low(offset), high(offset)};
    uint32_t k0 = low(key), k1 = high(key);
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      uint64_t even = 0xD2511F53ull * c[0], odd = 0xCD9E8D57ull * c[2];
      c = {high(odd) ^ c[1] ^ k0, low(odd), high(even) ^ c[3] ^ k1, low(even)};
    }
    return c[element % 4];
  }
  double uniform(int64_t element) const { return (word(element) >> 8) / 16777216.0; }
  double normal(int64_t element) const {
    constexpr double kAll = 4294967296.0; // numbers of a word
    int64_t first = element - element % 2;
    double radius = std::sqrt(-2 * std::log((word(first) + 0.5) / kAll));
    double angle = 2 * M_PI * word(first + 1) / kAll;
    return radius * (element % 2 ? std::sin(angle) : std::cos(angle));
  }

private:
  static uint32_t low(uint64_t bits) { return static_cast<uint32_t>(bits); }
  static uint32_t high(uint64_t bits) { return static_cast<uint32_t>(bits >> 32); }

  uint64_t key, offset, stream;
};
} // namespace

static Expected<HostTensor> evaluateRandom(Operation *op, ArrayRef<HostTensor> operands) {
  auto random = cast<RandomOp>(op);
  Generator generator(operands[0], random.getStream());
  std::vector<double> out(random.getOut().getType().getNumElements());
  for (auto [i, value] : llvm::enumerate(out))
    value = random.getDistribution() == Distribution::normal ? generator.normal(i) : generator.uniform(i);
  return HostTensor(Shape(random.getOut().getType().getShape()), std::move(out));
}

static Expected<HostTensor> evaluateDropout(Operation *op, ArrayRef<HostTensor> operands) {
  auto dropout = cast<DropoutOp>(op);
  Generator generator(operands[1], dropout.getStream());
  double rate = dropout.getRate().convertToDouble();
  std::vector<double> out = operands[0].values().vec();
  for (auto [i, value] : llvm::enumerate(out))
    value = generator.uniform(i) >= rate ? value / (1 - rate) : 0;
  return HostTensor(Shape(operands[0].shape()), std::move(out));
}

void mhc::reference::addRandomRules(llvm::StringMap<Rule> &rules) {
  rules["mhc.random"] = evaluateRandom;
  rules["mhc.dropout"] = evaluateDropout;
}
