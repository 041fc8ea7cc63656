//===- Main.h - All of mhcc ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_DRIVER_MAIN_H
#define MHC_DRIVER_MAIN_H

namespace mhc {

/// Returns the exit status: 0 good; 1 a comparison failed or cannot tell, or a check of what is fused failed; 2 an
/// error.
int mhccMain(int argc, const char *const *argv);

} // namespace mhc

#endif // MHC_DRIVER_MAIN_H
