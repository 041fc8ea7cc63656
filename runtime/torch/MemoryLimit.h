//===- MemoryLimit.h - The memory that a process may have -------*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#ifndef MHCRT_TORCH_MEMORYLIMIT_H
#define MHCRT_TORCH_MEMORYLIMIT_H

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace mhcrt {

/// `machine` bytes, or less where a control group of the process, or one around it, has a limit, as in a container and
/// in a job of Slurm. Both versions of control groups are read, below `root`.
inline int64_t memoryLimit(int64_t machine, const std::string &root = "") {
  int64_t least = machine;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // "0::/job/step", or "4:memory:/job/step" of the first version.
    const bool isSecond = line.rfind("0::", 0) == 0;
    if (!isSecond && line.find("memory") == line.npos)
      continue;
    const std::string folder = root + (isSecond ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    for (std::string group = line.substr(line.rfind(':') + 1);; group.resize(group.rfind('/'))) {
      std::ifstream limit(folder + group + (isSecond ? "/memory.max" : "/memory.limit_in_bytes"));
      if (int64_t bytes = 0; limit >> bytes) // else it is "max", or the group is not seen from here
        least = std::min(least, bytes);
      if (group.find('/') == group.npos)
        break;
    }
  }
  return least;
}

} // namespace mhcrt

#endif // MHCRT_TORCH_MEMORYLIMIT_H
