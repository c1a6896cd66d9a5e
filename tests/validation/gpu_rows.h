// Public measurements of single GPUs: operators of Megatron's layers, and single kernels.
//
// Input: a folder with operators.csv (gpu, precision, hidden, heads, vocabulary, sequence, batch, op, pass, seconds) and
// kernels.csv (source, gpu, precision, kernel, batch, m, n, k, seconds). The files are the user's own.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sim/compute/software.h"
#include "sim/compute/transformer.h"
#include "sim/platform/gpu.h"

namespace slmsim {

// An operator of one layer, timed alone. `op` as in Aceso's profiler: "enc-MLP-gelu".
struct OperatorRow {
  std::string gpu;
  Precision precision = Precision::kFp16;
  Transformer model;  // one layer
  int batch = 1;
  std::string op;
  bool forward = true;
  Seconds time;
};

struct KernelRow {
  std::string source, gpu;
  Precision precision = Precision::kFp16;
  KernelShape kernel;
  Seconds time;
};

// Throw InputError with all errors.
std::vector<OperatorRow> read_operator_rows(const std::filesystem::path& file);
std::vector<KernelRow> read_kernel_rows(const std::filesystem::path& file);

// The files of platforms/gpus and scenarios/stacks by name, each read once.
class NamedFiles {
 public:
  explicit NamedFiles(std::vector<std::filesystem::path> roots) : roots_(std::move(roots)) {}
  // Throws InputError where the file does not exist.
  const Gpu& gpu(const std::string& name);
  Software stack(const std::string& name) const;

 private:
  std::filesystem::path find(const std::string& folder, const std::string& name) const;
  std::vector<std::filesystem::path> roots_;
  std::map<std::string, Gpu> gpus_;
};

}  // namespace slmsim
