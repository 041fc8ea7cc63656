//===- RewritesSignature.cpp - Other arguments for the same function ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RewriteRules.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/MhcOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace mhc::conformance {

static StringRef nameOf(func::FuncOp func, unsigned argument) {
  auto name = func.getArgAttrOfType<StringAttr>(argument, "mhc.name");
  return name ? name.getValue() : "";
}

/// Puts an argument behind argument `number`.
static BlockArgument addArgument(func::FuncOp func, unsigned number, Type type, const Twine &name) {
  Builder builder(func.getContext());
  auto attributes = builder.getDictionaryAttr(builder.getNamedAttr("mhc.name", builder.getStringAttr(name)));
  (void)func.insertArgument(number + 1, type, attributes, func.getArgument(number).getLoc());
  return func.getArgument(number + 1);
}

static void replaceArgument(func::FuncOp func, unsigned number, Value value) {
  func.getArgument(number).replaceAllUsesWith(value);
  (void)func.eraseArgument(number);
}

/// Applies `change` to each argument whose name is `name` and the number of a site.
static bool forEachSite(func::FuncOp func, StringRef name, llvm::function_ref<bool(unsigned)> change) {
  bool changed = false;
  for (unsigned number = func.getNumArguments(); number-- > 0;) {
    StringRef own = nameOf(func, number);
    if (own.consume_front(name) && own.find_first_not_of("0123456789") == StringRef::npos)
      changed |= change(number);
  }
  return changed;
}

/// The sizes of both gates and of the logits, where together they are `columns`.
static SmallVector<int64_t> groupSizes(int64_t columns) {
  for (int64_t n = 2; n <= 6; ++n)
    for (int64_t logits : {n * n, static_cast<int64_t>(factorial(n))})
      if (columns == 2 * n + logits)
        return {n, n, logits};
  return {};
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// One argument for each part of a dimension, joined where the function begins.
static void splitArgument(func::FuncOp func, unsigned number, int64_t dim, ArrayRef<int64_t> sizes) {
  auto type = cast<RankedTensorType>(func.getArgument(number).getType());
  std::string name = nameOf(func, number).str();
  SmallVector<Value> parts;
  for (auto [part, size] : llvm::enumerate(sizes)) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = size;
    parts.push_back(addArgument(func, number + part, type.clone(shape), name + "." + Twine(part)));
  }
  OpBuilder builder(func.getBody());
  replaceArgument(func, number, LeafBuilder(builder, func.getLoc()).concat(parts, dim));
}

/// The columns that phi is padded to.
constexpr int64_t kPadded = 32;

/// Number of values in the biases of a site; they may be in parts already.
static int64_t sizeOfBeta(func::FuncOp func, StringRef site) {
  int64_t size = 0;
  for (unsigned number = 0; number < func.getNumArguments(); ++number) {
    StringRef name = nameOf(func, number);
    if (name.consume_front("beta") && name.consume_front(site) && (name.empty() || name.starts_with(".")))
      size += cast<RankedTensorType>(func.getArgument(number).getType()).getNumElements();
  }
  return size;
}

/// Columns that nobody reads stay with the logits.
static bool splitPhi(func::FuncOp func) {
  return forEachSite(func, "phi", [&](unsigned number) {
    auto type = cast<RankedTensorType>(func.getArgument(number).getType());
    int64_t columns = sizeOfBeta(func, nameOf(func, number).drop_front(StringRef("phi").size()));
    SmallVector<int64_t> sizes = groupSizes(columns);
    auto hasColumns = [&](int64_t dim) { return llvm::is_contained({columns, kPadded}, type.getDimSize(dim)); };
    if (sizes.empty() || hasColumns(0) == hasColumns(1))
      return false;
    int64_t dim = hasColumns(1);
    sizes.back() += type.getDimSize(dim) - columns;
    splitArgument(func, number, dim, sizes);
    return true;
  });
}

static bool splitBeta(func::FuncOp func) {
  return forEachSite(func, "beta", [&](unsigned number) {
    auto type = cast<RankedTensorType>(func.getArgument(number).getType());
    splitArgument(func, number, 0, groupSizes(type.getDimSize(0)));
    return true;
  });
}

static bool splitAlpha(func::FuncOp func) {
  return forEachSite(func, "alpha", [&](unsigned number) {
    splitArgument(func, number, 0, {1, 1, 1});
    return true;
  });
}

/// A weight with columns that nobody reads, as tensor cores like it: they are cut off behind the product, or before
/// where something else reads the weight.
static bool padPhi(func::FuncOp func) {
  return forEachSite(func, "phi", [&](unsigned number) {
    Value phi = func.getArgument(number);
    auto type = cast<RankedTensorType>(phi.getType());
    int64_t columns = sizeOfBeta(func, nameOf(func, number).drop_front(StringRef("phi").size()));
    int64_t dim = type.getDimSize(1) == columns;
    if (columns >= kPadded || type.getDimSize(dim) != columns || type.getDimSize(0) == type.getDimSize(1))
      return false; // a square weight does not say which dimension it is
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = kPadded;
    Value padded = addArgument(func, number, type.clone(shape), nameOf(func, number));
    for (Operation *user : llvm::make_early_inc_range(phi.getUsers())) {
      auto product = dyn_cast<MatmulOp>(user);
      if (!product || product.getRhs() != phi)
        continue;
      OpBuilder builder(product);
      LeafBuilder leaf(builder, product.getLoc());
      Value wide = leaf.matmul(product.getLhs(), padded, product.getTransposeLhs(), product.getTransposeRhs());
      product.replaceAllUsesWith(leaf.slice(wide, 1, 0, columns));
      product.erase();
    }
    OpBuilder builder(func.getBody());
    replaceArgument(func, number, LeafBuilder(builder, func.getLoc()).slice(padded, dim, 0, columns));
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

namespace {
/// Tokens [s, b], both unknown, in the place of M of them.
class TokenSplitter {
public:
  TokenSplitter(Value sequence, Value batch) : sizes{sequence, batch} {}

  RankedTensorType split(RankedTensorType type) const {
    SmallVector<int64_t> shape{ShapedType::kDynamic};
    llvm::append_range(shape, type.getShape());
    return type.clone(shape);
  }

  Value split(OpBuilder &builder, Value tensor) const {
    RankedTensorType type = split(cast<RankedTensorType>(tensor.getType()));
    SmallVector<OpFoldResult> shape = sizes;
    for (int64_t size : type.getShape().drop_front(2))
      shape.push_back(builder.getIndexAttr(size));
    SmallVector<ReassociationIndices> groups{{0, 1}};
    for (int64_t dim = 2; dim < type.getRank(); ++dim)
      groups.push_back({dim});
    return tensor::ExpandShapeOp::create(builder, tensor.getLoc(), type, tensor, groups, shape);
  }

  /// Computes an elementwise op on sequences and batches.
  void compute(Operation *op) const {
    OpBuilder builder(op);
    SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value v) { return split(builder, v); });
    OperationState state(op->getLoc(), op->getName(), operands, split(cast<RankedTensorType>(op->getResultTypes()[0])),
                         op->getAttrs());
    Value result = builder.create(state)->getResult(0);
    op->replaceAllUsesWith(ValueRange(LeafBuilder(builder, op->getLoc()).join(result, 0, 2)));
    op->erase();
  }

private:
  SmallVector<OpFoldResult> sizes;
};
} // namespace

/// x, results and all elementwise ops have both dimensions; products, reductions and repetitions of tokens have one.
static bool splitTokens(func::FuncOp func) {
  return forEachSite(func, "x", [&](unsigned number) {
    auto type = cast<RankedTensorType>(func.getArgument(number).getType());
    if (!type.isDynamicDim(0))
      return false;
    DimAnalysis dims(func);
    auto isPerToken = [&](Value tensor) {
      auto own = dyn_cast<RankedTensorType>(tensor.getType());
      return own && own.getNumDynamicDims() == 1 && own.isDynamicDim(0) &&
             dims.sameSize(tensor, 0, func.getArgument(number), 0);
    };
    SmallVector<Operation *> ops;
    func.walk([&](Operation *op) {
      if (op->getNumResults() == 1 && op->hasTrait<OpTrait::Elementwise>() && isPerToken(op->getResult(0)))
        ops.push_back(op);
    });
    Operation *end = func.getBody().front().getTerminator();
    SmallVector<OpOperand *> results;
    for (OpOperand &result : end->getOpOperands())
      if (isPerToken(result.get()))
        results.push_back(&result);

    OpBuilder builder(func.getBody());
    SmallVector<int64_t> shape{ShapedType::kDynamic};
    llvm::append_range(shape, type.getShape());
    Value x = addArgument(func, number, type.clone(shape), nameOf(func, number));
    Value sequence = tensor::DimOp::create(builder, x.getLoc(), x, 0);
    Value batch = tensor::DimOp::create(builder, x.getLoc(), x, 1);
    replaceArgument(func, number, LeafBuilder(builder, x.getLoc()).join(x, 0, 2));
    TokenSplitter tokens(sequence, batch);
    for (OpOperand *result : results) {
      builder.setInsertionPoint(end);
      result->set(tokens.split(builder, result->get()));
    }
    for (Operation *op : ops)
      tokens.compute(op);
    func.setType(builder.getFunctionType(func.getArgumentTypes(), end->getOperandTypes()));
    return true;
  });
}

llvm::ArrayRef<SignatureRewrite> signatureRewrites() {
  static constexpr SignatureRewrite table[] = {
      {"phi padded to 32 columns", padPhi},
      {"phi in three arguments", splitPhi},
      {"alpha in three arguments", splitAlpha},
      {"beta in three arguments", splitBeta},
      {"tokens as sequences and batches", splitTokens},
  };
  return table;
}

} // namespace mhc::conformance
