//===- Close.cpp - Definitions that speak of their own variables only ---------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Renames the variables of expressions so that the names tell nothing: each becomes the digits that indices tell apart,
// digits that stand side by side wherever they occur become one, and those are numbered in the order in which they
// occur. [M, 4, 4] and [M, 16] are then one definition where nothing tells the two dimensions of 4 apart.
//
//===------------------------------------------------------------------------===//
#include "Close.h"
#include "Order.h"

using namespace mhc;
using namespace mhc::algebra;

/// The indices of all elements, in the order in which they occur.
static llvm::SmallVector<llvm::ArrayRef<Index>> arraysOf(llvm::ArrayRef<Expr> parts) {
  llvm::SmallVector<llvm::ArrayRef<Index>> all;
  llvm::SmallPtrSet<const Index *, 8> met;
  for (const Expr &part : parts)
    forEachElement(part, [&](const Element *element) {
      if (met.insert(element->at.data()).second)
        all.push_back(element->at);
    });
  return all;
}

//===----------------------------------------------------------------------===//
// Digits
//===----------------------------------------------------------------------===//

Digits::Digits(Algebra &algebra, llvm::ArrayRef<llvm::ArrayRef<Index>> arrays,
               llvm::ArrayRef<std::pair<Var, Size>> over)
    : sizes(algebra.sizes) {
  for (llvm::ArrayRef<Index> at : arrays)
    ats.emplace_back(at);
  for (auto [var, extent] : over) {
    bounds.push_back(var);
    cuts[var] = {Size(1), extent};
  }
  fits = find();
  for (llvm::ArrayRef<Index> at : ats)
    numbered.push_back(algebra.unique(at));
}

bool Digits::find() {
  if (!collectCuts() || !splitPieces())
    return false;
  findRuns();
  if (!joinRuns())
    return false;
  for (Run &run : runs)
    run.index = indexOf(run);
  return countUnused();
}

void Digits::forEach(llvm::function_ref<void(Index &)> visit) {
  for (Indices &indices : ats)
    llvm::for_each(indices, visit);
}

/// The boundaries of each variable's digits, each of which divides the next.
bool Digits::collectCuts() {
  bool fits = true;
  forEach([&](Index &index) {
    for (const Piece &piece : index.pieces) {
      std::optional<Size> end = sizes.multiply(piece.stride, piece.extent);
      fits = fits && end;
      auto &own = cuts[piece.var];
      for (Size cut : {piece.stride, end.value_or(Size(1))})
        if (!llvm::is_contained(own, cut))
          own.push_back(cut);
    }
  });
  for (auto &[var, own] : cuts) {
    auto isBefore = [&](Size a, Size b) { return a != b && sizes.divides(a, b); };
    if (!llvm::is_sorted(own, isBefore))
      llvm::stable_sort(own, isBefore);
    for (size_t i = 1; i < own.size(); ++i)
      fits = fits && sizes.divides(own[i - 1], own[i]);
  }
  return fits;
}

unsigned Digits::findDigit(Var var, Size stride) const {
  return llvm::find_if(digits, [&](const Digit &digit) { return digit.var == var && digit.stride == stride; }) -
         digits.begin();
}

unsigned Digits::digitAt(Var var, Size stride, Size extent) {
  unsigned number = findDigit(var, stride);
  if (number == digits.size())
    digits.push_back({var, stride, extent});
  return number;
}

/// Writes every piece as digits, named by their numbers.
bool Digits::splitPieces() {
  bool fits = true;
  forEach([&](Index &index) {
    llvm::SmallVector<Piece, 2> pieces;
    for (const Piece &piece : index.pieces) {
      const auto &own = cuts[piece.var];
      Size end = *sizes.multiply(piece.stride, piece.extent);
      size_t first = llvm::find(own, piece.stride) - own.begin(), last = llvm::find(own, end) - own.begin();
      for (size_t i = last; i > first; --i) {
        Size stride = own[i - 1], extent = *sizes.divide(own[i], stride);
        std::optional<Size> multiplier = sizes.multiply(piece.multiplier, *sizes.divide(stride, piece.stride));
        fits = fits && multiplier;
        pieces.push_back({static_cast<Var>(digitAt(piece.var, stride, extent)), 1, extent, multiplier.value_or(1)});
      }
    }
    index.pieces = pieces;
  });
  return fits;
}

/// The piece of `index` that begins where `piece` ends downwards; null for none.
static const Piece *pieceBelow(Sizes &sizes, const Index &index, const Piece &piece) {
  for (const Piece &other : index.pieces)
    if (&other != &piece && sizes.multiply(other.multiplier, other.extent) == piece.multiplier)
      return &other;
  return nullptr;
}

/// Finds the digits that always stand side by side.
void Digits::findRuns() {
  constexpr int kUnknown = -2, kNone = -1;
  llvm::SmallVector<int> below(digits.size(), kUnknown), above(digits.size(), kUnknown), uses(digits.size(), 0);
  auto learn = [](int &known, int now) { known = known == kUnknown || known == now ? now : kNone; };
  forEach([&](Index &index) {
    for (const Piece &piece : index.pieces) {
      ++uses[piece.var];
      const Piece *next = pieceBelow(sizes, index, piece);
      learn(below[piece.var], next ? next->var : kNone);
      if (next)
        learn(above[next->var], piece.var);
    }
  });
  auto isBound = [&](int digit) { return llvm::is_contained(bounds, digits[digit].var); };
  auto follows = [&](int digit) {
    int next = below[digit];
    return next >= 0 && above[next] == digit && uses[next] == uses[digit] && isBound(next) == isBound(digit);
  };
  runOf.assign(digits.size(), -1);
  for (int digit = 0, count = digits.size(); digit < count; ++digit) {
    bool isFirst = above[digit] < 0 || !follows(above[digit]);
    if (!isFirst)
      continue;
    Run &run = runs.emplace_back();
    run.isBound = isBound(digit);
    for (int member = digit; member >= 0; member = follows(member) ? below[member] : -1) {
      run.digits.push_back(member);
      runOf[member] = runs.size() - 1;
    }
  }
}

/// Writes every run of pieces as one.
bool Digits::joinRuns() {
  for (Run &run : runs)
    for (int digit : run.digits) {
      std::optional<Size> extent = sizes.multiply(run.extent, digits[digit].extent);
      if (!extent)
        return false;
      run.extent = *extent;
    }
  forEach([&](Index &index) {
    llvm::SmallVector<Piece, 2> pieces;
    for (const Piece &piece : index.pieces) {
      const Run &run = runs[runOf[piece.var]];
      if (run.digits.back() == piece.var)
        pieces.push_back({runOf[piece.var], 1, run.extent, piece.multiplier});
    }
    index.pieces = pieces;
  });
  return true;
}

/// The index that a run is of the variables before.
Index Digits::indexOf(const Run &run) {
  Index index;
  Size multiplier = 1;
  for (int number : llvm::reverse(run.digits)) {
    const Digit &digit = digits[number];
    index.pieces.push_back({digit.var, digit.stride, digit.extent, multiplier});
    multiplier = *sizes.multiply(multiplier, digit.extent);
  }
  normalise(sizes, index);
  return index;
}

/// The number of turns in which nothing differs.
bool Digits::countUnused() {
  for (Var var : bounds) {
    const auto &own = cuts[var];
    for (size_t i = 1; i < own.size(); ++i)
      if (findDigit(var, own[i - 1]) == digits.size()) {
        std::optional<Size> count = sizes.multiply(unused, *sizes.divide(own[i], own[i - 1]));
        if (!count)
          return false;
        unused = *count;
      }
  }
  return true;
}

/// Whether equal indices may be asked for again: steps that match name each bound variable anew.
static bool mayRepeat(llvm::ArrayRef<llvm::ArrayRef<Index>> arrays) {
  constexpr Var kFirstRare = Algebra::kFirstFresh + 16;
  return llvm::all_of(arrays, [](llvm::ArrayRef<Index> at) {
    return llvm::all_of(at, [](const Index &index) {
      return llvm::all_of(index.pieces, [](const Piece &piece) { return piece.var < kFirstRare; });
    });
  });
}

const Digits &Algebra::digitsIn(llvm::ArrayRef<llvm::ArrayRef<Index>> arrays,
                                llvm::ArrayRef<std::pair<Var, Size>> over) {
  std::vector<uint64_t> key; // empty for the last ones that are not kept
  const bool isKept = mayRepeat(arrays);
  if (isKept) {
    key.push_back(arrays.size());
    for (llvm::ArrayRef<Index> at : arrays)
      key.push_back(reinterpret_cast<uintptr_t>(at.data())); // equal indices are one array
    for (auto [var, extent] : over)
      key.insert(key.end(), {static_cast<uint64_t>(var), static_cast<uint64_t>(extent.id())});
  }
  std::shared_ptr<const Digits> &known = digits[std::move(key)];
  if (!known || !isKept)
    known = std::make_shared<const Digits>(*this, arrays, over);
  return *known;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Closer::Closer(Algebra &algebra, std::vector<Expr> &parts, llvm::ArrayRef<std::pair<Var, Size>> over)
    : algebra(algebra), parts(parts), arrays(arraysOf(parts)), known(algebra.digitsIn(arrays, over)) {}

/// Puts other indices in place of those that the parts have.
void Closer::replace(llvm::ArrayRef<llvm::ArrayRef<Index>> by) {
  llvm::SmallDenseMap<const Index *, llvm::ArrayRef<Index>, 8> replacement;
  for (auto [array, now] : llvm::zip(arrays, by))
    replacement[array.data()] = now;
  arrays.assign(by.begin(), by.end());
  for (Expr &part : parts)
    Algebra::replaceElements(part, [&](const Element *element) {
      return algebra.elementOf(element->node, replacement.find(element->at.data())->second);
    });
}

/// Puts names in place of those that runs have.
void Closer::rename(llvm::ArrayRef<int> names) {
  llvm::SmallVector<llvm::ArrayRef<Index>> renamed;
  for (llvm::ArrayRef<Index> array : arrays) {
    Indices indices(array);
    for (Index &index : indices)
      for (Piece &piece : index.pieces)
        piece.var = names[piece.var];
    renamed.push_back(algebra.unique(indices));
  }
  replace(renamed);
}

/// Gives the runs their final names, in the order in which they occur.
void Closer::name() {
  for (const Digits::Run &run : known.runs)
    runs.push_back(&run);
  replace(known.numbered);
  for (Expr &part : parts)
    sort(part, By::shape);
  // Which factor comes first depends on the names again: two rounds settle what the shapes leave open.
  for (int round = 0; round < 2; ++round) {
    llvm::SmallVector<int> names(runs.size(), -1);
    llvm::SmallVector<const Digits::Run *> ordered;
    auto visit = [&](llvm::ArrayRef<Index> at, bool wantsBound) {
      for (const Index &index : at)
        for (const Piece &piece : index.pieces)
          if (runs[piece.var]->isBound == wantsBound && names[piece.var] < 0) {
            names[piece.var] = ordered.size();
            ordered.push_back(runs[piece.var]);
          }
    };
    llvm::SmallVector<llvm::ArrayRef<Index>> all = arraysOf(parts);
    for (bool wantsBound : {false, true})
      for (llvm::ArrayRef<Index> at : all)
        visit(at, wantsBound);
    bool isSettled = llvm::equal(names, llvm::seq<int>(0, runs.size()));
    runs = ordered;
    if (!isSettled)
      rename(names);
    for (Expr &part : parts)
      sort(part, By::names);
    if (isSettled)
      break;
  }
}

bool Closer::run() {
  if (!known.fits)
    return false;
  unused = known.unused;
  name();
  for (const Digits::Run *run : runs) {
    (run->isBound ? bound : dims).push_back(run->extent);
    if (!run->isBound)
      at.push_back(run->index);
  }
  return true;
}
