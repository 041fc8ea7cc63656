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
  HostTensor tensor;
  std::string error;
  EXPECT_FALSE(readNpy("/nowhere/x.npy", tensor, error));
  EXPECT_EQ(error, "'/nowhere/x.npy': No such file or directory");
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
  EXPECT_EQ(errorOf(safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "1234")),
            name + "is cut: tensor 'a' ends at byte 8 of the data, which has 4");
  EXPECT_EQ(errorOf(safetensors(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "12345678")),
            name + "tensor 'a' of type f32[3] needs 12 bytes; its data_offsets are [0,8]");
  EXPECT_EQ(errorOf(safetensors(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", "123")),
            name + "tensor 'a' has dtype U8; needed F32, BF16, F16, F64, I32 or I64");
  EXPECT_EQ(errorOf(safetensors("{nonsense", "")).find(name + "header is not what .safetensors asks for: "), 0u);
  EXPECT_EQ(errorOf(safetensors(R"({"a":{"shape":[3]}})", "")).find(name + "header is not what"), 0u);
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
