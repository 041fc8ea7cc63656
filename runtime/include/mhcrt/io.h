//===- io.h - Tensors in files ------------------------------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes .npy and .safetensors files, converts element types, compares tensors. C++17; no exception leaves
// these functions: each returns false and fills `error` with the file and the value that is wrong.
//
// A .npy file has no name for bf16: it is stored as '<V2', and '<u2' is read as bf16 too.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_IO_H
#define MHCRT_IO_H

#include "mhcrt/mhcrt.h"

#include <map>
#include <string>
#include <vector>

namespace mhcrt {

/// A tensor that owns its bytes, which are 64-byte aligned.
class HostTensor {
public:
  HostTensor() = default;
  HostTensor(const HostTensor &) = delete;
  HostTensor &operator=(const HostTensor &) = delete;
  HostTensor(HostTensor &&other) noexcept;
  HostTensor &operator=(HostTensor &&other) noexcept;
  ~HostTensor();

  /// Zero-filled. False when dims are negative, too large, or memory is not to be had.
  bool allocate(int32_t dtype, const std::vector<int64_t> &dims, std::string &error);

  const mhcrt_tensor &get() const { return tensor; }
  void *data() const { return tensor.data; }
  int32_t dtype() const { return tensor.dtype; }
  int64_t elements() const;
  int64_t bytes() const;
  std::vector<int64_t> dims() const;
  /// "f32[7,4,64]"
  std::string type() const;

private:
  mhcrt_tensor tensor = {};
};

/// "f32[7,4,64]"
std::string typeName(const mhcrt_tensor &tensor);
/// Bytes of all values; -1 if that is more than 2^63-1.
int64_t bytesOf(const mhcrt_tensor &tensor);

bool readNpy(const std::string &path, HostTensor &tensor, std::string &error);
bool writeNpy(const std::string &path, const mhcrt_tensor &tensor, std::string &error);
/// Refuses what the format forbids. Where the file has our checksum, that must be right.
bool readSafetensors(const std::string &path, std::map<std::string, HostTensor> &tensors, std::string &error);
/// Writes a checksum too; in the order of the names, so that equal tensors make equal files.
bool writeSafetensors(const std::string &path, const std::map<std::string, mhcrt_tensor> &tensors, std::string &error);

/// Element i as a double.
double element(const mhcrt_tensor &tensor, int64_t i);

/// Copies `from` with another element type; float to float only, rounded to nearest even.
bool convert(const mhcrt_tensor &from, int32_t dtype, HostTensor &to, std::string &error);

/// Difference of two tensors. A value passes when |got - want| <= absolute + relative * max|want|; NaN passes only NaN.
struct Comparison {
  bool pass = true;
  double maxAbs = 0;      ///< max |got - want|
  double maxRel = 0;      ///< the same over max |want|
  int64_t bad = 0;        ///< number of elements that do not pass
  int64_t firstBad = -1;  ///< their first flat index
  std::string firstIndex; ///< "[1,0,3]"
  double firstGot = 0, firstWant = 0;
};

struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

/// Half a unit in the last place of 1; 0 for integers.
double unitRoundoff(int32_t dtype);

/// Four roundings of the element type, relative to the largest value, and 2e-5 at least, because the sums behind one
/// element are long: f32 2e-5, f16 2e-3, bf16 1.6e-2. Integers must be equal.
Tolerance defaultTolerance(int32_t dtype);

/// "largest error ..., allowed ...; N bad, first [1,0]: got 1, want 2", of a comparison that did not pass.
std::string describe(const Comparison &result, Tolerance tolerance);

/// False only when the shapes differ; the values' verdict is in `result.pass`.
bool compare(const mhcrt_tensor &got, const mhcrt_tensor &want, Tolerance tolerance, Comparison &result,
             std::string &error);

} // namespace mhcrt

#endif // MHCRT_IO_H
