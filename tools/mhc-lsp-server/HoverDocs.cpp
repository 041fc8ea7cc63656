//===- HoverDocs.cpp - Documentation of ops under the pointer ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HoverDocs.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

using llvm::StringRef;

namespace {
struct OpDoc {
  StringRef name, markdown;
};
} // namespace

static constexpr OpDoc kOpDocs[] = {
#include "OpDocs.inc"
};

static StringRef docOf(StringRef op) {
  for (const OpDoc &doc : kOpDocs)
    if (doc.name == op)
      return doc.markdown;
  return "";
}

/// The text of a hover over an op, which starts with the op's name in quotes; null in any other message.
static llvm::json::Value *hoverText(llvm::json::Value &message) {
  auto *object = message.getAsObject();
  auto *result = object ? object->getObject("result") : nullptr;
  auto *contents = result ? result->getObject("contents") : nullptr;
  return contents ? contents->get("value") : nullptr;
}

static std::string withDoc(std::string body) {
  llvm::Expected<llvm::json::Value> message = llvm::json::parse(body);
  if (!message) {
    llvm::consumeError(message.takeError());
    return body;
  }
  llvm::json::Value *value = hoverText(*message);
  StringRef text = value ? value->getAsString().value_or("") : "";
  auto [title, rest] = text.split("\n\n");
  StringRef doc = docOf(title.trim('"'));
  if (doc.empty())
    return body;
  *value = (title + "\n\n" + doc + "\n" + rest).str();
  return llvm::formatv("{0}", *message);
}

static bool readLine(std::FILE *from, std::string &line) {
  line.clear();
  for (int c; (c = std::getc(from)) != EOF;) {
    line += static_cast<char>(c);
    if (c == '\n')
      return true;
  }
  return !line.empty();
}

void mhc::copyWithHoverDocs(std::FILE *from, llvm::raw_ostream &to) {
  for (std::string line; readLine(from, line);) {
    StringRef header = line;
    size_t length;
    if (!header.consume_front("Content-Length: ") || header.trim().getAsInteger(10, length)) {
      to << line;
      continue;
    }
    while (readLine(from, line) && !StringRef(line).trim().empty())
      ; // other headers, up to the empty line
    std::string body(length, '\0');
    body.resize(std::fread(body.data(), 1, length, from));
    body = withDoc(std::move(body));
    to << "Content-Length: " << body.size() << "\r\n\r\n" << body;
    to.flush();
  }
  to.flush();
}
