#include "sim/scenario/job_data.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.h"

namespace slmsim {
namespace {

constexpr Range<BytesPerSecond> kReadRates{{1e3}, {1e15}};

std::optional<Scatter> read_scatter(Fields& jitter, const FileKey& key, Reading& reading) {
  const Node* node = jitter.child(key);
  if (!node) return std::nullopt;
  Fields fields(*node, jitter.path_of(key.name), reading);
  Scatter out;
  // Above 1, symmetric shapes would have times below zero.
  out.sd = fields.number({"sd", "Standard deviation divided by the mean."}, {1e-6, 1});
  out.shape = static_cast<JitterShape>(fields.choice(
      {"shape", "normal: many small causes; lognormal: skewed; exponential: a minimum plus an exponential delay."},
      jitter_shape_names()));
  if (out.shape == JitterShape::kNormal && out.sd > 1.0 / 3 && !fields.describing())
    fields.error("sd",
                 fields.path_of("sd") + ": above 0.33 a normal time is negative too often; choose shape: lognormal");
  fields.done();
  return out;
}

}  // namespace

const std::vector<std::string>& jitter_shape_names() {
  static const std::vector<std::string> kNames = {"normal", "lognormal", "exponential"};
  return kNames;
}

std::optional<NamedPlace> read_place(Fields& fields, const FileKey& key, const Platform& platform,
                                     const std::string& purpose) {
  const Node* node = fields.child(key, ValueType::name(), true);
  if (!node || fields.describing()) return std::nullopt;
  std::vector<std::string> names = {"local", "store"};
  for (const Site& site : platform.sites) names.push_back(site.name);
  const auto at = std::ranges::find(names, node->scalar);
  if (node->kind != Node::Kind::kScalar || at == names.end()) {
    fields.error_at(node->place,
                    fmt::format("{}: \"{}\" is neither local, store nor a site; {}", fields.path_of(key.name),
                                node->scalar.substr(0, 64), did_you_mean(node->scalar, names)));
    return std::nullopt;
  }
  const int site = static_cast<int>(at - names.begin()) - 2;
  if (site < 0) return NamedPlace{node->scalar == names.front() ? StoragePlace::kLocal : StoragePlace::kStore};
  if (std::ranges::none_of(platform.vms, [&](const Vm& vm) { return vm.site == site; }))
    fields.error_at(node->place,
                    fmt::format("{}: there is no VM at {} to {}; name a site with VMs, or store with its rate",
                                fields.path_of(key.name), node->scalar, purpose));
  return NamedPlace{StoragePlace::kSite, site};
}

DataRules read_job_data(const Node& node, const Platform& platform, int epochs, Reading& reading) {
  Fields fields(node, "job.data", reading);
  DataRules out;
  const auto place = read_place(
      fields,
      {"from", "local: each VM's own disk; store: storage that each VM reads over its own connection; or a site."},
      platform, "send them");
  if (place) std::tie(out.place, out.site) = std::pair(place->place, place->site);
  out.rate = fields.quantity<BytesPerSecond>(
      {"rate", "Read rate of each VM from its disk or the store; with a site, of each of its VMs."}, kReadRates);
  out.bytes_per_token = fields.number(
      {"bytes_per_token", "Bytes per token of the data; 2 if the vocabulary fits into 16 bits."}, {0.01, 1e9});
  out.prefetch = fields.flag(
      {"prefetch", "Whether the next iteration's data are read during an iteration; otherwise before it begins."},
      true);
  if (fields.has("cache"))
    out.cache = fields.quantity<BytesPerSecond>(
        {"cache", "Read rate of each VM's cache, which supplies the data from the second epoch on.", "no cache"},
        kReadRates);
  if (!fields.describing()) {
    if (out.cache && epochs < 2)
      fields.error("cache", "job.data.cache has no effect: the job passes over its data once");
    if (out.cache && out.place == StoragePlace::kLocal)
      fields.error("cache", "job.data.cache has no effect: the data are on the VMs' own disks from the beginning");
  }
  fields.done();
  return out;
}

JitterRules read_jitter(const Node& node, const Platform& platform, Reading& reading) {
  Fields fields(node, "job.jitter", reading);
  JitterRules out;
  out.gpu = read_scatter(fields, {"gpu", "Variation of computation, independent for each GPU.", "none"}, reading);
  out.rate =
      read_scatter(fields, {"rate", "Variation of the time per byte of each link between sites.", "none"}, reading);
  out.rtt = read_scatter(fields, {"rtt", "Variation of the round trip of each link between sites.", "none"}, reading);
  out.whole_job = fields.choice({"lasts",
                                 "Duration of a draw: iteration, which is also a step of local SGD's rounds, or job, "
                                 "as of a slow machine that is not replaced."},
                                {"iteration", "job"}, 0) == 1;
  out.states = static_cast<int>(fields.integer({"states", "Number of iterations that are drawn and simulated."},
                                               {2, 10'000}, std::int64_t{out.states}));
  if (!fields.describing()) {
    if (!out.gpu && !out.rate && !out.rtt && fields.is_map())
      fields.error("gpu", "job.jitter has no effect: it states neither gpu, rate nor rtt");
    for (const char* key : {"rate", "rtt"}) {
      if (fields.has(key) && platform.links.empty())
        fields.error(key, fmt::format("job.jitter.{} has no effect: the platform has no links between sites", key));
    }
  }
  fields.done();
  return out;
}

}  // namespace slmsim
