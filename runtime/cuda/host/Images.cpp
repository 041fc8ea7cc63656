//===- Images.cpp - The GPUs that the library has code for ----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Images.h"
#include "cuda/host/Context.h"
#include "mhcrt/cuda.h"

#include <cstdio>
#include <cuda_runtime_api.h>
#include <sstream>
#include <string>

using namespace mhcrt;

const char *const mhcrt::kImages = MHCRT_CUDA_IMAGES;

bool mhcrt::hasCodeFor(const char *images, int arch) {
  std::istringstream list(images);
  for (std::string image; list >> image;) {
    const int of = std::stoi(image);
    const bool isPtx = image.find("virtual") != std::string::npos;
    if (of <= arch && (isPtx || of / 10 == arch / 10))
      return true;
  }
  return false;
}

/// "sm_80, sm_90, PTX of compute_90"
static std::string listImages() {
  std::istringstream list(kImages);
  std::string text;
  for (std::string image; list >> image;)
    text += (text.empty() ? "" : ", ") +
            std::string(image.find("virtual") != std::string::npos ? "PTX of compute_" : "sm_") +
            image.substr(0, image.find('-'));
  return text;
}

/// Why no GPU can be asked. A driver serves all versions of its own major one.
static std::string missingDevice(cudaError_t error) {
  int found = 0;
  if (error != cudaErrorInsufficientDriver || cudaDriverGetVersion(&found) != cudaSuccess || found == 0)
    return "the CUDA driver or a GPU is missing";
  return "the CUDA driver is of version " + std::to_string(found / 1000) + "." + std::to_string(found % 1000 / 10) +
         "; needed " + std::to_string(CUDART_VERSION / 1000) + ".0 or later";
}

extern "C" mhcrt_status mhcrt_cuda_describe(mhcrt_cuda_machine *machine) {
  *machine = {};
  std::snprintf(machine->images, sizeof(machine->images), "%s", listImages().c_str());
  int device = 0, major = 0, minor = 0, multiprocessors = 0;
  size_t free = 0, total = 0;
  cudaDeviceProp properties;
  for (const auto &ask : {cudaGetDevice(&device), cudaGetDeviceProperties(&properties, device),
                          cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                          cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
                          cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
                          cudaMemGetInfo(&free, &total)})
    if (ask != cudaSuccess) {
      forget(ask);
      std::snprintf(machine->problem, sizeof(machine->problem), "%s", missingDevice(ask).c_str());
      return MHCRT_DEVICE_ERROR;
    }
  std::snprintf(machine->name, sizeof(machine->name), "%s", properties.name);
  machine->arch = major * 10 + minor;
  machine->multiprocessors = multiprocessors;
  machine->bytes = static_cast<int64_t>(total);
  if (hasCodeFor(kImages, machine->arch))
    return MHCRT_OK;
  std::snprintf(machine->problem, sizeof(machine->problem), "the GPU is sm_%d, and libmhcrt_cuda.so has %s",
                machine->arch, machine->images);
  return MHCRT_UNAVAILABLE;
}
