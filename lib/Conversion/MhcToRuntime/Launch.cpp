//===- Launch.cpp - Launches of kernels ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryLowering.h"
#include "mhc/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mhc;

/// The descriptor that a buffer of a loop function was lowered to, behind a cast.
static Value descriptorOf(Value buffer) { return buffer.getDefiningOp<UnrealizedConversionCastOp>().getInputs()[0]; }

namespace {
/// One launch, in a function whose first argument is the context.
class LaunchLowering {
public:
  explicit LaunchLowering(gpu::LaunchFuncOp launch)
      : launch(launch), func(launch->getParentOfType<func::FuncOp>()), builder(launch), loc(launch.getLoc()),
        pointer(LLVM::LLVMPointerType::get(launch.getContext())), word(builder.getI64Type()) {}

  void run();

private:
  void append(Value operand);
  Value addressTable();
  Value nameString();
  Value addressOf(StringRef global) { return LLVM::AddressOfOp::create(builder, loc, pointer, global); }
  Value constant(int64_t value) { return LLVM::ConstantOp::create(builder, loc, word, value); }
  Value onStack(Type type, int64_t count) {
    return LLVM::AllocaOp::create(builder, loc, pointer, type, constant(count));
  }

  gpu::LaunchFuncOp launch;
  func::FuncOp func;
  OpBuilder builder;
  Location loc;
  Type pointer, word;
  SmallVector<Value> values; ///< of the kernel's parameters
};
} // namespace

/// A buffer is passed as in a call of a loop function: its pointer, dynamic sizes and dynamic strides.
void LaunchLowering::append(Value operand) {
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (!type) {
    values.push_back(operand.getType().isIndex() ? arith::IndexCastOp::create(builder, loc, word, operand).getResult()
                                                 : operand);
    return;
  }
  Value descriptor = descriptorOf(operand);
  auto appendField = [&](ArrayRef<int64_t> position) {
    values.push_back(LLVM::ExtractValueOp::create(builder, loc, descriptor, position));
  };
  auto appendDynamic = [&](int64_t field, ArrayRef<int64_t> known) {
    for (auto [i, number] : llvm::enumerate(known))
      if (ShapedType::isDynamic(number))
        appendField({field, static_cast<int64_t>(i)});
  };
  appendField(1);
  appendDynamic(3, type.getShape());
  if (auto layout = dyn_cast<StridedLayoutAttr>(type.getLayout()))
    appendDynamic(4, layout.getStrides());
}

/// The addresses of the parameters' values, as the driver takes them.
Value LaunchLowering::addressTable() {
  Value table = onStack(pointer, values.size());
  for (auto [i, value] : llvm::enumerate(values)) {
    Value place = onStack(value.getType(), 1);
    LLVM::StoreOp::create(builder, loc, value, place);
    Value entry = LLVM::GEPOp::create(builder, loc, pointer, pointer, table, LLVM::GEPArg(i));
    LLVM::StoreOp::create(builder, loc, place, entry);
  }
  return table;
}

Value LaunchLowering::nameString() {
  StringRef kernel = launch.getKernelName();
  std::string bytes = kernel.str() + '\0';
  OpBuilder atFunction(func);
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  std::string name = (kernel + "_name").str();
  LLVM::GlobalOp::create(atFunction, loc, type, /*isConstant=*/true, LLVM::Linkage::Private, name,
                         builder.getStringAttr(bytes));
  return addressOf(name);
}

void LaunchLowering::run() {
  llvm::for_each(launch.getKernelOperands(), [&](Value operand) { append(operand); });
  Value imageBytes = LLVM::LoadOp::create(builder, loc, word, addressOf(kDeviceImageBytes));
  Value arguments[] = {func.getArgument(0), addressOf(kDeviceImage), imageBytes,
                       nameString(),        addressTable(),          values.back()};
  func::CallOp::create(builder, loc, "mhcrt_cuda_loop", TypeRange(), arguments);
  launch.erase();
}

/// The image is made from the kernels once they are lowered; until then its globals are known by name.
static void declareRuntime(ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(module.getContext()), word = builder.getI64Type();
  auto declare = [&](StringRef name, Type type) {
    LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::External, name,
                           Attribute());
  };
  declare(kDeviceImage, LLVM::LLVMArrayType::get(builder.getI8Type(), 0));
  declare(kDeviceImageBytes, word);
  auto type = builder.getFunctionType({pointer, pointer, word, pointer, pointer, word}, {});
  func::FuncOp::create(builder, module.getLoc(), "mhcrt_cuda_loop", type).setPrivate();
}

void mhc::lowerLaunches(ModuleOp module) {
  SmallVector<gpu::LaunchFuncOp> launches;
  module.walk([&](gpu::LaunchFuncOp launch) { launches.push_back(launch); });
  if (launches.empty())
    return;
  declareRuntime(module);
  for (gpu::LaunchFuncOp launch : launches)
    LaunchLowering(launch).run();
}
