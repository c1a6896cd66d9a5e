#include "sim/scenario/job.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.h"

namespace slmsim {
namespace {

constexpr Range<Seconds> kShort{{0}, {30 * 86400.0}}, kLong{{1}, {1e12}};
constexpr Range<BytesPerSecond> kRates{{1e3}, {1e15}};
constexpr Seconds kDay{86400};

const std::vector<std::string>& failure_names() {
  static const std::vector<std::string> kNames = {"gpu", "vm", "site", "link", "preemption"};
  return kNames;
}

struct NamedPlace {
  StoragePlace place = StoragePlace::kStore;
  int site = -1;
};

// The value of a key such as `to` or `from`: "local", "store" or a site's name; the site must have VMs. `purpose`: the role of
// those VMs.
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

const std::vector<std::string>& jitter_shape_names() {
  static const std::vector<std::string> kNames = {"normal", "lognormal", "exponential"};
  return kNames;
}

Scatter read_scatter(Fields& fields) {
  Scatter out;
  // Above 1, symmetric shapes would have times below zero.
  out.sd = fields.number({"sd", "Standard deviation divided by the mean."}, {1e-6, 1});
  out.shape = static_cast<JitterShape>(fields.choice(
      {"shape", "normal: many small causes; lognormal: skewed; exponential: a minimum plus an exponential delay."},
      jitter_shape_names()));
  if (out.shape == JitterShape::kNormal && out.sd > 1.0 / 3 && !fields.describing())
    fields.error("sd",
                 fields.path_of("sd") + ": above 0.33 a normal time is negative too often; choose shape: lognormal");
  return out;
}

// `epochs`: passes over the data.
DataRules read_job_data(Fields& fields, const Platform& platform, int epochs) {
  DataRules out;
  const auto place = read_place(
      fields,
      {"from", "local: each VM's own disk; store: storage that each VM reads over its own connection; or a site."},
      platform, "send them");
  if (place) std::tie(out.place, out.site) = std::pair(place->place, place->site);
  out.rate = fields.quantity<BytesPerSecond>(
      {"rate", "Read rate of each VM from its disk or the store; with a site, of each of its VMs."}, kRates);
  out.bytes_per_token = fields.number(
      {"bytes_per_token", "Bytes per token of the data; 2 if the vocabulary fits into 16 bits."}, {0.01, 1e9});
  out.prefetch = fields.flag(
      {"prefetch", "Whether the next iteration's data are read during an iteration; otherwise before it begins."},
      true);
  if (fields.has("cache"))
    out.cache = fields.quantity<BytesPerSecond>(
        {"cache", "Read rate of each VM's cache, which supplies the data from the second epoch on.", "no cache"},
        kRates);
  if (!fields.describing()) {
    if (out.cache && epochs < 2)
      fields.error("cache", "job.data.cache has no effect: the job passes over its data once");
    if (out.cache && out.place == StoragePlace::kLocal)
      fields.error("cache", "job.data.cache has no effect: the data are on the VMs' own disks from the beginning");
  }
  return out;
}

JitterRules read_jitter(Fields& fields, const Platform& platform) {
  JitterRules out;
  const auto scatter_of = [&](const FileKey& key, std::optional<Scatter>& scatter) {
    fields.inside(key, [&](Fields& inner) { scatter = read_scatter(inner); });
  };
  scatter_of({"gpu", "Variation of computation, independent for each GPU.", "none"}, out.gpu);
  scatter_of({"rate", "Variation of the time per byte of each link between sites.", "none"}, out.rate);
  scatter_of({"rtt", "Variation of the round trip of each link between sites.", "none"}, out.rtt);
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
  return out;
}

class JobReader {
 public:
  JobReader(Fields& fields, const Platform& platform, int epochs, bool priced, Reading& reading)
      : fields_(fields), platform_(platform), epochs_(epochs), priced_(priced), reading_(reading) {
    for (const Vm& vm : platform.vms) priced_ = priced_ || vm.type.price_per_hour;
  }

  JobRules read() {
    read_failures();
    const FileKey checkpoint{"checkpoint", "Checkpoints, from which the job resumes after a failure.",
                             "none: a failure restarts the job from the beginning"};
    fields_.inside(checkpoint, [&](Fields& fields) { read_checkpoint(fields); });
    if (has("restart", "Time from the repair to the first iteration, without reading the checkpoint.",
            "the technique's start-up"))
      job_.restart = fields_.quantity<Seconds>(key_, kShort);
    if (job_.restart && !job_.fails())
      fields_.error("restart", "job.restart has no effect: nothing fails; state job.failures");
    read_evaluation();
    if (has("lease", "Time that the machines are available, from the start of the job.", "unlimited"))
      job_.lease = fields_.quantity<Seconds>(key_, kLong);
    read_costs();
    read_days();
    read_iterations();
    job_.samples = static_cast<int>(
        fields_.integer({"samples", "Number of jobs drawn."}, {1, 1'000'000}, std::int64_t{job_.samples}));
    job_.seed = fields_.integer({"seed", "Seed of the draws."}, {0, 1LL << 53}, job_.seed);
    fields_.done();
    if (says_nothing() && fields_.is_map() && !fields_.describing())
      fields_.error(
          "samples",
          "job has no effect: it states no failures, checkpoints, evaluation, data, jitter, lease, links or costs");
    return job_;
  }

 private:
  // Names the key for the read that follows.
  bool has(const char* name, const char* about, const char* otherwise) {
    key_ = {name, about, otherwise};
    return fields_.has(name);
  }

  bool says_nothing() const {
    JobRules drawn;
    drawn.samples = job_.samples;
    drawn.seed = job_.seed;
    return job_ == drawn && reading_.errors.empty();
  }

  void read_failures() {
    static const char* const kOf[kFailures] = {
        "A GPU that fails, with the process on it.", "A VM that fails.", "A site that fails, with all its VMs.",
        "A link between sites that fails: nothing passes.", "A VM that is preempted and returned, as spot VMs are."};
    fields_.inside({"failures", "Failure rates and repair times, by kind of part.", "nothing"}, [&](Fields& each) {
      for (std::size_t i = 0; i < kFailures; ++i) {
        each.inside({failure_names()[i], kOf[i], "never"}, [&](Fields& fields) {
          FailureRules& out = job_.failures[i].emplace();
          out.mtbf = fields.quantity<Seconds>({"mtbf", "Mean time between failures of one such part."}, kLong);
          out.repair =
              fields.quantity<Seconds>({"repair", "Time until the part or a replacement is available."}, kShort);
          if (static_cast<Failure>(i) == Failure::kPreemption)
            out.notice = fields.quantity<Seconds>(
                {"notice", "Notice before the preemption; if a checkpoint takes no longer, nothing is lost."}, kShort,
                Seconds{0});
        });
      }
      if (!job_.fails() && each.is_map())
        fields_.error("failures", "job.failures is empty; name what fails, such as vm");
      if (job_.failures[static_cast<std::size_t>(Failure::kLink)] && platform_.links.empty() && !fields_.describing())
        each.error("link", "job.failures.link has no effect: the platform has no links");
    });
  }

  void read_checkpoint(Fields& fields) {
    CheckpointRules& out = job_.checkpoint.emplace();
    read_checkpoint_place(fields, out);
    read_rates(fields, out);
    const FileKey interval{"interval",
                           "Training time between two checkpoints, in whole iterations or rounds of local SGD."};
    const Node* best = fields.child(interval, ValueType::choice({"best"}), true);
    const bool is_best = best && best->kind == Node::Kind::kScalar && best->scalar == "best";
    if (fields.describing() || (best && !is_best)) out.interval = fields.quantity<Seconds>(interval, {{1e-3}, {1e9}});
    if (is_best && !job_.fails())
      fields.error("interval",
                   "job.checkpoint.interval: without failures no interval is best; state job.failures, or an interval "
                   "such as 30 min");
    out.background =
        fields.flag({"background", "Whether training continues while a checkpoint is written from a copy."}, false);
    if (out.background && out.place == StoragePlace::kSite && !fields.describing())
      fields.error("background",
                   "job.checkpoint.background: training and a checkpoint on one link between sites are not simulated; "
                   "leave it out, or write to: store");
  }

  void read_checkpoint_place(Fields& fields, CheckpointRules& out) {
    const FileKey to{"to", "local: each VM's own disk; store: storage that outlives VMs; or the name of a site."};
    const auto place = read_place(fields, to, platform_, "receive it");
    if (!place) return;
    std::tie(out.place, out.site) = std::pair(place->place, place->site);
    if (out.place == StoragePlace::kLocal && job_.failures[static_cast<std::size_t>(Failure::kPreemption)])
      fields.error("to", "job.checkpoint.to: a preempted VM takes its local disk along; write to store or to a site");
  }

  void read_rates(Fields& fields, CheckpointRules& out) {
    const auto rate = [&](const char* name, const char* about, const char* otherwise,
                          std::optional<BytesPerSecond>& to) {
      if (fields.has(name)) to = fields.quantity<BytesPerSecond>({name, about, otherwise}, kRates);
    };
    const auto time = [&](const char* name, const char* about, const char* otherwise, std::optional<Seconds>& to) {
      if (fields.has(name)) to = fields.quantity<Seconds>({name, about, otherwise}, kShort);
    };
    rate("rate", "Write rate of each VM to its disk or the store; with a site, of each of its VMs.", "by time",
         out.rate);
    rate("read_rate", "Read rate of each VM.", "as rate", out.read_rate);
    time("time", "Measured time to write a checkpoint; replaces rates.", "bytes / rate", out.time);
    time("read_time", "Time to read a checkpoint.", "bytes / read_rate, else time", out.read_time);
    if (fields.describing()) return;
    const auto refuse = [&](bool wrong, const char* name, const char* beside) {
      if (wrong)
        fields.error(name, fmt::format("job.checkpoint.{} excludes job.checkpoint.{}; leave one out", name, beside));
    };
    refuse(out.time && out.rate, "rate", "time");
    refuse(out.read_time && out.read_rate, "read_rate", "read_time");
    if (!out.time && !out.rate)
      fields.error("rate",
                   "job.checkpoint has neither rate nor time; state the write rate of each VM, such as rate: 1 GB/s");
    if ((out.read_rate || out.read_time) && !job_.fails())
      fields.error(out.read_rate ? "read_rate" : "read_time",
                   "job.checkpoint: nothing fails, so no checkpoint is read; state job.failures");
  }

  void read_evaluation() {
    fields_.inside({"evaluation", "Pauses for evaluations of the model.", "none"}, [&](Fields& fields) {
      job_.evaluation_every =
          fields.integer({"every", "Iterations (optimizer steps) between two evaluations."}, {1, 1'000'000'000});
      job_.evaluation = fields.quantity<Seconds>({"time", "Duration of one evaluation."}, {{1e-3}, {30 * 86400.0}});
    });
  }

  void read_costs() {
    if (has("billed", "Billing unit of VMs, such as 1 h.", "exact time"))
      job_.billed = fields_.quantity<Seconds>(key_, {{1}, {1e9}});
    if (has("egress_per_gigabyte",
            "Price of 1e9 B that leave a site, in the currency of the VMs; needs links between sites.", "nothing"))
      job_.egress_per_gigabyte = fields_.number(key_, {0, 1e6});
    if (job_.egress_per_gigabyte && platform_.links.empty() && !fields_.describing())
      fields_.error("egress_per_gigabyte", "job.egress_per_gigabyte has no effect: the platform has no links");
    for (const char* key : {"billed", "egress_per_gigabyte"}) {
      if (!priced_ && !fields_.describing() && fields_.has(key))
        fields_.error(key, fmt::format("job.{} has no effect: no VM states its price_per_hour", key));
    }
    if (has("pue", "Power usage effectiveness: power of the site per watt of the boards.", "1: the boards alone"))
      job_.pue = fields_.number(key_, {1, 10});
    if (has("grams_per_kwh", "Carbon intensity of the grid, CO2 equivalent.", "not reported"))
      job_.grams_per_kwh = fields_.number(key_, {0, 1e4});
  }

  // Settings that lengthen iterations.
  void read_iterations() {
    fields_.inside({"data", "Source of the training data.", "no reading"},
                   [&](Fields& data) { job_.data = read_job_data(data, platform_, epochs_); });
    fields_.inside({"jitter", "Random variation of the times of GPUs and links.", "none"},
                   [&](Fields& jitter) { job_.jitter = read_jitter(jitter, platform_); });
    if (job_.jitter && job_.jitter->whole_job && !job_.days.empty() && !fields_.describing())
      fields_.error("jitter", "job.jitter.lasts: job is not simulated together with job.links; state one of them");
  }

  void read_days() {
    fields_.each({"links", "Changes of links between sites over the day, by their names.", "as in the platform"}, false,
                 [&](const Entry& entry, Fields& fields) { read_day(entry, fields); });
  }

  void read_day(const Entry& entry, Fields& fields) {
    LinkDay day;
    std::vector<std::string> names;
    for (const WanLink& link : platform_.links) names.push_back(link.name);
    const auto at = std::ranges::find(names, entry.key);
    day.link = static_cast<int>(at - names.begin());
    if (at == names.end() && !fields.describing())
      reading_.error(entry.place, fmt::format("job.links: there is no link \"{}\"; {}", entry.key.substr(0, 64),
                                              did_you_mean(entry.key, names)));
    const std::size_t states =
        fields.each_item({"hours", "States of the link, each from a time of day on."},
                         [&](Fields& hour) { day.hours.push_back(read_hours(hour, day.hours)); }, {2, 1440});
    if (states < 2 && !fields.describing())
      fields.error("hours", fmt::format("{} needs two or more states; a single one belongs in the platform",
                                        fields.path_of("hours")));
    if (at != names.end()) job_.days.push_back(std::move(day));
  }

  LinkHours read_hours(Fields& fields, const std::vector<LinkHours>& before) {
    LinkHours out;
    out.from = fields.quantity<Seconds>({"from", "Time since the start of the day, which is the start of the job."},
                                        {{0}, kDay});
    const bool in_order = before.empty() ? out.from == Seconds{0} : out.from > before.back().from;
    if (!in_order && !fields.describing())
      fields.error("from", before.empty() ? fields.path_of("from") + ": the first state of the day must begin at 0 h"
                                          : fields.path_of("from") + " is not later than the one before");
    if (fields.has("bandwidth"))
      out.bandwidth = fields.quantity<BytesPerSecond>({"bandwidth", "The rate of each direction.", "the platform's"},
                                                      {{1e3}, {1e13}});
    if (fields.has("rtt")) out.rtt = fields.quantity<Seconds>({"rtt", "Round trip.", "the platform's"}, {{0}, {10}});
    if (fields.has("loss"))
      out.loss = fields.number({"loss", "Share of segments that get lost.", "the platform's"}, {0, 0.5});
    return out;
  }

  Fields& fields_;
  const Platform& platform_;
  int epochs_;
  bool priced_;
  Reading& reading_;
  JobRules job_;
  FileKey key_{"", "", ""};
};

}  // namespace

bool JobRules::fails() const {
  return std::ranges::any_of(failures, [](const auto& rules) { return rules.has_value(); });
}

JobRules read_job(Fields fields, const Platform& platform, int epochs, bool priced, Reading& reading) {
  return JobReader(fields, platform, epochs, priced, reading).read();
}

}  // namespace slmsim
