//===- IrWriterTest.cpp ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mhc/Spelling/IrWriter.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <new>

using namespace mhc::spelling;

static size_t allocations = 0;

void *operator new(size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size))
    return memory;
  std::abort();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

/// Allocations for `count` values that want one name, which is too long to be kept inside of a string.
static size_t allocationsFor(int count) {
  IrWriter writer;
  Value x = writer.argument("x", {{kTokens, 8}, Element::F32});
  size_t before = allocations;
  for (int i = 0; i < count; ++i)
    x = writer.as("a_name_that_many_values_want").unary("math.tanh", x);
  return allocations - before;
}

TEST(IrWriter, NamesAreFoundAtOnce) { EXPECT_LT(allocationsFor(2000), 3 * allocationsFor(1000)); }

TEST(IrWriter, NamesAreUnique) {
  IrWriter writer;
  Value x = writer.argument("x", {{8}, Element::F32});
  EXPECT_EQ(writer.as("y").unary("math.tanh", x).name, "%y");
  EXPECT_EQ(writer.as("y_1").unary("math.tanh", x).name, "%y_1");
  EXPECT_EQ(writer.as("y").unary("math.tanh", x).name, "%y_2");
  EXPECT_EQ(writer.as("y").unary("math.tanh", x).name, "%y_3");
  EXPECT_EQ(writer.as("y_1").unary("math.tanh", x).name, "%y_1_1");
}
