// Tables that are not what they are taken for: what is wrong, where, and what would be right, all at once.
#include <gmock/gmock.h>

#include "tests/import/measurement/import_text.h"

namespace slmsim::refusal_test {
namespace {

using import_test::Files;
using import_test::import;
using import_test::points;
using import_test::refusals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

const std::string kHeader = "kernel,precision,batch,m,n,k,seconds\n";

struct Refusal {
  std::string name, format, file, text, error;
};

class ImportRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(ImportRefusal, NamesPlaceAndRemedy) {
  Files files;
  files.write(GetParam().file, GetParam().text);
  const std::string place = GetParam().error.substr(0, GetParam().error.find(' '));
  EXPECT_THAT(refusals(GetParam().format, files),
              ElementsAre(AllOf(StartsWith(place + " "), HasSubstr(GetParam().error.substr(place.size() + 1)))));
}

INSTANTIATE_TEST_SUITE_P(
    Of, ImportRefusal,
    testing::Values(
        Refusal{"Nothing", "csv", "a.csv", "", "0:0 the file is empty or cannot be read"},
        Refusal{"Binary", "csv", "a.csv", std::string("a\0b", 3), "0:0 the file is not text"},
        Refusal{"Spreadsheet", "deepbench", "a.xlsx", "PK\x03\x04", "0:0 save its sheet as csv"},
        Refusal{"GitLfs", "aiconfigurator", "gemm_perf.txt", "version https://git-lfs.github.com/spec/v1\n",
                "0:0 run git lfs pull"},
        Refusal{"OtherColumns", "csv", "a.csv", "a,b\n1,2\n",
                "1:1 no header of the format csv; columns kernel, precision, batch, m, n, k, seconds; or"},
        Refusal{"OtherFormat", "csv", "a.csv", "OPName,Latency,Device,B,H\n",
                "1:1 the columns are those of the format neusight; import it as that"},
        Refusal{"OtherUnit", "csv", "a.csv", "kernel,precision,batch,m,n,k,ms\n", "1:1 no header of the format csv"},
        Refusal{"HeaderAlone", "csv", "a.csv", kHeader, "0:0 the table has no rows"},
        Refusal{"NoTime", "csv", "a.csv", kHeader + "gemm-nn,fp16,1,2,3,4,fast\n",
                "2:22 seconds is \"fast\"; a number of s is expected"},
        Refusal{"NotFinite", "csv", "a.csv", kHeader + "gemm-nn,fp16,1,2,3,4,nan\n", "2:22 seconds is \"nan\""},
        Refusal{"ZeroTime", "csv", "a.csv", kHeader + "gemm-nn,fp16,1,2,3,4,0\n",
                "2:22 seconds is 0 s; a time above zero is expected"},
        Refusal{"NegativeTime", "csv", "a.csv", kHeader + "gemm-nn,fp16,1,2,3,4,-1e-3\n",
                "2:22 seconds is -1e-3 s; a time above zero is expected"},
        Refusal{"TimeInNanoseconds", "csv", "a.csv", kHeader + "gemm-nn,fp16,1,2,3,4,150000\n",
                "2:22 from 10 ns to 10,000 s is expected: is it in s, as this format says?"},
        Refusal{"PartOfASize", "csv", "a.csv", kHeader + "gemm-nn,fp16,1,2.5,3,4,1e-3\n",
                "2:16 m is \"2.5\"; a whole number of at least 1 is expected"},
        Refusal{"NoSize", "csv", "a.csv", kHeader + "gemm-nn,fp16,1,0,3,4,1e-3\n", "2:16 m is \"0\""},
        Refusal{"NoPrecision", "csv", "a.csv", kHeader + "gemm-nn,,1,2,3,4,1e-3\n", "2:9 give --precision"},
        Refusal{"CutOff", "csv", "a.csv", kHeader + "gemm-nn,fp16,1,2,3,4,1e-3\ngemm-nn,fp16,1,2",
                "3:1 4 cells; the header names 7: the file may have been cut off"},
        Refusal{"OpenQuote", "csv", "a.csv", kHeader + "\"gemm-nn,fp16,1,2,3,4,1e-3\n", "2:1 1 cells"},
        Refusal{"NothingKnown", "csv", "a.csv", kHeader + "gemv,fp16,1,2,3,4,1e-3\n",
                "0:0 none of its times can be used; left out are 1 of operators without a kernel in slmsim (1 gemv)"},
        Refusal{"AcesoByAnotherName", "sailor", "x/profiled-data-fp16/ops.csv",
                "op_name,forward-compute,backward-compute,input_size,weights,activations\n",
                "0:0 keep the profiler's, MODEL_mbs1_tp1_algo0.csv"},
        Refusal{"AcesoOfAnotherModel", "sailor", "x/profiled-data-fp16/m_mbs1_tp1_algo0.csv",
                "op_name,forward-compute,backward-compute,input_size,weights,activations\nconv,1,1,1,1,1\n",
                "1:1 the model's sizes do not follow"},
        Refusal{"AcesoWithoutPrecision", "aceso", "m_mbs1_tp1_algo0.csv",
                "op_name,forward-compute,backward-compute,input_size,weights,activations\n", "0:0 give --precision"},
        Refusal{"SailorLayers", "sailor", "profile.json", "{\n  \"1\": {\n", "1:1 no header of the format sailor"},
        Refusal{"DeepBenchInAnotherUnit", "deepbench", "a.txt", "m n k a_t b_t precision time (msec)\n",
                "1:1 the times are not in usec"},
        Refusal{"DeepBenchCutOff", "deepbench", "a.txt",
                "m n k a_t b_t precision time (usec)\n1 2 3 0 0 float 5\n1 2 3 0\n",
                "3:1 4 words; m, n, k, two layouts"},
        Refusal{"NoDeepBench", "deepbench", "a.txt", "hello\n", "1:1 output of DeepBench is expected"},
        Refusal{"DeepBenchSheetWithoutPrecision", "deepbench", "a.csv",
                "x,M,N,K,A Transpose,B Transpose,Time (msec)\n,1,2,3,N,N,1\n", "1:1 give --precision"},
        Refusal{"NcclTestsInAnotherUnit", "nccl-tests", "all_reduce_perf.txt",
                "# Rank 0 Pid 1 on a device 0 [0x0] G\n# Rank 1 Pid 1 on a device 1 [0x1] G\n"
                "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n# (B) (elements) (ms)\n",
                "4:1 the times are not in (us)"},
        Refusal{"NcclTestsCutOff", "nccl-tests", "all_reduce_perf.txt",
                "# Rank 0 Pid 1 on a device 0 [0x0] G\n# Rank 1 Pid 1 on a device 1 [0x1] G\n"
                "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
                "1024 256 float sum -1 11.5\n",
                "4:1 6 words; the header names at least 13: the file may have been cut off"},
        Refusal{"NcclTestsOfNobodyKnowsWhat", "nccl-tests", "a.txt",
                "# Rank 0 Pid 1 on a device 0 [0x0] G\n# Rank 1 Pid 1 on a device 1 [0x1] G\n"
                "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n",
                "0:0 name it after the program, all_reduce_perf.txt"},
        Refusal{"NcclTestsOfOneRank", "nccl-tests", "all_reduce_perf.txt",
                "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n",
                "0:0 0 lines \"# Rank\"; at least two GPUs are expected"},
        // 1 MiB in 42.1 ns.
        Refusal{"NcclTestsInMilliseconds", "nccl-tests", "all_reduce_perf.txt",
                "# Rank 0 Pid 1 on a device 0 [0x0] G\n# Rank 1 Pid 1 on a device 1 [0x1] G\n"
                "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
                "1048576 262144 float sum -1 0.0421 24.91 24.91 0 0.0421 24.91 24.91 0\n",
                "4:1 algbw is 24.91 GB/s, but size / time is 2.491e+04 GB/s"},
        // An all-reduce of four ranks: 2 x 3/4; of two: 1.
        Refusal{"NcclTestsOfMoreRanksThanListed", "nccl-tests", "all_reduce_perf.txt",
                "# Rank 0 Pid 1 on a device 0 [0x0] G\n# Rank 1 Pid 1 on a device 1 [0x1] G\n"
                "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
                "1048576 262144 float sum -1 42.1 24.91 37.36 0 42.1 24.91 37.36 0\n",
                "4:1 busbw / algbw is 1.5, but 1 for the 2 lines \"# Rank\" above; some are missing"},
        Refusal{"AnotherUnit", "csv", "a.csv", kHeader + "gemm-nn,fp16,1,4096,4096,4096,1e-6\n",
                // 2 x 4096^3 FLOP in 1 us.
                "2:1 gemm-nn fp16 1x4096x4096x4096 in 1 us would be 137439 TFLOP/s, which no GPU reaches"},
        // 2 x 4096^3 FLOP in 3.3 s are 41.6 GFLOP/s.
        Refusal{"Milliseconds", "csv", "a.csv", kHeader + "gemm-nn,fp16,1,4096,4096,4096,3.3\n",
                "2:1 large products reach 41.6 GFLOP/s in the median, as this one does, which is implausibly slow"},
        // 67,108,864 B, of which 2 x 3/4 go over a link, in 10 us are 10 TB/s.
        Refusal{"FasterThanAnyNvlink", "csv", "a.csv", "ranks,bytes,seconds\n4,67108864,1e-5\n",
                "2:1 all-reduce of 67108864 B over 4 GPUs in 10 us would need 10066 GB/s of each link"},
        Refusal{"CollectiveOfOneGpu", "aiconfigurator", "nccl_perf.txt",
                "device,op_name,nccl_dtype,num_gpus,message_size,latency\nH200,all_reduce,half,1,512,0.5\n",
                "0:0 none of its times can be used; left out are 1 of one GPU, which exchanges nothing"},
        Refusal{"NsysWithoutShapes", "nsys", "a.csv", "Instances,Med (ns),Name\n1,1000,x\n",
                "0:0 nsys reports no sizes of kernels; give --shapes FILE"},
        Refusal{"NsysWithoutUnit", "nsys", "a.csv", "Instances,Med,Name\n1,1000,x\n", "1:1 no column \"Med (ns)\""},
        Refusal{"VidurOfNoModel", "vidur", "a.csv",
                "num_tokens,num_tensor_parallel_workers,n_embd,n_expanded_embd,n_head,n_kv_head,use_gated_mlp\n"
                "8,3,64,64,4,4,True\n",
                "2:11 a model's sizes are expected"}),
    [](const auto& test) { return test.param.name; });

TEST(ImportRefusals, TellAFolderAndADeviceFromNoFile) {
  const auto refused = [](const std::string& path) {
    try {
      read_input_file(path);
    } catch (const InputError& error) {
      return error.errors().front().text;
    }
    return std::string("none");
  };
  EXPECT_THAT(refused("."), HasSubstr("this is a folder"));
  EXPECT_THAT(refused("/dev/null"), HasSubstr("this is a device"));
  EXPECT_THAT(refused("no-such-file"), HasSubstr("there is no such file"));
}

TEST(ImportRefusals, AreAllToldAtOnceAndBounded) {
  Files files;
  files.write("a.csv", kHeader + "gemm-nn,fp16,1,x,3,4,1e-3\ngemm-nn,fp16,1,2,3,4,-1\n");
  files.write("b.csv", "a,b\n");
  EXPECT_THAT(refusals("csv", files),
              ElementsAre(StartsWith("2:16 m is"), StartsWith("3:22 seconds is"), StartsWith("1:1 no header")));
  Files many;
  std::string text = kHeader;
  for (int i = 0; i < 20'000; ++i) text += "gemm-nn,fp16,1,2,3,4,-1\n";
  many.write("a.csv", text);
  EXPECT_THAT(refusals("csv", many), SizeIs(51));
}

const std::string kTwoGpus =
    "gpu,source,kernel,precision,batch,m,n,k,seconds\n"
    "t4,a,gemm-nn,fp16,1,2,3,4,1e-3\nl4,a,gemm-nn,fp16,1,2,3,4,2e-3\nl4,b,gemm-nn,fp16,1,2,3,5,2e-3\n";

TEST(ImportOfSeveralGpus, NeedsAChoice) {
  Files files;
  files.write("a.csv", kTwoGpus);
  EXPECT_THAT(
      refusals("csv", files),
      ElementsAre("0:0 the tables hold 2 GPUs; choose one with --where gpu=NAME: \"l4\" (2 times), \"t4\" (1 times)"));
  ImportRequest request;
  request.where = {{"gpu", "t4"}};
  EXPECT_THAT(points(import("csv", files, request)), ElementsAre("gemm-nn fp16 1x2x3x4 0.001"));
  request.where = {{"gpu", "l4"}, {"source", "b"}};
  EXPECT_THAT(points(import("csv", files, request)), ElementsAre("gemm-nn fp16 1x2x3x5 0.002"));
  // The GPU that was asked for is a choice too, where the table calls it so.
  Gpu asked;
  asked.name = "t4";
  asked.peak.fill(FlopsPerSecond{1e12});
  asked.memory_bandwidth = BytesPerSecond{1e12};
  EXPECT_EQ(gather(import_format("csv"), files.names(), {}, &asked).gpu, "t4");
}

TEST(ImportOfSeveralGpus, TellsWhatThereIsToChoose) {
  Files files;
  files.write("a.csv", kTwoGpus);
  ImportRequest request;
  request.where = {{"gpu", "t40"}};
  EXPECT_THAT(refusals("csv", files, request), ElementsAre(HasSubstr("gpu is one of l4, t4")));
  request.where = {{"sauce", "a"}};
  EXPECT_THAT(refusals("csv", files, request),
              ElementsAre("1:1 --where sauce: there is no such column; known are: gpu, source, kernel, precision, batch, m, n, k, seconds"));
  Files neusight;
  neusight.write("n.csv", "OPName,Latency,Device,B,H\nln,1,Tesla T4,8,8\nln,2,NVIDIA L4,8,8\n");
  request.where = {{"gpu", "T4"}};
  EXPECT_THAT(refusals("neusight", neusight, request),
              ElementsAre(AllOf(HasSubstr("none of them the requested one"), HasSubstr("\"Tesla T4\" (1 times)"))));
  request.where = {{"Device", "Tesla T4"}};
  EXPECT_THAT(points(import("neusight", neusight, request)), SizeIs(1));
}

TEST(ImportFormatNames, AreSuggested) {
  try {
    import_format("neusigt");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "there is no format \"neusigt\"; did you mean \"neusight\"?");
  }
}

}  // namespace
}  // namespace slmsim::refusal_test
