#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/name_in.h"
#include "sim/compute/operator_graph.h"
#include "sim/report/page/markup.h"
#include "sim/report/page/page.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// In the order of Provenance.
constexpr const char* kProvenances[] = {"data sheet", "measured", "inferred (fitted)", "typical", "assumed"};

// Equal values, such as those of four GPUs of one kind, are shown once.
Rows stated_rows(const std::vector<Parameter>& parameters) {
  struct Statement {
    const Parameter* first;
    std::string key;
    int count;
  };
  std::vector<Statement> statements;
  for (const auto& one : parameters) {
    const std::string key = one.path.substr(one.path.rfind('.') + 1);
    const auto same = std::ranges::find_if(statements, [&](const Statement& s) {
      return s.key == key && s.first->value == one.value && s.first->source == one.source &&
             s.first->provenance == one.provenance;
    });
    if (same == statements.end()) {
      statements.push_back({&one, key, 1});
    } else {
      ++same->count;
    }
  }
  Rows rows;
  for (const auto& [first, key, count] : statements) {
    rows.push_back({first->path + (count > 1 ? fmt::format(" and {} more", count - 1) : ""), first->value,
                    kProvenances[static_cast<std::size_t>(first->provenance)], first->source});
  }
  return rows;
}

std::string yes_no(bool value) { return value ? "yes" : "no"; }

Rows training_rows(const Scenario& scenario) {
  const Training& t = scenario.training;
  const auto precision = [](Precision p) { return name_in(precision_names(), p); };
  Rows rows = {{"training.batch", count_of(t.batch, "sequence") + " per iteration"},
               {"training.micro_batch", t.micro_batch > 0 ? fmt::format("{}", t.micro_batch) : "by the technique"},
               {"length of the job", extent_text(t)},
               {"training.precision", precision(t.precision)},
               {"training.gradient_precision", precision(t.gradient_precision)},
               {"training.optimizer", name_in(update_rule_names(), t.optimizer)},
               {"training.rematerialisation", yes_no(t.rematerialisation)},
               {"training.iteration_overhead", to_text(t.iteration_overhead)},
               {"training.control_round_trips", fmt::format("{:g}", t.control_round_trips)}};
  if (t.lora) {
    std::vector<std::string> targets;
    for (const LoraTarget target : t.lora->targets) targets.push_back(name_in(lora_target_names(), target));
    rows.push_back({"training.lora", fmt::format("rank {} of {}{}", t.lora->rank, fmt::join(targets, ", "),
                                                 t.lora->dropout ? ", with dropout" : "")});
  }
  for (const auto& model : scenario.models) {
    rows.push_back({"model " + model.name,
                    fmt::format("{:.0f} M parameters, {} layers of {}, {} heads, sequences of {} tokens, vocabulary {}",
                                parameter_count(build_operator_graph(model)) / 1e6, model.layers, model.hidden,
                                model.heads, model.sequence, model.vocabulary)});
  }
  for (const auto& one : scenario.techniques) {
    rows.push_back(
        {std::string("techniques.") + one.technique->name,
         fmt::format("start-up {}, micro-batches {}", to_text(one.startup()),
                     one.micro_batches() > 0 ? fmt::format("{}", one.micro_batches()) : "by the technique")});
  }
  return rows;
}

Rows software_rows(const Scenario& scenario) {
  const Nccl& nccl = scenario.nccl;
  const auto or_own = [](bool set, int value) { return set ? fmt::format("{}", value) : "NCCL's choice"; };
  Rows rows = {
      {"NCCL_MIN_NCHANNELS", or_own(nccl.min_channels > 0, nccl.min_channels)},
      {"NCCL_NSOCKS_PERTHREAD", or_own(nccl.sockets_per_thread.has_value(), nccl.sockets_per_thread.value_or(0))},
      {"NCCL_SOCKET_NTHREADS", or_own(nccl.socket_threads.has_value(), nccl.socket_threads.value_or(0))},
      {"NCCL_BUFFSIZE", to_text(nccl.buffer)}};
  const Precision precision = scenario.training.precision;
  std::map<std::string, double> shares;
  for (const auto& device : scenario.platform.devices)
    shares[device.gpu.name] = scenario.software.matrix_of(device.gpu, precision);
  for (const auto& [gpu, share] : shares)
    rows.push_back({fmt::format("{}, {} products' share of the peak", gpu, name_in(precision_names(), precision)),
                    fmt::format("{:g}", share)});
  rows.insert(rows.end(), {{"software.stack", scenario.software.stack},
                           {"software.memory_efficiency", fmt::format("{:g}", scenario.software.memory)},
                           {"software.kernel_launch", to_text(scenario.software.launch)},
                           {"software.usable_memory", fmt::format("{:g}", scenario.memory.usable_share)},
                           {"software.framework_memory", to_text(scenario.memory.framework)},
                           {"selection.algorithm", name_in(algorithm_names(), scenario.selection.algorithm)},
                           {"selection.objective", name_in(objective_names(), scenario.selection.objective)},
                           {"selection.delta", fmt::format("{:g}", scenario.selection.delta)}});
  return rows;
}

Rows platform_rows(const Platform& platform) {
  constexpr std::size_t kMostVms = 32;
  Rows rows;
  for (std::size_t i = 0; i < platform.vms.size() && i < kMostVms; ++i) {
    const Vm& vm = platform.vms[i];
    std::vector<std::string> gpus;
    gpus.reserve(static_cast<std::size_t>(vm.device_count));
    for (int d = 0; d < vm.device_count; ++d) gpus.push_back(platform.devices[vm.first_device + d].gpu.title);
    const bool alike = std::equal(gpus.begin() + (gpus.empty() ? 0 : 1), gpus.end(), gpus.begin());
    const std::string text = alike && !gpus.empty() ? fmt::format("{} x {}", gpus.size(), gpus.front())
                                                    : fmt::format("{}", fmt::join(gpus, ", "));
    rows.push_back(
        {"VM " + vm.name, fmt::format("{}; at {}, NIC {}", text, platform.sites[vm.site].name, to_text(vm.type.nic))});
  }
  if (platform.vms.size() > kMostVms)
    rows.push_back({"VMs", fmt::format("and {} more", platform.vms.size() - kMostVms)});
  for (const auto& link : platform.links) {
    rows.push_back({"link " + link.name,
                    fmt::format("{} to {}, round trip {}, {} there and {} back, loss {:g} and {:g}",
                                platform.sites[link.from].name, platform.sites[link.to].name,
                                to_text(link.forward.delay + link.backward.delay), to_text(link.forward.bandwidth),
                                to_text(link.backward.bandwidth), link.forward.loss, link.backward.loss)});
  }
  constexpr std::size_t kMostRoutes = 64;
  for (const auto& route : site_routes(platform, kMostRoutes))
    rows.push_back({"from " + way_text(route), carried_text(route)});
  return rows;
}

}  // namespace

std::string inputs_section(const Scenario& scenario) {
  std::string out = "<h3>Cluster</h3>\n" + html_table({"what", "value"}, platform_rows(scenario.platform), 9);
  out += "<h3>Training</h3>\n" + html_table({"what", "value"}, training_rows(scenario), 9);
  out += "<h3>Software and selection</h3>\n" + html_table({"what", "value"}, software_rows(scenario), 9);
  const Rows stated = stated_rows(scenario.parameters);
  if (stated.empty()) return out + "<p>No input states its source.</p>\n";
  out +=
      "<h3>Sources of values</h3>\n<p>Values that state their source; all others are the scenario's own or "
      "defaults.</p>\n";
  return out + html_table({"value of", "is", "provenance", "source"}, stated, 9);
}

}  // namespace slmsim
