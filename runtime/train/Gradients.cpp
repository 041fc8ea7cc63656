//===- Gradients.cpp - The gradients of one step ----------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rank s * parts + p has stage s of part p of the batch; a part is that of a tensor-parallel rank. The backward passes
// of the microbatches are in one order, whatever the schedule is, so that the sums have the same bits.
//
//===------------------------------------------------------------------------===//
#include "Gradients.h"
#include "src/Philox.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

using namespace mhcrt;

Gradients::Gradients(const Session &session, const TrainOptions &options, Ranks &ranks, TensorRanks &tensorRanks)
    : session(session), options(options), ranks(ranks), tensorRanks(tensorRanks),
      stages(mhcrt_model_stages(session.model)), parts(mhcrt_model_ranks(session.model) / stages),
      stage(ranks.rank() / parts), part(ranks.rank() % parts) {}

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
  if (stages == 1)
    return 1;
  return options.gpipe ? options.microbatches : std::min<int64_t>(options.microbatches, stages - stage);
}

bool Gradients::openEntries(std::string &error) {
  if (stages == 1)
    return forwards.open(session, "loss_grad", error);
  const std::string name = "loss_stage" + std::to_string(stage);
  return forwards.open(session, (name + "_fwd").c_str(), error) &&
         backwards.open(session, (name + "_bwd").c_str(), error);
}

bool Gradients::makeSlot(Slot &slot, std::string &error) const {
  const std::vector<std::string> names = forwards.arguments();
  for (const char *name : {"tokens", "targets", "seed"}) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      continue;
    if (!forwards.makeArgument(name, slot.host[name], error) ||
        !slot.inputs[name].allocate(session, slot.host[name].get(), error))
      return false;
  }
  return true;
}

/// The first stage has the tokens, and the last one the targets.
bool Gradients::checkTokens(const std::string &text, std::string &error) const {
  const NamedTensors &host = slots.front().host;
  for (const auto &[name, isThere] : {std::pair("tokens", isFirstStage()), std::pair("targets", isLastStage())}) {
    if (!isThere)
      continue;
    const auto found = host.find(name);
    if (found == host.end() || found->second.dtype() != MHCRT_I32 || found->second.dims().size() != 2) {
      error = std::string("'") + name + "' is " + (found == host.end() ? "no argument" : found->second.type()) +
              "; needed i32 with two dimensions";
      return false;
    }
    if (!checkLength(options.data, text, found->second.dims()[1], error))
      return false;
  }
  if (stages > 1 || host.at("tokens").type() == host.at("targets").type())
    return true;
  error = "'tokens' is " + host.at("tokens").type() + " and 'targets' " + host.at("targets").type() +
          "; needed i32 of one shape with two dimensions";
  return false;
}

/// Appends places of gradients behind those that are there.
bool Gradients::makePlaces(const NamedEntry &update, bool ofShares, std::string &error) {
  int64_t begin = whole;
  for (const std::string &name : update.arguments()) {
    HostTensor tensor;
    if (!startsWith(name, "d_") || tensorRanks.isShare(name) != ofShares)
      continue;
    if (!update.makeArgument(name, tensor, error))
      return false;
    const int64_t count = tensor.bytes() / int64_t(sizeof(float));
    places.push_back({name, tensor.get(), begin, count});
    begin += count;
  }
  return true;
}

bool Gradients::open(const NamedEntry &update, const std::string &text, std::string &error) {
  data = &text;
  if (!openEntries(error))
    return false;
  slots = std::vector<Slot>(slotsNeeded());
  for (Slot &slot : slots)
    if (!makeSlot(slot, error))
      return false;
  if (!makePlaces(update, /*ofShares=*/false, error))
    return false;
  whole = places.empty() ? 0 : places.back().begin + places.back().count;
  if (!makePlaces(update, /*ofShares=*/true, error))
    return false;
  if (!isWhole())
    bucket.resize(places.empty() ? 0 : places.back().begin + places.back().count);
  if (!checkTokens(text, error) || !isLastStage())
    return error.empty();
  HostTensor d_loss;
  if (!(stages == 1 ? forwards : backwards).makeArgument("d_loss", d_loss, error))
    return false;
  // The loss is a mean.
  *static_cast<float *>(d_loss.data()) = 1 / static_cast<float>(parts * options.microbatches);
  return shared["d_loss"].allocate(session, d_loss.get(), error) && shared["d_loss"].upload(d_loss, error);
}

/// Windows of the text at places that the seed and the number of the step give. All microbatches of all parts are one
/// batch.
void Gradients::fill(Slot &slot, const TrainState &state, int64_t microbatch) const {
  const int64_t index = microbatch * parts + part;
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
    for (int64_t row = 0; row < dims[0]; ++row) {
      const Words words = philox(index * dims[0] + row);
      const uint64_t random = uint64_t(words[0]) << 32 | words[1];
      fillRow(found->second, row, data->data() + random % (data->size() - dims[1]) + shift);
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
  return entry.run(lookup, slot.values, asGraph, error) && tensorRanks.wait(error);
}

bool Gradients::send(const PlacedTensors &values, const std::string &prefix, int32_t to, std::string &error) {
  for (const auto &[name, tensor] : values)
    if (startsWith(name, prefix) && (!tensor.download(moved, error) || !ranks.send(to, moved, error)))
      return false;
  return true;
}

/// In the order of their names, in which they were sent.
bool Gradients::receive(const NamedEntry &entry, const std::string &prefix, PlacedTensors &values, int32_t from,
                        std::string &error) {
  std::vector<std::string> names = entry.arguments();
  std::sort(names.begin(), names.end());
  for (const std::string &name : names) {
    if (!startsWith(name, prefix))
      continue;
    HostTensor tensor;
    if (!entry.makeArgument(name, tensor, error) || !ranks.receive(from, tensor, error) ||
        !values[name].allocate(session, tensor.get(), error) || !values[name].upload(tensor, error))
      return false;
  }
  return true;
}

/// "cut2." begins the names of what stage 2 gets of stage 1.
static std::string cutName(int32_t stage) { return "cut" + std::to_string(stage) + "."; }

bool Gradients::forward(int64_t microbatch, const TrainState &state, const PlacedTensors &weights, bool asGraph,
                        double &loss, std::string &error) {
  Slot &slot = slotOf(microbatch);
  fill(slot, state, microbatch);
  for (const auto &[name, host] : slot.host)
    if (!slot.inputs[name].upload(host, error))
      return false;
  if ((!isFirstStage() && !receive(forwards, cutName(stage), slot.values, ranks.rank() - parts, error)) ||
      !run(forwards, slot, weights, asGraph, error))
    return false;
  if (!isLastStage())
    return send(slot.values, cutName(stage + 1), ranks.rank() + parts, error);
  if (!slot.values["loss"].download(moved, error))
    return false;
  loss += element(moved.get(), 0) / static_cast<double>(options.microbatches) * stages;
  return stages > 1 || isWhole() || nccl.isOpen() || add(slot.values, error);
}

bool Gradients::backward(int64_t microbatch, const PlacedTensors &weights, bool asGraph, std::string &error) {
  Slot &slot = slotOf(microbatch);
  if (!isLastStage() && !receive(backwards, "d_" + cutName(stage + 1), slot.values, ranks.rank() + parts, error))
    return false;
  return run(backwards, slot, weights, asGraph, error) &&
         (isFirstStage() || send(slot.values, "d_" + cutName(stage), ranks.rank() - parts, error)) &&
         add(slot.values, error);
}

/// Adds the gradients of a microbatch to those before it.
bool Gradients::add(const PlacedTensors &values, std::string &error) {
  for (const Place &place : places) {
    const auto found = values.find(place.name);
    if (found == values.end()) // of another stage
      continue;
    if (!found->second.download(moved, error))
      return false;
    const float *const from = static_cast<const float *>(moved.data());
    for (int64_t i = 0; i < place.count; ++i)
      bucket[place.begin + i] += from[i];
  }
  return true;
}

bool Gradients::compute(const TrainState &state, const PlacedTensors &weights, bool asGraph, double &loss,
                        std::string &error) {
  loss = 0;
  std::fill(bucket.begin(), bucket.end(), 0.0f);
  // A stage runs ahead of its backward passes by as many microbatches as it has slots.
  const auto ahead = static_cast<int64_t>(slots.size());
  const int64_t count = options.microbatches;
  for (int64_t i = 0; i < count + ahead - 1; ++i) {
    if (i < count && !forward(i, state, weights, asGraph, loss, error))
      return false;
    const int64_t back = i - (ahead - 1);
    if (stages > 1 && back >= 0 && !backward(back, weights, asGraph, error))
      return false;
  }
  return true;
}

bool Gradients::connect(std::string &error) {
  // Microbatches and stages are summed by the host.
  const bool wanted = std::strcmp(mhcrt_model_target(session.model), "cpu") != 0 && ranks.count() > 1 && stages == 1 &&
                      options.microbatches == 1;
  if (!wanted)
    return true;
  const bool isThere = nccl.isThere();
  if (!ranks.agreeOn({isThere}, {"libraries of NCCL"}, error))
    return false;
  if (!isThere && ranks.isFirst())
    std::fprintf(stderr, "mhc-train: note: NCCL is not there; gradients pass through the memory of the host\n");
  const mhcrt_tensor type = {nullptr, MHCRT_F32, 1, {static_cast<int64_t>(bucket.size())}};
  if (!isThere)
    return true;
  const bool hasShares = tensorRanks.count() > 1;
  return nccl.open(ranks, ranks.everyone(), options.timeout, error) &&
         (!hasShares ||
          (ncclOfPeers.isThere() && ncclOfPeers.open(ranks, tensorRanks.peers(), options.timeout, error))) &&
         gpuBucket.allocate(session, type, error);
}

/// As sum(), in the memory of the GPU.
bool Gradients::sumOnGpu(std::string &error) {
  mhcrt_message message;
  PlacedTensors &own = slots.front().values;
  auto *const begin = static_cast<float *>(gpuBucket.get().data);
  auto copy = [&](void *to, const void *from, const Place &place) {
    return mhcrt_model_copy(session.model, session.context, to, from, place.count * int64_t(sizeof(float)), &message);
  };
  mhcrt_status status = MHCRT_OK;
  for (const Place &place : places)
    if (status == MHCRT_OK)
      status = copy(begin + place.begin, own[place.name].get().data, place);
  if (status == MHCRT_OK)
    status = mhcrt_model_synchronize(session.model, session.context, &message);
  const int64_t ofShares = static_cast<int64_t>(bucket.size()) - whole;
  if (status == MHCRT_OK &&
      (!nccl.sum(begin, whole, error) || (ofShares && !ncclOfPeers.sum(begin + whole, ofShares, error))))
    return false;
  for (const Place &place : places) {
    if (status == MHCRT_OK && !shared[place.name].allocate(session, place.type, error))
      return false;
    if (status == MHCRT_OK)
      status = copy(shared[place.name].get().data, begin + place.begin, place);
  }
  if (status != MHCRT_OK)
    error = message.text;
  return status == MHCRT_OK;
}

bool Gradients::sum(std::string &error) {
  if (isWhole())
    return true;
  if (nccl.isOpen())
    return sumOnGpu(error);
  if (!ranks.sum(ranks.everyone(), bucket.data(), whole, error) ||
      !ranks.sum(tensorRanks.peers(), bucket.data() + whole, static_cast<int64_t>(bucket.size()) - whole, error))
    return false;
  for (const Place &place : places) {
    PlacedTensor &tensor = shared[place.name];
    HostTensor host;
    if (!host.allocate(place.type.dtype, {place.type.dims, place.type.dims + place.type.rank}, error))
      return false;
    std::copy_n(bucket.data() + place.begin, place.count, static_cast<float *>(host.data()));
    if (!tensor.allocate(session, host.get(), error) || !tensor.upload(host, error))
      return false;
  }
  return true;
}

int64_t Gradients::tokensOfStep() const {
  const auto tokens = slots.front().host.find("tokens");
  return tokens == slots.front().host.end() ? 0 : tokens->second.elements() * parts * options.microbatches;
}

const PlacedTensor *Gradients::find(const std::string &name) const {
  const PlacedTensors &tensors = isWhole() ? slots.front().values : shared;
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}
