//===- CaseData.cpp - The tensors of a golden case ------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CaseData.h"
#include "Conformance/CaseIr.h"

#include <algorithm>
#include <cstring>

namespace mhc::conformance {

static int32_t dtypeOf(Element element) {
  switch (element) {
  case Element::F32:
    return MHCRT_F32;
  case Element::BF16:
    return MHCRT_BF16;
  case Element::F16:
    return MHCRT_F16;
  case Element::F64:
    return MHCRT_F64;
  case Element::I32:
    return MHCRT_I32;
  case Element::I64:
    return MHCRT_I64;
  case Element::I1: // conditions stay inside a program
    break;
  }
  return MHCRT_NONE;
}

/// The shape of an input or output with its token axes collapsed.
static std::vector<int64_t> shapeOf(const Case &golden, const TensorInfo &like) {
  std::vector<int64_t> shape = tokenShape(golden, like);
  std::replace(shape.begin(), shape.end(), kTokens, tokenCount(golden));
  return shape;
}

bool loadTensor(const Case &golden, const TensorInfo &like, const std::string &file, int32_t dtype,
                mhcrt::HostTensor &tensor, std::string &error) {
  mhcrt::HostTensor stored;
  if (!mhcrt::readNpy(golden.directory + "/" + file, stored, error))
    return false;
  std::vector<int64_t> shape = shapeOf(golden, like);
  mhcrt_tensor view = stored.get();
  view.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), view.dims);
  if (dtype != MHCRT_I32)
    return mhcrt::convert(view, dtype == MHCRT_NONE ? view.dtype : dtype, tensor, error);
  if (!tensor.allocate(dtype, shape, error))
    return false;
  std::memcpy(tensor.data(), view.data, tensor.bytes());
  return true;
}

/// The element type of an argument.
static int32_t argumentType(const TensorInfo &info, Backend backend) {
  if (backend == Backend::Reference && info.source != Element::I32)
    return MHCRT_F64;
  return dtypeOf(info.source == Element::F64 ? Element::F32 : info.source);
}

bool loadInputs(const Case &golden, Backend backend, std::vector<mhcrt::HostTensor> &inputs, std::string &error) {
  for (const TensorInfo &input : golden.inputs) {
    inputs.emplace_back();
    if (!loadTensor(golden, input, input.file, argumentType(input, backend), inputs.back(), error))
      return false;
  }
  return true;
}

const TensorInfo *findTensor(const std::vector<TensorInfo> &tensors, const std::string &name) {
  auto found = std::find_if(tensors.begin(), tensors.end(), [&](const TensorInfo &info) { return info.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

/// One per output; zeros where the case has none.
bool loadCotangents(const Case &golden, Backend backend, std::vector<mhcrt::HostTensor> &inputs, std::string &error) {
  for (const TensorInfo &output : golden.outputs) {
    inputs.emplace_back();
    int32_t dtype = argumentType(output, backend);
    const TensorInfo *cotangent = findTensor(golden.cotangents, output.name);
    if (cotangent ? !loadTensor(golden, output, cotangent->file, dtype, inputs.back(), error)
                  : !inputs.back().allocate(dtype, shapeOf(golden, output), error))
      return false;
  }
  return true;
}

/// The reference computes in f64, but constants of the IR, like sqrt(K), are f32: one rounding is allowed.
Tolerance toleranceOf(const Case &golden, Backend backend) {
  if (backend != Backend::Reference)
    return golden.float32;
  return {golden.reference.atol, std::max(golden.reference.rtol, 0x1p-23)};
}

} // namespace mhc::conformance
