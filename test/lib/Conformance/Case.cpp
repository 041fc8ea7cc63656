//===- Case.cpp - Reading golden cases ------------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Conformance/Case.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace mhc::conformance {

using Json = nlohmann::ordered_json;

static Attributes readAttributes(const Json &json) {
  Attributes attr;
  auto get = [&](const char *key, auto &field) {
    if (json.contains(key) && !json[key].is_null())
      json[key].get_to(field);
  };
  get("n", attr.n);
  get("layout", attr.layout);
  get("phi_layout", attr.phiLayout);
  get("norm", attr.norm);
  get("stat", attr.stat);
  get("res", attr.res);
  get("init", attr.init);
  get("order", attr.order);
  get("denom", attr.denom);
  get("res_orient", attr.resOrient);
  get("sublayer", attr.sublayer);
  get("mode", attr.mode);
  get("contract", attr.contract);
  get("act", attr.act);
  get("constraint", attr.constraint);
  get("norm_eps", attr.normEps);
  get("pre_eps", attr.preEps);
  get("post_mult", attr.postMult);
  get("sk_eps", attr.skEps);
  get("sub_eps", attr.subEps);
  get("dropout", attr.dropout);
  get("head_norm_eps", attr.headNormEps);
  get("head_pre_eps", attr.headPreEps);
  get("iters", attr.iters);
  get("sites", attr.sites);
  get("num_pre", attr.numPre);
  get("num_post", attr.numPost);
  get("num_layers", attr.numLayers);
  get("group", attr.group);
  get("fold_pre", attr.foldPre);
  get("shared_scale", attr.sharedScale);
  return attr;
}

static GatedDelta readGatedDelta(const Json &json) {
  GatedDelta sizes;
  json.at("num_key_heads").get_to(sizes.keyHeads);
  json.at("num_value_heads").get_to(sizes.valueHeads);
  json.at("key_head_dim").get_to(sizes.keyDim);
  json.at("value_head_dim").get_to(sizes.valueDim);
  json.at("conv_width").get_to(sizes.width);
  json.at("qk_l2norm").get_to(sizes.qkL2norm);
  json.at("l2_eps").get_to(sizes.l2Eps);
  json.at("softplus_threshold").get_to(sizes.softplusThreshold);
  return sizes;
}

static Element readElement(const std::string &name) {
  if (name == "bfloat16")
    return Element::BF16;
  if (name == "float16")
    return Element::F16;
  if (name == "int32")
    return Element::I32;
  return name == "float64" ? Element::F64 : Element::F32;
}

static std::vector<TensorInfo> readTensors(const Json &tensors, const char *kind) {
  std::vector<TensorInfo> result;
  if (!tensors.contains(kind))
    return result;
  for (const auto &[name, json] : tensors[kind].items())
    result.push_back(
        {name, json.at("file"), json.at("shape").get<Dims>(), readElement(json.at("source_dtype").get<std::string>())});
  return result;
}

static Tolerance readTolerance(const Json &json) { return {json.at("atol"), json.at("rtol")}; }

std::optional<Case> readCase(const std::string &directory, std::string &error) {
  std::string path = directory + "/manifest.json";
  std::ifstream file(path);
  if (!file) {
    error = "cannot open '" + path + "'";
    return std::nullopt;
  }
  try {
    Json json = Json::parse(file);
    Case golden;
    golden.directory = directory;
    golden.variant = json.at("variant");
    golden.name = json.at("case");
    golden.op = json.at("op");
    golden.mode = json.at("mode");
    golden.attributes = readAttributes(json.at("attrs"));
    if (golden.op == "pre_gdn")
      golden.gatedDelta = readGatedDelta(json.at("attrs"));
    golden.inputs = readTensors(json.at("tensors"), "inputs");
    golden.outputs = readTensors(json.at("tensors"), "outputs");
    golden.cotangents = readTensors(json.at("tensors"), "cotangents");
    golden.gradients = readTensors(json.at("tensors"), "grads");
    golden.float32 = readTolerance(json.at("tolerance").at("float32"));
    golden.reference = readTolerance(json.at("tolerance").at("reference"));
    return golden;
  } catch (const Json::parse_error &problem) {
    error = "'" + path + "': is not JSON at its byte " + std::to_string(problem.byte);
  } catch (const Json::exception &) {
    error = "'" + path + "': lacks a key of a golden case, or has a value of another type there";
  }
  return std::nullopt;
}

std::vector<std::string> findCases(const std::string &root) {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  if (fs::exists(root + "/manifest.json"))
    found.push_back(root);
  std::error_code failed;
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(root, failed))
    if (entry.path().filename() == "manifest.json" && entry.path().parent_path() != fs::path(root))
      found.push_back(entry.path().parent_path().string());
  std::sort(found.begin(), found.end());
  return found;
}

} // namespace mhc::conformance
