//===- Reading.cpp - The values of a function as expressions ------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhc/Algebra/Reading.h"
#include "OpReader.h"
#include "Order.h"

using namespace mlir;
using namespace mhc;
using namespace mhc::algebra;

/// A number of an expression's nodes, which is the same whatever the indices and the order are.
static uint64_t signatureOf(const Expr &expr) {
  if (const Factor *factor = singleFactor(expr); factor && factor->node()->kind == Node::Sum)
    return signatureOf(factor->node()->parts[0]);
  uint64_t all = expr.size();
  for (const Term &term : expr) {
    uint64_t product = llvm::hash_combine(signatureOf(term.exponent), term.factors.size());
    for (const Factor &factor : term.factors)
      product += llvm::hash_combine(factor.node()->number, factor.halves);
    all += llvm::hash_value(product);
  }
  return all;
}

static bool isRead(Value value) {
  return isa<RankedTensorType>(value.getType()) || value.getType().isIntOrIndexOrFloat();
}

Reading::Reading(func::FuncOp func, Rounding rounding, llvm::DenseSet<Value> atoms, bool chooses)
    : func(func), dims(func), theAlgebra(func.getContext()), rounding(rounding), atoms(std::move(atoms)),
      chooses(chooses) {
  refresh();
}

bool Reading::isSame(Operation *op, ReadOp &known) {
  size_t hash = llvm::hash_combine(op->getName(), op->getDiscardableAttrDictionary(), op->hashProperties(),
                                   llvm::hash_combine_range(op->operand_begin(), op->operand_end()),
                                   llvm::hash_combine_range(op->result_type_begin(), op->result_type_end()));
  bool isSame = known.turn != 0 && known.hash == hash && (op->getNumResults() == 0 || exprs.contains(op->getResult(0)));
  // Also where it is new: its results may lie where those of another op were. The ops in a region say for themselves
  // whether they are the same.
  if (!isSame && turn > 1) {
    dims.forget(op->getResults());
    for (Value result : op->getResults())
      theAlgebra.renew(result);
  }
  known.hash = hash;
  return isSame;
}

void Reading::refresh() {
  ++turn;
  llvm::DenseSet<Value> changed;
  values.clear();
  candidates.reset();
  unread.clear();
  unsigned place = 0;
  auto list = [&](Value value, ReadValue &read) {
    read.turn = turn;
    if (isa<RankedTensorType>(value.getType()) && isa<FloatType>(getElementTypeOrSelf(value)))
      values.push_back({value, place, read.signature});
  };
  auto add = [&](Value value, Expr expr) {
    ReadValue &read = exprs[value];
    read.signature = signatureOf(expr);
    read.expr = std::move(expr);
    list(value, read);
  };
  auto readBlock = [&](Block *block) {
    for (BlockArgument argument : block->getArguments())
      add(argument, baseOf(argument));
  };
  auto read = [&](Operation *op, OpResult result) {
    theAlgebra.forgetFreshVars();
    const bool isBase = !isRead(result) || atoms.contains(result) || op->hasAttr(kWhole);
    std::optional<Expr> expr = isBase ? std::nullopt : OpReader(*this).read(op, result.getResultNumber());
    if (expr && chooses && isa<MatmulOp, BatchMatmulOp, linalg::LinalgOp>(op))
      expr = theAlgebra.choose(*expr);
    return expr ? std::move(*expr) : baseOf(result);
  };
  for (Block &block : func.getBody())
    readBlock(&block);
  func.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    ReadOp &readOp = ops[op];
    readOp.place = place++;
    // The body of a linalg op is read with the op.
    bool isInBody = op->getParentOp() != func && op->getParentOfType<linalg::LinalgOp>();
    bool isSame = !isInBody && this->isSame(op, readOp);
    readOp.turn = turn;
    if (isInBody)
      return;
    if (op->getNumRegions() != 0 && !isa<linalg::LinalgOp>(op))
      for (Region &region : op->getRegions())
        for (Block &block : region)
          readBlock(&block);
    bool isKept =
        isSame && op->getNumRegions() == 0 &&
        (changed.empty() || llvm::none_of(op->getOperands(), [&](Value operand) { return changed.contains(operand); }));
    for (OpResult result : op->getResults()) {
      auto known = exprs.find(result);
      if (isKept && known != exprs.end()) {
        list(result, known->second);
        continue;
      }
      if (turn > 1)
        dims.learn(result);
      // Is known by its operands, which have changed.
      if (isSame && isa<tensor::ConcatOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ReshapeOp>(op))
        theAlgebra.renew(result);
      Expr expr = read(op, result);
      if (!isSame || known == exprs.end() || compare(known->second.expr, expr, By::names) != 0)
        changed.insert(result);
      add(result, std::move(expr));
    }
  });
  for (auto known = exprs.begin(), end = exprs.end(); known != end; ++known)
    if (known->second.turn != turn)
      exprs.erase(known);
}

unsigned Reading::placeOf(Operation *op) const {
  auto known = ops.find(op);
  return known != ops.end() && known->second.turn == turn ? known->second.place : 0;
}

const Expr &Reading::of(Value value) {
  auto known = exprs.find(value);
  if (known != exprs.end())
    return known->second.expr;
  auto [place, isNew] = unread.try_emplace(value.getAsOpaquePointer());
  if (isNew)
    place->second = baseOf(value);
  return place->second;
}

Size Reading::size(Value value, int dim) {
  int64_t known = cast<RankedTensorType>(value.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(known))
    return known;
  std::optional<Polynomial> size = dims.value(value, dim);
  return theAlgebra.sizes.of(size ? *size : symbolPolynomial(nextSymbol++));
}

SmallVector<Size, 4> Reading::sizes(Value value) {
  SmallVector<Size, 4> all;
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (int dim = 0; dim < type.getRank(); ++dim)
      all.push_back(size(value, dim));
  return all;
}

Indices Reading::whole(Value value) {
  Indices indices;
  for (auto [dim, size] : llvm::enumerate(sizes(value)))
    indices.push_back(wholeVar(dim, size));
  return indices;
}

Expr Reading::baseOf(Value value) { return theAlgebra.base(value, sizes(value), whole(value)); }

//===----------------------------------------------------------------------===//
// Values of expressions
//===----------------------------------------------------------------------===//

Reading::Candidates &Reading::allCandidates() {
  if (!candidates) {
    candidates.emplace();
    for (const Tensor &tensor : values)
      (*candidates)[tensor.signature].push_back({tensor.value, tensor.place});
  }
  return *candidates;
}

/// The indices of a value whose variables, put into `own`, give `wanted`.
static std::optional<Indices> solve(Sizes &sizes, ArrayRef<Index> own, ArrayRef<Index> wanted, unsigned rank) {
  Indices at(rank);
  for (auto [mine, theirs] : llvm::zip(own, wanted)) {
    Index rest = theirs;
    rest.offset -= mine.offset;
    const Piece *above = nullptr;
    for (const Piece &piece : mine.pieces) {
      std::optional<Index> digit = extract(sizes, rest, piece.multiplier, piece.extent);
      // Where a value has four of each five positions, the five are told apart first.
      std::optional<Index> below = !digit && above ? extract(sizes, rest, 1, above->multiplier) : std::nullopt;
      digit = below ? extract(sizes, *below, piece.multiplier, piece.extent) : digit;
      above = &piece;
      if (!digit || !addScaled(sizes, at[piece.var], *digit, piece.stride))
        return std::nullopt;
    }
  }
  for (Index &index : at)
    normalise(sizes, index);
  // Where the value has one element for several of those wanted, nothing leads from it to them.
  for (auto [mine, theirs] : llvm::zip(own, wanted))
    if (substitute(sizes, mine, [&](Var var) { return at[var]; }) != theirs)
      return std::nullopt;
  return at;
}

std::vector<Reading::Found> Reading::find(const Expr &expr, Operation *user) {
  const unsigned end = placeOf(user);
  return find(expr, [&](const Candidate &candidate) {
    Value value = candidate.value;
    Block *block = value.getParentBlock(); // null where an op was taken out
    return candidate.place <= end && value.getDefiningOp() != user && block && block->findAncestorOpInBlock(*user);
  });
}

std::vector<Reading::Found> Reading::find(const Expr &expr) {
  return find(expr, [](const Candidate &) { return true; });
}

std::vector<Reading::Found> Reading::find(const Expr &expr, llvm::function_ref<bool(const Candidate &)> isThere) {
  std::vector<Found> found;
  std::optional<Algebra::Closed> wanted = theAlgebra.close(expr);
  auto known = wanted ? allCandidates().find(signatureOf(expr)) : allCandidates().end();
  if (known == allCandidates().end())
    return found;
  for (Candidate &candidate : llvm::reverse(known->second)) {
    if (!isThere(candidate))
      continue;
    if (!std::exchange(candidate.isClosed, true))
      if (std::optional<Algebra::Closed> closed = theAlgebra.close(of(candidate.value)))
        candidate.closed = std::make_unique<Algebra::Closed>(std::move(*closed));
    if (!candidate.closed || candidate.closed->node != wanted->node)
      continue;
    SmallVector<Size, 4> extents = sizes(candidate.value);
    std::optional<Indices> at = solve(theAlgebra.sizes, candidate.closed->at, wanted->at, extents.size());
    if (at && llvm::all_of(llvm::zip(*at, extents),
                           [&](auto pair) { return covers(theAlgebra.sizes, std::get<0>(pair), std::get<1>(pair)); }))
      found.push_back({candidate.value, *at, snapped(wanted->coefficient / candidate.closed->coefficient)});
  }
  return found;
}

bool Reading::isBefore(Value value, Operation *user) const {
  Operation *maker = value.getDefiningOp();
  return value.getParentBlock()->findAncestorOpInBlock(*user) && (!maker || placeOf(maker) < placeOf(user));
}

OpFoldResult Reading::materialise(OpBuilder &builder, Location loc, Size size) {
  if (size.isNumber())
    return builder.getIndexAttr(size.number());
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    for (int dim = 0; type && dim < type.getRank(); ++dim) {
      std::optional<Size> times = theAlgebra.sizes.divide(this->size(argument, dim), size);
      if (!type.isDynamicDim(dim) || !times || !times->isNumber())
        continue;
      OpFoldResult whole = tensor::getMixedSize(builder, loc, argument, dim);
      if (*times == Size(1))
        return whole;
      Value number = arith::ConstantIndexOp::create(builder, loc, times->number());
      return arith::DivUIOp::create(builder, loc, cast<Value>(whole), number).getResult();
    }
  }
  // The size of an argument times another one, as that of tokens of several open dimensions
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    for (int dim = 0; type && dim < type.getRank(); ++dim) {
      std::optional<Size> times =
          type.isDynamicDim(dim) ? theAlgebra.sizes.divide(size, this->size(argument, dim)) : std::nullopt;
      OpFoldResult other = times ? materialise(builder, loc, *times) : OpFoldResult();
      if (!other)
        continue;
      auto whole = cast<Value>(tensor::getMixedSize(builder, loc, argument, dim));
      return arith::MulIOp::create(builder, loc, whole, getValueOrCreateConstantIndexOp(builder, loc, other))
          .getResult();
    }
  }
  // A sum of products of those, as that of tokens with one in front
  const Polynomial terms = theAlgebra.sizes.polynomial(size);
  auto productOf = [&](const Monomial &symbols) {
    OpFoldResult product = materialise(builder, loc, theAlgebra.sizes.of({{symbols, 1}}));
    return product ? getValueOrCreateConstantIndexOp(builder, loc, product) : Value();
  };
  return terms.size() > 1 ? mhc::materialise(builder, loc, terms, productOf) : Value();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::optional<Expr> OpReader::at(Value operand, ArrayRef<Index> indices) {
  if (ArrayRef<Index>(reading.whole(operand)) == indices)
    return reading.of(operand);
  return algebra.substitute(reading.of(operand), [&](Var var) { return indices[var]; });
}

std::optional<Expr> OpReader::read(Operation *op, unsigned result) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return readLinalg(linalgOp, result);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return readPad(pad);
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return std::nullopt;
  if (op->getName().getDialectNamespace() == "tensor")
    return readTensor(op);
  if (op->getName().getDialectNamespace() == "mhc")
    return isa<BroadcastOp, TransposeOp>(op) ? readMhc(op) : rounded(readMhc(op), op->getResult(0).getType());
  SmallVector<Expr> operands;
  for (Value operand : op->getOperands())
    operands.push_back(reading.of(operand));
  return scalar(op, operands);
}
