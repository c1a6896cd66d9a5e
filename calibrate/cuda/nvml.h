// NVML, the driver's management library, loaded on demand because it is missing without a driver.
#pragma once

#include <string>

#include "calibrate/gpu/loop.h"

namespace slmsim::calibrate {

class Nvml {
 public:
  // For the GPU at this PCI address ("0000:17:00.0"). Without the library, or where it refuses, all figures are empty.
  explicit Nvml(const std::string& pci_address);
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  Clock clock() const;            // current clock of the multiprocessors, and why it is not higher
  std::string driver() const;     // "580.65.06"
  double greatest_clock() const;  // MHz, of the multiprocessors
  double memory_clock() const;    // MHz, the maximum
  double power_limit() const;     // W
  double temperature() const;     // current, degrees Celsius

 private:
  template <class Function>
  Function find(const char* name) const;
  unsigned clock_of(const char* function, int type) const;

  void* library_ = nullptr;
  void* device_ = nullptr;
};

}  // namespace slmsim::calibrate
