//===- VariantTest.cpp - Which variant takes a call, and why --------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "../Call.h"
#include "FakeDriver.h"

#include "cuda/host/Variants.h"
#include "mhcrt/cuda.h"

#include <gtest/gtest.h>

using namespace mhcrt;
using namespace mhcrt::test;

namespace {

class CudaVariants : public testing::Test {
protected:
  CudaVariants() {
    driver() = FakeDriver();
    EXPECT_EQ(mhcrt_context_create(0, &context), MHCRT_OK);
  }
  ~CudaVariants() override { mhcrt_context_destroy(context); }

  std::string error() {
    const std::string text = mhcrt_last_error(context);
    mhcrt_clear_error(context);
    return text;
  }
  /// The variant that takes a call of `C` channels; "none" after an error.
  std::string chosen(int64_t C);

  mhcrt_context *context = nullptr;
};

bool takesEven(const AggregateArgs &a, Needs &needs) { return needs.multiple("C", a.C, 2); }
template <cudaError_t kResult = cudaSuccess>
cudaError_t launchNothing(mhcrt_context &, const AggregateArgs &) {
  return kResult;
}
constexpr Variant<AggregateArgs> kRows[] = {{"hopper", 90, 90, takesEven, launchNothing},
                                            {"ampere", 80, kAnyArch, takesEven, launchNothing},
                                            {"generic", 0, kAnyArch, nullptr, launchNothing}};

std::string CudaVariants::chosen(int64_t C) {
  AggregateArgs args = {};
  args.C = C;
  if (launchVariant(*context, "aggregate", kRows, args) != MHCRT_OK)
    return "none";
  return mhcrt_cuda_chosen(context, "aggregate");
}

TEST_F(CudaVariants, TheFirstWhoseNeedsAreMet) {
  EXPECT_EQ(mhcrt_cuda_chosen(context, "aggregate"), nullptr);
  EXPECT_EQ(context->arch, 90);
  EXPECT_EQ(chosen(2), "hopper");
  EXPECT_EQ(chosen(3), "generic");
  EXPECT_EQ(chosen(2), "hopper");
  context->arch = 100;
  EXPECT_EQ(chosen(2), "ampere");
  context->arch = 70;
  EXPECT_EQ(chosen(2), "generic");
  EXPECT_EQ(mhcrt_cuda_chosen(context, "post"), nullptr);
}

TEST_F(CudaVariants, Pins) {
  mhcrt_cuda_pin(context, "aggregate=ampere");
  EXPECT_EQ(chosen(2), "ampere");
  EXPECT_EQ(chosen(3), "none");
  EXPECT_EQ(error(),
            "mhcrt_aggregate: the pinned variant 'ampere' does not take this call: 'C' is 3; needed a multiple of 2");
  context->arch = 70;
  EXPECT_EQ(chosen(2), "none");
  EXPECT_EQ(error(),
            "mhcrt_aggregate: the pinned variant 'ampere' does not take this call: the GPU is sm_70; needed sm_80");
  mhcrt_cuda_pin(context, "aggregate=fast");
  EXPECT_EQ(chosen(2), "none");
  EXPECT_EQ(mhcrt_last_status(context), MHCRT_NOT_FOUND);
  EXPECT_EQ(error(), "mhcrt_aggregate: no variant is called 'fast'; there are 'hopper', 'ampere', 'generic'");
  EXPECT_EQ(mhcrt_cuda_pin(context, "aggregate"), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(error(), "mhcrt_cuda_pin: 'aggregate' has no '='; needed OP=VARIANT");
  mhcrt_cuda_pin(context, "aggregate=");
  EXPECT_EQ(chosen(2), "generic");
}

/// A row is taken where its products are as exact as the call asks.
TEST_F(CudaVariants, PrecisionRefuses) {
  constexpr auto launch = [](mhcrt_context &, const ProjectionArgs &) { return cudaSuccess; };
  constexpr Variant<ProjectionArgs> rows[] = {{"one", 90, 90, nullptr, launch},
                                              {"two", 90, 90, nullptr, launch, MHCRT_PRECISION_BF16X3},
                                              {"generic", 0, kAnyArch, nullptr, launch, MHCRT_PRECISION_IEEE}};
  ProjectionArgs args = {};
  const auto taken = [&](int32_t precision) -> std::string {
    args.precision = precision;
    const mhcrt_status status = launchVariant(*context, "projection", rows, args);
    return status == MHCRT_OK ? mhcrt_cuda_chosen(context, "projection") : "none";
  };
  EXPECT_EQ(taken(MHCRT_PRECISION_TF32), "one"); // what a row promises that says nothing
  EXPECT_EQ(taken(MHCRT_PRECISION_BF16X3), "two");
  EXPECT_EQ(taken(MHCRT_PRECISION_TF32X3), "generic");
  EXPECT_EQ(taken(MHCRT_PRECISION_IEEE), "generic");

  mhcrt_cuda_pin(context, "projection=two");
  EXPECT_EQ(taken(MHCRT_PRECISION_TF32), "two");
  EXPECT_EQ(taken(MHCRT_PRECISION_IEEE), "none");
  EXPECT_EQ(error(),
            "mhcrt_projection: the pinned variant 'two' does not take this call: 'precision' is ieee; needed at "
            "most bf16x3");
}

TEST_F(CudaVariants, StrictModeRefusesSlowerOnes) {
  mhcrt_cuda_set_strict(context, 1);
  EXPECT_EQ(chosen(2), "hopper");
  context->arch = 100;
  EXPECT_EQ(chosen(3), "none");
  EXPECT_EQ(error(),
            "mhcrt_aggregate: no variant that is faster than 'generic' takes this call, and strict mode "
            "refuses that one. hopper: the GPU is sm_100; needed sm_90. ampere: 'C' is 3; needed a multiple of 2");
  constexpr Variant<AggregateArgs> slower[] = {
      {"hopper", 90, 90, takesEven, launchNothing},
      {"ampere", 80, kAnyArch, takesEven, launchNothing, MHCRT_PRECISION_TF32, true},
      {"generic", 0, kAnyArch, nullptr, launchNothing}};
  AggregateArgs even = {};
  even.C = 2;
  EXPECT_NE(launchVariant(*context, "contract", slower, even), MHCRT_OK);
  EXPECT_EQ(error(), "mhcrt_contract: no variant that is faster than 'ampere' takes this call, and strict mode refuses "
                     "that one. hopper: the GPU is sm_100; needed sm_90");
  mhcrt_cuda_pin(context, "aggregate=generic");
  EXPECT_EQ(chosen(3), "generic");
  // Where there is no other, it is the best one.
  constexpr Variant<AggregateArgs> one[] = {{"generic", 0, kAnyArch, nullptr, launchNothing}};
  EXPECT_EQ(launchVariant(*context, "expand", one, AggregateArgs()), MHCRT_OK);
}

TEST_F(CudaVariants, ChoicesAndReasonsAreReported) {
  const auto choice = [&](int32_t index) {
    mhcrt_cuda_choice choice;
    mhcrt_cuda_choice_at(context, index, &choice);
    return std::string(choice.op) + " " + choice.variant + " " + std::to_string(choice.calls) + " " + choice.fallback;
  };
  EXPECT_EQ(mhcrt_cuda_choices(context), 0);
  for (int64_t C : {2, 3, 5, 2, 4})
    chosen(C);
  ASSERT_EQ(mhcrt_cuda_choices(context), 2);
  EXPECT_EQ(choice(0), "aggregate hopper 3 ");
  EXPECT_EQ(choice(1), "aggregate generic 2 hopper: 'C' is 3; needed a multiple of 2. ampere: 'C' is 3; needed a "
                       "multiple of 2");
  // A pinned variant needs no reason.
  mhcrt_cuda_pin(context, "post=generic");
  ASSERT_EQ(call(mhcrt_post, context, this, MHCRT_F32, nullptr, MHCRT_NONE, this, MHCRT_F32, this, MHCRT_F32, this,
                 MHCRT_F32, nullptr, MHCRT_NONE, this, MHCRT_F32, 3, 33, 4, 0, 0, 0, 0, 0),
            MHCRT_OK);
  EXPECT_EQ(choice(2), "post generic 1 ");
}

/// Messages of a single row about a call that it does not take.
TEST_F(CudaVariants, NeedsInWords) {
  const auto text = [](const auto &need) {
    Needs needs;
    EXPECT_FALSE(need(needs));
    return needs.text();
  };
  EXPECT_EQ(text([](Needs &n) { return n.equal("n", 3, 4); }), "'n' is 3; needed 4");
  EXPECT_EQ(text([](Needs &n) { return n.atMost("iters", 65, 64); }), "'iters' is 65; needed at most 64");
  EXPECT_EQ(text([](Needs &n) { return n.multiple("C", 100, 32); }), "'C' is 100; needed a multiple of 32");
  EXPECT_EQ(text([](Needs &n) { return n.type("x", MHCRT_F32, MHCRT_BF16); }), "'x' has dtype f32; needed bf16");
  EXPECT_EQ(text([](Needs &n) { return n.given("d_f", nullptr); }), "'d_f' is absent; needed it");
  EXPECT_EQ(text([](Needs &n) { return n.absent("d_bias", &n); }), "'d_bias' is given; needed none");
  EXPECT_EQ(text([](Needs &n) { return n.aligned({nullptr, reinterpret_cast<void *>(24)}); }),
            "a tensor's address is no multiple of 16");
  EXPECT_EQ(text([](Needs &n) { return n.that(false, "tokens"); }), "needed tokens");
  EXPECT_EQ(text([](Needs &n) { return n.arch(80, 90, 90); }), "the GPU is sm_80; needed sm_90");
  EXPECT_EQ(text([](Needs &n) { return n.clusters(0, 16); }), "the GPU has room for 0 clusters of 16 blocks; needed 1");
  EXPECT_EQ(text([](Needs &n) { return n.precision(MHCRT_PRECISION_TF32X3, MHCRT_PRECISION_TF32); }),
            "'precision' is tf32x3; needed at most tf32");
  // The first of several.
  EXPECT_EQ(text([](Needs &n) { return n.equal("n", 4, 4) && n.multiple("C", 33, 8) && n.equal("M", 1, 2); }),
            "'C' is 33; needed a multiple of 8");
  EXPECT_EQ(Needs().text(), "");
}

TEST_F(CudaVariants, AFailedLaunchNamesOpVariantAndError) {
  constexpr Variant<AggregateArgs> rows[] = {
      {"generic", 0, kAnyArch, nullptr, launchNothing<cudaErrorInvalidConfiguration>}};
  EXPECT_EQ(launchVariant(*context, "aggregate", rows, AggregateArgs()), MHCRT_DEVICE_ERROR);
  EXPECT_EQ(error(), "mhcrt_aggregate, variant generic: an error of the fake driver (cudaErrorFake)");
}

} // namespace
