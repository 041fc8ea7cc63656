//===- Memory.cpp - One arena for all temporaries ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Time is the position of an operation in the function; a loop is passed once. Every step is linear in the operations,
// but for the logarithm of the free list.
//
//===----------------------------------------------------------------------===//

#include "Regions.h"
#include "Sizes.h"
#include "mhc/IR/TensorBytes.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <deque>
#include <numeric>

namespace mhc {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

static constexpr int64_t kAlignment = 64;

namespace {
struct Buffer {
  memref::AllocOp alloc;
  Location loc;
  Polynomial bytes;
  int64_t first = -1, last = -1; ///< operations that touch it
  int64_t offset = 0;            ///< in its region, in bytes per unit
};

/// The buffers whose size is a number times one product of symbols.
struct Region {
  SmallVector<Buffer *> buffers;
  int64_t arena = 0, live = 0, all = 0; ///< bytes per unit
  Value units, base;                    ///< the product of symbols, rounded up; the offset in the arena
};

class MemoryPlanner {
public:
  explicit MemoryPlanner(func::FuncOp func) : func(func), block(func.getBody().front()), sizes(func) {}

  LogicalResult run() {
    if (failed(collect(block)))
      return failure();
    for (auto &[monomial, region] : regions)
      place(region);
    if (!buffers.empty())
      emit();
    record();
    return success();
  }

private:
  LogicalResult collect(Block &block);
  LogicalResult collectLoop(Operation *loop);
  LogicalResult addBuffer(memref::AllocOp alloc);
  void touch(Operation *op);
  static void place(Region &region);
  void emit();
  Value build(OpBuilder &builder, unsigned symbol);
  Value build(OpBuilder &builder, const Polynomial &size);
  void emitRegion(OpBuilder &builder, const Monomial &monomial, Region &region, Value &end);
  Value bytesOfArena(OpBuilder &builder, Value end);
  void record();
  std::string text(const Monomial &monomial);
  std::string text(const Polynomial &bytes);

  func::FuncOp func;
  Block &block;
  SizeAnalysis sizes;
  int64_t time = 0;
  std::deque<Buffer> buffers;
  SmallVector<Buffer *> touched;   ///< in program order, with repetitions
  DenseMap<Value, Buffer *> owner; ///< of every alias
  llvm::MapVector<Monomial, Region, std::map<Monomial, unsigned>> regions;
  DenseMap<unsigned, Value> numbers; ///< of symbols that ops compute
  SmallVector<Buffer *> mixed;       ///< whose size is a sum over several products: placed one behind the other
};
} // namespace

static bool isView(Operation *op) {
  return isa<ViewLikeOpInterface, memref::CollapseShapeOp, memref::ExpandShapeOp>(op);
}

LogicalResult MemoryPlanner::collect(Block &block) {
  for (Operation &op : block) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      if (failed(addBuffer(alloc)))
        return failure();
      continue;
    }
    if (isa<scf::ForOp, scf::WhileOp>(op)) {
      if (failed(collectLoop(&op)))
        return failure();
      continue;
    }
    if (isView(&op)) {
      if (Buffer *buffer = owner.lookup(op.getOperand(0)))
        owner[op.getResult(0)] = buffer;
      continue;
    }
    if (llvm::any_of(op.getResultTypes(), llvm::IsaPred<MemRefType>) && !isa<memref::GetGlobalOp>(op))
      return op.emitError() << "'" << op.getName() << "' makes a buffer that the memory plan cannot follow";
    ++time;
    op.walk([&](Operation *inner) { touch(inner); });
  }
  return success();
}

/// Buffers made in an iteration end with it. Those from outside live from the first iteration to the last.
LogicalResult MemoryPlanner::collectLoop(Operation *loop) {
  int64_t start = ++time;
  size_t before = touched.size();
  for (mlir::Region &region : loop->getRegions())
    if (failed(collect(region.front())))
      return failure();
  ++time;
  for (Buffer *buffer : ArrayRef(touched).drop_front(before)) {
    if (loop->isAncestor(buffer->alloc))
      continue;
    buffer->first = std::min(buffer->first, start);
    buffer->last = time;
  }
  return success();
}

LogicalResult MemoryPlanner::addBuffer(memref::AllocOp alloc) {
  std::optional<Polynomial> elements = sizes.elements(alloc.getType(), alloc.getDynamicSizes());
  if (!elements)
    return alloc.emitError() << "the size of this temporary does not follow from the sizes of the arguments";
  std::optional<int64_t> elementBytes = bytesOf(alloc.getType().getElementType());
  if (!elementBytes)
    return alloc.emitError() << "this temporary has elements of " << alloc.getType().getElementType()
                             << "; needed integers, floats or index";
  Buffer &buffer = buffers.emplace_back(Buffer{alloc, alloc.getLoc(), {}});
  for (auto &[monomial, count] : *elements)
    buffer.bytes[monomial] = count * *elementBytes;
  owner[alloc] = &buffer;
  if (buffer.bytes.size() > 1)
    mixed.push_back(&buffer);
  else if (!buffer.bytes.empty())
    regions[buffer.bytes.begin()->first].buffers.push_back(&buffer);
  return success();
}

void MemoryPlanner::touch(Operation *op) {
  for (Value operand : op->getOperands()) {
    Buffer *buffer = owner.lookup(operand);
    if (!buffer)
      continue;
    if (buffer->first < 0)
      buffer->first = time;
    buffer->last = time;
    touched.push_back(buffer);
  }
}

void MemoryPlanner::place(Region &region) {
  SmallVector<Buffer *> byStart(region.buffers), byEnd(region.buffers);
  llvm::stable_sort(byStart, [](Buffer *a, Buffer *b) { return a->first < b->first; });
  llvm::stable_sort(byEnd, [](Buffer *a, Buffer *b) { return a->last < b->last; });
  RegionAllocator allocator;
  int64_t live = 0;
  auto dead = byEnd.begin();
  // A region of numbers is made of whole cache lines; one per symbol is aligned by rounding the symbol.
  for (Buffer *buffer : byStart) {
    for (; (*dead)->last < buffer->first; ++dead) {
      allocator.release((*dead)->offset, (*dead)->bytes.begin()->second);
      live -= (*dead)->bytes.begin()->second;
    }
    int64_t &bytes = buffer->bytes.begin()->second;
    if (buffer->bytes.begin()->first.empty())
      bytes = llvm::alignTo(bytes, kAlignment);
    buffer->offset = allocator.allocate(bytes);
    region.all += bytes;
    live += bytes;
    region.live = std::max(region.live, live);
  }
  region.arena = allocator.size();
}

static Value constantIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

static Value add(OpBuilder &builder, Location loc, Value a, Value b) {
  return arith::AddIOp::create(builder, loc, a, b);
}
static Value mul(OpBuilder &builder, Location loc, Value a, Value b) {
  return arith::MulIOp::create(builder, loc, a, b);
}

static Value roundUp(OpBuilder &builder, Location loc, Value value, int64_t granule) {
  if (granule == 1)
    return value;
  Value more = add(builder, loc, value, constantIndex(builder, loc, granule - 1));
  return arith::AndIOp::create(builder, loc, more, constantIndex(builder, loc, -granule));
}

/// Clamps a size at 0: mhc-check-sizes reports negative ones, and until then they must not make the arena smaller.
static Value notNegative(OpBuilder &builder, Location loc, Value value) {
  return arith::MaxSIOp::create(builder, loc, value, constantIndex(builder, loc, 0));
}

Value MemoryPlanner::build(OpBuilder &builder, unsigned symbol) {
  const SizeSymbol &source = sizes.symbol(symbol);
  Location loc = func.getLoc();
  if (!source.op)
    return memref::DimOp::create(builder, loc, source.argument, source.dim);
  if (Value known = numbers.lookup(symbol))
    return known;
  IRMapping mapping;
  for (auto [operand, size] : llvm::zip(source.op->getOperands(), source.operands)) {
    Value number = build(builder, size);
    if (!operand.getType().isIndex())
      number = arith::IndexCastOp::create(builder, loc, operand.getType(), number);
    mapping.map(operand, number);
  }
  Value number = builder.clone(*source.op, mapping)->getResult(0);
  if (!number.getType().isIndex())
    number = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number);
  return numbers[symbol] = number;
}

Value MemoryPlanner::build(OpBuilder &builder, const Polynomial &size) {
  Location loc = func.getLoc();
  Value sum = constantIndex(builder, loc, 0);
  for (auto &[monomial, coefficient] : size) {
    Value term = constantIndex(builder, loc, coefficient);
    for (unsigned symbol : monomial)
      term = mul(builder, loc, term, build(builder, symbol));
    sum = add(builder, loc, sum, term);
  }
  return sum;
}

void MemoryPlanner::emitRegion(OpBuilder &builder, const Monomial &monomial, Region &region, Value &end) {
  Location loc = func.getLoc();
  region.base = end;
  if (monomial.empty()) {
    end = add(builder, loc, end, constantIndex(builder, loc, region.arena));
    return;
  }
  for (unsigned symbol : monomial) {
    Value size = build(builder, symbol);
    region.units = region.units ? mul(builder, loc, region.units, size) : size;
  }
  if (llvm::any_of(monomial, [&](unsigned symbol) { return sizes.symbol(symbol).op; }))
    region.units = notNegative(builder, loc, region.units);
  int64_t common = kAlignment; // what all offsets are multiples of, whatever the number of units
  for (Buffer *buffer : region.buffers)
    common = std::gcd(common, buffer->bytes.begin()->second);
  region.units = roundUp(builder, loc, region.units, kAlignment / common);
  end = add(builder, loc, end, mul(builder, loc, region.units, constantIndex(builder, loc, region.arena)));
}

/// The end of the last region, or kTooManyBytes: `end` wraps at 2^64, the same sum in floating point does not.
Value MemoryPlanner::bytesOfArena(OpBuilder &builder, Value end) {
  SmallVector<std::pair<Monomial, int64_t>> terms;
  for (auto &[monomial, region] : regions)
    terms.push_back({monomial, region.arena});
  for (Buffer *buffer : mixed)
    llvm::append_range(terms, buffer->bytes);
  llvm::erase_if(terms, [](const auto &term) { return term.first.empty(); });
  if (terms.empty())
    return end;
  Location loc = func.getLoc();
  auto constant = [&](double number) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(number));
  };
  Value needed = constant(0);
  for (auto &[monomial, coefficient] : terms) {
    // A term that is subtracted counts as well: it is smaller than the others.
    Value term = constant(std::abs(static_cast<double>(coefficient)));
    for (unsigned symbol : monomial) {
      Value size = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                              notNegative(builder, loc, build(builder, symbol)));
      term =
          arith::MulFOp::create(builder, loc, term, arith::SIToFPOp::create(builder, loc, builder.getF64Type(), size));
    }
    needed = arith::AddFOp::create(builder, loc, needed, term);
  }
  Value isTooMany = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, needed, constant(kTooManyBytes));
  return arith::SelectOp::create(builder, loc, isTooMany, constantIndex(builder, loc, kTooManyBytes), end);
}

void MemoryPlanner::emit() {
  Location loc = func.getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  Value end = constantIndex(builder, loc, 0);
  for (auto &[monomial, region] : regions)
    emitRegion(builder, monomial, region, end);
  DenseMap<Buffer *, Value> bases;
  for (Buffer *buffer : mixed) {
    bases[buffer] = end;
    Value bytes = notNegative(builder, loc, build(builder, buffer->bytes));
    end = add(builder, loc, end, roundUp(builder, loc, bytes, kAlignment));
  }
  auto type = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  Value bytes = bytesOfArena(builder, end);
  Value arena = memref::AllocOp::create(builder, loc, type, bytes, builder.getI64IntegerAttr(kAlignment));
  for (Buffer &buffer : buffers) {
    memref::AllocOp alloc = buffer.alloc;
    builder.setInsertionPoint(alloc);
    Value offset = bases.lookup(&buffer);
    if (!offset && buffer.bytes.empty())
      offset = constantIndex(builder, loc, 0);
    if (!offset) {
      Region &region = regions[buffer.bytes.begin()->first];
      Value scaled = constantIndex(builder, loc, buffer.offset);
      if (region.units)
        scaled = mul(builder, loc, scaled, region.units);
      offset = add(builder, loc, region.base, scaled);
    }
    Value view =
        memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(), arena, offset, alloc.getDynamicSizes());
    alloc.getResult().replaceAllUsesWith(view);
    alloc.erase();
  }
}

std::string MemoryPlanner::text(const Monomial &monomial) {
  return llvm::join(llvm::map_range(monomial, [&](unsigned symbol) { return sizes.symbol(symbol).name; }), "*");
}

/// "16*M + 4"
std::string MemoryPlanner::text(const Polynomial &bytes) {
  std::string sum;
  for (auto &[monomial, factor] : bytes)
    sum += (sum.empty() ? "" : " + ") + std::to_string(factor) + (monomial.empty() ? "" : "*" + text(monomial));
  return sum.empty() ? "0" : sum;
}

/// The line of the source; 0 where it is not known.
static int64_t lineOf(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  return place ? place.getLine() : 0;
}

void MemoryPlanner::record() {
  Builder builder(func.getContext());
  SmallVector<Attribute> entries;
  auto add = [&](StringRef per, int64_t arena, int64_t live, int64_t all) {
    entries.push_back(builder.getDictionaryAttr({builder.getNamedAttr("per", builder.getStringAttr(per)),
                                                 builder.getNamedAttr("arena", builder.getI64IntegerAttr(arena)),
                                                 builder.getNamedAttr("live", builder.getI64IntegerAttr(live)),
                                                 builder.getNamedAttr("all", builder.getI64IntegerAttr(all))}));
  };
  for (auto &[monomial, region] : regions)
    add(text(monomial), region.arena, region.live, region.all);
  for (Buffer *buffer : mixed)
    for (auto &[monomial, bytes] : buffer->bytes)
      add(text(monomial), bytes, bytes, bytes);
  func->setAttr("mhc.memory", builder.getArrayAttr(entries));
  SmallVector<Attribute> temporaries;
  for (const Buffer &buffer : buffers) {
    auto number = [&](StringRef name, int64_t value) {
      return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
    };
    temporaries.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr("bytes", builder.getStringAttr(text(buffer.bytes))), number("first", buffer.first),
         number("last", buffer.last), number("line", lineOf(buffer.loc))}));
  }
  if (!temporaries.empty())
    func->setAttr("mhc.temporaries", builder.getArrayAttr(temporaries));
}

namespace {
struct PlanMemory : mhc::impl::PlanMemoryPassBase<PlanMemory> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!func.isDeclaration() && func.isPublic() && failed(MemoryPlanner(func).run()))
      signalPassFailure();
  }
};
} // namespace
