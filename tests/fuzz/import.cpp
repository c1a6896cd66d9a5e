// Every format of `slmsim import`, each by the input's first byte.
#include "sim/import/measurement/format.h"
#include "sim/import/measurement/imported_profile.h"
#include "tests/fuzz/target.h"

namespace slmsim::fuzz {
namespace {

void try_import(std::string_view text) {
  if (text.empty()) return;
  const auto& formats = import_formats();
  const auto& format = formats[static_cast<unsigned char>(text.front()) % formats.size()];
  static const Gpu kGpu = [] {
    Gpu gpu;
    gpu.name = "a100";
    return gpu;
  }();
  gather(format, {as_file(text.substr(1))}, ImportRequest{}, &kGpu);
}

const Target kImport("import", try_import);

}  // namespace
}  // namespace slmsim::fuzz
