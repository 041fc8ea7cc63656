//===- Autodiff.cpp - Gradients of a function ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cotangents.h"
#include "Recompute.h"
#include "Split.h"
#include "mhc/IR/LeafBuilder.h"
#include "mhc/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mhc {
#define GEN_PASS_DEF_AUTODIFFPASS
#include "mhc/Transforms/Passes.h.inc"
} // namespace mhc

using namespace mlir;
using namespace mhc;

constexpr StringLiteral kName = "mhc.name", kNoGrad = "mhc.no_grad";

namespace {
/// Makes the joint function of forward and backward pass out of a copy of the function.
class JointBuilder {
public:
  JointBuilder(func::FuncOp func, StringRef name, GradientSums sums) : builder(func.getContext()), sums(sums) {
    builder.setInsertionPointAfter(func);
    joint.func = cast<func::FuncOp>(builder.clone(*func));
    joint.func.setName(name);
    joint.numArguments = func.getNumArguments();
    joint.numResults = func.getNumResults();
  }

  FailureOr<JointFunction> build() {
    nameAll();
    eraseDeadOps(body());
    for (BlockArgument argument : joint.func.getArguments())
      if (isFloat(argument.getType()) && !joint.func.getArgAttr(argument.getArgNumber(), kNoGrad))
        wanted.push_back(argument);
    if (wanted.empty())
      return joint.func.emitError() << "no argument of the function can have a gradient";
    FailureOr<ActiveValues> active = prepare(joint.func, wanted);
    if (failed(active))
      return failure();
    for (Operation &op : body().without_terminator())
      joint.forward.insert(&op);
    builder.setInsertionPoint(body().getTerminator());
    Cotangents cotangents(builder, *active, sums);
    seed(cotangents);
    if (failed(reverse(body(), builder, cotangents)))
      return failure();
    returnGradients(cotangents);
    eraseDeadOps(body());
    return joint;
  }

  func::FuncOp function() { return joint.func; }

private:
  Block &body() { return joint.func.getBody().front(); }

  /// Gives every argument and result its default name, unless the user gave one.
  void nameAll() {
    for (unsigned i = 0; i < joint.numArguments; ++i)
      if (!joint.func.getArgAttr(i, kName))
        joint.func.setArgAttr(i, kName, builder.getStringAttr("arg" + Twine(i)));
    for (unsigned i = 0; i < joint.numResults; ++i)
      if (!joint.func.getResultAttr(i, kName))
        joint.func.setResultAttr(i, kName, builder.getStringAttr("result" + Twine(i)));
  }

  /// "d_x" for a value called "x".
  DictionaryAttr gradientOf(Attribute name) {
    auto text = builder.getStringAttr("d_" + cast<StringAttr>(name).getValue());
    return builder.getDictionaryAttr(builder.getNamedAttr(kName, text));
  }

  /// An argument for the cotangent of each float result.
  void seed(Cotangents &cotangents) {
    for (auto [i, result] : llvm::enumerate(body().getTerminator()->getOperands())) {
      if (!isFloat(result.getType()))
        continue;
      unsigned index = joint.func.getNumArguments();
      DictionaryAttr attrs = gradientOf(joint.func.getResultAttr(i, kName));
      (void)joint.func.insertArgument(index, result.getType(), attrs, result.getLoc());
      cotangents.addCotangent(result, joint.func.getArgument(index));
    }
  }

  /// A gradient has the type of its argument; one that nothing contributed to is zero.
  void returnGradients(Cotangents &cotangents) {
    Operation *terminator = body().getTerminator();
    LeafBuilder leaf(builder, terminator->getLoc());
    for (Value argument : wanted) {
      Value sum = cotangents.cotangentOf(argument);
      Value gradient = sum ? leaf.cast(sum, getElementTypeOrSelf(argument)) : leaf.splat(0.0, argument);
      terminator->insertOperands(terminator->getNumOperands(), gradient);
      DictionaryAttr attrs = gradientOf(joint.func.getArgAttr(cast<BlockArgument>(argument).getArgNumber(), kName));
      (void)joint.func.insertResult(joint.func.getNumResults(), argument.getType(), attrs);
    }
  }

  OpBuilder builder;
  GradientSums sums;
  JointFunction joint;
  SmallVector<Value> wanted;
};

struct Autodiff : mhc::impl::AutodiffPassBase<Autodiff> {
  using AutodiffPassBase::AutodiffPassBase;

  void runOnOperation() override {
    func::FuncOp func = find();
    std::optional<RecomputeMode> mode = RecomputeMode::parse(recompute);
    if (!mode)
      getOperation().emitError() << "recompute is '" << recompute << "'; needed " << RecomputeMode::kForms;
    if (!func || !mode)
      return signalPassFailure();
    JointBuilder builder(func, name("_grad"), sums);
    FailureOr<JointFunction> joint = builder.build();
    if (failed(joint)) {
      builder.function().erase();
      return signalPassFailure();
    }
    if (mode->kind != RecomputeMode::none)
      recomputeStreams(*joint, *mode);
    splitJoint(*joint, name("_fwd"), name("_bwd"));
  }

private:
  std::string name(StringRef suffix) { return function + suffix.str(); }

  /// The function to differentiate; null, with an error, where there is none or its derivatives have no place.
  func::FuncOp find() {
    auto func = getOperation().lookupSymbol<func::FuncOp>(function);
    if (!func)
      getOperation().emitError() << "there is no function '" << function << "' to differentiate";
    else if (!func.getBody().hasOneBlock())
      func.emitError() << "cannot differentiate '" << function << "': needed a body of one block";
    else if (Operation *taken = findTaken())
      taken->emitError() << "the name is taken: it is that of a derivative of '" << function << "'";
    else
      return func;
    return nullptr;
  }

  Operation *findTaken() {
    for (StringRef suffix : {"_grad", "_fwd", "_bwd"})
      if (Operation *taken = getOperation().lookupSymbol(name(suffix)))
        return taken;
    return nullptr;
  }
};
} // namespace
