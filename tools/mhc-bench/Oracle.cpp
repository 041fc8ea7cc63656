//===- Oracle.cpp - Expected results of a kernel -------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Oracle.h"
#include "mhc/IR/MhcDialect.h"
#include "mhc/Transforms/Passes.h"
#include "mhcrt/mhcrt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::bench;

std::unique_ptr<MLIRContext> mhc::bench::makeOracleContext() {
  auto context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<MhcDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect, scf::SCFDialect,
                       tensor::TensorDialect>();
  return context;
}

static Type elementType(Builder &builder, int32_t dtype) {
  switch (dtype) {
  case MHCRT_BF16:
    return builder.getBF16Type();
  case MHCRT_F16:
    return builder.getF16Type();
  case MHCRT_I32:
    return builder.getI32Type();
  case MHCRT_I64:
    return builder.getI64Type();
  }
  return builder.getF32Type();
}

static Attribute makeAttribute(Builder &builder, const KernelAttr &attr, double value) {
  switch (attr.kind) {
  case KernelAttr::Enum:
    return attr.make(builder.getContext(), static_cast<int64_t>(value));
  case KernelAttr::Int:
    return builder.getI64IntegerAttr(static_cast<int64_t>(value));
  case KernelAttr::Float:
    return builder.getF64FloatAttr(value);
  case KernelAttr::Bool:
    return builder.getBoolAttr(value != 0);
  case KernelAttr::Unit:
    return value != 0 ? builder.getUnitAttr() : Attribute();
  }
  llvm_unreachable("all kinds are above");
}

reference::Shape Oracle::shapeOf(const Case &c, unsigned index) {
  return llvm::map_to_vector(dimsOf(c, index), [&](unsigned dim) { return static_cast<int64_t>(c.values.dims[dim]); });
}

static Type typeOf(Builder &builder, const Case &c, unsigned index) {
  reference::Shape shape = llvm::map_to_vector(dimsOf(c, index), [&](unsigned dim) {
    return isTokenDim(*c.info, dim) ? ShapedType::kDynamic : static_cast<int64_t>(c.values.dims[dim]);
  });
  return RankedTensorType::get(shape, elementType(builder, c.tensors[index].dtype));
}

/// Types of one side, and how many tensors each place of the record has.
static SmallVector<Type> sideOf(Builder &builder, const Case &c, bool results, SmallVector<int32_t> &counts) {
  SmallVector<Type> types;
  for (auto [i, tensor] : llvm::enumerate(c.info->tensors)) {
    if (tensor.isResult != results)
      continue;
    counts.push_back(c.tensors[i].count);
    if (c.tensors[i].count > 0)
      types.append(counts.back(), typeOf(builder, c, i));
  }
  return types;
}

Oracle::Oracle(MLIRContext &context, const Case &c) {
  OpBuilder builder(&context);
  const Location loc = builder.getUnknownLoc();
  SmallVector<int32_t> operandCounts, resultCounts;
  const SmallVector<Type> operands = sideOf(builder, c, /*results=*/false, operandCounts),
                          results = sideOf(builder, c, /*results=*/true, resultCounts);
  module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto func = func::FuncOp::create(builder, loc, c.kernel, builder.getFunctionType(operands, results));
  builder.setInsertionPointToEnd(func.addEntryBlock());

  OperationState state(loc, c.info->opName);
  state.addOperands(func.getArguments());
  state.addTypes(results);
  for (auto [attr, value] : llvm::zip(c.info->attrs, c.values.attrs))
    if (Attribute made = isLeftOut(c, attr) ? Attribute() : makeAttribute(builder, attr, value))
      state.addAttribute(attr.name, made);
  auto name = *state.name.getRegisteredInfo();
  if (name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr(operandCounts));
  if (name.hasTrait<OpTrait::AttrSizedResultSegments>())
    state.addAttribute("resultSegmentSizes", builder.getDenseI32ArrayAttr(resultCounts));
  Operation *op = builder.create(state);
  func::ReturnOp::create(builder, loc, op->getResults());

  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  legal = succeeded(verify(op));
  if (legal)
    llvm::raw_string_ostream(opText) << *op;
}

llvm::Expected<std::vector<reference::HostTensor>> Oracle::evaluate(ArrayRef<reference::HostTensor> operands,
                                                                    reference::Rounding rounding) {
  if (!isDecomposed) {
    PassManager passes(module->getContext());
    passes.addNestedPass<func::FuncOp>(createDecomposePass());
    if (failed(passes.run(*module)))
      return llvm::createStringError("'" + opText + "' does not decompose");
    isDecomposed = true;
  }
  return reference::evaluate(*module->getOps<func::FuncOp>().begin(), operands, rounding);
}
