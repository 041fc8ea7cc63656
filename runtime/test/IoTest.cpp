//===- IoTest.cpp - Tensor files and mhc-run ------------------------------===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
#include "mhcrt/io.h"
#include "Support.h"

#include <fstream>
#include <sstream>

using namespace mhcrt;
using mhcrt::test::Doubles;
using mhcrt::test::Random;

namespace {

std::string scratchFile(const std::string &name) { return testing::TempDir() + "mhcrt-io-" + name; }

void writeBytes(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string readBytes(const std::string &path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// A version 1 file with this header and these values.
std::string npy(const std::string &header, const std::string &values) {
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + values;
}

TEST(Npy, ReadsWhatItWrites) {
  const std::string path = scratchFile("roundtrip.npy");
  for (int32_t dtype : {MHCRT_F32, MHCRT_BF16, MHCRT_F16, MHCRT_F64, MHCRT_I32, MHCRT_I64})
    for (const std::vector<int64_t> &dims : {std::vector<int64_t>{}, {0, 3}, {5}, {2, 3, 4}}) {
      HostTensor out, in;
      std::string error;
      ASSERT_TRUE(out.allocate(dtype, dims, error)) << error;
      for (int64_t i = 0; i < out.bytes(); ++i)
        static_cast<unsigned char *>(out.data())[i] = static_cast<unsigned char>(i * 7 + 1);
      ASSERT_TRUE(writeNpy(path, out.get(), error)) << error;
      EXPECT_EQ((readBytes(path).size() - out.bytes()) % 64, 0u);
      ASSERT_TRUE(readNpy(path, in, error)) << error;
      EXPECT_EQ(in.type(), out.type());
      EXPECT_EQ(std::memcmp(in.data(), out.data(), out.bytes()), 0);
    }
}

TEST(Npy, ErrorsNameFileAndValue) {
  const std::string path = scratchFile("bad.npy"), name = "'" + path + "': ";
  auto errorOf = [&](const std::string &bytes) {
    writeBytes(path, bytes);
    HostTensor tensor;
    std::string error;
    EXPECT_FALSE(readNpy(path, tensor, error));
    return error;
  };
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n";
  EXPECT_EQ(errorOf("\x93NUM"), name + "ends after 4 bytes; expected 4 more of the magic");
  EXPECT_EQ(errorOf("PK\x03\x04 zip file"), name + "is no .npy file: it does not start with \\x93NUMPY");
  EXPECT_EQ(errorOf(npy(good, "12345678")), name + "ends after 76 bytes; expected 4 more of the data of f32[3]");
  EXPECT_EQ(errorOf(npy(good, "1234567890123")), name + "has bytes behind the data of f32[3]");
  EXPECT_EQ(errorOf(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (3,), }\n", "")),
            name + "values are big-endian ('>f4'); needed little-endian");
  EXPECT_EQ(errorOf(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (3,), }\n", "")),
            name + "is in Fortran order; needed C order (numpy.ascontiguousarray)");
  EXPECT_EQ(errorOf(npy("{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }\n", "")),
            name + "element type '<c8'; needed <f4, <f8, <f2, <i4, <i8, or <V2 and <u2 for bf16");
  EXPECT_EQ(errorOf(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9000000000, 9000000000), }\n", "")),
            name + "no memory for a tensor f32[9000000000,9000000000]");
  EXPECT_EQ(errorOf(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (5000000000,), }\n", "")),
            name + "ends after 77 bytes; expected 20000000000 more of the data of f32[5000000000]");
  EXPECT_EQ(errorOf(npy("{'descr': 'xf4', 'fortran_order': False, 'shape': (3,), }\n", "")),
            name + "element type 'xf4'; needed <f4, <f8, <f2, <i4, <i8, or <V2 and <u2 for bf16");
  EXPECT_EQ(errorOf(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "1234")),
            name + "has 9 dimensions; needed at most 8");
  HostTensor tensor;
  std::string error;
  EXPECT_FALSE(readNpy(testing::TempDir(), tensor, error));
  EXPECT_EQ(error, "'" + testing::TempDir() + "': Is a directory");
  EXPECT_FALSE(readNpy("/nowhere/x.npy", tensor, error));
  EXPECT_EQ(error, "'/nowhere/x.npy': No such file or directory");
}

/// The dictionary is Python's: what NumPy refuses is an error here.
TEST(Npy, ErrorsPointIntoTheHeader) {
  const std::string path = scratchFile("header.npy");
  auto errorOf = [&](const std::string &header) {
    writeBytes(path, npy(header, "123456789012"));
    HostTensor tensor;
    std::string error;
    EXPECT_FALSE(readNpy(path, tensor, error)) << header;
    const std::string begin = "'" + path + "': has the header " + header + "; needed ";
    EXPECT_EQ(error.substr(0, begin.size()), begin);
    return error.substr(std::min(begin.size(), error.size()));
  };
  const std::string type = "{'descr': '<f4', ", order = "'fortran_order': False, ", shape = "'shape': (3,), ";
  EXPECT_EQ(errorOf("[]"), "'{' at its character 1");
  EXPECT_EQ(errorOf("{descr: 1}"), "a string at its character 2");
  EXPECT_EQ(errorOf("{'descr' '<f4'}"), "':' at its character 10");
  EXPECT_EQ(errorOf("{'descr': [('a', '<f4')]}"), "a string at its character 11");
  EXPECT_EQ(errorOf(type + shape + "}"), "'fortran_order' at its character 33");
  EXPECT_EQ(errorOf(type + order + shape + shape + "}"),
            "'descr', 'fortran_order' and 'shape', each once, at its character 57");
  EXPECT_EQ(errorOf(type + order + "'sizes': (3,)}"),
            "'descr', 'fortran_order' and 'shape', each once, at its character 42");
  EXPECT_EQ(errorOf(type + "'fortran_order': 0, " + shape + "}"), "True or False at its character 35");
  EXPECT_EQ(errorOf(type + order + "'shape': 3}"), "'(' at its character 51");
  EXPECT_EQ(errorOf(type + order + "'shape': (3)}"), "',' at its character 53");
  EXPECT_EQ(errorOf(type + order + "'shape': (3 1)}"), "',' at its character 54");
  EXPECT_EQ(errorOf(type + order + "'shape': (,)}"), "a size at its character 52");
  EXPECT_EQ(errorOf(type + order + "'shape': (-3,)}"), "a size at its character 52");
  EXPECT_EQ(errorOf(type + order + "'shape': (3.0,)}"), "',' at its character 53");
  EXPECT_EQ(errorOf(type + order + "'shape': (9223372036854775808,)}"),
            "a size of at most 9223372036854775807 at its character 52");
  EXPECT_EQ(errorOf(type + order + "'shape': (3,)"), "',' or '}' at its character 55");
  EXPECT_EQ(errorOf(type + order + "'shape': (3,)} {"), "nothing at its character 57");
}

/// A file with this header and these data bytes.
std::string safetensors(const std::string &header, const std::string &data) {
  const uint64_t size = header.size();
  return std::string(reinterpret_cast<const char *>(&size), 8) + header + data;
}

TEST(Safetensors, ReadsTensorsByName) {
  const std::string path = scratchFile("good.safetensors");
  writeBytes(path,
             safetensors(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                         R"("b":{"dtype":"BF16","shape":[1,2],"data_offsets":[8,12]}})",
                         std::string("\0\0\x80\x3f\0\0\0\x40\x80\x3f\0\x40", 12)));
  std::map<std::string, HostTensor> tensors;
  std::string error;
  ASSERT_TRUE(readSafetensors(path, tensors, error)) << error;
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors["a"].type(), "f32[2]");
  EXPECT_EQ(tensors["b"].type(), "bf16[1,2]");
  for (const char *name : {"a", "b"}) {
    EXPECT_EQ(element(tensors[name].get(), 0), 1.0);
    EXPECT_EQ(element(tensors[name].get(), 1), 2.0);
  }
}

TEST(Safetensors, ErrorsNameFileAndValue) {
  const std::string path = scratchFile("bad.safetensors"), name = "'" + path + "': ";
  auto errorOf = [&](const std::string &bytes) {
    writeBytes(path, bytes);
    std::map<std::string, HostTensor> tensors;
    std::string error;
    EXPECT_FALSE(readSafetensors(path, tensors, error));
    return error;
  };
  EXPECT_EQ(errorOf("abc"), name + "ends after 3 bytes; expected 5 more of the header length");
  EXPECT_EQ(errorOf(std::string("\xff\0\0\0\0\0\0\0", 8)),
            name + "is no .safetensors file, or cut: its header would have 255 bytes, the file has 8");
  EXPECT_EQ(errorOf(safetensors("{}" + std::string(100000000, ' '), "")),
            name + "has a header of 100000002 bytes; needed at most 100000000");
  EXPECT_EQ(errorOf(safetensors("", "")), name + "has a header that starts with nothing; needed '{'");
  EXPECT_EQ(errorOf(safetensors("null", "")), name + "has a header that starts with 'n'; needed '{'");
  EXPECT_EQ(errorOf(safetensors(" {}", "")), name + "has a header that starts with ' '; needed '{'");
  EXPECT_EQ(errorOf(safetensors("{nonsense", "")), name + "has a header that is not JSON at its byte 3");
  EXPECT_EQ(errorOf(safetensors("{}{}", "")), name + "has a header that is not JSON at its byte 3");
  EXPECT_EQ(errorOf(safetensors("{\"\xff\":1}", "")), name + "has a header that is not JSON at its byte 3");
  EXPECT_EQ(errorOf(safetensors(R"({"a":1e999})", "")), name + "has a header with a number that is out of range");
  EXPECT_EQ(errorOf(safetensors(R"({"a":)" + std::string(1000000, '['), "")),
            name + "has a header that is nested deeper than 3 levels");
  EXPECT_EQ(errorOf(safetensors(R"({"a\n":null})", "")),
            name + "tensor 'a\\n' is null; needed an object with dtype, shape and data_offsets");

  auto entryError = [&](const std::string &entry, const std::string &data) {
    const std::string error = errorOf(safetensors(R"({"a":{)" + entry + "}}", data)), begin = name + "tensor 'a' ";
    EXPECT_EQ(error.substr(0, begin.size()), begin);
    return error.substr(std::min(begin.size(), error.size()));
  };
  const std::string sizes = "; needed a list of whole numbers from 0 to 9223372036854775807";
  EXPECT_EQ(entryError(R"("dtype":"U8","shape":[3],"data_offsets":[0,3])", "123"),
            "has dtype \"U8\"; needed F32, BF16, F16, F64, I32 or I64");
  EXPECT_EQ(entryError(R"("dtype":4,"shape":[3],"data_offsets":[0,12])", ""),
            "has dtype 4; needed F32, BF16, F16, F64, I32 or I64");
  EXPECT_EQ(entryError(R"("shape":[3])", ""), "has no dtype; needed F32, BF16, F16, F64, I32 or I64");
  EXPECT_EQ(entryError(R"("dtype":"F32","data_offsets":[0,8])", "12345678"), "has no shape" + sizes);
  EXPECT_EQ(entryError(R"("dtype":"F32","shape":[2])", "12345678"), "has no data_offsets" + sizes);
  for (const char *shape : {"[3.0]", "[-1]", "[9223372036854775808]", "2", "{\"x\":2}", "[\"2\"]", "[true]"})
    EXPECT_EQ(entryError(std::string(R"("dtype":"F32","data_offsets":[0,8],"shape":)") + shape, "12345678"),
              std::string("has ") + shape + " as its shape" + sizes);
  EXPECT_EQ(entryError(R"("dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615])", "12345678"),
            "has [0,18446744073709551615] as its data_offsets" + sizes);
  EXPECT_EQ(entryError(R"("dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8])", "12345678"),
            "has 9 dimensions; needed at most 8");
  EXPECT_EQ(entryError(R"("dtype":"F32","shape":[2305843009213693952],"data_offsets":[0,0])", ""),
            "of type f32[2305843009213693952] has more than 2^63 bytes");
  EXPECT_EQ(entryError(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])", "12345678"),
            "of type f32[3] needs 12 bytes; its data_offsets are [0,8]");
  for (const char *offsets : {"[8,0]", "[0]", "[0,4,8]"})
    EXPECT_EQ(entryError(std::string(R"("dtype":"F32","shape":[2],"data_offsets":)") + offsets, "12345678"),
              std::string("of type f32[2] needs 8 bytes; its data_offsets are ") + offsets);
}

/// Each byte of the data is in one tensor.
TEST(Safetensors, TensorsCoverTheData) {
  const std::string path = scratchFile("cover.safetensors"), name = "'" + path + "': ";
  auto errorOf = [&](const std::string &a, const std::string &b, const std::string &data) {
    const std::string entry = R"({"dtype":"F32","shape":[2],"data_offsets":)";
    writeBytes(path, safetensors(R"({"a":)" + entry + a + R"(},"b":)" + entry + b + "}}", data));
    std::map<std::string, HostTensor> tensors;
    std::string error;
    readSafetensors(path, tensors, error);
    return error;
  };
  const std::string data = "1234567812345678";
  EXPECT_EQ(errorOf("[0,8]", "[8,16]", data), "");
  EXPECT_EQ(errorOf("[8,16]", "[0,8]", data), "");
  EXPECT_EQ(errorOf("[0,8]", "[4,12]", data),
            name + "tensor 'b' starts at byte 4 of the data; needed 8, where tensor 'a' ends");
  EXPECT_EQ(errorOf("[0,8]", "[0,8]", "12345678"),
            name + "tensor 'b' starts at byte 0 of the data; needed 8, where tensor 'a' ends");
  EXPECT_EQ(errorOf("[0,8]", "[12,20]", data + "1234"),
            name + "tensor 'b' starts at byte 12 of the data; needed 8, where tensor 'a' ends");
  EXPECT_EQ(errorOf("[4,12]", "[12,20]", data + "1234"),
            name + "tensor 'a' starts at byte 4 of the data; needed 0, where the data starts");
  EXPECT_EQ(errorOf("[0,8]", "[8,16]", data + "1"), name + "has 17 bytes of data; needed 16, where tensor 'b' ends");
  EXPECT_EQ(errorOf("[0,8]", "[8,16]", data.substr(1)),
            name + "is cut: tensor 'b' ends at byte 16 of the data, which has 15");
}

TEST(Safetensors, KeysAreThereOnce) {
  const std::string path = scratchFile("keys.safetensors"), name = "'" + path + "': ";
  auto errorOf = [&](const std::string &header) {
    writeBytes(path, safetensors(header, ""));
    std::map<std::string, HostTensor> tensors;
    std::string error;
    readSafetensors(path, tensors, error);
    return error;
  };
  const std::string entry = R"({"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(errorOf(R"({"a":)" + entry + R"(,"b":)" + entry + "}"), "");
  EXPECT_EQ(errorOf(R"({"a":)" + entry + R"(,"a":)" + entry + "}"), name + "has the key 'a' twice in its header");
  EXPECT_EQ(errorOf(R"({"a":{"dtype":"F32","dtype":"F32","shape":[0],"data_offsets":[0,0]}})"),
            name + "has the key 'dtype' twice in its header");
  EXPECT_EQ(errorOf(R"({"__metadata__":{"a":3}})"), name + "has {\"a\":3} as '__metadata__'; needed texts by name");
  EXPECT_EQ(errorOf(R"({"__metadata__":[]})"), name + "has [] as '__metadata__'; needed texts by name");
}

/// Any byte of our files that changes is an error, of the format or of the checksum. But for the checksum's own name:
/// without that it is a file of another program.
TEST(Safetensors, EveryDamagedByteIsFound) {
  const std::string path = scratchFile("damaged.safetensors");
  HostTensor a, b;
  std::string error;
  ASSERT_TRUE(a.allocate(MHCRT_F32, {2, 3}, error) && b.allocate(MHCRT_I64, {}, error));
  ASSERT_TRUE(writeSafetensors(path, {{"a", a.get()}, {"b", b.get()}}, error)) << error;
  const std::string good = readBytes(path);
  std::map<std::string, HostTensor> tensors;
  ASSERT_TRUE(readSafetensors(path, tensors, error)) << error;
  const std::string key = "mhc.crc32";
  const size_t place = good.find(key);
  for (size_t i = 0; i < good.size(); ++i) {
    if (i >= place && i < place + key.size())
      continue;
    std::string bad = good;
    bad[i] ^= 1;
    writeBytes(path, bad);
    error.clear();
    EXPECT_FALSE(readSafetensors(path, tensors, error)) << "byte " << i << " of " << good;
    EXPECT_NE(error, "");
  }
  std::string bad = good;
  bad.back() ^= 1;
  writeBytes(path, bad);
  EXPECT_FALSE(readSafetensors(path, tensors, error));
  EXPECT_EQ(error.find("'" + path +
                       "': is damaged, or was changed by a program that left 'mhc.crc32' in "
                       "'__metadata__': the checksum there is '" +
                       good.substr(place + key.size() + 3, 8) + "', that of its bytes '"),
            0u)
      << error;
}

TEST(Safetensors, WhatCannotBeStored) {
  const std::string path = scratchFile("unwritten.safetensors"), name = "'" + path + "': ";
  std::remove(path.c_str());
  HostTensor a;
  std::string error;
  ASSERT_TRUE(a.allocate(MHCRT_F32, {2}, error));
  EXPECT_FALSE(writeSafetensors(path, {{"__metadata__", a.get()}}, error));
  EXPECT_EQ(error, name + "cannot hold a tensor f32[2] called '__metadata__'");
  EXPECT_FALSE(writeSafetensors(path, {{"\xff", a.get()}}, error));
  EXPECT_EQ(error, name + "the name of a tensor is not UTF-8");
  std::map<std::string, HostTensor> tensors;
  EXPECT_FALSE(readSafetensors(path, tensors, error));
  EXPECT_EQ(error, name + "No such file or directory");
}

TEST(Convert, RoundsOnceToNearestEven) {
  Doubles values = {0.0,    -0.0,    1.0,     1.00390625, 1.01171875, 1e-40,    6e-8,
                    2.9e-8, 65519.9, 65520.0, 1e300,      -3.0,       INFINITY, NAN};
  HostTensor wide, narrow;
  std::string error;
  ASSERT_TRUE(wide.allocate(MHCRT_F64, {static_cast<int64_t>(values.size())}, error));
  std::copy(values.begin(), values.end(), static_cast<double *>(wide.data()));
  for (int32_t dtype : {MHCRT_BF16, MHCRT_F16}) {
    ASSERT_TRUE(convert(wide.get(), dtype, narrow, error)) << error;
    for (size_t i = 0; i < values.size(); ++i) {
      // None of the values is a tie in f32, where the test's conversion passes through.
      const auto value = static_cast<float>(values[i]);
      const uint16_t want = dtype == MHCRT_BF16 ? test::toBf16(value) : test::toF16(value);
      EXPECT_EQ(static_cast<uint16_t *>(narrow.data())[i] & 0x7FC0, want & 0x7FC0) << values[i];
      if (!std::isnan(values[i])) {
        EXPECT_EQ(static_cast<uint16_t *>(narrow.data())[i], want) << values[i];
      }
    }
  }
  HostTensor integers;
  ASSERT_TRUE(integers.allocate(MHCRT_I32, {3}, error));
  EXPECT_FALSE(convert(integers.get(), MHCRT_F32, narrow, error));
  EXPECT_EQ(error, "cannot convert i32[3] to f32: both must be floats");
}

TEST(Compare, ReportsTheFirstBadIndex) {
  HostTensor got, want;
  std::string error;
  ASSERT_TRUE(got.allocate(MHCRT_F32, {2, 3}, error) && want.allocate(MHCRT_F32, {2, 3}, error));
  auto *g = static_cast<float *>(got.data()), *w = static_cast<float *>(want.data());
  w[0] = 100;
  g[0] = 100;
  g[4] = 0.5f;
  g[5] = 0.001f;
  Comparison result;
  ASSERT_TRUE(compare(got.get(), want.get(), defaultTolerance(MHCRT_F32), result, error));
  EXPECT_FALSE(result.pass);
  EXPECT_EQ(result.bad, 1);
  EXPECT_EQ(result.firstIndex, "[1,1]");
  EXPECT_EQ(result.maxAbs, 0.5);
  EXPECT_EQ(result.maxRel, 0.005);
  g[4] = NAN;
  ASSERT_TRUE(compare(got.get(), want.get(), {0, 1}, result, error));
  EXPECT_FALSE(result.pass);
  w[4] = NAN;
  ASSERT_TRUE(compare(got.get(), want.get(), {0, 1}, result, error));
  EXPECT_TRUE(result.pass);
  ASSERT_TRUE(want.allocate(MHCRT_F32, {3, 2}, error));
  EXPECT_FALSE(compare(got.get(), want.get(), {}, result, error));
  EXPECT_EQ(error, "shapes differ: got f32[2,3], expected f32[3,2]");
}

} // namespace
