// Each format of public tables, as small made-up files of its form: which kernels they become.
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

ImportRequest in(Precision precision) {
  ImportRequest request;
  request.precision = precision;
  return request;
}

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

// Linear(N, K) of x of B x M x N is a product of B M x K over N; bmm is a batch of M x K over N.
TEST(ImportNeuSight, SumsProductsOverN) {
  Files files;
  files.write("mm.csv",
              "OPName,Latency,Device,Kernel Name,B,M,N,K\n"
              "linear,1.5,Tesla T4,\"gemm<a, b>\",2,512,1024,4096\n"
              "bmm,0.75,Tesla T4,x,16,128,64,256\n");
  EXPECT_THAT(points(import("neusight", files)),
              ElementsAre("gemm-nn fp32 16x128x256x64 0.00075", "gemm-nt fp32 1x1024x4096x1024 0.0015"));
}

TEST(ImportNeuSight, TakesRowsAndNamesTheOthers) {
  Files files;
  files.write("vec.csv",
              "OPName,Latency,Device,B,H\n"
              "ln,1.03,Tesla T4,2048,1024\nsoftmax,2.03,Tesla T4,4096,512\ngelu,3.03,Tesla T4,64,128\n"
              "add,4.03,Tesla T4,64,256\ntanh,0.03,Tesla T4,64,256\ntanh,1,Tesla T4,64,256\nln,0.09,Tesla T4,8,8\n");
  const auto profile = import("neusight", files);
  // The shortest time, 30 us, is that of a launch.
  EXPECT_THAT(points(profile),
              ElementsAre("gelu-forward fp32 1x64x128x1 0.003", "norm-forward fp32 1x2048x1024x1 0.001",
                          "residual-forward fp32 1x64x256x1 0.004", "softmax-forward fp32 1x4096x512x1 0.002"));
  EXPECT_THAT(left_out(profile),
              UnorderedElementsAre("2 shorter than 100 us", "1 of operators without a kernel in slmsim (1 tanh)"));
  EXPECT_THAT(profile.remarks, Contains(HasSubstr("the shortest time, 30 us, is subtracted from all")));
}

// h = 1024: 3 h^2 x 2 B = 6 MiB; 2 sequences of 2048: 2 x 2048 x 1024 x 2 B = 8 MiB; 4096 wide: 8 MiB; 16 heads: 2 x 16
// x 2048^2 x 2 B = 256 MiB.
constexpr const char* kAceso =
    "op_name,forward-compute,backward-compute,input_size,output_size,weights,activations\n"
    "encoder-embedding,990,990,0.016,8.000,102.188,12.000\n"
    "enc-1st-layernorm,400,800,8.000,16.000,0.000,8.031\n"
    "enc-attention-qkv,1000,2000,16.000,32.000,6.000,24.000\n"
    "enc-attention-score,500,1200,32.000,272.000,0.000,256.000\n"
    "enc-attention-context,600,10000000,272.000,16.000,0.000,8.000\n"
    "enc-MLP-GEMM-1,299,3000,16.000,40.008,8.000,32.000\n";

TEST(ImportAceso, TellsSizesFromWeightsAndHalvesBackwardPasses) {
  Files files;
  files.write("OPT-350_mbs2_tp1_algo0.csv", kAceso);
  files.write("OPT-350_mbs2_tp2_algo0.csv", kAceso);
  const auto profile = import("aceso", files, in(Precision::kFp16));
  EXPECT_THAT(points(profile),
              UnorderedElementsAre("norm-forward fp16 1x4096x1024x1 0.0004", "norm-backward fp16 1x4096x1024x1 0.0008",
                                   "gemm-nt fp16 1x4096x3072x1024 0.001", "gemm-nn fp16 1x4096x1024x3072 0.001",
                                   "gemm-tn fp16 1x3072x1024x4096 0.001", "gemm-nt fp16 32x2048x2048x64 0.0005",
                                   "gemm-nn fp16 32x2048x64x2048 0.0006", "gemm-tn fp16 32x2048x64x2048 0.0006",
                                   "gemm-nn fp16 1x4096x1024x4096 0.0015", "gemm-tn fp16 1x4096x1024x4096 0.0015"));
  EXPECT_THAT(left_out(profile),
              UnorderedElementsAre("2 of operators without a kernel in slmsim (2 encoder-embedding)",
                                   "1 shorter than 300 us", "1 of operators that ran out of memory"));
  EXPECT_EQ(profile.sources[1].taken, 0);
}

TEST(ImportSailor, TellsGpuAndPrecisionFromFolders) {
  Files files;
  files.write("A100-40/profiled-data-fp16/OPT-350_mbs2_tp1_algo0.csv", kAceso);
  files.write("A100-40/profiled-data-fp16/prim_OPT-350_all_reduce_4gpus.csv",
              "data_size(MB),time(ms)\n6,0.135\n4096,1000000000\n");
  const auto profile = import("sailor", files);
  EXPECT_EQ(profile.gpu, "A100-40");
  EXPECT_THAT(points(profile), Contains("gemm-nt fp16 1x4096x3072x1024 0.001"));
  // 6 MiB.
  EXPECT_THAT(collectives(profile), ElementsAre("all-reduce 4/1 6.29146e+06 0.000135"));
}

TEST(ImportAiconfigurator, TakesProductsOfPrecisionsThatSlmsimKnows) {
  Files files;
  files.write("gemm_perf.txt",
              "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n"
              "TRTLLM,1.0,NVIDIA H200,gemm,torch_flow,bfloat16,1024,4096,2048,0.25\n"
              "TRTLLM,1.0,NVIDIA H200,gemm,torch_flow,fp8_block,1024,4096,2048,0.125\n");
  const auto profile = import("aiconfigurator", files);
  EXPECT_THAT(points(profile), ElementsAre("gemm-nt bf16 1x1024x4096x2048 0.00025"));
  EXPECT_THAT(left_out(profile), ElementsAre("1 in precision fp8_block"));
}

TEST(ImportAiconfigurator, CountsMessagesInElements) {
  Files files;
  files.write("nccl_perf.txt",
              "framework,version,device,op_name,kernel_source,nccl_dtype,num_gpus,message_size,latency\n"
              "TRTLLM,2.2,NVIDIA H200,all_gather,NCCL,half,8,512,0.5\n"
              "TRTLLM,2.2,NVIDIA H200,all_reduce,NCCL,int8,8,512,0.25\n"
              "TRTLLM,2.2,NVIDIA H200,alltoall,NCCL,half,8,512,0.25\n"
              "TRTLLM,2.2,NVIDIA H200,all_reduce,NCCL,half,16,512,0.25\n");
  const auto profile = import("aiconfigurator", files);
  EXPECT_THAT(collectives(profile), ElementsAre("all-gather 8/1 1024 0.0005", "all-reduce 8/1 512 0.00025"));
  EXPECT_EQ(profile.sources.front().left_out.size(), 2);
}

// 32 heads of 128, 8 of keys and values, on 2 workers: (16 + 2 x 4) x 128 = 3072 columns; a gated MLP has twice 11008 /
// 2.
TEST(ImportVidur, DividesLayersOverWorkers) {
  Files files;
  std::string header = "num_tokens,num_tensor_parallel_workers,n_embd,n_expanded_embd,n_head,n_kv_head,use_gated_mlp";
  for (const char* name : {"emb", "attn_pre_proj", "attn_post_proj", "mlp_up_proj", "mlp_act", "mlp_down_proj",
                           "input_layernorm", "post_attention_layernorm"})
    header += std::string(",time_stats.") + name + ".mean,time_stats." + name + ".median";
  files.write("compute/a100/mlp.csv", header + "\n512,2,4096,11008,32,8,True,9,1,9,2,9,3,9,4,9,5,9,6,9,7,,\n");
  const auto profile = import("vidur", files);
  EXPECT_EQ(profile.gpu, "a100");
  EXPECT_THAT(points(profile),
              UnorderedElementsAre("gemm-nt fp16 1x512x3072x4096 0.002", "gemm-nt fp16 1x512x4096x2048 0.003",
                                   "gemm-nt fp16 1x512x11008x4096 0.004", "swiglu-forward fp16 1x512x5504x1 0.005",
                                   "gemm-nt fp16 1x512x4096x5504 0.006", "norm-forward fp16 1x512x4096x1 0.007"));
  EXPECT_THAT(left_out(profile), ElementsAre("1 of operators without a kernel in slmsim (1 emb)"));
}

TEST(ImportVidur, CountsMachinesOfCollectives) {
  Files files;
  files.write("network/a100_dgx/all_reduce.csv",
              ",time_stats.all_reduce.median,rank,num_workers,size,collective,devices_per_node,max_devices_per_node\n"
              "0,0.5,0,16,2048,all_reduce,8,8\n1,0.7,1,16,2048,all_reduce,8,8\n");
  EXPECT_THAT(collectives(import("vidur", files)), ElementsAre("all-reduce 16/2 2048 0.0006"));
}

// cuBLAS' C = A B of 10 x 20 lies by columns: slmsim's 20 x 10 product of B and A.
constexpr const char* kDeepBench =
    "                  Running training benchmark \n                         Times\n"
    "---------------------------------------------------\n"
    "    m       n      k      a_t     b_t      precision        time (usec) \n"
    "     10     20     30      0      0         float             500\n"
    "     10     20     30      1      0         float             600\n"
    "     10     20     30      0      1          half             700\n"
    "     10     20     30      1      1          half             700\n"
    "     10     20     30      0      0          int8   Not Supported\n"
    " Total kernels: 5\n";

TEST(ImportDeepBench, TurnsColumnsIntoRows) {
  Files files;
  files.write("gemm.txt", kDeepBench);
  const auto profile = import("deepbench", files);
  EXPECT_THAT(points(profile), UnorderedElementsAre("gemm-nn fp32 1x20x10x30 0.0005", "gemm-nt fp32 1x20x10x30 0.0006",
                                                    "gemm-tn fp16 1x20x10x30 0.0007"));
  EXPECT_THAT(left_out(profile),
              UnorderedElementsAre("1 of products of two transposed factors", "1 of products that are not supported"));
}

TEST(ImportDeepBench, ReadsASheetAndAllReduces) {
  Files sheet;
  sheet.write("v100.csv",
              "Precision,Float,,,,,,,,\n,,,,,,,,,\n"
              "Dense Matrix Multiplication,,M,N,K,A Transpose,B Transpose,,Time (msec),TERAFLOPS\n"
              ",DeepSpeech,1760,16,1760,T,N,,0.038,2.6\n,,,,,,,,,\nConvolution,,W,H,C,N,K,,,\n");
  EXPECT_THAT(points(import("deepbench", sheet, in(Precision::kFp32))),
              ElementsAre("gemm-nt fp32 1x16x1760x1760 3.8e-05"));
  Files reduce;
  reduce.write(
      "nccl.txt",
      " NCCL AllReduce \n Num Ranks: 8\n------\n    # of floats    bytes transferred    Time (msec)   \n------\n"
      "         100000         400000               0.118\n");
  EXPECT_THAT(collectives(import("deepbench", reduce)), ElementsAre("all-reduce 8/1 400000 0.000118"));
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
