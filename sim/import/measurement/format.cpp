#include "sim/import/measurement/format.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.h"

namespace slmsim {

const std::vector<ImportFormat>& import_formats() {
  static const std::vector<ImportFormat> kFormats = {csv_format(),       neusight_format(),       aceso_format(),
                                                     sailor_format(),    aiconfigurator_format(), vidur_format(),
                                                     deepbench_format(), nccl_tests_format(),     nsys_format()};
  return kFormats;
}

const ImportFormat& import_format(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& format : import_formats()) {
    if (format.name == name) return format;
    known.emplace_back(format.name);
  }
  throw InputError(
      {}, fmt::format("there is no format \"{}\"; {}", printable(name).substr(0, 64), did_you_mean(name, known)));
}

}  // namespace slmsim
