#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"
#include "sim/import/inventory/inventory.h"
#include "sim/scenario/data_root.h"
#include "sim/scenario/group.h"

namespace slmsim {
namespace {

constexpr const char* kAssumedRtt = "30 ms";
constexpr const char* kAssumedBandwidth = "1 Gbps";
constexpr const char* kAssumedLoss = "1e-5";
constexpr const char* kProbe = "slmsim-netprobe (docs/measuring.md)";

// The first label of a host name with a domain: node1.lab.example gives node1. Addresses stay whole.
std::string short_name(const std::string& name) {
  const bool address = name.find_first_not_of("0123456789.:") == std::string::npos;
  return key_name(address ? name : name.substr(0, name.find('.')));
}

class Names {
 public:
  std::string unique(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}-{}", wanted, i);
    return name;
  }

 private:
  std::set<std::string> taken_;
};

// {value: ..., provenance: ..., source: "..."}
std::string stated(const std::string& value, const char* provenance, const std::string& source) {
  std::string text = printable(source);
  std::erase(text, '"');
  std::erase(text, '\\');
  return fmt::format("{{value: {}, provenance: {}, source: \"{}\"}}", value, provenance, text);
}

// In bits, as networks are sold.
std::string rate_text(BytesPerSecond rate) {
  const double mbps = rate.value * 8 / 1e6;
  return mbps >= 1000 ? fmt::format("{:.9g} Gbps", mbps / 1000) : fmt::format("{:.9g} Mbps", mbps);
}

class SetupWriter {
 public:
  explicit SetupWriter(const SetupRequest& request) : request_(request) {}

  Setup write() {
    const auto& machines = request_.inventory.machines;
    for (const auto& machine : machines) add_site(machine);
    std::string vms;
    for (const auto& machine : machines) vms += vm_text(machine);
    const std::string links = links_text();
    std::string sites;
    for (const auto& [known, key] : sites_) sites += fmt::format("  {}: {{}}\n", key);
    out_.platform = head() + fmt::format("name: {}\nsites:\n{}vms:\n{}", key_name(request_.name), sites, vms);
    if (!links.empty()) out_.platform += "links:\n" + links;
    out_.scenario = scenario_text();
    out_.machines = static_cast<int>(machines.size());
    out_.sites = static_cast<int>(sites_.size());
    return std::move(out_);
  }

 private:
  std::string head() const {
    std::string out = fmt::format(
        "# Written by {}.\n"
        "# \"assumed\" marks values that were neither stated nor measured, with the program that measures them; "
        "replace them by yours.\n",
        printable(request_.command));
    for (const auto& remark : request_.inventory.remarks) out += fmt::format("# {}.\n", printable(remark));
    return out;
  }

  std::string& site_key(const std::string& site) {
    const auto at = std::ranges::find_if(sites_, [&](const auto& one) { return one.first == site; });
    return at->second;
  }

  void add_site(const Machine& machine) {
    const bool known = std::ranges::any_of(sites_, [&](const auto& one) { return one.first == machine.site; });
    if (known) return;
    sites_.emplace_back(machine.site,
                        site_names_.unique(machine.site.empty() ? "site" : lower_case(key_name(machine.site))));
    if (machine.site.empty() && request_.inventory.machines.size() > 1)
      assume("all machines without a site are at one; state site=NAME");
  }

  void assume(std::string text) {
    if (std::ranges::find(out_.assumed, text) == out_.assumed.end()) out_.assumed.push_back(std::move(text));
  }

  std::string vm_text(const Machine& machine) {
    if (machine.gpus.empty())
      throw InputError(machine.place, fmt::format("{} states no GPUs; state gpus=TYPE:COUNT there, or give --gpu "
                                                  "{}=TYPE:COUNT (slmsim list gpus)",
                                                  printable(machine.name), printable(machine.name)));
    out_.gpus += static_cast<int>(machine.gpus.size());
    const std::string key = vm_names_.unique(short_name(machine.name));
    std::string out = fmt::format("  {}:", key);
    if (key != machine.name) out += fmt::format("  # {}", printable(machine.name));
    out += fmt::format("\n    site: {}\n", site_key(machine.site));
    if (machine.type.empty()) {
      const std::string type = usual_vm_type(machine.gpus);
      out += fmt::format("    type: {}  # assumed by its GPUs; platforms/vms has others\n", type);
      assume(fmt::format("{} is a {}, with that type's network card, buffers and slots; choose by --vm-type {}=TYPE",
                         key, type, key));
    } else {
      const auto types = known_names(data_roots(std::filesystem::current_path() / "x"), kVmFile);
      if (std::ranges::find(types, machine.type) == types.end())
        throw InputError(machine.place,
                         fmt::format("there is no VM type \"{}\"; {}", printable(machine.type).substr(0, 64),
                                     did_you_mean(machine.type, types)));
      out += fmt::format("    type: {}\n", machine.type);
    }
    if (machine.nic && machine.nic_by_link.empty()) {
      out += fmt::format("    nic: {}\n", stated(rate_text(*machine.nic), "datasheet", machine.nic_source));
    } else if (machine.nic) {
      const std::string why = fmt::format("its link to {} carries that", site_key(machine.nic_by_link));
      out += fmt::format("    nic: {}\n", stated(rate_text(*machine.nic), "typical", why));
      assume(fmt::format("{} has a network card of {}, since {}", key, rate_text(*machine.nic), why));
    }
    if (!machine.path.empty())
      out += fmt::format("    tcp: {{path: {}, host: {}}}  # its kernel's settings, as measured\n", machine.path,
                         machine.path_host);
    if (machine.price)
      out +=
          fmt::format("    price_per_hour: {}\n", stated(fmt::format("{:g}", *machine.price), "datasheet", "--price"));
    else if (machine.type.empty())
      assume("machines without a price are your own, at USD 0 per hour; --price NAME=USD states one");
    if (machine.power_limit)
      out += fmt::format("    power_limit: {}\n",
                         stated(fmt::format("{:g} W", machine.power_limit->value), "measured", "nvidia-smi"));
    return out + fmt::format("    gpus: [{}]\n", fmt::join(machine.gpus, ", "));
  }

  const SiteLink* connection(const std::string& a, const std::string& b) const {
    for (const auto& one : request_.inventory.connections) {
      if ((one.from == a && one.to == b) || (one.from == b && one.to == a)) return &one;
    }
    return nullptr;
  }

  std::string links_text() {
    std::string out;
    for (auto a = sites_.begin(); a != sites_.end(); ++a) {
      for (auto b = std::next(a); b != sites_.end(); ++b) {
        const SiteLink* known = connection(a->first, b->first);
        out +=
            link_text(*(known && known->from == b->first ? b : a), *(known && known->from == b->first ? a : b), known);
      }
    }
    return out;
  }

  using Site = std::pair<std::string, std::string>;  // name as stated, and its key
  std::string link_text(const Site& from, const Site& to, const SiteLink* known) {
    const std::string name = link_names_.unique(fmt::format("{}-{}", from.second, to.second));
    std::string out = fmt::format("  {}:\n    between: [{}, {}]\n", name, from.second, to.second);
    if (known && !known->path.empty()) return out + fmt::format("    path: {}  # measured\n", known->path);
    std::string assumed;
    const auto add = [&](const char* key, const std::optional<std::string>& value, const char* usual,
                         std::string source) {
      // An estimate (the distance of cities) is not a stated value.
      const bool is_stated = value && source.find("distance") == std::string::npos;
      if (!is_stated) assumed += fmt::format("{}{} {}", assumed.empty() ? "" : ", ", key, value ? *value : usual);
      if (!value) source = fmt::format("assumed by slmsim init; {} measures it", kProbe);
      out += fmt::format("    {}: {}\n", key,
                         stated(value ? *value : usual,
                                is_stated ? "measured"
                                : value   ? "typical"
                                          : "assumed",
                                source));
    };
    std::optional<std::string> rtt, bandwidth;
    if (known && known->rtt) rtt = to_text(*known->rtt);
    if (known && known->bandwidth) bandwidth = rate_text(*known->bandwidth);
    add("rtt", rtt, kAssumedRtt, known ? known->rtt_source : "");
    add("bandwidth", bandwidth, kAssumedBandwidth, known ? known->bandwidth_source : "");
    const std::string whose = known ? known->bandwidth_of : "";
    if (!whose.empty()) {
      out += fmt::format("    bandwidth_of: {}\n", whose);
    } else {
      out +=
          "    bandwidth_of: path  # assumed: all traffic together; else pair (each two VMs) or connection (each "
          "TCP's)\n";
      assumed += fmt::format("{}rate of all traffic together", assumed.empty() ? "" : ", ");
    }
    add("loss", std::nullopt, kAssumedLoss, "");
    assume(fmt::format("{}: {}; measure with ping and {}", name, assumed, kProbe));
    return out;
  }

  // The `groups` that a scenario without `groups` would compare, except single machines and all machines.
  std::string groups_text() const {
    const bool few = out_.gpus <= static_cast<int>(kMostGpusOfSites), far = sites_.size() > 1;
    const bool pairs = few && sites_.size() > 2 && sites_.size() <= kMostPairedSites;
    const bool sites = few && far && request_.inventory.machines.size() > sites_.size();
    return fmt::format("groups: [all, {}{}each]      # all machines together, {}{}and each alone\n",
                       pairs ? "pairs, " : "", sites ? "sites, " : "", pairs ? "pairs of sites, " : "",
                       sites ? "each site, " : "");
  }

  // "KEY: VALUE  # why"
  static std::string line(const std::string& indent, const char* key, const Chosen& chosen) {
    const std::string why = printable(chosen.why);
    return fmt::format("{}{}: {}{}\n", indent, key, chosen.value, why.empty() ? "" : "  # " + why);
  }

  std::string models_text() const {
    std::string out;
    std::vector<std::string> names;
    for (const auto& [value, why] : request_.models) {
      if (!why.empty()) out += fmt::format("# {}: {}\n", value, printable(why));
      names.push_back(value);
    }
    return out + fmt::format("models: [{}]      # names of models/, or the path of a Hugging Face config.json\n",
                             fmt::join(names, ", "));
  }

  // A list, or a map where options or reasons are stated.
  std::string techniques_text() const {
    const auto& all = request_.techniques;
    constexpr const char* kOthers = "slmsim list techniques names the others";
    if (std::ranges::all_of(
            all, [](const Chosen& one) { return one.why.empty() && one.value.find(':') == std::string::npos; })) {
      std::vector<std::string> names;
      names.reserve(all.size());
      for (const auto& one : all) names.push_back(one.value);
      return fmt::format("techniques: [{}]  # {}\n", fmt::join(names, ", "), kOthers);
    }
    std::string out = fmt::format("techniques:  # {}\n", kOthers);
    for (const auto& [value, why] : all) {
      const bool bare = value.find(':') == std::string::npos;
      out += fmt::format("  {}{}{}\n", value, bare ? ": {}" : "", why.empty() ? "" : "  # " + printable(why));
    }
    return out;
  }

  std::string scenario_text() {
    std::string out = fmt::format("# Written by {}.\nname: {}\nplatform: ./platform.yaml\n",
                                  printable(request_.command), key_name(request_.name));
    out += models_text() + techniques_text() + groups_text();
    assume("one pass over 20000 sequences; set training.epochs and training.blocks_per_epoch");
    out += "training:\n" + line("  ", "batch", request_.batch);
    const auto add = [&](const char* key, const Chosen& chosen) {
      if (!chosen.value.empty()) out += line("  ", key, chosen);
    };
    add("micro_batch", request_.micro_batch);
    add("precision", request_.precision);
    add("gradient_precision", request_.gradient_precision);
    add("rematerialisation", request_.rematerialisation);
    out += "  epochs: 1  # assumed\n  blocks_per_epoch: 20000  # assumed: sequences per pass\n";
    return out + line("", "software", {fmt::format("{{stack: {}}}", request_.stack.value), request_.stack.why});
  }

  const SetupRequest& request_;
  Setup out_;
  std::vector<Site> sites_;
  Names site_names_, vm_names_, link_names_;
};

}  // namespace

std::string usual_vm_type(const std::vector<std::string>& gpus) {
  const std::string title = gpus.empty() ? "" : gpu_title(gpus.front());
  const auto has = [&](const char* word) { return title.find(word) != std::string::npos; };
  if (has("GeForce") || has("TITAN")) return "workstation";
  if (has("SXM") && gpus.size() > 1) return "nvlink-server";
  return "campus-server";
}

Setup set_up(const SetupRequest& request) {
  if (request.inventory.machines.empty()) throw InputError({}, "there are no machines to describe");
  return SetupWriter(request).write();
}

}  // namespace slmsim
