//===- Products.cpp - Dense products through cuBLASLt ---------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "cuda/host/Products.h"

#include <dlfcn.h>

using namespace mhcrt;

static constexpr const char *kLibraries[] = {"libcublasLt.so.13", "libcublasLt.so.12"};

Products::~Products() {
  for (auto &[product, plan] : plans) {
    for (cublasLtMatrixLayout_t layout : {plan.a, plan.b, plan.out})
      if (layout)
        lt.forgetLayout(layout);
    if (plan.operation)
      lt.forget(plan.operation);
  }
  if (handle)
    lt.destroy(handle);
  if (library)
    dlclose(library);
}

template <typename Function>
static bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool Products::open(mhcrt_context &context, const char *kernel) {
  if (handle)
    return true;
  for (const char *name : kLibraries)
    library = library ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    context.fail(MHCRT_UNAVAILABLE, "%s: neither %s nor %s was found; they are part of the CUDA toolkit", kernel,
                 kLibraries[0], kLibraries[1]);
    return false;
  }
  const bool complete = find(library, "cublasLtCreate", lt.create) && find(library, "cublasLtDestroy", lt.destroy) &&
                        find(library, "cublasLtMatmul", lt.matmul) &&
                        find(library, "cublasLtMatmulDescCreate", lt.describe) &&
                        find(library, "cublasLtMatmulDescDestroy", lt.forget) &&
                        find(library, "cublasLtMatmulDescSetAttribute", lt.set) &&
                        find(library, "cublasLtMatrixLayoutCreate", lt.layOut) &&
                        find(library, "cublasLtMatrixLayoutDestroy", lt.forgetLayout) &&
                        find(library, "cublasLtMatrixLayoutSetAttribute", lt.setLayout) &&
                        find(library, "cublasLtMatmulPreferenceCreate", lt.prefer) &&
                        find(library, "cublasLtMatmulPreferenceDestroy", lt.forgetPreference) &&
                        find(library, "cublasLtMatmulPreferenceSetAttribute", lt.setPreference) &&
                        find(library, "cublasLtMatmulAlgoGetHeuristic", lt.algorithms);
  const cublasStatus_t status = complete ? lt.create(&handle) : CUBLAS_STATUS_NOT_SUPPORTED;
  if (status == CUBLAS_STATUS_SUCCESS)
    return true;
  handle = nullptr;
  context.fail(MHCRT_UNAVAILABLE, "%s: cuBLASLt does not start (status %d)", kernel, status);
  return false;
}

static cudaDataType typeOf(int32_t type) {
  return type == MHCRT_F32 ? CUDA_R_32F : type == MHCRT_BF16 ? CUDA_R_16BF : CUDA_R_16F;
}

/// The library's matrices are column-major: it is called for out^T = rhs^T lhs^T.
cublasStatus_t Products::make(const Product &product, Plan &plan) {
  const auto &[inType, outType, B, M, K, N, transposeLhs, transposeRhs, alignment] = product;
  const cublasOperation_t opA = transposeRhs ? CUBLAS_OP_T : CUBLAS_OP_N,
                          opB = transposeLhs ? CUBLAS_OP_T : CUBLAS_OP_N;
  // f32 products are exact: no TF32.
  cublasStatus_t status = lt.describe(&plan.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const auto then = [&](cublasStatus_t next) { status = status == CUBLAS_STATUS_SUCCESS ? next : status; };
  then(lt.set(plan.operation, CUBLASLT_MATMUL_DESC_TRANSA, &opA, sizeof(opA)));
  then(lt.set(plan.operation, CUBLASLT_MATMUL_DESC_TRANSB, &opB, sizeof(opB)));
  const auto layOut = [&](cublasLtMatrixLayout_t &layout, int32_t type, int64_t rows, int64_t columns) {
    const auto batch = static_cast<int32_t>(product.B);
    const int64_t stride = rows * columns;
    then(lt.layOut(&layout, typeOf(type), rows, columns, rows));
    then(lt.setLayout(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch)));
    then(lt.setLayout(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride)));
  };
  layOut(plan.a, inType, transposeRhs ? K : N, transposeRhs ? N : K);
  layOut(plan.b, inType, transposeLhs ? M : K, transposeLhs ? K : M);
  layOut(plan.out, outType, N, M);
  return status;
}

cublasStatus_t Products::choose(const Product &product, Plan &plan) {
  cublasLtMatmulPreference_t preference = nullptr;
  cublasStatus_t status = lt.prefer(&preference);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto &value) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status = lt.setPreference(preference, attribute, &value, sizeof(value));
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(kProductWorkspace));
  // Parts of a sum may be added in f32 in an order of their own, but not by atomics and not in 16 bits.
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  for (auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                         CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    set(attribute, product.alignment);
  cublasLtMatmulHeuristicResult_t found = {};
  int count = 0;
  if (status == CUBLAS_STATUS_SUCCESS)
    status = lt.algorithms(handle, plan.operation, plan.a, plan.b, plan.out, plan.out, preference, 1, &found, &count);
  if (preference)
    lt.forgetPreference(preference);
  plan.algorithm = found.algo;
  plan.isUsable = status == CUBLAS_STATUS_SUCCESS && count > 0;
  return status;
}

const Products::Plan &Products::plan(const Product &product) {
  auto [place, isNew] = plans.try_emplace(product);
  Plan &plan = place->second;
  if (isNew && make(product, plan) == CUBLAS_STATUS_SUCCESS)
    choose(product, plan);
  return plan;
}

mhcrt_status Products::run(mhcrt_context &context, const char *kernel, const Product &product, const void *lhs,
                           const void *rhs, void *out, void *workspace) {
  const Plan &chosen = plan(product);
  const float one = 1, zero = 0;
  const cublasStatus_t status =
      lt.matmul(handle, chosen.operation, &one, rhs, chosen.a, lhs, chosen.b, &zero, out, chosen.out, out, chosen.out,
                &chosen.algorithm, workspace, kProductWorkspace, context.stream);
  if (status == CUBLAS_STATUS_SUCCESS)
    return context.status;
  forget(cudaPeekAtLastError());
  return context.fail(MHCRT_DEVICE_ERROR, "%s: cuBLASLt does not multiply %lldx%lld by %lldx%lld (status %d)", kernel,
                      static_cast<long long>(product.M), static_cast<long long>(product.K),
                      static_cast<long long>(product.K), static_cast<long long>(product.N), status);
}
