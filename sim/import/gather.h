// Files of one format become the points of a profile: those of one GPU, each size once with the median of its times,
// and every time that is left out with a reason.
#pragma once

#include <string>
#include <vector>

#include "sim/import/file_rows.h"
#include "sim/import/format.h"
#include "sim/platform/gpu.h"

namespace slmsim {

// Where the times of a section are from.
struct ImportSource {
  std::string section, file, format;
  std::size_t taken = 0;
  std::vector<std::pair<std::string, std::size_t>> left_out;  // reason and times, the most first

  std::size_t times() const;
};

struct ImportedProfile {
  std::string name, gpu, command;
  GpuProfile points;  // its kernels, in the order of their sizes
  std::vector<CollectiveTime> collectives;
  std::vector<ImportSource> sources;
  std::vector<std::string> remarks;
};

// `asked`: the GPU that is asked for, where there is one. Tables that hold several may call it by name or title, and times are
// held against its data sheet (sim/import/plausible.h). Throws InputError with everything that is wrong in all files.
ImportedProfile gather(const ImportFormat& format, const std::vector<std::string>& files, const ImportRequest& request,
                       const Gpu* asked = nullptr);

std::size_t points_of(const GpuProfile& profile);

}  // namespace slmsim
