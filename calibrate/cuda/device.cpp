#include "calibrate/cuda/device.h"

#include <algorithm>
#include <cstdint>

#include "calibrate/common/text.h"
#include "calibrate/cuda/check.h"
#include "calibrate/gpu/runner.h"

namespace slmsim::calibrate {
namespace {

constexpr std::size_t kAlignment = 256;  // cudaMalloc's
constexpr int kMostSets = 512;
constexpr double kUsableMemory = 0.9;  // share of free memory; the libraries' workspaces need some

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

std::string version_text(int version) { return format("%d.%d", version / 1000, version % 1000 / 10); }

}  // namespace

int count_gpus() {
  int driver = 0, runtime = 0, count = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0)
    throw NoGpu(
        "there is no NVIDIA driver on this machine; calibration needs a GPU and its driver (nvidia-smi shows both)");
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver) {
    throw NoGpu(
        format("the driver is for CUDA %s, this program was built with CUDA %s; install a newer driver, or build "
               "with an older CUDA toolkit",
               version_text(driver).c_str(), version_text(runtime).c_str()));
  }
  if (status != cudaSuccess || count < 1) {
    throw NoGpu(
        format("there is no GPU that CUDA can use (%s); nvidia-smi and CUDA_VISIBLE_DEVICES show the visible ones",
               cudaGetErrorString(status == cudaSuccess ? cudaErrorNoDevice : status)));
  }
  return count;
}

Device::Device(int number) : number_(number) {
  const int count = count_gpus();
  if (number >= count) throw NoGpu(format("there is no GPU %d; there are %d, counted from 0", number, count));
  check(cudaSetDevice(number), "cudaSetDevice");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, number), "cudaGetDeviceProperties");
  title_ = properties.name;
  for (const char byte : properties.uuid.bytes) identity_ += format("%02x", static_cast<unsigned char>(byte));
  capability_ = 10 * properties.major + properties.minor;
  multiprocessors_ = properties.multiProcessorCount;
  cache_ = static_cast<std::size_t>(properties.l2CacheSize);
  memory_ = properties.totalGlobalMem;
  nvml_ = std::make_unique<Nvml>(format("%08x:%02x:%02x.0", static_cast<unsigned>(properties.pciDomainID),
                                        static_cast<unsigned>(properties.pciBusID),
                                        static_cast<unsigned>(properties.pciDeviceID)));
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
}

Device::~Device() { cudaStreamDestroy(stream_); }

void Device::wait() const { check(cudaStreamSynchronize(stream_), "waiting for the GPU"); }

std::vector<std::pair<std::string, std::string>> Device::facts() const {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  std::vector<std::pair<std::string, std::string>> facts = {
      {"gpu", title_},
      {"compute_capability", format("%d.%d", capability_ / 10, capability_ % 10)},
      {"multiprocessors", format("%d", multiprocessors_)},
      {"memory", format("%.0f MiB", static_cast<double>(memory_) / 1048576)},
      {"l2_cache", format("%.0f KiB", static_cast<double>(cache_) / 1024)},
      {"driver", nvml_->driver()},
      {"cuda_driver", version_text(driver)},
      {"cuda_runtime", version_text(runtime)},
  };
  const double sm =
      nvml_->greatest_clock() > 0 ? nvml_->greatest_clock() : attribute(cudaDevAttrClockRate, number_) / 1e3;
  const double memory =
      nvml_->memory_clock() > 0 ? nvml_->memory_clock() : attribute(cudaDevAttrMemoryClockRate, number_) / 1e3;
  facts.emplace_back("greatest_clock", format("%.0f MHz", sm));
  facts.emplace_back("memory_clock", format("%.0f MHz", memory));
  if (nvml_->power_limit() > 0) facts.emplace_back("power_limit", format("%.0f W", nvml_->power_limit()));
  return facts;
}

Arrays::Arrays(const Device& device, const std::vector<std::size_t>& bytes) {
  for (const std::size_t size : bytes) {
    offsets_.push_back(set_bytes_);
    set_bytes_ += (size + kAlignment - 1) / kAlignment * kAlignment;
  }
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  const auto usable = static_cast<std::size_t>(kUsableMemory * static_cast<double>(free));
  const auto too_large = [&](std::size_t needed) {
    return MeasurementSkip(format("%.1f GiB do not fit into the %.1f GiB that are free",
                                  static_cast<double>(needed) / 0x1p30, static_cast<double>(usable) / 0x1p30));
  };
  if (set_bytes_ > usable) throw too_large(set_bytes_);
  const std::size_t wanted = (2 * device.cache() + set_bytes_ - 1) / set_bytes_;
  sets_ = static_cast<int>(std::clamp<std::size_t>(std::min(wanted, usable / set_bytes_), 1, kMostSets));
  void* memory = nullptr;
  if (cudaMalloc(&memory, set_bytes_ * static_cast<std::size_t>(sets_)) != cudaSuccess) {
    cudaGetLastError();
    throw too_large(set_bytes_ * static_cast<std::size_t>(sets_));
  }
  memory_ = static_cast<std::byte*>(memory);
}

Arrays::~Arrays() { cudaFree(memory_); }

}  // namespace slmsim::calibrate
