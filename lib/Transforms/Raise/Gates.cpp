//===- Gates.cpp - Gates and residual logits with their projection ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The groups of rows that sigmoids and residual maps read, by the streams that they project: one gate alone is the gate
// of a head; two gates with logits are those of a sublayer.
//
//===------------------------------------------------------------------------===//

#include "Clamps.h"
#include "GateOrder.h"
#include "GatesBuilder.h"
#include "Places.h"
#include "Readings.h"
#include "Weighing.h"
#include "mhc/IR/Counted.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mhc;
using algebra::Size;

namespace {
struct Group {
  LinearGroup rows;
  SigmoidOp gate; ///< null for logits
  bool isTaken = false;
};

/// Groups in the order of the function, by the streams that they project: a model has some of each for every layer.
class Groups {
public:
  void add(Group group) {
    byStreams[group.rows.x.node()].push_back(all.size());
    all.push_back(std::move(group));
  }
  /// Those that may be of one site with all of `taken`.
  SmallVector<Group *> beside(ArrayRef<const Group *> taken, Gammas gammas = Gammas::same);
  std::vector<Group> all;

private:
  llvm::DenseMap<const algebra::Node *, SmallVector<size_t, 3>> byStreams;
};

class GatesRaiser {
public:
  GatesRaiser(func::FuncOp func, algebra::Reading &reading, Sites &sites)
      : func(func), reading(reading), sites(sites) {}
  void run();

private:
  void collect();
  void collectOthers();
  /// `op` is no sigmoid: where its operand is a gate, that may be why there are none.
  void addFunction(Operation *op);
  void declineFunctions();
  bool mayBeGate(const LinearGroup &rows, Value made);
  /// A sigmoid or a residual map reads what a call outside the function makes of a group.
  void declineOutside(Operation *op);
  void declineOnce(const Miss &miss);
  /// The `extent` rows from `offset` on are no group.
  void declineRows(const LinearGroup &first, Reason reason, int64_t offset, int64_t extent);
  void declineSingle(SigmoidOp gate, Miss miss);
  void declineNorms();
  Group *findLogits(const Group &first, const Group &second, Gammas gammas = Gammas::same);
  Group *findLogits(const Group &first, const Group &second, Gammas gammas, int64_t ofGates);
  std::pair<Group *, Group *> findWithGammas(const Group &gate);
  Group *findOnlyLogits(const Group &gate);
  bool hasNoLogits(const Group &gate, const Group &other);
  void raiseWithoutLogits(Group &gate, Group &other);
  bool hasStreamsApart(Value value, const LinearGroup &rows);
  bool isAloneOfStreams(const LinearGroup &rows);
  void raiseFrom(Group &gate);

  func::FuncOp func;
  algebra::Reading &reading;
  Sites &sites;
  Groups gates;
  Groups logits;                                              ///< what residual maps read
  std::vector<std::pair<Operation *, LinearGroup>> functions; ///< other than sigmoids, and what they read
  SmallVector<Value> candidates; ///< that may be logits without a residual map, as they were read
  SmallVector<Group *> alone;    ///< gates without another
  std::optional<Groups> others;  ///< those of the form, once they were searched
};
} // namespace

SmallVector<Group *> Groups::beside(ArrayRef<const Group *> taken, Gammas gammas) {
  SmallVector<Group *> found;
  auto fits = [&](const LinearGroup &a, const LinearGroup &b) {
    return isSameProjection(a, b, gammas) && areApart(a, b) && (!a.isGiven || a.weight == b.weight);
  };
  for (size_t number : byStreams.lookup(taken.front()->rows.x.node()))
    if (llvm::all_of(taken, [&](const Group *other) { return fits(all[number].rows, other->rows); }))
      found.push_back(&all[number]);
  return found;
}

/// Whether a group comes `distance` rows behind the beginning of `first`: a weight that `first` is all of is followed
/// by another.
static bool follows(const LinearGroup &group, const LinearGroup &first, int64_t distance) {
  if (group.weight == first.weight)
    return group.offset == first.offset + distance;
  return first.hasAllRows() && group.offset == 0;
}

/// The only one, or the only one that comes `distance` rows behind the beginning of `first`.
static Group *choose(ArrayRef<Group *> all, const LinearGroup &first, int64_t distance) {
  if (all.size() == 1)
    return all[0];
  auto isNext = [&](const Group *group) { return follows(group->rows, first, distance); };
  SmallVector<Group *> next = llvm::filter_to_vector(all, isNext);
  return next.size() == 1 ? next[0] : nullptr;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void GatesRaiser::collect() {
  func.walk([&](Operation *op) {
    if (isa<math::TanhOp, SoftmaxOp>(op))
      return addFunction(op);
    if (isa<arith::AddFOp, arith::MulFOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp>(op))
      if (auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType()); type && type.getRank() >= 2)
        candidates.push_back(op->getResult(0));
    auto gate = dyn_cast<SigmoidOp>(op);
    if (!gate && !isa<SinkhornOp, PermutationMixOp>(op))
      return;
    // The logits as they are before they become matrices: other code may read them there.
    Value z = op->getOperand(0);
    while (auto matrices = gate ? tensor::ExpandShapeOp() : z.getDefiningOp<tensor::ExpandShapeOp>())
      z = matrices.getSrc();
    std::optional<Miss> miss;
    std::optional<LinearGroup> rows = matchLinearGroup(reading, z, op, &miss);
    if (rows)
      (gate ? gates : logits).add({*rows, gate});
    if (rows ? rows->isGiven : !miss)
      return declineOutside(op);
    if (rows)
      return;
    if (miss->reason != Reason::streamCount)
      declineOnce(*miss);
    else if (gate)
      declineSingle(gate, *miss);
  });
  declineFunctions();
}

void GatesRaiser::collectOthers() {
  others.emplace();
  auto feedsSigmoid = [](Value value) { return llvm::any_of(value.getUsers(), llvm::IsaPred<SigmoidOp>); };
  for (Value value : candidates)
    if (!feedsSigmoid(value))
      if (std::optional<LinearGroup> rows = matchLinearGroup(reading, value, value.getParentBlock()->getTerminator()))
        others->add({*rows, {}});
}

/// Rows apart from both gates: what a residual map reads or, where none does, any value. As many as the weight has left
/// or, where it has columns for others or the weights are apart, as one of the residual maps reads. The gates have
/// `ofGates` rows of the first one's weight.
Group *GatesRaiser::findLogits(const Group &first, const Group &second, Gammas gammas, int64_t ofGates) {
  const LinearGroup &rows = first.rows;
  const int64_t n = rows.extent, rest = rows.rows - rows.offset - ofGates;
  SmallVector<int64_t, 2> extents = logitsOf(n);
  auto beside = [&](Groups &groups, int64_t extent) {
    SmallVector<Group *> all = groups.beside({&first, &second}, gammas);
    llvm::erase_if(all, [&](const Group *group) { return group->rows.extent != extent; });
    return all;
  };
  const int64_t behind = std::min(rows.offset, second.rows.offset) - rows.offset + ofGates;
  for (int64_t extent : extents)
    if (Group *found = choose(beside(logits, extent), rows, behind))
      return found;
  if (!others)
    collectOthers();
  // The last of several is logits by then: with their scale and bias.
  auto findLast = [&](int64_t extent, int64_t distance) -> Group * {
    SmallVector<Group *> all = beside(*others, extent);
    auto last =
        llvm::find_if(llvm::reverse(all), [&](const Group *group) { return follows(group->rows, rows, distance); });
    return last == all.rend() ? nullptr : *last;
  };
  if (rest > 0 && !llvm::is_contained(extents, rest))
    extents.insert(extents.begin(), rest);
  for (int64_t extent : extents)
    if (Group *found = findLast(extent, behind))
      return found;
  // Or in front of them
  return rest == 0 && rows.offset > 0 ? findLast(rows.offset, -rows.offset) : nullptr;
}

Group *GatesRaiser::findLogits(const Group &first, const Group &second, Gammas gammas) {
  const int64_t n = first.rows.extent;
  Group *found = findLogits(first, second, gammas, 2 * n);
  if (found || first.rows.weight == second.rows.weight)
    return found;
  // A gate of another weight may have no rows in this one.
  found = findLogits(first, second, gammas, n);
  return found ? found : findLogits(second, first, gammas, n);
}

/// The other gate and the logits where each of the three has a norm, and these differ in their weights; null for none.
std::pair<Group *, Group *> GatesRaiser::findWithGammas(const Group &gate) {
  SmallVector<Group *> all = gates.beside({&gate}, Gammas::any);
  llvm::erase_if(all, [&](const Group *other) { return other->isTaken || other->rows.extent != gate.rows.extent; });
  Group *other = choose(all, gate.rows, gate.rows.extent);
  Group *map = other ? findLogits(gate, *other, Gammas::any) : nullptr;
  return map ? std::pair(other, map) : std::pair<Group *, Group *>();
}

/// The logits beside the only gate of the projection: the other one is made of parameters alone, or in another way. No
/// row is left over that may be another gate's.
Group *GatesRaiser::findOnlyLogits(const Group &gate) {
  SmallVector<Group *> all = logits.beside({&gate});
  llvm::erase_if(all, [&, &rows = gate.rows](const Group *group) {
    bool hasAllRows = group->rows.weight == rows.weight ? rows.extent + group->rows.extent == rows.rows
                                                        : rows.hasAllRows() && group->rows.hasAllRows();
    return !hasAllRows || !llvm::is_contained(logitsOf(rows.extent), group->rows.extent);
  });
  return all.size() == 1 && !gate.rows.isGiven ? all[0] : nullptr;
}

/// Whether two gates of streams are all rows of their projection that are read, as where the residual map is the
/// identity.
bool GatesRaiser::hasNoLogits(const Group &gate, const Group &other) {
  const LinearGroup &a = gate.rows, &b = other.rows;
  const bool areFirst = a.offset + b.offset == a.extent && areAllReadRows(a, a.extent + b.extent);
  bool haveAllRows =
      a.weight == b.weight ? a.rows == a.extent + b.extent || areFirst : a.hasAllRows() && b.hasAllRows();
  return haveAllRows && !a.isGiven &&
         (isFirstGate(reading, gate.gate, a.x.node()) || isFirstGate(reading, other.gate, a.x.node()));
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

void GatesRaiser::raiseWithoutLogits(Group &gate, Group &other) {
  LinearGroup logits;
  logits.extent = gate.rows.extent * gate.rows.extent;
  const bool isSecond =
      isFirstGate(reading, other.gate, gate.rows.x.node()) && !isFirstGate(reading, gate.gate, gate.rows.x.node());
  Group &first = isSecond ? other : gate, &second = isSecond ? gate : other;
  GatesBuilder(reading, sites, {first.rows, second.rows, logits}, {first.gate, second.gate}).run();
}

/// Whether a value has as many streams as a group has rows apart, or one of them is a part of it.
bool GatesRaiser::hasStreamsApart(Value value, const LinearGroup &rows) {
  const int64_t channels = rows.width() / rows.extent;
  auto isOne = [&](Value part) { return cast<RankedTensorType>(part.getType()).getShape().back() == channels; };
  const ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  if (shape.size() > 2 && shape.end()[-2] * shape.back() == rows.width() &&
      llvm::is_contained(shape.take_back(2), rows.extent))
    return true;
  auto stack = value.getDefiningOp<tensor::ConcatOp>();
  return (stack && static_cast<int64_t>(stack.getInputs().size()) == rows.extent && isOne(stack.getInputs()[0])) ||
         llvm::any_of(value.getUsers(),
                      [&](Operation *user) { return isa<tensor::ExtractSliceOp>(user) && isOne(user->getResult(0)); });
}

/// Whether a gate that is all of its projection is one of streams: other layers end in sigmoids of a few rows, too, as
/// those of heads of attention.
bool GatesRaiser::isAloneOfStreams(const LinearGroup &rows) {
  if (rows.flat.size() == 2)
    return rows.flat[0].second == Size(rows.extent) || (!rows.beta.empty() && rows.flat[1].second == Size(rows.extent));
  return !rows.beta.empty() && llvm::any_of(reading.find(rows.streams()), [&](const algebra::Reading::Found &shown) {
    return hasStreamsApart(shown.value, rows);
  });
}

void GatesRaiser::raiseFrom(Group &gate) {
  const LinearGroup &rows = gate.rows;
  SmallVector<Group *> same = gates.beside({&gate});
  llvm::erase_if(same, [&](const Group *other) { return other->rows.extent != rows.extent; });
  const bool isOnly = same.empty();
  llvm::erase_if(same, [](const Group *other) { return other->isTaken; });
  Group *other = choose(same, rows, rows.extent);
  Group *map = other ? findLogits(gate, *other) : nullptr;
  if (!map)
    if (auto [apart, logits] = findWithGammas(gate); logits) {
      other = apart;
      map = logits;
    }
  gate.isTaken = true;
  if (map) {
    other->isTaken = true;
    Group *first = &gate, *second = other;
    if (first->rows.weight == second->rows.weight && second->rows.offset < first->rows.offset)
      std::swap(first, second);
    // Rows of one weight are in the usual order where nothing tells otherwise.
    if (isSecondGate(reading, first->gate, second->gate) && !isSecondGate(reading, second->gate, first->gate))
      std::swap(first, second);
    GatesBuilder(reading, sites, {first->rows, second->rows, map->rows}, {first->gate, second->gate}).run();
    return;
  }
  if (other && hasNoLogits(gate, *other)) {
    other->isTaken = true;
    raiseWithoutLogits(gate, *other);
    return;
  }
  if (Group *only = isOnly ? findOnlyLogits(gate) : nullptr) {
    alone.push_back(&gate);
    LinearGroup other;
    other.extent = rows.extent;
    if (isFirstGate(reading, gate.gate, rows.x.node()))
      GatesBuilder(reading, sites, {rows, other, only->rows}, {gate.gate, {}}).run();
    else
      GatesBuilder(reading, sites, {other, rows, only->rows}, {{}, gate.gate}).run();
    return;
  }
  const bool isFirst = rows.offset == 0 && areAllReadRows(rows, rows.extent);
  if ((rows.hasAllRows() || isFirst) && isAloneOfStreams(rows)) {
    alone.push_back(&gate);
    GatesBuilder(reading, sites, {rows}, {gate.gate}).run();
  }
  if (isOnly && rows.offset == rows.extent && rows.rows > 2 * rows.extent) // the first one may be made, and not used
    declineRows(rows, Reason::secondGateMissing, 0, rows.extent);
  if (rows.hasAllRows() || isFirst || rows.offset != 0)
    return;
  if (!other)
    return declineRows(rows, Reason::secondGateMissing, rows.extent, rows.extent);
  if (rows.rows > 2 * rows.extent)
    declineRows(rows, Reason::logitsMissing, 2 * rows.extent, rows.rows - 2 * rows.extent);
}

void GatesRaiser::run() {
  collect();
  for (Group &gate : gates.all) {
    const LinearGroup &rows = gate.rows;
    if (rows.extent > kMaxStreams && rows.offset == 0 && rows.rows == rows.extent * (rows.extent + 2))
      sites.decline("gates", {Reason::streamCount, rows.root.getDefiningOp(), counted(rows.extent, "stream"),
                              "at most " + counted(kMaxStreams, "stream"), rows.site()});
    else if (!gate.isTaken && sites.mayTake() && rows.extent >= kMinStreams && rows.extent <= kMaxStreams)
      raiseFrom(gate);
  }
  declineNorms();
}

//===----------------------------------------------------------------------===//
// Misses
//===----------------------------------------------------------------------===//

void GatesRaiser::addFunction(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type || type.getRank() < 2 || ShapedType::isDynamic(type.getShape().back()) ||
      type.getShape().back() > kMaxStreams)
    return; // most layers are wider
  std::optional<LinearGroup> rows = matchLinearGroup(reading, op->getOperand(0), op);
  bool isGate = rows && (rows->hasAllRows() || (rows->rows > 2 * rows->extent && rows->offset <= rows->extent));
  if (isGate && isOfStreams(*rows))
    functions.push_back({op, *rows});
}

/// Whether a function of rows may be a gate: no sigmoid reads them as well, and streams are weighed by it. A result of
/// the function may weigh them outside, unless other streams have gates here. The only weights of several vectors are
/// those of a pooling.
bool GatesRaiser::mayBeGate(const LinearGroup &rows, Value made) {
  auto isBeside = [&](const LinearGroup &other) { return other.x.node() == rows.x.node(); };
  auto isSame = [&](const Group &gate) {
    return isBeside(gate.rows) && gate.rows.weight == rows.weight && !areApart(gate.rows, rows);
  };
  const bool hasSites = !gates.all.empty() || mixesStreams(func);
  const bool isOnly = llvm::count_if(functions, [&](const auto &other) { return isBeside(other.second); }) == 1;
  if (llvm::any_of(gates.all, isSame) || (!hasSites && isOnly && rows.hasAllRows()))
    return false;
  const MayWeigh weighs = mayWeigh(made);
  return weighs == MayWeigh::yes ||
         (weighs == MayWeigh::unknown &&
          (!hasSites || llvm::any_of(gates.all, [&](const Group &gate) { return isBeside(gate.rows); })));
}

void GatesRaiser::declineFunctions() {
  for (const auto &[op, rows] : functions)
    if (mayBeGate(rows, op->getResult(0)))
      declineOnce(
          {Reason::gateFunction, op, "'" + op->getName().getStringRef().str() + "'", "'mhc.sigmoid'", rows.site()});
}

/// The arguments that a value is a product or a sum with.
static SmallVector<BlockArgument> argumentsOf(algebra::Reading &reading, Value value) {
  SmallVector<BlockArgument> found;
  for (const algebra::Term &term : reading.of(value))
    for (const algebra::Factor &factor : term.factors)
      if (auto argument = dyn_cast_if_present<BlockArgument>(factor.node()->value))
        found.push_back(argument);
  return found;
}

void GatesRaiser::declineOutside(Operation *op) {
  Operation *end = func.getBody().front().getTerminator();
  for (BlockArgument argument : argumentsOf(reading, op->getOperand(0)))
    for (Value result : madeOf(argument)) {
      std::optional<LinearGroup> rows = matchLinearGroup(reading, result, end);
      const bool isGate = isa<SigmoidOp>(op);
      if (rows && isOfStreamsOrAll(*rows))
        return declineOnce({isGate ? Reason::gateFunction : Reason::residualForm, op, describe(argument),
                            isGate ? "'mhc.sigmoid'" : "one residual map of the logits", rows->site()});
    }
}

/// Gates of weights apart are of one site all the same.
void GatesRaiser::declineOnce(const Miss &miss) {
  if (!miss.site.first || !sites.hasDeclined("gates", miss.site.first))
    sites.decline("gates", miss);
}

void GatesRaiser::declineRows(const LinearGroup &first, Reason reason, int64_t offset, int64_t extent) {
  auto rows = [](int64_t begin, int64_t count) {
    return std::to_string(begin) + " to " + std::to_string(begin + count - 1);
  };
  const std::string found = first.offset == 0 ? rows(0, offset) : rows(first.offset, first.extent);
  if (isOfStreams(first))
    sites.decline("gates",
                  {reason, first.root.getDefiningOp(), "rows " + found + " of " + std::to_string(first.rows) + " rows",
                   "rows " + rows(offset, extent) + " in the same form", first.site()});
}

/// A gate of one row is of one stream, or one of several that are computed one by one.
void GatesRaiser::declineSingle(SigmoidOp gate, Miss miss) {
  const Weighed weighed = weighedBy(func, reading, gate, miss.site.first);
  if (weighed == Weighed::none)
    return;
  if (weighed == Weighed::part) {
    miss.reason = Reason::gateRows;
    miss.at = gate;
    miss.found = "1 row for 1 stream of " + describe(miss.site.first);
    miss.needed = "one row for each stream, all in one product";
  }
  declineOnce(miss);
}

/// Gates of the same streams that are alone because their norms differ, beside logits.
void GatesRaiser::declineNorms() {
  auto nameOf = [](const LinearGroup &rows) {
    return "norm " + stringifyNorm(rows.norm).str() + ", eps " + describe(rows.eps);
  };
  auto isOfSite = [](const LinearGroup &a, const LinearGroup &b) {
    return a.x.node() == b.x.node() && a.norm != Norm::none && b.norm != Norm::none &&
           (a.norm != b.norm || a.eps != b.eps);
  };
  for (const Group *second : alone)
    for (const Group *first : ArrayRef(alone).take_while([&](const Group *gate) { return gate != second; })) {
      auto areLogits = [&](const Group &group) {
        return group.rows.x.node() == first->rows.x.node() &&
               llvm::is_contained(logitsOf(first->rows.extent), group.rows.extent);
      };
      if (first->rows.extent == second->rows.extent && isOfSite(first->rows, second->rows) &&
          llvm::any_of(logits.all, areLogits))
        declineOnce({Reason::scaleForm, second->rows.root.getDefiningOp(), nameOf(second->rows),
                     nameOf(first->rows) + ", as for the other gate", second->rows.site()});
    }
}

void mhc::raiseGates(func::FuncOp func, Readings &readings, Sites &sites) {
  // Gradients have no gates that are not raised, and need not be read for them.
  auto isFunction = [](Operation *op) {
    return isa<SigmoidOp, SoftmaxOp, math::TanhOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (!func.walk(isFunction).wasInterrupted())
    return;
  algebra::Reading &reading = readings.unrounded();
  if (cutGates(func, reading))
    reading.refresh();
  const bool isShared = shareFactors(func, reading);
  const bool isCut = cutWeights(func, reading);
  if (liftClamps(func, reading) || isShared || isCut)
    reading.refresh();
  if (markComputedWeights(func, reading))
    reading.refresh();
  GatesRaiser(func, reading, sites).run();
}
