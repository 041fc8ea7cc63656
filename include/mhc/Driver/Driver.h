//===- Driver.h - Compile and run models ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All of mhcc, minus the command line:
//
//   Compiler compiler;
//   auto module = compiler.parseFile("layer.mlir");
//   auto model = compiler.jit(**module, options);       // or writeObject, writeLibrary
//   mhcrt_model_invoke((*model)->get(), ...);
//
// No function prints: what is wrong is in the Error, with file, line and the line's text where there is one.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_DRIVER_DRIVER_H
#define MHC_DRIVER_DRIVER_H

#include "mhc/Analysis/Mesh.h"
#include "mhc/NumericCheck/NumericCheck.h"
#include "mhc/Pipelines/Pipelines.h"
#include "mhcrt/model.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/SourceMgr.h"
#include <memory>

namespace mhc {

/// The GPU that a target of cuda stands for.
inline constexpr llvm::StringLiteral kDefaultGpu = "sm_90a";

struct CompileOptions {
  /// Empty for the target's own level (fuseLevel).
  std::optional<FuseLevel> fuse;
  /// At most so many ops of a function are raised and chains of it fused, to find the one that breaks a model; all with
  /// -1.
  int64_t raiseLimit = -1, fuseLimit = -1;
  /// The function to differentiate (mhc-autodiff); empty for none.
  std::string grad;
  GradientSums sums = GradientSums::stored;
  /// Recomputation in the backward pass: none, all, auto or groups=N; empty for the function's own choice.
  std::string recompute;
  /// Stages of a pipeline (mhc-pipeline-split), each with entries of its own.
  int64_t stages = 1;
  /// Least accuracy of the products of projections that do not say it themselves.
  std::optional<Precision> precision;
  /// Kernels of gated delta front ends: ref, streamed or fused; empty for the function's own choice, or fused.
  std::string gdnImpl;
  /// Order of streams where it is free: nC, Cn, or auto for the one that is faster on the target; empty where it stays.
  std::string layout;
  /// Name of the CPU to generate loops for, as in clang's -mcpu. "native" is this machine; empty is this machine for
  /// jit and a CPU of the last ten years for files. Kernels choose their instructions when they run.
  std::string cpu;
  unsigned optLevel = 2;
  /// The architecture of the GPU that the model is for, "sm_90a"; empty for the CPU.
  std::string gpu;
  /// Whether errors of the runtime, and profilers, name lines of the source.
  bool lines = false;
  /// Whether each raise is compared in float64 with what it replaces, and left alone where they differ.
  bool numericCheck = false;

  /// On a GPU a boundary is faster in one kernel at every size measured; on the CPU it moves fewer bytes, in as long.
  FuseLevel fuseLevel() const { return fuse.value_or(gpu.empty() ? FuseLevel::layer : FuseLevel::model); }
};

/// A compiled model in this process.
class JitModel {
public:
  JitModel(const JitModel &) = delete;
  JitModel &operator=(const JitModel &) = delete;
  ~JitModel();

  mhcrt_model *get() const { return model; }

private:
  friend class Compiler;
  struct Code;

  JitModel();

  std::unique_ptr<Code> code;
  mhcrt_model *model = nullptr;
};

/// A remark of raising, fusing or planning; lists of them are in program order.
struct CompileRemark {
  enum Kind { passed, missed, note } kind;
  std::string pass, where, text;
  std::string code, found, needed, change; ///< of a missed one; `text` says all of it
  mlir::LocationAttr at;
  std::string function; ///< empty where the pass does not say it
};

/// One MLIR context, and the sources that were read into it. Use from one thread at a time.
class Compiler {
public:
  Compiler();
  Compiler(const Compiler &) = delete;
  Compiler &operator=(const Compiler &) = delete;
  ~Compiler();

  using Module = mlir::OwningOpRef<mlir::ModuleOp>;

  /// "-" is the standard input. A .json file is the configuration of a model, which is written out as unfused IR: with
  /// a `mesh`, that of one of its ranks; without mHC where it is not `withStreams`.
  llvm::Expected<Module> parseFile(llvm::StringRef path, const Mesh &mesh = {}, bool withStreams = true);
  llvm::Expected<Module> parseText(llvm::StringRef text, llvm::StringRef name = "<text>");

  /// Repeats the checks of parsing, for a module that was changed since.
  llvm::Error verify(mlir::ModuleOp module);
  /// Runs the passes behind `from` (from the start, without it) to `to`, which is at most Phase::lower.
  llvm::Error run(mlir::ModuleOp module, const CompileOptions &options, Phase to);
  llvm::Error run(mlir::ModuleOp module, const CompileOptions &options, Phase from, Phase to);
  llvm::Error runPasses(mlir::ModuleOp module, llvm::function_ref<void(mlir::PassManager &)> addPasses);
  /// Runs `action`. When it returns false, what it reported is the error, or `fallback` when it reported nothing.
  llvm::Error withDiagnostics(llvm::StringRef fallback, llvm::function_ref<bool()> action);

  // These take a module as it was read, and leave it in a lower phase.
  llvm::Expected<std::string> llvmText(mlir::ModuleOp module, const CompileOptions &options);
  llvm::Expected<llvm::SmallVector<char, 0>> object(mlir::ModuleOp module, const CompileOptions &options);
  /// A shared library. For the CPU it holds the runtime too, so that it needs no other file. A module whose passes up
  /// to `from` have run leaves that out.
  llvm::Error writeLibrary(mlir::ModuleOp module, const CompileOptions &options, llvm::StringRef path,
                           std::optional<Phase> from = std::nullopt);
  llvm::Expected<std::unique_ptr<JitModel>> jit(mlir::ModuleOp module, CompileOptions options);

  mlir::MLIRContext &context() { return *mlirContext; }
  /// Runs `action` and collects its remarks in `remarks` and, if a `path` is given, in that file as YAML.
  llvm::Error withRemarks(llvm::StringRef path, llvm::function_ref<llvm::Error()> action);
  llvm::ArrayRef<CompileRemark> remarks() const { return collected; }
  /// Where a pass fails or crashes, the module before the passes and their names are written to `path`, and the error
  /// says how mhc-opt runs them again.
  void writeReproducer(llvm::StringRef path) { reproducer = path.str(); }
  /// Prints the time of every phase and pass to the standard error when this object ends.
  void printTiming();
  /// Times what happens until the scope ends.
  mlir::TimingScope time(llvm::StringRef what) { return total.nest(what); }

private:
  /// Object code of a module that Phase::lower made.
  llvm::Expected<llvm::SmallVector<char, 0>> loweredObject(mlir::ModuleOp module, const CompileOptions &options);
  llvm::Expected<Module> parse(unsigned buffer);
  PipelineOptions pipelineOptions(const CompileOptions &options);
  /// A model for a GPU needs the runtime of that, which is a library: the model becomes one as well.
  llvm::Expected<std::unique_ptr<JitModel>> openLibrary(mlir::ModuleOp module, const CompileOptions &options);

  llvm::SourceMgr sources;
  std::vector<CompileRemark> collected;
  std::string reproducer; ///< where to; none when empty
  mlir::DefaultTimingManager timing;
  mlir::TimingScope total; ///< of no timer without printTiming
  std::unique_ptr<mlir::MLIRContext> mlirContext;
  NumericCheck numericCheck;
};

} // namespace mhc

#endif // MHC_DRIVER_DRIVER_H
