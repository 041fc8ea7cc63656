//===- Codegen.cpp - From the LLVM dialect to machine code ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Codegen.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/RegAllocRegistry.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mhc;
using mlir::TimingScope;

LlvmModule::LlvmModule() = default;
LlvmModule::LlvmModule(LlvmModule &&) = default;
LlvmModule::~LlvmModule() = default;

/// AVX2, FMA and F16C: every x86 server since 2013. Elsewhere what the architecture guarantees.
static llvm::StringRef baselineCpu(const llvm::Triple &triple) { return triple.isX86() ? "x86-64-v3" : "generic"; }

static std::string hostFeatures() {
  std::string features;
  for (auto &feature : llvm::sys::getHostCPUFeatures())
    features += (features.empty() ? "" : ",") + std::string(feature.second ? "+" : "-") + feature.first().str();
  return features;
}

static llvm::CodeGenOptLevel codegenLevel(unsigned level) {
  return level == 0   ? llvm::CodeGenOptLevel::None
         : level == 1 ? llvm::CodeGenOptLevel::Less
                      : llvm::CodeGenOptLevel::Default;
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const CompileOptions &options) {
  static const bool initialized = !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!initialized || !target)
    return llvm::createStringError("no code can be generated for '" + triple.str() + "': " + message);
  bool native = options.cpu == "native";
  std::string cpu = native                ? llvm::sys::getHostCPUName().str()
                    : options.cpu.empty() ? baselineCpu(triple).str()
                                          : options.cpu;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(target->createMCSubtargetInfo(triple, "", ""));
  if (!subtarget->isCPUStringValid(cpu))
    return llvm::createStringError("the CPU '" + cpu + "' is not known for '" + triple.str() + "'");
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, cpu, native ? hostFeatures() : "", llvm::TargetOptions(), llvm::Reloc::PIC_,
                                  std::nullopt, codegenLevel(options.optLevel)));
  if (!machine)
    return llvm::createStringError("no code can be generated for '" + triple.str() + "'");
  return machine;
}

static llvm::OptimizationLevel optimisationLevel(unsigned level) {
  return level == 0   ? llvm::OptimizationLevel::O0
         : level == 1 ? llvm::OptimizationLevel::O1
         : level == 2 ? llvm::OptimizationLevel::O2
                      : llvm::OptimizationLevel::O3;
}

/// Optimises loops. The instrumentations are what leaves entries as they are, which are marked so.
static void optimise(LlvmModule &module, unsigned level) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::StandardInstrumentations instrumentations(*module.context, /*DebugLogging=*/false);
  instrumentations.registerCallbacks(callbacks, &modules);
  // All calls of generated code name what they call.
  callbacks.registerShouldRunOptionalPassCallback(
      [](llvm::StringRef pass, llvm::Any) { return pass != "CalledValuePropagationPass"; });
  llvm::PipelineTuningOptions tuning;
  tuning.LoopInterleaving = tuning.LoopVectorization = tuning.SLPVectorization = true;
  llvm::PassBuilder builder(module.machine.get(), tuning, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  llvm::OptimizationLevel passes = optimisationLevel(level);
  (level == 0 ? builder.buildO0DefaultPipeline(passes) : builder.buildPerModuleDefaultPipeline(passes))
      .run(*module.module, modules);
}

llvm::Expected<LlvmModule> mhc::translate(Compiler &compiler, mlir::ModuleOp module, const CompileOptions &options) {
  TimingScope kernels = compiler.time("GPU kernels");
  if (llvm::Error error = embedKernels(compiler, module))
    return error;
  kernels.stop();
  TimingScope translation = compiler.time("translate to LLVM IR");
  LlvmModule result;
  auto machine = createMachine(options);
  if (!machine)
    return machine.takeError();
  result.machine = std::move(*machine);
  result.context = std::make_unique<llvm::LLVMContext>();
  if (llvm::Error error = compiler.withDiagnostics("the module cannot be translated to LLVM IR", [&] {
        result.module = mlir::translateModuleToLLVMIR(module, *result.context, "mhc");
        return result.module != nullptr;
      }))
    return error;
  result.module->setTargetTriple(result.machine->getTargetTriple());
  result.module->setDataLayout(result.machine->createDataLayout());
  translation.stop();
  TimingScope optimization = compiler.time("optimise LLVM IR");
  optimise(result, options.optLevel);
  return result;
}

/// The default allocator splits live ranges, which takes more than half of the time of generating code for long
/// entries; beside their calls, and in loops as short as those of these programs, that saves nothing.
static void chooseRegisterAllocator(llvm::CodeGenOptLevel level) {
  bool isOptimised = level != llvm::CodeGenOptLevel::None;
  llvm::RegisterRegAlloc::setDefault(isOptimised ? [] { return llvm::createBasicRegisterAllocator(); }
                                                 : [] { return llvm::createFastRegisterAllocator(); });
}

llvm::Expected<llvm::SmallVector<char, 0>> mhc::emitObject(LlvmModule &module) {
  chooseRegisterAllocator(module.machine->getOptLevel());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (module.machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("this target cannot write object files");
  passes.run(*module.module);
  return bytes;
}

llvm::Expected<std::string> Compiler::llvmText(mlir::ModuleOp module, const CompileOptions &options) {
  if (llvm::Error error = run(module, options, Phase::lower))
    return error;
  auto translated = translate(*this, module, options);
  if (!translated)
    return translated.takeError();
  std::string text;
  llvm::raw_string_ostream(text) << *translated->module;
  return text;
}

llvm::Expected<llvm::SmallVector<char, 0>> Compiler::object(mlir::ModuleOp module, const CompileOptions &options) {
  if (llvm::Error error = run(module, options, Phase::lower))
    return error;
  return loweredObject(module, options);
}

llvm::Expected<llvm::SmallVector<char, 0>> Compiler::loweredObject(mlir::ModuleOp module,
                                                                   const CompileOptions &options) {
  auto translated = translate(*this, module, options);
  if (!translated)
    return translated.takeError();
  TimingScope scope = time("generate code");
  return emitObject(*translated);
}
