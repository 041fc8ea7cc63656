//===- CostModel.h - Bytes, flops and launches of a function ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cost of a function, in bytes moved and operations, if every op is one kernel that reads its operands once and writes
// its results once. Kernel ops follow their record. Views cost nothing: reshapes, casts of shape and contiguous slices.
// A constant whose elements are equal is part of the instruction and is not read.
//
// An elementwise op counts one flop per element, a reduction one per operand element, softmax and rms_norm four;
// changes of format and of place count none. A linalg op counts the arithmetic of its body for each iteration.
//
//===----------------------------------------------------------------------===//

#ifndef MHC_ANALYSIS_COSTMODEL_H
#define MHC_ANALYSIS_COSTMODEL_H

#include "mhc/IR/MhcInterfaces.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace mhc {

/// A number that grows with the tokens M of a function.
struct Amount {
  double perToken = 0, fixed = 0;

  double at(double tokens) const { return perToken * tokens + fixed; }
  Amount &operator+=(Amount other) {
    perToken += other.perToken;
    fixed += other.fixed;
    return *this;
  }
  friend Amount operator+(Amount a, Amount b) { return a += b; }
  friend Amount operator*(double factor, Amount a) { return {factor * a.perToken, factor * a.fixed}; }
  friend bool operator==(Amount a, Amount b) { return a.perToken == b.perToken && a.fixed == b.fixed; }
};

struct Cost {
  Amount bytesRead, bytesWritten, flops;
  double launches = 0;

  Amount bytes() const { return bytesRead + bytesWritten; }
  Cost &operator+=(const Cost &other);
};

Cost operator*(double factor, const Cost &cost);

struct OpCost {
  std::string name;
  unsigned line = 0;             ///< in the source file; 0 when unknown
  mlir::Operation *op = nullptr; ///< of the function as it was counted
  double times = 1;              ///< iterations of the loops around it, counted in `cost`
  Cost cost;
  /// Dynamic quantities other than M that the cost depends on, such as the name of a size; the op is then not counted.
  std::string unknown;
  std::string besides; ///< operands whose few bytes are not counted, and their sizes
  bool isMhc = false;  ///< what raising makes, not plain code
};

/// A temporary of a compiled function.
struct Temporary {
  std::string bytes;   ///< "16*M + 4"
  int64_t first, last; ///< steps of the function that touch it
  int64_t line;        ///< in the source file; 0 when unknown
};

/// Traffic of the gradient kernels of mHC sublayers that have the same number of streams and element type.
struct StreamGradients {
  int64_t streams, elementBytes;
  int64_t sublayers;
  /// Bytes of tensors with channels, per token, channel and sublayer: the rest does not grow with the width of a model.
  double bytesPerChannel;
};

/// The same by kernels that keep the running sum of a gradient in the streams' type, from post_bwd on.
inline int64_t chainBytesPerChannel(int64_t n, int64_t elementBytes) { return (9 * n + 3) * elementBytes; }
/// By post_bwd without the streams, (2n+2), and pre_bwd, which writes their whole gradient once, (3n+1).
inline int64_t layerBytesPerChannel(int64_t n, int64_t elementBytes) { return (5 * n + 3) * elementBytes; }
/// By post_pre_bwd alone, which reads x, f, d_u and the start of dy and writes d_x and d_f; dy is not stored.
inline int64_t modelBytesPerChannel(int64_t n, int64_t elementBytes) { return (3 * n + 3) * elementBytes; }
/// By three kernels that know nothing of one another, without and with the pass that adds up what they make.
inline int64_t separateBytesPerChannel(int64_t n, int64_t elementBytes) { return (7 * n + 3) * elementBytes; }
inline int64_t addedBytesPerChannel(int64_t n, int64_t elementBytes) { return (11 * n + 3) * elementBytes; }

/// Traffic of the kernels of one kind that begin, join or end sublayers: in all, of tensors with channels, per token
/// and channel. The closed form is (streams n + channels) a for each, with a bytes an element.
struct SublayerKernels {
  std::string op; ///< its name without the dialect
  int64_t streams = 0, channels = 0;
  int64_t ops = 0;
  double closedForm = 0, counted = 0;
};

/// Traffic of front ends of gated delta nets in one direction, per token: by the closed form of math.md 9, and as
/// counted.
struct FrontEndBytes {
  int64_t ops = 0;
  double closedForm = 0, counted = 0;
};

struct FunctionCost {
  std::string name;
  std::vector<OpCost> ops; ///< without those that cost nothing
  Cost total;
  /// Most bytes of temporaries that are needed at the same time; arguments and results belong to the caller.
  Amount peakBytes;
  /// Bytes of the arena in a compiled function, where the memory plan has recorded them.
  std::optional<Amount> plannedPeakBytes;
  /// Those in the arena, in the order of the function.
  std::vector<Temporary> temporaries;
  /// Set where the function has gradients of sublayers, all alike.
  std::optional<StreamGradients> streamGradients;
  /// By kind, in the order in which the kinds first come.
  std::vector<SublayerKernels> sublayerKernels;
  FrontEndBytes frontEnds, frontEndsInPlace, frontEndGradients; ///< in place: z is read where it lies
  bool isComplete() const;
};

/// Bytes that a kernel op reads and writes per token, by its record; what does not grow with the tokens is left out.
int64_t bytesPerToken(KernelOpInterface op);

FunctionCost costOf(mlir::func::FuncOp func);

/// Bytes of the results of a function from number `first` on; those whose size depends on more than M count as nothing.
Amount resultBytes(mlir::func::FuncOp func, unsigned first);

/// The peak that mhc-plan-memory recorded, if all of it is a multiple of M or constant.
std::optional<Amount> plannedPeakBytes(mlir::func::FuncOp func);

/// The temporaries that it recorded.
std::vector<Temporary> plannedTemporaries(mlir::func::FuncOp func);

} // namespace mhc

#endif // MHC_ANALYSIS_COSTMODEL_H
