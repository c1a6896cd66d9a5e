// Measurements of a scenario: a table of runs or, after a line "log", what a training program printed.
#include "sim/fit/pilot.h"
#include "tests/fuzz/target.h"

namespace slmsim::fuzz {
namespace {

void try_pilots(std::string_view text) {
  constexpr std::string_view kLog = "log\n";
  if (text.starts_with(kLog)) {
    read_training_log(as_file(text.substr(kLog.size())), 4, 1024);
    return;
  }
  static const Scenario kGatAmst =
      load_scenario(std::filesystem::path(SLMSIM_SOURCE_DIR) / "scenarios" / "gat-amst.yaml", {"models=gpt2m"});
  read_pilots(as_file(text), kGatAmst);
}

const Target kPilots("pilots", try_pilots);

}  // namespace
}  // namespace slmsim::fuzz
