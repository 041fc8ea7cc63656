//===- Compiler.cpp - Parsing and passes ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Driver/Driver.h"
#include "mhc/IR/Pins.h"
#include "mhc/InitAll.h"
#include "mhc/Model/Model.h"
#include "mhc/Support/Output.h"
#include "mhc/Transforms/CheckInput.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Remarks/RemarkSerializer.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mhc;

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  mhc::registerAllDialects(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  NVVM::registerNVVMTargetInterfaceExternalModels(registry);
  return registry;
}

Compiler::Compiler() {
  static const DialectRegistry registry = makeRegistry();
  mlirContext = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  mlirContext->printOpOnDiagnostic(false); // the line of the source is shown
}
Compiler::~Compiler() = default;

/// Warnings and remarks are not errors; without one they are dropped.
llvm::Error Compiler::withDiagnostics(StringRef fallback, llvm::function_ref<bool()> action) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  SourceMgrDiagnosticHandler handler(sources, mlirContext.get(), stream);
  handler.setCallStackLimit(0);
  if (action())
    return llvm::Error::success();
  StringRef message = StringRef(text).rtrim();
  message.consume_front("<unknown>:0: error: "); // without a place in the source, as any other error
  return llvm::createStringError(message.empty() ? fallback : message);
}

namespace {
/// A remark at the first line of the source that its location knows: a file of remarks has no other places than lines.
struct RemarkAtLine : remark::detail::Remark {
  explicit RemarkAtLine(const Remark &remark) : Remark(remark) {
    if (auto line = loc->findInstanceOf<FileLineColLoc>())
      loc = line;
  }
};

/// Keeps the remarks of the passes for Compiler::remarks, and hands them to the text of a file. The search
/// after differentiation meets the sites that the one before it left: they are reported once.
class RemarkCollector : public remark::detail::MLIRRemarkStreamerBase {
public:
  RemarkCollector(std::vector<CompileRemark> &remarks, llvm::remarks::RemarkSerializer &file)
      : remarks(remarks), file(file) {}
  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    if (remark.getRemarkType() == llvm::remarks::Type::Missed &&
        !missed.insert({Attribute(remark.getLocation()), remark.getRemarkName()}).second)
      return;
    file.emit(RemarkAtLine(remark).generateRemark());
    CompileRemark kept{CompileRemark::note, remark.getCategoryName().str()};
    kept.at = remark.getLocation();
    kept.function = remark.getFunction().str();
    if (remark.getRemarkType() == llvm::remarks::Type::Passed)
      kept.kind = CompileRemark::passed;
    else if (remark.getRemarkType() == llvm::remarks::Type::Missed)
      kept.kind = CompileRemark::missed;
    for (const remark::detail::Remark::Arg &argument : remark.getArgs())
      llvm::StringSwitch<std::string *>(argument.key)
          .Case("Found", &kept.found)
          .Case("Needed", &kept.needed)
          .Case("Suggestion", &kept.change)
          .Default(&kept.text)
          ->append(argument.val);
    if (kept.kind == CompileRemark::missed) {
      kept.code = remark.getRemarkName().str();
      kept.text += " [" + kept.code + "]; found " + kept.found + ", needed " + kept.needed + "; " + kept.change;
    }
    llvm::raw_string_ostream where(kept.where);
    if (auto file = remark.getLocation()->findInstanceOf<FileLineColLoc>())
      where << file.getFilename().getValue() << ":" << file.getLine() << ":" << file.getColumn();
    remarks.push_back(std::move(kept));
  }

private:
  std::vector<CompileRemark> &remarks;
  llvm::remarks::RemarkSerializer &file;
  llvm::DenseSet<std::pair<Attribute, StringRef>> missed;
};
} // namespace

llvm::Error Compiler::withRemarks(StringRef path, llvm::function_ref<llvm::Error()> action) {
  collected.clear();
  std::string yaml;
  llvm::raw_string_ostream stream(yaml);
  auto file = llvm::remarks::createRemarkSerializer(llvm::remarks::Format::YAML, stream);
  if (!file)
    return file.takeError();
  remark::RemarkCategories all;
  all.passed = all.missed = all.analysis = all.failed = ".*";
  (void)remark::enableOptimizationRemarks(*mlirContext, std::make_unique<RemarkCollector>(collected, **file),
                                          std::make_unique<remark::RemarkEmittingPolicyAll>(), all);
  llvm::Error error = action();
  mlirContext->setRemarkEngine(nullptr);
  if (error || path.empty())
    return error;
  return writeFile(path, yaml);
}

void Compiler::printTiming() {
  timing.setEnabled(true);
  total = timing.getRootScope();
}

/// Leaves one rank its part of the batch, and tells the configuration how many there are.
static llvm::Error shareOut(model::Config &config, const Mesh &mesh) {
  auto has = [&](model::Sublayer kind) {
    const bool isUsual = kind != model::Sublayer::GatedDelta && (config.layerTypes.empty() || config.predictions > 0);
    return isUsual || llvm::is_contained(config.layerTypes, kind);
  };
  const bool hasAttention = has(model::Sublayer::Attention), hasDelta = has(model::Sublayer::GatedDelta);
  struct Divided {
    bool isThere;
    StringRef key;
    int64_t size, ranks;
    std::string axes, why;
  };
  const std::string heads = ", as each rank has heads of its own", tp = "tp=" + std::to_string(mesh.tp);
  // Rows of the batch, or the tokens of one row. Further predictions read tokens of others.
  const bool dividesRow = mesh.tp > 1 && config.batch == mesh.dp && config.predictions == 0;
  std::string streams;
  if (mesh.tp > 1)
    streams = config.predictions > 0 ? ", as further predictions need whole rows on a rank"
                                     : ", or " + std::to_string(mesh.dp) +
                                           ", the tokens of which are then divided; else streams would be gathered";
  const Divided all[] = {
      {!dividesRow, "micro_batch_size", config.batch, mesh.rowRanks(), mesh.rowText(), streams},
      {dividesRow, "seq_length", config.context, mesh.tp, tp, ", as each rank has tokens of its own"},
      {mesh.tp > 1, "vocab_size", config.vocabulary, mesh.tp, tp, ", as each rank has a part of the vocabulary"},
      {hasAttention, "num_attention_heads", config.heads, mesh.tp, tp, heads},
      {hasAttention, "num_query_groups", config.queryGroups, mesh.tp, tp, heads},
      {has(model::Sublayer::Mlp), "ffn_hidden_size", config.ffn, mesh.tp, tp, ", as each rank has channels of its own"},
      {hasDelta, "linear_num_key_heads", config.deltaKeyHeads, mesh.tp, tp, heads},
      {hasDelta, "linear_num_value_heads", config.deltaValueHeads, mesh.tp, tp, heads}};
  for (const Divided &one : all)
    if (one.isThere && one.size % one.ranks != 0)
      return llvm::createStringError("'" + one.key.str() + "' is " + std::to_string(one.size) +
                                     "; needed a multiple of the ranks of '--mesh=" + one.axes + "'" + one.why);
  config.batch /= mesh.dp;
  config.dataRanks = mesh.dp;
  config.tensorRanks = mesh.tp;
  return llvm::Error::success();
}

llvm::Expected<Compiler::Module> Compiler::parseFile(StringRef path, const Mesh &mesh, bool withStreams) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(path, &message);
  if (!buffer)
    return llvm::createStringError(message);
  const bool isConfig = path.ends_with(".json");
  if (!isConfig && mesh.rowRanks() > 1)
    return llvm::createStringError("'--mesh=" + mesh.rowText() + "' divides the batch of a configuration, and '" +
                                   path + "' is a program; needed a .json file");
  auto setMesh = [&](llvm::Expected<Module> module) {
    if (module && mesh.ranks() > 1)
      (**module)->setAttr(kMesh, StringAttr::get(mlirContext.get(), mesh.text()));
    return module;
  };
  if (!isConfig)
    return setMesh(parse(sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc())));
  auto config = model::parseConfig(buffer->getBuffer());
  if (config && !withStreams)
    config->hyperConnections = false;
  llvm::Error error = config ? shareOut(*config, mesh) : config.takeError();
  if (error)
    return llvm::createStringError(path + ": error: " + llvm::toString(std::move(error)));
  for (const std::string &pin : config->pins)
    if (!namesKernel(pin))
      return llvm::createStringError(path + ": error: 'pins' has \"" + pin +
                                     "\"; needed the name of a kernel in front of '='");
  auto module = setMesh(parseText(model::writeModel(*config), (path + " as a program").str()));
  if (module && !config->pins.empty()) {
    SmallVector<StringRef> pins(config->pins.begin(), config->pins.end());
    (**module)->setAttr(kPins, Builder(mlirContext.get()).getStrArrayAttr(pins));
  }
  return module;
}

llvm::Expected<Compiler::Module> Compiler::parseText(StringRef text, StringRef name) {
  return parse(sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), llvm::SMLoc()));
}

llvm::Expected<Compiler::Module> Compiler::parse(unsigned buffer) {
  TimingScope scope = time("parse");
  const llvm::MemoryBuffer *text = sources.getMemoryBuffer(buffer);
  Module module;
  // The parser reads the first buffer of a source manager, and this may be a later one: it gets the text alone.
  if (llvm::Error error = withDiagnostics(("'" + text->getBufferIdentifier() + "' cannot be parsed").str(), [&] {
        module = parseSourceString<ModuleOp>(text->getBuffer(), mlirContext.get(), text->getBufferIdentifier());
        return module && succeeded(checkInput(*module));
      }))
    return error;
  return module;
}

llvm::Error Compiler::verify(ModuleOp module) {
  return withDiagnostics("the module does not verify",
                         [&] { return succeeded(mlir::verify(module)) && succeeded(checkInput(module)); });
}

namespace {
/// The file of a reproducer, which is written when MLIR has no more to say.
class ReproducerFile : public ReproducerStream {
public:
  ReproducerFile(StringRef path, std::string &error) : path(path), error(error), stream(text) {}
  ~ReproducerFile() override { error = llvm::toString(writeFile(path, text)); }

  StringRef description() override { return path; }
  raw_ostream &os() override { return stream; }

private:
  std::string path, text;
  std::string &error;
  llvm::raw_string_ostream stream;
};
} // namespace

llvm::Error Compiler::runPasses(ModuleOp module, llvm::function_ref<void(PassManager &)> addPasses) {
  PassManager pm(mlirContext.get());
  pm.enableVerifier(false); // the parser verified the input; a third of the time of a deep model
  TimingScope scope = time("passes");
  pm.enableTiming(scope);
  addPasses(pm);
  std::string unwritten;
  if (!reproducer.empty())
    pm.enableCrashReproducerGeneration(
        [&](std::string &) { return std::make_unique<ReproducerFile>(reproducer, unwritten); });
  llvm::Error error = withDiagnostics("compilation failed", [&] { return succeeded(pm.run(module)); });
  if (!error || reproducer.empty())
    return error;
  std::string note = unwritten.empty() ? "to see it again: mhc-opt " + reproducer + " --run-reproducer" : unwritten;
  return llvm::createStringError(llvm::toString(std::move(error)) + "\nnote: " + note);
}

PipelineOptions Compiler::pipelineOptions(const CompileOptions &options) {
  RaiseCheck check;
  if (options.numericCheck) {
    mlirContext->loadDialect<scf::SCFDialect>(); // into which the numeric check decomposes ops
    check = [this](ArrayRef<Value> was, ArrayRef<Value> becomes) { return numericCheck.findDifference(was, becomes); };
  }
  return {options.fuseLevel(), options.raiseLimit,
          options.fuseLimit,   options.grad,
          options.stages,      options.sums,
          options.recompute,   options.precision,
          options.gdnImpl,     options.layout,
          options.gpu,         options.optLevel,
          options.lines,       check};
}

llvm::Error Compiler::run(ModuleOp module, const CompileOptions &options, Phase from, Phase to) {
  return runPasses(module, [&](PassManager &pm) { buildPipeline(pm, pipelineOptions(options), from, to); });
}

llvm::Error Compiler::run(ModuleOp module, const CompileOptions &options, Phase to) {
  return runPasses(module, [&](PassManager &pm) { buildPipeline(pm, pipelineOptions(options), to); });
}
