//===- Unread.cpp - Mixes whose projection was not found ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matchers explain the code that they nearly match. A site that none of them comes near is told here, so that no site
// is missed in silence: streams are mixed by coefficients that come from a product over all channels of a token.
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "Weighing.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mhc;

/// Limit of a search behind a product: what reads scores is near.
constexpr size_t kMostReaders = 16;

namespace {
/// A mix of streams: the values that weigh them, and the channels that a token has in all streams and in one.
struct StreamMix {
  SmallVector<Value, 2> coefficients;
  Value streams;
  int64_t width, channels;
};

/// The product that coefficients are made of.
struct Product {
  Operation *op;
  bool isPerStream;
};
} // namespace

int64_t mhc::streamsWidth(Value streams) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(streams.getType()).getShape().take_back(2);
  bool isStatic = shape.size() == 2 && !ShapedType::isDynamic(shape[0]) && !ShapedType::isDynamic(shape[1]);
  return isStatic ? llvm::checkedMul(shape[0], shape[1]).value_or(0) : 0;
}

/// Without a width where the streams are too few or too many.
static StreamMix mixBy(std::initializer_list<Value> coefficients, Value streams) {
  const int64_t width = streamsWidth(streams);
  if (width == 0)
    return {coefficients, streams, 0, 0};
  ArrayRef<int64_t> shape = cast<RankedTensorType>(streams.getType()).getShape().take_back(2);
  const int64_t n = std::min(shape[0], shape[1]);
  return n >= kMinStreams && n <= kMaxStreams ? StreamMix{coefficients, streams, width, std::max(shape[0], shape[1])}
                                              : StreamMix{coefficients, streams, 0, 0};
}

/// Whether a product is one of attention: of scores, or of what they weigh, which layers alone read, as they do heads.
static bool isOfAttention(BatchMatmulOp product) {
  SmallVector<Operation *> readers;
  usersThroughViews(product.getOut(), readers);
  if (isOfPairs(product.getLhs()) ||
      (!readers.empty() && llvm::all_of(readers, llvm::IsaPred<MatmulOp, tensor::DimOp>)))
    return true;
  for (size_t next = 0; next < readers.size(); ++next) {
    if (isa<SoftmaxOp>(readers[next]))
      return true;
    if (isa<arith::MulFOp, arith::DivFOp, arith::AddFOp>(readers[next]) && readers.size() < kMostReaders)
      usersThroughViews(readers[next]->getResult(0), readers);
  }
  return false;
}

static std::optional<StreamMix> mixOf(Operation *op) {
  if (auto aggregate = dyn_cast<AggregateOp>(op))
    return mixBy({aggregate.getHPre()}, aggregate.getX());
  if (auto post = dyn_cast<PostOp>(op))
    return mixBy({post.getHPost(), post.getHRes()}, post.getX());
  auto product = dyn_cast<BatchMatmulOp>(op);
  if (!product || isOfAttention(product))
    return std::nullopt;
  ArrayRef<int64_t> map = product.getLhs().getType().getShape().take_back(2);
  ArrayRef<int64_t> streams = product.getRhs().getType().getShape().take_back(2);
  StreamMix mix = mixBy({product.getLhs()}, product.getRhs());
  // More than there are streams of are tokens, as in attention.
  if (map[0] > kMaxStreams || map[0] != map[1] || map[0] == mix.width || !llvm::is_contained(streams, map[0]))
    return std::nullopt;
  return mix;
}

/// The elements that each sum of a product has; 0 where that is open, or no product.
static uint64_t depthOf(Operation *op) {
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return matmul.getLhs().getType().getDimSize(matmul.getTransposeLhs() ? 0 : 1);
  if (auto matmul = dyn_cast<BatchMatmulOp>(op))
    return matmul.getLhs().getType().getDimSize(matmul.getTransposeLhs() ? 1 : 2);
  auto loops = dyn_cast<linalg::LinalgOp>(op);
  if (!loops || !linalg::isaContractionOpInterface(loops))
    return 0;
  uint64_t depth = 1;
  for (auto [size, kind] : llvm::zip(loops.getStaticLoopRanges(), loops.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      depth = ShapedType::isDynamic(size) ? 0 : llvm::SaturatingMultiply<uint64_t>(depth, size);
  return depth;
}

/// Whether each of several products has a factor of its own, as in attention: none is a weight.
static bool isBatch(Operation *op) {
  return isa<BatchMatmulOp>(op) && cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(0) != 1;
}

/// Operands of the op that makes a value, and where a call outside the function makes it, such as a norm, of that.
static SmallVector<Value> sourcesOf(Value value) {
  if (Operation *op = value.getDefiningOp())
    return SmallVector<Value>(op->getOperands());
  return madeOf(cast<BlockArgument>(value));
}

/// The product over the channels of all streams, or of one, that the mix's coefficients are made of; nothing where they
/// are made of a raised op, or of none. An op that was `seen` belongs to another mix.
static std::optional<Product> productBehind(const StreamMix &mix, llvm::DenseSet<Operation *> &seen) {
  SmallVector<Value> pending(mix.coefficients.begin(), mix.coefficients.end());
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) // of a call outside, such as a norm
      llvm::append_range(pending, madeOf(argument));
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(op).second ||
        isa<AggregateOp, PostOp, ContractOp, ExpandOp, GatesOp, ProjectionOp, PreOp, PostPreOp>(op))
      continue;
    uint64_t depth = depthOf(op);
    bool isWhole = depth == static_cast<uint64_t>(mix.width);
    // Experts are weighed by a product of what they read, and not of what they make: none is per stream.
    if (isWhole || (depth == static_cast<uint64_t>(mix.channels) && !isBatch(op) &&
                    llvm::any_of(op->getOperands(), [&](Value factor) {
                      return isa<RankedTensorType>(factor.getType()) &&
                             isComputedOf(factor, behindViews(mix.streams), sourcesOf);
                    })))
      return Product{op, !isWhole};
    if (isBatch(op))
      continue;                                                   // pairs of tokens, as those of attention
    llvm::copy_if(op->getOperands(), std::back_inserter(pending), // not sizes
                  [](Value operand) { return isa<RankedTensorType>(operand.getType()); });
  }
  return std::nullopt;
}

/// Whether a product has the rows of both gates, with logits or without.
static bool hasRowsOfSite(const Product &product, const StreamMix &mix) {
  const int64_t n = mix.width / mix.channels;
  const int64_t rows = cast<RankedTensorType>(product.op->getResult(0).getType()).getShape().back();
  return rows == 2 * n || rows == n * (n + 2);
}

/// Everything that coefficients are made of; the rows of a product that has more than those of gates, and not those of
/// a residual map of n*n logits.
static std::string rowsNeeded(const Product &product, const StreamMix &mix) {
  const int64_t n = mix.width / mix.channels;
  const int64_t rows = cast<RankedTensorType>(product.op->getResult(0).getType()).getShape().back();
  const std::string gates = std::to_string(n), logits = std::to_string(n * n);
  if (rows <= 2 * n || rows >= n * (n + 3) || rows == n * n || rows == n * (n + 2))
    return "gates and logits of s * (x . phi) * alpha + beta";
  return std::to_string(n * (n + 2)) + " rows of phi: " + gates + " of h_pre, " + gates + " of h_post and " + logits +
         " of the logits";
}

bool mhc::mixesStreams(func::FuncOp func) {
  auto isOfSite = [](Operation *op) {
    return isa<PostOp, GatesOp, SinkhornOp, PermutationMixOp>(op) || (isa<BatchMatmulOp>(op) && mixOf(op));
  };
  return func.walk([&](Operation *op) { return isOfSite(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

void mhc::explainUnread(func::FuncOp func, Sites &sites) {
  if (sites.hasDeclined()) // which may be of the same site
    return;
  const bool isMixed = mixesStreams(func);
  llvm::DenseSet<Operation *> seen;
  const llvm::SmallSetVector<int64_t, 2> widths = widthsOfStreams(func);
  func.walk([&](Operation *op) {
    std::optional<StreamMix> mix = mixOf(op);
    const bool isOfStreams = mix && mix->width && (widths.empty() || widths.contains(mix->width) || widths.contains(0));
    std::optional<Product> product = isOfStreams ? productBehind(*mix, seen) : std::nullopt;
    if (!product || (!isMixed && !hasRowsOfSite(*product, *mix)))
      return;
    Value result = product->op->getResult(0), streams = behindReshapes(product->op->getOperand(0));
    auto decline = [&](Reason reason, const std::string &needed) { // once, of several products of the same streams
      sites.decline("gates", {reason, product->op, describe(result), needed, {streams, Value()}});
    };
    if (isWide(result))
      decline(Reason::projectionType, "a product of f32, bf16 or f16");
    else if (product->isPerStream)
      decline(Reason::projectionPerStream,
              "a product over the " + std::to_string(mix->width) + " channels of all streams of a token");
    else
      decline(Reason::projectionForm, rowsNeeded(*product, *mix));
  });
}
