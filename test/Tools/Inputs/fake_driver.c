// The functions of the CUDA driver that mhc-train calls itself: they do nothing, for memory that is not there, but
// check that streams and events are those that were made.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { kStream = 0x57, kEvent = 0xe7 };

static int make(void **handle, int kind) {
  int *made = malloc(sizeof(int));
  *made = kind;
  *handle = made;
  return 0;
}
static int is(void *handle, int kind) { return handle && *(int *)handle == kind ? 0 : 400; }

int cuDeviceGet(int *device, int number) {
  *device = number;
  return number ? 101 : 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  const char *wanted = getenv("FAKE_CONNECTIONS"), *set = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  return wanted && strcmp(wanted, set ? set : "none") ? 999 : make(context, device);
}
int cuCtxSetCurrent(void *context) { return context ? 0 : 201; }
int cuStreamCreate(void **stream, unsigned flags) { return flags == 1 ? make(stream, kStream) : 1; }
int cuStreamQuery(void *stream) { return is(stream, kStream); }
int cuEventCreate(void **event, unsigned flags) { return flags == 2 ? make(event, kEvent) : 1; }
int cuEventRecord(void *event, void *stream) { return is(event, kEvent) || is(stream, kStream); }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  return is(event, kEvent) || is(stream, kStream) || flags;
}
int cuMemsetD32Async(uint64_t to, unsigned value, size_t count, void *stream) {
  return !to || value || !count || is(stream, kStream);
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  return !to || !from || !bytes || is(stream, kStream);
}
int cuModuleLoadData(void **module, const void *image) { return make(module, strstr(image, ".entry add(") ? 1 : 0); }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  return strcmp(name, "add") || make(function, *(int *)module);
}
int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes, void *stream, void **arguments, void **extra) {
  const uint64_t count = *(uint64_t *)arguments[2];
  return !function || gridX != (count + blockX - 1) / blockX || gridY * gridZ * blockY * blockZ != 1 || sharedBytes ||
         extra || is(stream, kStream);
}
