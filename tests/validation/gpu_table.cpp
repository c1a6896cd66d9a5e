#include <fmt/format.h>

#include "sim/base/name_in.h"
#include "tests/validation/tables.h"

namespace slmsim {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string precision_of(const ProductErrors& p) { return name_in(precision_names(), p.precision); }

}  // namespace

std::string to_markdown(const GpuValidation& validation) {
  std::string out =
      "Kernels between products, each GPU predicted from the others alone (rows above 300 us):\n\n"
      "| GPU left out | rows | median error | 90th percentile |\n|---|--:|--:|--:|\n";
  for (const auto& row : validation.left_out)
    out += fmt::format("| {} | {} | {} | {} |\n", row.gpu.empty() ? "all" : row.gpu, row.error.rows,
                       percent(row.error.median), percent(row.error.ninth));
  out +=
      "\nThe same with the values of scenarios/stacks/megatron-eager.yaml and the GPUs' files, and layers' products:\n"
      "\n"
      "| GPU | between products | median error | 90th percentile | products, head and loss | median error | 90th "
      "percentile |\n"
      "|---|--:|--:|--:|--:|--:|--:|\n";
  for (const auto& row : validation.shipped)
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", row.gpu, row.between.rows, percent(row.between.median),
                       percent(row.between.ninth), row.products.rows, percent(row.products.median),
                       percent(row.products.ninth));
  out +=
      "\nOne fit for all GPUs: elements and bytes moved per element written, at the data sheet's bandwidth:\n\n"
      "| kernel | pass | elements | bytes | nine of ten within |\n|---|---|--:|--:|--:|\n";
  for (const auto& row : validation.fits)
    out += fmt::format("| {} | {} | {:.2f} | {:.2f} | {} |\n", row.kernel, row.forward ? "forward" : "backward",
                       row.moves.elements, row.moves.bytes, percent(row.spread));
  out +=
      "\nSingle products above 100 us, with the share of the peak that the GPU's file states:\n\n"
      "| source | GPU | precision | products | rows | stated share | share by rows (10 to 90 %) | median error | 90th "
      "percentile |\n|---|---|---|---|--:|--:|--:|--:|--:|\n";
  for (const auto& row : validation.products)
    out += fmt::format("| {} | {} | {} | {} | {} | {:.2f} | {:.2f} ({:.2f} to {:.2f}) | {} | {} |\n", row.source,
                       row.gpu, precision_of(row), row.batched ? "batched" : "single", row.error.rows, row.stated,
                       row.share, row.share_low, row.share_high, percent(row.error.median), percent(row.error.ninth));
  if (validation.all_reduce.machines.empty()) return out;
  out +=
      "\nAll-reduces inside a machine, above 10 MB and up to there:\n\n"
      "| source | machine | GPU | VM type | GPUs | rows | median error | 90th percentile | smaller rows | median error "
      "|\n"
      "|---|---|---|---|--:|--:|--:|--:|--:|--:|\n";
  for (const auto& m : validation.all_reduce.machines)
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", m.source, m.machine, m.gpu, m.vm_type,
                       m.gpus == 0 ? "all" : std::to_string(m.gpus), m.large.cells, percent(m.large.median),
                       percent(m.large.tenth_worst), m.small.cells, percent(m.small.median));
  for (const auto& machine : validation.all_reduce.unknown)
    out += fmt::format("\nNo VM type matches {}; its rows are skipped.\n", machine);
  return out;
}

std::string to_csv(const GpuValidation& validation) {
  std::string out = "table,source,gpu,precision,what,rows,median_error,ninetieth_percentile,stated,asked_for\n";
  for (const auto& row : validation.left_out)
    out += fmt::format("left_out,,{},,between products,{},{:.6f},{:.6f},,\n", row.gpu.empty() ? "all" : row.gpu,
                       row.error.rows, row.error.median, row.error.ninth);
  for (const auto& row : validation.shipped) {
    for (const auto& [what, error] : {std::pair{"between products", row.between}, {"products", row.products}})
      out += fmt::format("shipped,,{},,{},{},{:.6f},{:.6f},,\n", row.gpu, what, error.rows, error.median, error.ninth);
  }
  for (const auto& row : validation.products)
    out += fmt::format("products,{},{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f}\n", row.source, row.gpu, precision_of(row),
                       row.batched ? "batched" : "single", row.error.rows, row.error.median, row.error.ninth,
                       row.stated, row.share);
  return out;
}

}  // namespace slmsim
