//===- Inputs.cpp - Which file belongs to which tensor --------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/run.h"

#include <sys/stat.h>

using namespace mhcrt;

std::string mhcrt::counted(int64_t count, const std::string &noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

int32_t Signature::size() const {
  return results ? mhcrt_model_results(model, entry) : mhcrt_model_arguments(model, entry);
}

const mhcrt_tensor_info &Signature::operator[](int32_t index) const {
  return results ? *mhcrt_model_result(model, entry, index) : *mhcrt_model_argument(model, entry, index);
}

int32_t Signature::find(const std::string &name) const {
  for (int32_t i = 0; i < size(); ++i)
    if (name == (*this)[i].name)
      return i;
  return -1;
}

static std::string listNames(const Signature &signature) {
  std::string text;
  for (int32_t i = 0; i < signature.size(); ++i)
    text += std::string(i ? ", '" : "'") + signature[i].name + "'";
  return text.empty() ? "none" : text;
}

bool mhcrt::assignFiles(const Signature &signature, const std::vector<std::string> &words, const char *option,
                        std::vector<std::string> &files, std::string &error) {
  files.assign(signature.size(), "");
  int32_t position = 0;
  for (const std::string &word : words) {
    // A path may have a '=' in it: only a known name before it makes NAME=FILE, or one without a slash or a dot.
    const size_t equals = word.find('=');
    const std::string name = equals == std::string::npos ? "" : word.substr(0, equals);
    int32_t index = signature.find(name);
    std::string file = word;
    if (index >= 0) {
      file = word.substr(equals + 1);
    } else if (!name.empty() && name.find_first_of("./") == std::string::npos) {
      error = std::string("no ") + signature.noun() + " '" + name + "'; the entry has " + listNames(signature);
      return false;
    } else {
      while (position < signature.size() && !files[position].empty())
        ++position;
      index = position;
      if (index >= signature.size()) {
        error = std::string("'") + option + " " + word + "' is one too many; the entry has " +
                counted(signature.size(), signature.noun()) + ": " + listNames(signature);
        return false;
      }
    }
    if (file.empty()) {
      error = std::string("'") + option + " " + word + "' names no file";
      return false;
    }
    if (!files[index].empty()) {
      error = std::string(signature.noun()) + " '" + signature[index].name + "' is given twice: '" + files[index] +
              "' and '" + file + "'";
      return false;
    }
    files[index] = file;
  }
  return true;
}

/// Makes `tensor` have the dtype of `info`, if it may.
static bool adjustType(const mhcrt_tensor_info &info, const std::string &file, bool mayConvert, HostTensor &tensor,
                       std::string &notes, std::string &error) {
  if (tensor.dtype() == info.dtype)
    return true;
  const std::string found = mhcrt_dtype_name(tensor.dtype()), needed = mhcrt_dtype_name(info.dtype);
  if (!mayConvert) {
    error = std::string("argument '") + info.name + "': '" + file + "' holds " + found + "; needed " + needed +
            " (--convert rounds it)";
    return false;
  }
  HostTensor converted;
  if (!convert(tensor.get(), info.dtype, converted, error)) {
    error = std::string("argument '") + info.name + "': '" + file + "': " + error;
    return false;
  }
  notes += std::string("note: argument '") + info.name + "' converted from " + found + " to " + needed + "\n";
  tensor = std::move(converted);
  return true;
}

/// The tensors of the signature that a bundle has.
static bool readBundle(const Signature &signature, const std::string &bundle, std::map<std::string, HostTensor> &named,
                       std::string &error) {
  struct stat status;
  if (stat(bundle.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return readSafetensors(bundle, named, error);
  for (int32_t i = 0; i < signature.size(); ++i) {
    const std::string file = bundle + "/" + signature[i].name + ".npy";
    if (stat(file.c_str(), &status) == 0 && !readNpy(file, named[signature[i].name], error))
      return false;
  }
  return true;
}

bool mhcrt::readArguments(const Signature &signature, const RunOptions &options, std::vector<HostTensor> &tensors,
                          std::string &notes, std::string &error) {
  std::vector<std::string> files;
  if (!assignFiles(signature, options.args, "--arg", files, error))
    return false;
  tensors.clear();
  tensors.resize(signature.size());
  for (int32_t i = 0; i < signature.size(); ++i)
    if (!files[i].empty() && !readNpy(files[i], tensors[i], error))
      return false;

  for (const std::string &bundle : options.bundles) {
    std::map<std::string, HostTensor> named;
    if (!readBundle(signature, bundle, named, error))
      return false;
    for (int32_t i = 0; i < signature.size(); ++i) {
      auto found = named.find(signature[i].name);
      if (found == named.end() || !files[i].empty())
        continue; // a file named on the command line wins over a bundle, the first bundle over the next
      tensors[i] = std::move(found->second);
      files[i] = bundle;
    }
  }

  for (int32_t i = 0; i < signature.size(); ++i) {
    if (files[i].empty()) {
      error = std::string("no file for argument '") + signature[i].name + "' (" + signature[i].type + "); give --arg " +
              signature[i].name + "=FILE.npy";
      return false;
    }
    if (!adjustType(signature[i], files[i], options.convert, tensors[i], notes, error))
      return false;
  }
  return true;
}
