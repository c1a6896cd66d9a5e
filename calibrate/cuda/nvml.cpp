#include "calibrate/cuda/nvml.h"

#include <dlfcn.h>

namespace slmsim::calibrate {
namespace {

// Declarations from nvml.h; the header comes with a driver package that need not be installed.
using NvmlDevice = void*;
constexpr int kSuccess = 0;
constexpr int kClockSm = 1, kClockMemory = 2;  // nvmlClockType_t
constexpr int kSensorGpu = 0;                  // nvmlTemperatureSensors_t

}  // namespace

template <class Function>
Function Nvml::find(const char* name) const {
  return library_ ? reinterpret_cast<Function>(dlsym(library_, name)) : nullptr;
}

Nvml::Nvml(const std::string& pci_address) : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
  const auto init = find<int (*)()>("nvmlInit_v2");
  const auto by_address = find<int (*)(const char*, NvmlDevice*)>("nvmlDeviceGetHandleByPciBusId_v2");
  if (!init || !by_address || init() != kSuccess) return;
  if (by_address(pci_address.c_str(), &device_) != kSuccess) device_ = nullptr;
}

Nvml::~Nvml() {
  if (!library_) return;
  if (const auto shutdown = find<int (*)()>("nvmlShutdown")) shutdown();
  dlclose(library_);
}

unsigned Nvml::clock_of(const char* function, int type) const {
  const auto ask = find<int (*)(NvmlDevice, int, unsigned*)>(function);
  unsigned megahertz = 0;
  return device_ && ask && ask(device_, type, &megahertz) == kSuccess ? megahertz : 0;
}

Clock Nvml::clock() const {
  Clock clock;
  clock.megahertz = clock_of("nvmlDeviceGetClockInfo", kClockSm);
  using Reasons = int (*)(NvmlDevice, unsigned long long*);
  // Renamed in 2023; drivers have both.
  auto ask = find<Reasons>("nvmlDeviceGetCurrentClocksEventReasons");
  if (!ask) ask = find<Reasons>("nvmlDeviceGetCurrentClocksThrottleReasons");
  unsigned long long reasons = 0;
  if (device_ && ask && ask(device_, &reasons) == kSuccess) clock.throttle = reasons;
  return clock;
}

std::string Nvml::driver() const {
  const auto ask = find<int (*)(char*, unsigned)>("nvmlSystemGetDriverVersion");
  char text[96] = "";
  return device_ && ask && ask(text, sizeof text) == kSuccess ? text : "";
}

double Nvml::greatest_clock() const { return clock_of("nvmlDeviceGetMaxClockInfo", kClockSm); }
double Nvml::memory_clock() const { return clock_of("nvmlDeviceGetMaxClockInfo", kClockMemory); }

double Nvml::power_limit() const {
  const auto ask = find<int (*)(NvmlDevice, unsigned*)>("nvmlDeviceGetEnforcedPowerLimit");
  unsigned milliwatts = 0;
  return device_ && ask && ask(device_, &milliwatts) == kSuccess ? milliwatts / 1e3 : 0;
}

double Nvml::temperature() const {
  const auto ask = find<int (*)(NvmlDevice, int, unsigned*)>("nvmlDeviceGetTemperature");
  unsigned degrees = 0;
  return device_ && ask && ask(device_, kSensorGpu, &degrees) == kSuccess ? degrees : 0;
}

}  // namespace slmsim::calibrate
