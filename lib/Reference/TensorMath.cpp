//===- TensorMath.cpp - Arithmetic of leaf ops ---------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMath.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace mhc::reference;
using llvm::ArrayRef;

Shape mhc::reference::stridesOf(ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

/// The walk below, of a shape that has elements.
template <typename A, typename B, typename Step>
static void walkElements(A *a, B *b, ArrayRef<int64_t> shape, ArrayRef<int64_t> stridesA, ArrayRef<int64_t> stridesB,
                         Step step) {
  if (shape.empty())
    return step(*a, *b);
  int64_t strideA = stridesA.front(), strideB = stridesB.front();
  if (shape.size() == 1) {
    for (int64_t i = 0; i < shape.front(); ++i)
      step(a[i * strideA], b[i * strideB]);
    return;
  }
  for (int64_t i = 0; i < shape.front(); ++i)
    walkElements(a + i * strideA, b + i * strideB, shape.drop_front(), stridesA.drop_front(), stridesB.drop_front(),
                 step);
}

/// Calls `step(a, b)` for every index of `shape`, in order; a and b advance by their strides. They are null where there
/// is no element.
template <typename A, typename B, typename Step>
static void walk(A *a, B *b, ArrayRef<int64_t> shape, ArrayRef<int64_t> stridesA, ArrayRef<int64_t> stridesB,
                 Step step) {
  if (!llvm::is_contained(shape, 0))
    walkElements(a, b, shape, stridesA, stridesB, step);
}

//===----------------------------------------------------------------------===//
// Moving elements
//===----------------------------------------------------------------------===//

/// A tensor of `shape` whose element at an index is `source` advanced by `strides`.
static HostTensor gather(const double *source, Shape shape, ArrayRef<int64_t> strides) {
  std::vector<double> out(numElements(shape));
  walk(out.data(), source, shape, stridesOf(shape), strides, [](double &to, double from) { to = from; });
  return {std::move(shape), std::move(out)};
}

HostTensor mhc::reference::splat(double value, Shape shape) {
  std::vector<double> out(numElements(shape), value);
  return {std::move(shape), std::move(out)};
}

HostTensor mhc::reference::broadcast(const HostTensor &x, ArrayRef<int64_t> dims, Shape shape) {
  Shape strides(shape.size(), 0), own = stridesOf(x.shape());
  for (auto [i, dim] : llvm::enumerate(dims))
    strides[dim] = x.shape()[i] == 1 ? 0 : own[i];
  return gather(x.data(), std::move(shape), strides);
}

HostTensor mhc::reference::transpose(const HostTensor &x, ArrayRef<int64_t> perm) {
  Shape shape, strides, own = stridesOf(x.shape());
  for (int64_t dim : perm) {
    shape.push_back(x.shape()[dim]);
    strides.push_back(own[dim]);
  }
  return gather(x.data(), std::move(shape), strides);
}

/// Strides of a slice in the large tensor, and the offset of its first element.
static std::pair<Shape, int64_t> placeSlice(ArrayRef<int64_t> shape, const SliceBounds &bounds) {
  Shape strides = stridesOf(shape);
  int64_t start = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    start += bounds.offsets[dim] * strides[dim];
    strides[dim] *= bounds.strides[dim];
  }
  return {strides, start};
}

HostTensor mhc::reference::extractSlice(const HostTensor &x, const SliceBounds &bounds) {
  auto [strides, start] = placeSlice(x.shape(), bounds);
  if (x.size() == 0) // has no data to point into
    start = 0;
  return gather(x.data() + start, bounds.sizes, strides);
}

HostTensor mhc::reference::insertSlice(const HostTensor &source, const HostTensor &dest, const SliceBounds &bounds) {
  auto [strides, start] = placeSlice(dest.shape(), bounds);
  std::vector<double> out = dest.values().vec();
  if (out.empty())
    start = 0;
  walk(out.data() + start, source.data(), bounds.sizes, strides, stridesOf(bounds.sizes),
       [](double &to, double from) { to = from; });
  return {Shape(dest.shape()), std::move(out)};
}

HostTensor mhc::reference::concat(ArrayRef<HostTensor> inputs, int64_t dim) {
  Shape shape(inputs.front().shape());
  shape[dim] = 0;
  for (const HostTensor &input : inputs)
    shape[dim] += input.shape()[dim];
  Shape strides = stridesOf(shape);
  std::vector<double> out(numElements(shape));
  if (out.empty())
    return {std::move(shape), std::move(out)};
  double *start = out.data();
  for (const HostTensor &input : inputs) {
    walk(start, input.data(), input.shape(), strides, stridesOf(input.shape()),
         [](double &to, double from) { to = from; });
    start += input.shape()[dim] * strides[dim];
  }
  return {std::move(shape), std::move(out)};
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

template <typename Step>
static HostTensor reduce(const HostTensor &x, ArrayRef<int64_t> dims, double init, Step step) {
  Shape shape, strides(x.rank(), 0);
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      shape.push_back(x.shape()[dim]);
  Shape kept = stridesOf(shape);
  for (int64_t dim = 0, next = 0; dim < x.rank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      strides[dim] = kept[next++];
  std::vector<double> out(numElements(shape), init);
  walk(out.data(), x.data(), x.shape(), strides, stridesOf(x.shape()), step);
  return {std::move(shape), std::move(out)};
}

HostTensor mhc::reference::reduceSum(const HostTensor &x, ArrayRef<int64_t> dims) {
  return reduce(x, dims, 0.0, [](double &sum, double value) { sum += value; });
}

HostTensor mhc::reference::reduceMax(const HostTensor &x, ArrayRef<int64_t> dims) {
  // A NaN stays: no comparison with it is true.
  return reduce(x, dims, -std::numeric_limits<double>::infinity(), [](double &max, double value) {
    if (value > max || std::isnan(value))
      max = value;
  });
}

HostTensor mhc::reference::softmax(const HostTensor &x, int64_t dim) {
  int64_t inner = stridesOf(x.shape())[dim], length = x.shape()[dim];
  std::vector<double> out = x.values().vec();
  HostTensor max = reduceMax(x, dim);
  for (int64_t group = 0; group < max.size(); ++group) {
    double *first = out.data() + group / inner * inner * length + group % inner, sum = 0;
    for (int64_t i = 0; i < length; ++i)
      sum += first[i * inner] = std::exp(first[i * inner] - max.data()[group]);
    for (int64_t i = 0; i < length; ++i)
      first[i * inner] /= sum;
  }
  return {Shape(x.shape()), std::move(out)};
}

HostTensor mhc::reference::rmsNorm(const HostTensor &x, const HostTensor *weight, double eps) {
  int64_t width = x.shape().back();
  std::vector<double> out = x.values().vec();
  for (auto *row = out.data(), *end = row + out.size(); row != end; row += width) {
    double squares = 0;
    for (int64_t i = 0; i < width; ++i)
      squares += row[i] * row[i];
    double scale = 1 / std::sqrt(squares / width + eps);
    for (int64_t i = 0; i < width; ++i)
      row[i] *= scale * (weight ? weight->data()[i] : 1.0);
  }
  return {Shape(x.shape()), std::move(out)};
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// out[M,N] += lhs * rhs with rhs stored [K,N], so that the inner loop is contiguous.
static void addProduct(double *out, const double *lhs, const double *rhs, int64_t M, int64_t N, int64_t K,
                       int64_t strideM, int64_t strideK) {
  for (int64_t m = 0; m < M; ++m)
    for (int64_t k = 0; k < K; ++k) {
      double factor = lhs[m * strideM + k * strideK];
      for (int64_t n = 0; n < N; ++n)
        out[m * N + n] += factor * rhs[k * N + n];
    }
}

HostTensor mhc::reference::matmul(const HostTensor &lhs, const HostTensor &rhs, bool transposeLhs, bool transposeRhs) {
  bool batched = lhs.rank() == 3;
  if (transposeRhs)
    return matmul(lhs, transpose(rhs, batched ? ArrayRef<int64_t>{0, 2, 1} : ArrayRef<int64_t>{1, 0}), transposeLhs,
                  /*transposeRhs=*/false);
  ArrayRef<int64_t> left = lhs.shape().take_back(2);
  int64_t M = left[transposeLhs], K = left[!transposeLhs], N = rhs.shape().back();
  Shape shape = batched ? Shape{lhs.shape()[0], M, N} : Shape{M, N};
  std::vector<double> out(numElements(shape), 0.0);
  for (int64_t b = 0, count = batched ? shape[0] : 1; b < count; ++b)
    addProduct(out.data() + b * M * N, lhs.data() + b * M * K, rhs.data() + b * K * N, M, N, K, transposeLhs ? 1 : K,
               transposeLhs ? M : 1);
  return {std::move(shape), std::move(out)};
}
