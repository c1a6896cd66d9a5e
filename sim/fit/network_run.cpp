#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"
#include "sim/collective/communicator.h"
#include "sim/fit/pilot.h"
#include "sim/import/measurement/imported_profile.h"
#include "sim/platform/path.h"

namespace slmsim {
namespace {

constexpr std::size_t kMostSizes = 6;    // of a collective, or of one-way messages
constexpr Bytes kLeastSize{64 * kKibi};  // for a collective: smaller ones measure the GPU rather than the network
constexpr Seconds kSteady{10};           // for a rate over warm connections: the message takes this long
constexpr int kCalls = 8;
constexpr double kSettled = 1e-3;

enum class Table { kNcclTests, kNetprobe };

const Vm* vm_named(const Platform& platform, const std::string& name) {
  const auto vm = std::ranges::find_if(platform.vms, [&](const Vm& v) { return v.name == name; });
  return vm == platform.vms.end() ? nullptr : &*vm;
}

std::vector<int> devices_of_group(const std::vector<std::string>& group, const Scenario& scenario) {
  const auto known = std::ranges::find_if(scenario.groups, [&](const Group& g) { return g.names == group; });
  if (known != scenario.groups.end()) return known->devices;
  std::vector<int> devices;
  for (const auto& name : group) {
    if (const Vm* vm = vm_named(scenario.platform, name)) devices.push_back(vm->first_device);
  }
  return devices;
}

// Evenly spaced elements, including the first and the last.
template <class T>
std::vector<T> evenly_apart(const std::vector<T>& all) {
  if (all.size() <= kMostSizes) return all;
  std::vector<T> out;
  for (std::size_t i = 0; i < kMostSizes; ++i) out.push_back(all[i * (all.size() - 1) / (kMostSizes - 1)]);
  return out;
}

Pilot pilot_of(std::string name, const std::vector<std::string>& group, NetworkRun run, Seconds time, double noise) {
  return {{"", std::move(name), group, run}, Measure::kIteration, time.value, noise};
}

std::vector<Pilot> collectives_in(const std::filesystem::path& file, const std::vector<std::string>& group,
                                  const Scenario& scenario) {
  constexpr std::array kNames = {"all-reduce", "all-gather", "reduce-scatter"};  // in the order of Collective
  ImportRequest request;
  request.mixed = true;
  const ImportedProfile table = gather(nccl_tests_format(), {file.string()}, request, {});
  const std::size_t gpus = devices_of_group(group, scenario).size();
  std::vector<Pilot> out;
  std::string last;
  std::vector<const CollectiveTime*> sizes;
  const auto take = [&] {
    for (const CollectiveTime* one : evenly_apart(sizes)) {
      const auto kind = std::ranges::find(kNames, one->name) - kNames.begin();
      out.push_back(pilot_of(fmt::format("{} of {}", one->name, to_text(one->size)), group,
                             {static_cast<Collective>(kind), one->size}, one->time, kUsualNoise));
    }
    sizes.clear();
  };
  for (const CollectiveTime& one : table.collectives) {
    if (std::ranges::find(kNames, one.name) == kNames.end() || one.size < kLeastSize) continue;
    if (static_cast<std::size_t>(one.ranks) != gpus)
      throw InputError(
          {}, fmt::format("{}: of {} ranks; {} has {} GPUs", file.string(), one.ranks, fmt::join(group, "+"), gpus));
    if (one.name != last) take();
    last = one.name;
    sizes.push_back(&one);
  }
  take();
  if (out.empty())
    throw InputError({}, fmt::format("{}: no time of {} of {} or more", file.string(), fmt::join(kNames, ", "),
                                     to_text(kLeastSize)));
  return out;
}

void add_direction(const PathDirection& way, const std::vector<std::string>& from_to, std::vector<Pilot>& out) {
  for (const PathRate& rate : evenly_apart(way.steady)) {
    const NetworkRun run{{}, rate.rate * kSteady, rate.connections};
    out.push_back(pilot_of(
        fmt::format("{} over {} connection{}", to_text(rate.rate), rate.connections, rate.connections == 1 ? "" : "s"),
        from_to, run, kSteady, kUsualNoise));
  }
  for (const PathPoint& point : evenly_apart(way.cold_start)) {
    const double spread = point.least > Seconds{0} ? sigma_of_factor(std::sqrt(point.most / point.least)) : 0;
    out.push_back(pilot_of(fmt::format("{} over a new connection", to_text(point.size)), from_to,
                           {{}, point.size, 1, false}, point.time, std::max(kUsualNoise, spread)));
  }
}

std::vector<Pilot> messages_in(const std::filesystem::path& file, const std::vector<std::string>& group,
                               const Scenario& scenario) {
  std::vector<std::string> names;
  for (const Vm& vm : scenario.platform.vms) names.push_back(vm.name);
  if (group.size() != 2)
    throw InputError({}, fmt::format("{}: a path is between two VMs, client+server", fmt::join(group, "+")));
  for (const auto& name : group) {
    if (!vm_named(scenario.platform, name))
      throw InputError({},
                       fmt::format("the platform has no VM \"{}\"; {}", printable(name), did_you_mean(name, names)));
  }
  const Node node = read_yaml(file);
  Reading reading;
  const PathProfile profile = read_path(as_path(node), "", reading);
  reading.check();
  std::vector<Pilot> out;
  add_direction(profile.forward, group, out);
  add_direction(profile.backward, {group[1], group[0]}, out);
  if (out.empty())
    throw InputError({},
                     fmt::format("{}: has neither rates (steady) nor times (cold_start) of messages", file.string()));
  return out;
}

}  // namespace

Seconds time_of(const NetworkRun& run, const std::vector<int>& devices, const Scenario& scenario,
                const Network& network) {
  TaskGraph graph(network, static_cast<int>(scenario.platform.devices.size()));
  const TagId tag = graph.tag({.name = "traffic"});
  if (run.collective) {
    Communicator communicator(graph, network, scenario.nccl_setup(), devices);
    const std::vector<TaskId> ready(devices.size(), graph.delay({0}, tag, {}));
    communicator.run({*run.collective, run.size}, tag, ready);
  } else {
    const int from = devices.front(), to = devices.back();
    const int connection = graph.add_connection({from, to, run.connections, network.route(from, to)});
    graph.transfer(connection, run.size, tag, {});
  }
  Timeline last = simulate(graph);
  // Such tools warm up with some calls.
  for (int call = 1; run.warm && call < kCalls; ++call) {
    const Seconds before = last.end;
    last = simulate(graph, last.connections);
    if (std::abs(last.end / before - 1) < kSettled) break;
  }
  return last.end;
}

Forecast forecast_of(const NetworkRun& run, const std::vector<std::string>& group, const Scenario& scenario,
                     const Network& network) {
  Forecast out;
  const std::vector<int> devices = devices_of_group(group, scenario);
  if (devices.size() < 2) return out;
  out.status = Status::kOk;
  out.memory = 1;  // memory is irrelevant
  out.iteration = time_of(run, devices, scenario, network).value;
  return out;
}

const std::vector<std::string>& network_tables() {
  static const std::vector<std::string> kNames = {"nccl-tests", "netprobe"};
  return kNames;
}

std::vector<Pilot> read_network_run(const std::string& what, const std::filesystem::path& file,
                                    const std::vector<std::string>& group, const Scenario& scenario) {
  const auto& names = network_tables();
  const auto table = static_cast<Table>(std::ranges::find(names, what) - names.begin());
  return table == Table::kNcclTests ? collectives_in(file, group, scenario) : messages_in(file, group, scenario);
}

}  // namespace slmsim
