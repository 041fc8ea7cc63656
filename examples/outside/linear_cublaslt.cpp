//===- linear_cublaslt.cpp - A sublayer by cuBLASLt -------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that model.mlir calls and has not, for a GPU: f = u w^T and its gradients by cuBLASLt, in f32 or bf16.
//
//     c++ -O2 -shared -fPIC -I PREFIX/include -I CUDA/include examples/outside/linear_cublaslt.cpp -lcublasLt -o
//     linear.so mhcc examples/outside/model.mlir --grad=model --target=cuda:sm_90a -o model.so mhc-run model.so
//     --functions linear.so ...                     # a build has it as examples/liblinear_cublaslt.so
//
// A row-major matrix is a column-major one, transposed: what is called A here is the right factor.
//
//===------------------------------------------------------------------------===//
#include "mhcrt/functions.h"

#include <cstdio>
#include <cublasLt.h>

namespace {
/// One per process; a program with several GPUs has one for each, as `user`.
cublasLtHandle_t handle() {
  static cublasLtHandle_t made = nullptr;
  if (!made)
    cublasLtCreate(&made);
  return made;
}

struct Matrix {
  const mhcrt_tensor &tensor;
  bool isTransposed;

  cudaDataType_t type() const { return tensor.dtype == MHCRT_BF16 ? CUDA_R_16BF : CUDA_R_32F; }
  cublasLtMatrixLayout_t layout() const {
    cublasLtMatrixLayout_t made = nullptr;
    cublasLtMatrixLayoutCreate(&made, type(), tensor.dims[1], tensor.dims[0], tensor.dims[1]);
    return made;
  }
};

/// out = left right, all row-major, enqueued on the stream of the model.
mhcrt_status multiply(const mhcrt_call &call, Matrix left, Matrix right, Matrix out) {
  const float one = 1, zero = 0;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const cublasOperation_t a = right.isTransposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t b = left.isTransposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &a, sizeof(a));
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSB, &b, sizeof(b));
  cublasLtMatrixLayout_t layouts[] = {right.layout(), left.layout(), out.layout()};
  const cublasStatus_t status = cublasLtMatmul(handle(), product, &one, right.tensor.data, layouts[0], left.tensor.data,
                                               layouts[1], &zero, out.tensor.data, layouts[2], out.tensor.data,
                                               layouts[2], nullptr, nullptr, 0, static_cast<cudaStream_t>(call.stream));
  for (cublasLtMatrixLayout_t layout : layouts)
    cublasLtMatrixLayoutDestroy(layout);
  cublasLtMatmulDescDestroy(product);
  if (status == CUBLAS_STATUS_SUCCESS)
    return MHCRT_OK;
  std::snprintf(call.message->text, sizeof(call.message->text), "cuBLASLt: %s", cublasLtGetStatusString(status));
  return MHCRT_DEVICE_ERROR;
}
} // namespace

extern "C" {

mhcrt_status linear(void *, const mhcrt_call *call) {
  return multiply(*call, {call->arguments[0], false}, {call->arguments[1], true}, {call->results[0], false});
}

mhcrt_status linear_vjp(void *, const mhcrt_call *call) {
  const mhcrt_tensor &u = call->arguments[0], &w = call->arguments[1], &d_f = call->arguments[2];
  const mhcrt_status status = multiply(*call, {d_f, false}, {w, false}, {call->results[0], false});
  return status ? status : multiply(*call, {d_f, true}, {u, false}, {call->results[1], false});
}

} // extern "C"
