//===- Explain.cpp - What the compiler did, in print ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"
#include "Recompute.h"
#include "mhc/Analysis/CostReport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mhc;
using mlir::func::FuncOp;

static bool isEntry(FuncOp func) { return func.isPublic() && !func.isDeclaration(); }

static llvm::StringRef kindName(CompileRemark::Kind kind) {
  return kind == CompileRemark::passed ? "found" : kind == CompileRemark::missed ? "missed" : "note";
}

static void printRemarks(llvm::ArrayRef<CompileRemark> remarks) {
  for (const CompileRemark &remark : remarks)
    llvm::outs() << remark.where << ": " << remark.pass << ": " << kindName(remark.kind) << ": " << remark.text << "\n";
  if (!remarks.empty())
    llvm::outs() << "\n";
}

static llvm::json::Value toJson(llvm::ArrayRef<CompileRemark> remarks) {
  llvm::json::Array list;
  for (const CompileRemark &remark : remarks)
    list.push_back(llvm::json::Object{
        {"where", remark.where}, {"pass", remark.pass}, {"kind", kindName(remark.kind)}, {"text", remark.text}});
  return list;
}

using Costs = llvm::MapVector<llvm::StringRef, FunctionCost>;

/// The costs of all entries by name, which the context keeps.
static Costs costsOf(mlir::ModuleOp module) {
  Costs costs;
  for (FuncOp func : module.getOps<FuncOp>())
    if (isEntry(func))
      costs[func.getName()] = costOf(func);
  return costs;
}

/// The costs of all entries, gradients among them, without and with fusion, the latter with the memory plan.
static llvm::Error collectCosts(Compiler &compiler, mlir::ModuleOp module, const CompileOptions &options, Costs &before,
                                Costs &after) {
  Compiler::Module unfused(module.clone());
  CompileOptions unfusedOptions = options;
  unfusedOptions.fuse = FuseLevel::none;
  unfusedOptions.recompute = "none";
  if (llvm::Error error = compiler.run(*unfused, unfusedOptions, Phase::fuse))
    return error;
  before = costsOf(*unfused);
  if (llvm::Error error = compiler.run(module, options, Phase::fuse))
    return error;
  after = costsOf(module);
  if (llvm::Error error = compiler.run(module, options, Phase::fuse, Phase::bufferize))
    return error;
  for (FuncOp func : module.getOps<FuncOp>())
    if (isEntry(func))
      after[func.getName()].plannedPeakBytes = plannedPeakBytes(func);
  return llvm::Error::success();
}

llvm::Error mhc::explain(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options) {
  std::vector<RecomputePlan> plans;
  if (!options.compile.grad.empty()) {
    auto all = allRecomputePlans(compiler, source, options.compile);
    if (!all)
      return all.takeError();
    plans = std::move(*all);
  }
  compiler.keepRemarks();
  Compiler::Module module(source.clone());
  Costs before, after;
  if (llvm::Error error = collectCosts(compiler, *module, options.compile, before, after))
    return error;
  CostReportOptions report;
  report.json = options.explain == Explain::json;
  report.machine = lookupMachine(options.machine);
  if (auto tokens = options.sizes.find("M"); tokens != options.sizes.end())
    report.tokens = tokens->second;
  if (!report.json) {
    printRemarks(compiler.remarks());
    for (auto &[name, cost] : after)
      printReport(llvm::outs(), before[name], cost, report);
    printRecomputePlans(llvm::outs(), options.compile.grad, plans);
    return llvm::Error::success();
  }
  llvm::json::Array functions;
  for (auto &[name, cost] : after) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printReport(stream, before[name], cost, report);
    auto value = llvm::json::parse(text);
    if (!value)
      return value.takeError();
    functions.push_back(std::move(*value));
  }
  llvm::json::Array recompute;
  for (const RecomputePlan &plan : plans)
    recompute.push_back(plan.toJson());
  llvm::json::Value document = llvm::json::Object{{"functions", std::move(functions)},
                                                  {"recompute", std::move(recompute)},
                                                  {"remarks", toJson(compiler.remarks())}};
  llvm::outs() << llvm::formatv("{0:2}\n", document);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

static std::string identifier(llvm::StringRef name) {
  std::string result;
  for (char c : name)
    result += llvm::isAlnum(c) ? c : '_';
  return result;
}

static void appendEntry(FuncOp func, std::string &text) {
  std::string name = func.getName().str(), arguments, results;
  unsigned numArguments = 0, numResults = 0;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    bool isResult = func.getArgAttr(i, "mhc.result") != nullptr;
    auto type = mlir::cast<mlir::MemRefType>(func.getArgumentTypes()[i]);
    std::string shape;
    for (auto dim : func.getArgAttrOfType<mlir::ArrayAttr>(i, "mhc.dims").getAsRange<mlir::StringAttr>())
      shape += (shape.empty() ? "" : ",") + dim.getValue().str();
    std::string line;
    llvm::raw_string_ostream(line) << "  " << identifier(name) << (isResult ? "_result_" : "_arg_")
                                   << identifier(func.getArgAttrOfType<mlir::StringAttr>(i, "mhc.name")) << " = "
                                   << (isResult ? numResults++ : numArguments++) << ", /* " << type.getElementType()
                                   << "[" << shape << "]"
                                   << (isResult && func.getArgAttr(i, "mhc.in_place") ? ", the memory of the argument"
                                                                                      : "")
                                   << " */\n";
    (isResult ? results : arguments) += line;
  }
  text += "/* Entry '" + name + "': where each tensor is in 'arguments' and in 'results'. */\nenum {\n" + arguments +
          results + "};\nmhcrt_status mhc_entry_" + name +
          "(mhcrt_context *context, const mhcrt_tensor *arguments, const mhcrt_tensor *results);\n\n";
}

llvm::Expected<std::string> mhc::headerText(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options) {
  Compiler::Module module(source.clone());
  if (llvm::Error error = compiler.run(*module, options.compile, Phase::bufferize))
    return error;
  std::string text = "/* Made by mhcc. Shapes are not checked here; mhcrt/model.h calls entries with checks. */\n"
                     "#ifndef MHC_MODEL_H\n#define MHC_MODEL_H\n\n#include \"mhcrt/mhcrt.h\"\n\n"
                     "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\nextern const char mhc_model_manifest[];\n\n";
  for (FuncOp func : module->getOps<FuncOp>())
    if (isEntry(func))
      appendEntry(func, text);
  return text + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}
