//===- CostModel.cpp - Bytes, flops and launches of a function ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/CostModel.h"
#include "PeakMemory.h"
#include "TensorSizes.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mhc;

Cost &Cost::operator+=(const Cost &other) {
  bytesRead += other.bytesRead;
  bytesWritten += other.bytesWritten;
  flops += other.flops;
  launches += other.launches;
  return *this;
}

Cost mhc::operator*(double factor, const Cost &cost) {
  return {factor * cost.bytesRead, factor * cost.bytesWritten, factor * cost.flops, factor * cost.launches};
}

bool FunctionCost::isComplete() const {
  return llvm::all_of(ops, [](const OpCost &op) { return op.unknown.empty(); });
}

static unsigned lineOf(Location loc) {
  unsigned line = 0;
  loc->walk([&](Location part) {
    if (auto place = dyn_cast<FileLineColLoc>(part))
      line = place.getLine();
    return line ? WalkResult::interrupt() : WalkResult::advance();
  });
  return line;
}

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

/// A constant whose elements are equal is kept as one number.
static bool isInMemory(Value value) {
  DenseElementsAttr constant;
  return isTensor(value) && !(matchPattern(value, m_Constant(&constant)) && constant.isSplat());
}

namespace {
/// Walks one function and collects the ops that cost something.
class CostCounter {
public:
  CostCounter(const DimAnalysis &dims, FunctionCost &out) : dims(dims), sizes(dims), out(out) {}

  void countBlock(Block &block, double times) {
    for (Operation &op : block) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        countLoop(loop, times);
      else if (llvm::any_of(op.getResults(), isTensor) && !isFree(&op))
        add(&op, times, countOp(&op));
    }
  }

private:
  struct Counted {
    Cost cost;
    std::string unknown, besides;
  };

  bool isFree(Operation *op) { return isa<arith::ConstantOp, tensor::EmptyOp>(op) || sizes.viewSource(op); }

  void add(Operation *op, double times, Counted counted) {
    OpCost row{op->getName().getStringRef().str(),
               lineOf(op->getLoc()),
               op,
               times,
               times * counted.cost,
               counted.unknown,
               counted.besides,
               isMhcOp(op)};
    if (!row.unknown.empty())
      row.cost = Cost();
    out.total += row.cost;
    out.ops.push_back(std::move(row));
  }

  void countLoop(scf::ForOp loop, double times) {
    std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
    std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    if (!lower || !upper || !step || *step <= 0)
      return add(loop, times, {{}, "number of iterations", ""});
    int64_t iterations = *upper > *lower ? (*upper - *lower + *step - 1) / *step : 0;
    countBlock(*loop.getBody(), times * iterations);
  }

  Counted countOp(Operation *op) {
    auto loops = dyn_cast<linalg::LinalgOp>(op);
    if ((op->getNumRegions() > 0 && !loops) || isa<CallOpInterface>(op))
      return {{}, "what it runs", ""};
    Counted counted;
    Cost &cost = counted.cost;
    cost.launches = 1;
    llvm::SmallPtrSet<Value, 8> read;
    for (OpOperand &operand : op->getOpOperands())
      if (isInMemory(operand.get()) && (!loops || loops.payloadUsesValueFromOperand(&operand)) &&
          read.insert(operand.get()).second)
        cost.bytesRead += bytesRead(operand, counted);
    for (Value result : op->getResults())
      if (isTensor(result))
        cost.bytesWritten += sizes.bytes(result, counted.unknown);
    if (loops)
      cost.flops = loopFlops(loops, counted.unknown);
    else if (auto kernel = dyn_cast<KernelOpInterface>(op))
      cost.flops = alongTokens(kernel, kernel.getKernelInfo().flops, counted.unknown);
    else
      cost.flops = leafFlops(op, counted.unknown);
    return counted;
  }

  /// All bytes of an operand, or those of the elements that the record of a kernel says are read. Integers of a kernel
  /// that are as many as something else than tokens, such as where sequences begin, are few: they stand besides.
  Amount bytesRead(OpOperand &operand, Counted &counted) {
    auto kernel = dyn_cast<KernelOpInterface>(operand.getOwner());
    const KernelTensor *record = kernel ? recordOf(kernel, operand.get()) : nullptr;
    const Type element = getElementTypeOrSelf(operand.get());
    if (record && record->elementsRead)
      return element.getIntOrFloatBitWidth() / 8.0 * alongTokens(kernel, record->elementsRead, counted.unknown);
    std::string unknown;
    Amount bytes = sizes.bytes(operand.get(), unknown);
    if (!unknown.empty() && record && element.isInteger())
      note(counted.besides, llvm::formatv("{1} {2} of '{0}'", record->name, unknown, element).str());
    else if (!unknown.empty())
      note(counted.unknown, unknown);
    return bytes;
  }

  static const KernelTensor *recordOf(KernelOpInterface op, Value operand) {
    for (auto [i, tensor] : llvm::enumerate(op.getKernelInfo().tensors))
      if (!tensor.isResult && llvm::is_contained(op.getTensors(i), operand))
        return &tensor;
    return nullptr;
  }

  static bool isArithmetic(Operation &op) { return op.hasTrait<OpTrait::Elementwise>() && !isa<CastOpInterface>(op); }

  /// The arithmetic of the body, once for each iteration of all loops.
  Amount loopFlops(linalg::LinalgOp op, std::string &unknown) {
    SmallVector<std::pair<Value, int>> ranges;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      Value tensor;
      unsigned dim;
      if (failed(op.mapIterationSpaceDimToOperandDim(loop, tensor, dim))) {
        note(unknown, "the range of a loop");
        return {};
      }
      ranges.push_back({tensor, dim});
    }
    return double(llvm::count_if(*op.getBlock(), isArithmetic)) * sizes.product(ranges, unknown);
  }

  Amount leafFlops(Operation *op, std::string &unknown) {
    Value last = op->getNumOperands() ? op->getOperand(0) : Value();
    if (isa<ReduceOp>(op))
      return sizes.elements(last, unknown);
    if (isa<SoftmaxOp, RmsNormOp>(op))
      return 4.0 * sizes.elements(last, unknown);
    if (isArithmetic(*op))
      return sizes.elements(op->getResult(0), unknown);
    return {};
  }

  /// A formula of the record at three numbers of tokens tells whether it is a multiple of M, and which.
  Amount alongTokens(KernelOpInterface op, double (*formula)(const KernelSizes &), std::string &unknown) {
    std::string others;
    auto at = [&](double tokens, double other) { return formula(sizesAt(op, {tokens, other}, others)); };
    double none = at(0, 1), one = at(1, 1);
    if (at(2, 1) - one != one - none)
      note(unknown, "M*M");
    if (at(0, 2) != none || at(1, 2) != one)
      note(unknown, others);
    return {one - none, none};
  }

  /// Trial values of the sizes that are open: M, and all others.
  struct Trial {
    double tokens, other;
  };

  KernelSizes sizesAt(KernelOpInterface op, Trial trial, std::string &others) {
    const KernelInfo &info = op.getKernelInfo();
    KernelSizes at;
    at.dims.resize(info.dims.size());
    for (unsigned i = 0; i < info.tensors.size(); ++i)
      if (Value tensor = op.getTensor(i))
        for (auto [dim, number] : llvm::enumerate(op.getTensorDims(i)))
          at.dims[number] = sizeAt(tensor, dim, trial, others);
    for (const KernelAttr &attr : info.attrs)
      at.attrs.push_back(kernelAttrValue(attr, op->getAttr(attr.name)));
    for (unsigned i = 0; i < info.tensors.size(); ++i)
      at.counts.push_back(op.getTensors(i).size());
    return at;
  }

  double sizeAt(Value tensor, int dim, Trial trial, std::string &others) {
    auto [factor, symbol] = dims.factors(tensor, dim);
    if (symbol.empty() || symbol == "M")
      return symbol.empty() ? factor : factor * trial.tokens;
    note(others, symbol);
    return factor * trial.other;
  }

  const DimAnalysis &dims;
  TensorSizes sizes;
  FunctionCost &out;
};
} // namespace

/// Bytes per token and channel of tensor `i` of a kernel op; 0 where it has not both.
static int64_t bytesPerChannel(KernelOpInterface op, unsigned i) {
  const KernelInfo &info = op.getKernelInfo();
  auto type = cast<RankedTensorType>(op.getTensor(i).getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  bool hasTokens = false, hasChannels = false;
  for (auto [dim, size] : llvm::zip(op.getTensorDims(i), type.getShape())) {
    hasTokens |= info.dims[dim] == "M";
    hasChannels |= info.dims[dim] == "C";
    bytes *= info.dims[dim] == "M" || info.dims[dim] == "C" ? 1 : size;
  }
  return hasTokens && hasChannels ? bytes : 0;
}

/// The same of all tensors; one that is read twice counts once.
static int64_t bytesPerChannel(KernelOpInterface op) {
  llvm::SmallPtrSet<Value, 8> seen;
  int64_t bytes = 0;
  for (unsigned i = 0; i < op.getKernelInfo().tensors.size(); ++i)
    if (Value value = op.getTensor(i); value && seen.insert(value).second)
      bytes += bytesPerChannel(op, i);
  return bytes;
}

static std::optional<StreamGradients> streamGradientsOf(func::FuncOp func) {
  StreamGradients out = {};
  int64_t bytes = 0;
  bool alike = true;
  func.walk([&](Operation *op) {
    if (isa<PostBwdOp, AggregateBwdOp, ProjectionBwdOp, PreBwdOp, PostPreBwdOp>(op))
      bytes += bytesPerChannel(cast<KernelOpInterface>(op));
    TypeSwitch<Operation *>(op).Case<PostBwdOp, PostPreBwdOp>([&](auto post) {
      int64_t n = post.getHPost().getType().getDimSize(1);
      int64_t elementBytes = post.getX().getType().getElementTypeBitWidth() / 8;
      alike &= out.sublayers++ == 0 || (out.streams == n && out.elementBytes == elementBytes);
      out.streams = n;
      out.elementBytes = elementBytes;
    });
  });
  if (!alike || out.sublayers == 0)
    return std::nullopt;
  out.bytesPerChannel = static_cast<double>(bytes) / out.sublayers;
  return out;
}

/// Streams [M,n,C] and rows [M,C] that a kernel around a sublayer reads and writes by math.md 9; none for other ops.
static SublayerKernels sublayerKernel(Operation *op) {
  const auto row = [&](int64_t streams, int64_t channels) {
    return SublayerKernels{op->getName().stripDialect().str(), streams, channels};
  };
  return TypeSwitch<Operation *, SublayerKernels>(op)
      .Case([&](PreOp pre) { return row(1, bool(pre.getU())); })
      .Case([&](PostOp) { return row(2, 1); })
      .Case([&](PostPreOp both) { return row(2, 1 + bool(both.getU())); })
      .Case([&](PostHeadOp both) { return row(1 + bool(both.getY()), 2); })
      .Case([&](PreBwdOp pre) {
        return row(1 + (pre.getDXIn() || pre.getDOut()) + bool(pre.getDX()), bool(pre.getDU()));
      })
      .Case([&](PostBwdOp post) { return row(2 + bool(post.getDXIn()) + bool(post.getDX()), 1 + bool(post.getDF())); })
      .Case([&](PostPreBwdOp both) {
        return row(1 + bool(both.getY()) + (both.getDY() || both.getDOut()) + bool(both.getDX()),
                   1 + bool(both.getDU()) + bool(both.getDF()));
      })
      .Default([](Operation *) { return SublayerKernels(); });
}

/// The streams that a kernel around a sublayer has as one row each: equal ones, and those that it adds up.
static int64_t streamsAsRows(KernelOpInterface op) {
  int64_t count = 0;
  for (auto [i, tensor] : llvm::enumerate(op.getKernelInfo().tensors))
    count += op.getTensor(i) && !tensor.equalDims.empty() && op.getTensorDims(i) == tensor.equalDims;
  return count;
}

/// Bytes per channel of the streams around a sublayer, and of one element of them.
static std::pair<int64_t, int64_t> streamBytesOf(KernelOpInterface op) {
  int64_t element = 0, n = 0;
  for (auto [i, tensor] : llvm::enumerate(op.getKernelInfo().tensors)) {
    Value value = op.getTensor(i);
    if (tensor.name == "x")
      element = cast<RankedTensorType>(value.getType()).getElementTypeBitWidth() / 8;
    if (value && (tensor.name == "h_post" || tensor.name == "d_h_post"))
      n = cast<RankedTensorType>(value.getType()).getDimSize(1);
  }
  return {n * element, element};
}

static void addSublayerKernels(FunctionCost &out) {
  for (const OpCost &cost : out.ops) {
    SublayerKernels kernel = cost.op ? sublayerKernel(cost.op) : SublayerKernels();
    if (kernel.op.empty() || cost.times == 0)
      continue;
    const int64_t rows = streamsAsRows(cast<KernelOpInterface>(cost.op));
    kernel.streams -= rows, kernel.channels += rows;
    auto kind = llvm::find_if(out.sublayerKernels, [&](const SublayerKernels &other) {
      return std::tie(other.op, other.streams, other.channels) == std::tie(kernel.op, kernel.streams, kernel.channels);
    });
    if (kind == out.sublayerKernels.end())
      kind = out.sublayerKernels.insert(kind, kernel);
    auto op = cast<KernelOpInterface>(cost.op);
    auto [streams, element] = streamBytesOf(op);
    kind->ops += cost.times;
    kind->closedForm += cost.times * (kernel.streams * streams + kernel.channels * element);
    kind->counted += cost.times * bytesPerChannel(op);
  }
}

/// Bytes of a row of qkvzba and of what is made of it, in one direction; 0 where the batch is open. Without a gate
/// neither has z.
template <typename Op>
static double frontEndForm(Op op, int64_t xElements, bool hasGate) {
  auto x = op.getQkvzba().getType();
  const bool isBatchFirst = op.getSeqLayout() == SeqLayout::bMD;
  const int64_t a = x.getElementTypeBitWidth() / 8, b = x.getDimSize(isBatchFirst ? 0 : 1), D = x.getDimSize(2);
  const int64_t E = op.getConvWeight().getType().getDimSize(0), hv = op.getALog().getType().getDimSize(0);
  const int64_t valueChannels = D - E - 2 * hv, keyChannels = (E - valueChannels) / 2;
  const int64_t repeated = keyChannels * (hv / static_cast<int64_t>(op.getNumKeyHeads()));
  const int64_t gate = hasGate ? 0 : 2 * valueChannels;
  return ShapedType::isDynamic(b) ? 0
                                  : b * (a * (xElements + D + 2 * repeated + 2 * valueChannels - gate + hv) + 4 * hv);
}

/// Both directions; what a forward op saves counts by its own type.
static void addFrontEnds(FunctionCost &out) {
  const auto add = [](FrontEndBytes &bytes, const OpCost &cost, double form) {
    ++bytes.ops;
    bytes.closedForm += cost.times * form;
    bytes.counted += cost.cost.bytes().perToken;
  };
  for (const OpCost &cost : out.ops) {
    if (auto op = dyn_cast_or_null<PreGatedDeltaRuleOp>(cost.op)) {
      auto silu = op.getSilu() ? cast<RankedTensorType>(op.getSilu().getType()) : RankedTensorType();
      const int64_t saved = silu && !silu.isDynamicDim(0)
                                ? silu.getDimSize(0) * silu.getDimSize(2) * silu.getElementTypeBitWidth() / 8
                                : 0;
      add(op.getGate() ? out.frontEnds : out.frontEndsInPlace, cost,
          frontEndForm(op, 0, op.getGate() != nullptr) + saved);
    } else if (auto op = dyn_cast_or_null<PreGatedDeltaRuleBwdOp>(cost.op)) {
      const int64_t E = op.getConvWeight().getType().getDimSize(0), hv = op.getALog().getType().getDimSize(0);
      add(out.frontEndGradients, cost, frontEndForm(op, E + 2 * hv, /*hasGate=*/true));
    }
  }
}

int64_t mhc::bytesPerToken(KernelOpInterface op) {
  const KernelInfo &info = op.getKernelInfo();
  int64_t bytes = 0;
  for (auto [i, tensor] : llvm::enumerate(info.tensors)) {
    Value value = op.getTensor(i);
    if (!value ||
        !llvm::is_contained(llvm::map_range(op.getTensorDims(i), [&](unsigned d) { return info.dims[d]; }), "M"))
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    int64_t elements = 1;
    for (auto [dim, size] : llvm::zip(op.getTensorDims(i), type.getShape()))
      elements *= info.dims[dim] == "M" || ShapedType::isDynamic(size) ? 1 : size;
    bytes += op.getTensors(i).size() * elements * type.getElementTypeBitWidth() / 8;
  }
  return bytes;
}

std::optional<Amount> mhc::plannedPeakBytes(func::FuncOp func) {
  auto plan = func->getAttrOfType<ArrayAttr>("mhc.memory");
  if (!plan)
    return std::nullopt;
  Amount peak;
  for (auto region : plan.getAsRange<DictionaryAttr>()) {
    auto per = region.getAs<StringAttr>("per");
    auto arena = region.getAs<IntegerAttr>("arena");
    if (!per || !arena || (per != "M" && !per.empty()))
      return std::nullopt;
    (per.empty() ? peak.fixed : peak.perToken) += arena.getInt();
  }
  return peak;
}

std::vector<Temporary> mhc::plannedTemporaries(func::FuncOp func) {
  std::vector<Temporary> temporaries;
  auto plan = func->getAttrOfType<ArrayAttr>("mhc.temporaries");
  if (!plan)
    return temporaries;
  for (auto buffer : plan.getAsRange<DictionaryAttr>()) {
    auto bytes = buffer.getAs<StringAttr>("bytes");
    auto number = [&](StringRef name) {
      auto value = buffer.getAs<IntegerAttr>(name);
      return value ? value.getInt() : 0;
    };
    temporaries.push_back({bytes ? bytes.str() : "?", number("first"), number("last"), number("line")});
  }
  return temporaries;
}

Amount mhc::resultBytes(func::FuncOp func, unsigned first) {
  DimAnalysis dims(func);
  TensorSizes sizes(dims);
  Amount sum;
  std::string unknown;
  for (Value result : func.getBody().front().getTerminator()->getOperands().drop_front(first))
    sum += sizes.bytes(result, unknown);
  return sum;
}

FunctionCost mhc::costOf(func::FuncOp func) {
  FunctionCost out;
  out.name = func.getName().str();
  if (func.isExternal())
    return out;
  DimAnalysis dims(func);
  CostCounter counter(dims, out);
  for (Block &block : func.getBody())
    counter.countBlock(block, /*times=*/1);
  out.peakBytes = peakTemporaryBytes(func, TensorSizes(dims));
  out.plannedPeakBytes = plannedPeakBytes(func);
  out.temporaries = plannedTemporaries(func);
  out.streamGradients = streamGradientsOf(func);
  addSublayerKernels(out);
  addFrontEnds(out);
  return out;
}
