//===- Build.cpp - Expressions as values --------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhc/Algebra/Build.h"
#include "mhc/IR/LeafBuilder.h"
#include "mhc/IR/OpKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::algebra;

namespace {
/// Digits of variables, as numbers; each dimension of a tensor runs over some of them.
using Group = SmallVector<int, 2>;

class Arranger {
public:
  Arranger(Reading &reading, OpBuilder &builder, Location loc, bool repeats)
      : reading(reading), builder(builder), loc(loc), repeats(repeats) {}

  Value run(Value value, ArrayRef<Index> from, ArrayRef<DimVars> to) {
    SmallVector<Group> source, target;
    for (const Index &index : from) {
      Group &group = source.emplace_back();
      for (const Piece &piece : index.pieces) {
        group.push_back(digits.size());
        digits.push_back(piece);
      }
    }
    given = digits.size();
    auto isGiven = [&](int digit) { return digit < given; };
    for (const DimVars &vars : to) {
      Group &group = target.emplace_back();
      for (auto [var, extent] : vars)
        if (!addDigits(var, extent, group))
          return {};
      if (!group.empty() && llvm::none_of(group, isGiven))
        return {};
    }
    const Group all = flatten(target);
    if (all.size() != digits.size())
      return {};
    return llvm::all_of(all, isGiven) ? move(value, source, target) : repeat(value, source, target);
  }

private:
  /// The digits of a variable, the highest first.
  bool addDigits(Var var, Size extent, Group &group) {
    Size end = extent;
    while (end != Size(1)) {
      auto isNext = [&](const Piece &piece) { return piece.var == var && endOf(piece) == end; };
      if (llvm::none_of(digits, isNext) && !(repeats && addMissing(var, end)))
        return false;
      group.push_back(llvm::find_if(digits, isNext) - digits.begin());
      end = digits[group.back()].stride;
    }
    return true;
  }

  std::optional<Size> endOf(const Piece &piece) { return reading.algebra().sizes.multiply(piece.stride, piece.extent); }

  /// Appends the digit that ends here, where the value has none, and begins where its next one ends.
  bool addMissing(Var var, Size end) {
    Sizes &sizes = reading.algebra().sizes;
    Size begin = 1;
    for (const Piece &piece : digits)
      if (std::optional<Size> below = piece.var == var ? endOf(piece) : std::nullopt;
          below && *below != end && sizes.divides(*below, end) && sizes.divides(begin, *below))
        begin = *below;
    std::optional<Size> extent = sizes.divide(end, begin);
    if (extent)
      digits.push_back({var, begin, *extent, 1});
    return extent.has_value();
  }

  static Group flatten(ArrayRef<Group> groups) {
    Group all;
    for (const Group &group : groups)
      all.append(group);
    return all;
  }

  Value move(Value value, SmallVector<Group> source, ArrayRef<Group> target) {
    if (ArrayRef<Group>(source) == target)
      return value;
    value = changeUnits(value, source, /*remove=*/true);
    llvm::erase_if(source, [](const Group &group) { return group.empty(); });
    Group before = flatten(source), after = flatten(target);
    if (before.size() != source.size() && !(value = split(value, source)))
      return {};
    if (before != after) {
      SmallVector<int64_t> perm;
      for (int digit : after)
        perm.push_back(llvm::find(before, digit) - before.begin());
      value = LeafBuilder(builder, loc).transpose(value, perm);
    }
    if (llvm::any_of(target, [](const Group &group) { return group.size() > 1; }))
      value = tensor::CollapseShapeOp::create(builder, loc, value, reassociation(target));
    return changeUnits(value, target, /*remove=*/false);
  }

  /// The same of a value that is repeated along the digits that it has not.
  Value repeat(Value value, ArrayRef<Group> source, ArrayRef<Group> target) {
    SmallVector<Group> own, all;
    SmallVector<OpFoldResult> sizes;
    SmallVector<int64_t> dims;
    for (int digit : flatten(target)) {
      if (digit < given) {
        own.push_back({digit});
        dims.push_back(all.size());
      }
      all.push_back({digit});
      sizes.push_back(digit < given ? OpFoldResult() : reading.materialise(builder, loc, digits[digit].extent));
      if (digit >= given && !sizes.back())
        return {};
    }
    value = move(value, SmallVector<Group>(source), own);
    if (!value)
      return {};
    LeafBuilder leaf(builder, loc);
    for (auto [dim, size] : llvm::zip(dims, leaf.sizesOf(value)))
      sizes[dim] = size;
    return move(leaf.broadcast(value, sizes, dims), all, target);
  }

  /// Consecutive dimensions for the digits of each group that has any.
  static SmallVector<ReassociationIndices> reassociation(ArrayRef<Group> groups) {
    SmallVector<ReassociationIndices> result;
    int64_t next = 0;
    for (const Group &group : groups) {
      if (group.empty())
        continue;
      ReassociationIndices &indices = result.emplace_back();
      for (size_t i = 0; i < group.size(); ++i)
        indices.push_back(next++);
    }
    return result;
  }

  /// One dimension for each digit
  Value split(Value value, ArrayRef<Group> groups) {
    SmallVector<OpFoldResult> old = LeafBuilder(builder, loc).sizesOf(value), sizes;
    for (auto [group, size] : llvm::zip(groups, old))
      for (int digit : group) {
        sizes.push_back(group.size() == 1 ? size : reading.materialise(builder, loc, digits[digit].extent));
        if (!sizes.back())
          return {};
      }
    return tensor::ExpandShapeOp::create(builder, loc, LeafBuilder::typeOf(sizes, getElementTypeOrSelf(value)), value,
                                         reassociation(groups), sizes);
  }

  /// Removes or adds the dimensions of size one that the empty groups stand for.
  Value changeUnits(Value value, ArrayRef<Group> groups, bool remove) {
    if (llvm::none_of(groups, [](const Group &group) { return group.empty(); }))
      return value;
    SmallVector<ReassociationIndices> reassociation;
    ReassociationIndices leading;
    for (auto [dim, group] : llvm::enumerate(groups)) {
      if (group.empty() && reassociation.empty()) {
        leading.push_back(dim);
        continue;
      }
      if (!group.empty()) {
        reassociation.emplace_back(leading);
        leading.clear();
      }
      reassociation.back().push_back(dim);
    }
    if (remove) { // the type may leave a size of one open
      auto type = cast<RankedTensorType>(value.getType());
      auto shape = llvm::to_vector(type.getShape());
      for (auto [size, group] : llvm::zip(shape, groups))
        size = group.empty() ? 1 : size;
      if (type.getShape() != ArrayRef(shape))
        value = tensor::CastOp::create(builder, loc, type.clone(shape), value);
      return tensor::CollapseShapeOp::create(builder, loc, value, reassociation);
    }
    SmallVector<OpFoldResult> sizes, old = LeafBuilder(builder, loc).sizesOf(value);
    size_t next = 0;
    for (const Group &group : groups)
      sizes.push_back(group.empty() ? OpFoldResult(builder.getIndexAttr(1)) : old[next++]);
    return tensor::ExpandShapeOp::create(builder, loc, LeafBuilder::typeOf(sizes, getElementTypeOrSelf(value)), value,
                                         reassociation, sizes);
  }

  Reading &reading;
  OpBuilder &builder;
  Location loc;
  bool repeats;
  SmallVector<Piece> digits; ///< of the value, and behind them those that it has not
  int given = 0;             ///< of the value
};
} // namespace

Indices algebra::indicesOf(Sizes &sizes, ArrayRef<DimVars> dims) {
  Indices indices;
  for (const DimVars &vars : dims) {
    Index &index = indices.emplace_back();
    Size multiplier = 1;
    for (auto [var, extent] : llvm::reverse(vars)) {
      (void)addScaled(sizes, index, wholeVar(var, extent), multiplier);
      multiplier = sizes.multiply(multiplier, extent).value_or(0);
    }
    normalise(sizes, index);
  }
  return indices;
}

Value algebra::arrange(Reading &reading, OpBuilder &builder, Location loc, Value value, ArrayRef<Index> from,
                       ArrayRef<DimVars> to, bool repeats) {
  return Arranger(reading, builder, loc, repeats).run(value, from, to);
}

/// value * factor
static Value scaled(OpBuilder &builder, Location loc, Value value, double factor) {
  if (factor == 1)
    return value;
  if (factor == -1)
    return LeafBuilder(builder, loc).negate(value);
  auto type = cast<RankedTensorType>(value.getType());
  Value number = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type.getElementType(), factor));
  SmallVector<Value> sizes;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(size))
      sizes.push_back(tensor::DimOp::create(builder, loc, value, dim));
  Value splat = tensor::SplatOp::create(builder, loc, number, type, sizes);
  return arith::MulFOp::create(builder, loc, value, splat);
}

Value algebra::build(Reading &reading, OpBuilder &builder, Operation *at, const Expr &expr, ArrayRef<DimVars> dims,
                     Type elementType) {
  std::vector<Reading::Found> all = reading.find(expr, at);
  Indices wanted = indicesOf(reading.algebra().sizes, dims);
  llvm::erase_if(all, [&](const Reading::Found &found) { return getElementTypeOrSelf(found.value) != elementType; });
  // Best as it is, and the latest: that is the one that the program uses.
  llvm::stable_sort(all, [&](const Reading::Found &a, const Reading::Found &b) {
    auto cost = [&](const Reading::Found &found) { return std::pair(found.factor != 1, found.at != wanted); };
    return cost(a) < cost(b);
  });
  for (const Reading::Found &found : all) {
    if (Value value = arrange(reading, builder, at->getLoc(), found.value, found.at, dims))
      return scaled(builder, at->getLoc(), value, found.factor);
  }
  return {};
}

/// A function has one value that is read a few ops before a mix.
constexpr size_t kMaxOpsBetween = 128;

/// The value, and the values that it shows, is a part of or joins parts of: nothing on the way computes.
static llvm::SmallSetVector<Value, 16> shownBy(Value value) {
  llvm::SmallSetVector<Value, 16> shown;
  shown.insert(value);
  for (size_t i = 0; i < shown.size() && i < kMaxOpsBetween; ++i)
    if (Operation *maker = shown[i].getDefiningOp();
        maker && (rearranges(maker) || isa<tensor::ExtractSliceOp, tensor::ConcatOp>(maker)))
      shown.insert_range(isa<tensor::ConcatOp>(maker) ? maker->getOperands() : maker->getOperands().take_front());
  return shown;
}

std::optional<Reading::Found> algebra::nearest(Reading &reading, const Expr &expr, Operation *user, bool anyFactor) {
  std::vector<Reading::Found> all = reading.find(expr, user);
  if (!anyFactor)
    llvm::erase_if(all, [](const Reading::Found &found) { return found.factor != 1; });
  if (all.empty())
    return std::nullopt;
  auto find = [&](Value value) {
    return llvm::find_if(all, [&](const Reading::Found &found) { return found.value == value; });
  };
  auto showsRounded = [&](Value value) {
    while (Operation *maker = value.getDefiningOp()) {
      if (isa<arith::TruncFOp>(maker))
        return true;
      if (maker->getNumOperands() == 0 || find(maker->getOperand(0)) == all.end())
        return false;
      value = maker->getOperand(0);
    }
    return false;
  };
  // The first that is met, unless it is rounded and parts are read as they were before.
  auto best = all.end();
  llvm::SmallSetVector<Value, 16> read(user->operand_begin(), user->operand_end());
  for (size_t i = 0; i < read.size() && i < kMaxOpsBetween; ++i) {
    if (auto found = find(read[i]); found != all.end()) {
      bool isRounded = showsRounded(read[i]);
      if (best == all.end() || !isRounded)
        best = found;
      if (!isRounded)
        break;
    } else if (Operation *maker = read[i].getDefiningOp()) {
      read.insert_range(maker->getOperands());
    }
  }
  if (best == all.end())
    best = all.begin();
  // An op that shows or widens another value of the expression, takes it apart and joins it again, adds zero to it or
  // multiplies it by one, adds nothing.
  auto widthOf = [](const Reading::Found &found) { return getElementTypeOrSelf(found.value).getIntOrFloatBitWidth(); };
  auto before = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    if (isa_and_nonnull<tensor::ExtractSliceOp, tensor::ConcatOp>(maker)) {
      const llvm::SmallSetVector<Value, 16> values = shownBy(value);
      for (Value shown : llvm::drop_begin(values))
        if (auto found = find(shown); found != all.end())
          return found;
    }
    for (Value operand : maker ? maker->getOperands() : ValueRange())
      if (auto found = find(operand); found != all.end())
        return found;
    return all.end();
  };
  for (auto shown = best; shown != all.end();) {
    Operation *maker = shown->value.getDefiningOp();
    shown = before(shown->value);
    bool isSame = shown != all.end() && !showsOperand(maker) && widthOf(*shown) == widthOf(*best) &&
                  shown->factor == best->factor;
    if (shown != all.end() && (isSame || widthOf(*shown) < widthOf(*best)))
      best = shown;
  }
  return *best;
}

Value algebra::build(Reading &reading, OpBuilder &builder, Operation *at, const Expr &expr, ArrayRef<DimVars> dims,
                     bool repeats) {
  std::optional<Reading::Found> found = nearest(reading, expr, at);
  return found ? buildFrom(reading, builder, at, expr, *found, dims, repeats) : Value();
}

Value algebra::buildFrom(Reading &reading, OpBuilder &builder, Operation *at, const Expr &expr, Reading::Found found,
                         ArrayRef<DimVars> dims, bool repeats) {
  std::vector<Reading::Found> all = reading.find(expr, at);
  Indices wanted = indicesOf(reading.algebra().sizes, dims);
  auto operandOf = [&](const Reading::Found &found) {
    Operation *maker = found.value.getDefiningOp();
    Value shown = maker && maker->getNumOperands() > 0 ? maker->getOperand(0) : Value();
    return llvm::find_if(all, [&](const Reading::Found &other) {
      return other.value == shown && other.factor == found.factor &&
             getElementTypeOrSelf(shown) == getElementTypeOrSelf(found.value);
    });
  };
  // The value that it shows is the same in another shape; another value of the expression may have been rounded.
  while (found.at != wanted) {
    auto before = operandOf(found);
    if (before == all.end())
      break;
    found = *before;
  }
  // Views may undo each other.
  auto isView = [](Value value) { return value.getDefiningOp() && showsOperand(value.getDefiningOp()); };
  for (Reading::Found shown = found; isView(shown.value);) {
    auto before = operandOf(shown);
    if (before == all.end())
      break;
    shown = *before;
    if (shown.at == found.at)
      found = shown;
  }
  return arrange(reading, builder, at->getLoc(), found.value, found.at, dims, repeats);
}
