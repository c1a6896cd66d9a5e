// The measured GPU, and memory on it.
#pragma once

#include <cuda_runtime_api.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/cuda/nvml.h"
#include "calibrate/gpu/number.h"

namespace slmsim::calibrate {

// Throws NoGpu, with advice, unless a driver and a GPU are found.
int count_gpus();

class Device {
 public:
  // Selects the GPU for this thread. Throws NoGpu where no GPU has this number.
  explicit Device(int number);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  int number() const { return number_; }
  cudaStream_t stream() const { return stream_; }
  const Nvml& nvml() const { return *nvml_; }
  const std::string& title() const { return title_; }
  const std::string& identity() const { return identity_; }  // its UUID
  int capability() const { return capability_; }             // 75, 80, 90
  int multiprocessors() const { return multiprocessors_; }
  std::size_t cache() const { return cache_; }  // bytes of L2
  std::size_t memory() const { return memory_; }
  // Lines of the profile: GPU, driver, CUDA, clocks.
  std::vector<std::pair<std::string, std::string>> facts() const;
  void wait() const;

 private:
  int number_ = 0, capability_ = 0, multiprocessors_ = 0;
  std::size_t cache_ = 0, memory_ = 0;
  std::string title_, identity_;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<Nvml> nvml_;
};

// The arrays of a kernel, in several sets that together exceed the L2 cache twice: each launch takes the next set, so that none
// finds its data in the cache.
class Arrays {
 public:
  // `bytes` of each array of a set. Throws MeasurementSkip where even one set does not fit.
  Arrays(const Device& device, const std::vector<std::size_t>& bytes);
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;
  ~Arrays();

  int sets() const { return sets_; }
  template <class T>
  T* at(int set, std::size_t array) const {
    return reinterpret_cast<T*>(memory_ + static_cast<std::size_t>(set) * set_bytes_ + offsets_[array]);
  }

 private:
  std::byte* memory_ = nullptr;
  std::size_t set_bytes_ = 0;
  int sets_ = 1;
  std::vector<std::size_t> offsets_;
};

// Uniform random numbers between low and high; never all zero bits. Launched on the device's stream.
void fill_random(const Device& device, void* array, Number number, std::size_t count, float low, float high,
                 unsigned seed);
// Random whole numbers from 0 to limit - 1.
void fill_random_int(const Device& device, int* array, std::size_t count, int limit, unsigned seed);
// `count` elements from `first`, `stride` apart; waits for the device's stream.
std::vector<double> gather(const Device& device, const void* array, Number number, std::size_t first,
                           std::size_t stride, std::size_t count);
// An empty kernel.
void launch_nothing(const Device& device);

}  // namespace slmsim::calibrate
