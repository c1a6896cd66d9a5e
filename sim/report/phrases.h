// Phrases that tables and pages share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "sim/predict/algorithm.h"
#include "sim/predict/assumption.h"
#include "sim/predict/interval.h"
#include "sim/predict/predict.h"
#include "sim/predict/result.h"
#include "sim/report/report.h"

namespace slmsim {

// Width of a column with the text of each of these, at least `least`.
template <class Items, class Text>
std::size_t column_width(const Items& items, std::size_t least, Text text) {
  for (const auto& item : items) least = std::max(least, text(item).size());
  return least;
}

inline constexpr std::size_t kTextWidth = 100;  // of a text for people

// A space that no line breaks at, in a text for wrapped().
inline constexpr char kNoBreak = '\x1f';

// The text in lines of at most kTextWidth where it has spaces to break at, not before a "%"; `first` stands before the first
// line, and spaces of its length before the others.
std::string wrapped(const std::string& first, const std::string& text);

// Times from seconds to months in a form that fits a column: "34.0 min", "23.1 h".
std::string duration(Seconds time);

// In GiB with one decimal, without the unit.
std::string gib(Bytes size);

// The parts of an iteration's time with their words.
struct TimePart {
  const char *key, *words;
  Seconds Breakdown::*time;
};
inline constexpr TimePart kTimeParts[] = {
    {"compute", "computing", &Breakdown::compute},
    {"exposed_communication", "waiting for communication", &Breakdown::exposed_communication},
    {"pipeline_bubble", "pipeline bubble", &Breakdown::pipeline_bubble},
    {"optimizer", "optimizer", &Breakdown::optimizer},
    {"overhead", "launching", &Breakdown::overhead}};

// "Data on gat".
std::string place_of(const Prediction& prediction);
std::string picked(const Selection& selection);

// "rounds of 100 steps take 2.1 s; the job has 14, and one of 25 steps, 1.1 s".
std::string round_text(const RoundTimes& round);

// "the first 100 steps exchange whole gradients and take 43.3 s each".
std::string warm_up_text(const WarmUp& warm_up);

// "20 epochs of 570 sequences", or the sequences or tokens where the job states these.
std::string extent_text(const Training& training);

// "1 step", "2 steps".
std::string count_of(double count, const std::string& thing);

// "82 % measured, 12 % interpolated, 6 % roofline": shares of the time.
std::string basis_text(const TimeBasis& basis);

// Groups of GPUs by their sites' names.

// "utah+boston": the sites, where a group is exactly the VMs of one or more of several sites and no other VM has such a name;
// else as group_text().
std::string group_words(const Platform& platform, const std::vector<std::string>& group);
// The same in a sentence: "utah and boston".
std::string group_sentence(const Platform& platform, const std::vector<std::string>& group);

// "Data on utah+boston".
std::string place_of(const Platform& platform, const Prediction& prediction);
std::string picked(const Platform& platform, const Selection& selection);

// "all 6 GPUs together, each pair of sites, each site": the groups that were tried, and, for a scenario that does not name
// them, those left out because there are too many.
std::string compared_text(const Scenario& scenario);

// Intervals and probabilities, in the text and columns of each format.

// Table of one model's predictions: interval of each, and whether it fits.
std::string interval_table(const Uncertainty& uncertainty, const std::vector<Prediction>& predictions,
                           const std::string& model);
// The probability that the pick is right, and its mean excess cost over the best.
std::string pick_text(const Uncertainty& uncertainty, std::size_t pick, Objective objective);
// "35.2 min to 89.4 min"
std::string between_text(const Interval& seconds);
// Source of the intervals.
std::string origin_text(const Uncertainty& uncertainty);

// Appended to a row of CSV, and its header: low and high end of the minutes, the level, the probability of fitting.
std::string interval_header();
std::string interval_cells(const Uncertainty& uncertainty, std::size_t prediction);

// Whole jobs with their failures, checkpoints and costs, in the text and columns of each format.

// "9.84 h", "23.4 d", "no end".
std::string job_duration(double seconds);

// Table of one model's predictions: length, probability of ending before the lease, cost, and where the time goes.
std::string job_table(const RunResult& result, const std::string& model);

// "median 9.84 h, 80 % between 9.1 h and 12 h; 99.2 % by the lease; 16.5 USD, 6.49 kWh".
std::string job_line(const JobOutcome& job);

// Appended to a row of CSV, and its header.
std::string job_header();
std::string job_cells(const std::optional<JobOutcome>& job);

// The lines above and below the table of `slmsim run`: the answer, what does not fit, what it rests on.

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
// The whole job of one of the result's predictions; nullptr where none was drawn.
const JobOutcome* drawn_job(const RunResult& result, const Prediction& p);
// "4.41 USD": of the whole job where it was drawn, with egress, else of the iterations; empty where it is free or no price is stated.
std::string price_text(const RunResult& result, const Prediction& p);
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
// NO FIT and CANNOT: the model's techniques and groups that do not run, in at most two lines each; CANNOT for each reason.
std::string misfits_text(const RunResult& result, const std::string& model);

// "ASSUMED  ...": one per line.
std::string assumed_list(const std::vector<Assumption>& assumptions);
std::string assumed_text(const RunResult& result, const TableOptions& options);
std::string like_text(const TableOptions& options);
std::string next_text(const TableOptions& options);

// The remarks of the predictions, each once: a technique's remarks depend on the plan, and rarely on the group. Those
// with the same beginning up to a colon are one.
std::vector<std::string> remarks_of(const std::vector<const Prediction*>& predictions);

// The words of a command after `first`, to be copied: lines break before --set and end in a backslash.
std::string command_text(const std::string& first, const std::string& command, std::size_t indent);

}  // namespace slmsim
