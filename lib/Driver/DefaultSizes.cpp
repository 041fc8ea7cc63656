//===- DefaultSizes.cpp - Sizes that an entry takes ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A search in the order of the symbols. What must hold is looked at as soon as its last symbol has a size.
//
//===----------------------------------------------------------------------===//

#include "DefaultSizes.h"
#include "mhc/Analysis/Polynomial.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace mhc;
using llvm::StringRef;

static constexpr int64_t kSize = 8, kMostSize = 4096;
/// Sizes that are tried before the search ends without a result.
static constexpr int64_t kMostTries = 1 << 20;

namespace {
/// A polynomial that is at least `least`, and not more unless `isOpen`.
struct Demand {
  Polynomial value;
  int64_t least;
  bool isOpen;
};

class SizeSearch {
public:
  explicit SizeSearch(const std::map<std::string, int64_t> &given) : given(given) {}

  void demandEqual(StringRef left, StringRef right);
  void demandSize(StringRef dim);
  bool run();
  std::map<std::string, int64_t> result() const;
  std::string demandsText() const { return llvm::join(texts, ", "); }

private:
  std::optional<Polynomial> parse(StringRef text);
  unsigned numberOf(StringRef name);
  void add(const Demand &demand);
  bool hold(llvm::ArrayRef<Demand> demands) const;
  bool chooseFrom(size_t symbol);

  const std::map<std::string, int64_t> &given;
  std::vector<std::string> names, texts;
  std::vector<int64_t> sizes;
  std::vector<bool> isBound;                ///< a demand has the symbol
  std::vector<std::vector<Demand>> demands; ///< by their last symbol
  int64_t tries = 0;
};
} // namespace

unsigned SizeSearch::numberOf(StringRef name) {
  auto known = llvm::find(names, name);
  unsigned number = known - names.begin();
  if (known == names.end()) {
    names.push_back(name.str());
    demands.emplace_back();
    isBound.push_back(false);
  }
  return number;
}

std::optional<Polynomial> SizeSearch::parse(StringRef text) {
  return parsePolynomial(text, [&](StringRef name) { return numberOf(name); });
}

void SizeSearch::add(const Demand &demand) {
  std::optional<unsigned> last; // that is chosen here: what was given is judged where it is used
  for (auto &[monomial, coefficient] : demand.value)
    for (unsigned symbol : monomial) {
      isBound[symbol] = true;
      if (!given.count(names[symbol]))
        last = std::max(last.value_or(0), symbol);
    }
  if (last)
    demands[*last].push_back(demand);
}

void SizeSearch::demandEqual(StringRef left, StringRef right) {
  std::optional<Polynomial> a = parse(left), b = parse(right);
  std::optional<Polynomial> difference = a && b ? subtract(*a, *b) : std::nullopt;
  if (difference)
    add({*difference, 0, /*isOpen=*/false});
  texts.push_back((left + " = " + right).str());
}

void SizeSearch::demandSize(StringRef dim) {
  std::optional<Polynomial> size = parse(dim);
  if (!size || symbolOf(*size) || constantOf(*size))
    return;
  add({*size, 1, /*isOpen=*/true});
  std::string text = dim.str() + " of at least 1";
  if (!llvm::is_contained(texts, text))
    texts.push_back(text);
}

bool SizeSearch::hold(llvm::ArrayRef<Demand> all) const {
  return llvm::all_of(all, [&](const Demand &demand) {
    std::optional<int64_t> value = valueOf(demand.value, [&](unsigned symbol) { return sizes[symbol]; });
    return value && *value >= demand.least && (demand.isOpen || *value == demand.least);
  });
}

bool SizeSearch::chooseFrom(size_t symbol) {
  if (symbol == names.size())
    return true;
  auto fits = [&](int64_t size) {
    sizes[symbol] = size;
    return hold(demands[symbol]) && chooseFrom(symbol + 1);
  };
  if (auto known = given.find(names[symbol]); known != given.end())
    return fits(known->second);
  const int64_t usual = names[symbol] == "M" ? kDefaultTokens : kSize;
  if (fits(usual))
    return true;
  for (int64_t size = 1; size <= kMostSize && isBound[symbol] && ++tries <= kMostTries; ++size)
    if (size != usual && fits(size))
      return true;
  return false;
}

bool SizeSearch::run() {
  sizes.resize(names.size());
  return chooseFrom(0);
}

std::map<std::string, int64_t> SizeSearch::result() const {
  std::map<std::string, int64_t> chosen;
  for (auto [name, size] : llvm::zip(names, sizes))
    chosen[name] = size;
  return chosen;
}

llvm::Expected<std::map<std::string, int64_t>> mhc::chooseSizes(const mhcrt_model *model, int32_t entry,
                                                                const std::map<std::string, int64_t> &given) {
  SizeSearch search(given);
  auto demandSizes = [&](const mhcrt_tensor_info &info) {
    for (int32_t dim = 0; dim < info.rank; ++dim)
      if (info.symbols[dim])
        search.demandSize(info.symbols[dim]);
  };
  for (int32_t i = 0; i < mhcrt_model_arguments(model, entry); ++i)
    demandSizes(*mhcrt_model_argument(model, entry, i));
  for (int32_t i = 0; i < mhcrt_model_results(model, entry); ++i)
    demandSizes(*mhcrt_model_result(model, entry, i));
  for (int32_t i = 0; const char *equality = mhcrt_model_equality(model, entry, i); ++i) {
    auto [left, right] = StringRef(equality).split(" = ");
    search.demandEqual(left, right);
  }
  if (!search.run())
    return llvm::createStringError("no sizes up to " + std::to_string(kMostSize) + " were found for entry '" +
                                   mhcrt_model_entry_name(model, entry) + "'; needed " + search.demandsText() +
                                   "; give some by '--size'");
  return search.result();
}
