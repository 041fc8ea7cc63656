//===- KernelCheck.h - One kernel against the chain that defines its op ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_TEST_UNIT_KERNELCHECK_H
#define MHC_TEST_UNIT_KERNELCHECK_H

#include <string>
#include <utility>
#include <vector>

namespace mhc::test {

using Names = std::vector<std::pair<std::string, std::string>>; ///< name and type
constexpr int M = 5, C = 40;                                    ///< C has whole pairs of vectors, and a rest

inline const char *const kTypes[] = {"f32", "bf16", "f16"};
inline const char *const kLayouts[] = {"nC", "Cn"};
inline const char *const kDropouts[] = {"", ", rate = 0.25, stream = 7"}; ///< attributes that go with a seed
inline const char *const kPhiLayouts[] = {"out_in", "in_out"};

/// A function around one op, which is given with its operands `%name`.
std::string functionText(const Names &operands, const Names &results, const std::string &op);
/// The same around a kernel op in its own syntax; operands and results in the order of the record.
std::string kernelText(const std::string &op, const Names &operands, const std::string &attrs, const Names &results);

std::string tensor(std::initializer_list<int> shape, const std::string &type = "f32");
/// The streams in a layout.
std::string streams(const std::string &layout, int n, const std::string &type);
/// The projection weight in a layout.
std::string weight(const std::string &layout, int rows, int n);

/// Runs the kernel of the one op in `text` and the decomposed function on the same random operands. With `norm`, the
/// operand `stat` is the multiplier that mhc.projection makes of x.
void check(const std::string &text, const std::string &norm = "", double normEps = 0);

/// One side of checkGradient.
struct OpText {
  Names operands;
  std::string attrs;
  Names results;
};
/// The chain of mhc.<op>_bwd against differences of the chain of mhc.<op>, both in float64. The backward op has
/// operands d_<result> and what the forward op has, and results d_<operand>.
void checkGradient(const std::string &op, const OpText &forward, const OpText &backward);

} // namespace mhc::test

#endif // MHC_TEST_UNIT_KERNELCHECK_H
