// calibrate/cuda/device.h without a GPU: a device with two sets of arrays, each array an allocation of its own.
#include "calibrate/cuda/device.h"

#include "calibrate/cuda/check.h"
#include "calibrate/gpu/runner.h"
#include "tests/emulated_gpu/arrays.h"
#include "tests/emulated_gpu/memory.h"

namespace slmsim::calibrate {
namespace {

constexpr int kSets = 2;
constexpr std::size_t kMemory = std::size_t{64} << 20;

}  // namespace

int count_gpus() { return 1; }

Device::Device(int number)
    : number_(number), capability_(90), multiprocessors_(1), memory_(kMemory), title_("emulated") {
  nvml_ = std::make_unique<Nvml>("none");
}
Device::~Device() = default;
void Device::wait() const { check(cudaGetLastError(), "waiting for the GPU"); }
std::vector<std::pair<std::string, std::string>> Device::facts() const { return {{"gpu", title_}}; }

std::vector<EmulatedArray>& emulated_arrays() {
  static std::vector<EmulatedArray> arrays;
  return arrays;
}

// Array i of set s is memory_ + s * set_bytes_ + offsets_[i]; the distances between allocations do as offsets.
Arrays::Arrays(const Device& device, const std::vector<std::size_t>& bytes) : sets_(kSets) {
  std::size_t all = 0;
  for (const std::size_t size : bytes) all += kSets * size;
  if (all > device.memory()) throw MeasurementSkip("too large for the emulated GPU");
  // One block for all sets, in which every array ends where something watched begins.
  constexpr std::size_t kAlignment = 256;
  for (const std::size_t size : bytes) {
    offsets_.push_back(set_bytes_);
    set_bytes_ += (size + 2 * kAlignment - 1) / kAlignment * kAlignment;
  }
  memory_ = static_cast<std::byte*>(emulated::allocate(kSets * set_bytes_));
  for (int set = 0; set < kSets; ++set) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      std::byte* const array = at<std::byte>(set, i);
      const std::size_t next = i + 1 < bytes.size() ? offsets_[i + 1] : set_bytes_;
      emulated::guard(array + bytes[i], next - offsets_[i] - bytes[i]);
      emulated_arrays().push_back({array, bytes[i], set, memory_});
    }
  }
}

Arrays::~Arrays() {
  std::erase_if(emulated_arrays(), [this](const EmulatedArray& array) { return array.memory == memory_; });
  emulated::release(memory_);
}

}  // namespace slmsim::calibrate
