//===- BoundsTest.cpp ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verifiers, whose bounds are in the records, and the runtime take the same calls.
//
//===----------------------------------------------------------------------===//

#include "../../tools/mhc-bench/KernelFunction.h"
#include "../../tools/mhc-bench/Oracle.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mhc;
using namespace mhc::bench;

namespace {
class Bounds : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(mhcrt_context_create(1, &context), MHCRT_OK);
    auto opened = Runtime::open("cpu");
    ASSERT_TRUE(static_cast<bool>(opened));
    runtime = *opened;
  }
  void TearDown() override { mhcrt_context_destroy(context); }

  /// Whether both take the case; they must agree.
  bool isTaken(const Case &c, const std::string &what) {
    std::vector<std::vector<char>> memory;
    std::vector<void *> data;
    for (const CaseTensor &tensor : c.tensors) {
      // Memory for tensors that no kernel accepts is not needed.
      const int64_t bytes = std::min<int64_t>(tensor.elements * mhcrt_dtype_bytes(tensor.dtype), 1 << 20);
      memory.emplace_back(std::max<int64_t>(bytes, 1));
      data.push_back(tensor.count > 0 ? memory.back().data() : nullptr);
    }
    const bool isLegal = Oracle(*mlir, c).isLegal();
    KernelFunction call(c, runtime.kernel(c.info->symbol), context, data);
    EXPECT_TRUE(call.isFound()) << c.kernel;
    const bool isGood = call() == MHCRT_OK;
    EXPECT_EQ(isLegal, isGood) << c.kernel << " with " << what << ": " << mhcrt_last_error(context);
    mhcrt_clear_error(context);
    return isLegal && isGood;
  }

  /// Bounds with the one dropout that the kernel may have.
  Case smallCase(const KernelInfo &info, Sizes sizes = {3, 8, 4}) {
    const bool isList = llvm::any_of(info.tensors, [](const KernelTensor &t) { return t.name == "seed" && t.isList; });
    return makeCase(info, sizes, MHCRT_F32, {}, llvm::ArrayRef<llvm::StringRef>("seed").drop_back(isList));
  }

  std::unique_ptr<mlir::MLIRContext> mlir = makeOracleContext();
  mhcrt_context *context = nullptr;
  Runtime runtime;
};
} // namespace

/// 16 heads are those of the case: their number has to fit the sizes as well.
TEST_F(Bounds, Numbers) {
  const std::initializer_list<double> floats = {-1e-6, 0.0, 0.5, 1.0, INFINITY, NAN},
                                      integers = {-1, 0, 1, 16, 1000, 1001, 0x1p32 - 1, 0x1p32};
  for (const KernelInfo *info : allKernelInfos()) {
    const Case good = smallCase(*info);
    EXPECT_TRUE(isTaken(good, "nothing changed"));
    for (auto [i, attr] : llvm::enumerate(info->attrs)) {
      if ((attr.kind != KernelAttr::Float && attr.kind != KernelAttr::Int) || isLeftOut(good, attr))
        continue;
      int taken = 0, refused = 0;
      for (double value : attr.kind == KernelAttr::Float ? floats : integers) {
        Case c = good;
        c.values.attrs[i] = value;
        ++(isTaken(c, attr.name.str() + " = " + std::to_string(value)) ? taken : refused);
      }
      EXPECT_TRUE(taken > 0 && refused > 0) << good.kernel << " has no bound of '" << attr.name.str() << "'";
    }
  }
}

TEST_F(Bounds, Sizes) {
  for (const KernelInfo *info : allKernelInfos()) {
    SCOPED_TRACE(info->opName.str());
    EXPECT_TRUE(isTaken(smallCase(*info, {0, 8, 4}), "no tokens"));
    EXPECT_TRUE(isTaken(smallCase(*info, {3, 1, 1}), "one channel of one stream"));
    if (llvm::is_contained(info->dims, "C")) {
      EXPECT_FALSE(isTaken(smallCase(*info, {3, 0, 4}), "no channels"));
    }
    for (int64_t n : {0, 17}) {
      if (llvm::is_contained(info->dims, "n")) {
        EXPECT_FALSE(isTaken(smallCase(*info, {3, 8, n}), std::to_string(n) + " streams"));
      }
    }
  }
}
