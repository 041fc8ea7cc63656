//===- Manifest.h - The parsed manifest of a compiled model -----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_SRC_MANIFEST_H
#define MHCRT_SRC_MANIFEST_H

#include "SizeExpression.h"
#include "mhcrt/model.h"

#include <deque>
#include <string>
#include <vector>

namespace mhcrt {

/// One argument or result; `info` points into the strings.
struct TensorSpec {
  std::string name, type;
  std::vector<SizeExpression> dims;
  mhcrt_tensor_info info = {};
  std::vector<int64_t> splitSizes;
  std::string partial;
};

/// Two sizes that must be equal.
struct SizeEquality {
  SizeExpression left, right;
  std::string text; ///< for people: "M*d1 = d2*d3"
};

struct EntrySpec {
  std::string name;
  std::deque<TensorSpec> arguments, results; ///< deques: `info` needs strings that do not move
  std::vector<SizeEquality> equalities;
};

/// "bf16[M,64], f32[64] -> bf16[M,64]"
std::string typeOf(const EntrySpec &entry);

struct Manifest {
  std::string target = "cpu";
  std::string mesh; ///< "dp=2,tp=2,pp=4"
  int32_t dataRanks = 1, tensorRanks = 1, stages = 1;
  std::vector<std::string> pins;            ///< "post=generic"
  std::deque<EntrySpec> entries, functions; ///< functions are what entries call and the model has not
};

/// False with `error` set when a line cannot be understood; it names the line. May throw std::bad_alloc.
bool parseManifest(const char *text, Manifest &manifest, std::string &error);

/// "bf16[7,4,64]"
std::string describe(const mhcrt_tensor &tensor);

/// A symbol, its size and the tensor that has it.
struct BoundSize {
  std::string symbol;
  int64_t size;
  std::string tensor;
};
/// Checks that `tensors` are what the entry says, and binds its symbols.
bool bindArguments(const EntrySpec &entry, const mhcrt_tensor *tensors, std::vector<BoundSize> &sizes,
                   std::string &error);
/// The same for results, whose symbols are bound.
bool checkResults(const EntrySpec &entry, const mhcrt_tensor *tensors, std::vector<BoundSize> &sizes,
                  std::string &error);

/// False where the value is negative or does not fit 64 bits.
bool evaluate(const SizeExpression &expression, const std::vector<BoundSize> &sizes, int64_t &value);

} // namespace mhcrt

#endif // MHCRT_SRC_MANIFEST_H
