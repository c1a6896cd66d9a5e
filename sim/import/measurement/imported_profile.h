// A profile of a GPU from what other programs measured: gathered from their files, completed, thinned, and written as text.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/import/measurement/format.h"
#include "sim/platform/gpu.h"

namespace slmsim {

// Turns files of one format into the points of a profile: those of one GPU, each size once with the median of its times; every
// time that is left out has a reason.

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

// Layouts of products. A profile with products in one layout serves operators in all: slmsim's weights are nn forward, and nt
// and tn for the gradients, PyTorch's nt, nn and tn. Without a row near a kernel's sizes, a layout's time would come from a
// typical ratio.

// Where a layout has no time in a precision within a factor of two of the sizes, summed over them, it takes those of the other
// layouts, with a remark.
void share_layouts(ImportedProfile& profile);
// Adds remarks on kernels without times, and on the times used instead.
void tell_what_lacks(ImportedProfile& profile);

// Thins a profile where the remaining points give the others by interpolation: a profile's reader has a limit, and every
// prediction searches the points.

// Samples of one kernel to keep, so that the others are interpolated from these within `tolerance` (0.02: 2 %); nothing where
// that takes more than `most`. Greedy: the worst predicted are kept until none is worse.
std::optional<std::vector<bool>> samples_to_keep(const std::vector<KernelSample>& samples, double tolerance,
                                                 std::size_t most);

// A set of samples such that every other sample is within `apart` of one of them: the sum over the sizes of |log|.
std::vector<bool> samples_apart(const std::vector<KernelSample>& samples, double apart);

// Thins a profile's kernels to at most `most` points, within 2 % where that is enough, else within the smallest sufficient
// tolerance up to 50 %. Times that scatter more than that are kept evenly over the sizes instead, because the worst predicted
// ones would be the wrong ones. A remark reports which, and the error of the points left out. Uses this GPU's data sheet,
// because the ratio to it is interpolated.
void thin_kernels(ImportedProfile& profile, const Gpu& gpu, std::size_t most);

// Thins collectives with more than `most` samples: keeps the smallest, the one of the greatest rate, and one size for each
// doubling. Predictions use the first two.
void thin_collectives(ImportedProfile& profile, std::size_t most);

// The profile's text (schema slmsim/gpu-profile/1), and a summary for the user.
std::string to_yaml(const ImportedProfile& profile);
// One line for each file, and the remarks.
std::string to_summary(const ImportedProfile& profile);

// A profile from the folder that calibrate/run_on_gpu.sh fills: gpu.yaml, as slmsim-calibrate writes it, attention from
// flash.csv and the host's speed from host.csv, both timed in PyTorch. The median of each time is kept, without its spread.
// The text of the profile. Throws InputError with all errors in both files.
std::string profile_of_folder(const std::filesystem::path& folder, const std::string& name, const std::string& command);

}  // namespace slmsim
