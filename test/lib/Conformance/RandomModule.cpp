//===- RandomModule.cpp - Random graphs with mHC chains -------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Conformance/CaseIr.h"
#include "Conformance/RandomCase.h"
#include "Conformance/RandomGraph.h"
#include "RandomGraphBuilder.h"

namespace mhc::conformance {

using namespace mlir;
using mlir::Type, mlir::Value; // not those of the spelling

static constexpr int64_t kMostTokens = 9, kMostSize = 6;
static constexpr llvm::StringLiteral kChain = "chain";

namespace {

/// A chain as a module of its own. Layers of one model share the case; their spellings differ.
struct ChainSource {
  Compiler::Module module;
  std::shared_ptr<const RandomCase> drawn;
  unsigned firstArgument; ///< in the function that the chain becomes a part of

  func::FuncOp func() { return *module->getOps<func::FuncOp>().begin(); }
};

class ModuleMaker {
public:
  ModuleMaker(Compiler &compiler, Random &random)
      : compiler(compiler), random(random), builder(&compiler.context()), tokens(random.between(1, kMostTokens)),
        known(random.flip(0.3)) {}

  RandomGraph make();

private:
  void addArgument(RankedTensorType type, const mhcrt::HostTensor *numbers);
  void drawChain();
  void differentiate(ModuleOp chain);
  void addArgumentsOf(ChainSource &chain);
  void addChain(RandomGraphBuilder &ops, ChainSource &chain);

  Compiler &compiler;
  Random &random;
  OpBuilder builder;
  int64_t tokens;
  bool known; ///< the number of tokens, when the module is compiled
  std::vector<ChainSource> chains;
  func::FuncOp func;
  Tensors arguments;
  SmallVector<Value> results; ///< of the chains
};

} // namespace

static int32_t dtypeOf(Type element) { return element.isBF16() ? MHCRT_BF16 : element.isF16() ? MHCRT_F16 : MHCRT_F32; }

/// One more argument of the function, with these numbers or with random ones.
void ModuleMaker::addArgument(RankedTensorType type, const mhcrt::HostTensor *numbers) {
  func.getBody().addArgument(type, func.getLoc());
  mhcrt::HostTensor drawn, tensor;
  std::string error;
  if (!numbers) {
    std::vector<int64_t> sizes(type.getShape().begin(), type.getShape().end());
    std::replace(sizes.begin(), sizes.end(), ShapedType::kDynamic, tokens);
    drawn.allocate(MHCRT_F64, sizes, error);
    for (int64_t i = 0; i < drawn.elements(); ++i)
      static_cast<double *>(drawn.data())[i] = random.normal();
    numbers = &drawn;
  }
  copyInput(*numbers, dtypeOf(type.getElementType()), tensor, error);
  arguments.push_back(std::move(tensor));
}

static void replaceElements(std::vector<TensorInfo> &tensors, Element from, Element to) {
  for (TensorInfo &tensor : tensors)
    tensor.source = tensor.source == from ? to : tensor.source;
}

void ModuleMaker::drawChain() {
  RandomCase drawn = anyCase(random.next());
  if (random.flip(0.3)) {
    replaceElements(drawn.golden.inputs, Element::BF16, Element::F16);
    replaceElements(drawn.golden.outputs, Element::BF16, Element::F16);
  }
  Spelling spelling = drawn.spelling;
  bool isLayer = !chains.empty() && random.flip(0.7);
  auto shared = isLayer ? chains.front().drawn : std::make_shared<const RandomCase>(std::move(drawn));
  auto module = compiler.parseText(caseToIr(shared->golden, spelling, kChain.str(), known ? tokens : kTokens));
  chains.push_back({cantFail(std::move(module)), shared, 0});
  if (spelling.gatedDelta.asOp && random.flip())
    differentiate(*chains.back().module);
  bool hasSameArguments = chains.back().func().getArgumentTypes() == chains.front().func().getArgumentTypes();
  if (isLayer && hasSameArguments && random.flip(0.3))
    chains.back().firstArgument = chains.front().firstArgument;
  else
    addArgumentsOf(chains.back());
}

/// The chain becomes its gradients, of the fused ops: functions of its arguments and the cotangents of its results.
void ModuleMaker::differentiate(ModuleOp chain) {
  CompileOptions options;
  options.grad = kChain;
  cantFail(compiler.run(chain, options, Phase::fuse));
  for (func::FuncOp other : llvm::make_early_inc_range(chain.getOps<func::FuncOp>()))
    if (other.getName() != (kChain + "_grad").str())
      other.erase();
}

/// The first holds the streams, of as many tokens as the module has. Cotangents are random as well.
void ModuleMaker::addArgumentsOf(ChainSource &chain) {
  chain.firstArgument = func.getBody().getNumArguments();
  const Tensors &drawn = chain.drawn->inputs;
  for (auto [i, type] : llvm::enumerate(chain.func().getArgumentTypes()))
    addArgument(cast<RankedTensorType>(type), i == 0 || i >= drawn.size() ? nullptr : &drawn[i]);
}

/// On its own streams, or on those that another chain made.
void ModuleMaker::addChain(RandomGraphBuilder &ops, ChainSource &chain) {
  func::FuncOp source = chain.func();
  SmallVector<Value> operands(func.getBody().getArguments().slice(chain.firstArgument, source.getNumArguments()));
  for (Value result : results)
    if (result.getType() == operands.front().getType() && random.flip(0.8))
      operands.front() = result;
  llvm::append_range(results, ops.addChain(source, operands));
}

RandomGraph ModuleMaker::make() {
  Location loc = builder.getUnknownLoc();
  RandomGraph graph{Compiler::Module(ModuleOp::create(loc)), Compiler::Module(ModuleOp::create(loc)), {}};
  builder.setInsertionPointToEnd(graph.module->getBody());
  func = func::FuncOp::create(builder, loc, kGraph, builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(&func.getBody().emplaceBlock());
  for (int64_t count = random.between(1, 3); count > 0; --count) {
    SmallVector<int64_t> shape = {known ? tokens : ShapedType::kDynamic, random.between(1, kMostSize)};
    shape.resize(random.between(1, 2));
    addArgument(RankedTensorType::get(shape, builder.getF32Type()), nullptr);
  }
  for (int64_t count = random.between(1, 3); count > 0; --count)
    drawChain();

  RandomGraphBuilder ops(builder, random, func.getArguments().take_front(), *graph.externals);
  for (Value argument : func.getArguments().drop_front())
    ops.offer(argument);
  for (ChainSource &chain : chains) {
    ops.add(random.between(0, 4));
    addChain(ops, chain);
  }
  ops.add(random.between(1, 6));
  llvm::append_range(results, ops.pickResults());
  func::ReturnOp::create(builder, loc, results);
  func.setType(builder.getFunctionType(func.getBody().getArgumentTypes(), ValueRange(results).getTypes()));
  defineExternals(*graph.module, *graph.externals);
  graph.arguments = std::move(arguments);
  return graph;
}

RandomGraph randomModule(Compiler &compiler, Random &random) {
  compiler.context()
      .loadDialect<MhcDialect, func::FuncDialect, scf::SCFDialect, arith::ArithDialect, math::MathDialect,
                   tensor::TensorDialect>();
  return ModuleMaker(compiler, random).make();
}

} // namespace mhc::conformance
