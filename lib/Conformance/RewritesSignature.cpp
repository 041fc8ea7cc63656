//===- RewritesSignature.cpp - Other arguments for the same function ------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RewriteRules.h"
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

/// The dimension of phi that has the columns of a projection; nothing for a shape of neither layout.
static std::optional<int64_t> columnsOf(RankedTensorType phi) {
  for (int64_t dim : {0, 1}) {
    SmallVector<int64_t> sizes = groupSizes(phi.getDimSize(dim));
    if (!sizes.empty() && phi.getDimSize(1 - dim) % sizes[0] == 0)
      return dim;
  }
  return std::nullopt;
}

static bool splitPhi(func::FuncOp func) {
  return forEachSite(func, "phi", [&](unsigned number) {
    auto type = cast<RankedTensorType>(func.getArgument(number).getType());
    std::optional<int64_t> dim = columnsOf(type);
    if (dim)
      splitArgument(func, number, *dim, groupSizes(type.getDimSize(*dim)));
    return dim.has_value();
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
  constexpr int64_t kColumns = 32;
  return forEachSite(func, "phi", [&](unsigned number) {
    Value phi = func.getArgument(number);
    auto type = cast<RankedTensorType>(phi.getType());
    std::optional<int64_t> dim = columnsOf(type);
    if (!dim || type.getDimSize(*dim) >= kColumns)
      return false;
    SmallVector<int64_t> shape(type.getShape());
    shape[*dim] = kColumns;
    Value padded = addArgument(func, number, type.clone(shape), nameOf(func, number));
    for (Operation *user : llvm::make_early_inc_range(phi.getUsers())) {
      auto product = dyn_cast<MatmulOp>(user);
      if (!product || product.getRhs() != phi)
        continue;
      OpBuilder builder(product);
      LeafBuilder leaf(builder, product.getLoc());
      Value wide = leaf.matmul(product.getLhs(), padded, product.getTransposeLhs(), product.getTransposeRhs());
      product.replaceAllUsesWith(leaf.slice(wide, 1, 0, type.getDimSize(*dim)));
      product.erase();
    }
    OpBuilder builder(func.getBody());
    replaceArgument(func, number, LeafBuilder(builder, func.getLoc()).slice(padded, *dim, 0, type.getDimSize(*dim)));
    return true;
  });
}

llvm::ArrayRef<SignatureRewrite> signatureRewrites() {
  static constexpr SignatureRewrite table[] = {
      {"phi padded to 32 columns", padPhi},
      {"phi in three arguments", splitPhi},
      {"alpha in three arguments", splitAlpha},
      {"beta in three arguments", splitBeta},
  };
  return table;
}

} // namespace mhc::conformance
