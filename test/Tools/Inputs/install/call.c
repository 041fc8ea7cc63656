#include "mhcrt/kernels.h"
#include <stdio.h>

int main(void) {
  float x[] = {1, 2, 10, 20}, h[] = {0.5f, 0.25f}, u[2];
  mhcrt_aggregate_args args = {.size = sizeof(args),
                               .x = x,
                               .x_type = MHCRT_F32,
                               .h_pre = h,
                               .h_pre_type = MHCRT_F32,
                               .u = u,
                               .u_type = MHCRT_F32,
                               .M = 1,
                               .n = 2,
                               .C = 2,
                               .layout = MHCRT_LAYOUT_NC};
  mhcrt_context *context;
  if (mhcrt_context_create(1, &context) != MHCRT_OK || mhcrt_aggregate(context, &args) != MHCRT_OK)
    return 1;
  printf("u = %g %g\n", u[0], u[1]);
  mhcrt_context_destroy(context);
}
