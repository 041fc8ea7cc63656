// The functions of the CUDA driver that mhc-train calls itself: they do nothing, for memory that is not there, but
// check that streams and events are those that were made, and that the first stream, which computes, is not waited for
// before it is ordered behind the sums that fake_nccl.c has put on others. From query number FAKE_HANG on, work on
// streams does not end, and memory is not given back any more.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { kStream = 0x57, kEvent = 0xe7, kMostStreams = 16 };

// Known to fake_nccl.c, too.
typedef struct Handle {
  int kind;
  int number;            // of a stream
  int behind;            // of a stream: the number of the one that it was ordered behind last, or -1
  int sums;              // of a stream: that the first stream does not wait for yet
  struct Handle *stream; // of an event
} Handle;
static Handle *streams[kMostStreams];
static int made;

static int make(void **handle, int kind) {
  Handle *fresh = calloc(1, sizeof(Handle));
  fresh->kind = kind;
  fresh->behind = -1;
  *handle = fresh;
  return 0;
}
static int is(void *handle, int kind) { return handle && ((Handle *)handle)->kind == kind ? 0 : 400; }

static int isAsWanted(const char *wish, const char *variable) {
  const char *wanted = getenv(wish), *set = getenv(variable);
  return !wanted || !strcmp(wanted, set ? set : "none");
}

int cuDeviceGet(int *device, int number) {
  *device = number;
  return number ? 101 : 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  if (!isAsWanted("FAKE_CONNECTIONS", "CUDA_DEVICE_MAX_CONNECTIONS") ||
      !isAsWanted("FAKE_DEVICE", "CUDA_VISIBLE_DEVICES"))
    return 999;
  return make(context, device);
}
int cuCtxSetCurrent(void *context) { return context ? 0 : 201; }
int cuStreamCreate(void **stream, unsigned flags) {
  if (flags != 1 || made == kMostStreams)
    return 1;
  make(stream, kStream);
  streams[made] = *stream;
  streams[made]->number = made;
  return made++ < 0;
}
int cuStreamQuery(void *stream) {
  static int queries;
  if (getenv("FAKE_HANG") && ++queries >= atoi(getenv("FAKE_HANG")))
    return setenv("FAKE_HANGS", "", 1) + 600;
  for (int i = 0; stream == streams[0] && i < made; ++i)
    if (streams[i]->sums)
      return 400;
  return is(stream, kStream);
}
int cuEventCreate(void **event, unsigned flags) { return flags == 2 ? make(event, kEvent) : 1; }
int cuEventRecord(void *event, void *stream) {
  if (is(event, kEvent) || is(stream, kStream))
    return 400;
  ((Handle *)event)->stream = stream;
  return 0;
}
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  if (is(event, kEvent) || is(stream, kStream) || flags || !((Handle *)event)->stream)
    return 400;
  Handle *earlier = ((Handle *)event)->stream;
  ((Handle *)stream)->behind = earlier->number;
  if (stream == streams[0])
    earlier->sums = 0;
  return 0;
}
int cuMemsetD32Async(uint64_t to, unsigned value, size_t count, void *stream) {
  return !to || value || !count || is(stream, kStream);
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  return !to || !from || !bytes || is(stream, kStream);
}
int cuModuleLoadData(void **module, const void *image) { return make(module, strstr(image, ".entry add(") ? 1 : 0); }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  return strcmp(name, "add") || make(function, ((Handle *)module)->kind);
}
int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes, void *stream, void **arguments, void **extra) {
  const uint64_t count = *(uint64_t *)arguments[2];
  return !function || gridX != (count + blockX - 1) / blockX || gridY * gridZ * blockY * blockZ != 1 || sharedBytes ||
         extra || is(stream, kStream);
}
