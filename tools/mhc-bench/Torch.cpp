//===- Torch.cpp - The same rows in PyTorch ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Torch.h"
#include "mhc/Support/Output.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace mhc;
using namespace mhc::bench;
using llvm::createStringError;
using llvm::Expected;

static constexpr char kScript[] = {
#include "TorchScript.inc"
};

/// Output of the script; its errors on failure.
static Expected<std::string> runScript(llvm::StringRef script, llvm::ArrayRef<std::string> options) {
  auto python = llvm::sys::findProgramByName("python3");
  if (!python)
    return createStringError("--compare=torch needs python3 on PATH");
  llvm::SmallString<128> output, errors;
  llvm::sys::fs::createTemporaryFile("torch_sublayer", "json", output);
  llvm::sys::fs::createTemporaryFile("torch_sublayer", "log", errors);
  llvm::FileRemover removeOutput(output), removeErrors(errors);
  llvm::SmallVector<llvm::StringRef> arguments = {*python, script};
  arguments.append(options.begin(), options.end());
  const std::optional<llvm::StringRef> streams[] = {llvm::StringRef(), output.str(), errors.str()};
  const int status = llvm::sys::ExecuteAndWait(*python, arguments, std::nullopt, streams);
  auto text = llvm::MemoryBuffer::getFile(status == 0 ? output : errors);
  if (!text)
    return createStringError(text.getError(), "nothing from python3");
  if (status != 0)
    return createStringError("PyTorch failed: " + (*text)->getBuffer().rtrim().rsplit('\n').second);
  return (*text)->getBuffer().str();
}

static Expected<std::vector<TorchRow>> parseRows(llvm::StringRef text) {
  Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return value.takeError();
  const llvm::json::Object *object = value->getAsObject();
  const llvm::json::Array *rows = object ? object->getArray("rows") : nullptr;
  if (!rows)
    return createStringError("PyTorch's times have no 'rows'");
  std::vector<TorchRow> result;
  for (const llvm::json::Value &row : *rows)
    if (const llvm::json::Object *o = row.getAsObject())
      result.push_back({o->getString("kernel").value_or("").str(), o->getString("dtype").value_or("").str(),
                        o->getInteger("M").value_or(0), o->getInteger("C").value_or(0),
                        o->getNumber("eager_us").value_or(NAN) * 1e-6,
                        o->getNumber("compiled_us").value_or(NAN) * 1e-6});
  return result;
}

Expected<std::vector<TorchRow>> mhc::bench::timeTorch(const Options &options) {
  Expected<std::string> script = writeTemporaryFile("torch_sublayer", "py", llvm::StringRef(kScript, sizeof(kScript)));
  if (!script)
    return script.takeError();
  llvm::FileRemover removeScript(*script);
  auto shapes =
      llvm::map_range(options.shapes, [](Sizes s) { return std::to_string(s.M) + "x" + std::to_string(s.C); });
  auto dtypes = llvm::map_range(options.dtypes, [](int32_t dtype) { return std::string(mhcrt_dtype_name(dtype)); });
  Expected<std::string> text =
      runScript(*script, {"--device=" + options.backend, "--threads=" + std::to_string(options.threads),
                          "--dtypes=" + llvm::join(dtypes, ","), "--shapes=" + llvm::join(shapes, ","),
                          "-n=" + std::to_string(options.shapes.front().n)});
  return text ? parseRows(*text) : Expected<std::vector<TorchRow>>(text.takeError());
}
