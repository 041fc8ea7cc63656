//===- BoxedOp.cpp - Runs a kernel on tensors of PyTorch ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "BoxedOp.h"
#include "Gpu.h"
#include "Memory.h"

#include <torch/csrc/stable/ops.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace mhcrt;
using torch::stable::Tensor;
namespace stable = torch::stable::detail;

constexpr int64_t kUnknown = -1;
/// The least that a kernel for aligned operands needs, in bytes.
constexpr uintptr_t kAlignment = 16;

namespace {

/// An attribute as it came.
struct Value {
  std::string word;
  double number = 0;
  int64_t integer = 0;
};

class Call {
public:
  Call(const BoxedOp &op, StableIValue *stack);
  void run(StableIValue *stack);

private:
  [[noreturn]] void fail(const std::string &what) const { throw std::runtime_error(op.name + (": " + what)); }
  std::string neededShape(const BoxedTensor &row) const;

  void takeOperands(StableIValue *&next);
  void takeAttrs(StableIValue *&next);
  void setAttr(unsigned number);
  void setOperand(unsigned number);
  void setPlace(const BoxedTensor &row, const Tensor &tensor);
  void bindDims(const BoxedTensor &row, const std::vector<int64_t> &sizes);
  void makeResult(unsigned number);
  void makeResults();

  const unsigned *dimsOf(const BoxedTensor &row) const {
    return row.flipAttr >= 0 && words[row.flipAttr] != 0 ? row.flippedDims : row.dims;
  }
  int32_t elementOf(unsigned result) const;

  template <typename T>
  void set(unsigned offset, T value) {
    std::memcpy(args + offset, &value, sizeof(value));
  }

  const BoxedOp &op;
  std::vector<std::optional<Tensor>> tensors;
  std::vector<int32_t> elements; ///< mhcrt_dtype of each tensor
  std::vector<int64_t> dims;
  std::vector<std::optional<Value>> values;
  std::vector<int64_t> words; ///< the number of each attribute's word
  std::vector<bool> mask;
  std::optional<std::vector<int64_t>> tokens; ///< the leading dims
  std::optional<TensorPlace> place;
  alignas(8) char args[kMostArgsBytes] = {};
};

} // namespace

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// MHCRT_NONE for one that no kernel knows.
static int32_t elementType(const Tensor &tensor) {
  static const std::pair<int32_t, int32_t> types[] = {
      {aoti_torch_dtype_float32(), MHCRT_F32}, {aoti_torch_dtype_bfloat16(), MHCRT_BF16},
      {aoti_torch_dtype_float16(), MHCRT_F16}, {aoti_torch_dtype_float64(), MHCRT_F64},
      {aoti_torch_dtype_int32(), MHCRT_I32},   {aoti_torch_dtype_int64(), MHCRT_I64}};
  int32_t dtype = 0;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(tensor.get(), &dtype));
  for (const auto &[torch, own] : types)
    if (torch == dtype)
      return own;
  return MHCRT_NONE;
}

static int32_t torchType(int32_t element) {
  return element == MHCRT_BF16  ? aoti_torch_dtype_bfloat16()
         : element == MHCRT_F16 ? aoti_torch_dtype_float16()
                                : aoti_torch_dtype_float32();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// All that is on the stack is taken before anything is looked at, for whatever stays there is lost.
Call::Call(const BoxedOp &op, StableIValue *stack)
    : op(op), tensors(op.tensors.count), elements(op.tensors.count, MHCRT_NONE), dims(op.dims.count, kUnknown),
      values(op.attrs.count), words(op.attrs.count, 0) {
  takeOperands(stack);
  for (unsigned i = 0; i < op.dims.count; ++i)
    if (op.dims[i].isGiven)
      dims[i] = stable::to<int64_t>(*stack++);
  takeAttrs(stack);
  if (op.hasMask)
    mask = stable::to<std::vector<bool>>(*stack++);
}

void Call::takeOperands(StableIValue *&next) {
  for (unsigned i = 0; i < op.operands; ++i, ++next)
    tensors[i] = op.tensors[i].isOptional ? stable::to<std::optional<Tensor>>(*next) : stable::to<Tensor>(*next);
}

template <typename T>
static std::optional<T> take(StableIValue value, bool isOptional) {
  return isOptional ? stable::to<std::optional<T>>(value) : stable::to<T>(value);
}

void Call::takeAttrs(StableIValue *&next) {
  for (unsigned i = 0; i < op.attrs.count; ++i, ++next) {
    const BoxedAttr &row = op.attrs[i];
    switch (row.kind) {
    case BoxedAttr::Word:
      if (auto word = take<std::string>(*next, row.isOptional))
        values[i] = Value{*word};
      break;
    case BoxedAttr::Float:
      if (auto number = take<double>(*next, row.isOptional))
        values[i] = Value{{}, *number};
      break;
    case BoxedAttr::Int:
      if (auto integer = take<int64_t>(*next, row.isOptional))
        values[i] = Value{{}, 0, *integer};
      break;
    case BoxedAttr::Bool:
      values[i] = Value{{}, 0, stable::to<bool>(*next)};
      break;
    }
  }
}

static std::string listed(const Rows<const char *const> &words) {
  std::string text;
  for (unsigned i = 0; i < words.count; ++i)
    text += (i == 0 ? "" : i + 1 == words.count ? " or " : ", ") + std::string(words[i]);
  return text;
}

void Call::setAttr(unsigned number) {
  const BoxedAttr &row = op.attrs[number];
  const std::optional<Value> &value = values[number];
  if (row.kind == BoxedAttr::Float)
    return set(row.offset, value ? value->number : row.whenAbsent);
  int64_t integer = value ? value->integer : int64_t(row.whenAbsent);
  if (row.kind == BoxedAttr::Word && value) {
    integer = std::find(row.words.begin(), row.words.end(), value->word) - row.words.begin();
    if (integer == row.words.count)
      fail("'" + std::string(row.name) + "' is " + value->word + "; needed " + listed(row.words));
  }
  words[number] = integer;
  if (row.bytes == 4)
    set(row.offset, int32_t(integer));
  else
    set(row.offset, integer);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::string shapeOf(const std::vector<int64_t> &sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

/// "[2, 3, 4, C]": what is known by now in numbers.
std::string Call::neededShape(const BoxedTensor &row) const {
  std::string text;
  for (unsigned i = 0; i < row.rank; ++i) {
    const unsigned dim = dimsOf(row)[i];
    std::string size = dims[dim] == kUnknown ? op.dims[dim].name : std::to_string(dims[dim]);
    if (dim == op.tokens && tokens) {
      size = shapeOf(*tokens);
      size = size.substr(1, size.size() - 2);
    } else if (dim == op.tokens) {
      size = "..."; // any leading dims
    }
    text += (text.empty() || size.empty() ? "" : ", ") + size;
  }
  return "[" + text + "]";
}

void Call::bindDims(const BoxedTensor &row, const std::vector<int64_t> &sizes) {
  const unsigned *own = dimsOf(row);
  const bool hasTokens = row.rank > 0 && own[0] == op.tokens;
  const size_t trailing = row.rank - hasTokens;
  bool fits = hasTokens ? sizes.size() >= trailing : sizes.size() == trailing;
  if (fits && hasTokens) {
    const std::vector<int64_t> leading(sizes.begin(), sizes.end() - trailing);
    fits = !tokens || *tokens == leading;
    if (!tokens) {
      tokens = leading;
      dims[op.tokens] = 1;
      for (int64_t size : leading)
        dims[op.tokens] *= size;
    }
  }
  std::vector<int64_t> bound = dims;
  for (size_t i = 0; fits && i < trailing; ++i) {
    int64_t &dim = bound[own[hasTokens + i]];
    const int64_t size = sizes[sizes.size() - trailing + i];
    fits = dim == kUnknown || dim == size;
    dim = size;
  }
  if (!fits)
    fail("'" + std::string(row.name) + "' has shape " + shapeOf(sizes) + "; needed " + neededShape(row));
  dims = bound;
}

void Call::setPlace(const BoxedTensor &row, const Tensor &tensor) {
  TensorPlace own;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(tensor.get(), &own.type));
  if (own.isGpu())
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_index(tensor.get(), &own.index));
  if (place && !(*place == own))
    fail("'" + std::string(row.name) + "' is on " + own.text() + "; needed " + place->text() +
         ", where other operands are");
  place = own;
}

void Call::setOperand(unsigned number) {
  const BoxedTensor &row = op.tensors[number];
  std::optional<Tensor> &tensor = tensors[number];
  if (tensor && !tensor->defined()) // None for one that is needed, which the kernel tells
    tensor.reset();
  if (!tensor)
    return;
  setPlace(row, *tensor);
  elements[number] = elementType(*tensor);
  if (elements[number] == MHCRT_NONE)
    fail("'" + std::string(row.name) + "' has a dtype that no kernel knows; needed " +
         (row.integerBits ? "i" + std::to_string(row.integerBits) : "f32, bf16 or f16"));
  const auto sizes = tensor->sizes();
  bindDims(row, std::vector<int64_t>(sizes.begin(), sizes.end()));
  if (!tensor->is_contiguous())
    tensor = torch::stable::contiguous(*tensor);
  // Variants for a GPU are chosen by alignment as well, and each has its own bits.
  else if (place->isGpu() && reinterpret_cast<uintptr_t>(tensor->const_data_ptr()) % kAlignment != 0)
    tensor = torch::stable::clone(*tensor);
  set(row.dataOffset, tensor->const_data_ptr());
  set(row.typeOffset, elements[number]);
}

/// The element type of what the result starts from, or else that of the tensor that the record names.
int32_t Call::elementOf(unsigned result) const {
  for (unsigned i = 0; i < op.operands; ++i)
    if (op.tensors[i].startOf == int(result) && tensors[i])
      return elements[i];
  const int other = op.tensors[result].elementOf;
  return other < 0 ? int32_t(MHCRT_F32) : elements[other];
}

void Call::makeResult(unsigned number) {
  const BoxedTensor &row = op.tensors[number];
  std::vector<int64_t> sizes;
  for (unsigned i = 0; i < row.rank; ++i)
    if (const unsigned dim = dimsOf(row)[i]; dim == op.tokens)
      sizes = *tokens;
    else if (dims[dim] < 0)
      fail("'" + std::string(op.dims[dim].name) + "' is " + std::to_string(dims[dim]) + "; needed at least 0");
    else
      sizes.push_back(dims[dim]);
  elements[number] = elementOf(number);
  tensors[number] = makeTensor(sizes, torchType(elements[number]), *place);
  set(row.dataOffset, tensors[number]->mutable_data_ptr());
  set(row.typeOffset, elements[number]);
}

void Call::makeResults() {
  const unsigned results = op.tensors.count - op.operands;
  if (op.hasMask && mask.size() != results)
    fail("'output_mask' has " + std::to_string(mask.size()) + " elements; needed " + std::to_string(results));
  for (unsigned i = 0; i < results; ++i)
    if (!op.tensors[op.operands + i].isOptional || mask[i])
      makeResult(op.operands + i);
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

void Call::run(StableIValue *stack) {
  set(0, op.argsBytes);
  for (unsigned i = 0; i < op.attrs.count; ++i)
    setAttr(i);
  for (unsigned i = 0; i < op.operands; ++i)
    setOperand(i);
  for (unsigned i = 0; i < op.dims.count; ++i)
    set(op.dims[i].offset, dims[i] == kUnknown ? int64_t(0) : dims[i]);
  makeResults();
  const BorrowedContext context(*place);
  const Kernel kernel = place->isGpu() ? gpuKernel(op.name) : op.kernel;
  if (kernel(context.get(), args) != MHCRT_OK)
    throw std::runtime_error(context.error());
  for (unsigned i = op.operands; i < op.tensors.count; ++i)
    *stack++ = stable::from(tensors[i] ? *tensors[i] : Tensor());
}

void mhcrt::callBoxed(const BoxedOp &op, StableIValue *stack) { Call(op, stack).run(stack); }
