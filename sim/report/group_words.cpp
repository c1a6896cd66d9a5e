#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/phrases.h"

namespace slmsim {
namespace {

// Names of the sites that make up a group; nothing where they do not, or where a name would mislead.
std::optional<std::vector<std::string>> site_names(const Platform& platform, const std::vector<std::string>& group) {
  if (sites_with_vms(platform).size() < 2) return std::nullopt;
  std::vector<std::string> out;
  for (const int index : whole_sites(platform, group)) {
    const std::string& name = platform.sites[index].name;
    const bool misleads = std::any_of(platform.vms.begin(), platform.vms.end(), [&](const Vm& vm) {
      return vm.name == name && std::find(group.begin(), group.end(), name) == group.end();
    });
    if (misleads) return std::nullopt;
    out.push_back(name);
  }
  if (out.empty()) return std::nullopt;
  return out;
}

struct GroupCounts {
  int together = 0, pairs = 0, sites = 0, lone = 0, vms = 0, others = 0;  // lone: sites that are one VM
};

GroupCounts group_counts(const Scenario& scenario) {
  const Platform& platform = scenario.platform;
  const bool far = sites_with_vms(platform).size() > 1;
  GroupCounts out;
  for (const Group& group : scenario.groups) {
    const std::size_t sites = far ? whole_sites(platform, group.names).size() : 0;
    const bool vm = group.names.size() == 1 && std::any_of(platform.vms.begin(), platform.vms.end(),
                                                           [&](const Vm& v) { return v.name == group.names.front(); });
    int& count = group.devices.size() == platform.devices.size() ? out.together
                 : sites == 2                                    ? out.pairs
                 : sites == 1 && !vm                             ? out.sites
                 : sites == 1                                    ? out.lone
                 : vm                                            ? out.vms
                                                                 : out.others;
    ++count;
  }
  return out;
}

// Number of sites whose GPUs are all in one VM.
std::size_t lone_sites(const Platform& platform) {
  std::vector<int> vms(platform.sites.size(), 0);
  for (const Vm& vm : platform.vms) ++vms[vm.site];
  return static_cast<std::size_t>(std::count(vms.begin(), vms.end(), 1));
}

std::string share_text(int tried, std::size_t all, const char* one, const char* many) {
  if (static_cast<std::size_t>(tried) == all) return fmt::format("each {}", one);
  return fmt::format("{} of {} {}", tried, all, many);
}

}  // namespace

std::string group_words(const Platform& platform, const std::vector<std::string>& group) {
  return group_text(site_names(platform, group).value_or(group));
}

std::string group_sentence(const Platform& platform, const std::vector<std::string>& group) {
  constexpr std::size_t kNamedInFull = 4;  // as group_text()
  const auto sites = site_names(platform, group);
  if (!sites || sites->size() < 2 || sites->size() > kNamedInFull) return group_words(platform, group);
  return fmt::format("{} and {}", fmt::join(sites->begin(), sites->end() - 1, ", "), sites->back());
}

std::string place_of(const Platform& platform, const Prediction& prediction) {
  return fmt::format("{} on {}", prediction.technique->name, group_words(platform, prediction.group));
}

std::string picked(const Platform& platform, const Selection& s) {
  return s.technique ? fmt::format("{} on {}", s.technique->name, group_words(platform, s.group)) : picked(s);
}

std::string compared_text(const Scenario& scenario) {
  const Platform& platform = scenario.platform;
  const std::size_t sites = sites_with_vms(platform).size(), lone = sites > 1 ? lone_sites(platform) : 0;
  GroupCounts tried = group_counts(scenario);
  // A site with a single VM counts as a site where all of these are tried, else as a VM.
  const bool as_sites = static_cast<std::size_t>(tried.sites + tried.lone) == sites || lone == sites;
  (as_sites ? tried.sites : tried.vms) += tried.lone;
  const std::size_t vms = platform.vms.size() - (as_sites ? lone : 0);
  std::vector<std::string> words;
  if (tried.together > 0) words.push_back(fmt::format("all {} GPUs together", platform.devices.size()));
  if (tried.pairs > 0)
    words.push_back(share_text(tried.pairs, sites * (sites - 1) / 2, "pair of sites", "pairs of sites"));
  if (tried.sites > 0) words.push_back(share_text(tried.sites, sites, "site", "sites"));
  if (tried.vms > 0) words.push_back(share_text(tried.vms, vms, "VM", "VMs"));
  if (tried.others > 0) words.push_back(fmt::format("{} other group{}", tried.others, tried.others == 1 ? "" : "s"));
  std::string out = fmt::format("{}", fmt::join(words, ", "));
  if (sites < 2 || scenario.groups != usual_groups(platform)) return out;
  const bool no_pairs = sites > 2 && tried.pairs == 0;
  const bool no_sites = platform.devices.size() > kMostGpusOfSites && lone < sites;
  if (no_pairs || no_sites)
    out += fmt::format("; {} skipped as too many, groups: [all, pairs, sites, each] adds them",
                       no_pairs && no_sites ? "pairs of sites and whole sites"
                       : no_pairs           ? "pairs of sites"
                                            : "whole sites");
  return out;
}

}  // namespace slmsim
