//===- Permutation.cuh - Permutations in lexicographic order ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_ALGEBRA_PERMUTATION_CUH
#define MHCRT_CUDA_ALGEBRA_PERMUTATION_CUH

#include <cstdint>

namespace mhcrt {

/// row r of the matrix has its one in column (*this)[r].
class Permutation {
public:
  __device__ explicit Permutation(int64_t n) : n(static_cast<int>(n)) {
    for (int r = 0; r < this->n; ++r)
      order[r] = static_cast<uint8_t>(r);
  }
  __device__ int operator[](int r) const { return order[r]; }

  /// The next one; the last stays.
  __device__ void advance() {
    int last = n - 2;
    while (last >= 0 && order[last] > order[last + 1])
      --last;
    if (last < 0)
      return;
    int larger = n - 1;
    while (order[larger] < order[last])
      --larger;
    swap(last, larger);
    for (int a = last + 1, b = n - 1; a < b; ++a, --b)
      swap(a, b);
  }

private:
  __device__ void swap(int a, int b) {
    const uint8_t value = order[a];
    order[a] = order[b];
    order[b] = value;
  }

  int n;
  uint8_t order[16];
};

} // namespace mhcrt

#endif // MHCRT_CUDA_ALGEBRA_PERMUTATION_CUH
