//===- CaseIr.cpp - Golden cases as unfused IR ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Conformance/CaseIr.h"
#include "Conformance/HyperConnections.h"
#include "Conformance/Random.h"
#include "mhc/Spelling/GatedDelta.h"

#include <algorithm>
#include <cassert>

namespace mhc::conformance {

//===----------------------------------------------------------------------===//
// Token axes
//===----------------------------------------------------------------------===//

/// Inputs with one value per token; everything else is a parameter.
static bool hasTokens(const std::string &name) {
  static const char *const exact[] = {"x", "u", "f", "stat", "logits", "keep", "h_pre", "h_post", "h_res"};
  static const char *const numbered[] = {"pre", "post", "comb", "layer_output"};
  if (std::find(std::begin(exact), std::end(exact), name) != std::end(exact))
    return true;
  size_t digits = name.find_first_of("0123456789");
  return digits != std::string::npos &&
         std::find(std::begin(numbered), std::end(numbered), name.substr(0, digits)) != std::end(numbered);
}

/// Axes of the first token input that are not token axes.
static size_t trailingAxes(const Case &golden, const std::string &name) {
  if (name == "logits")
    return golden.op == "perm_mix" ? 1 : 2;
  bool singleStream = name != "x" || golden.op == "expand" || golden.op == "stack";
  return singleStream || golden.attributes.flat() ? 1 : 2;
}

static size_t leadingAxes(const Case &golden) {
  for (const TensorInfo &input : golden.inputs)
    if (input.name == "x" || input.name == "u" || input.name == "logits")
      return input.shape.size() - trailingAxes(golden, input.name);
  return 0;
}

/// The shape of a tensor with tokens; as it is where they are two axes, in an order of their own.
static Dims withTokens(const Case &golden, const TensorInfo &tensor) {
  if (golden.op == "pre_gdn")
    return tensor.shape;
  Dims dims{kTokens};
  dims.insert(dims.end(), tensor.shape.begin() + leadingAxes(golden), tensor.shape.end());
  return dims;
}

Dims tokenShape(const Case &golden, const TensorInfo &tensor) {
  bool input = std::any_of(golden.inputs.begin(), golden.inputs.end(),
                           [&](const TensorInfo &other) { return &other == &tensor; });
  return input && !hasTokens(tensor.name) ? tensor.shape : withTokens(golden, tensor);
}

int64_t tokenCount(const Case &golden) {
  int64_t count = 1;
  for (const TensorInfo &input : golden.inputs)
    if (input.name == "x" || input.name == "u" || input.name == "logits")
      for (size_t axis = 0; axis < leadingAxes(golden); ++axis)
        count *= input.shape[axis];
  return count;
}

//===----------------------------------------------------------------------===//
// One case
//===----------------------------------------------------------------------===//

namespace {

/// Arguments, ops and results of one case.
class CaseWriter {
public:
  CaseWriter(const Case &golden, const Spelling &spelling, int64_t tokens)
      : golden(golden), how(spelling), attr(golden.attributes), w(tokens), chain(w, attr, how) {
    if (how.swapSeed)
      w.swapOperands = [random = Random(how.swapSeed)]() mutable { return random.flip(); };
    for (const TensorInfo &input : golden.inputs)
      arguments[input.name] = w.argument(input.name, {tokenShape(golden, input), elementOf(input)});
  }

  std::string write(const std::string &entry) {
    (this->*ops().at(golden.op))();
    for (const TensorInfo &output : golden.outputs)
      if (Value value = produced[output.name])
        w.result(output.name, w.convert(w.reshape(value, withTokens(golden, output)), elementOf(output)));
    return w.finish(entry);
  }

  using Writer = void (CaseWriter::*)();
  static const std::map<std::string, Writer> &ops();

private:
  Element elementOf(const TensorInfo &tensor) const {
    return tensor.source == Element::F64 ? Element::F32 : tensor.source;
  }

  /// The argument of that name; nothing when the case has none.
  Value in(const std::string &name) const {
    auto found = arguments.find(name);
    return found == arguments.end() ? Value() : found->second;
  }
  Value in(const char *name, int64_t index) const { return in(name + std::to_string(index)); }

  /// Records a result that the function returns under that name, if the manifest asks for it.
  void out(const std::string &name, Value value) { produced[name] = value; }

  Value gateInput(const std::string &name) { return w.reshape(in(name), {kTokens, attr.n}); }
  Value matrixInput(const std::string &name) { return w.reshape(in(name), {kTokens, attr.n, attr.n}); }

  void expand() { out("out", chain.expand(in("x"))); }
  void contract() { out("out", chain.contract(in("x"), attr.mode)); }
  void headContract() {
    out("out", chain.head(in("x"), in("phi"), in("norm_weight"), in("alpha"), in("beta"), attr.normEps, attr.preEps));
  }
  void headGate() { out("h", chain.headGate(in("u"), in("alpha"), in("beta"), attr.preEps)); }
  void projection();
  void gates();
  void sinkhorn() { out("out", chain.sinkhorn(in("logits"))); }
  void permMix() { out("out", chain.permutationMix(in("logits"))); }
  void aggregate() { out("out", chain.aggregate(in("x"), gateInput("h_pre"))); }
  void post() {
    Value gate = gateInput("h_post"), res = matrixInput("h_res");
    out("out", chain.post(in("x"), in("f"), in("bias"), gate, res, in("keep")));
  }
  void coeffs();
  void sublayer();
  void stack();
  void singlePassStack();
  void recomputeChain();
  void hyperConnections();
  void gatedDelta();

  void outCoefficients(Coefficients coefficients) {
    out("h_pre", coefficients.pre);
    out("h_post", coefficients.post);
    out("h_res", coefficients.res);
  }

  const Case &golden;
  const Spelling &how;
  const Attributes &attr;
  IrWriter w;
  Chain chain;
  std::map<std::string, Value> arguments, produced;
};

} // namespace

void CaseWriter::projection() {
  Value rows = w.convert(chain.flatRows(in("x")), Element::F32);
  if (attr.stat == "applied") {
    Projection projection = chain.project(rows, in("phi"), in("norm_weight"), attr.norm, attr.normEps);
    out("proj", chain.scaleRows(projection.parts.front(), projection.scale));
    return;
  }
  out("proj", chain.rawProjection(rows, in("phi"), in("norm_weight")));
  bool inverse = attr.stat == "inv_rms";
  out("stat", inverse ? chain.inverseRms(rows, attr.norm, attr.normEps) : chain.meanSquare(rows));
}

void CaseWriter::gates() {
  Projection projection{{in("u")}, {}};
  if (attr.stat == "mean_square")
    projection.scale = chain.scaleOf(in("stat"));
  else if (attr.stat == "inv_rms")
    projection.scale = {in("stat")};
  outCoefficients(chain.gates(projection, in("alpha"), in("beta")));
}

void CaseWriter::coeffs() {
  outCoefficients(chain.coefficients(in("x"), in("phi"), in("norm_weight"), in("alpha"), in("beta")));
}

void CaseWriter::sublayer() {
  Value x = in("x");
  Coefficients c = chain.coefficients(x, in("phi"), in("norm_weight"), in("alpha"), in("beta"));
  w.comment("Input of the sublayer");
  Value u = chain.aggregate(x, c.pre);
  w.comment("The sublayer");
  Value f = chain.sublayer(u, in("w_sub"));
  w.comment("Streams after the sublayer");
  out("out", chain.post(x, f, in("bias"), c.post, c.res, Value()));
  out("agg", u);
}

void CaseWriter::stack() {
  Value x = in("x");
  w.comment("One stream becomes n");
  Value streams = chain.expand(x);
  for (int64_t site = 0; site < attr.sites; ++site) {
    Coefficients c = chain.coefficients(streams, in("phi", site), Value(), in("alpha", site), in("beta", site));
    w.comment("Site " + std::to_string(site) + ": input, sublayer, streams after it");
    Value u = chain.aggregate(streams, c.pre);
    Value f = chain.sublayer(u, in("w_sub", site));
    streams = chain.post(streams, f, in("bias", site), c.post, c.res, Value());
  }
  if (attr.contract == "mean")
    w.comment("The mean of the streams leaves the model");
  if (attr.contract == "mean")
    out("out", chain.contract(streams, "mean"));
  else if (attr.contract == "head")
    out("out", chain.head(streams, in("head_phi"), Value(), in("head_alpha"), in("head_beta"), attr.headNormEps,
                          attr.headPreEps));
  out("streams", streams);
}

void CaseWriter::singlePassStack() {
  // Each site consumes the read weights of the one before; the first reads stream 0, the last feeds the exit.
  Value streams = in("x");
  Value first = w.splat(1.0, {{kTokens, 1}, Element::F32});
  Value pre = first;
  if (attr.n > 1)
    pre = w.concat({first, w.splat(0.0, {{kTokens, attr.n - 1}, Element::F32})}, 1);
  for (int64_t site = 0; site < attr.sites; ++site) {
    Coefficients c = chain.coefficients(streams, in("phi", site), Value(), in("alpha", site), in("beta", site));
    w.comment("Site " + std::to_string(site) + ": read with the weights of the site before");
    Value u = chain.aggregate(streams, pre);
    Value f = chain.sublayer(u, in("w_sub", site));
    streams = chain.post(streams, f, Value(), c.post, c.res, Value());
    pre = c.pre;
  }
  w.comment("The last read weights contract the streams");
  out("streams", streams);
  out("collapsed", chain.aggregate(streams, pre));
}

void CaseWriter::recomputeChain() {
  Value streams = in("x");
  for (int64_t layer = 0; layer < attr.numPre; ++layer) {
    std::string index = std::to_string(layer);
    w.comment("Layer " + index);
    out("layer_input" + index, chain.aggregate(streams, gateInput("pre" + index)));
    if (layer >= attr.numPost)
      break;
    Value gate = gateInput("post" + index), res = matrixInput("comb" + index);
    streams = chain.post(streams, in("layer_output" + index), Value(), gate, res, Value());
    out("residual" + index, streams);
  }
}

void CaseWriter::hyperConnections() {
  out("out", hyperConnection(w, chain, attr, how,
                             {in("x"), in("norm_gamma"), in("static_alpha"), in("dyn_alpha"), in("scale_pre"),
                              in("scale_res"), in("static_beta"), in("dyn_beta"), in("scale_beta"), in("w_sub")}));
}

void CaseWriter::gatedDelta() {
  const GatedDelta &sizes = golden.gatedDelta;
  Value weight = w.reshape(in("conv_weight"), {sizes.convolved(), sizes.width});
  GatedDeltaOutputs all = writeGatedDelta(
      w, sizes,
      {in("qkvzba"), weight, in("conv_bias"), in("A_log"), in("dt_bias"), in("cu_seqlens"), in("left_boundary")}, how);
  out("query", all.query);
  out("key", all.key);
  out("value", all.value);
  out("gate", all.gate);
  out("beta", all.beta);
  out("g", all.g);
}

const std::map<std::string, CaseWriter::Writer> &CaseWriter::ops() {
  static const std::map<std::string, Writer> table = {
      {"expand", &CaseWriter::expand},
      {"contract", &CaseWriter::contract},
      {"head_contract", &CaseWriter::headContract},
      {"head_gate", &CaseWriter::headGate},
      {"projection", &CaseWriter::projection},
      {"gates", &CaseWriter::gates},
      {"sinkhorn", &CaseWriter::sinkhorn},
      {"perm_mix", &CaseWriter::permMix},
      {"aggregate", &CaseWriter::aggregate},
      {"post", &CaseWriter::post},
      {"coeffs", &CaseWriter::coeffs},
      {"sublayer", &CaseWriter::sublayer},
      {"stack", &CaseWriter::stack},
      {"single_pass_stack", &CaseWriter::singlePassStack},
      {"recompute_chain", &CaseWriter::recomputeChain},
      {"hc_sublayer", &CaseWriter::hyperConnections},
      {"pre_gdn", &CaseWriter::gatedDelta},
  };
  return table;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

std::string whyNotCovered(const std::string &op) {
  return CaseWriter::ops().count(op) ? "" : "op '" + op + "' is unknown";
}

std::string caseToIr(const Case &golden, const Spelling &spelling, const std::string &entry, int64_t tokens) {
  return CaseWriter(golden, spelling, tokens).write(entry);
}

} // namespace mhc::conformance
