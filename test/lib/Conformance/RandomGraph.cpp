//===- RandomGraph.cpp - Random graphs of the tensor language -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Conformance/RandomGraph.h"
#include "RandomGraphBuilder.h"

namespace mhc::conformance {

using namespace mlir;

static constexpr int64_t kMostTokens = 4, kMostSize = 4;

/// A shape of rank 1 to 3; the first dimension may be the number of tokens.
static SmallVector<int64_t> randomShape(Random &random) {
  SmallVector<int64_t> shape;
  for (int64_t rank = random.between(1, 3); rank > 0; --rank)
    shape.push_back(random.between(1, kMostSize));
  if (random.flip())
    shape[0] = ShapedType::kDynamic;
  return shape;
}

void defineExternals(ModuleOp module, ModuleOp externals) {
  for (auto body : externals.getOps<func::FuncOp>())
    if (Operation *declared = module.lookupSymbol(body.getName())) {
      declared->erase();
      module.push_back(body.clone());
    }
}

static mhcrt::HostTensor randomTensor(Random &random, std::vector<int64_t> shape) {
  mhcrt::HostTensor tensor;
  std::string error;
  tensor.allocate(MHCRT_F64, shape, error);
  for (int64_t i = 0; i < tensor.elements(); ++i)
    static_cast<double *>(tensor.data())[i] = random.normal();
  return tensor;
}

RandomGraph randomGraph(Compiler &compiler, Random &random) {
  OpBuilder builder(&compiler.context());
  Location loc = builder.getUnknownLoc();
  compiler.context()
      .loadDialect<MhcDialect, func::FuncDialect, scf::SCFDialect, arith::ArithDialect, math::MathDialect,
                   tensor::TensorDialect>();
  RandomGraph graph{Compiler::Module(ModuleOp::create(loc)), Compiler::Module(ModuleOp::create(loc)), {}};
  builder.setInsertionPointToEnd(graph.module->getBody());
  int64_t tokens = random.between(1, kMostTokens);
  SmallVector<Type> types;
  for (int64_t count = random.between(1, 4); count > 0; --count) {
    SmallVector<int64_t> shape = randomShape(random);
    types.push_back(RankedTensorType::get(shape, builder.getF32Type()));
    std::vector<int64_t> sizes(shape.begin(), shape.end());
    std::replace(sizes.begin(), sizes.end(), ShapedType::kDynamic, tokens);
    graph.arguments.push_back(randomTensor(random, sizes));
  }
  auto func = func::FuncOp::create(builder, loc, kGraph, builder.getFunctionType(types, {}));
  builder.setInsertionPointToStart(func.addEntryBlock());
  for (unsigned i = 1; i < func.getNumArguments(); ++i)
    if (random.flip(0.15))
      func.setArgAttr(i, "mhc.no_grad", builder.getUnitAttr());
  RandomGraphBuilder ops(builder, random, func.getArguments(), *graph.externals);
  ops.add(random.between(2, 14));
  SmallVector<Value> results = ops.pickResults();
  func::ReturnOp::create(builder, loc, results);
  func.setType(builder.getFunctionType(types, ValueRange(results).getTypes()));
  return graph;
}

} // namespace mhc::conformance
