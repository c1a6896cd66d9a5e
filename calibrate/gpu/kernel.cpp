#include "calibrate/gpu/kernel.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "calibrate/common/failure.h"
#include "calibrate/common/text.h"

namespace slmsim::calibrate {
namespace {

constexpr const char* kHeader = "kernel,batch,m,n,k,operators";
constexpr double kLargest = 1e12;
constexpr std::size_t kMostKernels = 100'000;

[[noreturn]] void fail(const std::string& file, int line, const std::string& text) {
  throw UsageError(format("%s:%d: error: %s", printable(file).c_str(), line, text.c_str()));
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

std::int64_t size_from(const std::string& cell, const std::string& file, int line) {
  const auto value = parse_number(cell);
  if (!value || *value < 1 || *value > kLargest || *value != static_cast<double>(static_cast<std::int64_t>(*value)))
    fail(file, line,
         format("\"%s\" is not a size; a whole number from 1 is expected", printable(cell).substr(0, 64).c_str()));
  return static_cast<std::int64_t>(*value);
}

Kernel kernel_from(const std::string& text, const std::string& file, int line) {
  const auto cells = cells_of(text);
  if (cells.size() < 5) fail(file, line, format("%zu cells; expected are %s", cells.size(), kHeader));
  const auto& known = kernel_names();
  if (std::find(known.begin(), known.end(), cells[0]) == known.end()) {
    std::string names;
    for (const auto& name : known) names += (names.empty() ? "" : ", ") + name;
    fail(file, line,
         format("unknown kernel \"%s\"; known are: %s", printable(cells[0]).substr(0, 64).c_str(), names.c_str()));
  }
  Kernel kernel{cells[0], "", 1, 1, 1, 1};
  std::int64_t* const sizes[] = {&kernel.batch, &kernel.m, &kernel.n, &kernel.k};
  for (std::size_t i = 0; i < 4; ++i) *sizes[i] = size_from(cells[i + 1], file, line);
  return kernel;
}

auto tied(const Kernel& kernel) {
  return std::tie(kernel.name, kernel.precision, kernel.batch, kernel.m, kernel.n, kernel.k);
}

}  // namespace

bool Kernel::operator<(const Kernel& other) const { return tied(*this) < tied(other); }
bool Kernel::operator==(const Kernel& other) const { return tied(*this) == tied(other); }
std::string Kernel::family() const { return name.substr(0, name.find('-')); }
bool Kernel::is_backward() const { return name.ends_with("-backward"); }

double Kernel::elements() const { return static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n); }

double Kernel::flops() const { return family() == "gemm" ? 2 * elements() * static_cast<double>(k) : 0; }

const std::vector<std::string>& kernel_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = {"gemm-nn", "gemm-nt", "gemm-tn"};
    for (const char* family : {"softmax", "fused_softmax", "mask", "dropout", "flash", "norm", "rmsnorm", "bias",
                               "rotary", "gelu", "swiglu", "residual", "addition", "embedding", "loss"}) {
      names.push_back(std::string(family) + "-forward");
      names.push_back(std::string(family) + "-backward");
    }
    for (const char* way : {"adam", "adam_foreach", "adam_single"}) names.emplace_back(way);
    return names;
  }();
  return kNames;
}

const std::vector<std::string>& precision_names() {
  static const std::vector<std::string> kNames = {"fp16", "bf16", "tf32", "fp32"};
  return kNames;
}

std::string to_text(const Kernel& kernel) {
  return format("%s %s %lldx%lldx%lldx%lld", kernel.name.c_str(), kernel.precision.c_str(),
                static_cast<long long>(kernel.batch), static_cast<long long>(kernel.m),
                static_cast<long long>(kernel.n), static_cast<long long>(kernel.k));
}

std::vector<Kernel> read_kernels(const std::vector<std::string>& files) {
  std::set<Kernel> seen;
  std::vector<Kernel> kernels;
  for (const auto& file : files) {
    std::ifstream stream(file);
    if (!stream) throw UsageError(with_reason("cannot read \"" + printable(file) + "\""));
    int number = 0;
    bool header = false;
    for (std::string line; std::getline(stream, line);) {
      ++number;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.empty() || line.front() == '#') continue;
      if (!header) {
        if (line != kHeader) fail(file, number, format("a list of kernels begins with %s (slmsim shapes)", kHeader));
        header = true;
        continue;
      }
      const Kernel kernel = kernel_from(line, file, number);
      if (seen.insert(kernel).second) kernels.push_back(kernel);
      if (kernels.size() > kMostKernels) fail(file, number, "too many kernels to time");
    }
    if (!header) fail(file, number, format("empty; a list of kernels begins with %s", kHeader));
  }
  return kernels;
}

std::vector<Kernel> in_precisions(const std::vector<Kernel>& kernels, const std::vector<std::string>& precisions) {
  std::vector<Kernel> sorted = kernels;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Kernel& a, const Kernel& b) {
    return std::max(a.elements(), a.flops()) < std::max(b.elements(), b.flops());
  });
  std::vector<Kernel> all;
  for (const auto& precision : precisions) {
    for (Kernel kernel : sorted) {
      if (precision == "tf32" && kernel.flops() <= 0) continue;
      kernel.precision = precision;
      all.push_back(std::move(kernel));
    }
  }
  return all;
}

}  // namespace slmsim::calibrate
