//===- PlacedTensor.cpp - Tensors where kernels reach them ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/train.h"

#include <algorithm>

using namespace mhcrt;

PlacedTensor::~PlacedTensor() { release(); }

void PlacedTensor::release() {
  if (tensor.data && !isView)
    mhcrt_model_buffer_destroy(session.model, session.context, tensor.data);
  tensor.data = nullptr;
  isView = false;
}

void PlacedTensor::view(const Session &wanted, const mhcrt_tensor &other) {
  release();
  session = wanted;
  tensor = other;
  isView = true;
}

static bool isSameType(const mhcrt_tensor &a, const mhcrt_tensor &b) {
  return a.dtype == b.dtype && a.rank == b.rank && std::equal(a.dims, a.dims + a.rank, b.dims);
}

bool PlacedTensor::allocate(const Session &wanted, const mhcrt_tensor &type, std::string &error) {
  if (tensor.data && isSameType(tensor, type))
    return true;
  release();
  session = wanted;
  tensor = type;
  tensor.data = nullptr;
  mhcrt_message message;
  if (mhcrt_model_buffer_create(session.model, session.context, bytesOf(tensor), &tensor.data, &message) == MHCRT_OK)
    return true;
  error = message.text;
  return false;
}

bool PlacedTensor::upload(const HostTensor &from, std::string &error) {
  mhcrt_message message;
  if (mhcrt_model_copy(session.model, session.context, tensor.data, from.data(), from.bytes(), &message) == MHCRT_OK)
    return true;
  error = message.text;
  return false;
}

bool PlacedTensor::download(HostTensor &to, std::string &error) const {
  if (to.type() != typeName(tensor) &&
      !to.allocate(tensor.dtype, std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank), error))
    return false;
  mhcrt_message message;
  if (mhcrt_model_copy(session.model, session.context, to.data(), tensor.data, to.bytes(), &message) == MHCRT_OK &&
      mhcrt_model_synchronize(session.model, session.context, &message) == MHCRT_OK)
    return true;
  error = message.text;
  return false;
}
