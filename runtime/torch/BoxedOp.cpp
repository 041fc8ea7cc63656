//===- BoxedOp.cpp - Runs a kernel on tensors of PyTorch ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "BoxedOp.h"
#include "Memory.h"
#include "src/KernelCall.h"

#include <torch/csrc/stable/ops.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
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

/// The part of a call that does not follow from its tensors and sizes.
class Plan {
public:
  explicit Plan(const BoxedOp &op) : op(op), words(op.attrs.count, 0) {}
  /// Reads the text of a call of a compiled graph.
  Plan(const BoxedOp &op, std::string_view text);

  /// Takes the value of each attribute, if it has one.
  void setAttrs(const std::vector<std::optional<Value>> &values);

  const BoxedOp &op;
  std::vector<unsigned> given; ///< the operands that the text names
  std::vector<int64_t> words;  ///< the number of each attribute's word
  std::vector<bool> mask;
  alignas(8) char args[kMostArgsBytes] = {};

private:
  void setAttr(unsigned number, const std::optional<Value> &value);
};

class Call {
public:
  explicit Call(const Plan &plan)
      : op(plan.op), plan(plan), tensors(op.tensors.count), elements(op.tensors.count, MHCRT_NONE) {
    std::fill_n(dims, op.dims.count, kUnknown);
  }
  void setTensor(unsigned number, std::optional<Tensor> tensor) { tensors[number] = std::move(tensor); }
  void setSize(unsigned dim, int64_t size) { dims[dim] = size; }
  /// The results, undefined ones where they are not made.
  std::vector<Tensor> run();
  /// Says what no kernel takes of the operands.
  [[noreturn]] void refuse();

private:
  void needOperand(unsigned number);
  std::string neededShape(const BoxedTensor &row) const;

  void setOperand(unsigned number);
  void setPlace(const BoxedTensor &row, const Tensor &tensor);
  template <typename Sizes>
  void bindDims(const BoxedTensor &row, const Sizes &sizes);
  Tensor allocate(const BoxedTensor &row, const std::vector<int64_t> &sizes, int32_t dtype) const;
  Tensor copyOf(const BoxedTensor &row, const Tensor &tensor) const;
  void makeResult(unsigned number);
  void checkGivenDims() const;
  void makeResults();

  const unsigned *dimsOf(const BoxedTensor &row) const {
    return row.flipAttr >= 0 && plan.words[row.flipAttr] != 0 ? row.flippedDims : row.dims;
  }
  int32_t elementOf(unsigned result) const;

  template <typename T>
  void set(unsigned offset, T value) {
    std::memcpy(args + offset, &value, sizeof(value));
  }

  const BoxedOp &op;
  const Plan &plan;
  std::vector<std::optional<Tensor>> tensors;
  std::vector<int32_t> elements; ///< mhcrt_dtype of each tensor
  int64_t dims[kMostDims];
  std::optional<std::vector<int64_t>> tokens; ///< the leading dims
  std::optional<TensorPlace> place;
  alignas(8) char args[kMostArgsBytes];
};

} // namespace

[[noreturn]] static void fail(const BoxedOp &op, const std::string &what) {
  throw std::runtime_error(op.name + (": " + what));
}

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
// Attributes
//===----------------------------------------------------------------------===//

static std::string listed(const Rows<const char *const> &words) {
  std::string text;
  for (unsigned i = 0; i < words.count; ++i)
    text += (i == 0 ? "" : i + 1 == words.count ? " or " : ", ") + std::string(words[i]);
  return text;
}

void Plan::setAttr(unsigned number, const std::optional<Value> &value) {
  const BoxedAttr &row = op.attrs[number];
  auto set = [&](auto bits) { std::memcpy(args + row.offset, &bits, sizeof(bits)); };
  if (row.kind == BoxedAttr::Float)
    return set(value ? value->number : row.whenAbsent);
  int64_t integer = value ? value->integer : int64_t(row.whenAbsent);
  if (row.kind == BoxedAttr::Word && value) {
    integer = std::find(row.words.begin(), row.words.end(), value->word) - row.words.begin();
    if (integer == row.words.count)
      fail(op, "'" + std::string(row.name) + "' is " + value->word + "; needed " + listed(row.words));
  }
  words[number] = integer;
  if (row.bytes == 4)
    set(int32_t(integer));
  else
    set(integer);
}

void Plan::setAttrs(const std::vector<std::optional<Value>> &values) {
  for (unsigned i = 0; i < op.attrs.count; ++i) {
    if (!values[i] && !op.attrs[i].isOptional)
      fail(op, "'" + std::string(op.attrs[i].name) + "' is absent; needed a value");
    setAttr(i, values[i]);
  }
}

template <typename T>
static std::optional<T> take(StableIValue value, bool isOptional) {
  return isOptional ? stable::to<std::optional<T>>(value) : stable::to<T>(value);
}

static std::optional<Value> takeAttr(const BoxedAttr &row, StableIValue value) {
  switch (row.kind) {
  case BoxedAttr::Word:
    if (auto word = take<std::string>(value, row.isOptional))
      return Value{*word};
    break;
  case BoxedAttr::Float:
    if (auto number = take<double>(value, row.isOptional))
      return Value{{}, *number};
    break;
  case BoxedAttr::Int:
    if (auto integer = take<int64_t>(value, row.isOptional))
      return Value{{}, 0, *integer};
    break;
  case BoxedAttr::Bool:
    return Value{{}, 0, stable::to<bool>(value)};
  }
  return std::nullopt;
}

template <typename Range>
static unsigned numberOf(const BoxedOp &op, const Range &rows, std::string_view name) {
  auto row = std::find_if(rows.begin(), rows.end(), [&](const auto &one) { return name == one.name; });
  if (row == rows.end())
    fail(op, "'" + std::string(name) + "' is not known");
  return row - rows.begin();
}

static Value readValue(const BoxedOp &op, const BoxedAttr &row, std::string_view text) {
  Value value;
  const char *end = text.data() + text.size();
  std::from_chars_result read = {end, {}};
  if (row.kind == BoxedAttr::Word)
    value.word = text;
  else if (row.kind == BoxedAttr::Float)
    read = std::from_chars(text.data(), end, value.number);
  else
    read = std::from_chars(text.data(), end, value.integer);
  if (read.ec != std::errc() || read.ptr != end)
    fail(op, "'" + std::string(row.name) + "' is " + std::string(text) + "; needed a number");
  return value;
}

Plan::Plan(const BoxedOp &op, std::string_view text) : Plan(op) {
  std::vector<std::optional<Value>> values(op.attrs.count);
  mask.resize(op.tensors.count - op.operands);
  bool isResult = false;
  for (size_t start = 0; start < text.size();) {
    const std::string_view word = text.substr(start, text.find(' ', start) - start);
    start += word.size() + 1;
    if (word == "->")
      isResult = true;
    else if (const size_t equals = word.find('='); equals != word.npos) {
      const unsigned number = numberOf(op, op.attrs, word.substr(0, equals));
      values[number] = readValue(op, op.attrs[number], word.substr(equals + 1));
    } else if (const Rows<BoxedTensor> results = {op.tensors.data + op.operands, unsigned(mask.size())}; isResult)
      mask[numberOf(op, results, word)] = true;
    else
      given.push_back(numberOf(op, Rows<BoxedTensor>{op.tensors.data, op.operands}, word));
  }
  setAttrs(values);
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

template <typename Sizes>
void Call::bindDims(const BoxedTensor &row, const Sizes &sizes) {
  const unsigned *own = dimsOf(row);
  const bool hasTokens = row.rank > 0 && own[0] == op.tokens;
  const size_t trailing = row.rank - hasTokens;
  bool fits = hasTokens ? sizes.size() >= trailing : sizes.size() == trailing;
  if (fits && hasTokens) {
    const auto end = sizes.end() - trailing;
    fits = !tokens || std::equal(tokens->begin(), tokens->end(), sizes.begin(), end);
    if (!tokens) {
      tokens.emplace(sizes.begin(), end);
      dims[op.tokens] = 1;
      for (int64_t size : *tokens)
        dims[op.tokens] *= size;
    }
  }
  int64_t bound[kMostDims];
  std::copy_n(dims, op.dims.count, bound);
  for (size_t i = 0; fits && i < trailing; ++i) {
    int64_t &dim = bound[own[hasTokens + i]];
    const int64_t size = sizes[sizes.size() - trailing + i];
    fits = dim == kUnknown || dim == size;
    dim = size;
  }
  if (!fits)
    fail(op, "'" + std::string(row.name) + "' has shape " + shapeOf({sizes.begin(), sizes.end()}) + "; needed " +
                 neededShape(row));
  std::copy_n(bound, op.dims.count, dims);
}

void Call::setPlace(const BoxedTensor &row, const Tensor &tensor) {
  TensorPlace own;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(tensor.get(), &own.type));
  if (own.isGpu())
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_index(tensor.get(), &own.index));
  if (place && !(*place == own))
    fail(op, "'" + std::string(row.name) + "' is on " + own.text() + "; needed " + place->text() +
                 ", where other operands are");
  place = own;
}

/// Programs that take smaller batches know the error by these words: the stable ABI passes on no kind of error.
static const char *noMemory(TensorPlace place) {
  return place.isGpu() ? "CUDA out of memory." : "DefaultCPUAllocator: can't allocate memory.";
}

Tensor Call::allocate(const BoxedTensor &row, const std::vector<int64_t> &sizes, int32_t dtype) const {
  Tensor made = makeTensor(sizes, dtype, *place);
  if (made.defined())
    return made;
  int64_t bytes = aoti_torch_dtype_element_size(dtype);
  bool overflows = false;
  for (int64_t size : sizes)
    overflows |= __builtin_mul_overflow(bytes, size, &bytes);
  fail(op, noMemory(*place) + (" '" + std::string(row.name) + "' in memory order has shape ") + shapeOf(sizes) +
               "; needed " + (overflows ? "more than 2^63" : std::to_string(bytes)) + " bytes");
}

/// In memory order, at an aligned address.
Tensor Call::copyOf(const BoxedTensor &row, const Tensor &tensor) const {
  int32_t dtype = 0;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(tensor.get(), &dtype));
  const auto sizes = tensor.sizes();
  Tensor copy = allocate(row, {sizes.begin(), sizes.end()}, dtype);
  return torch::stable::copy_(copy, tensor);
}

void Call::needOperand(unsigned number) {
  std::optional<Tensor> &tensor = tensors[number];
  if (tensor && !tensor->defined()) // None for one that is needed
    tensor.reset();
  if (!tensor && !op.tensors[number].isOptional) // sizes of results are not known without it
    fail(op, "'" + std::string(op.tensors[number].name) + "' is absent; needed a tensor");
}

void Call::refuse() {
  for (unsigned i = 0; i < op.operands; ++i)
    needOperand(i);
  fail(op, "no kernel takes the operands; needed strided tensors on a CPU or, by CUDA, on a GPU");
}

void Call::setOperand(unsigned number) {
  needOperand(number);
  const BoxedTensor &row = op.tensors[number];
  std::optional<Tensor> &tensor = tensors[number];
  if (!tensor)
    return;
  setPlace(row, *tensor);
  elements[number] = elementType(*tensor);
  if (elements[number] == MHCRT_NONE)
    fail(op, "'" + std::string(row.name) + "' has a dtype that no kernel knows; needed " +
                 (row.integerBits ? "i" + std::to_string(row.integerBits) : "f32, bf16 or f16"));
  bindDims(row, tensor->sizes());
  // Variants for a GPU are chosen by alignment as well, and each has its own bits.
  if (!tensor->is_contiguous() ||
      (place->isGpu() && reinterpret_cast<uintptr_t>(tensor->const_data_ptr()) % kAlignment != 0))
    tensor = copyOf(row, *tensor);
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
      fail(op, "'" + std::string(op.dims[dim].name) + "' is " + std::to_string(dims[dim]) + "; needed at least 0");
    else
      sizes.push_back(dims[dim]);
  elements[number] = elementOf(number);
  tensors[number] = allocate(row, sizes, torchType(elements[number]));
  set(row.dataOffset, tensors[number]->mutable_data_ptr());
  set(row.typeOffset, elements[number]);
}

/// The kernels check sizes as well, but when there are results.
void Call::checkGivenDims() const {
  for (unsigned i = 0; i < op.dims.count; ++i)
    if (op.dims[i].isGiven && op.dims[i].name == std::string_view("n") && (dims[i] < 1 || dims[i] > kMaxStreams))
      fail(op, "'n' is " + std::to_string(dims[i]) + "; needed 1 to " + std::to_string(kMaxStreams));
}

void Call::makeResults() {
  const unsigned results = op.tensors.count - op.operands;
  if (op.hasMask && plan.mask.size() != results)
    fail(op, "'output_mask' has " + std::to_string(plan.mask.size()) + " elements; needed " + std::to_string(results));
  for (unsigned i = 0; i < results; ++i)
    if (!op.tensors[op.operands + i].isOptional || plan.mask[i])
      makeResult(op.operands + i);
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

std::vector<Tensor> Call::run() {
  std::memcpy(args, plan.args, op.argsBytes);
  set(0, op.argsBytes);
  for (unsigned i = 0; i < op.operands; ++i)
    setOperand(i);
  for (unsigned i = 0; i < op.dims.count; ++i)
    set(op.dims[i].offset, dims[i] == kUnknown ? int64_t(0) : dims[i]);
  checkGivenDims();
  makeResults();
  const BorrowedContext context(*place);
  const Kernel kernel = place->isGpu() ? op.gpuKernel() : op.kernel;
  if (const mhcrt_status status = kernel(context.get(), args); status != MHCRT_OK)
    throw std::runtime_error(context.error() +
                             (status == MHCRT_OUT_OF_MEMORY ? std::string(": ") + noMemory(*place) : ""));
  std::vector<Tensor> results;
  for (unsigned i = op.operands; i < op.tensors.count; ++i)
    results.push_back(tensors[i] ? *tensors[i] : Tensor());
  return results;
}

/// All that is on the stack is taken before anything is looked at, for whatever stays there is lost.
static void takeAll(const BoxedOp &op, StableIValue *next, Plan &plan, Call &call) {
  for (unsigned i = 0; i < op.operands; ++i)
    call.setTensor(i, take<Tensor>(*next++, op.tensors[i].isOptional));
  for (unsigned i = 0; i < op.dims.count; ++i)
    if (op.dims[i].isGiven)
      call.setSize(i, stable::to<int64_t>(*next++));
  std::vector<std::optional<Value>> values;
  for (unsigned i = 0; i < op.attrs.count; ++i)
    values.push_back(takeAttr(op.attrs[i], *next++));
  if (op.hasMask)
    plan.mask = stable::to<std::vector<bool>>(*next++);
  plan.setAttrs(values);
}

void mhcrt::callBoxed(const BoxedOp &op, StableIValue *stack) {
  Plan plan(op);
  Call call(plan);
  takeAll(op, stack, plan, call);
  for (const Tensor &result : call.run())
    *stack++ = stable::from(result);
}

void mhcrt::refuseBoxed(const BoxedOp &op, StableIValue *stack) {
  Plan plan(op);
  Call call(plan);
  takeAll(op, stack, plan, call);
  call.refuse();
}

void mhcrt::callCompiled(const BoxedOp &op, StableIValue *stack) {
  std::vector<Tensor> operands = stable::to<std::vector<Tensor>>(stack[0]);
  const std::vector<int64_t> sizes = stable::to<std::vector<int64_t>>(stack[1]);
  const std::string text = stable::to<std::string>(stack[2]);
  // A graph calls with the same few texts again and again. Each thread has its own, which needs no lock.
  thread_local std::unordered_map<const BoxedOp *, std::unordered_map<std::string, Plan>> plans;
  auto &known = plans[&op];
  auto plan = known.find(text);
  if (plan == known.end())
    plan = known.emplace(text, Plan(op, text)).first;
  Call call(plan->second);
  const std::vector<unsigned> &given = plan->second.given;
  if (given.size() != operands.size())
    fail(op, "there are " + std::to_string(operands.size()) + " operands; needed " + std::to_string(given.size()));
  for (size_t i = 0; i < given.size(); ++i)
    call.setTensor(given[i], std::move(operands[i]));
  auto size = sizes.begin();
  for (unsigned i = 0; i < op.dims.count && size != sizes.end(); ++i)
    if (op.dims[i].isGiven)
      call.setSize(i, *size++);
  std::vector<Tensor> made = call.run();
  made.erase(std::remove_if(made.begin(), made.end(), [](const Tensor &one) { return !one.defined(); }), made.end());
  stack[0] = stable::from(made);
}
