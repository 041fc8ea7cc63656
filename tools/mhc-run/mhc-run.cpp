//===- mhc-run.cpp - Run a compiled model on tensor files -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/run.h"

int main(int argc, char **argv) { return mhcrt::runMain(argc, argv); }
