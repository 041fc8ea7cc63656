//===- DescribeEntries.cpp - Names and sizes of entries ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InPlace.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/IR/ElementTypes.h"
#include "mhc/IR/OutsideFunctions.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace mhc {
#define GEN_PASS_DEF_DESCRIBEENTRIESPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

/// Whether an entry may be called so: its symbol is mhc_entry_<name>, and C names of its tensors begin with the name.
/// A name that begins like a symbol of the runtime or of another entry would clash with it.
static bool isEntryName(StringRef name) {
  return !name.empty() && !llvm::isDigit(name[0]) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; }) && !name.starts_with("mhc_entry_") &&
         !name.starts_with("mhcrt_");
}

/// Whether a tensor may be called so: NAME.npy is its file in a folder, and NAME=FILE gives it one.
static bool isTensorName(StringRef name) {
  return !name.empty() && llvm::all_of(name, [](char c) { return c > ' ' && c < 0x7f && c != '/' && c != '='; });
}

/// A name in quotes, without characters that cannot be printed.
static std::string quoted(StringRef name) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::printEscapedString(name, stream);
  return "'" + text + "'";
}

/// Checks the name of a tensor of `owner`; `names` are those before it, behind the kind of each.
static LogicalResult checkTensorName(Location loc, StringRef kind, unsigned number, const Twine &owner, StringAttr name,
                                     llvm::StringSet<> &names) {
  if (!isTensorName(name))
    return emitError(loc) << kind << " " << number << " of " << owner << " is called " << quoted(name)
                          << "; needed printable characters without blanks, '/' and '='";
  if (!names.insert((kind + name.getValue()).str()).second)
    return emitError(loc) << "two " << kind << "s of " << owner << " are called '" << name.getValue() << "'";
  return success();
}

namespace {
/// Checks that a function without a body can be called through the table of the compiled model, and writes down the
/// names of its tensors and sizes. A size that the user left open has a name of its own.
class OutsideDescriber {
public:
  explicit OutsideDescriber(func::FuncOp func) : func(func), builder(func.getContext()) {}

  LogicalResult run() {
    if (!isEntryName(func.getName()))
      return func.emitError() << "a function without a body cannot be called " << quoted(func.getName())
                              << "; needed letters, digits and '_', the first no digit, and neither 'mhc_entry_' nor "
                                 "'mhcrt_' at the start";
    SmallVector<Attribute> arguments, results;
    for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
      if (failed(describe("argument", "arg", i, type, func.getArgAttrDict(i), arguments)))
        return failure();
    SmallVector<StringAttr> known(names); // of arguments
    for (auto [i, type] : llvm::enumerate(func.getResultTypes()))
      if (failed(describe("result", "result", i, type, func.getResultAttrDict(i), results)) ||
          failed(checkResult(i, cast<RankedTensorType>(type), results.back(), known)))
        return failure();
    func.setArgAttrsAttr(builder.getArrayAttr(arguments));
    func.setResAttrsAttr(builder.getArrayAttr(results));
    func->setAttr(kOutsideFunction, builder.getUnitAttr());
    return success();
  }

private:
  LogicalResult describe(StringRef kind, StringRef defaultName, unsigned number, Type type, DictionaryAttr given,
                         SmallVectorImpl<Attribute> &described) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || elementCode(tensor.getElementType()) == kNoElement || tensor.getRank() > kMaxRank)
      return func.emitError() << kind << " " << number << " of '" << func.getName() << "', which has no body, is "
                              << type << "; needed a ranked tensor of f32, bf16, f16, f64, i32 or i64, of at most "
                              << kMaxRank << " dimensions";
    NamedAttrList attrs(given);
    auto called = dyn_cast_or_null<StringAttr>(attrs.get("mhc.name"));
    if (!called)
      called = builder.getStringAttr(defaultName + Twine(number));
    attrs.set("mhc.name", called);
    if (failed(checkTensorName(func.getLoc(), kind, number, "'" + func.getName() + "', which has no body,", called,
                               tensors)))
      return failure();
    SmallVector<Attribute> dims;
    auto stated = dyn_cast_or_null<ArrayAttr>(attrs.get(kDims));
    for (auto [dim, size] : llvm::enumerate(tensor.getShape())) {
      auto name = stated && dim < stated.size() ? dyn_cast<StringAttr>(stated[dim]) : StringAttr();
      bool isName = name && !name.empty() && llvm::isAlpha(name.getValue()[0]) &&
                    llvm::all_of(name.getValue(), [](char c) { return llvm::isAlnum(c) || c == '_'; });
      if (!ShapedType::isDynamic(size))
        name = builder.getStringAttr(Twine(size));
      else if (!isName)
        name = builder.getStringAttr("open" + Twine(opened++));
      names.push_back(name);
      dims.push_back(name);
    }
    attrs.set(kDims, builder.getArrayAttr(dims));
    described.push_back(attrs.getDictionary(func.getContext()));
    return success();
  }

  LogicalResult checkResult(unsigned number, RankedTensorType type, Attribute attrs, ArrayRef<StringAttr> known) {
    auto dims = cast<ArrayAttr>(cast<DictionaryAttr>(attrs).get(kDims));
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim) && !llvm::is_contained(known, dims[dim]))
        return func.emitError() << "result " << number << " of '" << func.getName()
                                << "', which has no body, has an open size in dimension " << dim
                                << "; needed that of an argument, by a name that both have in 'mhc.dims'";
    return success();
  }

  func::FuncOp func;
  Builder builder;
  SmallVector<StringAttr> names; ///< of the sizes so far
  llvm::StringSet<> tensors;     ///< their names so far, behind the kind of each
  unsigned opened = 0;
};

LogicalResult describeOutside(func::FuncOp func) { return OutsideDescriber(func).run(); }

class EntryDescriber {
public:
  explicit EntryDescriber(func::FuncOp func) : func(func), dims(func), builder(func.getContext()) {}

  LogicalResult run() {
    if (!isEntryName(func.getName()))
      return func.emitError() << "an entry cannot be called " << quoted(func.getName())
                              << "; needed letters, digits and '_', the first no digit, and neither 'mhc_entry_' nor "
                                 "'mhcrt_' at the start";
    if (failed(checkBody()))
      return failure();
    SmallVector<Attribute> arguments, results;
    for (BlockArgument argument : func.getArguments()) {
      NamedAttrList attrs(func.getArgAttrDict(argument.getArgNumber()));
      if (failed(describe("argument", "arg", argument.getArgNumber(), argument, argument.getLoc(), attrs)))
        return failure();
      arguments.push_back(attrs.getDictionary(func.getContext()));
    }
    for (auto [i, result] : llvm::enumerate(func.getBody().front().getTerminator()->getOperands())) {
      NamedAttrList attrs(func.getResultAttrDict(i));
      if (failed(describe("result", "result", i, result, func.getLoc(), attrs)) || failed(checkResultSizes(i, attrs)))
        return failure();
      results.push_back(attrs.getDictionary(func.getContext()));
    }
    func.setArgAttrsAttr(builder.getArrayAttr(arguments));
    func.setResAttrsAttr(builder.getArrayAttr(results));
    if (ArrayAttr conditions = dims.conditions(func.getContext()); !conditions.empty())
      func->setAttr(kConditions, conditions);
    return tieResults();
  }

private:
  LogicalResult checkBody() {
    if (!func.getBody().hasOneBlock())
      return func.emitError() << "entry '" << func.getName() << "' has branches; needed one block";
    WalkResult result = func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getName().getDialectNamespace() == "scf" && failed(checkControlFlow(op)))
        return WalkResult::interrupt();
      if (auto dim = dyn_cast<tensor::DimOp>(op); dim && failed(checkDim(dim)))
        return WalkResult::interrupt();
      if (auto call = dyn_cast<func::CallOp>(op); call && failed(checkCall(call)))
        return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  static LogicalResult checkCall(func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!callee || !callee.isExternal())
      return call.emitError()
             << "the call of '" << call.getCallee()
             << "' cannot be inlined; needed a function with a body of one block that is not recursive";
    return isOutside(callee) ? success() : describeOutside(callee);
  }

  LogicalResult checkDim(tensor::DimOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
    std::optional<int64_t> dim = op.getConstantIndex();
    if (type && dim && *dim >= 0 && *dim < type.getRank())
      return success();
    return op.emitError() << "'tensor.dim' of " << op.getSource().getType()
                          << " cannot be compiled; needed a constant that is one of its dimensions";
  }

  LogicalResult checkControlFlow(Operation *op) {
    if (isa<scf::YieldOp, scf::ConditionOp>(op))
      return success();
    if (!isa<scf::ForOp, scf::WhileOp>(op))
      return op->emitError() << "'" << op->getName()
                             << "' cannot be compiled; needed 'scf.for', 'scf.while' or 'scf.if'";
    auto loop = cast<LoopLikeOpInterface>(op);
    for (auto [i, init, yielded] : llvm::enumerate(loop.getInits(), loop.getYieldedValues())) {
      auto type = dyn_cast<RankedTensorType>(init.getType());
      for (int64_t dim = 0; type && dim < type.getRank(); ++dim)
        if (!dims.sameSize(init, dim, yielded, dim))
          return op->emitError() << "'" << op->getName() << "' cannot be compiled: an iteration may change the size of "
                                 << "carried value " << i << " in dimension " << dim;
    }
    return success();
  }

  LogicalResult describe(StringRef kind, StringRef defaultName, unsigned number, Value tensor, Location loc,
                         NamedAttrList &attrs) {
    if (failed(checkType(kind, number, tensor.getType())))
      return failure();
    Attribute given = attrs.get("mhc.name");
    auto name = dyn_cast_or_null<StringAttr>(given);
    if (given && !name)
      return emitError(loc) << kind << " " << number << " of entry '" << func.getName() << "' has " << given
                            << " as 'mhc.name'; needed a string";
    if (!name)
      name = builder.getStringAttr(defaultName + Twine(number));
    attrs.set("mhc.name", name);
    attrs.set(kDims, dims.symbols(tensor));
    return checkTensorName(loc, kind, number, "entry '" + func.getName() + "'", name, names);
  }

  LogicalResult checkType(StringRef kind, unsigned number, Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || elementCode(tensor.getElementType()) == kNoElement)
      return func.emitError() << kind << " " << number << " of entry '" << func.getName() << "' has type " << type
                              << "; needed a ranked tensor of f32, bf16, f16, f64, i32 or i64";
    if (tensor.getRank() > kMaxRank)
      return func.emitError() << kind << " " << number << " of entry '" << func.getName() << "' has rank "
                              << tensor.getRank() << "; needed at most " << kMaxRank;
    return success();
  }

  LogicalResult checkResultSizes(unsigned number, const NamedAttrList &attrs) {
    for (auto [dim, size] : llvm::enumerate(cast<ArrayAttr>(attrs.get(kDims)).getAsRange<StringAttr>()))
      if (size.getValue() == "?")
        return func.emitError() << "result " << number << " of entry '" << func.getName()
                                << "' has a size in dimension " << dim << " that no argument has";
    return success();
  }

  /// Marks the argument whose memory a result takes over: the one of its name. A function may have many of both: the
  /// attributes of all arguments are one array, which is made once.
  LogicalResult tieResults() {
    SmallVector<DictionaryAttr> attrs;
    func.getAllArgAttrs(attrs);
    DenseMap<Attribute, unsigned> byName;
    for (auto [number, list] : llvm::enumerate(attrs))
      byName[list.get("mhc.name")] = number;
    for (unsigned i = 0; i < func.getNumResults(); ++i) {
      DictionaryAttr result = func.getResultAttrDict(i);
      if (!result.get(kInPlace))
        continue;
      auto named = byName.find(result.get("mhc.name"));
      if (named == byName.end() || attrs[named->second].get(kDims) != result.get(kDims) ||
          func.getArgumentTypes()[named->second] != func.getResultTypes()[i])
        return func.emitError() << "result " << i << " of entry '" << func.getName()
                                << "' has 'mhc.in_place', but no argument has its name and type";
      Value returned = func.getBody().front().getTerminator()->getOperand(i);
      if (isa<BlockArgument>(returned) && returned != func.getArgument(named->second))
        return func.emitError() << "result " << i << " of entry '" << func.getName()
                                << "' has 'mhc.in_place', but is another argument";
      NamedAttrList list(attrs[named->second]);
      list.set(kInPlace, builder.getUnitAttr());
      attrs[named->second] = list.getDictionary(func.getContext());
    }
    func.setAllArgAttrs(attrs);
    return success();
  }

  func::FuncOp func;
  DimAnalysis dims;
  Builder builder;
  llvm::StringSet<> names;
};

struct DescribeEntries : mhc::impl::DescribeEntriesPassBase<DescribeEntries> {
  void runOnOperation() override {
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>())
      func->removeAttr(kOutsideFunction); // of a program that says so itself
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>())
      if (func.isPublic() && !func.isDeclaration() && failed(EntryDescriber(func).run()))
        return signalPassFailure();
  }
};
} // namespace
