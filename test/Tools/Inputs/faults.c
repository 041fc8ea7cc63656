/* Preloaded into a program: counts what it does to the files that it makes in the folder FAULT_FOLDER, and at the call
 * number FAULT_AT ends it (FAULT_KIND=kill, after half of a write), or lets the call fail (FAULT_KIND=fail). The number
 * of calls is added to the file FAULT_COUNT. Other programs that it starts are left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int watched[1024], calls;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int is_ours(const char *path) {
  const char *folder = getenv("FAULT_FOLDER");
  unsetenv("LD_PRELOAD");
  return folder && strncmp(path, folder, strlen(folder)) == 0;
}

/* Whether this call fails. */
static int strike(int half_fd, const void *data, size_t bytes) {
  const char *at = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND");
  if (++calls != (at ? atoi(at) : 0))
    return 0;
  if (half_fd >= 0 && REAL(write)(half_fd, data, bytes / 2) < 0)
    abort();
  if (strcmp(kind, "kill") == 0)
    raise(SIGKILL);
  return 1;
}

static int watch(int fd) {
  if (fd >= 0 && fd < 1024)
    watched[fd] = 1;
  return fd;
}

static int open_watched(const char *path, int flags, mode_t mode, int (*real)(const char *, int, ...)) {
  int ours = is_ours(path) && ((flags & O_ACCMODE) != O_RDONLY || (flags & O_DIRECTORY));
  if (!ours)
    return real(path, flags, mode);
  if (strike(-1, NULL, 0)) {
    errno = EACCES;
    return -1;
  }
  return watch(real(path, flags, mode));
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_watched(path, flags, mode, REAL(open));
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_watched(path, flags, mode, REAL(open64));
}

ssize_t write(int fd, const void *data, size_t bytes) {
  if (fd >= 0 && fd < 1024 && watched[fd] && strike(fd, data, bytes)) {
    errno = ENOSPC;
    return -1;
  }
  return REAL(write)(fd, data, bytes);
}

int fsync(int fd) {
  if (fd >= 0 && fd < 1024 && watched[fd] && strike(-1, NULL, 0)) {
    errno = EIO;
    return -1;
  }
  return REAL(fsync)(fd);
}

int close(int fd) {
  int ours = fd >= 0 && fd < 1024 && watched[fd];
  if (ours)
    watched[fd] = 0;
  if (ours && strike(-1, NULL, 0)) {
    REAL(close)(fd);
    errno = EIO;
    return -1;
  }
  return REAL(close)(fd);
}

int rename(const char *from, const char *to) {
  if (is_ours(to) && strike(-1, NULL, 0)) {
    errno = EBUSY;
    return -1;
  }
  return REAL(rename)(from, to);
}

__attribute__((destructor)) static void tell(void) {
  const char *path = getenv("FAULT_COUNT");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (file) {
    fprintf(file, "%d", calls);
    fclose(file);
  }
}
