//===- Autodiff.cpp - Gradients of a function ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cotangents.h"
#include "Recompute.h"
#include "Signature.h"
#include "Split.h"
#include "mhc/Analysis/DimAnalysis.h"
#include "mhc/Analysis/Mesh.h"
#include "mhc/IR/Gradients.h"
#include "mhc/IR/LeafBuilder.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"

namespace mhc {
#define GEN_PASS_DEF_AUTODIFFPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

constexpr StringLiteral kName = "mhc.name", kNoGrad = "mhc.no_grad", kMainGrad = "mhc.main_grad",
                        kInPlace = "mhc.in_place";

namespace {
/// Makes the joint function of forward and backward pass out of a copy of the function.
class JointBuilder {
public:
  JointBuilder(func::FuncOp func, StringRef name, GradientSums sums)
      : builder(func.getContext()), sums(sums), joint(copy(func, name)), signature(joint.func) {}

  FailureOr<JointFunction> build() {
    nameAll(signature.arguments, "arg");
    nameAll(signature.results, "result");
    eraseDeadOps(body());
    if (failed(findWanted()))
      return failure();
    FailureOr<ActiveValues> active = prepare(joint.func, ValueRange(llvm::to_vector_of<Value>(wanted)));
    if (failed(active))
      return failure();
    for (Operation &op : body().without_terminator())
      joint.forward.insert(&op);
    builder.setInsertionPoint(body().getTerminator());
    Cotangents cotangents(builder, *active, sums);
    seed(cotangents);
    startFromMainGrads(cotangents);
    if (failed(reverse(body(), builder, cotangents)))
      return failure();
    returnGradients(cotangents);
    signature.finish();
    eraseDeadOps(body());
    return joint;
  }

  func::FuncOp function() { return joint.func; }

private:
  JointFunction copy(func::FuncOp func, StringRef name) {
    builder.setInsertionPointAfter(func);
    auto clone = cast<func::FuncOp>(builder.clone(*func));
    clone.setName(name);
    if (clone->removeAttr(kVjp))
      callInstead(clone, func);
    return {clone, func.getNumArguments(), func.getNumResults(), {}};
  }

  /// A derivative that the user names is that of a call.
  void callInstead(func::FuncOp clone, func::FuncOp func) {
    Block &block = clone.getBody().front();
    builder.setInsertionPoint(block.getTerminator());
    auto call = func::CallOp::create(builder, func.getLoc(), func, block.getArguments());
    block.getTerminator()->setOperands(call.getResults());
  }

  Block &body() { return joint.func.getBody().front(); }

  DictionaryAttr with(DictionaryAttr attrs, StringRef name, Attribute value) {
    NamedAttrList list(attrs);
    list.set(name, value);
    return list.getDictionary(builder.getContext());
  }

  /// Gives every argument or result its default name, unless the user gave one. mhc-describe-entries refuses what is
  /// no string.
  void nameAll(MutableArrayRef<DictionaryAttr> values, StringRef kind) {
    for (auto [i, attrs] : llvm::enumerate(values))
      if (!attrs || !attrs.getAs<StringAttr>(kName))
        attrs = with(attrs, kName, builder.getStringAttr(kind + Twine(i)));
  }

  StringRef nameOf(DictionaryAttr attrs) { return cast<StringAttr>(attrs.get(kName)).getValue(); }
  DictionaryAttr attrsOf(BlockArgument argument) { return signature.arguments[argument.getArgNumber()]; }
  bool hasMainGrad(BlockArgument argument) { return attrsOf(argument).get(kMainGrad) != nullptr; }

  /// "d_x" for a value called "x", of the same sizes and on the same ranks.
  DictionaryAttr gradientOf(DictionaryAttr attrs) {
    DictionaryAttr result = with({}, kName, builder.getStringAttr("d_" + nameOf(attrs)));
    for (StringRef kept : {StringRef(kDims), StringRef(kPartial), StringRef(kSplit)})
      if (Attribute value = attrs.get(kept))
        result = with(result, kept, value);
    return result;
  }

  LogicalResult findWanted() {
    for (BlockArgument argument : body().getArguments()) {
      if (isFloat(argument.getType()) && !attrsOf(argument).get(kNoGrad))
        wanted.push_back(argument);
      else if (hasMainGrad(argument))
        return joint.func.emitError() << "argument '" << nameOf(attrsOf(argument)) << "' has '" << kMainGrad
                                      << "' but no gradient";
    }
    if (wanted.empty())
      return joint.func.emitError() << "no argument of the function can have a gradient";
    return success();
  }

  /// An argument for the cotangent of each float result.
  void seed(Cotangents &cotangents) {
    for (auto [attrs, result] : llvm::zip_equal(signature.results, body().getTerminator()->getOperands()))
      if (isFloat(result.getType()))
        cotangents.addCotangent(result, signature.addArgument(result.getType(), gradientOf(attrs), result.getLoc()));
  }

  /// The caller's sum over microbatches is the first share of a gradient, so that ops add to it like to any other.
  void startFromMainGrads(Cotangents &cotangents) {
    for (BlockArgument argument : wanted) {
      if (!hasMainGrad(argument))
        continue;
      auto type = cast<RankedTensorType>(argument.getType());
      Type sumType = type.clone(cotangentElement(type.getElementType()));
      DictionaryAttr attrs = gradientOf(attrsOf(argument));
      cotangents.addCotangent(argument, signature.addArgument(sumType, attrs, argument.getLoc()));
    }
  }

  /// A gradient has the type of its argument, or of the sum it is added to; one that nothing contributed to is zero.
  void returnGradients(Cotangents &cotangents) {
    LeafBuilder leaf(builder, body().getTerminator()->getLoc());
    for (BlockArgument argument : wanted) {
      Value sum = cotangents.cotangentOf(argument);
      DictionaryAttr attrs = gradientOf(attrsOf(argument));
      if (hasMainGrad(argument))
        attrs = with(attrs, kInPlace, builder.getUnitAttr());
      else
        sum = sum ? leaf.cast(sum, getElementTypeOrSelf(argument)) : leaf.splat(0.0, argument);
      signature.addResult(sum, attrs);
    }
  }

  OpBuilder builder;
  GradientSums sums;
  JointFunction joint;
  Signature signature;
  SmallVector<BlockArgument> wanted;
};

struct Autodiff : mhc::impl::AutodiffPassBase<Autodiff> {
  using AutodiffPassBase::AutodiffPassBase;

  void runOnOperation() override {
    func::FuncOp func = find();
    std::optional<RecomputeMode> mode = func ? modeOf(func) : std::nullopt;
    if (!mode)
      return signalPassFailure();
    JointBuilder builder(func, name("_grad"), sums);
    FailureOr<JointFunction> joint = builder.build();
    if (failed(joint)) {
      builder.function().erase();
      return signalPassFailure();
    }
    joint->func->removeAttr(kRecomputeMode);
    if (mode->kind != RecomputeMode::none)
      recomputeStreams(*joint, *mode);
    splitJoint(*joint, name("_fwd"), name("_bwd"));
  }

private:
  std::string name(StringRef suffix) { return function + suffix.str(); }

  /// The mode of the option or, without it, of the function; nothing, with an error, for an unknown mode.
  std::optional<RecomputeMode> modeOf(func::FuncOp func) {
    StringRef text = recompute.empty() ? recomputeModeOf(func) : StringRef(recompute);
    std::optional<RecomputeMode> mode = RecomputeMode::parse(text);
    if (!mode)
      func.emitError() << "recompute is '" << text << "'; needed " << RecomputeMode::kForms;
    return mode;
  }

  /// The function to differentiate; null, with an error, where there is none or its derivatives have no place.
  func::FuncOp find() {
    auto func = getOperation().lookupSymbol<func::FuncOp>(function);
    if (!func)
      emitError(UnknownLoc::get(&getContext()))
          << "there is no public function '" << function << "' to differentiate; the module has " << functions();
    else if (!func.getBody().hasOneBlock())
      func.emitError() << "cannot differentiate '" << function << "': needed a body of one block";
    else if (Operation *taken = findTaken())
      taken->emitError() << "the name is taken: it is that of a derivative of '" << function << "'";
    else
      return func;
    return nullptr;
  }

  std::string functions() {
    auto names = llvm::map_range(getOperation().getOps<func::FuncOp>(),
                                 [](func::FuncOp func) { return "'" + func.getName().str() + "'"; });
    return names.empty() ? "none" : llvm::join(names, ", ");
  }

  Operation *findTaken() {
    for (StringRef suffix : {"_grad", "_fwd", "_bwd"})
      if (Operation *taken = getOperation().lookupSymbol(name(suffix)))
        return taken;
    return nullptr;
  }
};
} // namespace
