// Sailor (F. Strati et al., "Sailor: Automating Distributed Training over Dynamic, Heterogeneous, and Geo-distributed
// Clusters", SOSP 2025): Aceso's profiles of several GPUs, each in a folder of its own.
#include "sim/import/measurement/aceso_table.h"
#include "sim/import/measurement/format.h"

namespace slmsim {
namespace {

constexpr std::string_view kFolder = "profiled-data-";

void read_sailor(CsvColumns& table, FileRows& rows) {
  std::string gpu;
  std::optional<Precision> precision;
  const auto parts = table.file().parts();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (!parts[i].starts_with(kFolder)) continue;
    gpu = parts[i - 1];
    precision = precision_called(std::string_view(parts[i]).substr(kFolder.size()));
  }
  // Its fp32 is TF32 on GPUs that have it; the folder's name does not say.
  if (table.request().precision) precision = table.request().precision;
  read_aceso_table(table, gpu, precision, rows);
}

}  // namespace

ImportFormat sailor_format() {
  return {"sailor",
          "Sailor's copy of Aceso's profiler: GPU and precision are those of the folders.",
          "GPU/profiled-data-PRECISION/MODEL_mbs1_tp1_algo0.csv and prim_MODEL_all_reduce_4gpus.csv, as of aceso",
          aceso_headers(),
          read_sailor,
          nullptr,
          kAcesoLeast};
}

}  // namespace slmsim
