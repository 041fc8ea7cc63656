//===- Link.cpp - Model libraries ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The system's C++ compiler links: it knows where the C and C++ libraries are. The runtime is the one beside this
// program, in ../lib: for the CPU an archive, whose own libraries are those that the build found; for a GPU a shared
// library, which a model looks for beside itself first.
//
//===----------------------------------------------------------------------===//

#include "mhc/Driver/Driver.h"
#include "mhc/Support/Output.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace mhc;
using llvm::StringRef;

/// Words of a list that CMake passed with '|' between them.
static void appendWords(StringRef list, std::vector<std::string> &arguments) {
  llvm::SmallVector<StringRef> words;
  list.split(words, '|', -1, /*KeepEmpty=*/false);
  arguments.insert(arguments.end(), words.begin(), words.end());
}

/// The file of the runtime, called `name`; `remedy` ends the error where there is none.
static llvm::Expected<std::string> findRuntime(StringRef name, StringRef remedy) {
  static int anchor;
  llvm::SmallString<256> path(llvm::sys::fs::getMainExecutable(nullptr, &anchor));
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "..", "lib", name);
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  if (!llvm::sys::fs::exists(path))
    return llvm::createStringError("a model library needs the runtime, which is not at '" + path.str() + "'" + remedy);
  return path.str().str();
}

/// Linker arguments for the runtime and the libraries that it needs.
static llvm::Expected<std::vector<std::string>> runtimeArguments(const CompileOptions &options) {
  bool onGpu = !options.gpu.empty();
  auto runtime = onGpu ? findRuntime("libmhcrt_cuda.so", "; build mhc on a machine with the CUDA toolkit")
                       : findRuntime("libmhcrt.a", "");
  if (!runtime)
    return runtime.takeError();
  if (onGpu)
    return std::vector<std::string>{*runtime, "-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN",
                                    "-Wl,-rpath," + llvm::sys::path::parent_path(*runtime).str()};
  std::vector<std::string> arguments = {*runtime};
  appendWords(MHC_MODEL_LINK_OPTIONS, arguments);
  appendWords(MHC_RUNTIME_LINK_LIBRARIES, arguments);
  return arguments;
}

static llvm::Expected<std::string> findLinker() {
  for (const char *name : {"c++", "g++", "clang++"})
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
  return llvm::createStringError("a model library is linked by the system's C++ compiler, and neither 'c++' nor 'g++' "
                                 "nor 'clang++' was found");
}

/// Runs a program; on failure its error output is part of the error.
static llvm::Error runProgram(const std::vector<std::string> &arguments) {
  llvm::SmallString<128> log;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("mhc-link", "log", log))
    return llvm::createStringError(error, "no temporary file can be made");
  llvm::FileRemover removeLog(log);
  std::vector<StringRef> words(arguments.begin(), arguments.end());
  std::string message;
  std::optional<StringRef> redirects[] = {StringRef(), log.str(), log.str()};
  if (llvm::sys::ExecuteAndWait(words[0], words, std::nullopt, redirects, 0, 0, &message) == 0)
    return llvm::Error::success();
  if (auto text = llvm::MemoryBuffer::getFile(log))
    message += (*text)->getBuffer().rtrim();
  return llvm::createStringError("the model library cannot be linked by '" + llvm::join(arguments, " ") + "':\n" +
                                 message);
}

llvm::Error Compiler::writeLibrary(mlir::ModuleOp module, const CompileOptions &options, StringRef path,
                                   std::optional<Phase> from) {
  if (llvm::Error error = from ? run(module, options, *from, Phase::lower) : run(module, options, Phase::lower))
    return error;
  auto bytes = loweredObject(module, options);
  if (!bytes)
    return bytes.takeError();
  mlir::TimingScope scope = time("link");
  auto runtime = runtimeArguments(options);
  if (!runtime)
    return runtime.takeError();
  auto linker = findLinker();
  if (!linker)
    return linker.takeError();

  auto objectPath = writeTemporaryFile("mhc-model", "o", StringRef(bytes->data(), bytes->size()));
  if (!objectPath)
    return objectPath.takeError();
  llvm::FileRemover removeObject(*objectPath);
  // A linker that fails removes its output.
  auto linked = writeTemporaryFile("mhc-model", "so", "");
  if (!linked)
    return linked.takeError();
  llvm::FileRemover removeLinked(*linked);
  std::vector<std::string> arguments = {*linker, "-shared", "-o", *linked, *objectPath};
  llvm::append_range(arguments, *runtime);
  if (llvm::Error error = runProgram(arguments))
    return llvm::createStringError("'" + path.str() + "': " + llvm::toString(std::move(error)));
  auto library = llvm::MemoryBuffer::getFile(*linked);
  if (!library)
    return llvm::createStringError(library.getError(), "'" + *linked + "' cannot be read");
  // GNU ld does not notice when its last write fails; the table of sections is at the end.
  auto whole = llvm::object::ObjectFile::createObjectFile((*library)->getMemBufferRef());
  if (!whole)
    return llvm::createStringError("'" + path.str() +
                                   "': what the linker made is cut: " + llvm::toString(whole.takeError()));
  return writeFile(path, (*library)->getBuffer(), /*isExecutable=*/true);
}
