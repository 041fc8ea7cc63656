//===- Recompute.cpp - Streams computed again in the backward pass ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chain of layers is a chain of mhc.post, each of which mixes the streams that the one before wrote. What else a
// layer computed stays saved: the sublayer's output f and the coefficients, without which no stream could be built
// again. The input u of a sublayer is built with the streams where an mhc.aggregate made it, and the norm of u from it.
//
//===----------------------------------------------------------------------===//

#include "Recompute.h"
#include "mhc/IR/MhcOps.h"
#include "mhc/Transforms/Sites.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"

using namespace mlir;
using namespace mhc;

namespace {
/// Layer k reads the streams x[k] and writes x[k+1].
using Chain = SmallVector<PostOp>;

class Recompute {
public:
  explicit Recompute(JointFunction &joint) : joint(joint), builder(joint.func.getContext()) {
    // Ops that were erased as dead code are still in the set, and new ops may get their addresses.
    llvm::SmallPtrSet<Operation *, 32> alive;
    for (Operation &op : joint.func.getBody().front())
      if (isForward(&op))
        alive.insert(&op);
    joint.forward = std::move(alive);
  }

  void run(RecomputeMode mode) {
    SmallVector<Attribute> plan;
    for (Chain &chain : findChains()) {
      int64_t streams = chain.front().getHPost().getType().getDimSize(1);
      SmallVector<int64_t> groups = recomputeGroups(mode, chain.size(), streams);
      MutableArrayRef<PostOp> rest = chain;
      for (int64_t size : groups) {
        rebuild(rest.take_front(size));
        rest = rest.drop_front(size);
      }
      plan.push_back(builder.getDenseI64ArrayAttr(groups));
    }
    joint.func->setAttr("mhc.recompute", builder.getArrayAttr(plan));
    remarkKept();
  }

private:
  SmallVector<Chain> findChains();
  void rebuild(MutableArrayRef<PostOp> layers);
  RebuildOp buildRebuild(ArrayRef<PostOp> layers, ArrayRef<Operation *> inputs);
  Operation *inputOf(Value streams) const;
  SmallVector<Operation *> inputsOf(ArrayRef<PostOp> layers);
  Operation *withWeights(PreOp pre);
  Operation *firstReader(ArrayRef<Value> values) const;
  /// Returns the bytes per token that are kept no longer.
  int64_t replaceInBackward(Value old, Value rebuilt);
  void remarkKept();

  bool isForward(Operation *op) const { return joint.forward.contains(op); }
  /// Whether the use keeps its value until the backward pass.
  bool keeps(OpOperand &use) const;
  bool isKept(Value value) const {
    return llvm::any_of(value.getUses(), [&](OpOperand &use) { return keeps(use); });
  }
  /// Whether the backward pass can have a copy instead, and something is gained by that.
  bool isRebuildable(Value value) const;

  JointFunction &joint;
  OpBuilder builder;
  llvm::DenseSet<Value> kept; ///< behind the groups, on purpose
};
} // namespace

static const auto kRemark = remark::RemarkOpts::name("mhc.rebuild").category("mhc-autodiff");

/// Bytes per token of a tensor whose dynamic size is the number of tokens.
static int64_t bytesPerToken(RankedTensorType type) {
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  for (int64_t size : type.getShape().drop_front())
    bytes *= size;
  return bytes;
}

/// Difference of a layer's dropout stream number to that of the layer before; 0 without dropout.
static int64_t streamStep(PostOp before, PostOp post) {
  return post.getSeed() ? post.getStreamAttr().getInt() - before.getStreamAttr().getInt() : 0;
}

/// Whether one mhc.rebuild can compute both layers, as far as two can tell.
static bool isLike(PostOp a, PostOp b) {
  auto typeOf = [](Value value) { return value ? value.getType() : Type(); };
  return a.getLayout() == b.getLayout() && a.getOrient() == b.getOrient() && a.getX().getType() == b.getX().getType() &&
         a.getF().getType() == b.getF().getType() && a.getHRes().getType() == b.getHRes().getType() &&
         typeOf(a.getBias()) == typeOf(b.getBias()) && typeOf(a.getSeed()) == typeOf(b.getSeed()) &&
         a.getRateAttr() == b.getRateAttr();
}

/// Whether one mhc.rebuild can compute the layer too. The stream numbers of dropouts go up in equal steps.
static bool continues(const Chain &chain, PostOp post) {
  PostOp last = chain.back();
  return isLike(last, post) &&
         (chain.size() == 1 || streamStep(chain[chain.size() - 2], last) == streamStep(last, post));
}

static bool isSize(Operation *op) { return isa<ShapedDimOpInterface>(op); }

/// Describes the properties that isLike compares.
static std::string describeLayer(PostOp post) {
  std::string dropout;
  if (post.getSeed())
    dropout = (", dropout of " + describe(post.getRateAttr().getValueAsDouble()) + " with stream number " +
               Twine(post.getStreamAttr().getInt()))
                  .str();
  return (describe(post.getX().getType()) + ", f in " + describe(post.getF().getType()) + ", h_res in " +
          describe(post.getHRes().getType()) + ", layout " + stringifyLayout(post.getLayout()) + ", orientation " +
          stringifyOrient(post.getOrient()) + (post.getBias() ? ", bias" : ", no bias") + dropout)
      .str();
}

SmallVector<Chain> Recompute::findChains() {
  SmallVector<Chain> chains;
  llvm::DenseMap<Value, unsigned> chainOf; // by the streams behind its last layer
  for (Operation &op : joint.func.getBody().front()) {
    auto post = dyn_cast<PostOp>(op);
    if (!post || !isForward(post))
      continue;
    auto before = chainOf.find(post.getX());
    unsigned number = chains.size();
    if (before != chainOf.end() && continues(chains[before->second], post)) {
      number = before->second;
      chainOf.erase(before);
    } else {
      if (before != chainOf.end())
        remarkMissed("rebuild", {Reason::groupEnds, post, describeLayer(post),
                                 describeLayer(chains[before->second].back()) + ", as in the layer before"});
      chains.emplace_back();
    }
    chains[number].push_back(post);
    chainOf[post.getOut()] = number;
  }
  return chains;
}

/// An op without memory of its own is repeated rather than its result kept. So is the norm in front of a sublayer,
/// which costs a read of its input.
static bool isRepeated(Operation *op) {
  auto rule = dyn_cast<DifferentiableOpInterface>(op);
  return isa<RmsNormOp>(op) || (rule && rule.isCheapToRebuild());
}

/// A forward op that is repeated keeps what it reads where the backward pass reads its result. What a rebuild
/// reads is kept for it, and must not be replaced by what it makes.
bool Recompute::keeps(OpOperand &use) const {
  Operation *op = use.getOwner();
  if (!isForward(op))
    return !isSize(op) && !isa<RebuildOp>(op) && !op->hasTrait<OpTrait::IsTerminator>();
  return isRepeated(op) && isKept(op->getResult(0));
}

/// A result of the function is there in any case.
bool Recompute::isRebuildable(Value value) const {
  auto returns = [](Operation *op) { return op->hasTrait<OpTrait::IsTerminator>(); };
  return isKept(value) && llvm::none_of(value.getUsers(), returns);
}

Operation *Recompute::firstReader(ArrayRef<Value> values) const {
  Operation *first = nullptr;
  auto visit = [&](auto &self, Value value) -> void {
    for (OpOperand &use : value.getUses()) {
      Operation *op = use.getOwner();
      if (!keeps(use))
        continue;
      if (isForward(op))
        self(self, op->getResult(0));
      else if (!first || op->isBeforeInBlock(first))
        first = op;
    }
  };
  for (Value value : values)
    visit(visit, value);
  return first;
}

int64_t Recompute::replaceInBackward(Value old, Value rebuilt) {
  int64_t bytes = 0;
  for (OpOperand &use : llvm::make_early_inc_range(old.getUses())) {
    if (!keeps(use))
      continue;
    Operation *op = use.getOwner();
    if (!isForward(op)) {
      use.set(rebuilt);
      continue;
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(firstReader(op->getResult(0)));
    IRMapping mapping;
    mapping.map(old, rebuilt);
    Operation *copy = builder.clone(*op, mapping);
    bytes += replaceInBackward(op->getResult(0), copy->getResult(0));
  }
  Operation *maker = old.getDefiningOp();
  bool hadMemory = isa<RmsNormOp>(maker) || !isRepeated(maker);
  return bytes + (hadMemory && !isKept(old) ? bytesPerToken(cast<RankedTensorType>(old.getType())) : 0);
}

/// Whether a layer adds the value to its streams: it is kept, because they are built from it.
static bool isOutputOfSublayer(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto post = dyn_cast<PostOp>(user);
    return post && post.getF() == value;
  });
}

/// The sublayer's input that the op mixes from its streams; null for an op that mixes none.
static Value inputMadeBy(Operation *op) {
  if (auto aggregate = dyn_cast<AggregateOp>(op))
    return aggregate.getU();
  if (auto pre = dyn_cast<PreOp>(op))
    return pre.getU();
  return {};
}

static Value weightsOf(Operation *input) {
  if (auto aggregate = dyn_cast<AggregateOp>(input))
    return aggregate.getHPre();
  auto pre = cast<PreOp>(input);
  return pre.getHIn() ? pre.getHIn() : pre.getHPre();
}

/// The op that made the input of the layer behind the streams, where the backward pass can have a copy of it.
Operation *Recompute::inputOf(Value streams) const {
  for (Operation *user : streams.getUsers()) {
    Value input = isForward(user) ? inputMadeBy(user) : Value();
    if (input && isRebuildable(input) && !isOutputOfSublayer(input))
      return user;
  }
  return nullptr;
}

/// The inputs of all layers of a group, or nothing where one of them is not to be built again.
SmallVector<Operation *> Recompute::inputsOf(ArrayRef<PostOp> layers) {
  SmallVector<Operation *> inputs;
  for (PostOp layer : layers) {
    Operation *input = inputOf(layer.getX());
    if (!input || (!inputs.empty() && inputMadeBy(input).getType() != inputMadeBy(inputs.front()).getType()))
      return {};
    inputs.push_back(input);
  }
  for (Operation *&input : inputs)
    if (auto pre = dyn_cast<PreOp>(input); pre && !weightsOf(pre))
      input = withWeights(pre);
  return inputs;
}

/// The same op with the weights of its input as a result.
Operation *Recompute::withWeights(PreOp pre) {
  const KernelInfo &info = pre.getKernelInfo();
  SmallVector<Type> types;
  for (auto [i, tensor] : llvm::enumerate(info.tensors))
    if (Value value = cast<KernelOpInterface>(*pre).getTensor(i); tensor.isResult)
      types.push_back(value ? value.getType() : tensor.name == "h_pre" ? pre.getHPost().getType() : Type());
  joint.forward.erase(pre);
  IRRewriter rewriter(builder);
  Operation *replacement = replaceWithResults(rewriter, pre, info, types);
  joint.forward.insert(replacement);
  return replacement;
}

void Recompute::rebuild(MutableArrayRef<PostOp> layers) {
  kept.insert(layers.back().getOut());
  // The last layer is not repeated: what it writes is kept.
  MutableArrayRef<PostOp> repeated = layers.drop_back();
  while (!repeated.empty() && !isRebuildable(repeated.back().getOut()))
    repeated = repeated.drop_back();
  if (repeated.empty())
    return;
  SmallVector<Operation *> inputs = inputsOf(layers.take_front(repeated.size() + 1));
  SmallVector<Value> old;
  for (Operation *input : inputs)
    old.push_back(inputMadeBy(input));
  for (PostOp layer : repeated)
    old.push_back(layer.getOut());
  builder.setInsertionPoint(firstReader(old));
  RebuildOp op = buildRebuild(repeated, inputs);
  int64_t bytes = 0;
  for (auto [before, after] : llvm::zip(old, op->getResults()))
    if (isRebuildable(before))
      bytes += replaceInBackward(before, after);
  remark::passed(op.getLoc(), kRemark) << ("rebuilds what is inside a group of " + Twine(layers.size()) +
                                           " layers, keeps " + Twine(bytes) + " bytes per token less")
                                              .str();
}

RebuildOp Recompute::buildRebuild(ArrayRef<PostOp> layers, ArrayRef<Operation *> inputs) {
  PostOp first = layers.front();
  RebuildOp::Fields fields(first);
  for (Operation *input : inputs) {
    fields.h_pre.push_back(weightsOf(input));
    fields.u.push_back(inputMadeBy(input).getType());
  }
  for (PostOp layer : layers) {
    fields.f.push_back(layer.getF());
    if (layer.getBias())
      fields.bias.push_back(layer.getBias());
    fields.h_post.push_back(layer.getHPost());
    fields.h_res.push_back(layer.getHRes());
    if (layer.getSeed())
      fields.seed.push_back(layer.getSeed());
    fields.out.push_back(layer.getOut().getType());
  }
  if (first.getSeed())
    fields.stream_step = layers.size() > 1 ? streamStep(first, layers[1]) : 0;
  return fields.create(builder, first.getLoc());
}

/// The streams that a kernel reads, or null.
static Value streamsOf(Operation *op) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  if (!kernel)
    return {};
  for (auto [i, tensor] : llvm::enumerate(kernel.getKernelInfo().tensors))
    if (tensor.name == "x" && tensor.flipAttr == "layout")
      return kernel.getTensor(i);
  return {};
}

/// Says which streams no group could take up. Arguments cost nothing, and what is cheap to rebuild is not saved.
void Recompute::remarkKept() {
  for (Operation &op : joint.func.getBody().front()) {
    Value streams = isForward(&op) ? streamsOf(&op) : Value();
    Operation *maker = streams ? streams.getDefiningOp() : nullptr;
    if (!maker || !isKept(streams) || !kept.insert(streams).second)
      continue;
    auto rule = dyn_cast<DifferentiableOpInterface>(maker);
    if (!rule || !rule.isCheapToRebuild())
      remarkMissed("rebuild", {Reason::streamsNotOfPost, maker, describe(streams), "the output of 'mhc.post'"});
  }
}

void mhc::recomputeStreams(JointFunction &joint, RecomputeMode mode) { Recompute(joint).run(mode); }
