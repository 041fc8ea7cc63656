//===- KernelFunction.cpp - A kernel called by its record ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFunction.h"
#include "mhc/IR/KernelArguments.h"
#include <cstring>

using namespace mhc;
using namespace mhc::bench;

/// An array of the addresses of a list's tensors.
void *KernelFunction::pointersOf(const CaseTensor &list, void *first) {
  std::vector<char *> &pointers = *lists.emplace_back(std::make_unique<std::vector<char *>>());
  for (int64_t i = 0; i < list.count; ++i)
    pointers.push_back(static_cast<char *>(first) + i * (list.elements / list.count) * mhcrt_dtype_bytes(list.dtype));
  return pointers.data();
}

KernelFunction::KernelFunction(const Case &c, Runtime::Function function, mhcrt_context *context,
                               const std::vector<void *> &data)
    : function(function), context(context) {
  const KernelArguments layout = kernelArgumentsOf(c.info->opName);
  args.resize(layout.bytes / sizeof(int64_t));
  args.front() = layout.bytes;
  char *bytes = reinterpret_cast<char *>(args.data());
  for (const KernelField &field : layout.fields) {
    auto set = [&](auto value) { std::memcpy(bytes + field.offset, &value, sizeof(value)); };
    switch (field.kind) {
    case KernelField::Data:
      set(c.info->tensors[field.index].isList ? pointersOf(c.tensors[field.index], data[field.index])
                                              : data[field.index]);
      break;
    case KernelField::Type:
      set(c.tensors[field.index].dtype);
      break;
    case KernelField::Count:
      set(c.tensors[field.index].count);
      break;
    case KernelField::Dim:
      set(static_cast<int64_t>(c.values.dims[field.index]));
      break;
    case KernelField::Attr: {
      const KernelAttr &attr = c.info->attrs[field.index];
      const double number = c.values.attrs[field.index];
      if (attr.kind == KernelAttr::Float)
        set(number);
      else if (attr.cType == "int64_t")
        set(static_cast<int64_t>(number));
      else
        set(static_cast<int32_t>(number));
    }
    }
  }
}
