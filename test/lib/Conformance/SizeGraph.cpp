//===- SizeGraph.cpp - Random programs of open sizes ----------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SizeGraph.h"
#include "mhc/IR/LeafBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mhc::conformance {

using namespace mlir;

namespace {

/// A size of the program: its number in the call that is right, and what it is made of, so that sizes of one text are
/// equal in all calls that are right.
struct Size {
  std::string text;
  int64_t number;
  bool isOpen;
};
using Shape = SmallVector<Size>;

struct Shaped {
  Value value;
  Shape shape;
};

class SizeGraphMaker {
public:
  SizeGraphMaker(Compiler &compiler, Random &random)
      : random(random), builder(&compiler.context()), leaf(builder, builder.getUnknownLoc()) {}

  SizeGraph make();

private:
  static constexpr int64_t kMostArguments = 7, kMostElements = 2000;
  static constexpr size_t kMostRank = 4;

  Location loc() { return builder.getUnknownLoc(); }
  void drawSizes();
  Size anySize() { return sizes[random.between(0, sizes.size() - 1)]; }
  RankedTensorType typeOf(ArrayRef<Size> shape);
  Shaped argument(const Shape &shape);
  Shaped any() { return pool[random.between(0, pool.size() - 1)]; }
  Shaped like(const Shaped &x);
  Value binary(Value x, Value y);

  void addOne();
  Shaped elementwise();
  Shaped broadcast();
  Shaped reduce();
  Shaped transpose();
  Shaped concat();
  Shaped join();
  Shaped joinAndSplit();
  Shaped matmul();
  Shaped slice();
  Shaped loop();
  Shaped call();

  Random &random;
  OpBuilder builder;
  LeafBuilder leaf;
  SmallVector<Size> sizes;
  func::FuncOp func;
  SmallVector<Shaped> pool;
  Tensors arguments;
  unsigned callees = 0;
};

} // namespace

/// One to four open sizes and a known one, all different.
void SizeGraphMaker::drawSizes() {
  SmallVector<int64_t> numbers = {2, 3, 4, 5, 6, 7};
  int64_t open = random.between(1, 4);
  for (int64_t i = 0; i <= open; ++i) {
    auto *number = numbers.begin() + random.between(0, numbers.size() - 1);
    bool isOpen = i < open;
    sizes.push_back({isOpen ? std::string(1, static_cast<char>('a' + i)) : std::to_string(*number), *number, isOpen});
    numbers.erase(number);
  }
}

RankedTensorType SizeGraphMaker::typeOf(ArrayRef<Size> shape) {
  auto dims = llvm::map_to_vector(shape, [](const Size &s) { return s.isOpen ? ShapedType::kDynamic : s.number; });
  return RankedTensorType::get(dims, builder.getF32Type());
}

Shaped SizeGraphMaker::argument(const Shape &shape) {
  std::vector<int64_t> dims;
  for (const Size &size : shape)
    dims.push_back(size.number);
  std::string error;
  arguments.emplace_back();
  arguments.back().allocate(MHCRT_F32, dims, error);
  for (int64_t i = 0; i < arguments.back().elements(); ++i)
    static_cast<float *>(arguments.back().data())[i] = static_cast<float>(random.normal());
  pool.push_back({func.getBody().addArgument(typeOf(shape), loc()), shape});
  return pool.back();
}

static bool isSame(const Shape &a, const Shape &b) {
  return llvm::equal(a, b, [](const Size &x, const Size &y) { return x.text == y.text; });
}

/// Another tensor of this shape: often a new argument, whose sizes nothing else knows yet.
Shaped SizeGraphMaker::like(const Shaped &x) {
  if (static_cast<int64_t>(arguments.size()) < kMostArguments && random.flip())
    return argument(x.shape);
  SmallVector<Shaped> fitting;
  llvm::copy_if(pool, std::back_inserter(fitting), [&](const Shaped &y) { return isSame(x.shape, y.shape); });
  return fitting[random.between(0, fitting.size() - 1)];
}

Value SizeGraphMaker::binary(Value x, Value y) {
  switch (random.between(0, 3)) {
  case 0:
    return leaf.add(x, y);
  case 1:
    return leaf.sub(x, y);
  case 2:
    return leaf.max(x, y);
  default:
    return leaf.mul(x, y);
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Shaped SizeGraphMaker::elementwise() {
  Shaped x = any();
  if (random.flip(0.25))
    return {random.flip() ? leaf.sigmoid(x.value) : math::TanhOp::create(builder, loc(), x.value), x.shape};
  return {binary(x.value, like(x).value), x.shape};
}

Shaped SizeGraphMaker::broadcast() {
  Shaped x = any(), other = any();
  if (other.shape.empty() || x.shape.size() == kMostRank)
    return x;
  LeafBuilder::Sizes all = leaf.sizesOf(x.value);
  int64_t place = random.between(0, all.size()), from = random.between(0, other.shape.size() - 1);
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, all.size()));
  for (int64_t &dim : dims)
    dim += dim >= place;
  all.insert(all.begin() + place, leaf.size(other.value, from));
  Shape shape = x.shape;
  shape.insert(shape.begin() + place, other.shape[from]);
  return {leaf.broadcast(x.value, all, dims), shape};
}

Shaped SizeGraphMaker::reduce() {
  Shaped x = any();
  if (x.shape.empty())
    return x;
  int64_t dim = random.between(0, x.shape.size() - 1);
  Shape shape = x.shape;
  shape.erase(shape.begin() + dim);
  return {leaf.reduce(random.pick({ReduceKind::sum, ReduceKind::max, ReduceKind::mean}), x.value, dim), shape};
}

Shaped SizeGraphMaker::transpose() {
  Shaped x = any();
  if (x.shape.size() < 2)
    return x;
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, x.shape.size()));
  int64_t dim = random.between(1, perm.size() - 1);
  std::swap(perm[0], perm[dim]);
  Shape shape = x.shape;
  std::swap(shape[0], shape[dim]);
  return {leaf.transpose(x.value, perm), shape};
}

/// Behind a tensor that has another size in one dimension.
Shaped SizeGraphMaker::concat() {
  Shaped x = any();
  if (x.shape.empty())
    return x;
  int64_t dim = random.between(0, x.shape.size() - 1);
  Shape shape = x.shape;
  shape[dim] = anySize();
  Shaped part{Value(), shape}, y;
  for (const Shaped &other : pool)
    if (isSame(other.shape, shape))
      part = other;
  y = part.value && random.flip() ? part : argument(shape);
  const Size &a = x.shape[dim], &b = shape[dim];
  bool isOpen = a.isOpen || b.isOpen;
  Size sum{isOpen ? "(" + a.text + "+" + b.text + ")" : std::to_string(a.number + b.number), a.number + b.number,
           isOpen};
  shape[dim] = sum;
  return {leaf.concat({x.value, y.value}, dim), shape};
}

Shaped SizeGraphMaker::join() {
  Shaped x = any();
  if (x.shape.size() < 2)
    return x;
  int64_t dim = random.between(0, x.shape.size() - 2);
  Shape shape = x.shape;
  const Size a = shape[dim], b = shape[dim + 1];
  bool isOpen = a.isOpen || b.isOpen;
  int64_t number = a.number * b.number;
  shape[dim] = {isOpen ? "(" + a.text + "*" + b.text + ")" : std::to_string(number), number, isOpen};
  shape.erase(shape.begin() + dim + 1);
  return {leaf.join(x.value, dim, 2), shape};
}

Shaped SizeGraphMaker::joinAndSplit() {
  Shaped x = any();
  if (x.shape.size() < 2)
    return x;
  int64_t dim = random.between(0, x.shape.size() - 2);
  LeafBuilder::Sizes all = leaf.sizesOf(x.value);
  Value joined = leaf.join(x.value, dim, 2);
  auto groups = joined.getDefiningOp<tensor::CollapseShapeOp>().getReassociationIndices();
  Value y = math::TanhOp::create(builder, loc(), joined);
  return {tensor::ExpandShapeOp::create(builder, loc(), cast<RankedTensorType>(x.value.getType()), y, groups, all),
          x.shape};
}

Shaped SizeGraphMaker::matmul() {
  Shaped x = any();
  if (x.shape.size() != 2)
    return x;
  Size columns = anySize();
  Shaped y = argument({x.shape[1], columns});
  return {leaf.matmul(x.value, y.value), {x.shape[0], columns}};
}

/// The first part along a dimension whose size is known.
Shaped SizeGraphMaker::slice() {
  Shaped x = any();
  for (auto [dim, size] : llvm::enumerate(x.shape)) {
    if (size.isOpen || size.number < 2)
      continue;
    Shape shape = x.shape;
    shape[dim] = {std::to_string(size.number - 1), size.number - 1, false};
    return {leaf.slice(x.value, dim, random.between(0, 1), size.number - 1), shape};
  }
  return x;
}

Shaped SizeGraphMaker::loop() {
  Shaped x = any(), y = like(x);
  auto index = [&](int64_t number) { return arith::ConstantIndexOp::create(builder, loc(), number); };
  Value start = index(0), end = index(2), step = index(1);
  auto loop = scf::ForOp::create(builder, loc(), start, end, step, ValueRange{x.value});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value next = math::TanhOp::create(builder, loc(), binary(loop.getRegionIterArg(0), y.value));
  scf::YieldOp::create(builder, loc(), next);
  return {loop.getResult(0), x.shape};
}

Shaped SizeGraphMaker::call() {
  Shaped x = any(), y = like(x);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(func);
  Type type = x.value.getType();
  auto callee = func::FuncOp::create(builder, loc(), "callee" + std::to_string(callees++),
                                     builder.getFunctionType({type, y.value.getType()}, {type}));
  callee.setPrivate();
  builder.setInsertionPointToStart(callee.addEntryBlock());
  func::ReturnOp::create(builder, loc(), binary(callee.getArgument(0), callee.getArgument(1)));
  builder.setInsertionPointToEnd(&func.getBody().front());
  return {func::CallOp::create(builder, loc(), callee, ValueRange{x.value, y.value}).getResult(0), x.shape};
}

//===----------------------------------------------------------------------===//
// Function
//===----------------------------------------------------------------------===//

void SizeGraphMaker::addOne() {
  using M = SizeGraphMaker;
  static constexpr Shaped (M::*kMakers[])() = {&M::elementwise, &M::elementwise, &M::elementwise,  &M::elementwise,
                                               &M::broadcast,   &M::reduce,      &M::transpose,    &M::concat,
                                               &M::concat,      &M::join,        &M::joinAndSplit, &M::matmul,
                                               &M::slice,       &M::loop,        &M::call};
  Shaped made = (this->*kMakers[random.between(0, std::size(kMakers) - 1)])();
  int64_t elements = 1;
  for (const Size &size : made.shape)
    elements *= size.number;
  if (elements <= kMostElements && !llvm::any_of(pool, [&](const Shaped &x) { return x.value == made.value; }))
    pool.push_back(made);
}

SizeGraph SizeGraphMaker::make() {
  SizeGraph graph{Compiler::Module(ModuleOp::create(loc())), {}};
  builder.setInsertionPointToEnd(graph.module->getBody());
  func = func::FuncOp::create(builder, loc(), kGraph, builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(&func.getBody().emplaceBlock());
  drawSizes();
  for (int64_t count = random.between(1, 2); count > 0; --count) {
    Shape shape;
    for (int64_t rank = random.between(1, 3); rank > 0; --rank)
      shape.push_back(anySize());
    argument(shape);
  }
  for (int64_t count = random.between(2, 9); count > 0; --count)
    addOne();
  SmallVector<Value> results;
  for (const Shaped &made : pool)
    if (made.value.use_empty() && made.value.getDefiningOp())
      results.push_back(made.value);
  if (results.empty())
    results.push_back(leaf.sigmoid(pool.front().value));
  func::ReturnOp::create(builder, loc(), results);
  func.setType(builder.getFunctionType(func.getBody().getArgumentTypes(), ValueRange(results).getTypes()));
  graph.arguments = std::move(arguments);
  return graph;
}

SizeGraph randomSizeGraph(Compiler &compiler, Random &random) {
  compiler.context()
      .loadDialect<MhcDialect, func::FuncDialect, scf::SCFDialect, arith::ArithDialect, math::MathDialect,
                   tensor::TensorDialect>();
  return SizeGraphMaker(compiler, random).make();
}

} // namespace mhc::conformance
