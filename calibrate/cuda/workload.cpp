#include "calibrate/cuda/workload.h"

#include <chrono>
#include <map>

#include "calibrate/cuda/check.h"

namespace slmsim::calibrate {

std::unique_ptr<Workload> make_workload(const Device& device, const Kernel& kernel, bool cublaslt) {
  constexpr int kAmpere = 80;
  if (device.capability() < kAmpere && (kernel.precision == "bf16" || kernel.precision == "tf32"))
    throw MeasurementSkip("this GPU does not have " + kernel.precision);
  const std::string family = kernel.family();
  if (family == "gemm") return cublaslt ? make_gemm_lt(device, kernel) : make_gemm(device, kernel);
  if (family == "flash") throw MeasurementSkip(kNoFlash);
  using Make = std::unique_ptr<Workload> (*)(const Device&, const Kernel&);
  static const std::map<std::string, Make> kMakers = {{"softmax", make_softmax},     {"fused_softmax", make_softmax},
                                                      {"mask", make_mask},           {"dropout", make_dropout},
                                                      {"norm", make_norm},           {"rmsnorm", make_norm},
                                                      {"bias", make_bias},           {"rotary", make_rotary},
                                                      {"gelu", make_gelu},           {"swiglu", make_swiglu},
                                                      {"residual", make_residual},   {"addition", make_residual},
                                                      {"embedding", make_embedding}, {"loss", make_loss},
                                                      {"adam", make_adam},           {"adam_foreach", make_adam},
                                                      {"adam_single", make_adam}};
  const auto maker = kMakers.find(family);
  if (maker == kMakers.end()) throw MeasurementSkip("slmsim-calibrate has no kernel of this name");
  return maker->second(device, kernel);
}

WorkloadTimer::WorkloadTimer(const Device& device, Workload& workload) : device_(device), workload_(workload) {
  check(cudaEventCreate(&start_), "cudaEventCreate");
  check(cudaEventCreate(&stop_), "cudaEventCreate");
}

WorkloadTimer::~WorkloadTimer() {
  cudaEventDestroy(start_);
  cudaEventDestroy(stop_);
}

double WorkloadTimer::run(int launches) {
  check(cudaEventRecord(start_, device_.stream()), "cudaEventRecord");
  for (int i = 0; i < launches; ++i) {
    workload_.launch(next_);
    next_ = (next_ + 1) % workload_.sets();
  }
  check(cudaEventRecord(stop_, device_.stream()), "cudaEventRecord");
  check(cudaEventSynchronize(stop_), "running a kernel");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e-3;
}

double WorkloadTimer::seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace slmsim::calibrate
