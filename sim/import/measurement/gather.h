// Turns files of one format into the points of a profile: those of one GPU, each size once with the median of its times; every
// time that is left out has a reason.
#pragma once

#include <string>
#include <vector>

#include "sim/import/measurement/file_rows.h"
#include "sim/import/measurement/format.h"
#include "sim/platform/gpu.h"

namespace slmsim {

// Source of a section's times.
struct ImportSource {
  std::string section, file, format;
  std::size_t taken = 0;
  std::vector<std::pair<std::string, std::size_t>> left_out;  // reason and number of times, the most frequent first

  std::size_t times() const;
};

struct ImportedProfile {
  std::string name, gpu, command;
  GpuProfile points;  // the profile's kernels, by size
  std::vector<CollectiveTime> collectives;
  std::vector<ImportSource> sources;
  std::vector<std::string> remarks;
};

// `asked`: the requested GPU, if any. Tables with several GPUs may name it by name or title, and times are checked against its
// data sheet (sim/import/measurement/plausible.h). Throws InputError with all errors in all files.
ImportedProfile gather(const ImportFormat& format, const std::vector<std::string>& files, const ImportRequest& request,
                       const Gpu* asked = nullptr);

std::size_t points_of(const GpuProfile& profile);

}  // namespace slmsim
