//===- Gradients.cpp - The gradients of one step ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward passes of the microbatches are in one order, whatever the schedule is, so that the sums have the same
// bits.
//
//===------------------------------------------------------------------------===//
#include "Gradients.h"
#include "src/Philox.h"

#include <algorithm>
#include <initializer_list>

using namespace mhcrt;

Gradients::Gradients(const Session &session, const TrainOptions &options, Ranks &ranks, const Stages &stages,
                     TensorRanks &tensorRanks, Gpu &gpu)
    : session(session), options(options), ranks(ranks), tensorRanks(tensorRanks), stages(stages),
      sums(session, ranks, stages, tensorRanks, gpu), gpu(gpu), toNext(gpu), toPrevious(gpu) {}

static bool startsWith(const std::string &name, const std::string &prefix) { return name.rfind(prefix, 0) == 0; }

bool mhcrt::checkLength(const std::string &path, const std::string &text, int64_t tokens, std::string &error) {
  if (static_cast<int64_t>(text.size()) > tokens)
    return true;
  error = "'" + path + "' has " + counted(static_cast<int64_t>(text.size()), "byte") + "; needed at least " +
          std::to_string(tokens + 1) + ", the context and one";
  return false;
}

void mhcrt::fillRow(HostTensor &tokens, int64_t row, const char *text) {
  const int64_t width = tokens.dims()[1];
  int32_t *const to = static_cast<int32_t *>(tokens.data()) + row * width;
  for (int64_t i = 0; i < width; ++i)
    to[i] = static_cast<unsigned char>(text[i]);
}

/// Microbatches whose backward pass has to wait when the first one begins.
int64_t Gradients::slotsNeeded() const {
  if (stages.count() == 1)
    return 1;
  return options.gpipe ? options.microbatches : std::min<int64_t>(options.microbatches, stages.count() - stages.own());
}

bool Gradients::openEntries(std::string &error) {
  if (stages.count() == 1)
    return forwards.open(session, "loss_grad", error) && last.open(session, "loss_grad", error);
  const std::string name = stages.entry("loss");
  return forwards.open(session, name + "_fwd", error) && backwards.open(session, name + "_bwd", error) &&
         last.open(session, name + "_bwd", error);
}

bool Gradients::makeSlot(Slot &slot, std::string &error) const {
  const std::vector<std::string> names = forwards.arguments();
  for (const char *name : {"tokens", "targets", "places", "words", "seed"}) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      continue;
    if (!forwards.makeArgument(name, slot.host[name], error) ||
        !slot.inputs[name].allocate(session, slot.host[name].get(), error))
      return false;
  }
  tensorRanks.fillNumbers(slot.host);
  return true;
}

/// The first stage has the tokens, and the last one the targets.
bool Gradients::checkTokens(const std::string &text, std::string &error) const {
  const NamedTensors &host = slots.front().host;
  for (const auto &[name, isThere] : {std::pair("tokens", stages.isFirst()), std::pair("targets", stages.isLast())}) {
    if (!isThere)
      continue;
    const auto found = host.find(name);
    if (found == host.end() || found->second.dtype() != MHCRT_I32 || found->second.dims().size() != 2) {
      error = std::string("'") + name + "' is " + (found == host.end() ? "no argument" : found->second.type()) +
              "; needed i32 with two dimensions";
      return false;
    }
    if (!checkLength(options.data, text, tensorRanks.pieces() * found->second.dims()[1], error))
      return false;
  }
  if (stages.count() > 1 || host.at("tokens").type() == host.at("targets").type())
    return true;
  error = "'tokens' is " + host.at("tokens").type() + " and 'targets' " + host.at("targets").type() +
          "; needed i32 of one shape with two dimensions";
  return false;
}

bool Gradients::open(const NamedEntry &update, const std::string &text, std::string &error) {
  data = &text;
  if (!openEntries(error))
    return false;
  slots = std::vector<Slot>(slotsNeeded());
  for (Slot &slot : slots)
    if (!makeSlot(slot, error))
      return false;
  if (!sums.open(update, last, error))
    return false;
  if (!checkTokens(text, error) || !stages.isLast())
    return error.empty();
  HostTensor d_loss;
  if (!last.makeArgument("d_loss", d_loss, error))
    return false;
  // The loss is a mean.
  *static_cast<float *>(d_loss.data()) = 1 / static_cast<float>(stages.parts() * options.microbatches);
  return shared["d_loss"].allocate(session, d_loss.get(), error) && shared["d_loss"].upload(d_loss, error);
}

/// Windows of the text at places that the seed and the number of the step give. All microbatches of all parts are one
/// batch, of which parts have rows, or pieces of them.
void Gradients::fill(Slot &slot, const TrainState &state, int64_t microbatch) const {
  const int64_t part = stages.part(), index = microbatch * stages.parts() + part;
  if (const auto seed = slot.host.find("seed"); seed != slot.host.end()) {
    int64_t *const words = static_cast<int64_t *>(seed->second.data());
    words[0] = state.seed;
    words[1] = state.step | index << 32; // each drops other elements
  }
  const int64_t seed[] = {state.seed, state.step};
  constexpr int64_t kStream = UINT32_MAX; // ops of the model count theirs from 0
  const PhiloxStream philox = {seed, kStream};
  for (const auto &[name, shift] : {std::pair("tokens", 0), std::pair("targets", 1)}) {
    const auto found = slot.host.find(name);
    if (found == slot.host.end())
      continue;
    const std::vector<int64_t> dims = found->second.dims();
    const int64_t pieces = tensorRanks.pieces(), begin = part % pieces * dims[1] + shift;
    for (int64_t row = 0; row < dims[0]; ++row) {
      const Words words = philox(index / pieces * dims[0] + row);
      const uint64_t random = uint64_t(words[0]) << 32 | words[1];
      fillRow(found->second, row, data->data() + random % (data->size() - pieces * dims[1]) + begin);
    }
  }
}

bool Gradients::run(NamedEntry &entry, Slot &slot, const PlacedTensors &weights, bool asGraph, std::string &error) {
  auto lookup = [&](const std::string &name) -> const PlacedTensor * {
    for (const PlacedTensors *tensors :
         std::initializer_list<const PlacedTensors *>{&weights, &slot.inputs, &slot.values, &shared})
      if (const auto found = tensors->find(name); found != tensors->end())
        return &found->second;
    return nullptr;
  };
  if (!isOnGpu())
    return entry.run(lookup, slot.values, asGraph, error);
  return gpu.waitFor(slot.sent, gpu.stream(), error) && gpu.waitFor(slot.sentBack, gpu.stream(), error) &&
         entry.run(lookup, slot.values, asGraph, error) && gpu.record(slot.used, gpu.stream(), error);
}

bool Gradients::send(Slot &slot, const std::string &prefix, int32_t to, std::string &error) {
  Nccl &way = to > ranks.rank() ? toNext : toPrevious;
  if (way.isOpen() && !gpu.order(gpu.stream(), way.stream(), error))
    return false;
  for (const auto &[name, tensor] : slot.values) {
    if (!startsWith(name, prefix))
      continue;
    if (!(way.isOpen() ? way.send(tensor.get().data, bytesOf(tensor.get()), to, error)
                       : tensor.download(moved, error) && ranks.send(to, moved, error)))
      return false;
  }
  return !way.isOpen() || gpu.record(to > ranks.rank() ? slot.sent : slot.sentBack, way.stream(), error);
}

/// In the order of their names, in which they were sent.
bool Gradients::receive(const NamedEntry &entry, const std::string &prefix, Slot &slot, int32_t from,
                        std::string &error) {
  Nccl &way = from < ranks.rank() ? toNext : toPrevious;
  if (way.isOpen() && !gpu.waitFor(slot.used, way.stream(), error))
    return false;
  std::vector<std::string> names = entry.arguments();
  std::sort(names.begin(), names.end());
  for (const std::string &name : names) {
    if (!startsWith(name, prefix))
      continue;
    HostTensor tensor;
    PlacedTensor &value = slot.values[name];
    if ((!way.isOpen() || !value.get().data) &&
        (!entry.makeArgument(name, tensor, error) || !value.allocate(session, tensor.get(), error)))
      return false;
    if (!(way.isOpen() ? way.receive(value.get().data, bytesOf(value.get()), from, error)
                       : ranks.receive(from, tensor, error) && value.upload(tensor, error)))
      return false;
  }
  return !way.isOpen() || gpu.order(way.stream(), gpu.stream(), error);
}

bool Gradients::forward(int64_t microbatch, const TrainState &state, const PlacedTensors &weights, bool asGraph,
                        double &loss, std::string &error) {
  Slot &slot = slotOf(microbatch);
  fill(slot, state, microbatch);
  for (const auto &[name, host] : slot.host)
    if (!slot.inputs[name].upload(host, error))
      return false;
  if ((!stages.isFirst() &&
       !receive(forwards, Stages::cut(stages.own()), slot, ranks.rank() - stages.parts(), error)) ||
      !(stages.count() > 1 ? run(forwards, slot, weights, asGraph, error)
                           : makeGradients(microbatch, weights, asGraph, error)))
    return false;
  if (!stages.isLast())
    return send(slot, Stages::cut(stages.own() + 1), ranks.rank() + stages.parts(), error);
  return addLoss(slot.values["loss"], microbatch == 0, loss, error) &&
         (stages.count() > 1 || addGradients(microbatch, error));
}

bool Gradients::makeGradients(int64_t microbatch, const PlacedTensors &weights, bool asGraph, std::string &error) {
  Slot &slot = slotOf(microbatch);
  if (!isLast(microbatch))
    return run(stages.count() == 1 ? forwards : backwards, slot, weights, asGraph, error);
  if (!last.allocateResults(slot.values, error))
    return false;
  sums.expect(slot.values, microbatch == 0, asGraph);
  return run(last, slot, weights, asGraph, error);
}

/// To those of the microbatches before.
bool Gradients::addGradients(int64_t microbatch, std::string &error) {
  return isWhole() || sums.add(slotOf(microbatch).values, microbatch == 0, isLast(microbatch), error);
}

/// `loss` becomes this rank's share of the mean over ranks; on the GPU, once the step has ended.
bool Gradients::addLoss(const PlacedTensor &value, bool isFirst, double &loss, std::string &error) {
  if (isOnGpu())
    return isFirst ? gpu.copy(gpuLoss.get().data, value.get().data, 1, error)
                   : gpu.add(gpuLoss.get().data, value.get().data, 1, error);
  if (!value.download(moved, error))
    return false;
  loss += element(moved.get(), 0) / static_cast<double>(options.microbatches) * stages.count();
  return true;
}

bool Gradients::backward(int64_t microbatch, const PlacedTensors &weights, bool asGraph, std::string &error) {
  Slot &slot = slotOf(microbatch);
  if (!stages.isLast() &&
      !receive(backwards, "d_" + Stages::cut(stages.own() + 1), slot, ranks.rank() + stages.parts(), error))
    return false;
  return makeGradients(microbatch, weights, asGraph, error) &&
         (stages.isFirst() || send(slot, "d_" + Stages::cut(stages.own()), ranks.rank() - stages.parts(), error)) &&
         addGradients(microbatch, error);
}

bool Gradients::compute(const TrainState &state, const PlacedTensors &weights, bool asGraph, double &loss,
                        std::string &error) {
  loss = 0;
  if (!isWhole() && !sums.begin(error))
    return false;
  // A stage runs ahead of its backward passes by as many microbatches as it has slots.
  const auto ahead = static_cast<int64_t>(slots.size());
  const int64_t count = options.microbatches;
  for (int64_t i = 0; i < count + ahead - 1; ++i) {
    if (i < count && !forward(i, state, weights, asGraph, loss, error))
      return false;
    const int64_t back = i - (ahead - 1);
    if (stages.count() > 1 && back >= 0 && !backward(back, weights, asGraph, error))
      return false;
  }
  return !isOnGpu() || finishOnGpu(loss, error);
}

/// Lets the GPUs add up what all have computed, and waits for the loss.
bool Gradients::finishOnGpu(double &loss, std::string &error) {
  if ((sums.usesNccl() && !sums.finishOnGpu(error)) || !gpu.wait(gpu.stream(), options.timeout, "a step", error))
    return false;
  mhcrt_message message;
  if (mhcrt_model_synchronize(session.model, session.context, &message) != MHCRT_OK) {
    error = message.text;
    return false;
  }
  if (stages.isLast() && !gpuLoss.download(moved, error))
    return false;
  loss = stages.isLast() ? element(moved.get(), 0) / static_cast<double>(options.microbatches) * stages.count() : 0;
  return true;
}

bool Gradients::connect(std::string &error) {
  if (isWhole())
    return true;
  const mhcrt_tensor number = {nullptr, MHCRT_F32, 0, {}};
  if (!sums.connect(error) || (gpu.isOpen() && !gpuLoss.allocate(session, number, error)))
    return false;
  if (isOnGpu() && stages.count() == 1 && options.microbatches == 1)
    sums.viewPlaces(slots.front().values);
  const mhcrt_comm_group everyone = ranks.everyone();
  return !sums.usesNccl() || stages.count() == 1 ||
         (toNext.open(ranks, everyone, error) && toPrevious.open(ranks, everyone, error));
}

bool Gradients::sum(std::string &error) {
  const bool isDone = isWhole() || (isOnGpu() && (sums.usesNccl() || ranks.count() == 1));
  return isDone || sums.finishOnHost(error);
}

int64_t Gradients::tokensOfStep() const {
  const auto tokens = slots.front().host.find("tokens");
  return tokens == slots.front().host.end() ? 0 : tokens->second.elements() * stages.parts() * options.microbatches;
}

const PlacedTensor *Gradients::find(const std::string &name) const {
  const PlacedTensors &tensors = isWhole() ? slots.front().values : sums.totals;
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}
