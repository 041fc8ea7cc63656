//===- GradientSums.cpp - Sums of gradients ---------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "GradientSums.h"
#include "ModelCall.h"

#include <algorithm>
#include <cstring>

using namespace mhcrt;

/// Parts of the sum of what is announced, at most: nothing hides the last one.
static constexpr int64_t kParts = 8;

GradientSums::GradientSums(const Session &session, Ranks &ranks, const Stages &stages, TensorRanks &tensorRanks,
                           Gpu &gpu)
    : session(session), ranks(ranks), stages(stages), tensorRanks(tensorRanks), gpu(gpu), ncclOfStage(gpu),
      ncclOfPeers(gpu), ncclOfSharers(gpu) {}

//===------------------------------------------------------------------------===//
// Places
//===------------------------------------------------------------------------===//

/// A multiple of so many values, where kernels read and write the places themselves.
int64_t GradientSums::aligned(int64_t place) const {
  return gpu.isOpen() ? (place + kAlignment - 1) / kAlignment * kAlignment : place;
}

/// Appends the places of some gradients.
bool GradientSums::placeAll(const NamedEntry &update, bool ofShares, bool isShared, std::string &error) {
  for (const std::string &name : update.arguments()) {
    HostTensor tensor;
    if (name.rfind("d_", 0) != 0 || tensorRanks.isShare(name) != ofShares ||
        stages.isShared(name.substr(2)) != isShared)
      continue;
    if (!update.makeArgument(name, tensor, error))
      return false;
    const int64_t count = tensor.bytes() / int64_t(sizeof(float));
    length = aligned(length);
    places.push_back({name, tensor.get(), length, count, false});
    length += count;
  }
  return true;
}

/// Ranks of a stage add up what they have, and then the stages what several of them have.
bool GradientSums::open(const NamedEntry &update, const NamedEntry &last, std::string &error) {
  for (const bool ofShares : {false, true}) {
    const int64_t begin = aligned(length);
    if (!placeAll(update, ofShares, /*isShared=*/false, error))
      return false;
    const int64_t shared = aligned(length);
    if (!placeAll(update, ofShares, /*isShared=*/true, error))
      return false;
    const int64_t all = std::max<int64_t>(0, length - begin), ofOthers = std::max<int64_t>(0, length - shared);
    sums.push_back(ofShares ? Sum{begin, all, tensorRanks.peers(), ncclOfPeers, true}
                            : Sum{begin, all, stages.members(stages.own()), ncclOfStage, true});
    sums.push_back({shared, ofOthers, stages.sharers(), ncclOfSharers, false});
  }
  waiting.resize(places.size());
  findAnnounced(last);
  return true;
}

/// Those that are parts of sums, if the model announces anything.
void GradientSums::findAnnounced(const NamedEntry &last) {
  bool announces = false;
  for (int32_t i = 0; i < mhcrt_model_functions(session.model); ++i)
    announces = announces || std::strcmp(mhcrt_model_function_name(session.model, i), MHCRT_GRADIENT_COMPLETE) == 0;
  for (Place &place : places) {
    place.isAnnounced = announces && last.isPartial(place.name);
    announced += place.isAnnounced;
    announcedLength += place.isAnnounced ? place.count : 0;
  }
}

//===------------------------------------------------------------------------===//
// Connections
//===------------------------------------------------------------------------===//

bool GradientSums::connect(std::string &error) {
  if (!gpu.isOpen())
    return std::strcmp(mhcrt_model_target(session.model), "cpu") != 0 || listen(error);
  const mhcrt_tensor all = {nullptr, MHCRT_F32, 1, {length}};
  if (!gpuBucket.allocate(session, all, error) || !gpu.zero(gpuBucket.get().data, length, error))
    return false;
  viewPlaces(totals);
  return ranks.count() == 1 || connectNccl(error);
}

void GradientSums::viewPlaces(PlacedTensors &values) {
  for (const Place &place : places) {
    mhcrt_tensor own = place.type;
    own.data = static_cast<float *>(gpuBucket.get().data) + place.begin;
    values[place.name].view(session, own);
  }
}

bool GradientSums::connectNccl(std::string &error) {
  hasNccl = ncclOfStage.isThere();
  if (!ranks.agreeOn({hasNccl}, {"libraries of NCCL"}, error))
    return false;
  if (!hasNccl && ranks.isFirst())
    std::fprintf(stderr, "mhc-train: note: NCCL is not there; gradients pass through the memory of the host\n");
  if (!hasNccl)
    return true;
  return (stages.parts() == 1 || ncclOfStage.open(ranks, stages.members(stages.own()), error)) &&
         (tensorRanks.count() == 1 || tensorRanks.peers().count == 1 ||
          ncclOfPeers.open(ranks, tensorRanks.peers(), error)) &&
         (!stages.shares() || ncclOfSharers.open(ranks, stages.sharers(), error)) && listen(error);
}

/// From now on the model announces gradients.
bool GradientSums::listen(std::string &error) {
  isListening = announced > 0;
  return !isListening ||
         tensorRanks.give(MHCRT_GRADIENT_COMPLETE, callMethod<GradientSums, &GradientSums::complete>, this, error);
}

//===------------------------------------------------------------------------===//
// Microbatches
//===------------------------------------------------------------------------===//

bool GradientSums::begin(std::string &error) {
  if (!isOnGpu())
    bucket.assign(length, 0.0f);
  return !isOnGpu() || stages.count() == 1 || gpu.zero(gpuBucket.get().data, length, error); // what others make
}

bool GradientSums::addAt(const Place &place, const void *from, bool isFirst, std::string &error) {
  if (isOnGpu()) {
    float *const to = static_cast<float *>(gpuBucket.get().data) + place.begin;
    return from == to || (isFirst ? gpu.copy(to, from, place.count, error) : gpu.add(to, from, place.count, error));
  }
  const float *const values = static_cast<const float *>(from);
  for (int64_t i = 0; i < place.count; ++i)
    bucket[place.begin + i] += values[i];
  return true;
}

bool GradientSums::add(const PlacedTensors &values, bool isFirst, bool isLast, std::string &error) {
  for (const Place &place : places) {
    const auto found = values.find(place.name);
    if (found == values.end() || (isLast && isListening && place.isAnnounced)) // of another stage, or added already
      continue;
    if (!isOnGpu() && !found->second.download(moved, error))
      return false;
    if (!addAt(place, isOnGpu() ? found->second.get().data : moved.data(), isFirst, error))
      return false;
  }
  if (isLast && isListening && !joins && !isComplete) { // a graph announces when it is recorded
    error = "the model announced " + counted(done, "gradient") + "; needed " + std::to_string(announced);
    return false;
  }
  expected.clear();
  return true;
}

void GradientSums::expect(const PlacedTensors &values, bool isFirstMicrobatch, bool mustJoin) {
  expected.clear();
  for (size_t i = 0; i < places.size(); ++i)
    if (const auto found = values.find(places[i].name); places[i].isAnnounced && found != values.end())
      expected[found->second.get().data] = i;
  waiting.assign(places.size(), false);
  done = waitingLength = 0;
  isComplete = false;
  isFirst = isFirstMicrobatch, joins = mustJoin;
}

mhcrt_status GradientSums::complete(const mhcrt_call &call, std::string &error) {
  const auto found = expected.find(call.arguments[0].data);
  if (found == expected.end()) // of another microbatch, or of a stream
    return MHCRT_OK;
  const Place &place = places[found->second];
  if (!addAt(place, call.arguments[0].data, isFirst, error))
    return MHCRT_DEVICE_ERROR;
  waiting[found->second] = true;
  waitingLength += place.count;
  isComplete = ++done == announced;
  if (!isComplete && waitingLength * kParts < announcedLength)
    return MHCRT_OK;
  const bool good = sum(waiting, error);
  waiting.assign(places.size(), false);
  waitingLength = 0;
  if (isComplete)
    done = 0; // a graph is recorded behind a first run
  return statusOf(good && (!isComplete || !joins || join(error)));
}

//===------------------------------------------------------------------------===//
// Sums over ranks
//===------------------------------------------------------------------------===//

bool GradientSums::sum(const Sum &one, int64_t begin, int64_t end, std::string &error) {
  if (!hasNccl)
    return ranks.sum(one.group, bucket.data() + begin, end - begin, error);
  float *const values = static_cast<float *>(gpuBucket.get().data) + begin;
  return one.between.allReduce(values, values, end - begin, one.between.stream(), error);
}

bool GradientSums::sum(const std::vector<bool> &which, std::string &error) {
  for (const Sum &one : sums) {
    if (!one.isOfStage || one.group.count == 1)
      continue;
    std::vector<std::pair<int64_t, int64_t>> stretches; // of neighbours
    bool isNeighbour = false;
    for (size_t i = 0; i < places.size(); ++i) {
      const int64_t begin = places[i].begin, end = begin + places[i].count;
      const bool isWanted = which[i] && begin >= one.begin && end <= one.begin + one.count;
      if (isWanted && isNeighbour)
        stretches.back().second = end;
      else if (isWanted)
        stretches.push_back({begin, end});
      isNeighbour = isWanted;
    }
    if (stretches.empty())
      continue;
    if (hasNccl && (!gpu.order(gpu.stream(), one.between.stream(), error) || !one.between.beginGroup(error)))
      return false;
    for (const auto &[begin, end] : stretches)
      if (!sum(one, begin, end, error))
        return false;
    if (hasNccl && !one.between.endGroup(error))
      return false;
  }
  return true;
}

/// Lets the stream of the session wait for the sums over the ranks of the stage.
bool GradientSums::join(std::string &error) {
  for (const Sum &one : sums)
    if (one.isOfStage && one.group.count > 1 && one.count && !gpu.order(one.between.stream(), gpu.stream(), error))
      return false;
  return true;
}

bool GradientSums::sumOfStages(std::string &error) {
  for (const Sum &one : sums) {
    if (one.isOfStage || one.group.count == 1 || one.count == 0)
      continue;
    if ((hasNccl && !gpu.order(gpu.stream(), one.between.stream(), error)) ||
        !sum(one, one.begin, one.begin + one.count, error) ||
        (hasNccl && !gpu.order(one.between.stream(), gpu.stream(), error)))
      return false;
  }
  return true;
}

bool GradientSums::sumRest(std::string &error) {
  std::vector<bool> rest;
  for (const Place &place : places)
    rest.push_back(!isListening || !place.isAnnounced);
  return sum(rest, error) && (!hasNccl || join(error)) && sumOfStages(error);
}

bool GradientSums::finishOnHost(std::string &error) {
  if (isOnGpu()) {
    if (!gpuBucket.download(moved, error))
      return false;
    const float *const from = static_cast<const float *>(moved.data());
    bucket.assign(from, from + length);
  }
  if (!sumRest(error))
    return false;
  for (const Place &place : places) {
    PlacedTensor &tensor = totals[place.name];
    HostTensor host;
    if (!host.allocate(place.type.dtype, {place.type.dims, place.type.dims + place.type.rank}, error))
      return false;
    std::copy_n(bucket.data() + place.begin, place.count, static_cast<float *>(host.data()));
    if (!tensor.allocate(session, host.get(), error) || !tensor.upload(host, error))
      return false;
  }
  return true;
}
