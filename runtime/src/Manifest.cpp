//===- Manifest.cpp - The parsed manifest of a compiled model -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "Manifest.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

using namespace mhcrt;

static int32_t parseType(const std::string &word) {
  for (int32_t type = MHCRT_F32; type <= MHCRT_I64; ++type)
    if (word == mhcrt_dtype_name(type))
      return type;
  return MHCRT_NONE;
}

/// Whether `word` can be the name of a file in a folder, and be separated from the file in NAME=FILE.
static bool isTensorName(const std::string &word) {
  return std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isgraph(c) && c != '/' && c != '='; });
}

static bool hasSymbol(const SizeExpression &dim) {
  return std::any_of(dim.terms.begin(), dim.terms.end(), [](const SizeTerm &term) { return !term.symbols.empty(); });
}

/// Fills `spec` from "name dtype dim...".
static bool parseTensor(std::istringstream &line, TensorSpec &spec, std::string &error) {
  std::string type, word;
  if (!(line >> spec.name >> type)) {
    error = "needs a name and a dtype";
    return false;
  }
  if (!isTensorName(spec.name)) {
    error = "has a name that is not printable or has a '/' or a '='";
    return false;
  }
  spec.info.dtype = parseType(type);
  if (spec.info.dtype == MHCRT_NONE) {
    error = "has the unknown dtype '" + type + "'";
    return false;
  }
  while (line >> word)
    spec.dims.push_back({word, {}});
  if (spec.dims.size() > MHCRT_MAX_RANK) {
    error =
        "has rank " + std::to_string(spec.dims.size()) + "; at most " + std::to_string(MHCRT_MAX_RANK) + " is possible";
    return false;
  }
  spec.info.rank = static_cast<int32_t>(spec.dims.size());
  spec.type = type + "[";
  for (size_t i = 0; i < spec.dims.size(); ++i) {
    SizeExpression &dim = spec.dims[i];
    const bool isNumber = parseSize(dim.text, spec.info.sizes[i]);
    if (!parseExpression(dim.text, dim) || (!isNumber && !hasSymbol(dim))) {
      error = "has the dimension '" + dim.text + "', which is neither a size nor a symbol";
      return false;
    }
    spec.info.symbols[i] = isNumber ? nullptr : dim.text.c_str();
    spec.info.sizes[i] = isNumber ? spec.info.sizes[i] : -1;
    spec.type += (i ? "," : "") + dim.text;
  }
  spec.type += "]";
  spec.info.in_place = spec.info.split_dim = -1;
  spec.info.name = spec.name.c_str();
  spec.info.type = spec.type.c_str();
  return true;
}

/// Whether a dimension of an argument is `symbol` and nothing else.
static bool isBound(const EntrySpec &entry, const std::string &symbol) {
  for (const TensorSpec &argument : entry.arguments)
    for (const SizeExpression &dim : argument.dims)
      if (dim.text == symbol)
        return true;
  return false;
}

/// Arguments must bind every symbol. `subject` is what has the expression.
static bool checkSymbols(const EntrySpec &entry, const SizeExpression &expression, const std::string &subject,
                         std::string &error) {
  for (const SizeTerm &term : expression.terms)
    for (const std::string &symbol : term.symbols)
      if (!isBound(entry, symbol)) {
        error = subject + " of entry '" + entry.name + "' has the dimension '" + symbol + "', which no argument has";
        return false;
      }
  return true;
}

static bool checkSymbols(const EntrySpec &entry, std::string &error) {
  for (const auto &[specs, what] : {std::pair(&entry.arguments, "argument"), std::pair(&entry.results, "result")})
    for (const TensorSpec &spec : *specs)
      for (const SizeExpression &dim : spec.dims)
        if (!checkSymbols(entry, dim, std::string(what) + " '" + spec.name + "'", error))
          return false;
  for (const SizeEquality &equality : entry.equalities)
    for (const SizeExpression *side : {&equality.left, &equality.right})
      if (!checkSymbols(entry, *side, "'equal'", error))
        return false;
  return true;
}

/// Ties the result called `name` to the argument of that name and type.
static bool tieResult(EntrySpec &entry, const std::string &name) {
  for (TensorSpec &result : entry.results)
    for (size_t i = 0; i < entry.arguments.size(); ++i)
      if (result.name == name && entry.arguments[i].name == name && entry.arguments[i].type == result.type) {
        result.info.in_place = static_cast<int32_t>(i);
        return true;
      }
  return false;
}

/// "dp=2,tp=2,pp=4"; all but the first may be left out.
static bool parseMesh(std::istringstream &line, Manifest &manifest) {
  constexpr int64_t kMostParts = 65536, kMostStages = 1024;
  struct Axis {
    const char *name;
    int32_t &size;
    int64_t most;
  };
  const Axis axes[] = {{"dp=", manifest.dataRanks, kMostParts},
                       {"tp=", manifest.tensorRanks, kMostParts},
                       {"pp=", manifest.stages, kMostStages}};
  if (!(line >> manifest.mesh) || manifest.mesh.rfind("dp=", 0) != 0)
    return false;
  std::istringstream words(manifest.mesh);
  std::string word;
  const Axis *axis = axes;
  while (std::getline(words, word, ',')) {
    while (axis != std::end(axes) && word.rfind(axis->name, 0) != 0)
      ++axis;
    int64_t size = 0;
    if (axis == std::end(axes) || !parseSize(word.substr(3), size) || size < 1 || size > axis->most)
      return false;
    axis++->size = static_cast<int32_t>(size);
  }
  return true;
}

static TensorSpec *findTensor(EntrySpec &entry, const std::string &name) {
  for (std::deque<TensorSpec> *specs : {&entry.arguments, &entry.results})
    for (TensorSpec &spec : *specs)
      if (spec.name == name)
        return &spec;
  return nullptr;
}

/// "W 0 48 24": the sizes behind the dimension are those of the tensor.
static bool parseSplit(std::istringstream &line, EntrySpec &entry) {
  std::string name, word;
  int64_t dim = 0, size = 0, sum = 0;
  TensorSpec *const spec = line >> name ? findTensor(entry, name) : nullptr;
  if (!spec || !(line >> word) || !parseSize(word, dim) || dim >= spec->info.rank)
    return false;
  for (; line >> word; sum += size, spec->splitSizes.push_back(size))
    if (!parseSize(word, size) || size < 1 || size > INT32_MAX)
      return false;
  spec->info.split_dim = static_cast<int32_t>(dim);
  spec->info.split_parts = static_cast<int32_t>(spec->splitSizes.size());
  spec->info.split_sizes = spec->splitSizes.data();
  return sum == spec->info.sizes[dim];
}

static bool parsePartial(std::istringstream &line, EntrySpec &entry) {
  std::string name;
  TensorSpec *const spec = line >> name ? findTensor(entry, name) : nullptr;
  if (!spec || !(line >> spec->partial))
    return false;
  spec->info.partial = spec->partial.c_str();
  return true;
}

std::string mhcrt::typeOf(const EntrySpec &entry) {
  std::string text;
  const auto append = [&](const std::deque<TensorSpec> &specs) {
    for (size_t i = 0; i < specs.size(); ++i)
      text += (i ? ", " : "") + specs[i].type;
  };
  append(entry.arguments);
  text += " -> ";
  append(entry.results);
  return text;
}

bool mhcrt::parseManifest(const char *text, Manifest &manifest, std::string &error) {
  std::istringstream lines(text);
  std::string text1;
  int number = 0;
  EntrySpec *open = nullptr; // the entry, or function, whose lines these are
  bool headed = false;
  std::set<std::string> names; // of the entry's tensors, behind what they are
  auto fail = [&](const std::string &reason) {
    error = "manifest, line " + std::to_string(number) + ": " + reason;
    return false;
  };
  while (std::getline(lines, text1)) {
    ++number;
    std::istringstream line(text1);
    std::string key;
    if (!(line >> key))
      continue;
    if (!headed) {
      std::string version;
      line >> version;
      if (key != "mhc-model" || version != "1")
        return fail("expected 'mhc-model 1', found '" + text1 + "'");
      headed = true;
    } else if (key == "target") {
      if (!(line >> manifest.target))
        return fail("'target' without a name");
    } else if (key == "mesh") {
      if (!parseMesh(line, manifest))
        return fail("'mesh' needs 'dp=N', and may have ',tp=N' and ',pp=N' behind it");
    } else if (key == "pin") {
      if (!(line >> manifest.pins.emplace_back()))
        return fail("'pin' without a variant");
    } else if (key == "entry" || key == "function") {
      std::deque<EntrySpec> &all = key == "entry" ? manifest.entries : manifest.functions;
      std::string name;
      if (open || !(line >> name))
        return fail("'" + key + (open ? "' before the 'end' of '" + open->name + "'" : "' without a name"));
      if (!isSymbol(name))
        return fail("the " + key + " '" + name + "'; needed letters, digits and '_' as a name, the first no digit");
      for (const EntrySpec &other : all)
        if (other.name == name)
          return fail("a second " + key + " '" + name + "'");
      open = &all.emplace_back();
      open->name = name;
      names.clear();
    } else if (key == "arg" || key == "result") {
      if (!open)
        return fail("'" + key + "' outside of an entry");
      auto &specs = key == "arg" ? open->arguments : open->results;
      specs.emplace_back();
      std::string reason;
      if (!parseTensor(line, specs.back(), reason))
        return fail("'" + key + " " + specs.back().name + "' " + reason);
      if (!names.insert(key + " " + specs.back().name).second)
        return fail("a second '" + key + " " + specs.back().name + "'");
    } else if (key == "in_place") {
      std::string name;
      if (!open || !(line >> name) || !tieResult(*open, name))
        return fail("'in_place " + name + "' needs a result and an argument of that name and one type before it");
    } else if (key == "split") {
      if (!open || !parseSplit(line, *open))
        return fail(
            "'split' needs a tensor before it, one of its dimensions, and the sizes of parts that are its size");
    } else if (key == "partial") {
      if (!open || !parsePartial(line, *open))
        return fail("'partial' needs a tensor before it, and axes of the mesh");
    } else if (key == "equal") {
      std::string left, right;
      SizeEquality equality;
      if (!open || !(line >> left >> right) || !parseExpression(left, equality.left) ||
          !parseExpression(right, equality.right))
        return fail("'equal' needs two sizes, in an entry");
      equality.text = left + " = " + right;
      open->equalities.push_back(equality);
    } else if (key == "end") {
      std::string reason;
      if (open && !checkSymbols(*open, reason))
        return fail(reason);
      open = nullptr;
    }
  }
  if (!headed)
    return fail("expected 'mhc-model 1', found nothing");
  if (open)
    return fail("entry '" + open->name + "' has no 'end'");
  return true;
}

std::string mhcrt::describe(const mhcrt_tensor &tensor) {
  std::string text = mhcrt_dtype_name(tensor.dtype);
  text += "[";
  for (int i = 0; i < tensor.rank && i < MHCRT_MAX_RANK; ++i)
    text += (i ? "," : "") + std::to_string(tensor.dims[i]);
  return text + "]";
}

static const BoundSize *findSize(const std::vector<BoundSize> &sizes, const std::string &symbol) {
  for (const BoundSize &bound : sizes)
    if (bound.symbol == symbol)
      return &bound;
  return nullptr;
}

bool mhcrt::evaluate(const SizeExpression &expression, const std::vector<BoundSize> &sizes, int64_t &value) {
  // The parser has made sure that an argument binds every symbol.
  return evaluate(expression, [&](const std::string &symbol) { return findSize(sizes, symbol)->size; }, value);
}

static std::string text(bool fits, int64_t value) { return fits ? std::to_string(value) : "no size"; }

/// Checks all but the sizes that follow from symbols; binds new symbols.
static bool bindTensor(const EntrySpec &entry, const TensorSpec &spec, const char *what, const mhcrt_tensor &tensor,
                       std::vector<BoundSize> &sizes, std::string &error) {
  bool fits = tensor.dtype == spec.info.dtype && tensor.rank == spec.info.rank;
  for (int i = 0; fits && i < spec.info.rank; ++i)
    fits = spec.info.symbols[i] ? tensor.dims[i] >= 0 : tensor.dims[i] == spec.info.sizes[i];
  const std::string subject = std::string(what) + " '" + spec.name + "' of entry '" + entry.name + "'";
  if (!fits) {
    error = subject + ": expected " + spec.type + ", found " + describe(tensor);
    return false;
  }
  int64_t elements = 1;
  for (int i = 0; i < spec.info.rank; ++i) {
    elements = tensor.dims[i] == 0 ? 0 : elements;
    const std::string &symbol = spec.dims[i].text;
    if (!isSymbol(symbol))
      continue;
    const BoundSize *bound = findSize(sizes, symbol);
    if (!bound) {
      sizes.push_back({symbol, tensor.dims[i], spec.name});
    } else if (bound->size != tensor.dims[i]) {
      error = "entry '" + entry.name + "': dimension '" + symbol + "' is " + std::to_string(bound->size) + " in '" +
              bound->tensor + "' but " + std::to_string(tensor.dims[i]) + " in '" + spec.name + "'";
      return false;
    }
  }
  if (!tensor.data && elements != 0) {
    error = subject + " has no data: its pointer is null";
    return false;
  }
  return true;
}

/// Checks the sizes that follow from symbols.
static bool checkSizes(const EntrySpec &entry, const TensorSpec &spec, const mhcrt_tensor &tensor,
                       const std::vector<BoundSize> &sizes, std::string &error) {
  for (int i = 0; i < spec.info.rank; ++i) {
    int64_t needed;
    const bool fits = evaluate(spec.dims[i], sizes, needed);
    if (fits && tensor.dims[i] == needed)
      continue;
    error = "entry '" + entry.name + "': dimension " + std::to_string(i) + " of '" + spec.name + "' is " +
            std::to_string(tensor.dims[i]) + "; needed " + spec.dims[i].text + " = " + text(fits, needed);
    return false;
  }
  return true;
}

static bool bindTensors(const EntrySpec &entry, const std::deque<TensorSpec> &specs, const char *what,
                        const mhcrt_tensor *tensors, std::vector<BoundSize> &sizes, std::string &error) {
  for (size_t k = 0; k < specs.size(); ++k)
    if (!bindTensor(entry, specs[k], what, tensors[k], sizes, error))
      return false;
  for (size_t k = 0; k < specs.size(); ++k)
    if (!checkSizes(entry, specs[k], tensors[k], sizes, error))
      return false;
  return true;
}

bool mhcrt::bindArguments(const EntrySpec &entry, const mhcrt_tensor *tensors, std::vector<BoundSize> &sizes,
                          std::string &error) {
  if (!bindTensors(entry, entry.arguments, "argument", tensors, sizes, error))
    return false;
  for (const SizeEquality &equality : entry.equalities) {
    int64_t left, right;
    const bool leftFits = evaluate(equality.left, sizes, left), rightFits = evaluate(equality.right, sizes, right);
    if (leftFits && rightFits && left == right)
      continue;
    error = "entry '" + entry.name + "': needed " + equality.text + "; found " + text(leftFits, left) + " and " +
            text(rightFits, right);
    return false;
  }
  return true;
}

bool mhcrt::checkResults(const EntrySpec &entry, const mhcrt_tensor *tensors, std::vector<BoundSize> &sizes,
                         std::string &error) {
  return bindTensors(entry, entry.results, "result", tensors, sizes, error);
}
