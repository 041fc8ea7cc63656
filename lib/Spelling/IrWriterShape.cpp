//===- IrWriterShape.cpp - Reshapes, slices and loops of unfused IR -------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "mhc/Spelling/IrWriter.h"

#include <algorithm>
#include <cassert>

namespace mhc::spelling {

/// Splits the dimensions of `wide` into one group per dimension of `narrow`, so that the products agree. Empty when no
/// such split exists. kTokens only matches itself.
static std::vector<Dims> reassociation(const Dims &wide, const Dims &narrow) {
  std::vector<Dims> groups;
  size_t next = 0;
  for (size_t i = 0; i < narrow.size(); ++i) {
    Dims group;
    int64_t product = 1;
    while (next < wide.size() && (group.empty() || product != narrow[i])) {
      product *= wide[next];
      group.push_back(static_cast<int64_t>(next++));
    }
    // Unit dimensions belong to the group on their left, unless the next narrow dimension is itself a unit.
    while (next < wide.size() && wide[next] == 1 && wide.size() - next > narrow.size() - i - 1)
      group.push_back(static_cast<int64_t>(next++));
    if (group.empty() || product != narrow[i])
      return {};
    groups.push_back(group);
  }
  return next == wide.size() ? groups : std::vector<Dims>();
}

Value IrWriter::reassociate(const char *op, Value operand, Type type, const std::vector<Dims> &groups) {
  std::string text;
  for (const Dims &group : groups) {
    std::string members;
    for (int64_t dim : group)
      members += (members.empty() ? "" : ", ") + std::to_string(dim);
    text += (text.empty() ? "[" : ", [") + members + "]";
  }
  std::string shape;
  if (type.dims.size() > operand.type.dims.size()) {
    for (int64_t dim : type.dims)
      shape += (shape.empty() ? "" : ", ") + (dim == kTokens ? tokens() : std::to_string(dim));
    shape = " output_shape [" + shape + "]";
  }
  return define(type, std::string(op) + " " + operand.name + " [" + text + "]" + shape + " : " + operand.type.str() +
                          " into " + type.str());
}

Value IrWriter::reshape(Value operand, const Dims &wanted) {
  Dims shape = resolve(wanted);
  const Dims &from = operand.type.dims;
  Type type{shape, operand.type.element};
  if (from == shape) {
    hint.clear();
    return operand;
  }
  if (from.size() < shape.size())
    if (std::vector<Dims> groups = reassociation(shape, from); !groups.empty())
      return reassociate("tensor.expand_shape", operand, type, groups);
  if (from.size() > shape.size())
    if (std::vector<Dims> groups = reassociation(from, shape); !groups.empty())
      return reassociate("tensor.collapse_shape", operand, type, groups);
  // Through one row per token.
  Dims flat;
  int64_t product = 1;
  for (int64_t dim : from)
    product *= dim == kTokens ? 1 : dim;
  if (operand.type.isDynamic())
    flat.push_back(kTokens);
  flat.push_back(product);
  assert(from != flat && shape != flat && "shapes hold the same number of elements");
  std::string name = hint;
  Value row = reshape(operand, flat);
  return as(name).reshape(row, shape);
}

Value IrWriter::mergeTokens(Value operand) {
  Type type = operand.type;
  type.dims.erase(type.dims.begin() + 1);
  std::vector<Dims> groups{{0, 1}};
  for (int64_t dim = 2; dim < operand.rank(); ++dim)
    groups.push_back({dim});
  return reassociate("tensor.collapse_shape", operand, type, groups);
}

Value IrWriter::splitTokens(Value operand, int64_t n) {
  Type type = operand.type;
  type.dims.insert(type.dims.begin() + 1, n);
  std::vector<Dims> groups{{0, 1}};
  for (int64_t dim = 2; dim <= operand.rank(); ++dim)
    groups.push_back({dim});
  return reassociate("tensor.expand_shape", operand, type, groups);
}

Value IrWriter::slice(Value operand, const Dims &offsets, const Dims &wanted, const Dims &drop) {
  Dims sizes = resolve(wanted);
  Type type{{}, operand.type.element};
  std::string offsetText, sizeText, strideText;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const char *comma = i ? ", " : "";
    offsetText += comma + std::to_string(offsets[i]);
    sizeText += comma + (sizes[i] == kTokens ? tokens() : std::to_string(sizes[i]));
    strideText += std::string(comma) + "1";
    if (std::find(drop.begin(), drop.end(), static_cast<int64_t>(i)) == drop.end())
      type.dims.push_back(sizes[i]);
  }
  return define(type, "tensor.extract_slice " + operand.name + "[" + offsetText + "] [" + sizeText + "] [" +
                          strideText + "] : " + operand.type.str() + " to " + type.str());
}

Value IrWriter::sliceDim(Value operand, int64_t dim, int64_t begin, int64_t size) {
  if (begin == 0 && size == operand.dim(dim)) {
    hint.clear();
    return operand;
  }
  Dims offsets(operand.type.dims.size(), 0), sizes = operand.type.dims;
  offsets[dim] = begin;
  sizes[dim] = size;
  return slice(operand, offsets, sizes);
}

Value IrWriter::pad(Value operand, int64_t dim, int64_t low, int64_t high) {
  Type type = operand.type;
  type.dims[dim] += low + high;
  auto along = [&](int64_t count) {
    std::string text;
    for (int64_t i = 0; i < operand.rank(); ++i)
      text += (i ? ", " : "") + std::to_string(i == dim ? count : 0);
    return text;
  };
  std::string margin(2 * indent, ' '), indices;
  for (int64_t i = 0; i < operand.rank(); ++i)
    indices += (i ? ", " : "") + uniqueName("i") + ": index";
  const std::string zero = scalar(0, type.element);
  return define(type, "tensor.pad " + operand.name + " low[" + along(low) + "] high[" + along(high) + "] {\n" + margin +
                          "^bb0(" + indices + "):\n" + margin + "  tensor.yield " + zero + " : " +
                          elementName(type.element) + "\n" + margin + "} : " + operand.type.str() + " to " +
                          type.str());
}

Value IrWriter::concat(const Values &operands, int64_t dim) {
  if (operands.size() == 1) {
    hint.clear();
    return operands.front();
  }
  Type type = operands.front().type;
  type.dims[dim] = 0;
  std::string names, types;
  for (const Value &operand : operands) {
    type.dims[dim] += operand.dim(dim);
    names += (names.empty() ? "" : ", ") + operand.name;
    types += (types.empty() ? "" : ", ") + operand.type.str();
  }
  return define(type,
                "tensor.concat dim(" + std::to_string(dim) + ") " + names + " : (" + types + ") -> " + type.str());
}

Values IrWriter::loop(int64_t count, Values init, const std::function<Values(Values)> &writeBody) {
  std::string bounds = indexConstant(0) + " to " + indexConstant(count) + " step " + indexConstant(1);
  std::string margin(2 * indent, ' ');
  std::string name = uniqueName(hint), induction = uniqueName("i");
  hint.clear();
  Values carried, results;
  std::string pairs, types;
  for (const Value &value : init) {
    carried.push_back({uniqueName("it"), value.type});
    pairs += (pairs.empty() ? "" : ", ") + carried.back().name + " = " + value.name;
    types += (types.empty() ? "" : ", ") + value.type.str();
    results.push_back({init.size() == 1 ? name : name + "#" + std::to_string(results.size()), value.type});
  }
  std::string arity = init.size() == 1 ? "" : ":" + std::to_string(init.size());
  body += margin + name + arity + " = scf.for " + induction + " = " + bounds + " iter_args(" + pairs + ") -> (" +
          types + ") {\n";
  ++indent;
  Values next = writeBody(carried);
  --indent;
  std::string names;
  for (const Value &value : next)
    names += (names.empty() ? "" : ", ") + value.name;
  body += margin + "  scf.yield " + names + " : " + types + "\n" + margin + "}\n";
  return results;
}

} // namespace mhc::spelling
