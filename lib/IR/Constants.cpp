//===- Constants.cpp - The elements of constant tensors ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/IR/Constants.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

DenseElementsAttr mhc::denseElements(Attribute constant) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant);
  if (!resource)
    return dyn_cast<DenseElementsAttr>(constant);
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  // A resource has a byte for each boolean, a dense attribute a bit.
  if (!blob || resource.getElementType().isInteger(1))
    return {};
  if (blob->getData().size() * 8 !=
      size_t(resource.getNumElements()) * resource.getElementType().getIntOrFloatBitWidth())
    return {};
  return DenseElementsAttr::getFromRawBuffer(resource.getType(), blob->getData());
}
