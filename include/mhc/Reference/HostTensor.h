//===- HostTensor.h - A tensor of doubles ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MHC_REFERENCE_HOSTTENSOR_H
#define MHC_REFERENCE_HOSTTENSOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

namespace mhc::reference {

using Shape = llvm::SmallVector<int64_t>;

inline int64_t numElements(llvm::ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<int64_t>());
}

/// A row-major tensor of doubles with value semantics: the elements are shared and never change. Scalars, index values
/// and integers are tensors of rank 0.
class HostTensor {
public:
  HostTensor() : HostTensor({}, {0.0}) {}
  HostTensor(Shape shape, std::vector<double> elements)
      : dims(std::move(shape)), elements(std::make_shared<const std::vector<double>>(std::move(elements))) {}
  explicit HostTensor(double scalar) : HostTensor({}, {scalar}) {}

  llvm::ArrayRef<int64_t> shape() const { return dims; }
  int64_t rank() const { return dims.size(); }
  int64_t size() const { return elements->size(); }
  const double *data() const { return elements->data(); }
  llvm::ArrayRef<double> values() const { return *elements; }

  double scalar() const { return elements->front(); }
  int64_t integer() const { return static_cast<int64_t>(scalar()); }

  /// The same elements under another shape.
  HostTensor reshaped(Shape shape) const {
    HostTensor other = *this;
    other.dims = std::move(shape);
    return other;
  }

private:
  Shape dims;
  std::shared_ptr<const std::vector<double>> elements;
};

} // namespace mhc::reference

#endif // MHC_REFERENCE_HOSTTENSOR_H
