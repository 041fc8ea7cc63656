//===- Gpu.h - Streams of a GPU --------------------------------- -*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TRAIN_GPU_H
#define MHCRT_TRAIN_GPU_H

#include "mhcrt/train.h"

#include <string>

namespace mhcrt {

/// The GPU that a rank computes on, by its driver: streams, what waits for what, and sums of tensors there. Closed, it
/// does nothing. The driver's library is opened when it is needed.
class Gpu {
public:
  Gpu() = default;
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  /// Lets the session compute on a stream of this object. Stays closed where the machine has no driver.
  bool open(const Session &session, std::string &error);
  bool isOpen() const { return computing; }
  /// The stream of the session.
  void *stream() const { return computing; }

  bool makeStream(void *&stream, std::string &error);
  /// Work that comes next on `later` waits for that on `earlier`.
  bool order(void *earlier, void *later, std::string &error);
  /// An event stands for what is on the stream when it is recorded, for the first time with null; null is no wait.
  bool record(void *&event, void *stream, std::string &error);
  bool waitFor(void *event, void *stream, std::string &error);
  /// Until the work on the stream has ended; false after `seconds`.
  bool wait(void *stream, double seconds, const std::string &what, std::string &error);

  // On the stream of the session, with values in f32.
  bool zero(void *values, int64_t count, std::string &error);
  bool copy(void *to, const void *from, int64_t count, std::string &error);
  bool add(void *to, const void *from, int64_t count, std::string &error);

private:
  struct Table {
    int (*getDevice)(int *device, int number);
    int (*retainContext)(void **context, int device);
    int (*setContext)(void *context);
    int (*createStream)(void **stream, unsigned flags);
    int (*queryStream)(void *stream);
    int (*createEvent)(void **event, unsigned flags);
    int (*recordEvent)(void *event, void *stream);
    int (*streamWaitEvent)(void *stream, void *event, unsigned flags);
    int (*fill)(uint64_t to, unsigned value, size_t count, void *stream);
    int (*copy)(uint64_t to, uint64_t from, size_t bytes, void *stream);
    int (*loadModule)(void **module, const void *image);
    int (*getFunction)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                  unsigned blockZ, unsigned sharedBytes, void *stream, void **arguments, void **extra);
  };
  bool load();
  bool enter(std::string &error);
  static bool check(int code, const char *what, std::string &error);

  Table table = {};
  void *computing = nullptr, *between = nullptr, *adder = nullptr; ///< a stream, an event and a kernel
};

} // namespace mhcrt

#endif // MHCRT_TRAIN_GPU_H
