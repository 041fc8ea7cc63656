//===- LibraryFile.cpp - Checks that a library's file is whole ------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "LibraryFile.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fstream>

using namespace mhcrt;

/// The bytes up to the end of the last segment; 0 for what is no ELF file of 64 bits.
static uint64_t neededBytes(std::ifstream &file) {
  Elf64_Ehdr header;
  if (!file.read(reinterpret_cast<char *>(&header), sizeof(header)) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return 0;
  uint64_t end = header.e_phoff + uint64_t{header.e_phnum} * header.e_phentsize;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * header.e_phentsize));
    if (!file.read(reinterpret_cast<char *>(&segment), sizeof(segment)))
      break;
    end = std::max(end, segment.p_offset + segment.p_filesz);
  }
  file.clear();
  return end;
}

bool mhcrt::isWholeLibrary(const std::string &path, std::string &error) {
  std::ifstream file(path, std::ios::binary);
  const uint64_t needed = neededBytes(file);
  file.seekg(0, std::ios::end);
  const auto size = static_cast<uint64_t>(std::max<std::streamoff>(0, file.tellg()));
  if (needed <= size)
    return true;
  error = "the file ends after " + std::to_string(size) + " bytes; needed " + std::to_string(needed);
  return false;
}
