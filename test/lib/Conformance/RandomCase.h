//===- RandomCase.h - Random programs and spellings ----------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_CONFORMANCE_RANDOMCASE_H
#define MHC_CONFORMANCE_RANDOMCASE_H

#include "Conformance/Case.h"
#include "mhcrt/io.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mhc::conformance {

/// A program nobody wrote, with inputs. `golden` has no files and no tolerance.
struct RandomCase {
  Case golden;
  Spelling spelling;
  std::string ir;                        ///< a module with function "case"
  std::vector<mhcrt::HostTensor> inputs; ///< f64 or i32, in argument order, token axes collapsed
};

/// Changes what was drawn before the IR is written.
using Prepare = llvm::function_ref<void(RandomCase &random, int64_t &channels)>;

/// Shapes (n of 1..8, any C and M), attributes, spelling and numbers, all drawn from the seed. The same seed gives the
/// same case everywhere.
RandomCase randomCase(uint64_t seed, Prepare prepare = nullptr);

/// A case that is plainly written and is found for certain: n of 2..6, several tokens, more channels than streams.
RandomCase plainCase(uint64_t seed, Prepare prepare = nullptr);

/// The front end of a gated delta net of any form, in random words or as an op.
RandomCase gatedDeltaCase(uint64_t seed);
/// One that is plainly written and is found for certain.
RandomCase plainGatedDelta(uint64_t seed, Prepare prepare = nullptr);

/// Whether a seed of any program stands for a front end: one in six does.
inline bool isGatedDelta(uint64_t seed) { return seed % 6 == 0; }
inline RandomCase anyCase(uint64_t seed) { return isGatedDelta(seed) ? gatedDeltaCase(seed) : randomCase(seed); }

/// A copy of an input: floats in that type, numbers of tokens as they are.
bool copyInput(const mhcrt::HostTensor &input, int32_t dtype, mhcrt::HostTensor &copy, std::string &error);

} // namespace mhc::conformance

#endif // MHC_CONFORMANCE_RANDOMCASE_H
