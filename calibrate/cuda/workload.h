// A kernel with its data on the GPU, ready to launch and check.
#pragma once

#include <memory>

#include "calibrate/cuda/device.h"
#include "calibrate/gpu/kernel.h"
#include "calibrate/gpu/runner.h"

namespace slmsim::calibrate {

class Workload {
 public:
  virtual ~Workload() = default;
  virtual int sets() const = 0;
  // Launches on the device's stream with this set of arrays; does not wait. Throws GpuError.
  virtual void launch(int set) = 0;
  // Check of set 0's result, after launch(0): the largest deviation of some elements from a reference on the host (number.h);
  // above 1 is wrong.
  virtual double error() = 0;
};

inline constexpr const char* kNoFlash =
    "not timed: no library for flash attention (CUDA and cuBLAS have none); predictions use the software stack's share";

// One per family of kernels. Throw MeasurementSkip where it does not fit in memory, or the GPU does not support it.
std::unique_ptr<Workload> make_gemm(const Device& device, const Kernel& kernel);
// The heuristic's first, second, ... algorithm; MeasurementSkip where it has fewer.
std::unique_ptr<Workload> make_gemm_lt(const Device& device, const Kernel& kernel, int choice = 0);
std::unique_ptr<Workload> make_softmax(const Device& device, const Kernel& kernel);  // also fused_softmax
std::unique_ptr<Workload> make_mask(const Device& device, const Kernel& kernel);
std::unique_ptr<Workload> make_dropout(const Device& device, const Kernel& kernel);
std::unique_ptr<Workload> make_norm(const Device& device, const Kernel& kernel);  // also rmsnorm
std::unique_ptr<Workload> make_bias(const Device& device, const Kernel& kernel);
std::unique_ptr<Workload> make_rotary(const Device& device, const Kernel& kernel);
std::unique_ptr<Workload> make_gelu(const Device& device, const Kernel& kernel);
std::unique_ptr<Workload> make_swiglu(const Device& device, const Kernel& kernel);
std::unique_ptr<Workload> make_residual(const Device& device, const Kernel& kernel);  // also addition
std::unique_ptr<Workload> make_embedding(const Device& device, const Kernel& kernel);
std::unique_ptr<Workload> make_loss(const Device& device, const Kernel& kernel);
std::unique_ptr<Workload> make_adam(const Device& device, const Kernel& kernel);  // also adam_foreach, adam_single

// By the kernel's name; products with cuBLASLt if `cublaslt`.
std::unique_ptr<Workload> make_workload(const Device& device, const Kernel& kernel, bool cublaslt);

// The measuring loop's timer: events around launches that cycle through the sets of arrays.
class WorkloadTimer final : public Timer {
 public:
  WorkloadTimer(const Device& device, Workload& workload);
  WorkloadTimer(const WorkloadTimer&) = delete;
  WorkloadTimer& operator=(const WorkloadTimer&) = delete;
  ~WorkloadTimer() override;
  double run(int launches) override;
  static double seconds();  // wall clock
  double now() override { return seconds(); }
  Clock clock() override { return device_.nvml().clock(); }

 private:
  const Device& device_;
  Workload& workload_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  int next_ = 0;
};

}  // namespace slmsim::calibrate
