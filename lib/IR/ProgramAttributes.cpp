//===- ProgramAttributes.cpp - Forms of attributes that a program sets ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/MhcDialect.h"
#include "mhc/IR/Pins.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mhc;

static bool isUnit(Attribute value) { return isa<UnitAttr>(value); }
static bool isText(Attribute value) { return isa<StringAttr>(value); }
static bool isFunction(Attribute value) { return isa<FlatSymbolRefAttr>(value); }
static bool isNumbers(Attribute value) { return isa<DenseI64ArrayAttr>(value); }

template <typename Element>
static bool isListOf(Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && llvm::all_of(list, llvm::IsaPred<Element>);
}

/// A manifest has such a text in one of its lines.
static bool isWord(Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  return text && !text.empty() && llvm::all_of(text.getValue(), [](char c) { return c > ' ' && c < 0x7f; });
}

bool mhc::namesKernel(StringRef pin) {
  return lookupKernelInfo((MhcDialect::getDialectNamespace() + "." + pin.split('=').first).str());
}

static bool isListOfPins(Attribute value) {
  return isListOf<StringAttr>(value) && llvm::all_of(cast<ArrayAttr>(value), [](Attribute pin) {
           StringRef text = cast<StringAttr>(pin).getValue();
           return isWord(pin) && namesKernel(text) && !text.split('=').second.empty();
         });
}

namespace {
struct Form {
  StringRef name;
  bool (*has)(Attribute);
  StringRef needed;
};
} // namespace

/// Those that are read as what they should be. Attributes between two passes that a program has no reason to set are
/// here where one could.
static constexpr Form kForms[] = {
    {"mhc.no_grad", isUnit, "no value"},
    {"mhc.main_grad", isUnit, "no value"},
    {"mhc.in_place", isUnit, "no value"},
    {"mhc.streams", isUnit, "no value"},
    {"mhc.made_of", isNumbers, "the numbers of results, such as array<i64: 0>"},
    {"mhc.mesh", isWord, "a text such as \"dp=2\", without blanks"},
    {"mhc.partial", isWord, "a text such as \"dp,tp\", without blanks"},
    {"mhc.pins", isListOfPins, "a list of texts such as \"post=generic\", each with the name of a kernel"},
    {"mhc.vjp", isFunction, "the name of a function, such as @f_bwd"},
    {"mhc.recompute_mode", isText, "a text such as \"groups=2\""},
    {"mhc.gdn_impl", isText, "a text such as \"fused\""},
    {"mhc.conditions", isListOf<StringAttr>, "a list of texts"},
    {"mhc.memory", isListOf<DictionaryAttr>, "a list of dictionaries"},
    {"mhc.temporaries", isListOf<DictionaryAttr>, "a list of dictionaries"},
};

static LogicalResult verifyForm(Operation *op, NamedAttribute attribute) {
  const auto *form = llvm::find_if(kForms, [&](const Form &form) { return form.name == attribute.getName(); });
  if (form == std::end(kForms) || form->has(attribute.getValue()))
    return success();
  return op->emitError() << "'" << form->name << "' is " << attribute.getValue() << "; needed " << form->needed;
}

LogicalResult MhcDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyForm(op, attribute);
}

LogicalResult MhcDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return verifyForm(op, attribute);
}

LogicalResult MhcDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return verifyForm(op, attribute);
}
