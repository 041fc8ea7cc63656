//===- KernelChecks.cpp - Checks that GPU kernels make ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel cannot end the entry. The first one in which a check fails takes the record `mhc_check` of the image, which
// mhcrt/cuda.h describes; its numbers are those that a CPU would report, whatever the order of the threads.
//
//===----------------------------------------------------------------------===//

#include "EntryLowering.h"
#include "mhc/IR/SizeCheck.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <limits>

using namespace mlir;
using namespace mhc;

static constexpr StringLiteral kRecord = "mhc_check", kTexts = "mhc_check_texts";
/// The address space of memory that all threads see.
static constexpr unsigned kGlobalMemory = static_cast<unsigned>(NVVM::NVVMMemorySpace::Global);
static constexpr LLVM::AtomicOrdering kOrdering = LLVM::AtomicOrdering::monotonic;
/// Words of a check in the record, behind the first word.
static constexpr int32_t kFields = 3;

namespace {
class KernelCheckLowering {
public:
  explicit KernelCheckLowering(gpu::GPUModuleOp device)
      : device(device), builder(device.getContext()), word(builder.getI64Type()),
        pointer(LLVM::LLVMPointerType::get(device.getContext(), kGlobalMemory)) {}

  void run();

private:
  void lower(Operation *check);
  Value take(Location loc, int32_t field, Value key);
  void addGlobal(StringRef name, Type type, bool isConstant, Attribute value) {
    LLVM::GlobalOp::create(builder, device.getLoc(), type, isConstant, LLVM::Linkage::External, name, value,
                           /*alignment=*/8, kGlobalMemory);
  }
  Value constant(Location loc, int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 64); }
  Value is(Location loc, arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  /// A field of the record.
  Value place(Location loc, int32_t field) {
    Value record = LLVM::AddressOfOp::create(builder, loc, pointer, kRecord);
    return LLVM::GEPOp::create(builder, loc, pointer, word, record, ArrayRef<LLVM::GEPArg>{field});
  }
  /// Goes on in a region that runs where `condition` holds.
  void insertWhere(Location loc, Value condition) {
    builder.setInsertionPoint(scf::IfOp::create(builder, loc, condition).thenBlock()->getTerminator());
  }

  gpu::GPUModuleOp device;
  OpBuilder builder;
  Type word, pointer;
  std::string texts;                    ///< what and where, of each check so far
  int32_t checks = 0, checksBefore = 0; ///< so far, and of earlier kernels
};
} // namespace

/// Writes the key where nothing is; whether it then is there.
Value KernelCheckLowering::take(Location loc, int32_t field, Value key) {
  Value none = constant(loc, 0);
  auto pair = LLVM::AtomicCmpXchgOp::create(builder, loc, place(loc, field), none, key, kOrdering, kOrdering);
  Value before = LLVM::ExtractValueOp::create(builder, loc, pair, 0);
  Value wasFree = is(loc, arith::CmpIPredicate::eq, before, none);
  return arith::OrIOp::create(builder, loc, wasFree, is(loc, arith::CmpIPredicate::eq, before, key));
}

void KernelCheckLowering::lower(Operation *check) {
  Location loc = check->getLoc();
  builder.setInsertionPoint(check);
  texts += describeCheck(check) + '\0' + describe(loc) + '\0';
  const int32_t field = 1 + kFields * checks++;
  auto takeRecord = [&] { insertWhere(loc, take(loc, 0, constant(loc, checksBefore + 1))); };
  if (auto assertion = dyn_cast<cf::AssertOp>(check)) {
    Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
    insertWhere(loc, arith::XOrIOp::create(builder, loc, assertion.getArg(), yes));
    takeRecord();
    take(loc, field, constant(loc, 1));
    return;
  }
  SmallVector<Value> numbers; // the value, the least and the largest that are allowed
  for (Value operand : check->getOperands())
    numbers.push_back(arith::IndexCastOp::create(builder, loc, word, operand));
  Value isBelow = is(loc, arith::CmpIPredicate::slt, numbers[0], numbers[1]);
  Value isAbove = is(loc, arith::CmpIPredicate::sgt, numbers[0], numbers[2]);
  insertWhere(loc, arith::OrIOp::create(builder, loc, isBelow, isAbove));
  takeRecord();
  // Launches of other sizes do not mix.
  insertWhere(loc, take(loc, field, arith::AddIOp::create(builder, loc, numbers[2], constant(loc, 2))));
  LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::min, place(loc, field + 1), numbers[0], kOrdering);
  LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::max, place(loc, field + 2), numbers[0], kOrdering);
}

void KernelCheckLowering::run() {
  for (auto kernel : device.getOps<gpu::GPUFuncOp>()) {
    SmallVector<Operation *> found;
    kernel.walk([&](Operation *op) {
      if (isCheck(op))
        found.push_back(op);
    });
    checksBefore = checks;
    for (Operation *check : found) {
      lower(check);
      check->erase();
    }
  }
  if (Operation *declared = device.lookupSymbol(kCheckSize))
    declared->erase();
  if (checks == 0)
    return;
  builder.setInsertionPointToStart(device.getBody());
  SmallVector<int64_t> free = {0};
  for (int32_t check = 0; check < checks; ++check)
    free.append({0, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()});
  int64_t words = free.size();
  addGlobal(kRecord, LLVM::LLVMArrayType::get(word, words), /*isConstant=*/false,
            DenseElementsAttr::get(RankedTensorType::get(words, word), ArrayRef<int64_t>(free)));
  addGlobal(kTexts, LLVM::LLVMArrayType::get(builder.getI8Type(), texts.size()), /*isConstant=*/true,
            builder.getStringAttr(texts));
}

void mhc::lowerKernelChecks(gpu::GPUModuleOp device) { KernelCheckLowering(device).run(); }
