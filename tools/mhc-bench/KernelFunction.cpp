//===- KernelFunction.cpp - A kernel called by its record ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFunction.h"

using namespace mhc;
using namespace mhc::bench;

void KernelFunction::add(ffi_type *type, Value value) {
  types.push_back(type);
  values.push_back(std::make_unique<Value>(value));
  addresses.push_back(values.back().get());
}

/// An array of the addresses of a list's tensors.
void *KernelFunction::pointersOf(const CaseTensor &list, void *first) {
  std::vector<char *> &pointers = *lists.emplace_back(std::make_unique<std::vector<char *>>());
  for (int64_t i = 0; i < list.count; ++i)
    pointers.push_back(static_cast<char *>(first) + i * (list.elements / list.count) * mhcrt_dtype_bytes(list.dtype));
  return pointers.data();
}

static bool is32Bit(const KernelAttr &attr) { return attr.cType == "int32_t"; }

KernelFunction::KernelFunction(const Case &c, Runtime::Function function, mhcrt_context *context,
                               const std::vector<void *> &data)
    : function(function) {
  Value value;
  add(&ffi_type_pointer, Value{context});
  for (auto [record, tensor, pointer] : llvm::zip(c.info->tensors, c.tensors, data)) {
    add(&ffi_type_pointer, Value{record.isList ? pointersOf(tensor, pointer) : pointer});
    value.i32 = tensor.dtype;
    add(&ffi_type_sint32, value);
    if (!record.isList)
      continue;
    value.i64 = tensor.count;
    add(&ffi_type_sint64, value);
  }
  for (double dim : c.values.dims) {
    value.i64 = static_cast<int64_t>(dim);
    add(&ffi_type_sint64, value);
  }
  for (auto [attr, number] : llvm::zip(c.info->attrs, c.values.attrs)) {
    if (attr.kind == KernelAttr::Float)
      value.f64 = number;
    else if (is32Bit(attr))
      value.i32 = static_cast<int32_t>(number);
    else
      value.i64 = static_cast<int64_t>(number);
    add(attr.kind == KernelAttr::Float ? &ffi_type_double : is32Bit(attr) ? &ffi_type_sint32 : &ffi_type_sint64, value);
  }
  if (ffi_prep_cif(&call, FFI_DEFAULT_ABI, types.size(), &ffi_type_sint32, types.data()) != FFI_OK)
    this->function = nullptr;
}

mhcrt_status KernelFunction::operator()() {
  ffi_arg status;
  ffi_call(&call, function, &status, addresses.data());
  return static_cast<mhcrt_status>(status);
}
