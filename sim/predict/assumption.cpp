#include "sim/predict/assumption.h"

#include <set>

#include <fmt/format.h>

#include "sim/base/quantity.h"
#include "sim/platform/kernel_table.h"
#include "sim/platform/remark.h"

namespace slmsim {

std::vector<Assumption> assumptions_of(const Scenario& scenario) {
  std::vector<Assumption> out;
  const Software& software = scenario.software;
  if (software.stack_assumed)
    out.push_back({"software.stack", fmt::format("the software is {} ({}); name yours by software.stack",
                                                 software.stack, software.title)});
  const auto precision = static_cast<std::size_t>(scenario.training.precision);
  const std::string& number = precision_names()[precision];
  std::set<std::string> told;
  for (const auto& device : scenario.platform.devices) {
    const Gpu& gpu = device.gpu;
    if (!told.insert(gpu.name).second) continue;
    const bool lacks = gpu.peak[precision].value <= 0;
    const std::size_t used = lacks ? static_cast<std::size_t>(Precision::kFp32) : precision;
    if (lacks) {
      // PyTorch emulates bf16 on GPUs without it; Hugging Face's Trainer and DeepSpeed refuse it there.
      const FlopsPerSecond half = gpu.peak[static_cast<std::size_t>(Precision::kFp16)];
      const bool emulated = scenario.training.precision == Precision::kBf16 && half.value > 0;
      const std::string instead = emulated
                                      ? fmt::format(" ({}), as PyTorch emulates it; training.precision: fp16 has {}",
                                                    to_text(peak_of(gpu, scenario.training.precision)), to_text(half))
                                      : "";
      out.push_back({gpu.name + ".peak." + number,
                     fmt::format("{} has no {}: products run at the rate of fp32{}", gpu.name, number, instead)});
    }
    const MatrixEfficiency& e = gpu.efficiency[used];
    const bool overridden = software.matrix.contains(gpu.name) || software.matrix.contains(gpu.architecture);
    const bool measured = gpu.kernels && gpu.kernels->knows_products();
    if (!e.assumed || overridden || measured) continue;
    out.push_back(
        {gpu.name + ".efficiency." + precision_names()[used],
         fmt::format("nobody measured products of {} in {}: {:.2f} of the peak is assumed, {:.2f} to {:.2f} is "
                     "likely; measure it by slmsim-calibrate",
                     gpu.name, precision_names()[used], e.share, e.share * (1 - e.spread), e.share * (1 + e.spread))});
  }
  for (const auto& remark : remarks_on(scenario.platform)) out.push_back({"platform.vms", remark});
  return out;
}

}  // namespace slmsim
