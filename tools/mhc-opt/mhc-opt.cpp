//===- mhc-opt.cpp - Run passes on a file ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc-c/Compiler.h"

int main(int argc, char **argv) { return mhc_opt(argc, argv); }
