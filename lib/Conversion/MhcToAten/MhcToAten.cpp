//===- MhcToAten.cpp - Fused ops as calls for PyTorch -------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only what a fused op computes is written, of a function that mhc-read-aten made: nodes of the graph that have no
// fused op behind them stay as they are. The text is JSON, since the one that reads it is Python.
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/Conversion/Passes.h"
#include "mhc/Conversion/WriteAten.h"
#include "mhc/IR/EqualStreams.h"
#include "mhc/IR/KernelInfo.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mhc {
#define GEN_PASS_DEF_WRITEATENPASS
#include "mhc/Conversion/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;
namespace json = llvm::json;

static json::Object dtypeOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  StringRef name = element.isF32()    ? "float32"
                   : element.isF64()  ? "float64"
                   : element.isBF16() ? "bfloat16"
                   : element.isF16()  ? "float16"
                                      : "bool";
  return json::Object{{"dtype", name}};
}

static json::Array integers(ArrayRef<int64_t> numbers) { return json::Array(numbers); }

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether a call was left as it is.
static bool isNode(Operation *op) { return !op->isRegistered(); }

namespace {
/// Writes the calls that a function's results need.
class CallWriter {
public:
  explicit CallWriter(func::FuncOp func) : func(func), dims(func) {
    for (BlockArgument argument : func.getArguments())
      if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
        for (int64_t dim : llvm::seq(type.getRank()))
          if (std::optional<Polynomial> size = dims.value(argument, dim))
            if (std::optional<unsigned> symbol = symbolOf(*size))
              sources.try_emplace(*symbol, argument, dim);
  }

  FailureOr<WrittenCalls> write();

private:
  bool hasFused(Value value);
  /// A value that is written already, or a number.
  json::Value refer(Value value);
  json::Value refer(OpFoldResult size);
  void write(Value value);
  void writeKernel(KernelOpInterface op);
  void writeLeaf(Operation *op);
  json::Value slice(tensor::ExtractSliceOp op);
  json::Value pad(tensor::PadOp op);
  json::Value shift(ShiftOp op);
  json::Value spread(BroadcastOp op);
  json::Value splat(RankedTensorType type, Attribute number, json::Array sizes);
  json::Value constant(arith::ConstantOp op);
  json::Value product(Value lhs, Value rhs, bool transposeLhs, bool transposeRhs, StringRef name);
  /// Appends a call with one result.
  json::Value call(StringRef name, json::Array args, json::Object kwargs = {});
  /// The elements in another shape, whose open sizes are those that the function gives.
  json::Value reshape(Value tensor, ArrayRef<int64_t> shape, function_ref<json::Value(int64_t)> sizeOf);
  json::Value split(tensor::ExpandShapeOp op);
  json::Value join(tensor::CollapseShapeOp op);
  json::Value sizeOf(Value tensor, int64_t dim);
  json::Value openSize(Value tensor, int64_t dim);
  json::Value fail(Operation *op) {
    failed = failed ? failed : op;
    return nullptr;
  }

  func::FuncOp func;
  DimAnalysis dims;
  llvm::DenseMap<unsigned, std::pair<BlockArgument, int64_t>> sources; ///< symbols of sizes: who has them first
  json::Array calls;
  llvm::DenseMap<Value, json::Value> written;
  llvm::DenseMap<Value, bool> fused; ///< what is known of a value
  int64_t next = 0;
  Operation *failed = nullptr;
};
} // namespace

bool CallWriter::hasFused(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isNode(op))
    return false;
  if (auto known = fused.find(value); known != fused.end())
    return known->second;
  bool has = isMhcOp(op) || llvm::any_of(op->getOperands(), [&](Value operand) { return hasFused(operand); });
  return fused[value] = has;
}

json::Value CallWriter::call(StringRef name, json::Array args, json::Object kwargs) {
  json::Object call{{"op", name}, {"args", std::move(args)}, {"result", next}};
  if (!kwargs.empty())
    call["kwargs"] = std::move(kwargs);
  calls.push_back(std::move(call));
  return json::Object{{"value", next++}};
}

json::Value CallWriter::refer(Value value) {
  if (std::optional<int64_t> number = value.getType().isIndex() ? getConstantIntValue(value) : std::nullopt)
    return *number;
  if (isa<BlockArgument>(value) || isNode(value.getDefiningOp()))
    return json::Object{{"node", nodeOf(func, value).getValue()}};
  write(value);
  auto found = written.find(value);
  return found == written.end() ? json::Value(nullptr) : found->second;
}

json::Value CallWriter::refer(OpFoldResult size) {
  std::optional<int64_t> number = getConstantIntValue(size);
  return number ? json::Value(*number) : refer(cast<Value>(size));
}

void CallWriter::write(Value value) {
  Operation *op = value.getDefiningOp();
  if (written.contains(value) || failed)
    return;
  if (auto kernel = dyn_cast<KernelOpInterface>(op); kernel && isMhcOp(op))
    writeKernel(kernel);
  else
    writeLeaf(op);
}

void mhc::forEachNode(Location loc, function_ref<void(StringAttr)> visit) {
  loc->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      visit(name.getName());
    return WalkResult::advance();
  });
}

/// The names of nodes in a location.
static void collectNodes(Location loc, json::Array &nodes) {
  llvm::SmallDenseSet<StringAttr> seen;
  forEachNode(loc, [&](StringAttr name) {
    if (seen.insert(name).second)
      nodes.push_back(name.getValue());
  });
}

/// Sizes of results that no operand has, by their letters; 0 where the result is absent.
static void addSizes(KernelOpInterface op, json::Object &kwargs) {
  const KernelInfo &info = op.getKernelInfo();
  llvm::SmallDenseSet<unsigned> read;
  for (const KernelTensor &tensor : info.tensors)
    if (!tensor.isResult)
      read.insert_range(tensor.dims);
  for (auto [i, tensor] : llvm::enumerate(info.tensors)) {
    if (!tensor.isResult)
      continue;
    Value value = op.getTensor(i);
    for (auto [at, dim] : llvm::enumerate(op.getTensorDims(i)))
      if (!read.contains(dim))
        kwargs.try_emplace(info.dims[dim], value ? typeOf(value).getDimSize(at) : 0);
  }
}

void CallWriter::writeKernel(KernelOpInterface op) {
  const KernelInfo &info = op.getKernelInfo();
  json::Object kwargs, results;
  json::Array nodes;
  for (auto [i, tensor] : llvm::enumerate(info.tensors)) {
    if (tensor.isResult)
      continue;
    json::Array values;
    for (Value value : op.getTensors(i))
      values.push_back(refer(value));
    if (tensor.isList)
      kwargs[tensor.name] = std::move(values);
    else if (!values.empty())
      kwargs[tensor.name] = std::move(values.front());
  }
  for (const KernelAttr &attr : info.attrs)
    if (Attribute value = op->getAttr(attr.name))
      kwargs[attr.name] = attr.kind == KernelAttr::Enum    ? json::Value(attr.stringify(attr.read(value)))
                          : attr.kind == KernelAttr::Int   ? json::Value(cast<IntegerAttr>(value).getInt())
                          : attr.kind == KernelAttr::Float ? json::Value(cast<FloatAttr>(value).getValueAsDouble())
                          : attr.kind == KernelAttr::Bool  ? json::Value(cast<BoolAttr>(value).getValue())
                                                           : json::Value(true);
  addSizes(op, kwargs);
  for (auto [i, tensor] : llvm::enumerate(info.tensors))
    if (Value value = tensor.isResult ? op.getTensor(i) : Value()) {
      results[tensor.name] = next;
      written.try_emplace(value, json::Object{{"value", next++}});
    }
  collectNodes(op.getLoc(), nodes);
  calls.push_back(json::Object{{"op", info.opName},
                               {"kwargs", std::move(kwargs)},
                               {"results", std::move(results)},
                               {"nodes", std::move(nodes)}});
}

json::Value CallWriter::sizeOf(Value tensor, int64_t dim) {
  int64_t size = typeOf(tensor).getDimSize(dim);
  return ShapedType::isDynamic(size) ? openSize(tensor, dim) : json::Value(size);
}

/// A size, from the first arguments that it follows from: a later one may be a node that needs the calls.
json::Value CallWriter::openSize(Value tensor, int64_t dim) {
  std::optional<Polynomial> size = dims.value(tensor, dim);
  auto isKnown = [&](const auto &term) {
    return llvm::all_of(term.first, [&](unsigned symbol) { return sources.contains(symbol); });
  };
  if (!size || size->empty() || !llvm::all_of(*size, isKnown))
    return call(aten::kSymSizeInt, json::Array{refer(tensor), dim});
  auto join = [&](StringRef name, json::Value &all, json::Value part) {
    all = all == nullptr ? std::move(part) : call(name, json::Array{std::move(all), std::move(part)});
  };
  json::Value sum = nullptr;
  for (auto &[monomial, coefficient] : *size) {
    json::Value product = nullptr;
    for (unsigned symbol : monomial) {
      auto [argument, place] = sources.at(symbol);
      join(aten::kOperatorMul, product, call(aten::kSymSizeInt, json::Array{refer(argument), place}));
    }
    if (coefficient != 1 || monomial.empty())
      join(aten::kOperatorMul, product, coefficient);
    join(aten::kOperatorAdd, sum, std::move(product));
  }
  return sum;
}

/// All sizes are given. One that PyTorch infers is a quotient, which took it minutes where sizes are sums of quotients.
json::Value CallWriter::reshape(Value tensor, ArrayRef<int64_t> shape, function_ref<json::Value(int64_t)> sizeOf) {
  json::Array sizes;
  for (auto [dim, size] : llvm::enumerate(shape))
    sizes.push_back(ShapedType::isDynamic(size) ? sizeOf(dim) : json::Value(size));
  return call(aten::kReshape, json::Array{refer(tensor), std::move(sizes)});
}

json::Value CallWriter::split(tensor::ExpandShapeOp op) {
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  return reshape(op.getSrc(), op.getResultType().getShape(), [&](int64_t dim) { return refer(sizes[dim]); });
}

json::Value CallWriter::join(tensor::CollapseShapeOp op) {
  auto groups = op.getReassociationIndices();
  return reshape(op.getSrc(), op.getResultType().getShape(), [&](int64_t dim) {
    json::Value product = sizeOf(op.getSrc(), groups[dim].front());
    for (int64_t i : llvm::drop_begin(groups[dim]))
      product = call(aten::kOperatorMul, json::Array{std::move(product), sizeOf(op.getSrc(), i)});
    return product;
  });
}

json::Value CallWriter::slice(tensor::ExtractSliceOp op) {
  json::Value value = refer(op.getSource());
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    std::optional<int64_t> start = getConstantIntValue(offset), count = getConstantIntValue(size);
    auto open = dyn_cast<Value>(size);
    bool isWhole = open ? dims.sameSize(op.getSource(), dim, open, DimAnalysis::kIndexValue)
                        : count == op.getSourceType().getDimSize(dim);
    if (start == 0 && getConstantIntValue(stride) == 1 && isWhole)
      continue;
    if (getConstantIntValue(stride) != 1)
      return fail(op);
    json::Value from = refer(offset);
    json::Value end = start && count ? json::Value(*start + *count)
                      : start == 0   ? refer(open)
                                     : call(aten::kOperatorAdd, json::Array{refer(size), from});
    value = call(aten::kSliceTensor,
                 json::Array{std::move(value), static_cast<int64_t>(dim), std::move(from), std::move(end)});
  }
  json::Array dropped;
  const llvm::SmallBitVector isDropped = op.getDroppedDims();
  for (unsigned dim : isDropped.set_bits())
    dropped.push_back(static_cast<int64_t>(dim));
  return dropped.empty() ? std::move(value)
                         : call(aten::kSqueezeDims, json::Array{std::move(value), std::move(dropped)});
}

json::Value CallWriter::pad(tensor::PadOp op) {
  FloatAttr number;
  Value value = op.getConstantPaddingValue();
  if (!value || !matchPattern(value, m_Constant(&number)))
    return fail(op);
  const SmallVector<OpFoldResult> low = op.getMixedLowPad(), high = op.getMixedHighPad();
  json::Array around; // of the last dimension first
  for (size_t dim = low.size(); dim-- > 0;)
    for (OpFoldResult size : {low[dim], high[dim]})
      around.push_back(refer(size));
  return call(aten::kConstantPadNd, json::Array{refer(op.getSource()), std::move(around), number.getValueAsDouble()});
}

/// Padding by less than nothing cuts.
json::Value CallWriter::shift(ShiftOp op) {
  if (op->getNumOperands() != 1)
    return fail(op);
  json::Array around;
  const int64_t rank = typeOf(op.getX()).getRank(), by = op.getBy();
  for (int64_t dim = rank; dim-- > static_cast<int64_t>(op.getDim());) {
    const int64_t low = dim == static_cast<int64_t>(op.getDim()) ? by : 0;
    around.push_back(low);
    around.push_back(-low);
  }
  return call(aten::kConstantPadNd, json::Array{refer(op.getX()), std::move(around), 0.0});
}

json::Value CallWriter::spread(BroadcastOp op) {
  RankedTensorType type = op.getX().getType(), wide = op.getOut().getType();
  ArrayRef<int64_t> places = op.getDims();
  SmallVector<int64_t> shape(wide.getRank(), 1);
  for (auto [place, size] : llvm::zip(places, type.getShape()))
    shape[place] = size;
  json::Value value = refer(op.getX());
  if (type.getRank() != wide.getRank())
    value = reshape(op.getX(), shape,
                    [&](int64_t dim) { return sizeOf(op.getX(), llvm::find(places, dim) - places.begin()); });
  json::Array sizes;
  auto given = op.getSizes().begin();
  for (auto [own, size] : llvm::zip(shape, wide.getShape()))
    sizes.push_back(own != 1 ? json::Value(-1) : ShapedType::isDynamic(size) ? refer(*given++) : json::Value(size));
  return call(aten::kExpand, json::Array{std::move(value), std::move(sizes)});
}

/// A tensor on the device of the graph's tensors.
json::Value CallWriter::splat(RankedTensorType type, Attribute number, json::Array sizes) {
  auto *like = llvm::find_if(func.getArguments(), [](Value value) { return isa<RankedTensorType>(value.getType()); });
  auto real = dyn_cast_if_present<FloatAttr>(number);
  if (!real || like == func.getArguments().end())
    return nullptr;
  return call(aten::kNewFull, json::Array{refer(*like), std::move(sizes), real.getValueAsDouble()}, dtypeOf(type));
}

/// Numbers that are no splat are written as runs of equal ones.
json::Value CallWriter::constant(arith::ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!elements || !type || !isa<FloatType>(type.getElementType()))
    return fail(op);
  if (elements.isSplat())
    return splat(type, elements.getSplatValue<Attribute>(), integers(type.getShape()));
  constexpr int64_t kMostElements = 1024; // more are a weight
  if (type.getNumElements() > kMostElements)
    return fail(op);
  json::Array parts;
  auto numbers = llvm::to_vector(elements.getValues<Attribute>());
  for (size_t start = 0, end = 0; start < numbers.size(); start = end) {
    while (end < numbers.size() && numbers[end] == numbers[start])
      ++end;
    parts.push_back(splat(type, numbers[start], integers(end - start)));
  }
  json::Value all = call(aten::kCat, json::Array{std::move(parts), 0});
  return type.getRank() == 1 ? std::move(all)
                             : call(aten::kReshape, json::Array{std::move(all), integers(type.getShape())});
}

json::Value CallWriter::product(Value lhs, Value rhs, bool transposeLhs, bool transposeRhs, StringRef name) {
  auto factor = [&](Value matrix, bool transposes) {
    json::Value value = refer(matrix);
    return transposes ? call(aten::kTransposeInt, json::Array{std::move(value), -2, -1}) : std::move(value);
  };
  json::Value a = factor(lhs, transposeLhs), b = factor(rhs, transposeRhs);
  return call(name, json::Array{std::move(a), std::move(b)});
}

void CallWriter::writeLeaf(Operation *op) {
  auto listed = [&](ValueRange values) {
    json::Array all;
    for (Value value : values)
      all.push_back(refer(value));
    return all;
  };
  auto value =
      llvm::TypeSwitch<Operation *, json::Value>(op)
          .Case([&](tensor::CastOp op) { return refer(op.getSource()); })
          .Case([&](tensor::DimOp op) {
            std::optional<int64_t> dim = op.getConstantIndex();
            return dim ? openSize(op.getSource(), *dim) : fail(op);
          })
          .Case([&](tensor::ExpandShapeOp op) { return split(op); })
          .Case([&](tensor::CollapseShapeOp op) { return join(op); })
          .Case([&](tensor::ExtractSliceOp op) { return slice(op); })
          .Case([&](tensor::PadOp op) { return pad(op); })
          .Case([&](ShiftOp op) { return shift(op); })
          .Case([&](tensor::ConcatOp op) {
            return call(aten::kCat, json::Array{listed(op.getInputs()), static_cast<int64_t>(op.getDim())});
          })
          .Case([&](tensor::SplatOp op) {
            Attribute number;
            json::Array sizes;
            auto given = op.getDynamicSizes().begin();
            for (int64_t size : op.getType().getShape())
              sizes.push_back(ShapedType::isDynamic(size) ? refer(*given++) : json::Value(size));
            return matchPattern(op.getInput(), m_Constant(&number)) ? splat(op.getType(), number, std::move(sizes))
                                                                    : fail(op);
          })
          .Case([&](arith::ConstantOp op) { return constant(op); })
          .Case([&](BroadcastOp op) { return spread(op); })
          .Case([&](TransposeOp op) {
            return call(aten::kPermute, json::Array{refer(op.getX()), integers(op.getPerm())});
          })
          .Case([&](ReduceOp op) {
            StringRef name = op.getKind() == ReduceKind::sum    ? aten::kSumDimIntList
                             : op.getKind() == ReduceKind::mean ? aten::kMeanDim
                                                                : aten::kAmax;
            return call(name, json::Array{refer(op.getX()), integers(op.getDims())});
          })
          .Case([&](SoftmaxOp op) {
            return call(aten::kSoftmax, json::Array{refer(op.getX()), static_cast<int64_t>(op.getDim()), false});
          })
          .Case<MatmulOp, BatchMatmulOp>([&](auto op) {
            return product(op.getLhs(), op.getRhs(), op.getTransposeLhs(), op.getTransposeRhs(),
                           isa<MatmulOp>(op) ? aten::kMm : aten::kBmm);
          })
          .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp>([&](Operation *) {
            return call(aten::kToCopy, listed(op->getOperands()), dtypeOf(op->getResult(0).getType()));
          })
          .Default([&](Operation *) {
            StringRef name = sameCall(op->getName().getStringRef());
            return name.empty() ? fail(op) : call(name, listed(op->getOperands()));
          });
  written.try_emplace(op->getResult(0), std::move(value));
}

FailureOr<WrittenCalls> CallWriter::write() {
  json::Object nodes;
  for (auto [i, value] : llvm::enumerate(func.getBody().front().getTerminator()->getOperands())) {
    auto name = func.getResultAttrOfType<StringAttr>(i, kNodeName);
    if (name && hasFused(value))
      nodes[name.getValue()] = refer(value);
  }
  if (failed) {
    failed->emitError() << "'" << failed->getName() << "' has no form in PyTorch";
    return failure();
  }
  SmallVector<Operation *> ops;
  for (Operation &op : func.getBody().front())
    if (llvm::any_of(op.getResults(), [&](Value result) { return written.contains(result); }))
      ops.push_back(&op);
  return WrittenCalls{json::Object{{"calls", std::move(calls)}, {"nodes", std::move(nodes)}}, std::move(ops)};
}

FailureOr<WrittenCalls> mhc::writeAten(func::FuncOp func) {
  writeOutEqualStreams(func); // PyTorch's ops take streams
  return CallWriter(func).write();
}

void mhc::printLines(const json::Object &object, raw_ostream &os) {
  os << "{";
  std::map<StringRef, const json::Value *> sorted;
  for (const auto &[key, value] : object)
    sorted[key] = &value;
  llvm::interleave(
      sorted, os,
      [&](const auto &member) {
        os << json::Value(member.first) << ": ";
        const json::Array *array = member.second->getAsArray();
        if (!array)
          return void(os << *member.second);
        os << "[";
        llvm::interleave(*array, os, [&](const json::Value &element) { os << "\n" << element; }, ",");
        os << "]";
      },
      ",\n");
  os << "}\n";
}

namespace {
struct WriteAtenPass : mhc::impl::WriteAtenPassBase<WriteAtenPass> {
  void runOnOperation() override {
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      FailureOr<WrittenCalls> written = writeAten(func);
      if (failed(written))
        return signalPassFailure();
      printLines(written->text, llvm::outs());
    }
    llvm::outs().flush();
  }
};
} // namespace
