#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"
#include "sim/import/measurement/imported_profile.h"

namespace slmsim {
namespace {

constexpr std::size_t kMostReasons = 12;  // per file; the others are counted

std::string reasons_of(const ImportSource& source) {
  std::vector<std::string> reasons;
  std::size_t others = 0;
  for (const auto& [why, times] : source.left_out) {
    if (reasons.size() < kMostReasons)
      reasons.push_back(fmt::format("{} {}", times, why));
    else
      others += times;
  }
  if (others > 0) reasons.push_back(fmt::format("{} for other reasons", others));
  return fmt::format("{}", fmt::join(reasons, "; "));
}

std::string bytes_text(Bytes size) { return fmt::format("{:.0f} B", size.value); }

}  // namespace

std::string to_yaml(const ImportedProfile& profile) {
  std::string out =
      "# A GPU's profile made by slmsim import from measurements of others; `sources` lists them and the times left "
      "out.\n"
      "# time: the median of the times of a size.\n"
      "schema: slmsim/gpu-profile/1\n";
  out += fmt::format("name: {}\n", profile.name);
  if (!profile.gpu.empty()) out += fmt::format("gpu: {}\n", yaml_quoted(profile.gpu));
  out += fmt::format("command: {}\n", yaml_quoted(profile.command));
  out += "sources:\n";
  for (const auto& source : profile.sources) {
    out += fmt::format("  - {{section: {}, file: {}, format: {}, times: {}, taken: {}", source.section,
                       yaml_quoted(source.file), source.format, source.times(), source.taken);
    if (!source.left_out.empty()) out += fmt::format(", left_out: {}", yaml_quoted(reasons_of(source)));
    out += "}\n";
  }
  if (!profile.remarks.empty()) out += "remarks:\n";
  for (const auto& remark : profile.remarks) out += fmt::format("  - {}\n", yaml_quoted(remark));
  if (!profile.points.kernels.empty()) out += "kernels:\n";
  for (const auto& [name, by_precision] : profile.points.kernels) {
    for (std::size_t p = 0; p < kPrecisions; ++p) {
      for (const auto& point : by_precision[p]) {
        out += fmt::format("  - {{kernel: {}, precision: {}, batch: {}, m: {}, n: {}, k: {}, time: {}}}\n", name,
                           precision_names()[p], point.batch, point.m, point.n, point.k,
                           exact_text(point.time.value, Dimension::kTime));
      }
    }
  }
  if (!profile.collectives.empty()) out += "collectives:\n";
  for (const auto& one : profile.collectives) {
    out += fmt::format("  - {{collective: {}, ranks: {}, hosts: {}, size: {}, time: {}}}\n", one.name, one.ranks,
                       one.hosts, bytes_text(one.size), exact_text(one.time.value, Dimension::kTime));
  }
  return out;
}

std::string to_summary(const ImportedProfile& profile) {
  std::string out = fmt::format("{}: {} kernels, {} collectives\n", profile.name, points_of(profile.points),
                                profile.collectives.size());
  for (const auto& source : profile.sources) {
    out += fmt::format("{}: {} of {} times taken", printable(source.file), source.taken, source.times());
    if (!source.left_out.empty()) out += fmt::format("; left out: {}", reasons_of(source));
    out += "\n";
  }
  for (const auto& remark : profile.remarks) out += fmt::format("- {}\n", printable(remark));
  return out;
}

}  // namespace slmsim
