//===- Case.h - One kernel at one shape ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A case follows from the record of a kernel alone: sizes by the letters of the dims, attributes by their kind. New
// kernels need no line here.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TOOLS_BENCH_CASE_H
#define MHC_TOOLS_BENCH_CASE_H

#include "mhc/IR/KernelInfo.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mhc::bench {

struct Sizes {
  int64_t M = 4096, C = 4096, n = 4;
};

struct CaseTensor {
  int64_t count;      ///< of a list; else 1, or 0 when absent
  int32_t dtype;      ///< mhcrt_dtype; MHCRT_NONE when absent
  int64_t elements;   ///< of all tensors of a list, which lie one behind the other
  double scale;       ///< of the random elements of an operand
  bool isNegativeToo; ///< a mean square is not
  int64_t rows = 0;   ///< integers are less than this
  int64_t cuts = -1;  ///< or, where it is not negative, cut so many tokens into runs
};

struct Case {
  const KernelInfo *info;
  std::string kernel; ///< "sinkhorn"
  Sizes sizes;
  int32_t dtype; ///< of the activations
  KernelSizes values;
  std::vector<CaseTensor> tensors;
  double bytes, flops;
};

/// The dims of tensor `index` in memory order. The attributes that decide them are enums, whose first value is 0, and
/// flags.
llvm::ArrayRef<unsigned> dimsOf(const Case &c, unsigned index);
/// Whether a tensor has the type of the activations.
bool isActivation(const KernelInfo &info, unsigned index);
/// Whether a dim is the number of tokens, or of products in a batch.
bool isTokenDim(const KernelInfo &info, unsigned dim);
bool hasTokens(const KernelInfo &info, unsigned index);
/// Whether any tensor of the kernel has the type of the activations; the others are f32.
bool hasActivations(const KernelInfo &info);
/// Whether the channels matter; the coefficients of a token know only n.
bool hasChannels(const KernelInfo &info);

/// A case with all gradients and no start of one, without the tensors called `without`, and with those called `with`,
/// tensors or flags.
Case makeCase(const KernelInfo &info, Sizes sizes, int32_t dtype, llvm::ArrayRef<llvm::StringRef> without,
              llvm::ArrayRef<llvm::StringRef> with = {});

/// Whether an operand of this name was made already: operands come first.
bool hasOperand(const Case &c, llvm::StringRef name);
/// Whether the attribute belongs to a dropout or a norm that the case does not have, and is absent then.
bool isLeftOut(const Case &c, const KernelAttr &attr);
/// Gives those attributes what they count as.
void settleAttributes(Case &c);
/// The value of an attribute, or null.
double *attributeOf(Case &c, llvm::StringRef name);
/// Makes a residual map the limit by at most as many Newton steps, if it is a Sinkhorn.
void takeLimit(Case &c, int64_t steps);

} // namespace mhc::bench

#endif // MHC_TOOLS_BENCH_CASE_H
