//===- Samples.cpp - Numbers on which slices are compared ------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Samples.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace mhc;
using reference::HostTensor;
using reference::Shape;

/// One row of each kind; another count for the second set, so that what depends on it shows.
static constexpr int64_t kKinds = 5;
static int64_t dynamicSize(SampleSet set) { return set == SampleSet::Plain ? kKinds : kKinds + 1; }

static int64_t sizeOf(const DimAnalysis &dims, Value argument, int64_t dim, int64_t dynamic) {
  auto [factor, symbol] = dims.factors(argument, dim);
  return symbol.empty() ? factor : factor * dynamic;
}

static Shape shapeOf(const DimAnalysis &dims, Value argument, int64_t dynamic) {
  Shape shape;
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  for (int64_t dim = 0; type && dim < type.getRank(); ++dim)
    shape.push_back(type.isDynamicDim(dim) ? sizeOf(dims, argument, dim, dynamic) : type.getDimSize(dim));
  return shape;
}

namespace {
class Sampler {
public:
  explicit Sampler(SampleSet set) : set(set), random(static_cast<int>(set) + 1) {}

  HostTensor operator()(Type type, Shape shape) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor && !isa<FloatType>(type)) // an index is a size
      return HostTensor(static_cast<double>(dynamicSize(set)));
    int64_t count = reference::numElements(shape), row = shape.empty() ? 1 : count / std::max<int64_t>(1, shape[0]);
    bool tokens = tensor && tensor.getRank() > 0 && tensor.isDynamicDim(0);
    bool kinds = tokens || set == SampleSet::Extreme;
    // A matrix of parameters keeps the size of what it multiplies.
    double scale = !tokens && shape.size() == 2 ? 1 / std::sqrt(std::max(shape[0], shape[1])) : 1;
    std::vector<double> elements(count);
    for (int64_t i = 0; i < count; ++i)
      elements[i] = isa<FloatType>(getElementTypeOrSelf(type)) ? scale * number(kinds ? i / row % kKinds : 0)
                                                               : random() % 4; // mostly in bounds, where it is an index
    return {std::move(shape), std::move(elements)};
  }

private:
  double number(int64_t kind) {
    switch (kind) {
    case 1:
      return 1e-4 * normal(); // an epsilon beside its square or its exponential shows
    case 2:
      return 8 * normal();
    case 3:
      return 0;
    case 4:
      return -14 + 1e-3 * normal(); // exp(-14) is about 1e-6
    default:
      return normal();
    }
  }

  /// About normal: four uniforms have the variance 1/3.
  double normal() {
    double sum = -2;
    for (int i = 0; i < 4; ++i)
      sum += static_cast<double>(random() >> 11) * 0x1p-53;
    return sum * std::sqrt(3.0);
  }

  SampleSet set;
  std::mt19937_64 random;
};
} // namespace

Samples mhc::makeSamples(func::FuncOp func, SampleSet set) {
  DimAnalysis dims(func);
  Sampler sampler(set);
  Samples samples;
  for (Value argument : func.getArguments())
    samples.push_back(sampler(argument.getType(), shapeOf(dims, argument, dynamicSize(set))));
  return samples;
}

Samples mhc::disturbed(ArrayRef<HostTensor> samples) {
  std::mt19937_64 random;
  Samples result;
  for (const HostTensor &sample : samples) {
    std::vector<double> elements = sample.values().vec();
    for (double &element : elements)
      element *= random() % 2 ? 1 + 0x1p-24 : 1 - 0x1p-24;
    result.emplace_back(Shape(sample.shape()), std::move(elements));
  }
  return result;
}

static double elementsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  double count = 1;
  for (int64_t size : tensor ? tensor.getShape() : ArrayRef<int64_t>())
    count *= ShapedType::isDynamic(size) ? kKinds : size;
  return count;
}

double mhc::workOf(func::FuncOp func) {
  double work = 0;
  func.walk([&](Operation *op) {
    double own = 0, iterations = 1;
    for (Type type : op->getResultTypes())
      own += elementsOf(type);
    for (Type type : op->getOperandTypes())
      own = std::max(own, elementsOf(type));
    if (isa<MatmulOp>(op)) // M*K times N
      own = std::sqrt(elementsOf(op->getOperand(0).getType()) * elementsOf(op->getOperand(1).getType()) * own);
    for (auto loop = op->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>())
      iterations *= getConstantIntValue(loop.getUpperBound()).value_or(1);
    work += own * iterations;
  });
  return work;
}
