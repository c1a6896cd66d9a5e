// Answers of the workers of a search, as in its journal.
#include <stdexcept>

#include "sim/search/evaluate.h"
#include "tests/fuzz/target.h"

namespace slmsim::fuzz {
namespace {

void try_findings(std::string_view text) {
  Finding finding;
  try {
    from_texts({std::string(text), ""}, finding);
  } catch (const std::runtime_error&) {
    return;
  }
  Finding again;
  from_texts(to_texts(finding), again);
  if (finding.index() != again.index()) __builtin_trap();
}

const Target kFindings("findings", try_findings);

}  // namespace
}  // namespace slmsim::fuzz
