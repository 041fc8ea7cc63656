/* Trains the model of examples/outside, whose sublayer is the function in linear.c. */
#include "mhcrt/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mhcrt_status linear(void *user, const mhcrt_call *call);
mhcrt_status linear_vjp(void *user, const mhcrt_call *call);

static mhcrt_status failing(void *user, const mhcrt_call *call) {
  strcpy(call->message->text, user);
  return MHCRT_OUT_OF_MEMORY;
}

enum { kMost = 16, kTokens = 5 };
static mhcrt_model *model;
static mhcrt_context *context;
static mhcrt_message message;
static mhcrt_tensor arguments[kMost], results[kMost];
static int32_t entry, count, outputs;

static int64_t elements(const mhcrt_tensor *tensor) {
  int64_t product = 1;
  for (int32_t i = 0; i < tensor->rank; ++i)
    product *= tensor->dims[i];
  return product;
}

static float *fill(const mhcrt_tensor_info *info, mhcrt_tensor *tensor) {
  tensor->dtype = info->dtype;
  tensor->rank = info->rank;
  for (int32_t i = 0; i < info->rank; ++i)
    tensor->dims[i] = info->sizes[i] < 0 ? kTokens : info->sizes[i];
  float *data = tensor->data = malloc(sizeof(float) * elements(tensor));
  for (int64_t i = 0; i < elements(tensor); ++i)
    data[i] = (float)rand() / (float)RAND_MAX - 0.5f;
  return data;
}

static mhcrt_tensor *named(mhcrt_tensor *tensors, const char *name, int isResult) {
  const int32_t n = isResult ? outputs : count;
  for (int32_t i = 0; i < n; ++i)
    if (!strcmp((isResult ? mhcrt_model_result : mhcrt_model_argument)(model, entry, i)->name, name))
      return &tensors[i];
  exit(1);
}

/* Half the sum of the squares of the output. Its gradient with respect to the output is that itself, which is not known
   before the call: a first call makes it. */
static double loss(void) {
  float *out = named(results, "out", 1)->data, *d_out = named(arguments, "d_out", 0)->data;
  double sum = 0;
  for (int run = 0; run < 2; ++run) {
    if (mhcrt_model_invoke(model, entry, context, arguments, results, &message) != MHCRT_OK)
      return NAN;
    memcpy(d_out, out, sizeof(float) * elements(named(results, "out", 1)));
  }
  for (int64_t i = 0; i < elements(named(results, "out", 1)); ++i)
    sum += 0.5 * out[i] * out[i];
  return sum;
}

static const char *lossError(void) {
  message.text[0] = 0;
  loss();
  return message.text;
}

static int agrees(const char *weight, const char *gradient) {
  float *w = named(arguments, weight, 0)->data;
  const float was = w[7], step = 1e-2f;
  loss();
  const double slope = ((float *)named(results, gradient, 1)->data)[7];
  w[7] = was + step;
  const double above = loss();
  w[7] = was - step;
  const double below = loss();
  w[7] = was;
  return fabs((above - below) / (2 * step) - slope) <= 1e-3 + 1e-2 * fabs(slope);
}

int main(int argc, char **argv) {
  if (argc != 2 || mhcrt_model_open(argv[1], &model, &message) ||
      mhcrt_model_context_create(model, 1, &context, &message))
    return 1;
  mhcrt_model_find_entry(model, "model_grad", &entry, &message);
  count = mhcrt_model_arguments(model, entry), outputs = mhcrt_model_results(model, entry);
  for (int32_t i = 0; i < count; ++i)
    fill(mhcrt_model_argument(model, entry, i), &arguments[i]);
  for (int32_t i = 0; i < outputs; ++i)
    fill(mhcrt_model_result(model, entry, i), &results[i]);

  mhcrt_model_set_function(model, "linaer", NULL, linear, NULL, &message);
  printf("unknown: %s\n", message.text);
  mhcrt_model_set_function(model, "linear", "f32[M,32] -> f32[M,32]", linear, NULL, &message);
  printf("type: %s\n", message.text);
  printf("empty: %s\n", lossError());
  mhcrt_model_set_function(model, "linear", mhcrt_model_function_type(model, 0), linear, NULL, &message);
  printf("half: %s\n", lossError());
  mhcrt_model_set_function(model, "linear_vjp", NULL, failing, "out of experts", &message);
  printf("fails: %s\n", lossError());
  mhcrt_model_set_function(model, "linear_vjp", NULL, linear_vjp, NULL, &message);

  const char *weights[] = {"w0", "w1", "phi0", "beta1"}, *gradients[] = {"d_w0", "d_w1", "d_phi0", "d_beta1"};
  int good = 1;
  for (int i = 0; i < 4; ++i)
    good &= agrees(weights[i], gradients[i]);
  printf("slope: %s finite differences\n", good ? "as" : "unlike");
  const double first = loss();
  double last = first;
  for (int step = 0, falls = 1; step < 5 && falls; ++step) {
    for (int i = 0; i < 2; ++i) {
      mhcrt_tensor *w = named(arguments, weights[i], 0), *d_w = named(results, gradients[i], 1);
      for (int64_t k = 0; k < elements(w); ++k)
        ((float *)w->data)[k] -= 1e-5f * ((float *)d_w->data)[k];
    }
    const double next = loss();
    falls = next < last;
    last = falls ? next : INFINITY;
  }
  printf("trains: the loss %s\n", last < first ? "falls" : "does not fall");
  mhcrt_model_context_destroy(model, context);
  mhcrt_model_close(model);
  return 0;
}
