//===- MhcToRuntime.cpp - Entries, kernel calls and the manifest ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryLowering.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/Analysis/Mesh.h"
#include "mhc/Conversion/Passes.h"
#include "mhc/IR/ElementTypes.h"
#include "mhc/IR/OutsideFunctions.h"
#include "mhc/IR/Pins.h"
#include "mhc/IR/SizeCheck.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mhc {
#define GEN_PASS_DEF_CONVERTMHCTORUNTIMEPASS
#include "mhc/Conversion/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

/// "split W 0 48 24", and "partial d_W dp,tp".
static LogicalResult addShares(func::FuncOp func, unsigned index, StringRef name, std::string &lines) {
  if (auto axes = func.getArgAttrOfType<StringAttr>(index, kPartial))
    lines += ("partial " + name + " " + axes.getValue() + "\n").str();
  Attribute given = func.getArgAttr(index, kSplit);
  if (!given)
    return success();
  auto split = dyn_cast<DenseI64ArrayAttr>(given);
  ArrayRef<int64_t> shape = cast<MemRefType>(func.getArgumentTypes()[index]).getShape(), numbers;
  if (split)
    numbers = split.asArrayRef();
  if (numbers.size() < 2 || numbers[0] < 0 || numbers[0] >= static_cast<int64_t>(shape.size()) ||
      llvm::any_of(
          numbers.drop_front(), [](int64_t part) { return part < 1 || part > INT32_MAX; }) ||
      llvm::sum_of(numbers.drop_front()) != shape[numbers[0]])
    return func.emitError() << "'" << name << "' has '" << kSplit << "' " << given
                            << "; needed integers: one of its dimensions, and the sizes of parts that are its size";
  lines += ("split " + name).str();
  for (int64_t number : numbers)
    lines += " " + std::to_string(number);
  lines += "\n";
  return success();
}

FailureOr<std::string> mhc::manifestOf(StringRef kind, func::FuncOp func) {
  std::string arguments, results, shared;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto name = func.getArgAttrOfType<StringAttr>(i, "mhc.name");
    auto dims = func.getArgAttrOfType<ArrayAttr>(i, kDims);
    auto type = dyn_cast<MemRefType>(func.getArgumentTypes()[i]);
    if (!name || !dims || !type)
      return func.emitError() << "argument " << i << " of entry '" << func.getName()
                              << "' is not described; run mhc-describe-entries before convert-mhc-to-runtime";
    bool isResult = func.getArgAttr(i, "mhc.result") != nullptr;
    std::string line = (name.getValue() + " " + elementName(elementCode(type.getElementType()))).str();
    for (StringAttr dim : dims.getAsRange<StringAttr>())
      line += (" " + dim.getValue()).str();
    (isResult ? results : arguments) += (isResult ? "result " : "arg ") + line + "\n";
    if (isResult && func.getArgAttr(i, "mhc.in_place"))
      shared += "in_place " + name.getValue().str() + "\n";
    if (failed(addShares(func, i, name.getValue(), shared)))
      return failure();
  }
  std::string conditions;
  if (auto list = func->getAttrOfType<ArrayAttr>(kConditions))
    for (StringAttr condition : list.getAsRange<StringAttr>()) {
      auto [left, right] = condition.getValue().split('=');
      conditions += ("equal " + left + " " + right + "\n").str();
    }
  return (kind + " " + func.getName() + "\n").str() + arguments + results + shared + conditions + "end\n";
}

/// `const char mhc_model_manifest[]`.
static void addManifest(ModuleOp module, StringRef text) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  std::string bytes = text.str() + '\0';
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::External,
                         "mhc_model_manifest", builder.getStringAttr(bytes));
}

namespace {
struct ConvertMhcToRuntime : mhc::impl::ConvertMhcToRuntimePassBase<ConvertMhcToRuntime> {
  using ConvertMhcToRuntimePassBase::ConvertMhcToRuntimePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    bool onGpu = target != "cpu";
    std::string manifest = "mhc-model 1\n";
    if (onGpu)
      manifest += "target " + target + "\n";
    if (auto mesh = module->getAttrOfType<StringAttr>(kMesh))
      manifest += "mesh " + mesh.getValue().str() + "\n";
    if (auto pins = module->getAttrOfType<ArrayAttr>(kPins))
      for (StringAttr pin : pins.getAsRange<StringAttr>())
        manifest += ("pin " + pin.getValue() + "\n").str();
    SmallVector<func::FuncOp> outside = outsideFunctions(module);
    for (func::FuncOp func : outside) {
      FailureOr<std::string> function = manifestOf("function", func);
      if (failed(function))
        return signalPassFailure();
      manifest += *function;
    }
    for (func::FuncOp func : llvm::to_vector(module.getOps<func::FuncOp>())) {
      if (!func.isPublic() || func.isDeclaration())
        continue;
      FailureOr<std::string> entry = manifestOf("entry", func);
      if (failed(entry) || failed(lowerEntry(func, symbols, {onGpu, lines})))
        return signalPassFailure();
      manifest += *entry;
    }
    for (func::FuncOp func : outside)
      symbols.erase(func);
    if (Operation *checks = symbols.lookup(kCheckSize))
      symbols.erase(checks);
    for (func::FuncOp func : llvm::to_vector(module.getOps<func::FuncOp>()))
      if (func.isPrivate() && llvm::any_of(func.getArgumentTypes(), llvm::IsaPred<MemRefType>))
        lowerLoopFunction(func, symbols);
    if (onGpu) {
      for (auto device : module.getOps<gpu::GPUModuleOp>())
        lowerKernelChecks(device);
      module.walk([](gpu::GPUFuncOp kernel) { lowerKernel(kernel); });
      lowerLaunches(module);
    }
    lowerGlobals(module);
    addManifest(module, manifest);
  }
};
} // namespace
