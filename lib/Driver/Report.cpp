//===- Report.cpp - Compilation report as a page -------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page is ReportPage/report.html with its style, its script and, as JSON, all that the script shows.
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "ReportPicture.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mhc;
using llvm::json::OStream;

static constexpr char kHtml[] =
#include "report.html.inc"
    ;
static constexpr char kStyle[] =
#include "report.css.inc"
    ;
static constexpr char kScript[] =
#include "report.js.inc"
    ;

namespace {
/// Groups before and after that stand side by side.
struct Row {
  std::optional<unsigned> before, after;
};
} // namespace

/// The longest sequence of places that both sides have; what is not in it stands alone.
static std::vector<Row> alignGroups(llvm::ArrayRef<GraphGroup> before, llvm::ArrayRef<GraphGroup> after) {
  std::vector<std::vector<unsigned>> longest(before.size() + 1, std::vector<unsigned>(after.size() + 1));
  for (size_t i = 1; i <= before.size(); ++i)
    for (size_t j = 1; j <= after.size(); ++j)
      longest[i][j] = before[i - 1].place == after[j - 1].place ? longest[i - 1][j - 1] + 1
                                                                : std::max(longest[i - 1][j], longest[i][j - 1]);
  std::vector<Row> rows;
  unsigned i = before.size(), j = after.size();
  while (i > 0 || j > 0)
    if (i > 0 && j > 0 && before[i - 1].place == after[j - 1].place)
      rows.push_back({--i, --j});
    else if (j == 0 || (i > 0 && longest[i - 1][j] > longest[i][j - 1]))
      rows.push_back({--i, std::nullopt});
    else
      rows.push_back({std::nullopt, --j});
  std::reverse(rows.begin(), rows.end());
  return rows;
}

/// For each op of a group before, the op of the group after, by its place, that it became part of; -1 for none.
static std::vector<int64_t> becomes(const OpGraph &before, const OpGraph &after, const Row &row) {
  std::map<int64_t, int64_t> places; // of ops after, by number
  if (row.after)
    for (auto [place, node] : llvm::enumerate(after.groups[*row.after].nodes))
      if (after.nodes[node].kind == GraphNode::op)
        for (int64_t number : opNumbers(after.nodes[node].loc))
          places.try_emplace(number, place);
  std::vector<int64_t> result;
  if (row.before)
    for (unsigned node : before.groups[*row.before].nodes) {
      if (before.nodes[node].kind != GraphNode::op)
        continue;
      std::vector<int64_t> numbers = opNumbers(before.nodes[node].loc);
      auto found = numbers.empty() ? places.end() : places.find(numbers.back());
      result.push_back(found == places.end() ? -1 : found->second);
    }
  return result;
}

/// Rows of one `pair` look the same on both sides.
static void writeRows(OStream &json, const OpGraph &before, const OpGraph &after) {
  using Pair = std::tuple<int64_t, int64_t, std::vector<int64_t>>;
  std::map<Pair, unsigned> numbers;
  std::vector<Pair> pairs;
  auto kindOf = [](const OpGraph &graph, std::optional<unsigned> group) {
    return group ? int64_t(graph.groups[*group].alike) : -1;
  };
  json.attributeArray("rows", [&] {
    for (const Row &row : alignGroups(before.groups, after.groups)) {
      Pair pair{kindOf(before, row.before), kindOf(after, row.after), becomes(before, after, row)};
      auto [number, isNew] = numbers.try_emplace(pair, pairs.size());
      if (isNew)
        pairs.push_back(pair);
      const GraphGroup &group = row.before ? before.groups[*row.before] : after.groups[*row.after];
      json.object([&] {
        json.attribute("title", group.title);
        json.attribute("layer", group.isLayer);
        json.attribute("pair", number->second);
        if (row.before)
          json.attribute("before", *row.before);
        if (row.after)
          json.attribute("after", *row.after);
      });
    }
  });
  json.attributeArray("becomes", [&] {
    for (const Pair &pair : pairs)
      json.array([&] {
        for (int64_t node : std::get<2>(pair))
          json.value(node);
      });
  });
}

static void writeFunction(OStream &json, const FunctionPictures &pictures, llvm::ArrayRef<CompileRemark> remarks,
                          const CostReportOptions &options, llvm::StringRef title) {
  std::string before = pictureJson(pictures.before, remarks, options, title);
  std::string after = pictureJson(pictures.after, remarks, options, title);
  json.object([&] {
    json.attribute(
        "report", reportJson(pictures.before.cost, pictures.after.cost, pictures.compiled, options, /*withOps=*/false));
    json.attributeBegin("before");
    json.rawValue(before);
    json.attributeEnd();
    json.attributeBegin("after");
    json.rawValue(before == after ? "null" : after);
    json.attributeEnd();
    writeRows(json, pictures.before, pictures.after);
  });
}

static std::string dataOf(const Explanation &explanation, llvm::ArrayRef<CompileRemark> remarks,
                          const CostReportOptions &options, llvm::StringRef title) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OStream json(stream);
  json.object([&] {
    json.attribute("title", llvm::json::fixUTF8(title));
    json.attributeArray("functions", [&] {
      for (const FunctionPictures &pictures : explanation.functions)
        writeFunction(json, pictures, remarks, options, title);
    });
    json.attributeArray("remarks", [&] {
      for (const CompileRemark &remark : remarks)
        json.value(toJson(remark));
    });
  });
  return text;
}

/// In a script, "</script>" and "<!--" end it or change how it is read, whatever the quotes around them.
static std::string inScript(const std::string &json) {
  std::string text;
  for (char c : json)
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

std::string mhc::reportPage(const Explanation &explanation, llvm::ArrayRef<CompileRemark> remarks,
                            const CostReportOptions &options, llvm::StringRef title) {
  std::string page;
  llvm::StringRef rest = kHtml;
  auto putAt = [&](llvm::StringRef place, llvm::StringRef text) {
    auto [before, behind] = rest.split(place);
    page += before;
    page += text;
    rest = behind;
  };
  putAt("{{style}}", kStyle);
  putAt("{{data}}", inScript(dataOf(explanation, remarks, options, title)));
  putAt("{{script}}", kScript);
  return page + rest.str();
}
