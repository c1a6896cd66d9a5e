#include <algorithm>

#include "sim/fit/next.h"
#include "tests/validation/fabric_protocol.h"

namespace slmsim {
namespace {

// The study's winner for gpt2m on one VM (arXiv 2602.02632, sections IV-A to IV-E, and IV-G: "Data was the winner in six, and
// Shard was the winner in two", the two being gpt2m and gpt2l on GAT-AMST).
std::string studied_winner(const std::string& slice) { return slice == "GAT-AMST" ? "Shard" : "Data"; }

// "We expect to pretrain SLMs for hundreds of epochs" (section IV-H); the runs have 20.
constexpr double kJobs = 10;

// Rows that Algorithm 1 tries: Pipeshard on both VMs, Data and Shard on one.
bool is_tried(const FabricRow& row) {
  return row.two_vms() ? row.technique == "Pipeshard" : row.technique == "Data" || row.technique == "Shard";
}

}  // namespace

HeldOutPick pick_by_pilots(const std::string& slice, const Scenario& scenario, const StudyRuns& rows,
                           Ensemble ensemble) {
  HeldOutPick out;
  out.slice = slice;
  out.winner = studied_winner(slice);
  std::vector<std::size_t> open;
  std::vector<double> logs(ensemble.size(), 0.0);
  for (const auto& [row, candidate] : rows) {
    if (row.model != kPicked) continue;
    const std::size_t cell = ensemble.position_of(candidate);
    open.push_back(cell);
    if (is_tried(row)) out.tried_gpu_minutes += row.gpu_count * trial_minutes(ensemble, cell, 1);
  }
  const auto is_winner = [&](std::size_t cell) {
    return ensemble.cells[cell].technique == out.winner && ensemble.cells[cell].group.size() == 1;
  };
  NextRules rules;
  rules.jobs = kJobs;
  for (bool first = true;; first = false) {
    const NextPick next = next_run(scenario, ensemble, kPicked, open, rules);
    out.pick = ensemble.cells[next.pick];
    out.right = is_winner(next.pick);
    out.probability = next.right;
    if (first) out.right_before = out.right;
    if (next.stop || next.runs.empty()) return out;
    const NextRun& run = next.runs.front();
    out.runs.push_back(ensemble.cells[run.candidate]);
    out.gpu_minutes += run.gpu_minutes;
    open.erase(std::find(open.begin(), open.end(), run.candidate));
    for (const auto& [row, candidate] : rows) {
      if (!(candidate == ensemble.cells[run.candidate])) continue;
      const auto figures = row.pilots(candidate);
      ensemble.runs.insert(ensemble.runs.end(), figures.begin(), figures.end());
      for (std::size_t i = 0; i < ensemble.size(); ++i)
        logs[i] +=
            log_likelihood(figures, ensemble.forecasts[i][run.candidate], ensemble.discrepancy(i, run.candidate));
    }
    ensemble.weights = weights_of(logs);
  }
}

}  // namespace slmsim
