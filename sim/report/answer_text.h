// The lines above and below the table of `slmsim run`: the answer, what does not fit, what it rests on.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "sim/report/report.h"

namespace slmsim {

// A column has one unit, so that its numbers can be compared by eye.
struct TimeUnit {
  const char* name;
  double seconds;
  std::string text(Seconds time) const;  // three digits, without the unit
};
// The largest unit in which the shortest time is at least `least_value`.
TimeUnit unit_of(const std::vector<Seconds>& times, double least_value, std::initializer_list<TimeUnit> units);
TimeUnit job_unit(const std::vector<Seconds>& times);  // s, min, h or d

std::string money_text(double amount);
// "BEST     ": what a line is about.
std::string label(const std::string& word);
// The text with bold labels, by a terminal's escape sequences.
std::string coloured(const std::string& text);
// "gpt2m (355 M parameters)".
std::string model_text(const Transformer& model);
// "own: smollm-360m (362 M parameters), 1 epoch of 4000 sequences, 40 x 2048 tokens per step, 100 steps, bf16, compiled".
std::string setup_text(const Scenario& scenario);

// BEST with what is as good, FASTER, or what would fit. `searched`: the verdict's suggestions were looked for.
std::string verdict_text(const RunResult& result, const Verdict& verdict, bool searched);
// NO FIT and CANNOT: the model's techniques and groups that do not run, in at most two lines each.
std::string misfits_text(const RunResult& result, const std::string& model);

std::string assumed_text(const RunResult& result, const TableOptions& options);
std::string like_text(const TableOptions& options);
std::string next_text(const TableOptions& options);

}  // namespace slmsim
