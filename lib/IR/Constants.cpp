//===- Constants.cpp - Numbers of constants ----------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/Constants.h"
#include "mhc/IR/TensorBytes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include <charconv>
#include <iterator>

using namespace mlir;

DenseElementsAttr mhc::denseElements(Attribute constant) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant);
  if (!resource)
    return dyn_cast<DenseElementsAttr>(constant);
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  // A resource has a byte for each boolean, a dense attribute a bit.
  if (!blob || resource.getElementType().isInteger(1))
    return {};
  std::optional<int64_t> bytes = bytesOf(resource.getElementType());
  if (!bytes || blob->getData().size() != size_t(resource.getNumElements() * *bytes))
    return {};
  return DenseElementsAttr::getFromRawBuffer(resource.getType(), blob->getData());
}

Attribute mhc::numberOf(Value value, const KnownNumbers &known) {
  Attribute number = known.lookup(value);
  if (!number)
    (void)matchPattern(value, m_Constant(&number));
  return number;
}

Attribute mhc::foldNumber(Operation &op, const KnownNumbers &known) {
  SmallVector<Attribute> operands =
      llvm::map_to_vector(op.getOperands(), [&](Value operand) { return numberOf(operand, known); });
  SmallVector<OpFoldResult> results;
  if (llvm::is_contained(operands, Attribute()) || failed(op.fold(operands, results)) || results.size() != 1)
    return {};
  auto shown = dyn_cast<Value>(results[0]);
  return shown ? numberOf(shown, known) : cast<Attribute>(results[0]);
}

double mhc::asWritten(const llvm::APFloat &number) {
  if (&number.getSemantics() != &llvm::APFloat::IEEEsingle())
    return number.convertToDouble();
  float value = number.convertToFloat();
  char text[32];
  char *end = std::to_chars(text, std::end(text), value).ptr; // the shortest text that is read as this number
  double decimal = value;
  std::from_chars(text, end, decimal);
  return decimal;
}
