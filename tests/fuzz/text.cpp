// Quantities, numbers, names, CSV records and overrides: words as they come from a command line.
#include "sim/base/text.h"

#include "sim/base/csv.h"
#include "sim/base/fields.h"
#include "sim/base/quantity.h"
#include "sim/base/yaml.h"
#include "tests/fuzz/target.h"

namespace slmsim::fuzz {
namespace {

void try_text(std::string_view text) {
  for (const auto dimension : {Dimension::kTime, Dimension::kData, Dimension::kDataRate, Dimension::kWorkRate}) {
    const ParsedQuantity parsed = parse_quantity(text, dimension);
    if (!parsed.problem.empty() || !(parsed.value > 1e-9) || !(parsed.value < 1e18)) continue;
    const double again = parse_quantity(exact_text(parsed.value, dimension), dimension).value;
    if (!(again > parsed.value * (1 - 1e-9) && again < parsed.value * (1 + 1e-9))) __builtin_trap();
  }
  parse_number(text);
  is_name(std::string(text));
  printable(text);
  csv_records(text);
  did_you_mean(text, {"alpha", "beta", "a100-40"});
  Node one = parse_yaml(text, "one.yaml"), other = one;
  merge(one, other);
}

const Target kText("text", try_text);

}  // namespace
}  // namespace slmsim::fuzz
