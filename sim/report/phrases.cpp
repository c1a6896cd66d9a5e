#include "sim/report/phrases.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slmsim {
namespace {

std::string percent_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

// Names of the sites that make up a group; nothing where they do not, or where a name would mislead.
std::optional<std::vector<std::string>> site_names(const Platform& platform, const std::vector<std::string>& group) {
  if (sites_with_vms(platform).size() < 2) return std::nullopt;
  std::vector<std::string> out;
  for (const int index : whole_sites(platform, group)) {
    const std::string& name = platform.sites[index].name;
    const bool misleads = std::ranges::any_of(
        platform.vms, [&](const Vm& vm) { return vm.name == name && std::ranges::find(group, name) == group.end(); });
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
    const bool vm = group.names.size() == 1 &&
                    std::ranges::any_of(platform.vms, [&](const Vm& v) { return v.name == group.names.front(); });
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
  return static_cast<std::size_t>(std::ranges::count(vms, 1));
}

std::string share_text(int tried, std::size_t all, const char* one, const char* many) {
  if (static_cast<std::size_t>(tried) == all) return fmt::format("each {}", one);
  return fmt::format("{} of {} {}", tried, all, many);
}

}  // namespace

std::string wrapped(const std::string& first, const std::string& text) {
  std::string out, line = first;
  bool empty = true;  // the line has no word yet
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.find(' ', begin), text.size());
    if (text.compare(end, 2, " %") == 0) end = std::min(text.find(' ', end + 1), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!empty && line.size() + 1 + word.size() > kTextWidth) {
      out += line + "\n";
      line.assign(first.size(), ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
    begin = end + 1;
  }
  out += line + "\n";
  std::ranges::replace(out, kNoBreak, ' ');
  return out;
}

std::string gib(Bytes size) { return fmt::format("{:.1f}", size.value / kGibi); }

std::string duration(Seconds time) {
  const double minutes = time.value / 60;
  if (minutes < 1) return fmt::format("{:.1f} s", time.value);
  if (minutes < 600) return fmt::format("{:.1f} min", minutes);
  return minutes < 60 * 72 ? fmt::format("{:.1f} h", minutes / 60) : fmt::format("{:.1f} d", minutes / 1440);
}

std::string picked(const Selection& s) {
  if (s.technique) return fmt::format("{} on {}", s.technique->name, group_text(s.group));
  return s.algorithm == Algorithm::kPaper ? "nothing" : "nothing runs; slmsim plan searches for a way";
}

std::string place_of(const Prediction& prediction) {
  return fmt::format("{} on {}", prediction.technique->name, group_text(prediction.group));
}

std::string count_of(double count, const std::string& thing) {
  return fmt::format("{:.0f} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string round_text(const RoundTimes& round) {
  const std::string steps = round.steps == 1 ? "step" : "steps";
  if (round.count == 0)
    return fmt::format("the job is one round of {}, {}; a full one of {} takes {}", count_of(round.rest, "step"),
                       to_text(round.rest_time), round.steps, to_text(round.time));
  std::string out =
      fmt::format("rounds of {} {} take {}; the job has {:.0f}", round.steps, steps, to_text(round.time), round.count);
  if (round.rest > 0)
    out += fmt::format(", and one of {} step{}, {}", round.rest, round.rest == 1 ? "" : "s", to_text(round.rest_time));
  return out;
}

std::string warm_up_text(const WarmUp& warm_up) {
  return fmt::format("the first {} steps exchange whole gradients and take {} each", warm_up.steps,
                     to_text(warm_up.iteration));
}

std::string extent_text(const Training& training) {
  std::string pass = count_of(training.blocks_per_epoch, "sequence");
  switch (training.extent) {
    case Extent::kSamples:
      return pass;
    case Extent::kTokens:
      return fmt::format("{:.12g} tokens in {}", training.tokens, pass);
    case Extent::kEpochs:
      break;
  }
  return fmt::format("{} of {}", count_of(training.epochs, "epoch"), pass);
}

std::string basis_text(const TimeBasis& basis) {
  const double whole = basis.total().value;
  const auto percent = [&](Seconds part) { return whole > 0 ? 100 * part.value / whole : 0.0; };
  return fmt::format("{:.1f} % measured, {:.1f} % interpolated, {:.1f} % roofline", percent(basis.measured),
                     percent(basis.interpolated), percent(basis.roofline));
}

std::string between_text(const Interval& seconds) {
  return fmt::format("{} to {}", duration(Seconds{seconds.low}), duration(Seconds{seconds.high}));
}

std::string interval_table(const Uncertainty& u, const std::vector<Prediction>& predictions, const std::string& model) {
  std::size_t wide = 10;
  for (const auto& p : predictions) wide = std::max(wide, std::strlen(p.technique->name));
  std::string out = fmt::format("  {:<{}} {:<20} {:>10}   {:<24} {:>6}\n", "technique", wide, "group", "job",
                                percent_text(u.level) + " interval", "fits");
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const Prediction& p = predictions[i];
    if (p.model != model) continue;
    const CandidateUncertainty& cell = u.cells[i];
    const bool timed = p.status == Status::kOk && cell.job.high > 0;
    const std::string between = timed ? between_text(cell.job) : "-";
    out += fmt::format("  {:<{}} {:<20} {:>10}   {:<24} {:>6}\n", p.technique->name, wide, group_text(p.group),
                       timed ? duration(p.job) : "-", between, percent_text(cell.fits));
  }
  return out;
}

std::string pick_text(const Uncertainty& u, std::size_t pick, Objective objective) {
  const PickUncertainty& p = u.picks[pick];
  std::string cost;
  if (objective == Objective::kTime) cost = duration(Seconds{p.regret});
  if (objective == Objective::kGpuHours) cost = fmt::format("{:.3g} GPU-hours", p.regret);
  return fmt::format("right with a probability of {}{}", percent_text(p.right),
                     cost.empty() ? "" : fmt::format(", on average {} behind the best", cost));
}

std::string origin_text(const Uncertainty& u) {
  std::string out = fmt::format(
      "intervals: {} points of {}{}\n", u.points,
      u.fitted_to.empty() ? "the unknowns, before any measurement: " : fmt::format("the fit to {}: ", u.fitted_to),
      fmt::join(u.unknowns, "; "));
  for (const auto& remark : u.remarks) out += fmt::format("remark: {}\n", remark);
  return out;
}

std::string interval_header() { return ",minutes_low,minutes_high,interval_level,probability_fits"; }

std::string interval_cells(const Uncertainty& u, std::size_t prediction) {
  const CandidateUncertainty& cell = u.cells[prediction];
  if (cell.job.high <= 0) return fmt::format(",,,{:g},{:.3f}", u.level, cell.fits);
  return fmt::format(",{:.9g},{:.9g},{:g},{:.3f}", cell.job.low / 60, cell.job.high / 60, u.level, cell.fits);
}

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

std::vector<std::string> remarks_of(const std::vector<const Prediction*>& predictions) {
  std::vector<std::string> all, out;
  std::set<std::string> seen;
  for (const Prediction* p : predictions) {
    for (const auto& remark : p->remarks) {
      if (seen.insert(remark).second) all.push_back(remark);
    }
  }
  const auto head_of = [](const std::string& remark) { return remark.substr(0, remark.find(": ")); };
  std::ranges::stable_sort(all, {}, head_of);
  for (const auto& remark : all) {
    const std::string head = head_of(remark);
    if (head != remark && !out.empty() && head_of(out.back()) == head) {
      out.back() += ", " + remark.substr(head.size() + 2);
    } else {
      out.push_back(remark);
    }
  }
  return out;
}

std::string money_text(double amount) {
  return amount == 0    ? "0"
         : amount < 1   ? fmt::format("{:.2g}", amount)
         : amount < 100 ? fmt::format("{:.2f}", amount)
                        : fmt::format("{:.0f}", amount);
}

const JobOutcome* drawn_job(const RunResult& result, const Prediction& p) {
  if (result.jobs.empty()) return nullptr;
  const auto& job = result.jobs[&p - result.predictions.data()];
  return job ? &*job : nullptr;
}

std::string price_text(const RunResult& result, const Prediction& p) {
  const JobOutcome* job = drawn_job(result, p);
  const bool of_job = job && job->cost;
  const std::optional<double> cost = of_job ? job->cost->median : p.bill.cost;
  return cost && *cost > 0 ? fmt::format("{} {}", money_text(*cost), of_job ? job->currency : p.bill.currency) : "";
}

std::string command_text(const std::string& first, const std::string& command, std::size_t indent) {
  std::string out, line = first;
  for (std::size_t begin = 0; begin < command.size();) {
    const std::size_t end = std::min(command.find(" --set ", begin + 1), command.size());
    const std::string word = command.substr(begin, end - begin);
    if (line.size() > first.size() && line.size() + word.size() + 3 > kTextWidth) {
      out += line + " \\\n";
      line.assign(indent, ' ');
      line += word.substr(1);
    } else {
      line += word;
    }
    begin = end;
  }
  return out + line;
}

}  // namespace slmsim
