// Aceso's own profiles, of one GPU that they do not name.
#include "sim/import/measurement/aceso_table.h"
#include "sim/import/measurement/format.h"

namespace slmsim {
namespace {

void read_aceso(CsvColumns& table, FileRows& rows) { read_aceso_table(table, "", table.request().precision, rows); }

}  // namespace

ImportFormat aceso_format() {
  return {"aceso",
          "The profiler of Aceso (SuperScaler): operators of a Megatron layer, and all-reduces. Needs --precision.",
          "MODEL_mbs1_tp1_algo0.csv: op_name, forward-compute, backward-compute (us), input_size, weights, "
          "activations (MB); prim_MODEL_all_reduce_4gpus.csv: data_size(MB), time(ms)",
          aceso_headers(),
          read_aceso,
          nullptr,
          kAcesoLeast};
}

}  // namespace slmsim
