//===- Variants.cpp - The choice of a kernel, and reports of it -----------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Variants.h"
#include "mhcrt/cuda.h"

#include <algorithm>
#include <cstring>

using namespace mhcrt;

static std::string listNames(const Candidate *rows, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += (i ? ", '" : "'") + std::string(rows[i].name) + "'";
  return text;
}

/// Misses of the rows before the last one, for a message: "sm90: 'n' is 3; needed 4", or "sm90 of pre: ".
static std::string listMisses(const Candidate *rows, int count, const std::string &part = "") {
  std::string text;
  for (int i = 0; i + 1 < count; ++i)
    if (!rows[i].fits)
      text += (text.empty() ? "" : ". ") + (rows[i].name + part) + ": " + rows[i].needs.text();
  return text;
}

/// An error of strict mode; where the op is a part of another one, of that, with the reasons of both.
static void refuse(mhcrt_context &context, const char *op, const Candidate *rows, int row) {
  const std::string part(op), symbol = context.whole ? context.whole : "mhcrt_" + part;
  std::string misses = listMisses(rows, row + 1, context.whole ? " of " + part : "");
  if (context.whole && !context.wholeMisses.empty())
    misses = context.wholeMisses + ". " + misses;
  context.fail(MHCRT_INVALID_ARGUMENT,
               "%s: no variant that is faster than '%s' takes %s, and strict mode refuses that one. %s", symbol.c_str(),
               rows[row].name, context.whole ? ("its part '" + part + "'").c_str() : "this call", misses.c_str());
}

static int choosePinned(mhcrt_context &context, const char *op, const std::string &pinned, const Candidate *rows,
                        int count) {
  const Candidate *row =
      std::find_if(rows, rows + count, [&](const Candidate &candidate) { return pinned == candidate.name; });
  if (row == rows + count)
    context.fail(MHCRT_NOT_FOUND, "mhcrt_%s: no variant is called '%s'; there are %s", op, pinned.c_str(),
                 listNames(rows, count).c_str());
  else if (!row->fits)
    context.fail(MHCRT_INVALID_ARGUMENT, "mhcrt_%s: the pinned variant '%s' does not take this call: %s", op,
                 pinned.c_str(), row->needs.text().c_str());
  else
    return static_cast<int>(row - rows);
  return -1;
}

static int chooseFirst(mhcrt_context &context, const char *op, const Candidate *rows, int count) {
  const Candidate *row = std::find_if(rows, rows + count, [](const Candidate &candidate) { return candidate.fits; });
  const int number = static_cast<int>(row - rows);
  if (!row->isSlower || !context.strict)
    return number;
  if (std::strcmp(row->name, "separate") == 0) { // its parts have rows of their own
    context.wholeMisses = listMisses(rows, number + 1);
    return number;
  }
  refuse(context, op, rows, number);
  return -1;
}

int mhcrt::chooseVariant(mhcrt_context &context, const char *op, const Candidate *rows, int count) {
  const auto pin = context.pins.find(op);
  const bool isPinned = pin != context.pins.end();
  const int row =
      isPinned ? choosePinned(context, op, pin->second, rows, count) : chooseFirst(context, op, rows, count);
  if (row < 0)
    return row;
  auto known = std::find_if(context.choices.begin(), context.choices.end(), [&](const Choice &choice) {
    return choice.variant == rows[row].name && std::strcmp(choice.op, op) == 0;
  });
  if (known == context.choices.end())
    known = context.choices.insert(known, {op, rows[row].name, 0, 0, ""});
  const bool lackRoom = std::any_of(rows, rows + row, [](const Candidate &faster) { return faster.needs.lackRoom(); });
  if (!isPinned && (rows[row].isSlower || lackRoom) && known->fallback.empty())
    known->fallback = listMisses(rows, row + 1);
  ++known->calls;
  known->last = ++context.calls;
  return row;
}

extern "C" {

mhcrt_status mhcrt_cuda_pin(mhcrt_context *context, const char *pin) {
  const char *separator = std::strchr(pin, '=');
  if (!separator)
    return context->fail(MHCRT_INVALID_ARGUMENT, "mhcrt_cuda_pin: '%s' has no '='; needed OP=VARIANT", pin);
  const std::string op(pin, separator);
  context->pins.erase(op);
  if (separator[1])
    context->pins[op] = separator + 1;
  return context->status;
}

void mhcrt_cuda_set_strict(mhcrt_context *context, int32_t strict) { context->strict = strict != 0; }

const char *mhcrt_cuda_chosen(const mhcrt_context *context, const char *op) {
  const Choice *last = nullptr;
  for (const Choice &choice : context->choices)
    if (std::strcmp(choice.op, op) == 0 && (!last || choice.last > last->last))
      last = &choice;
  return last ? last->variant : nullptr;
}

int32_t mhcrt_cuda_choices(const mhcrt_context *context) { return static_cast<int32_t>(context->choices.size()); }

void mhcrt_cuda_choice_at(const mhcrt_context *context, int32_t index, mhcrt_cuda_choice *choice) {
  const Choice &from = context->choices[index];
  *choice = {from.op, from.variant, from.calls, from.fallback.c_str()};
}

} // extern "C"
