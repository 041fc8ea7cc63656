//===- Products.h - Dense products through cuBLASLt -------------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library is opened at the first product: a model without one needs none.
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_CUDA_HOST_PRODUCTS_H
#define MHCRT_CUDA_HOST_PRODUCTS_H

#include "cuda/host/Context.h"

#include <cublasLt.h>
#include <map>
#include <tuple>

namespace mhcrt {

/// out[b,M,N] = lhs[b,M,K] * rhs[b,K,N], row-major; types are mhcrt_dtype.
struct Product {
  int32_t inType, outType; ///< of both operands
  int64_t B, M, K, N;
  bool transposeLhs, transposeRhs;
  uint32_t alignment; ///< bytes that all addresses and strides are a multiple of

  auto key() const { return std::tie(inType, outType, B, M, K, N, transposeLhs, transposeRhs, alignment); }
  bool operator<(const Product &other) const { return key() < other.key(); }
};

/// Bytes that the library may use for partial sums: its advice for the newest GPUs.
constexpr int64_t kProductWorkspace = 32 << 20;

class Products {
public:
  Products() = default;
  Products(const Products &) = delete;
  Products &operator=(const Products &) = delete;
  ~Products();

  /// False with the error set where the library is not to be had.
  bool open(mhcrt_context &context, const char *kernel);

  /// False where the library has no algorithm for it.
  bool has(const Product &product) { return plan(product).isUsable; }
  /// One that the library has, with kProductWorkspace bytes of scratch memory.
  mhcrt_status run(mhcrt_context &context, const char *kernel, const Product &product, const void *lhs, const void *rhs,
                   void *out, void *workspace);

private:
  struct Plan {
    cublasLtMatmulDesc_t operation = nullptr;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, out = nullptr;
    cublasLtMatmulAlgo_t algorithm = {};
    bool isUsable = false;
  };

  const Plan &plan(const Product &product);
  cublasStatus_t make(const Product &product, Plan &plan);
  cublasStatus_t choose(const Product &product, Plan &plan);

  struct Functions {
    decltype(&cublasLtCreate) create;
    decltype(&cublasLtDestroy) destroy;
    decltype(&cublasLtMatmul) matmul;
    decltype(&cublasLtMatmulDescCreate) describe;
    decltype(&cublasLtMatmulDescDestroy) forget;
    decltype(&cublasLtMatmulDescSetAttribute) set;
    decltype(&cublasLtMatrixLayoutCreate) layOut;
    decltype(&cublasLtMatrixLayoutDestroy) forgetLayout;
    decltype(&cublasLtMatrixLayoutSetAttribute) setLayout;
    decltype(&cublasLtMatmulPreferenceCreate) prefer;
    decltype(&cublasLtMatmulPreferenceDestroy) forgetPreference;
    decltype(&cublasLtMatmulPreferenceSetAttribute) setPreference;
    decltype(&cublasLtMatmulAlgoGetHeuristic) algorithms;
  };

  void *library = nullptr;
  Functions lt = {};
  cublasLtHandle_t handle = nullptr;
  std::map<Product, Plan> plans;
};

} // namespace mhcrt

#endif // MHCRT_CUDA_HOST_PRODUCTS_H
