#include "sim/predict/job/loading.h"

#include <algorithm>
#include <map>

namespace slmsim {
namespace {

int site_of(const Platform& platform, int vm) { return platform.vms[vm].site; }

// VMs at the site of the data; none if the data are elsewhere.
std::vector<int> senders(const Scenario& scenario) {
  const DataRules& rules = *scenario.job->data;
  std::vector<int> out;
  for (std::size_t vm = 0; vm < scenario.platform.vms.size(); ++vm) {
    if (rules.place == StoragePlace::kSite && scenario.platform.vms[vm].site == rules.site)
      out.push_back(static_cast<int>(vm));
  }
  return out;
}

// Transfers of each sender, taken in turn.
struct DataTransfer {
  int from = 0, to = 0;  // VMs
  Bytes bytes;
};
std::vector<DataTransfer> data_transfers(const Scenario& scenario, const std::vector<VmData>& data) {
  const std::vector<int> from = senders(scenario);
  std::vector<DataTransfer> out;
  for (const auto& [vm, bytes] : data) {
    if (from.empty() || site_of(scenario.platform, vm) == scenario.job->data->site) continue;
    out.push_back({from[out.size() % from.size()], vm, bytes});
  }
  return out;
}

}  // namespace

std::vector<VmData> data_of_iteration(const Scenario& scenario, const Transformer& model, const Plan& plan) {
  const double batch = static_cast<double>(scenario.training.batch) * plan.workload.steps *
                       static_cast<double>(model.sequence) * scenario.job->data->bytes_per_token;
  const Stage& stage = plan.stages.front();
  const bool own = deals_sequences(plan);
  std::map<int, double> share;
  for (std::size_t rank = 0; rank < stage.mesh.size(); ++rank) {
    double& of_vm = share[scenario.platform.devices[stage.mesh[rank]].vm];
    of_vm = own ? of_vm + stage.batch_shares[rank] : 1;
  }
  std::vector<VmData> out;
  out.reserve(share.size());
  for (const auto& [vm, part] : share) out.push_back({vm, Bytes{batch * part}});
  return out;
}

Bytes data_between_sites(const Scenario& scenario, const std::vector<VmData>& data) {
  Bytes out{0};
  for (const DataTransfer& one : data_transfers(scenario, data)) out += one.bytes;
  return out;
}

Seconds reading_time(const Scenario& scenario, const std::vector<VmData>& data, bool from_cache) {
  const DataRules& rules = *scenario.job->data;
  Seconds out{0};
  std::map<int, Bytes> read;  // from each VM's disk, or over its way to the store
  for (const auto& [vm, bytes] : data) {
    const bool elsewhere = rules.place == StoragePlace::kSite && site_of(scenario.platform, vm) != rules.site;
    if (from_cache) {
      out = std::max(out, bytes / *rules.cache);
    } else if (!elsewhere) {
      read[vm] += bytes;
    }
  }
  if (from_cache) return out;
  for (const DataTransfer& one : data_transfers(scenario, data)) read[one.from] += one.bytes;
  for (const auto& [vm, bytes] : read) out = std::max(out, bytes / rules.rate);
  return out;
}

void add_loading(TaskGraph& graph, const Scenario& scenario, const Network& network, const std::vector<VmData>& data) {
  const auto first_gpu = [&](int vm) { return scenario.platform.vms[vm].first_device; };
  const TagId tag = graph.tag({"load data", TaskClass::kCopy});
  for (const DataTransfer& one : data_transfers(scenario, data)) {
    const int from = first_gpu(one.from), to = first_gpu(one.to);
    const int connection = graph.add_connection({.from = from, .to = to, .route = network.route(from, to)});
    graph.transfer(connection, one.bytes, tag, {});
  }
}

TaskGraph loading_alone(const Scenario& scenario, const Network& network, const std::vector<VmData>& data) {
  TaskGraph graph(network, static_cast<int>(scenario.platform.devices.size()));
  add_loading(graph, scenario, network, data);
  return graph;
}

}  // namespace slmsim
