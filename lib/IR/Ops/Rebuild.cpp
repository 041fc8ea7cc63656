//===- Rebuild.cpp - rebuild ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Random.h"

using namespace mlir;
using namespace mhc;

/// The stream number of a layer's dropout.
static int64_t streamOf(RebuildOp op, int64_t layer) {
  return op.getStreamAttr().getInt() + layer * static_cast<int64_t>(*op.getStreamStep());
}

static LogicalResult verifyStreams(RebuildOp op) {
  bool hasSeed = !op.getSeed().empty();
  if (failed(verifyOptionalDropout(op, hasSeed, op.getRateAttr(), op.getStreamAttr())) ||
      failed(verifyGoesWithSeed(op, hasSeed, "stream_step", op.getStreamStepAttr())))
    return failure();
  int64_t last = hasSeed ? streamOf(op, op.getOut().size() - 1) : 0;
  if (last < 0 || last > UINT32_MAX)
    return op.emitOpError() << "'stream' of the last layer is " << last << "; needed 0 to " << UINT32_MAX;
  return success();
}

LogicalResult RebuildOp::verify() {
  if (failed(verifyKernelDims(*this)))
    return failure();
  size_t layers = getOut().size(), inputs = getU().size();
  if (layers == 0)
    return emitOpError() << "has no 'out'; needed one per layer";
  auto hasLayers = [&](StringRef name, size_t count) -> LogicalResult {
    if (count == layers)
      return success();
    return emitOpError() << "has " << count << " of '" << name << "' and " << layers
                         << " of 'out'; needed equally many";
  };
  if (failed(hasLayers("f", getF().size())) || failed(hasLayers("h_post", getHPost().size())) ||
      failed(hasLayers("h_res", getHRes().size())) ||
      (!getBias().empty() && failed(hasLayers("bias", getBias().size()))) ||
      (!getSeed().empty() && failed(hasLayers("seed", getSeed().size()))))
    return failure();
  if (getHPre().size() != inputs)
    return emitOpError() << "has " << getHPre().size() << " of 'h_pre' and " << inputs
                         << " of 'u'; needed equally many";
  if (inputs != 0 && inputs != layers && inputs != layers + 1)
    return emitOpError() << "has " << inputs << " of 'u' and " << layers << " of 'out'; needed 0, " << layers << " or "
                         << layers + 1;
  return verifyStreams(*this);
}

LogicalResult RebuildOp::canonicalize(RebuildOp op, PatternRewriter &rewriter) { return removeDropout(op, rewriter); }

SmallVector<Value> RebuildOp::decompose(OpBuilder &builder) {
  SmallVector<Value> inputs, streams;
  Value x = getX();
  auto addInput = [&](size_t layer) {
    if (layer < getU().size())
      inputs.push_back(
          AggregateOp::create(builder, getLoc(), getU()[layer].getType(), x, getHPre()[layer], getLayout()));
  };
  for (size_t layer = 0; layer < getOut().size(); ++layer) {
    addInput(layer);
    PostOp::Fields post(*this);
    post.out = x.getType();
    post.x = x;
    post.f = getF()[layer];
    post.h_post = getHPost()[layer];
    post.h_res = getHRes()[layer];
    post.bias = getBias().empty() ? Value() : getBias()[layer];
    if (!getSeed().empty()) {
      post.seed = getSeed()[layer];
      post.stream = streamOf(*this, layer);
    }
    x = post.create(builder, getLoc());
    streams.push_back(x);
  }
  addInput(streams.size());
  inputs.append(streams);
  return inputs;
}
