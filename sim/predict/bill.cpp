#include <set>

#include "sim/predict/predict.h"

namespace slmsim {
namespace {

// Price per hour of the GPUs, by their names.
std::optional<double> price_of_gpus(const Scenario& scenario, const Group& group) {
  const auto& prices = scenario.plan.dollars_per_hour;
  double sum = 0;
  for (const int device : group.devices) {
    const auto known = prices.find(scenario.platform.devices[device].gpu.name);
    if (known == prices.end()) return std::nullopt;
    sum += known->second;
  }
  return sum;
}

}  // namespace

Bill bill_of(const Scenario& scenario, const Group& group, Seconds job) {
  const Platform& platform = scenario.platform;
  Bill bill{std::nullopt, "USD", Joules{0}};
  std::set<int> vms;
  for (const int index : group.devices) {
    const Device& device = platform.devices[index];
    vms.insert(device.vm);
    if (device.gpu.board_power.value <= 0) bill.energy.reset();
    const Watts limit = device.gpu.power_limit;
    if (bill.energy) bill.energy->value += ((limit.value > 0 ? limit : device.gpu.board_power) * job).value;
  }
  constexpr double kHour = 3600;
  if (const auto price = price_of_gpus(scenario, group)) {
    bill.cost = *price * job.value / kHour;
    return bill;
  }
  double sum = 0;
  for (const int index : vms) {
    const VmType& type = platform.vms[index].type;
    if (!type.price_per_hour) return bill;
    bill.currency = type.currency;
    sum += *type.price_per_hour;
  }
  bill.cost = sum * job.value / kHour;
  return bill;
}

}  // namespace slmsim
