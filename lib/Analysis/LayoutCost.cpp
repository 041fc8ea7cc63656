//===- LayoutCost.cpp - Cost of an op by the layout of its streams --*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Analysis/LayoutCost.h"
#include "mhc/Analysis/CostModel.h"

using namespace mlir;
using namespace mhc;

SmallVector<Value> mhc::streamsOf(KernelOpInterface op) {
  SmallVector<Value> streams;
  for (auto [i, tensor] : llvm::enumerate(op.getKernelInfo().tensors))
    if (tensor.flipAttr == "layout")
      llvm::append_range(streams, op.getTensors(i));
  return streams;
}

/// Streams of fast kernels for a GPU.
static constexpr int64_t kStreams = 4;

/// Size of a dim of the record; 0 where the op has no such dim or the size is open.
static int64_t sizeOfDim(KernelOpInterface op, StringRef name) {
  const KernelInfo &info = op.getKernelInfo();
  for (unsigned i = 0; i < info.tensors.size(); ++i)
    if (Value tensor = op.getTensor(i))
      for (auto [dim, size] : llvm::zip(op.getTensorDims(i), cast<RankedTensorType>(tensor.getType()).getShape()))
        if (info.dims[dim] == name && !ShapedType::isDynamic(size))
          return size;
  return 0;
}

/// Kernels without a projection move vectors of 16 bytes: of the channels of a stream, or of the streams of a channel,
/// which are whole from one word of channels on.
static bool vectorsFit(int64_t C, unsigned elementBytes, Layout layout) {
  return C * elementBytes % (layout == Layout::nC ? 16 : 4) == 0;
}

/// Kernels with a projection that read the streams once have tiles for these widths and streams of bf16
/// (RingLaunch.cuh).
static bool tilesFit(KernelOpInterface op, int64_t C, Type element) {
  constexpr int64_t kWidths[] = {768,  1024, 1280, 1536, 2048, 2560, 3072,  3584,
                                 4096, 5120, 6144, 6656, 7168, 8192, 12288, 16384};
  constexpr int64_t kColumns = 24; // 2n + n^2; a head has n, which are padded, and no N when it is one op
  const int64_t N = sizeOfDim(op, "N");
  auto precision = op->getAttrOfType<PrecisionAttr>("precision");
  return element.isBF16() && llvm::is_contained(kWidths, C) && (N == kColumns || N == kStreams || N == 0) &&
         (!precision || precision.getValue() >= Precision::bf16x3);
}

bool mhc::hasFastKernel(KernelOpInterface op, Layout layout, unsigned gpu) {
  if (gpu == 0)
    return layout == Layout::nC;
  constexpr unsigned kHopper = 90;
  const int64_t C = sizeOfDim(op, "C");
  if (sizeOfDim(op, "n") != kStreams || C == 0)
    return false;
  const Type element = getElementTypeOrSelf(streamsOf(op).front());
  if (sizeOfDim(op, "K"))
    return gpu == kHopper && layout == Layout::nC && tilesFit(op, C, element);
  const bool isChain =
      llvm::any_of(op.getKernelInfo().tensors, [](const KernelTensor &tensor) { return tensor.isList; });
  return vectorsFit(C, element.getIntOrFloatBitWidth() / 8, layout) && (layout == Layout::nC || !isChain);
}

int64_t mhc::bytesPerToken(KernelOpInterface op, Layout layout, unsigned gpu) {
  // Measured (docs/performance.md): chains on a GPU took 1.2 times as long where mhc.pre is not alone, as its gradients
  // and boundaries have no row there; on a CPU 1.2 to 2.2 times, and their gradients more.
  constexpr int64_t kSlow = 2;
  return bytesPerToken(op) * (hasFastKernel(op, layout, gpu) ? 1 : kSlow);
}
