//===- ModelTest.cpp - Loading, checking and running models ---------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/model.h"
#include "Call.h"
#include "Support.h"
#include "src/ModelState.h"

using namespace mhcrt::test;

namespace {

mhcrt_tensor tensor(int32_t dtype, std::initializer_list<int64_t> dims, void *data) {
  mhcrt_tensor result = {data, dtype, static_cast<int32_t>(dims.size()), {}};
  std::copy(dims.begin(), dims.end(), result.dims);
  return result;
}

class ModelTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(mhcrt_model_open(MHCRT_TEST_MODEL, &model, &message), MHCRT_OK) << message.text; }
  void TearDown() override { mhcrt_model_close(model); }

  mhcrt_model *model = nullptr;
  mhcrt_message message = {};
};

TEST_F(ModelTest, DescribesItself) {
  ASSERT_EQ(mhcrt_model_entries(model), 2);
  EXPECT_STREQ(mhcrt_model_entry_name(model, 0), "weigh");
  ASSERT_EQ(mhcrt_model_arguments(model, 0), 2);
  ASSERT_EQ(mhcrt_model_results(model, 0), 1);
  const mhcrt_tensor_info *x = mhcrt_model_argument(model, 0, 0);
  EXPECT_STREQ(x->name, "x");
  EXPECT_STREQ(x->type, "bf16[M,4,64]");
  EXPECT_EQ(x->dtype, MHCRT_BF16);
  EXPECT_EQ(x->rank, 3);
  EXPECT_STREQ(x->symbols[0], "M");
  EXPECT_EQ(x->sizes[1], 4);
  EXPECT_EQ(mhcrt_model_argument(model, 0, 2), nullptr);
  EXPECT_EQ(mhcrt_model_argument(model, 7, 0), nullptr);
  EXPECT_EQ(mhcrt_model_entry_name(model, 2), nullptr);
}

TEST_F(ModelTest, Runs) {
  Random random(1);
  Buffer x = random.buffer(MHCRT_BF16, 7 * 4 * 64), h = random.buffer(MHCRT_F32, 7 * 4), u(MHCRT_BF16, 7 * 64);
  Buffer want(MHCRT_BF16, 7 * 64);
  const mhcrt_tensor arguments[] = {tensor(MHCRT_BF16, {7, 4, 64}, x.data()), tensor(MHCRT_F32, {7, 4}, h.data())};
  mhcrt_tensor results[] = {tensor(MHCRT_NONE, {}, u.data())};
  ASSERT_EQ(mhcrt_model_infer(model, 0, arguments, results, &message), MHCRT_OK) << message.text;
  EXPECT_EQ(results[0].dtype, MHCRT_BF16);
  EXPECT_EQ(results[0].rank, 2);
  EXPECT_EQ(results[0].dims[0], 7);
  EXPECT_EQ(results[0].dims[1], 64);
  EXPECT_EQ(results[0].data, u.data());

  mhcrt_context *context = nullptr;
  ASSERT_EQ(mhcrt_model_context_create(model, 2, &context, &message), MHCRT_OK);
  ASSERT_EQ(mhcrt_model_invoke(model, 0, context, arguments, results, &message), MHCRT_OK) << message.text;
  mhcrt_context_stats stats;
  mhcrt_model_context_stats(model, context, &stats);
  EXPECT_EQ(stats.launches, 1);
  EXPECT_EQ(stats.threads, 2);
  mhcrt_model_context_destroy(model, context);

  Context own;
  call(mhcrt_aggregate, own, x.data(), MHCRT_BF16, h.data(), MHCRT_F32, want.data(), MHCRT_BF16, 7, 4, 64,
       MHCRT_LAYOUT_NC);
  EXPECT_TRUE(u == want);
}

TEST_F(ModelTest, ErrorsOfEntriesAreReportedAndCleared) {
  float x[8] = {}, out[24];
  mhcrt_context *context = nullptr;
  ASSERT_EQ(mhcrt_model_context_create(model, 1, &context, &message), MHCRT_OK);
  mhcrt_tensor arguments[] = {tensor(MHCRT_F32, {4, 2}, x)}, results[] = {tensor(MHCRT_F32, {4, 3, 2}, out)};
  EXPECT_EQ(mhcrt_model_invoke(model, 1, context, arguments, results, &message), MHCRT_INVALID_ARGUMENT);
  EXPECT_STREQ(message.text, "entry 'widen': mhcrt_expand: 'n' is 99; needed 1 to 16");
  EXPECT_EQ(mhcrt_model_copy(model, context, out, x, sizeof(x), &message), MHCRT_OK);
  EXPECT_EQ(mhcrt_model_invoke(model, 1, context, arguments, results, nullptr), MHCRT_INVALID_ARGUMENT);
  EXPECT_EQ(mhcrt_model_synchronize(model, context, &message), MHCRT_OK);
  arguments[0].dims[0] = results[0].dims[0] = 2;
  EXPECT_EQ(mhcrt_model_invoke(model, 1, context, arguments, results, &message), MHCRT_OK);
  mhcrt_model_context_destroy(model, context);
}

TEST_F(ModelTest, WrongTensorsAreExplained) {
  float data[8];
  mhcrt_tensor arguments[] = {tensor(MHCRT_F32, {7, 4, 64}, data), tensor(MHCRT_F32, {5, 4}, data)};
  EXPECT_EQ(mhcrt_model_check(model, 0, arguments, &message), MHCRT_INVALID_ARGUMENT);
  EXPECT_STREQ(message.text, "argument 'x' of entry 'weigh': expected bf16[M,4,64], found f32[7,4,64]");
  arguments[0].dtype = MHCRT_BF16;
  EXPECT_EQ(mhcrt_model_check(model, 0, arguments, &message), MHCRT_INVALID_ARGUMENT);
  EXPECT_STREQ(message.text, "entry 'weigh': dimension 'M' is 7 in 'x' but 5 in 'h'");
  arguments[0].dims[2] = 65;
  EXPECT_EQ(mhcrt_model_check(model, 0, arguments, &message), MHCRT_INVALID_ARGUMENT);
  EXPECT_STREQ(message.text, "argument 'x' of entry 'weigh': expected bf16[M,4,64], found bf16[7,4,65]");
  arguments[0].dims[2] = 64;
  arguments[1] = tensor(MHCRT_F32, {7, 4}, nullptr);
  EXPECT_EQ(mhcrt_model_check(model, 0, arguments, &message), MHCRT_INVALID_ARGUMENT);
  EXPECT_STREQ(message.text, "argument 'h' of entry 'weigh' has no data: its pointer is null");
  EXPECT_EQ(mhcrt_model_check(model, 9, arguments, &message), MHCRT_NOT_FOUND);
  EXPECT_STREQ(message.text, "no entry number 9; the model has 2");
  EXPECT_EQ(mhcrt_model_check(model, 9, arguments, nullptr), MHCRT_NOT_FOUND);
}

/// Each argument and result in turn, with codes and numbers that are none as well.
TEST_F(ModelTest, EveryWrongTensorIsRefused) {
  using Change = void (*)(mhcrt_tensor &);
  const Change changes[] = {
      [](mhcrt_tensor &t) { t.dtype = MHCRT_I64; },
      [](mhcrt_tensor &t) { t.dtype = MHCRT_NONE; },
      [](mhcrt_tensor &t) { t.dtype = 99; },
      [](mhcrt_tensor &t) { t.rank = 0; },
      [](mhcrt_tensor &t) { t.rank = -1; },
      [](mhcrt_tensor &t) { ++t.rank; },
      [](mhcrt_tensor &t) { --t.rank; },
      [](mhcrt_tensor &t) { t.rank = INT32_MAX; },
      [](mhcrt_tensor &t) { ++t.dims[1]; },
      [](mhcrt_tensor &t) { t.dims[1] = -1; },
      [](mhcrt_tensor &t) { t.dims[0] = INT64_MIN; },
      [](mhcrt_tensor &t) { t.data = nullptr; },
  };
  std::vector<float> data(2 * 4 * 64);
  const mhcrt_tensor good[] = {tensor(MHCRT_BF16, {2, 4, 64}, data.data()), tensor(MHCRT_F32, {2, 4}, data.data()),
                               tensor(MHCRT_BF16, {2, 64}, data.data())};
  mhcrt_context *context = nullptr;
  ASSERT_EQ(mhcrt_model_context_create(model, 1, &context, &message), MHCRT_OK);
  for (int wrong = 0; wrong < 3; ++wrong)
    for (const Change &change : changes) {
      mhcrt_tensor tensors[] = {good[0], good[1], good[2]};
      change(tensors[wrong]);
      EXPECT_EQ(mhcrt_model_invoke(model, 0, context, tensors, tensors + 2, &message), MHCRT_INVALID_ARGUMENT)
          << "tensor " << wrong << ", change " << &change - changes;
      EXPECT_NE(std::string(message.text)
                    .find(wrong == 0   ? "'x'"
                          : wrong == 1 ? "'h'"
                                       : "'u'"),
                std::string::npos)
          << message.text;
    }
  mhcrt_model_context_destroy(model, context);
}

TEST_F(ModelTest, MissingEntryListsTheEntries) {
  int32_t entry = -1;
  EXPECT_EQ(mhcrt_model_find_entry(model, "widen", &entry, &message), MHCRT_OK);
  EXPECT_EQ(entry, 1);
  EXPECT_EQ(mhcrt_model_find_entry(model, "layer", &entry, &message), MHCRT_NOT_FOUND);
  EXPECT_STREQ(message.text, "no entry 'layer'; the model has 'weigh', 'widen'");
}

TEST_F(ModelTest, WithoutAGpuThereIsNoGraph) {
  mhcrt_context *context = nullptr;
  ASSERT_EQ(mhcrt_model_context_create(model, 1, &context, &message), MHCRT_OK);
  mhcrt_cuda_graph *graph = reinterpret_cast<mhcrt_cuda_graph *>(&message);
  EXPECT_EQ(mhcrt_model_record(model, 0, context, nullptr, nullptr, &graph, &message), MHCRT_UNAVAILABLE);
  EXPECT_STREQ(message.text, "a CUDA graph: the model is for 'cpu'; needed one for a GPU");
  EXPECT_EQ(graph, nullptr);
  message = {};
  EXPECT_EQ(mhcrt_model_replay(model, context, graph, &message), MHCRT_UNAVAILABLE);
  EXPECT_STREQ(message.text, "a CUDA graph: the model is for 'cpu'; needed one for a GPU");
  mhcrt_model_graph_destroy(model, graph);
  mhcrt_model_context_destroy(model, context);
}

TEST(Model, MissingFile) {
  mhcrt_model *model = nullptr;
  mhcrt_message message = {};
  EXPECT_EQ(mhcrt_model_open("/nowhere/layer.so", &model, &message), MHCRT_NOT_FOUND);
  EXPECT_NE(std::string(message.text).find("cannot load the model '/nowhere/layer.so': "), std::string::npos)
      << message.text;
  EXPECT_EQ(model, nullptr);
}

mhcrt_status copyEntry(mhcrt_context *, const mhcrt_tensor *arguments, const mhcrt_tensor *results) {
  *static_cast<float *>(results[0].data) = *static_cast<float *>(arguments[0].data);
  return MHCRT_OK;
}

mhcrt_entry lookup(void *, const char *name) { return std::string(name) == "copy" ? copyEntry : nullptr; }

TEST(Model, WrapsEntriesOfThisProcess) {
  mhcrt_model *model = nullptr;
  mhcrt_message message = {};
  ASSERT_EQ(
      mhcrt_model_wrap("mhc-model 1\nentry copy\narg a f32\nresult b f32\nend\n", lookup, nullptr, &model, &message),
      MHCRT_OK)
      << message.text;
  EXPECT_STREQ(mhcrt_model_argument(model, 0, 0)->type, "f32[]");
  mhcrt_context *context = nullptr;
  ASSERT_EQ(mhcrt_model_context_create(model, 1, &context, &message), MHCRT_OK);
  float a = 3, b = 0;
  const mhcrt_tensor argument = tensor(MHCRT_F32, {}, &a), result = tensor(MHCRT_F32, {}, &b);
  EXPECT_EQ(mhcrt_model_invoke(model, 0, context, &argument, &result, &message), MHCRT_OK) << message.text;
  EXPECT_EQ(b, 3.0f);
  mhcrt_model_context_destroy(model, context);
  mhcrt_model_close(model);
}

bool isRecording = false;
mhcrt_status statusAtEnd = MHCRT_OK;

mhcrt_status failWhenRecorded(mhcrt_context *context, const mhcrt_tensor *, const mhcrt_tensor *) {
  float x = 0;
  return isRecording ? call(mhcrt_expand, context, &x, MHCRT_F32, &x, MHCRT_F32, 1, 1, 99, MHCRT_LAYOUT_NC) : MHCRT_OK;
}

/// A backend that records, in the place of the CUDA one.
TEST(Model, AFailedRecordLeavesNoError) {
  mhcrt_model *model = nullptr;
  mhcrt_message message = {};
  const mhcrt_entry_lookup lookup = [](void *, const char *) -> mhcrt_entry { return failWhenRecorded; };
  ASSERT_EQ(mhcrt_model_wrap("mhc-model 1\nentry a\nend\n", lookup, nullptr, &model, &message), MHCRT_OK);
  mhcrt_context *context = nullptr;
  ASSERT_EQ(mhcrt_model_context_create(model, 1, &context, &message), MHCRT_OK);
  model->cuda.pin = [](mhcrt_context *, const char *) { return MHCRT_OK; };
  model->cuda.recordBegin = [](mhcrt_context *) {
    isRecording = true;
    return MHCRT_OK;
  };
  model->cuda.recordEnd = [](mhcrt_context *context, mhcrt_cuda_graph **) {
    return statusAtEnd = mhcrt_last_status(context);
  };
  mhcrt_cuda_graph *graph = nullptr;
  EXPECT_EQ(mhcrt_model_record(model, 0, context, nullptr, nullptr, &graph, &message), MHCRT_INVALID_ARGUMENT);
  EXPECT_STREQ(message.text, "entry 'a': mhcrt_expand: 'n' is 99; needed 1 to 16");
  EXPECT_EQ(statusAtEnd, MHCRT_INVALID_ARGUMENT); // so that it makes no graph
  EXPECT_EQ(mhcrt_model_synchronize(model, context, &message), MHCRT_OK);
  mhcrt_model_context_destroy(model, context);
  mhcrt_model_close(model);
}

TEST(Model, TargetIsTheCpuUnlessTheManifestSaysOtherwise) {
  mhcrt_model *model = nullptr;
  mhcrt_message message = {};
  ASSERT_EQ(mhcrt_model_wrap("mhc-model 1\n", lookup, nullptr, &model, &message), MHCRT_OK) << message.text;
  EXPECT_STREQ(mhcrt_model_target(model), "cpu");
  mhcrt_model_close(model);
  ASSERT_EQ(mhcrt_model_wrap("mhc-model 1\ntarget cuda:sm_90a\n", lookup, nullptr, &model, &message), MHCRT_OK)
      << message.text;
  EXPECT_STREQ(mhcrt_model_target(model), "cuda:sm_90a");
  mhcrt_model_close(model);
  EXPECT_EQ(mhcrt_model_wrap("mhc-model 1\ntarget\n", lookup, nullptr, &model, &message), MHCRT_INVALID_ARGUMENT);
  EXPECT_STREQ(message.text, "manifest, line 2: 'target' without a name");
}

TEST(Model, MeshIsOfOneRankUnlessTheManifestSaysOtherwise) {
  mhcrt_model *model = nullptr;
  mhcrt_message message = {};
  ASSERT_EQ(mhcrt_model_wrap("mhc-model 1\n", lookup, nullptr, &model, &message), MHCRT_OK) << message.text;
  EXPECT_STREQ(mhcrt_model_mesh(model), "");
  EXPECT_EQ(mhcrt_model_ranks(model), 1);
  EXPECT_EQ(mhcrt_model_stages(model), 1);
  mhcrt_model_close(model);
  ASSERT_EQ(mhcrt_model_wrap("mhc-model 1\nmesh dp=2,pp=3\n", lookup, nullptr, &model, &message), MHCRT_OK)
      << message.text;
  EXPECT_STREQ(mhcrt_model_mesh(model), "dp=2,pp=3");
  EXPECT_EQ(mhcrt_model_ranks(model), 6);
  EXPECT_EQ(mhcrt_model_stages(model), 3);
  EXPECT_EQ(mhcrt_model_tensor_ranks(model), 1);
  mhcrt_model_close(model);
  ASSERT_EQ(mhcrt_model_wrap("mhc-model 1\nmesh dp=2,tp=4,pp=3\n", lookup, nullptr, &model, &message), MHCRT_OK)
      << message.text;
  EXPECT_EQ(mhcrt_model_ranks(model), 24);
  EXPECT_EQ(mhcrt_model_stages(model), 3);
  EXPECT_EQ(mhcrt_model_tensor_ranks(model), 4);
  mhcrt_model_close(model);
  for (const char *manifest : {"mhc-model 1\nmesh\n", "mhc-model 1\nmesh dp=0\n", "mhc-model 1\nmesh tp=2\n",
                               "mhc-model 1\nmesh dp=2,pp=x\n", "mhc-model 1\nmesh dp=2,pp=2,tp=2\n"}) {
    EXPECT_EQ(mhcrt_model_wrap(manifest, lookup, nullptr, &model, &message), MHCRT_INVALID_ARGUMENT);
    EXPECT_STREQ(message.text, "manifest, line 2: 'mesh' needs 'dp=N', and may have ',tp=N' and ',pp=N' behind it");
  }
}

TEST(Model, TensorsAreSharesAndPartsOfSums) {
  mhcrt_model *model = nullptr;
  mhcrt_message message = {};
  const std::string head = "mhc-model 1\nentry copy\narg w f32 6 4\nresult d_w f32 6 4\n";
  ASSERT_EQ(
      mhcrt_model_wrap((head + "split w 0 4 2\npartial d_w dp,tp\nend\n").c_str(), lookup, nullptr, &model, &message),
      MHCRT_OK)
      << message.text;
  const mhcrt_tensor_info *w = mhcrt_model_argument(model, 0, 0), *d_w = mhcrt_model_result(model, 0, 0);
  EXPECT_EQ(w->split_dim, 0);
  ASSERT_EQ(w->split_parts, 2);
  EXPECT_EQ(w->split_sizes[0], 4);
  EXPECT_EQ(w->split_sizes[1], 2);
  EXPECT_EQ(w->partial, nullptr);
  EXPECT_EQ(d_w->split_dim, -1);
  EXPECT_STREQ(d_w->partial, "dp,tp");
  mhcrt_model_close(model);
  for (const char *line : {"split", "split x 0 6", "split w 2 6", "split w 0", "split w 0 4 1", "split w 0 6 0"}) {
    EXPECT_EQ(mhcrt_model_wrap((head + line + "\nend\n").c_str(), lookup, nullptr, &model, &message),
              MHCRT_INVALID_ARGUMENT);
    EXPECT_STREQ(message.text, "manifest, line 5: 'split' needs a tensor before it, one of its dimensions, and the "
                               "sizes of parts that are its size");
  }
  for (const char *line : {"partial", "partial x dp", "partial w"}) {
    EXPECT_EQ(mhcrt_model_wrap((head + line + "\nend\n").c_str(), lookup, nullptr, &model, &message),
              MHCRT_INVALID_ARGUMENT);
    EXPECT_STREQ(message.text, "manifest, line 5: 'partial' needs a tensor before it, and axes of the mesh");
  }
}

/// An entry that calls the function behind its one argument.
static mhcrt_status callBehind(mhcrt_context *context, const mhcrt_tensor *arguments, const mhcrt_tensor *results) {
  mhcrt_call_function(context, static_cast<const mhcrt_binding *>(arguments[1].data), arguments, results);
  return mhcrt_last_status(context);
}

TEST(Model, CallsTheFunctionsThatItIsGiven) {
  mhcrt_model *model = nullptr;
  mhcrt_message message = {};
  auto entry = [](void *, const char *) -> mhcrt_entry { return callBehind; };
  ASSERT_EQ(mhcrt_model_wrap("mhc-model 1\nfunction f\narg a f32 M\nresult b f32 M\nend\n"
                             "entry e\narg a f32 M\nresult b f32 M\nend\n",
                             entry, nullptr, &model, &message),
            MHCRT_OK)
      << message.text;
  EXPECT_EQ(mhcrt_model_functions(model), 1);
  EXPECT_STREQ(mhcrt_model_function_name(model, 0), "f");
  EXPECT_EQ(mhcrt_model_function_name(model, 1), nullptr);
  EXPECT_STREQ(mhcrt_model_function_type(model, 0), "f32[M] -> f32[M]");
  mhcrt_context *context = nullptr;
  ASSERT_EQ(mhcrt_model_context_create(model, 1, &context, &message), MHCRT_OK);
  float x[2] = {1, 2}, y[2] = {};
  const mhcrt_tensor argument = {x, MHCRT_F32, 1, {2}}, result = {y, MHCRT_F32, 1, {2}};
  auto run = [&] { return mhcrt_model_invoke(model, 0, context, &argument, &result, &message); };
  EXPECT_EQ(run(), MHCRT_NOT_FOUND);
  auto addUser = [](void *user, const mhcrt_call *call) {
    for (int i = 0; i < call->arguments[0].dims[0]; ++i)
      static_cast<float *>(call->results[0].data)[i] =
          static_cast<float *>(call->arguments[0].data)[i] + *static_cast<float *>(user);
    return MHCRT_OK;
  };
  float seven = 7;
  EXPECT_EQ(mhcrt_model_set_function(model, "f", "f32[M] -> f32[M]", addUser, &seven, &message), MHCRT_OK);
  EXPECT_EQ(run(), MHCRT_OK) << message.text;
  EXPECT_EQ(y[1], 9);
  auto silent = [](void *, const mhcrt_call *) { return MHCRT_UNAVAILABLE; };
  EXPECT_EQ(mhcrt_model_set_function(model, "f", nullptr, silent, nullptr, &message), MHCRT_OK);
  EXPECT_EQ(run(), MHCRT_UNAVAILABLE);
  EXPECT_STREQ(message.text, "entry 'e': the function 'f' fails: it does not say why");
  mhcrt_model_context_destroy(model, context);
  mhcrt_model_close(model);
}

TEST(Model, ResultInPlaceIsTheMemoryOfItsArgument) {
  mhcrt_model *model = nullptr;
  mhcrt_message message = {};
  ASSERT_EQ(mhcrt_model_wrap("mhc-model 1\nentry copy\narg a f32\nresult a f32\nin_place a\nend\n", lookup, nullptr,
                             &model, &message),
            MHCRT_OK)
      << message.text;
  EXPECT_EQ(mhcrt_model_argument(model, 0, 0)->in_place, -1);
  EXPECT_EQ(mhcrt_model_result(model, 0, 0)->in_place, 0);
  mhcrt_context *context = nullptr;
  ASSERT_EQ(mhcrt_model_context_create(model, 1, &context, &message), MHCRT_OK);
  float a = 3, b = 0;
  const mhcrt_tensor argument = tensor(MHCRT_F32, {}, &a), other = tensor(MHCRT_F32, {}, &b);
  EXPECT_EQ(mhcrt_model_invoke(model, 0, context, &argument, &argument, &message), MHCRT_OK) << message.text;
  EXPECT_EQ(mhcrt_model_invoke(model, 0, context, &argument, &other, &message), MHCRT_INVALID_ARGUMENT);
  EXPECT_STREQ(message.text,
               "result 'a' of entry 'copy' is computed in place: expected the pointer of the argument of its name");
  mhcrt_model_context_destroy(model, context);
  mhcrt_model_close(model);
}

// One size follows from others, and two products of sizes are equal.
TEST(Model, SizesThatFollowFromOthersAreChecked) {
  mhcrt_model *model = nullptr;
  mhcrt_message message = {};
  ASSERT_EQ(mhcrt_model_wrap("mhc-model 1\nentry copy\narg joined f32 2*M*d1+d2-1\narg x f32 M d1\narg y f32 d2 d3\n"
                             "result z f32 2*M*d1+d2-1 d3\nequal M*d1 d2*d3\nend\n",
                             lookup, nullptr, &model, &message),
            MHCRT_OK)
      << message.text;
  EXPECT_STREQ(mhcrt_model_argument(model, 0, 0)->type, "f32[2*M*d1+d2-1]");
  EXPECT_STREQ(mhcrt_model_argument(model, 0, 0)->symbols[0], "2*M*d1+d2-1");
  EXPECT_STREQ(mhcrt_model_equality(model, 0, 0), "M*d1 = d2*d3");
  EXPECT_EQ(mhcrt_model_equality(model, 0, 1), nullptr);
  EXPECT_EQ(mhcrt_model_equality(model, 1, 0), nullptr);

  float data[64] = {};
  mhcrt_tensor arguments[] = {tensor(MHCRT_F32, {26}, data), tensor(MHCRT_F32, {4, 3}, data),
                              tensor(MHCRT_F32, {3, 4}, data)};
  mhcrt_tensor results[1];
  ASSERT_EQ(mhcrt_model_infer(model, 0, arguments, results, &message), MHCRT_OK) << message.text;
  EXPECT_EQ(results[0].dims[0], 26);
  EXPECT_EQ(results[0].dims[1], 4);
  arguments[0].dims[0] = 25;
  EXPECT_EQ(mhcrt_model_check(model, 0, arguments, &message), MHCRT_INVALID_ARGUMENT);
  EXPECT_STREQ(message.text, "entry 'copy': dimension 0 of 'joined' is 25; needed 2*M*d1+d2-1 = 26");
  arguments[0].dims[0] = 26;
  arguments[2].dims[1] = 5;
  EXPECT_EQ(mhcrt_model_check(model, 0, arguments, &message), MHCRT_INVALID_ARGUMENT);
  EXPECT_STREQ(message.text, "entry 'copy': needed M*d1 = d2*d3; found 12 and 15");
  arguments[1].dims[0] = arguments[1].dims[1] = INT64_C(1) << 40;
  EXPECT_EQ(mhcrt_model_check(model, 0, arguments, &message), MHCRT_INVALID_ARGUMENT);
  EXPECT_STREQ(message.text, "entry 'copy': dimension 0 of 'joined' is 26; needed 2*M*d1+d2-1 = no size");
  mhcrt_model_close(model);

  int64_t value = 0, scale = 10;
  auto valueOf = [](void *user, const char *symbol) {
    return *static_cast<int64_t *>(user) * (*symbol == 'M' ? 1 : 2);
  };
  EXPECT_TRUE(mhcrt_size_value("3*M*d1-d1", valueOf, &scale, &value));
  EXPECT_EQ(value, 580);
  EXPECT_FALSE(mhcrt_size_value("M-d1", valueOf, &scale, &value));
  EXPECT_FALSE(mhcrt_size_value("M+", valueOf, &scale, &value));
}

TEST(Model, BadManifestsAreExplained) {
  auto errorOf = [](const char *manifest) {
    mhcrt_model *model = nullptr;
    mhcrt_message message = {};
    EXPECT_NE(mhcrt_model_wrap(manifest, lookup, nullptr, &model, &message), MHCRT_OK);
    EXPECT_EQ(model, nullptr);
    return std::string(message.text);
  };
  EXPECT_EQ(errorOf(""), "manifest, line 0: expected 'mhc-model 1', found nothing");
  EXPECT_EQ(errorOf("mhc-model 2\n"), "manifest, line 1: expected 'mhc-model 1', found 'mhc-model 2'");
  EXPECT_EQ(errorOf("mhc-model 1\nentry copy\n"), "manifest, line 2: entry 'copy' has no 'end'");
  EXPECT_EQ(errorOf("mhc-model 1\narg x f32\n"), "manifest, line 2: 'arg' outside of an entry");
  EXPECT_EQ(errorOf("mhc-model 1\nentry copy\narg x f32 2\nresult x f32 3\nin_place x\nend\n"),
            "manifest, line 5: 'in_place x' needs a result and an argument of that name and one type before it");
  EXPECT_EQ(errorOf("mhc-model 1\nentry copy\narg x f31 2\nend\n"),
            "manifest, line 3: 'arg x' has the unknown dtype 'f31'");
  EXPECT_EQ(errorOf("mhc-model 1\nentry copy\narg x f32 -2\nend\n"),
            "manifest, line 3: 'arg x' has the dimension '-2', which is neither a size nor a symbol");
  EXPECT_EQ(errorOf("mhc-model 1\nentry copy\narg x f32 M\nresult y f32 N\nend\n"),
            "manifest, line 5: result 'y' of entry 'copy' has the dimension 'N', which no argument has");
  EXPECT_EQ(errorOf("mhc-model 1\nentry copy\narg x f32 M N*4\nend\n"),
            "manifest, line 4: argument 'x' of entry 'copy' has the dimension 'N', which no argument has");
  EXPECT_EQ(errorOf("mhc-model 1\nentry copy\narg x f32 M**2\nend\n"),
            "manifest, line 3: 'arg x' has the dimension 'M**2', which is neither a size nor a symbol");
  EXPECT_EQ(errorOf("mhc-model 1\nentry copy\nequal M\nend\n"),
            "manifest, line 3: 'equal' needs two sizes, in an entry");
  EXPECT_EQ(errorOf("mhc-model 1\nentry copy\nend\nentry copy\nend\n"), "manifest, line 4: a second entry 'copy'");
  EXPECT_EQ(errorOf("mhc-model 1\nentry copy\narg ../x f32 2\nend\n"),
            "manifest, line 3: 'arg ../x' has a name that is not printable or has a '/' or a '='");
  EXPECT_EQ(errorOf("mhc-model 1\nentry copy\nresult x=y f32 2\nend\n"),
            "manifest, line 3: 'result x=y' has a name that is not printable or has a '/' or a '='");
  EXPECT_EQ(errorOf("mhc-model 1\nentry copy\narg x f32\narg y f32\narg x f32\nend\n"),
            "manifest, line 5: a second 'arg x'");
  EXPECT_EQ(errorOf("mhc-model 1\nentry f.g\nend\n"),
            "manifest, line 2: the entry 'f.g'; needed letters, digits and '_' as a name, the first no digit");
  EXPECT_EQ(errorOf("mhc-model 1\npin\n"), "manifest, line 2: 'pin' without a variant");
  EXPECT_EQ(errorOf("mhc-model 1\nfunction f\nend\nfunction f\nend\n"), "manifest, line 4: a second function 'f'");
  EXPECT_EQ(errorOf("mhc-model 1\nfunction f\nresult y f32 M\nend\n"),
            "manifest, line 4: result 'y' of entry 'f' has the dimension 'M', which no argument has");
  EXPECT_EQ(errorOf("mhc-model 1\nentry other\nend\n"), "the entry 'other' of the manifest has no code");
}

} // namespace
