//===- TensorMath.h - Arithmetic of leaf ops ------------------ -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain functions on tensors of doubles. Callers have checked shapes.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_LIB_REFERENCE_TENSORMATH_H
#define MHC_LIB_REFERENCE_TENSORMATH_H

#include "mhc/Reference/HostTensor.h"

namespace mhc::reference {

/// Start, extent and steps of a slice, one number per dimension of the large tensor.
struct SliceBounds {
  Shape offsets, sizes, strides;
};

/// Distance between neighbours along each dimension of a row-major tensor.
Shape stridesOf(llvm::ArrayRef<int64_t> shape);

HostTensor splat(double value, Shape shape);
/// Operand dimension i becomes dimension dims[i] of a tensor of `shape`.
HostTensor broadcast(const HostTensor &x, llvm::ArrayRef<int64_t> dims, Shape shape);
HostTensor transpose(const HostTensor &x, llvm::ArrayRef<int64_t> perm);
HostTensor extractSlice(const HostTensor &x, const SliceBounds &bounds);
/// `dest` with `source`, which has the sizes of `bounds`, written over the slice.
HostTensor insertSlice(const HostTensor &source, const HostTensor &dest, const SliceBounds &bounds);
HostTensor concat(llvm::ArrayRef<HostTensor> inputs, int64_t dim);

HostTensor reduceSum(const HostTensor &x, llvm::ArrayRef<int64_t> dims);
HostTensor reduceMax(const HostTensor &x, llvm::ArrayRef<int64_t> dims);
HostTensor softmax(const HostTensor &x, int64_t dim);
/// `weight` may be null.
HostTensor rmsNorm(const HostTensor &x, const HostTensor *weight, double eps);
/// Products of matrices in the last two dimensions; a third one in front counts pairs.
HostTensor matmul(const HostTensor &lhs, const HostTensor &rhs, bool transposeLhs, bool transposeRhs);

} // namespace mhc::reference

#endif // MHC_LIB_REFERENCE_TENSORMATH_H
