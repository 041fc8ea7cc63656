//===- PipelineSplit.cpp - One function for each stage of a pipeline ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value is bound when it depends on the streams; the op that makes it belongs to the first stage that has all of its
// operands. What depends on no streams, such as masks and weights in another type, is made in each stage that reads it.
//
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace mhc {
#define GEN_PASS_DEF_PIPELINESPLITPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

SmallVector<Value> mhc::readBy(Operation *op) {
  SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values.takeVector();
}

func::FuncOp mhc::createStage(OpBuilder &builder, func::FuncOp func, int64_t stage, TypeRange inputs,
                              TypeRange results) {
  auto type = builder.getFunctionType(inputs, results);
  auto made = func::FuncOp::create(builder, func.getLoc(), stageName(func.getName(), stage), type);
  made.setVisibility(func.getVisibility());
  for (NamedAttribute attribute : func->getDiscardableAttrs())
    if (attribute.getName() != kConditions) // of sizes that a stage may not have
      made->setAttr(attribute.getName(), attribute.getValue());
  return made;
}

namespace {
class Splitter {
public:
  Splitter(func::FuncOp func, int64_t stages)
      : func(func), stages(stages), dims(func), block(&func.getBody().front()) {}

  /// Appends the functions that it makes to those of their stages.
  LogicalResult run(SmallVectorImpl<SmallVector<func::FuncOp>> &made);

private:
  bool isBound(Value value) const { return firstUse.contains(value); }
  void assignStages(ArrayRef<Operation *> ends);
  void findCrossing();
  /// Ops of a stage, without those that end it.
  DenseSet<Operation *> opsOf(int64_t stage) const;
  SmallVector<BlockArgument> argumentsOf(int64_t stage, const DenseSet<Operation *> &ops) const;
  func::FuncOp makeStage(int64_t stage, SmallVector<BlockArgument> &arguments);
  void copyOp(OpBuilder &builder, Operation *op, int64_t stage, IRMapping &map) const;
  SmallVector<Value> resultsOf(int64_t stage) const;

  func::FuncOp func;
  int64_t stages;
  DimAnalysis dims;
  Block *block;
  DenseMap<Operation *, int64_t> stageOf; ///< of ops whose results are bound
  DenseMap<Value, int64_t> firstUse;      ///< the first stage whose ops may read a bound value
  SmallVector<SetVector<Value>> crossing; ///< the values that each stage gets from the one before
};
} // namespace

void Splitter::assignStages(ArrayRef<Operation *> ends) {
  for (Operation &op : block->without_terminator()) {
    bool bound = isa<ExpandOp, ProjectionOp, AggregateOp, PreOp, PostOp>(op);
    int64_t stage = 0;
    for (Value value : readBy(&op))
      if (auto use = firstUse.find(value); use != firstUse.end()) {
        bound = true;
        stage = std::max(stage, use->second);
      }
    if (!bound)
      continue;
    const auto *end = llvm::find(ends, &op);
    int64_t next = end == ends.end() ? stage : std::max(stage, end - ends.begin() + 1);
    stageOf[&op] = end == ends.end() ? stage : std::max(stage, next - 1);
    for (Value result : op.getResults())
      firstUse[result] = next;
  }
  stageOf[block->getTerminator()] = stages - 1;
}

void Splitter::findCrossing() {
  for (Operation &op : *block) {
    auto to = stageOf.find(&op);
    if (to == stageOf.end())
      continue;
    for (Value value : readBy(&op))
      if (isBound(value))
        for (int64_t stage = stageOf.at(value.getDefiningOp()) + 1; stage <= to->second; ++stage)
          crossing[stage].insert(value);
  }
}

DenseSet<Operation *> Splitter::opsOf(int64_t stage) const {
  SmallVector<Operation *> todo;
  for (Operation &op : *block)
    if (auto found = stageOf.find(&op); found != stageOf.end() && found->second == stage)
      todo.push_back(&op);
  DenseSet<Operation *> ops(todo.begin(), todo.end());
  while (!todo.empty())
    for (Value value : readBy(todo.pop_back_val()))
      if (Operation *maker = value.getDefiningOp(); maker && !isBound(value) && ops.insert(maker).second)
        todo.push_back(maker);
  return ops;
}

/// The dimension of a value from the stage before that is as long as the one that `op` reads of an argument: a stage
/// needs no tokens for their number.
static std::optional<std::pair<Value, int>> sameDim(const DimAnalysis &dims, tensor::DimOp op, ArrayRef<Value> values) {
  std::optional<int64_t> index = op.getConstantIndex();
  if (!index)
    return std::nullopt;
  for (Value value : values)
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (int dim = 0; dim < type.getRank(); ++dim)
        if (dims.sameSize(op.getSource(), *index, value, dim))
          return std::pair(value, dim);
  return std::nullopt;
}

SmallVector<BlockArgument> Splitter::argumentsOf(int64_t stage, const DenseSet<Operation *> &ops) const {
  DenseSet<Value> read;
  for (Operation *op : ops) {
    auto dim = dyn_cast<tensor::DimOp>(op);
    if (!dim || !sameDim(dims, dim, crossing[stage].getArrayRef()))
      read.insert_range(readBy(op));
  }
  return llvm::filter_to_vector(block->getArguments(), [&](BlockArgument argument) { return read.contains(argument); });
}

SmallVector<Value> Splitter::resultsOf(int64_t stage) const {
  return stage + 1 < stages ? SmallVector<Value>(crossing[stage + 1].getArrayRef())
                            : SmallVector<Value>(block->getTerminator()->getOperands());
}

void Splitter::copyOp(OpBuilder &builder, Operation *op, int64_t stage, IRMapping &map) const {
  auto dim = dyn_cast<tensor::DimOp>(op);
  auto same = dim ? sameDim(dims, dim, crossing[stage].getArrayRef()) : std::nullopt;
  if (same)
    map.map(dim.getResult(), tensor::DimOp::create(builder, op->getLoc(), map.lookup(same->first), same->second));
  else
    builder.clone(*op, map);
}

/// The attribute of a value between two stages; `cut` is the number of the latter.
static NamedAttrList cutName(MLIRContext *context, int64_t cut, size_t index) {
  NamedAttrList attributes;
  attributes.set("mhc.name", StringAttr::get(context, "cut" + std::to_string(cut) + "." + std::to_string(index)));
  return attributes;
}

func::FuncOp Splitter::makeStage(int64_t stage, SmallVector<BlockArgument> &arguments) {
  MLIRContext *context = func.getContext();
  const DenseSet<Operation *> ops = opsOf(stage);
  arguments = argumentsOf(stage, ops);
  SmallVector<Value> inputs(crossing[stage].getArrayRef()), results = resultsOf(stage);
  llvm::append_range(inputs, arguments);

  OpBuilder builder(func);
  func::FuncOp made = createStage(builder, func, stage, ValueRange(inputs), ValueRange(results));
  size_t cuts = crossing[stage].size();
  for (size_t i = 0; i < inputs.size(); ++i)
    made.setArgAttrs(i, i < cuts ? cutName(context, stage, i).getDictionary(context)
                                 : func.getArgAttrDict(arguments[i - cuts].getArgNumber()));
  for (size_t i = 0; i < results.size(); ++i)
    made.setResultAttrs(i, stage + 1 < stages ? cutName(context, stage + 1, i).getDictionary(context)
                                              : func.getResultAttrDict(i));

  Block *body = made.addEntryBlock();
  IRMapping map;
  map.map(ValueRange(inputs), body->getArguments());
  builder.setInsertionPointToStart(body);
  for (Operation &op : block->without_terminator())
    if (ops.contains(&op))
      copyOp(builder, &op, stage, map);
  func::ReturnOp::create(builder, block->getTerminator()->getLoc(),
                         llvm::map_to_vector(results, [&](Value value) { return map.lookup(value); }));
  return made;
}

/// The types of the values between two stages, for people.
static std::string typesOf(ValueRange values) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(values.getTypes(), stream);
  return text;
}

LogicalResult Splitter::run(SmallVectorImpl<SmallVector<func::FuncOp>> &made) {
  SmallVector<Operation *> posts, ends;
  for (PostOp post : block->getOps<PostOp>())
    posts.push_back(post);
  auto count = static_cast<int64_t>(posts.size());
  if (!func.getBody().hasOneBlock() || count < stages)
    return func.emitError() << "'" << func.getName() << "' is to have " << stages << " stages; found " << count
                            << " 'mhc.post' in " << func.getBody().getBlocks().size()
                            << " blocks, needed one for each stage in one block";
  made.resize(stages);
  crossing.resize(stages + 1);
  for (int64_t stage = 1; stage < stages; ++stage)
    ends.push_back(posts[stage * count / stages - 1]);
  assignStages(ends);
  findCrossing();

  OpBuilder builder(block->getTerminator());
  IRMapping handed;
  SmallVector<Value> results;
  for (int64_t stage = 0; stage < stages; ++stage) {
    SmallVector<BlockArgument> arguments;
    func::FuncOp callee = makeStage(stage, arguments);
    made[stage].push_back(callee);
    SmallVector<Value> operands =
        llvm::map_to_vector(crossing[stage], [&](Value value) { return handed.lookup(value); });
    llvm::append_range(operands, arguments);
    results = func::CallOp::create(builder, func.getLoc(), callee, operands).getResults();
    if (stage + 1 == stages)
      break;
    handed.map(ValueRange(crossing[stage + 1].getArrayRef()), ValueRange(results));
    remark::analysis(ends[stage]->getLoc(),
                     remark::RemarkOpts::name("cut").category("mhc-pipeline-split").function(func.getName()))
        << remark::add("{0}", "stage " + std::to_string(stage) + " ends; it hands over " + typesOf(results));
  }
  block->getTerminator()->setOperands(results);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (op.use_empty() && !isa<func::CallOp, func::ReturnOp>(op))
      op.erase();
  return success();
}

namespace {
struct PipelineSplit : mhc::impl::PipelineSplitPassBase<PipelineSplit> {
  using PipelineSplitPassBase::PipelineSplitPassBase;

  void runOnOperation() override {
    if (stages < 1) {
      getOperation().emitError() << "'stages' is " << int64_t(stages) << "; needed at least 1";
      return signalPassFailure();
    }
    bool any = false;
    SmallVector<SmallVector<func::FuncOp>> made;
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (func.isDeclaration() || func.getBody().getOps<PostOp>().empty())
        continue;
      any = true;
      if (stages > 1 && failed(Splitter(func, stages).run(made)))
        return signalPassFailure();
    }
    if (any && stages > 1)
      divideState(getOperation(), made);
    if (any)
      return;
    getOperation().emitError()
        << "no function has a 'mhc.post' at which a stage could end; needed one behind mhc-raise";
    signalPassFailure();
  }
};
} // namespace
