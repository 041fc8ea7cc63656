//===- CaseData.h - The tensors of a golden case ---------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef MHC_LIB_CONFORMANCE_CASEDATA_H
#define MHC_LIB_CONFORMANCE_CASEDATA_H

#include "Conformance/Runner.h"

namespace mhc::conformance {

/// A file of the case in the shape of the input or output `like`, its token axes collapsed to one, as `dtype`;
/// MHCRT_NONE leaves the one of the file.
bool loadTensor(const Case &golden, const TensorInfo &like, const std::string &file, int32_t dtype,
                mhcrt::HostTensor &tensor, std::string &error);

/// Appends the arguments of the case's function.
bool loadInputs(const Case &golden, Backend backend, std::vector<mhcrt::HostTensor> &inputs, std::string &error);

/// Appends one per output; zeros where the case has none.
bool loadCotangents(const Case &golden, Backend backend, std::vector<mhcrt::HostTensor> &inputs, std::string &error);

/// The tensor called `name`, or null.
const TensorInfo *findTensor(const std::vector<TensorInfo> &tensors, const std::string &name);

Tolerance toleranceOf(const Case &golden, Backend backend);

} // namespace mhc::conformance

#endif // MHC_LIB_CONFORMANCE_CASEDATA_H
