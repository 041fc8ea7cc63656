//===- Explain.cpp - Compilation report as text --------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"
#include "DefaultSizes.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mhc;
using mlir::func::FuncOp;

bool mhc::isEntry(FuncOp func) { return func.isPublic() && !func.isDeclaration(); }

static llvm::StringRef kindName(CompileRemark::Kind kind) {
  return kind == CompileRemark::passed ? "found" : kind == CompileRemark::missed ? "missed" : "note";
}

/// File, line and column of a remark.
static std::tuple<llvm::StringRef, unsigned, unsigned> placeOf(const CompileRemark &remark) {
  auto [rest, column] = llvm::StringRef(remark.where).rsplit(':');
  auto [file, line] = rest.rsplit(':');
  unsigned lineNumber = 0, columnNumber = 0;
  if (line.getAsInteger(10, lineNumber) || column.getAsInteger(10, columnNumber))
    return {remark.where, 0, 0};
  return {file, lineNumber, columnNumber};
}

static std::string lineOf(const CompileRemark &remark) {
  std::string kind = remark.kind == CompileRemark::passed ? "" : (kindName(remark.kind) + ": ").str();
  return remark.where + ": " + remark.pass + ": " + kind + remark.text + "\n";
}

/// Each remark once, those of one pass in the order of the source; a pass ends with its note. Gradients fuse again what
/// their function had.
static void printRemarks(llvm::ArrayRef<CompileRemark> remarks) {
  llvm::StringSet<> printed;
  while (!remarks.empty()) {
    const auto *note = llvm::find_if(remarks, [](const auto &remark) { return remark.kind == CompileRemark::note; });
    const size_t count = std::min<size_t>(remarks.size(), note - remarks.begin() + 1);
    std::vector<CompileRemark> pass(remarks.begin(), remarks.begin() + count);
    std::stable_sort(pass.begin(), note == remarks.end() ? pass.end() : pass.end() - 1,
                     [](const auto &a, const auto &b) { return placeOf(a) < placeOf(b); });
    for (const CompileRemark &remark : pass)
      if (std::string line = lineOf(remark); printed.insert(line).second)
        llvm::outs() << line;
    remarks = remarks.drop_front(count);
  }
  if (!printed.empty())
    llvm::outs() << "\n";
}

llvm::json::Object mhc::toJson(const CompileRemark &remark) {
  llvm::json::Object entry{
      {"where", remark.where}, {"pass", remark.pass}, {"kind", kindName(remark.kind)}, {"text", remark.text}};
  if (remark.kind == CompileRemark::missed)
    for (auto [key, value] : {std::pair("code", &remark.code),
                              {"found", &remark.found},
                              {"needed", &remark.needed},
                              {"change", &remark.change}})
      entry[key] = *value;
  return entry;
}

/// The pictures of all entries, gradients among them, by name.
static llvm::StringMap<OpGraph> picturesOf(mlir::ModuleOp module, llvm::ArrayRef<Layer> layers) {
  llvm::StringMap<OpGraph> pictures;
  for (FuncOp func : module.getOps<FuncOp>())
    if (isEntry(func))
      pictures[func.getName()] = graphOf(func, layers);
  return pictures;
}

/// Ops are numbered where both ways part, so that they can be followed.
static llvm::Error compilePictures(Compiler &compiler, mlir::ModuleOp module, const CompileOptions &options,
                                   std::vector<FunctionPictures> &functions) {
  if (llvm::Error error = compiler.run(module, options, Phase::input))
    return error;
  numberOps(module);
  Compiler::Module unfused(module.clone());
  CompileOptions unfusedOptions = options;
  unfusedOptions.fuse = FuseLevel::none;
  unfusedOptions.recompute = "none";
  unfusedOptions.layout.clear();
  if (llvm::Error error = compiler.run(*unfused, unfusedOptions, Phase::input, Phase::fuse))
    return error;
  if (llvm::Error error = compiler.run(module, options, Phase::input, Phase::fuse))
    return error;
  std::vector<Layer> layers = findLayers(module);
  llvm::StringMap<OpGraph> before = picturesOf(*unfused, layers), after = picturesOf(module, layers);
  if (llvm::Error error = compiler.run(module, options, Phase::fuse, Phase::loops))
    return error;
  llvm::StringMap<FunctionCost> compiled;
  for (FuncOp func : module.getOps<FuncOp>())
    if (isEntry(func))
      compiled[func.getName()] = costOf(func);
  if (llvm::Error error = compiler.run(module, options, Phase::loops, Phase::bufferize))
    return error;
  for (FuncOp func : module.getOps<FuncOp>())
    if (isEntry(func)) {
      functions.push_back(
          {std::move(before[func.getName()]), std::move(after[func.getName()]), std::move(compiled[func.getName()])});
      functions.back().after.cost.plannedPeakBytes = plannedPeakBytes(func);
      functions.back().after.cost.temporaries = plannedTemporaries(func);
    }
  return llvm::Error::success();
}

llvm::Expected<Explanation> mhc::explain(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options) {
  Explanation explanation;
  CompileOptions whole = options.compile;
  whole.stages = 1;
  if (!whole.grad.empty() && options.mesh.ranks() > 1) {
    auto mesh = planMesh(compiler, source, options);
    if (!mesh)
      return mesh.takeError();
    explanation.mesh = std::move(*mesh);
  }
  if (!whole.grad.empty()) {
    auto plans = allRecomputePlans(compiler, source, whole);
    if (!plans)
      return plans.takeError();
    explanation.plans = std::move(*plans);
  }
  Compiler::Module module(source.clone());
  if (llvm::Error error = compiler.withRemarks(
          /*path=*/"", [&] { return compilePictures(compiler, *module, whole, explanation.functions); }))
    return error;
  return explanation;
}

CostReportOptions mhc::costReportOptions(const DriverOptions &options) {
  CostReportOptions report;
  report.machine = lookupMachine(options.machine);
  if (auto tokens = options.sizes.find("M"); tokens != options.sizes.end())
    report.tokens = tokens->second;
  else if (options.measure)
    report.tokens = kDefaultTokens;
  return report;
}

static llvm::json::Value explanationJson(const Explanation &explanation, const RecomputeChoice &recompute,
                                         llvm::ArrayRef<CompileRemark> remarks, const DriverOptions &options) {
  const CostReportOptions report = costReportOptions(options);
  llvm::json::Array functions, plans, notes;
  for (const FunctionPictures &function : explanation.functions)
    functions.push_back(reportJson(function.before.cost, function.after.cost, function.compiled, report));
  for (const RecomputePlan &plan : explanation.plans)
    plans.push_back(plan.toJson());
  for (const CompileRemark &remark : remarks)
    notes.push_back(toJson(remark));
  llvm::json::Object all{{"functions", std::move(functions)},
                         {"recompute", std::move(plans)},
                         {"recompute_chosen", recompute.mode.empty() ? llvm::json::Value(nullptr) : recompute.mode},
                         {"remarks", std::move(notes)}};
  if (!explanation.mesh.stages.empty())
    all["mesh"] = toJson(options, explanation.mesh);
  return all;
}

void mhc::printExplanation(const Explanation &explanation, const RecomputeChoice &recompute,
                           llvm::ArrayRef<CompileRemark> remarks, const DriverOptions &options) {
  CostReportOptions report = costReportOptions(options);
  if (options.explain == Explain::json) {
    llvm::outs() << llvm::formatv("{0:2}\n", explanationJson(explanation, recompute, remarks, options));
    return;
  }
  printRemarks(remarks);
  for (const FunctionPictures &function : explanation.functions)
    printReport(llvm::outs(), function.before.cost, function.after.cost, function.compiled, report);
  printRecomputePlans(llvm::outs(), options.compile.grad, explanation.plans);
  if (!explanation.mesh.stages.empty())
    printMeshPlan(llvm::outs(), options, explanation.mesh);
  if (recompute.peakBytes)
    llvm::outs() << describe(recompute, options) << "\n";
}

void mhc::printBounds(const Explanation &explanation, llvm::StringRef entry, const DriverOptions &options) {
  const CostReportOptions report = costReportOptions(options);
  for (const FunctionPictures &function : explanation.functions)
    if (function.after.cost.name == entry)
      llvm::outs() << llvm::formatv("@{0} at M = {1}: bound {2:f4} ms for {3}, unfused {4:f4} ms; here\n", entry,
                                    static_cast<int64_t>(report.tokens), boundSeconds(function.compiled, report) * 1e3,
                                    report.machine->name, boundSeconds(function.before.cost, report) * 1e3);
  llvm::outs().flush();
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

namespace {
/// Writes the entries of a bufferized module as C. A name in C begins with that of its entry, so that it is no keyword.
class HeaderWriter {
public:
  bool append(FuncOp func);

  std::string text;

private:
  bool appendTensor(FuncOp func, unsigned index, unsigned number, std::string &lines);

  llvm::StringSet<> enumerators;
};
} // namespace

/// A line for argument `index` of the function, which is `number` of the entry's arguments or results. False, with an
/// error, where another tensor has the name.
bool HeaderWriter::appendTensor(FuncOp func, unsigned index, unsigned number, std::string &lines) {
  bool isResult = func.getArgAttr(index, "mhc.result") != nullptr;
  auto type = mlir::cast<mlir::MemRefType>(func.getArgumentTypes()[index]);
  auto name = func.getArgAttrOfType<mlir::StringAttr>(index, "mhc.name").getValue();
  std::string enumerator = func.getName().str() + (isResult ? "_result_" : "_arg_") + identifier(name), shape;
  for (auto dim : func.getArgAttrOfType<mlir::ArrayAttr>(index, kDims).getAsRange<mlir::StringAttr>())
    shape += (shape.empty() ? "" : ",") + dim.getValue().str();
  if (!enumerators.insert(enumerator).second) {
    mlir::emitError(func.getArgument(index).getLoc())
        << (isResult ? "result" : "argument") << " '" << name << "' of entry '" << func.getName() << "' is '"
        << enumerator << "' in the C header, as another tensor is; needed names that differ in letters and digits";
    return false;
  }
  llvm::raw_string_ostream(lines)
      << "  " << enumerator << " = " << number << ", /* " << type.getElementType() << "[" << shape << "]"
      << (isResult && func.getArgAttr(index, "mhc.in_place") ? ", the memory of the argument" : "") << " */\n";
  return true;
}

bool HeaderWriter::append(FuncOp func) {
  std::string name = func.getName().str(), arguments, results;
  unsigned numArguments = 0, numResults = 0;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    bool isResult = func.getArgAttr(i, "mhc.result") != nullptr;
    if (!appendTensor(func, i, isResult ? numResults++ : numArguments++, isResult ? results : arguments))
      return false;
  }
  text += "/* Entry '" + name + "'";
  if (numArguments + numResults > 0) // C has no empty enum
    text += ": where each tensor is in 'arguments' and in 'results'. */\nenum {\n" + arguments + results + "};\n";
  else
    text += ": without tensors. */\n";
  text += "mhcrt_status mhc_entry_" + name +
          "(mhcrt_context *context, const mhcrt_tensor *arguments, const mhcrt_tensor *results);\n\n";
  return true;
}

llvm::Expected<std::string> mhc::headerText(Compiler &compiler, mlir::ModuleOp source, const DriverOptions &options) {
  Compiler::Module module(source.clone());
  if (llvm::Error error = compiler.run(*module, options.compile, Phase::bufferize))
    return error;
  HeaderWriter header;
  if (llvm::Error error = compiler.withDiagnostics("", [&] {
        return llvm::all_of(module->getOps<FuncOp>(),
                            [&](FuncOp func) { return !isEntry(func) || header.append(func); });
      }))
    return error;
  std::string text = "/* Made by mhcc. Shapes are not checked here; mhcrt/model.h calls entries with checks. */\n"
                     "#ifndef MHC_MODEL_H\n#define MHC_MODEL_H\n\n#include \"mhcrt/mhcrt.h\"\n\n"
                     "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\nextern const char mhc_model_manifest[];\n\n";
  return text + header.text + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}
