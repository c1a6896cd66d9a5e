// What surrounds the iterations of a job: checkpoints, failures, data, the lease, the day of its links, what it costs. A scenario's
// `job` section; without one a job is its iterations and nothing else.
//
//   job:
//     checkpoint: {to: store, rate: 1 GB/s, interval: best}
//     failures:
//       gpu: {mtbf: 50000 h, repair: 20 min}         # of each; there are no defaults
//       preemption: {mtbf: 12 h, repair: 10 min, notice: 2 min}
//     restart: 5 min
//     lease: 7 d
//
// Nothing is assumed where nothing is stated: a part that does not fail by the scenario never fails.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/platform/platform.h"
#include "sim/scenario/job_data.h"

namespace slmsim {

struct CheckpointRules {
  StoragePlace place = StoragePlace::kStore;
  int site = -1;                       // of kSite, index into Platform::sites
  std::optional<BytesPerSecond> rate;  // of each VM: to its disk or the store; of kSite of those there
  std::optional<BytesPerSecond> read_rate;
  std::optional<Seconds> time, read_time;  // as measured, in place of bytes and rates
  std::optional<Seconds> interval;         // of training between two; nothing: the best one
  bool background = false;                 // training goes on while one is written

  bool operator==(const CheckpointRules&) const = default;
};

// Failures of one kind of part come as a Poisson process: `mtbf` of each part, at every time, whatever was before.
struct FailureRules {
  Seconds mtbf;
  Seconds repair;  // until the part, or one in its place, is there again
  Seconds notice;  // of a preemption: how long before it is announced

  bool operator==(const FailureRules&) const = default;
};

enum class Failing { kGpu, kVm, kSite, kLink, kPreemption };
inline constexpr std::size_t kFailing = 5;
const std::vector<std::string>& failing_names();  // "gpu", "vm", "site", "link", "preemption"

// A link from a time of day on; what is not stated is as the platform has it.
struct LinkHours {
  Seconds from;  // after midnight, or after the job's beginning: where the day begins is for who states it
  std::optional<BytesPerSecond> bandwidth;
  std::optional<Seconds> rtt;
  std::optional<double> loss;

  bool operator==(const LinkHours&) const = default;
};
struct LinkDay {
  int link = 0;                  // index into Platform::links
  std::vector<LinkHours> hours;  // by time, the first from 0 on; the last until the day ends

  bool operator==(const LinkDay&) const = default;
};

struct JobRules {
  std::optional<CheckpointRules> checkpoint;
  std::array<std::optional<FailureRules>, kFailing> failures;
  std::optional<Seconds> restart;     // from the repair to the first iteration; nothing: the technique's start-up
  std::int64_t evaluation_every = 0;  // iterations; 0: no evaluation
  Seconds evaluation;                 // each
  std::optional<Seconds> lease;
  std::optional<Seconds> billed;              // a VM is paid for in whole units of this
  std::optional<double> egress_per_gigabyte;  // over links between sites, 1e9 B, in the VMs' currency
  std::optional<double> pue;                  // power usage effectiveness
  std::optional<double> grams_per_kwh;        // of CO2 equivalent
  std::optional<DataRules> data;              // nothing: the data are there
  std::optional<JitterRules> jitter;          // nothing: iterations are alike
  std::vector<LinkDay> days;
  int samples = 1000;
  std::int64_t seed = 1;

  bool fails() const;

  bool operator==(const JobRules&) const = default;
};

// Of a scenario's `job`. A section or a key that has no effect is an error. `epochs`: passes over the data; `priced`: whether
// the scenario prices GPUs.
JobRules read_job(Fields fields, const Platform& platform, int epochs, bool priced, Reading& reading);

}  // namespace slmsim
