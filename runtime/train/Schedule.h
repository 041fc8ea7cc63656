//===- Schedule.h - Learning rate of a step --------------------- -*- C++ -*- ===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_SCHEDULE_H
#define MHCRT_TRAIN_SCHEDULE_H

#include "mhcrt/train.h"

namespace mhcrt {

/// The learning rate of a step, the first of which is 0.
double learningRate(const TrainOptions &options, int64_t step);

} // namespace mhcrt

#endif // MHCRT_TRAIN_SCHEDULE_H
