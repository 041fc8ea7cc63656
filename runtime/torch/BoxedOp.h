//===- BoxedOp.h - A kernel as an op of PyTorch -----------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mhc-tblgen writes one BoxedOp per op from its record. Of PyTorch only its stable ABI is used.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TORCH_BOXEDOP_H
#define MHCRT_TORCH_BOXEDOP_H

#include "Gpu.h"
#include "mhcrt/kernels.h"

#include <torch/csrc/stable/library.h>

namespace mhcrt {

template <typename T>
struct Rows {
  const T *data = nullptr;
  unsigned count = 0;
  const T *begin() const { return data; }
  const T *end() const { return data + count; }
  const T &operator[](unsigned i) const { return data[i]; }
};

/// An operand or a result. Numbers of tensors, dims and attributes are those of the rows of the op.
struct BoxedTensor {
  const char *name;
  bool isOptional;
  unsigned rank, dims[4];
  unsigned flippedDims[4]; ///< when the attribute `flipAttr` is not its first word
  int flipAttr;            ///< -1 where it has one order only
  int elementOf;           ///< whose element type a result has; -1 for f32
  unsigned integerBits;    ///< 0 for floats
  int startOf;             ///< the result that starts from this operand; -1 for none
  unsigned dataOffset, typeOffset;
};

struct BoxedAttr {
  enum Kind { Word, Int, Float, Bool };
  const char *name;
  Kind kind;
  bool isOptional;
  double whenAbsent;
  Rows<const char *const> words;
  unsigned offset, bytes;
};

struct BoxedDim {
  const char *name;
  bool isGiven; ///< by the caller: no operand has it
  unsigned offset;
};

constexpr size_t kMostArgsBytes = 1024;
constexpr unsigned kMostDims = 24;

struct BoxedOp {
  const char *name;
  Kernel kernel;
  Kernel (*gpuKernel)(); ///< throws where there is none
  int64_t argsBytes;
  Rows<BoxedTensor> tensors;
  unsigned operands; ///< how many of the tensors, the first ones
  Rows<BoxedAttr> attrs;
  Rows<BoxedDim> dims;
  unsigned tokens; ///< the dim that stands for all leading ones of a tensor; none where it is the number of dims
  bool hasMask;    ///< the last argument says of each result whether it is made; those that are not optional always are
};

/// Takes the operands, given dims, attributes and the mask from the stack, runs the kernel where the operands are, on a
/// context of PyTorch's present threads or stream, and leaves the results. A result that is not made is an undefined
/// tensor. Throws with the kernel's message.
void callBoxed(const BoxedOp &op, StableIValue *stack);

/// Throws for a call that no kernel takes: no operand is a tensor, or they are of another kind of device.
void refuseBoxed(const BoxedOp &op, StableIValue *stack);

/// The same as callBoxed for compiled graphs, with little that has to be taken apart at each call: takes the operands
/// that are given, the given dims, and a text of the operands' names, the attributes that are given, and the names of
/// the results to make, such as "x phi alpha beta layout=nC iters=20 -> u h_post". Leaves a list of the latter.
void callCompiled(const BoxedOp &op, StableIValue *stack);

} // namespace mhcrt

#endif // MHCRT_TORCH_BOXEDOP_H
