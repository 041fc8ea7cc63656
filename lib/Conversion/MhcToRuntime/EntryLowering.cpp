//===- EntryLowering.cpp - One entry and the calls in it ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk, without a pattern driver. What is neither a buffer nor a call (loops, arithmetic on sizes and scalars)
// stays as it is, for the upstream conversions.
//
//===----------------------------------------------------------------------===//

#include "EntryLowering.h"
#include "Buffers.h"
#include "mhc/Conversion/Passes.h"
#include "mhc/IR/ElementTypes.h"
#include "mhc/IR/KernelArguments.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/IR/OutsideFunctions.h"
#include "mhc/IR/SizeCheck.h"
#include "mhc/IR/TensorBytes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mhc;

static constexpr StringLiteral kEntryPrefix = "mhc_entry_";

namespace {
class EntryLowering {
public:
  EntryLowering(func::FuncOp func, SymbolTable &symbols, const EntryOptions &options)
      : old(func), symbols(symbols), options(options), builder(func.getContext()),
        pointerType(LLVM::LLVMPointerType::get(func.getContext())), address(builder, &func.getBody().front()),
        outside(outsideFunctions(func->getParentOfType<ModuleOp>())) {}

  LogicalResult run();

private:
  void createEntry();
  void readDescriptor(BlockArgument buffer, Value array, unsigned number);
  LogicalResult lower(Operation *op);
  void lowerCheck(Operation *op);
  LogicalResult lowerView(Operation *op);
  LogicalResult lowerElement(Operation *op, Value buffer, ValueRange indices);
  Value castElement(Location loc, Type type, Value element);
  Value loadElement(Location loc, Type type, Value pointer);
  LogicalResult lowerGlobal(memref::GetGlobalOp op);
  void lowerDim(memref::DimOp op);
  void lowerArena(memref::AllocOp op);
  void lowerReturn(func::ReturnOp op);
  void lowerCondition(scf::ConditionOp op);
  LogicalResult lowerLaunch(LaunchOp op);
  void lowerLoopCall(func::CallOp op);
  void lowerOutsideCall(func::CallOp op, func::FuncOp callee);
  Value isGood(Location loc);
  /// Goes on in a region that runs where no check has failed so far; anywhere, where the entry has none.
  void insertBehindChecks(Location loc);
  Value pointerArray(Location loc, ValueRange list);
  void appendSizes(const KernelInfo &info, LaunchOp op, ArrayRef<const Buffer *> tensors,
                   SmallVectorImpl<Value> &arguments);
  Value attribute(const KernelAttr &attr, Attribute value);

  func::FuncOp declare(StringRef name, TypeRange inputs, Type result);
  func::FuncOp callerOf(const KernelInfo &info, TypeRange types);
  Value call(Location loc, StringRef name, ValueRange arguments, Type result) {
    func::FuncOp callee = declare(name, arguments.getTypes(), result);
    return func::CallOp::create(builder, loc, callee, arguments).getResult(0);
  }
  Value null() {
    if (!nullPointer) {
      OpBuilder atStart = OpBuilder::atBlockBegin(&entry.getBody().front());
      nullPointer = LLVM::ZeroOp::create(atStart, entry.getLoc(), pointerType);
    }
    return nullPointer;
  }

  func::FuncOp old, entry;
  SymbolTable &symbols;
  EntryOptions options;
  OpBuilder builder;
  Type pointerType;
  AddressBuilder address;
  Value context, nullPointer, arena;
  DenseMap<Value, Buffer> buffers;
  SmallVector<Operation *> dead;
  bool hasChecks = false;   ///< of sizes
  int64_t numArguments = 0; ///< of the entry, without its results
  SmallVector<func::FuncOp> outside;
};
} // namespace

LogicalResult EntryLowering::run() {
  createEntry();
  // Lowering the arena splits the block; what follows moves along.
  SmallVector<Operation *> ops;
  entry.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    ops.push_back(op);
    hasChecks |= isCheck(op);
  });
  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    if (failed(lower(op)))
      return failure();
  }
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  Block &start = entry.getBody().front();
  start.eraseArguments(3, start.getNumArguments() - 3);
  SmallVector<Value> shared(start.getArguments());
  if (arena)
    shared.push_back(arena);
  splitEntry(entry, arena ? *std::next(entry.getBody().begin()) : start, shared, symbols);
  return success();
}

void EntryLowering::createEntry() {
  Location loc = old.getLoc();
  Type i32 = builder.getI32Type();
  auto type = builder.getFunctionType({pointerType, pointerType, pointerType}, {i32});
  entry = func::FuncOp::create(loc, (kEntryPrefix + old.getName()).str(), type);
  // Straight-line code that calls kernels: cheap code generation matters for deep models, its own speed does not.
  entry->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "optnone"}));
  symbols.insert(entry, Block::iterator(old));
  entry.getBody().takeBody(old.getBody());
  Block &block = entry.getBody().front();
  for (unsigned i = 0; i < 3; ++i)
    block.insertArgument(i, pointerType, loc);
  context = block.getArgument(0);

  builder.setInsertionPointToStart(&block);
  unsigned arguments = 0, results = 0;
  for (BlockArgument buffer : block.getArguments().drop_front(3)) {
    bool isResult = old.getArgAttr(buffer.getArgNumber() - 3, "mhc.result") != nullptr;
    readDescriptor(buffer, block.getArgument(isResult ? 2 : 1), isResult ? results++ : arguments++);
  }
  numArguments = arguments;
  symbols.erase(old);
}

void EntryLowering::readDescriptor(BlockArgument buffer, Value array, unsigned number) {
  Location loc = buffer.getLoc();
  auto type = cast<MemRefType>(buffer.getType());
  auto field = [&](int64_t offset) {
    return address.advance(loc, array, builder.getI8Type(), address.number(number * kTensorBytes + offset));
  };
  auto load = [&](Type type, int64_t offset) {
    // Nothing writes the descriptors, so that a load may be repeated anywhere.
    auto op = LLVM::LoadOp::create(builder, loc, type, field(offset), /*alignment=*/8);
    op.setInvariant(true);
    return op.getResult();
  };
  Value data = load(pointerType, 0);
  Buffer result{data, data, type.getElementType(), {}, {}};
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      result.sizes.push_back(address.number(size));
      continue;
    }
    Value loaded = load(builder.getI64Type(), kTensorDimsOffset + dim * sizeof(int64_t));
    result.sizes.push_back(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), loaded).getResult());
  }
  result.strides = address.rowMajor(loc, result.sizes);
  buffers[buffer] = result;
}

void EntryLowering::lowerCheck(Operation *op) {
  checkInRuntime(builder, op, context, symbols);
  dead.push_back(op);
}

LogicalResult EntryLowering::lower(Operation *op) {
  if (isCheck(op))
    return lowerCheck(op), success();
  if (isa<memref::SubViewOp, memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp, memref::ReinterpretCastOp,
          memref::ViewOp>(op))
    return lowerView(op);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](memref::DimOp dim) { return lowerDim(dim), success(); })
      .Case([&](memref::AllocOp alloc) -> LogicalResult {
        if (!alloc.getType().getElementType().isInteger(8) || alloc.getType().getRank() != 1)
          return alloc.emitError() << "a temporary has no place; run mhc-plan-memory before convert-mhc-to-runtime";
        return lowerArena(alloc), success();
      })
      .Case([&](memref::LoadOp load) { return lowerElement(op, load.getMemRef(), load.getIndices()); })
      .Case([&](memref::StoreOp store) { return lowerElement(op, store.getMemRef(), store.getIndices()); })
      .Case([&](memref::GetGlobalOp global) { return lowerGlobal(global); })
      .Case([&](LaunchOp launch) { return lowerLaunch(launch); })
      .Case([&](func::CallOp call) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        return isOutside(callee) ? lowerOutsideCall(call, callee) : lowerLoopCall(call), success();
      })
      .Case([&](func::ReturnOp ret) { return lowerReturn(ret), success(); })
      .Case([&](scf::ConditionOp condition) { return lowerCondition(condition), success(); })
      .Default([&](Operation *) -> LogicalResult {
        bool onBuffers = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>) ||
                         llvm::any_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>);
        if (onBuffers)
          return op->emitError() << "'" << op->getName() << "' on buffers cannot be lowered to the runtime";
        return success();
      });
}

LogicalResult EntryLowering::lowerView(Operation *op) {
  std::optional<Buffer> buffer = address.view(op, buffers[op->getOperand(0)]);
  if (!buffer)
    return op->emitError() << "'" << op->getName() << "' on buffers cannot be lowered to the runtime";
  buffers[op->getResult(0)] = *buffer;
  dead.push_back(op);
  return success();
}

/// A load or a store.
LogicalResult EntryLowering::lowerElement(Operation *op, Value buffer, ValueRange indices) {
  if (options.onGpu)
    return op->emitError() << "'" << op->getName() << "' needs a value of the GPU on the host";
  Location loc = op->getLoc();
  Value pointer = address.elementPointer(loc, buffers[buffer], indices);
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    insertBehindChecks(loc);
    Value stored = castElement(loc, memoryType(store.getValueToStore().getType()), store.getValueToStore());
    LLVM::StoreOp::create(builder, loc, stored, pointer);
  } else {
    auto load = cast<memref::LoadOp>(op);
    Value loaded = loadElement(loc, memoryType(load.getType()), pointer);
    load.replaceAllUsesWith(castElement(loc, load.getType(), loaded));
  }
  dead.push_back(op);
  return success();
}

/// From or to an index; other elements are in memory as they are.
Value EntryLowering::castElement(Location loc, Type type, Value element) {
  return element.getType() == type ? element : arith::IndexCastOp::create(builder, loc, type, element).getResult();
}

/// The element; zero behind a check that has failed.
Value EntryLowering::loadElement(Location loc, Type type, Value pointer) {
  if (!hasChecks)
    return LLVM::LoadOp::create(builder, loc, type, pointer);
  auto branch = scf::IfOp::create(builder, loc, type, isGood(loc), /*withElseRegion=*/true);
  OpBuilder inner = branch.getThenBodyBuilder();
  scf::YieldOp::create(inner, loc, LLVM::LoadOp::create(inner, loc, type, pointer).getResult());
  inner = branch.getElseBodyBuilder();
  scf::YieldOp::create(inner, loc, arith::ConstantOp::create(inner, loc, inner.getZeroAttr(type)).getResult());
  return branch.getResult(0);
}

Value EntryLowering::isGood(Location loc) {
  Value status = call(loc, "mhcrt_last_status", context, builder.getI32Type());
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, status, address.i32(0));
}

void EntryLowering::insertBehindChecks(Location loc) {
  if (hasChecks)
    builder.setInsertionPoint(scf::IfOp::create(builder, loc, isGood(loc)).thenBlock()->getTerminator());
}

LogicalResult EntryLowering::lowerGlobal(memref::GetGlobalOp op) {
  Location loc = op.getLoc();
  MemRefType type = op.getType();
  std::optional<int64_t> bytesEach = bytesOf(type.getElementType());
  if (!bytesEach)
    return op.emitError() << "this constant has elements of " << type.getElementType()
                          << "; needed integers, floats or index";
  Value data = LLVM::AddressOfOp::create(builder, loc, pointerType, op.getNameAttr());
  if (options.onGpu) {
    Value bytes = address.constant(builder.getI64IntegerAttr(type.getNumElements() * *bytesEach));
    data = call(loc, kConstantFunction, {context, data, bytes}, pointerType);
  }
  Buffer buffer{data, data, type.getElementType(), {}, {}};
  for (int64_t size : type.getShape())
    buffer.sizes.push_back(address.number(size));
  buffer.strides = address.rowMajor(loc, buffer.sizes);
  buffers[op] = buffer;
  dead.push_back(op);
  return success();
}

void EntryLowering::lowerDim(memref::DimOp op) {
  op.replaceAllUsesWith(address.index(buffers[op.getSource()].sizes[*op.getConstantIndex()]));
  dead.push_back(op);
}

/// Fetches the arena; leaves the entry where there is no memory for it.
void EntryLowering::lowerArena(memref::AllocOp op) {
  Location loc = op.getLoc();
  OpFoldResult size = op.getMixedSizes()[0];
  Value bytes = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address.index(size));
  arena = call(loc, "mhcrt_workspace", {context, bytes}, pointerType);
  Value missing = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, arena, null());
  buffers[op] = Buffer{arena, arena, builder.getI8Type(), {size}, {address.number(1)}};
  dead.push_back(op);

  Block *start = op->getBlock();
  Block *rest = start->splitBlock(op);
  auto *failed = new Block;
  entry.getBody().push_back(failed);
  builder.setInsertionPointToEnd(failed);
  func::ReturnOp::create(builder, loc, call(loc, "mhcrt_last_status", context, builder.getI32Type()));
  builder.setInsertionPointToEnd(start);
  cf::CondBranchOp::create(builder, loc, missing, failed, ValueRange(), rest, ValueRange());
}

/// Behind an error kernels do nothing, so that what a loop waits for may never come: the error ends it.
void EntryLowering::lowerCondition(scf::ConditionOp op) {
  Location loc = op.getLoc();
  op.getConditionMutable().assign(arith::AndIOp::create(builder, loc, op.getCondition(), isGood(loc)));
}

void EntryLowering::lowerReturn(func::ReturnOp op) {
  if (options.lines) // what comes behind is of no line
    setRuntimeLocation(builder, builder.getUnknownLoc(), context, symbols);
  func::ReturnOp::create(builder, op.getLoc(), call(op.getLoc(), "mhcrt_last_status", context, builder.getI32Type()));
  dead.push_back(op);
}

func::FuncOp EntryLowering::declare(StringRef name, TypeRange inputs, Type result) {
  if (auto known = symbols.lookup<func::FuncOp>(name))
    return known;
  auto func = func::FuncOp::create(entry.getLoc(), name, builder.getFunctionType(inputs, {result}));
  func.setPrivate();
  symbols.insert(func);
  return func;
}

/// A function that puts its arguments, which are those of a kernel behind the context, into a struct on its stack and
/// calls the kernel. One serves all calls: entries of deep models have thousands, and their stack does not grow with
/// them.
func::FuncOp EntryLowering::callerOf(const KernelInfo &info, TypeRange types) {
  std::string name = (info.symbol + "_call").str(); // no entry begins so
  if (auto known = symbols.lookup<func::FuncOp>(name))
    return known;
  auto [fields, bytes] = kernelArgumentsOf(info.opName);
  Location loc = builder.getUnknownLoc();
  auto caller = func::FuncOp::create(loc, name, builder.getFunctionType(types, builder.getI32Type()));
  caller.setPrivate();
  caller->setAttr("llvm.linkage", LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  symbols.insert(caller);
  OpBuilder body = OpBuilder::atBlockBegin(caller.addEntryBlock());
  Type word = body.getI64Type(), byte = body.getI8Type();
  Value size = LLVM::ConstantOp::create(body, loc, word, bytes);
  Value args = LLVM::AllocaOp::create(body, loc, pointerType, byte, size, /*alignment=*/8);
  LLVM::StoreOp::create(body, loc, size, args);
  for (auto [field, value] : llvm::zip_equal(fields, caller.getArguments().drop_front())) {
    Value stored = value.getType().isIndex() ? arith::IndexCastOp::create(body, loc, word, value).getResult() : value;
    Value place = LLVM::GEPOp::create(body, loc, pointerType, byte, args, LLVM::GEPArg(field.offset));
    LLVM::StoreOp::create(body, loc, stored, place);
  }
  func::FuncOp kernel = declare(info.symbol, {pointerType, pointerType}, body.getI32Type());
  auto status = func::CallOp::create(body, loc, kernel, ValueRange{caller.getArgument(0), args});
  func::ReturnOp::create(body, loc, status.getResults());
  return caller;
}

Value EntryLowering::attribute(const KernelAttr &attr, Attribute value) {
  if (attr.kind == KernelAttr::Int) // not as a double, which has 53 bits
    return address.constant(builder.getI64IntegerAttr(value ? cast<IntegerAttr>(value).getInt() : *attr.whenAbsent));
  double number = kernelAttrValue(attr, value);
  if (attr.kind == KernelAttr::Float)
    return address.constant(builder.getF64FloatAttr(number));
  const auto integer = static_cast<int64_t>(number);
  return attr.cType == "int64_t" ? address.constant(builder.getI64IntegerAttr(integer)) : address.i32(integer);
}

/// The record's dims in its order. A dim that only absent tensors have is passed as zero; no kernel reads it.
void EntryLowering::appendSizes(const KernelInfo &info, LaunchOp op, ArrayRef<const Buffer *> tensors,
                                SmallVectorImpl<Value> &arguments) {
  SmallVector<OpFoldResult> sizes(info.dims.size(), address.number(0));
  for (auto [tensor, buffer] : llvm::reverse(llvm::zip(info.tensors, tensors)))
    if (buffer)
      for (auto [dim, size] : llvm::zip(kernelTensorDims(op.getConfig(), tensor), buffer->sizes))
        sizes[dim] = size;
  for (OpFoldResult size : sizes)
    arguments.push_back(address.index(size));
}

/// The addresses of a list's buffers, in an array on the stack.
Value EntryLowering::pointerArray(Location loc, ValueRange list) {
  Value array = LLVM::AllocaOp::create(builder, loc, pointerType, pointerType, address.i32(list.size()));
  for (auto [i, buffer] : llvm::enumerate(list)) {
    Value element = address.advance(loc, array, pointerType, address.number(i));
    LLVM::StoreOp::create(builder, loc, buffers[buffer].pointer, element);
  }
  return array;
}

LogicalResult EntryLowering::lowerLaunch(LaunchOp op) {
  const KernelInfo &info = *lookupKernelInfo(op.getKernel());
  SmallVector<Value> arguments = {context};
  SmallVector<const Buffer *> tensors;
  OperandRange inputs = op.getInputs(), outputs = op.getOutputs();
  for (auto [tensor, count] : llvm::zip(info.tensors, op.getCounts())) {
    OperandRange &rest = tensor.isResult ? outputs : inputs;
    OperandRange list = rest.take_front(count);
    rest = rest.drop_front(count);
    const Buffer *buffer = count ? &buffers[list.front()] : nullptr;
    ElementCode code = buffer ? elementCode(buffer->element) : kNoElement;
    tensors.push_back(buffer);
    arguments.push_back(!buffer ? null() : tensor.isList ? pointerArray(op.getLoc(), list) : buffer->pointer);
    arguments.push_back(address.i32(code));
    if (tensor.isList)
      arguments.push_back(address.constant(builder.getI64IntegerAttr(count)));
  }
  appendSizes(info, op, tensors, arguments);
  for (const KernelAttr &attr : info.attrs)
    arguments.push_back(attribute(attr, op.getConfig().get(attr.name)));
  if (options.lines)
    setRuntimeLocation(builder, op.getLoc(), context, symbols);
  func::CallOp::create(builder, op.getLoc(), callerOf(info, ValueRange(arguments).getTypes()), arguments);
  dead.push_back(op);
  return success();
}

/// A buffer of a loop function is passed as its pointer, its dynamic sizes and, unless row-major, its dynamic strides.
static void appendBuffer(AddressBuilder &address, MemRefType type, const Buffer &buffer,
                         SmallVectorImpl<Value> &arguments) {
  arguments.push_back(buffer.pointer);
  for (auto [size, known] : llvm::zip(buffer.sizes, type.getShape()))
    if (ShapedType::isDynamic(known))
      arguments.push_back(address.index(size));
  if (auto layout = dyn_cast<StridedLayoutAttr>(type.getLayout()))
    for (auto [stride, known] : llvm::zip(buffer.strides, layout.getStrides()))
      if (ShapedType::isDynamic(known))
        arguments.push_back(address.index(stride));
}

void EntryLowering::lowerLoopCall(func::CallOp op) {
  insertBehindChecks(op.getLoc());
  SmallVector<Value> arguments;
  if (needsContext(symbols.lookup<func::FuncOp>(op.getCallee())))
    arguments.push_back(context);
  for (Value operand : op.getOperands()) {
    if (auto type = dyn_cast<MemRefType>(operand.getType()))
      appendBuffer(address, type, buffers[operand], arguments);
    else
      arguments.push_back(operand);
  }
  if (options.lines)
    setRuntimeLocation(builder, op.getLoc(), context, symbols);
  func::CallOp::create(builder, op.getLoc(), op.getCallee(), TypeRange(), arguments);
  dead.push_back(op);
}

/// The caller of an entry passes the functions outside behind the arguments, as tensors whose data they are.
void EntryLowering::lowerOutsideCall(func::CallOp op, func::FuncOp callee) {
  Location loc = op.getLoc();
  int64_t place = numArguments + std::distance(outside.begin(), llvm::find(outside, callee));
  Value slot = address.advance(loc, entry.getArgument(1), builder.getI8Type(), address.number(place * kTensorBytes));
  auto function = LLVM::LoadOp::create(builder, loc, pointerType, slot, /*alignment=*/8);
  function.setInvariant(true);
  SmallVector<Value> arguments = {context, function};
  for (Value operand : op.getOperands())
    appendBuffer(address, cast<MemRefType>(operand.getType()), buffers[operand], arguments);
  if (options.lines)
    setRuntimeLocation(builder, loc, context, symbols);
  func::CallOp::create(builder, loc, outsideCaller(callee, symbols), arguments);
  dead.push_back(op);
}

LogicalResult mhc::lowerEntry(func::FuncOp func, SymbolTable &symbols, const EntryOptions &options) {
  return EntryLowering(func, symbols, options).run();
}
