#include "model.h"

#include <stdint.h>
#include <stdio.h>

static mhcrt_tensor scalar(void *data, int32_t dtype) {
  mhcrt_tensor tensor = {data, dtype, 2, {1, 1}};
  return tensor;
}

/* The gradient of y = x * w for one token x and the cotangent 1, added to *sum. */
static int addGradient(mhcrt_context *context, uint16_t x, float *sum) {
  uint16_t w = 0x4000, one = 0x3F80, dx; /* bf16 */
  mhcrt_tensor arguments[4], results[2];
  arguments[loss_bwd_arg_x] = scalar(&x, MHCRT_BF16);
  arguments[loss_bwd_arg_w] = scalar(&w, MHCRT_BF16);
  arguments[loss_bwd_arg_d_y] = scalar(&one, MHCRT_BF16);
  arguments[loss_bwd_arg_d_w] = scalar(sum, MHCRT_F32);
  results[loss_bwd_result_d_x] = scalar(&dx, MHCRT_BF16);
  results[loss_bwd_result_d_w] = scalar(sum, MHCRT_F32);
  return mhc_entry_loss_bwd(context, arguments, results) == MHCRT_OK && dx == w;
}

int main(void) {
  mhcrt_context *context;
  float sum = 0;
  if (mhcrt_context_create(1, &context) != MHCRT_OK || !addGradient(context, 0x4380 /* 256 */, &sum) ||
      !addGradient(context, 0x3F80 /* 1 */, &sum))
    return 1;
  printf("d_w = %g\n", sum);
  mhcrt_context_destroy(context);
  return 0;
}
