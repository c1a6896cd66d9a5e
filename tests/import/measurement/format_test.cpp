// Each format, as small made-up files of its form: which kernels they become.
#include "sim/import/measurement/format.h"

#include <gmock/gmock.h>

#include "tests/import/measurement/import_text.h"

namespace slmsim::format_test {
namespace {

using import_test::collectives;
using import_test::Files;
using import_test::import;
using import_test::left_out;
using import_test::points;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(ImportFormats, AreEachNamedAndTold) {
  for (const auto& format : import_formats()) {
    EXPECT_EQ(&import_format(format.name), &format);
    EXPECT_TRUE(std::string(format.about).ends_with(".")) << format.name;
    EXPECT_NE(std::string(format.columns), "") << format.name;
    EXPECT_NE(format.read_table == nullptr, format.read_text == nullptr) << format.name;
    EXPECT_EQ(format.headers.empty(), format.read_table == nullptr) << format.name;
  }
}

TEST(ImportCsv, TakesKernelsAsTheyAreNamed) {
  Files files;
  files.write("a.csv",
              "kernel,precision,batch,m,n,k,seconds\n"
              "gemm-nt,fp16,1,2048,3072,1024,0.0005\n"
              "norm-forward,fp32,1,2048,1024,1,2e-5\n"
              "frobnicate,fp32,1,2048,1024,1,2e-5\n"
              "gemm-nt,fp8,1,2048,3072,1024,0.0002\n");
  const auto profile = import("csv", files);
  EXPECT_THAT(points(profile),
              ElementsAre("gemm-nt fp16 1x2048x3072x1024 0.0005", "norm-forward fp32 1x2048x1024x1 2e-05"));
  EXPECT_THAT(left_out(profile),
              UnorderedElementsAre("1 in precision fp8", "1 of operators without a kernel in slmsim (1 frobnicate)"));
  EXPECT_EQ(profile.sources.front().taken, 2);
  EXPECT_EQ(profile.sources.front().times(), 4);
}

TEST(ImportCsv, TakesCollectives) {
  Files files;
  files.write("a.csv", "machine,gpus,bytes,seconds\nx,4,1048576,1e-4\nx,4,2.097152e+06,2e-4\n");
  EXPECT_THAT(collectives(import("csv", files)),
              ElementsAre("all-reduce 4/1 1.04858e+06 0.0001", "all-reduce 4/1 2.09715e+06 0.0002"));
}

TEST(ImportCsv, TakesTheMedianOfARowThatStandsSeveralTimes) {
  Files files;
  std::string text = "kernel,precision,batch,m,n,k,seconds\n";
  for (const char* time : {"9e-4", "1e-4", "2e-4"}) text += std::string("gemm-nn,fp16,1,64,64,64,") + time + "\n";
  for (const char* time : {"1e-3", "3e-3"}) text += std::string("gemm-nn,fp16,1,128,64,64,") + time + "\n";
  files.write("a.csv", text);
  // 1, 2, 9: 2; 1 and 3: their mean.
  EXPECT_THAT(points(import("csv", files)),
              ElementsAre("gemm-nn fp16 1x64x64x64 0.0002", "gemm-nn fp16 1x128x64x64 0.002"));
}

TEST(ImportCsv, OfTf32HoldsWhatIsNoProductAsFp32) {
  Files files;
  files.write("a.csv", "kernel,precision,batch,m,n,k,seconds\ngelu-forward,tf32,1,64,64,1,1e-3\n");
  EXPECT_THAT(points(import("csv", files)), ElementsAre("gelu-forward fp32 1x64x64x1 0.001"));
}

std::string nccl_tests(const std::string& rows) {
  return "# nccl-tests version 2.13\n# Collective test starting: all_reduce_perf\n# Using devices\n"
         "#  Rank  0 Group  0 Pid   1234 on     node1 device  0 [0000:07:00] NVIDIA A30\n"
         "#  Rank  1 Group  0 Pid   1234 on     node1 device  1 [0000:08:00] NVIDIA A30\n"
         "#\n"
         "#                                                  out-of-place                       in-place\n"
         "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
         "busbw "
         "#wrong\n"
         "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  "
         "(GB/s)\n" +
         rows;
}
constexpr const char* kNcclEnd = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 4.3\n#\n";

TEST(ImportNcclTests, TakesTheTimesOutOfPlace) {
  Files files;
  files.write(
      "out.txt",
      nccl_tests("        1024           256     float     sum      -1    11.50    0.09    0.09      0    11.2  0.09   "
                 "0.09      0\n"
                 "        2048           512     float     sum      -1    12.50    0.16    0.16    N/A    12.2  0.16   "
                 "0.16    N/A\n"
                 "        4096          1024     float     sum      -1    13.50    0.30    0.30      7    13.2  0.30   "
                 "0.30      0\n") +
          kNcclEnd);
  const auto profile = import("nccl-tests", files);
  EXPECT_EQ(profile.gpu, "NVIDIA A30");
  EXPECT_THAT(collectives(profile), ElementsAre("all-reduce 2/1 1024 1.15e-05", "all-reduce 2/1 2048 1.25e-05"));
  EXPECT_THAT(left_out(profile), ElementsAre("1 of wrong results, as the test counted"));
  EXPECT_THAT(profile.remarks, IsEmpty());
}

TEST(ImportNcclTests, ReadsLineEndsOfWindows) {
  std::string text = nccl_tests("1024 256 float sum -1 11.50 0.09 0.09 0 11.2 0.09 0.09 0\n") + std::string(kNcclEnd);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.insert(at, "\r");
  Files files;
  files.write("out.txt", "\xef\xbb\xbf" + text);
  const auto profile = import("nccl-tests", files);
  EXPECT_EQ(profile.gpu, "NVIDIA A30");
  EXPECT_THAT(collectives(profile), ElementsAre("all-reduce 2/1 1024 1.15e-05"));
  EXPECT_THAT(profile.remarks, IsEmpty());
}

// Before 2.13: the last column is the largest relative difference, which rounding causes.
TEST(ImportNcclTests, TakesRoundingForNoError) {
  const auto old = [](const std::string& rows) {
    std::string text = nccl_tests(rows) + kNcclEnd;
    for (std::size_t at = 0; (at = text.find("#wrong", at)) != std::string::npos;) text.replace(at, 6, "error ");
    Files files;
    files.write("out.txt", text);
    return import("nccl-tests", files);
  };
  const auto profile =
      old("1024 256 float sum -1 11.50 0.09 0.09 4e-07 11.2 0.09 0.09 4e-07\n"
          "2048 1024 half sum -1 12.50 0.16 0.16 5e-04 12.2 0.16 0.16 5e-04\n"
          "4096 1024 float sum -1 13.50 0.30 0.30 N/A 13.2 0.30 0.30 N/A\n"
          "8192 2048 float sum -1 13.50 0.61 0.61 2e-01 13.2 0.62 0.62 2e-01\n"
          "16384 4096 int32 sum -1 13.50 1.21 1.21 0e+00 13.2 1.24 1.24 0e+00\n");
  EXPECT_THAT(collectives(profile), ElementsAre("all-reduce 2/1 1024 1.15e-05", "all-reduce 2/1 2048 1.25e-05",
                                                "all-reduce 2/1 4096 1.35e-05", "all-reduce 2/1 16384 1.35e-05"));
  EXPECT_THAT(left_out(profile), ElementsAre("1 of wrong results, as the test counted"));
}

// With NCCL_DEBUG=INFO, NCCL prints between the lines, and behind a row's sizes before its times.
TEST(ImportNcclTests, ReadsAroundNcclsOwnLines) {
  Files files;
  files.write("out.txt", nccl_tests("node1:1234:1250 [0] NCCL INFO Launch mode Group/CGMD\n"
                                    "1024 256 float sum -1 node1:1234:1234 [1] NCCL INFO Launch mode Parallel\n"
                                    "node1:1234:1234 [0] NCCL INFO comm 0x7f rank 0 nranks 2\n"
                                    "11.50 0.09 0.09 0 11.2 0.09 0.09 0\n"
                                    "2048 512 float sum -1 12.50 0.16 0.16 0 12.2 0.16 0.16 0\n") +
                             kNcclEnd);
  const auto profile = import("nccl-tests", files);
  EXPECT_THAT(collectives(profile), ElementsAre("all-reduce 2/1 1024 1.15e-05", "all-reduce 2/1 2048 1.25e-05"));
  EXPECT_THAT(left_out(profile), IsEmpty());
}

TEST(ImportNcclTests, SaysWhereTheEndIsMissing) {
  Files files;
  files.write("out.txt", nccl_tests("1024 256 float sum -1 11.50 0.09 0.09 0 11.2 0.09 0.09 0\n"));
  EXPECT_THAT(import("nccl-tests", files).remarks, ElementsAre(HasSubstr("closing lines of nccl-tests are missing")));
}

TEST(ImportNsys, TakesTheSizesFromASecondFile) {
  Files shapes, files;
  ImportRequest request;
  request.shapes =
      shapes.write("shapes.csv",
                   "name,kernel,precision,batch,m,n,k\n"
                   "s16816gemm,gemm-nt,fp16,1,2048,3072,1024\nlayer_norm,norm-forward,fp32,1,2048,1024,1\n");
  files.write("kern.csv",
              "Processing [report.sqlite] with [cuda_gpu_kern_sum.py]...\n\n"
              "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
              "50.0,1000000,2,500000.0,400000.0,1,2,0.1,ampere_fp16_s16816gemm_fp16_128x128_nt\n"
              "40.0,100000,2,50000.0,40000.0,1,2,0.1,\"void layer_norm<float, float>(int)\"\n"
              "10.0,100000,2,50000.0,40000.0,1,2,0.1,elsewhere\n");
  const auto profile = import("nsys", files, request);
  EXPECT_THAT(points(profile),
              ElementsAre("gemm-nt fp16 1x2048x3072x1024 0.0004", "norm-forward fp32 1x2048x1024x1 4e-05"));
  EXPECT_THAT(left_out(profile), ElementsAre("1 of elsewhere, which the shapes do not name"));
}

}  // namespace
}  // namespace slmsim::format_test
