//===- mhc-train.cpp - Train a compiled model -----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/train.h"

int main(int argc, char **argv) { return mhcrt::trainMain(argc, argv); }
