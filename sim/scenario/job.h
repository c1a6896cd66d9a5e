// A job beyond its iterations: checkpoints, failures, data, the lease, daily variation of links, and cost. A scenario's
// `job` section; without it, a job consists of its iterations only.
//
//   job:
//     checkpoint: {to: store, rate: 1 GB/s, interval: best}
//     failures:
//       gpu: {mtbf: 50000 h, repair: 20 min}         # of each; there are no defaults
//       preemption: {mtbf: 12 h, repair: 10 min, notice: 2 min}
//     restart: 5 min
//     lease: 7 d
//
// Failures have no defaults: a part without a stated failure rate never fails.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/platform/platform.h"

namespace slmsim {

// Effects that lengthen a job's iterations without stopping them: late data, and varying speed of GPUs and links. Two
// sections of a scenario's `job`.
//
//   data: {from: amst, rate: 500 MB/s, bytes_per_token: 2, prefetch: yes, cache: 1 GB/s}
//   jitter: {gpu: {sd: 0.03, shape: normal}, rate: {sd: 0.2, shape: lognormal}, lasts: iteration, states: 32}
//
// Nothing is assumed: without `data` the data are always available, without `jitter` all iterations are equal.

// A storage location. kLocal: each VM's own disk, lost with a preempted VM. kStore: storage that outlives VMs, with a
// rate per VM (a network disk, an object store). kSite: at a site, over the platform's links.
enum class StoragePlace { kLocal, kStore, kSite };

// Training data, as tokens on a disk.
struct DataRules {
  StoragePlace place = StoragePlace::kStore;
  int site = -1;        // of kSite, index into Platform::sites
  BytesPerSecond rate;  // read rate of each VM: from its disk or the store; for kSite, of each VM there
  double bytes_per_token = 0;
  bool prefetch = true;                 // the next iteration's data are read during the current one; else before it
  std::optional<BytesPerSecond> cache;  // rate at which each VM reads its cached data, from the second epoch on

  bool operator==(const DataRules&) const = default;
};

// Distribution of times about their mean, which is the predicted time. kExponential: the excess over a minimum is
// exponential.
enum class JitterShape { kNormal, kLognormal, kExponential };

struct Scatter {
  double sd = 0;  // standard deviation over the mean
  JitterShape shape = JitterShape::kNormal;

  bool operator==(const Scatter&) const = default;
};

struct JitterRules {
  std::optional<Scatter> gpu;   // of each GPU's computation time
  std::optional<Scatter> rate;  // of the time per byte of each link between sites
  std::optional<Scatter> rtt;   // of its round trip
  bool whole_job = false;       // a draw lasts for a job; else for an iteration or a round's step
  int states = 32;              // number of drawn and simulated iterations

  bool operator==(const JitterRules&) const = default;
};

struct CheckpointRules {
  StoragePlace place = StoragePlace::kStore;
  int site = -1;                       // of kSite, index into Platform::sites
  std::optional<BytesPerSecond> rate;  // per VM: to its disk or the store; for kSite, per VM there
  std::optional<BytesPerSecond> read_rate;
  std::optional<Seconds> time, read_time;  // as measured; replaces bytes and rates
  std::optional<Seconds> interval;         // training time between two checkpoints; nothing: the best interval
  bool background = false;                 // training continues while one is written

  bool operator==(const CheckpointRules&) const = default;
};

// Failures of one kind of part form a Poisson process with mean time `mtbf` between failures of each part.
struct FailureRules {
  Seconds mtbf;
  Seconds repair;  // until the part or its replacement is available
  Seconds notice;  // of a preemption: time from announcement to loss

  bool operator==(const FailureRules&) const = default;
};

enum class Failure { kGpu, kVm, kSite, kLink, kPreemption };
inline constexpr std::size_t kFailures = 5;

// Properties of a link from a time of day on; unstated ones are the platform's.
struct LinkHours {
  Seconds from;  // after midnight, or after the job's beginning, as the section states
  std::optional<BytesPerSecond> bandwidth;
  std::optional<Seconds> rtt;
  std::optional<double> loss;

  bool operator==(const LinkHours&) const = default;
};
struct LinkDay {
  int link = 0;                  // index into Platform::links
  std::vector<LinkHours> hours;  // by time; the first is valid from 0, the last until the day ends

  bool operator==(const LinkDay&) const = default;
};

struct JobRules {
  std::optional<CheckpointRules> checkpoint;
  std::array<std::optional<FailureRules>, kFailures> failures;
  std::optional<Seconds> restart;     // from the repair to the first iteration; nothing: the technique's start-up time
  std::int64_t evaluation_every = 0;  // iterations; 0: no evaluation
  Seconds evaluation;                 // each
  std::optional<Seconds> lease;
  std::optional<Seconds> billed;              // VMs are billed in whole units of this time
  std::optional<double> egress_per_gigabyte;  // over links between sites, 1e9 B, in the VMs' currency
  std::optional<double> pue;                  // power usage effectiveness
  std::optional<double> grams_per_kwh;        // of CO2 equivalent
  std::optional<DataRules> data;              // nothing: data are always available
  std::optional<JitterRules> jitter;          // nothing: iterations are equal
  std::vector<LinkDay> days;
  int samples = 1000;
  std::int64_t seed = 1;

  bool fails() const;

  bool operator==(const JobRules&) const = default;
};

// Reads a scenario's `job`. A section or a key that has no effect is an error. `epochs`: passes over the data;
// `priced`: whether the scenario prices GPUs.
JobRules read_job(Fields fields, const Platform& platform, int epochs, bool priced, Reading& reading);

}  // namespace slmsim
