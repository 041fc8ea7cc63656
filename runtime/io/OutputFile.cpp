//===- OutputFile.cpp - Files that are whole or not there -----------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/file.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace mhcrt;

static constexpr int kMostLinks = 40;              // as in the kernel
static constexpr size_t kMostNameBytes = 255 - 55; // leaves room for the end of a temporary name

/// The folder of a path, with the slash at its end; "./" where it names none.
static std::string folderOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

static std::string nameOf(const std::string &path) { return path.substr(path.rfind('/') + 1); }

/// A link below /proc is an open file of a process, such as the standard output: its text does not lead to that.
static bool isOpenFile(const struct stat &link) {
  struct stat processes;
  return stat("/proc/self/.", &processes) == 0 && link.st_dev == processes.st_dev;
}

/// Follows the links of the last name of a path, also to a file that is not there yet. Errors show when it is opened.
static std::string followLinks(std::string path) {
  struct stat status;
  for (int links = 0; links < kMostLinks; ++links) {
    if (lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode) || isOpenFile(status))
      break;
    std::string text(4096, '\0');
    const ssize_t length = readlink(path.c_str(), text.data(), text.size());
    if (length <= 0)
      break;
    text.resize(length);
    path = text[0] == '/' ? text : folderOf(path) + text;
  }
  return path;
}

/// Whether a new file takes the place of what is there, behind all links.
static bool isReplaced(const std::string &target) {
  struct stat status;
  return lstat(target.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool OutputFile::fail(std::string &error) {
  error = "'" + path + "' cannot be written: " + std::strerror(errno);
  discard();
  return false;
}

void OutputFile::discard() {
  if (descriptor >= 0)
    ::close(descriptor);
  if (!temporary.empty())
    unlink(temporary.c_str());
  descriptor = -1;
  temporary.clear();
}

/// Names have the process in them, and what is there is never opened: two writers do not meet.
bool OutputFile::openBeside(bool isExecutable) {
  const std::string stem = folderOf(target) + nameOf(target).substr(0, kMostNameBytes) + "." + std::to_string(getpid());
  for (int number = 0; descriptor < 0; ++number) {
    const std::string name = stem + "-" + std::to_string(number) + ".tmp";
    // Not mkstemp, whose files others cannot read: these permissions are what the umask leaves.
    descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isExecutable ? 0777 : 0666);
    if (descriptor >= 0)
      temporary = name;
    else if (errno != EEXIST)
      return false;
  }
  return true;
}

bool OutputFile::open(std::string &error, bool isExecutable) {
  target = followLinks(path);
  struct stat old;
  const bool isThere = stat(target.c_str(), &old) == 0;
  if (!isThere && errno != ENOENT)
    return fail(error);
  if (isThere && !isReplaced(target)) {
    descriptor = ::open(target.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    return descriptor >= 0 || fail(error);
  }
  // The folder alone decides on a rename; a file that must not be written stays all the same.
  if (isThere && access(target.c_str(), W_OK) != 0)
    return fail(error);
  if (!openBeside(isExecutable) || (isThere && fchmod(descriptor, old.st_mode & 07777) != 0))
    return fail(error);
  return true;
}

bool OutputFile::write(const void *data, int64_t bytes, std::string &error) {
  const char *from = static_cast<const char *>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor, from, bytes);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return fail(error);
    from += written;
    bytes -= written;
  }
  return true;
}

/// Forces the new name to the disk. A folder that cannot be opened or synced, as on some network disks, is left to the
/// system.
static bool syncFolder(const std::string &folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return true;
  const bool good = fsync(descriptor) == 0 || errno == EINVAL;
  const int reason = errno;
  close(descriptor);
  errno = reason;
  return good;
}

bool OutputFile::commit(std::string &error) {
  if (!temporary.empty() && fsync(descriptor) != 0)
    return fail(error);
  const int closing = std::exchange(descriptor, -1);
  if (::close(closing) != 0)
    return fail(error);
  if (temporary.empty())
    return true;
  if (std::rename(temporary.c_str(), target.c_str()) != 0)
    return fail(error);
  temporary.clear();
  return syncFolder(folderOf(target)) || fail(error);
}

bool mhcrt::writeFile(const std::string &path, const void *data, int64_t bytes, std::string &error, bool isExecutable) {
  OutputFile file(path);
  return file.open(error, isExecutable) && file.write(data, bytes, error) && file.commit(error);
}

bool mhcrt::canWriteFile(const std::string &path, std::string &error) {
  struct stat status;
  // To open a pipe or a device may wait, or do something.
  if (stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode) && !isReplaced(followLinks(path)))
    return true;
  return OutputFile(path).open(error);
}

//===----------------------------------------------------------------------===//
// Files of a command line
//===----------------------------------------------------------------------===//

static bool isSame(const struct stat &a, const struct stat &b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

static bool isSameFile(const std::string &a, const std::string &b) {
  if (a.empty() || a == "-") // not given; the standard input or output
    return false;
  struct stat first, second;
  const bool hasFirst = stat(a.c_str(), &first) == 0, hasSecond = stat(b.c_str(), &second) == 0;
  if (hasFirst || hasSecond)
    return hasFirst && hasSecond && S_ISREG(first.st_mode) && isSame(first, second);
  // Both are still to be made.
  const std::string from = followLinks(a), to = followLinks(b);
  return nameOf(from) == nameOf(to) && stat(folderOf(from).c_str(), &first) == 0 &&
         stat(folderOf(to).c_str(), &second) == 0 && isSame(first, second);
}

bool mhcrt::checkDistinct(const std::vector<FileRole> &outputs, const std::vector<FileRole> &inputs,
                          std::string &error) {
  std::vector<FileRole> others = inputs;
  for (const FileRole &output : outputs) {
    const auto other = std::find_if(others.begin(), others.end(),
                                    [&](const FileRole &other) { return isSameFile(output.path, other.path); });
    if (other != others.end()) {
      error = output.role + " is '" + output.path + "', which is the same file as " + other->role + " '" + other->path +
              "'; needed another";
      return false;
    }
    others.push_back(output);
  }
  return true;
}

void mhcrt::makeFileLimitAnError() { std::signal(SIGXFSZ, SIG_IGN); }

bool mhcrt::flushStandardOutput(std::string &error) {
  errno = 0; // of lines that were lost before, the reason is forgotten
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return true;
  error = std::string("the standard output cannot be written: ") + std::strerror(errno ? errno : EIO);
  std::clearerr(stdout); // report it once
  return false;
}
