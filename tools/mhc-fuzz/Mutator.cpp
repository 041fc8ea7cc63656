//===- Mutator.cpp - Changes of modules that often still parse ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changed bytes seldom parse. These changes know lines, numbers and types of the text, and operands, attributes and
// kinds of the ops.
//
//===----------------------------------------------------------------------===//

#include "Conformance/Mutation.h"
#include "Upstream.h"
#include "mhc/Driver/Driver.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

using namespace mhc;
using conformance::Random;
using llvm::StringRef;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {
using Lines = llvm::SmallVector<StringRef>;

/// A part of the text: [begin, end).
struct Span {
  size_t begin, end;
};
} // namespace

static StringRef pickLine(const Lines &lines, Random &random) { return lines[random.between(0, lines.size() - 1)]; }

/// Drops, doubles, moves or exchanges lines, or takes the operands of one for another.
static std::string changeLines(StringRef text, Random &random) {
  Lines lines;
  text.split(lines, '\n');
  size_t place = random.between(0, lines.size() - 1), other = random.between(0, lines.size() - 1);
  switch (random.between(0, 3)) {
  case 0:
    lines.erase(lines.begin() + place);
    break;
  case 1:
    lines.insert(lines.begin() + place, pickLine(lines, random));
    break;
  case 2:
    std::swap(lines[place], lines[other]);
    break;
  default:
    lines[place] = lines[other];
  }
  return llvm::join(lines, "\n");
}

/// From `at` on, to where characters of the set end.
static Span spanFrom(StringRef text, size_t at, StringRef set) {
  size_t end = text.find_first_not_of(set, at);
  return {at, end == StringRef::npos ? text.size() : end};
}

static std::string replaceSpan(StringRef text, Span span, StringRef with) {
  return (text.take_front(span.begin) + with + text.drop_front(span.end)).str();
}

/// Everywhere, or in one place.
static std::string replaceWord(StringRef text, Span span, StringRef with, bool everywhere) {
  if (!everywhere || span.begin == span.end)
    return replaceSpan(text, span, with);
  std::string result;
  StringRef word = text.slice(span.begin, span.end);
  for (size_t at; (at = text.find(word)) != StringRef::npos; text = text.drop_front(at + word.size()))
    result += (text.take_front(at) + with).str();
  return result + text.str();
}

static size_t pickPlace(StringRef text, Random &random, llvm::function_ref<bool(size_t)> fits) {
  llvm::SmallVector<size_t> places;
  for (size_t at = 0; at < text.size(); ++at)
    if (fits(at))
      places.push_back(at);
  return places.empty() ? StringRef::npos : places[random.between(0, places.size() - 1)];
}

/// A size, an index, an attribute or a part of a number.
static std::string changeNumber(StringRef text, Random &random) {
  size_t at = pickPlace(text, random, [&](size_t i) {
    return llvm::isDigit(text[i]) && (i == 0 || !(llvm::isAlnum(text[i - 1]) && text[i - 1] != 'x'));
  });
  if (at == StringRef::npos)
    return text.str();
  Span number = spanFrom(text, at, "0123456789");
  uint64_t value = 0; // wraps around
  (void)text.slice(number.begin, number.end).getAsInteger(10, value);
  const uint64_t numbers[] = {0,          1,         2,          3,         4,         7,         16,       1 << 20,
                              1ull << 62, INT64_MAX, UINT64_MAX, value + 1, value - 1, value * 2, value * 2};
  std::string with = std::to_string(static_cast<int64_t>(numbers[random.between(0, std::size(numbers) - 1)]));
  return replaceSpan(text, number, with);
}

/// A type of a tensor, everywhere or once: another one of the text, or with another size or element type.
static std::string changeType(StringRef text, Random &random) {
  static constexpr StringRef kTensor = "tensor<";
  auto place = [&] { return pickPlace(text, random, [&](size_t i) { return text.substr(i).starts_with(kTensor); }); };
  size_t at = place(), other = place();
  if (at == StringRef::npos)
    return text.str();
  auto inner = [&](size_t at) { return spanFrom(text, at + kTensor.size(), "0123456789?xbfiindex"); };
  Span old = inner(at), another = inner(other);
  llvm::SmallVector<StringRef> parts;
  text.slice(old.begin, old.end).split(parts, 'x');
  StringRef &part = parts[random.between(0, parts.size() - 1)];
  if (&part == &parts.back())
    part = random.pick<StringRef>({"f32", "bf16", "f16", "f64", "i1", "i32", "i64", "index", "i8"});
  else
    part = random.pick<StringRef>({"?", "0", "1", "2", "3", "4", "5", "8", "4611686018427387904"});
  std::string with = random.flip(0.3) ? text.slice(another.begin, another.end).str() : llvm::join(parts, "x");
  return replaceWord(text, old, with, random.flip(0.8));
}

/// Changes of ops, printed so that they parse again; the text as it is where it does not parse.
static std::string changeOps(StringRef text, Random &random) {
  if (fuzz::crashesUpstream(text))
    return text.str();
  Compiler compiler;
  auto module = compiler.parseText(text);
  if (!module) {
    llvm::consumeError(module.takeError());
    return text.str();
  }
  llvm::SmallVector<mlir::func::FuncOp> funcs;
  (*module)->walk([&](mlir::func::FuncOp func) { funcs.push_back(func); });
  for (int64_t count = funcs.empty() ? 0 : random.between(1, 4); count > 0; --count)
    conformance::mutate(funcs[random.between(0, funcs.size() - 1)], random);
  bool valid = !llvm::errorToBool(compiler.withDiagnostics("", [&] { return succeeded(mlir::verify(**module)); }));
  std::string result;
  llvm::raw_string_ostream os(result);
  // The generic form makes no use of what a verifier would have checked.
  (*module)->print(os, mlir::OpPrintingFlags().printGenericOpForm(!valid).useLocalScope());
  return result;
}

/// MLIR's library is not instrumented, and does not unpoison what our inlined copies of its allocators poison.
extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0"; }

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  Random random(seed);
  std::string text(reinterpret_cast<const char *>(data), size), changed = text;
  using Change = std::string (*)(StringRef, Random &);
  for (int64_t count = random.between(1, 3); count > 0; --count)
    changed = random.pick<Change>({changeLines, changeNumber, changeType, changeOps, changeOps})(changed, random);
  if (changed == text || changed.size() > maxSize || random.flip(0.1))
    return LLVMFuzzerMutate(data, size, maxSize);
  std::copy(changed.begin(), changed.end(), data);
  return changed.size();
}
