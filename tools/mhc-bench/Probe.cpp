//===- Probe.cpp - Name of a machine, its speed and its bits ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Probe.h"
#include "Operands.h"
#include "mhc/IR/Counted.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include "hwy/targets.h"

using namespace mhc;
using namespace mhc::bench;
using llvm::Error;
using llvm::Expected;

/// The file bits.txt.
static constexpr llvm::StringLiteral kStored =
#include "Bits.inc"
    ;

/// Where bits are the same: sums have as many parts as vectors have lanes, and tiles of AMX have their own.
static std::string placeOf(const Session &session) {
  if (!session.isOnGpu())
    return std::string("cpu ") + mhcrt_cpu_target() + (session.runtime.amx(session.context) ? "+amx" : "");
  mhcrt_cuda_machine machine;
  session.runtime.describe(&machine);
  return "cuda sm_" + std::to_string(machine.arch);
}

void mhc::bench::printMachine(const Session &session, llvm::raw_ostream &os) {
  if (!session.isOnGpu()) {
    os << llvm::formatv("machine: {0}, {1}\n", placeOf(session),
                        counted(session.runtime.threads(session.context), "thread"));
    return;
  }
  mhcrt_cuda_machine machine;
  session.runtime.describe(&machine);
  os << llvm::formatv("machine: {0}, sm_{1}, {2} multiprocessors, {3} GiB\nlibmhcrt_cuda.so: {4}\n", machine.name,
                      machine.arch, machine.multiprocessors, machine.bytes >> 30, machine.images);
}

/// Programs of our own kernels: products of matrices are another library's.
static std::vector<Program> programs(llvm::ArrayRef<std::string> kernels) {
  std::vector<Program> all = makePrograms({64, 512, 4}, MHCRT_BF16, kernels);
  llvm::erase_if(all, [](const Program &program) {
    const llvm::StringRef name = program.name;
    return name.contains("matmul") || name.contains(" of "); // streams that are one row, which have the bits of streams
  });
  return all;
}

/// A number that follows from the bits of all results.
static Expected<uint64_t> hashOf(const Session &session, const Program &program) {
  auto operands = Operands::make(session, program);
  if (!operands)
    return operands.takeError();
  if ((*operands)->run() != MHCRT_OK)
    return session.error();
  return (*operands)->hashOfResults();
}

/// A line of bits.txt for each program, without its end.
static Expected<std::vector<std::string>> linesOf(const Session &session, llvm::ArrayRef<std::string> kernels) {
  std::vector<std::string> lines;
  for (const Program &program : programs(kernels)) {
    Expected<uint64_t> hash = hashOf(session, program);
    if (!hash)
      return hash.takeError();
    lines.push_back(llvm::formatv("{0}: {1}: {2:x-16}", placeOf(session), program.name, *hash));
  }
  return lines;
}

static Error printLines(const Session &session, llvm::ArrayRef<std::string> kernels, llvm::raw_ostream &os) {
  Expected<std::vector<std::string>> lines = linesOf(session, kernels);
  if (!lines)
    return lines.takeError();
  os << llvm::join(*lines, "\n") << "\n";
  return Error::success();
}

Error mhc::bench::printBits(const Session &session, llvm::ArrayRef<std::string> kernels, llvm::raw_ostream &os) {
  if (session.isOnGpu())
    return printLines(session, kernels, os);
  Error error = Error::success();
  std::string last;
  for (int64_t sets = hwy::SupportedTargets(); sets && !error; sets &= sets - 1) {
    hwy::SetSupportedTargetsForTest(sets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    if (last != mhcrt_cpu_target()) // not one that the kernels leave out
      error = printLines(session, kernels, os);
    last = mhcrt_cpu_target();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return error;
}

Error mhc::bench::compareBits(const Session &session, llvm::raw_ostream &os) {
  const std::string place = placeOf(session);
  if (!kStored.contains("\n" + place + ": ")) {
    os << "bits: none are stored for " << place << "\n";
    return Error::success();
  }
  Expected<std::vector<std::string>> lines = linesOf(session, {});
  if (!lines)
    return lines.takeError();
  std::vector<std::string> others;
  for (llvm::StringRef line : *lines)
    if (!kStored.contains("\n" + line.str() + "\n"))
      others.push_back("'" + line.split(": ").second.split(": ").first.str() + "'");
  if (!others.empty())
    return llvm::createStringError("bits: " + llvm::join(others, ", ") + " differ from those stored for " + place);
  os << llvm::formatv("bits: those stored for {0}, in all of {1}\n", place, counted(lines->size(), "row"));
  return Error::success();
}

/// A case with an operand, and with what that needs: the start of a gradient has the gradient, and that its operand. A
/// gradient of streams that begins elsewhere takes the place of a start.
static Case caseWith(const KernelInfo &info, llvm::StringRef name) {
  llvm::StringRef gradient = name, operand = name;
  if (name.starts_with("d_") && gradient.consume_back("_in"))
    operand = gradient.drop_front(2);
  llvm::SmallVector<llvm::StringRef> with = {name, gradient, operand}, others;
  if (name == "d_out" || name == "next_h_res")
    with.append({"d_out", "next_h_res"}), others = {"d_y"};
  if (name == "d_x_in")
    others = {"d_out", "h_res"};
  llvm::erase_if(others, [&](llvm::StringRef other) {
    return llvm::none_of(info.tensors, [&](const KernelTensor &t) { return t.name == other && t.isOptional; });
  });
  return makeCase(info, {64, 512, 4}, MHCRT_BF16, others, with);
}

/// Whether the results have other bits where an operand has other numbers, all else being equal.
static Expected<bool> isRead(const Session &session, const Case &c, llvm::StringRef name) {
  const Program program = {c.kernel, {c}};
  uint64_t hashes[2];
  for (bool changes : {false, true}) {
    auto operands = Operands::make(session, program);
    if (!operands)
      return operands.takeError();
    if (changes)
      if (Error error = (*operands)->refill(name))
        return error;
    if ((*operands)->run() != MHCRT_OK)
      return session.error();
    Expected<uint64_t> hash = (*operands)->hashOfResults();
    if (!hash)
      return hash.takeError();
    hashes[changes] = *hash;
  }
  return hashes[0] != hashes[1];
}

/// The same of calls that differ in a choice: a form of the statistic may leave it unread. Not all choices go together.
static bool isReadByChoice(const Session &session, const Case &c, llvm::StringRef name) {
  for (auto [index, attr] : llvm::enumerate(c.info->attrs))
    for (int64_t value = 0; attr.kind == KernelAttr::Enum && !attr.stringify(value).empty(); ++value) {
      Case other = c;
      other.values.attrs[index] = value;
      Expected<bool> read = isRead(session, other, name);
      if (read && *read)
        return true;
      if (!read)
        llvm::consumeError(read.takeError());
    }
  return false;
}

Error mhc::bench::checkReads(const Session &session, llvm::ArrayRef<const KernelInfo *> kernels,
                             llvm::raw_ostream &os) {
  int64_t count = 0;
  for (const KernelInfo *info : kernels)
    for (const KernelTensor &tensor : info->tensors) {
      if (tensor.isResult)
        continue;
      const Case c = caseWith(*info, tensor.name);
      Expected<bool> read = isRead(session, c, tensor.name);
      if (!read)
        return read.takeError();
      if (!*read && !isReadByChoice(session, c, tensor.name))
        return llvm::createStringError("'" + info->opName + "' does not read its operand '" + tensor.name + "'");
      ++count;
    }
  os << llvm::formatv("{0} read\n", counted(count, "operand"));
  return Error::success();
}
