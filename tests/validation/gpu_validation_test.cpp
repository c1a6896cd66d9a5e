#include "tests/validation/gpu_validation.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "sim/compute/roofline.h"

namespace slmsim::gpu_validation_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A folder of tables, removed with the test.
class GpuTables : public testing::Test {
 protected:
  GpuTables() { fs::create_directories(folder_); }
  ~GpuTables() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

  // Three operators of a layer with 4 x 2048 tokens and a hidden size of 4096, moved at 2 elements + 1 byte of each GPU's
  // bandwidth times `slower`.
  void write_operators(double slower = 1) const {
    std::string text = "gpu,precision,hidden,heads,vocabulary,sequence,batch,op,pass,seconds\n";
    for (const auto& [gpu, bandwidth] : {std::pair{"a100-40", 1555e9}, {"v100-16", 900e9}, {"t4", 320e9}}) {
      for (const auto& [precision, size] : {std::pair{"fp16", 2.0}, {"fp32", 4.0}}) {
        for (const int batch : {8, 16}) {
          const double elements = 4.0 * 4096 * 2048 * batch;
          const double seconds = elements * (2 * size + 1) / bandwidth * (gpu == std::string("t4") ? slower : 1);
          text += fmt::format("{},{},4096,32,50304,2048,{},enc-MLP-gelu,fwd,{}\n", gpu, precision, batch, seconds);
        }
      }
    }
    write("operators.csv", text);
  }

  GpuValidation validate() const { return validate_gpus(folder_, {fs::path(SLMSIM_SOURCE_DIR)}); }

  std::string problem() const {
    try {
      validate();
    } catch (const InputError& error) {
      std::string all;
      for (const Error& each : error.errors()) all += to_string(each) + "\n";
      return all;
    }
    return "";
  }

  const std::string kernels_ = "source,gpu,precision,kernel,batch,m,n,k,seconds\n";
  const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("gpu-tables-{}", ::getpid());
};

TEST_F(GpuTables, FindsTheElementsAndBytesThatMadeThem) {
  write_operators();
  write("kernels.csv", kernels_);
  const GpuValidation v = validate();
  ASSERT_EQ(v.fits.size(), 1);
  EXPECT_EQ(v.fits[0].kernel, "gelu");
  EXPECT_NEAR(v.fits[0].moves.elements, 2, 1e-9);
  EXPECT_NEAR(v.fits[0].moves.bytes, 1, 1e-9);
  ASSERT_EQ(v.left_out.size(), 4);
  for (const auto& row : v.left_out) EXPECT_NEAR(row.error.ninth, 0, 1e-9) << row.gpu;
}

TEST_F(GpuTables, PredictsAGpuFromTheOthersAlone) {
  write_operators(1.25);  // the T4 takes a quarter longer: 1 / 1.25 - 1 = -20 %, whatever its own rows say
  write("kernels.csv", kernels_);
  for (const auto& row : validate().left_out) {
    if (row.gpu == "t4") {
      EXPECT_NEAR(row.error.median, 0.2, 1e-9);
    }
  }
}

TEST_F(GpuTables, AsksProductsForTheShareThatMadeThem) {
  write("operators.csv", "gpu,precision,hidden,heads,vocabulary,sequence,batch,op,pass,seconds\n");
  Reading reading;
  const Gpu gpu = read_gpu(read_yaml(fs::path(SLMSIM_SOURCE_DIR) / "platforms/gpus/a100-40.yaml"), "", reading);
  Software software;
  software.memory = 0.8;
  software.launch = Seconds{5e-6};
  software.matrix["a100-40"] = 0.5;
  std::string text = kernels_;
  for (const std::int64_t size : {4096, 6144, 8192}) {
    const MatrixShape shape{1, size, size, size};
    const double seconds = product_time(shape, gpu, Precision::kFp16, software).value;
    text += fmt::format("made up,a100-40,fp16,gemm-nn,1,{0},{0},{0},{1}\n", size, seconds);
  }
  write("kernels.csv", text);
  const GpuValidation v = validate();
  ASSERT_EQ(v.products.size(), 1);
  EXPECT_EQ(v.products[0].error.rows, 3);
  EXPECT_NEAR(v.products[0].share, 0.5, 1e-6);
  EXPECT_NEAR(v.products[0].stated, gpu.efficiency[static_cast<std::size_t>(Precision::kFp16)].share, 0);
  EXPECT_GT(v.products[0].error.median, 0.2);
}

TEST_F(GpuTables, TellsWhatIsWrongWithTheirFileAndLine) {
  write_operators();
  write("kernels.csv", kernels_ + "x,a100-40,fp16,gemm-nn,1,8,8,8,fast\nx,a100-40,fp17,gemm-nn,0,8,8,8,1e-3\n");
  const std::string text = problem();
  EXPECT_THAT(text, HasSubstr("kernels.csv:2:1"));
  EXPECT_THAT(text, HasSubstr("seconds: \"fast\" is not a number"));
  EXPECT_THAT(text, HasSubstr("kernels.csv:3:1"));
  EXPECT_THAT(text, HasSubstr("there is no \"fp17\""));
  EXPECT_THAT(text, HasSubstr("batch: \"0\" is out of range"));
  write("kernels.csv", kernels_ + "x,a1000,fp16,gemm-nn,1,8,8,8,1\n");
  EXPECT_THAT(problem(), HasSubstr("there is no platforms/gpus/a1000.yaml"));
  write("kernels.csv", "source,gpu\n");
  EXPECT_THAT(problem(), HasSubstr("kernels.csv"));
}

}  // namespace
}  // namespace slmsim::gpu_validation_test
