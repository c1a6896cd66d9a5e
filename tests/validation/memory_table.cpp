#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/predict/row.h"
#include "tests/validation/tables.h"

namespace slmsim {
namespace {

std::string unmet_text(const MemoryExplanation& one) {
  std::vector<std::string> out;
  for (const auto& row : one.unmet)
    out.push_back(fmt::format("{}{} {} {}: {}", one.slice.empty() ? row.slice + " " : "", row.gpus, row.model,
                              row.technique, row.status));
  return fmt::format("{}", fmt::join(out, "; "));
}

std::vector<std::string> names_of(const MemoryExplanations& explanations) {
  std::vector<std::string> out;
  for (const auto& unknown : explanations.alternatives) out.push_back(unknown.name());
  return out;
}

}  // namespace

std::string to_markdown(const MemoryExplanations& explanations) {
  if (!explanations.complete) return "Stopped before the end: no result.\n";
  std::string out = fmt::format("| slice | facts met | as good | `{}` | measured otherwise |\n|---|--:|--:|",
                                fmt::join(names_of(explanations), "` | `"));
  for (std::size_t i = 0; i < explanations.alternatives.size(); ++i) out += "---|";
  out += "---|\n";
  for (const auto& one : explanations.each)
    out += fmt::format("| {} | {} of {} | {} | {} | {} |\n", one.slice, one.met(), one.facts, one.as_good,
                       fmt::join(one.words, " | "), unmet_text(one));
  const MemoryExplanation& all = explanations.all;
  out += fmt::format("| all, by one | {} of {} | {} | {} | {} facts |\n", all.met(), all.facts, all.as_good,
                     fmt::join(all.words, " | "), all.unmet.size());
  out += fmt::format(
      "\nFits in memory or not: {} of {} facts agree with one explanation per slice, {} with one for all, out of {} "
      "combinations. Predicting that everything fits would agree with {}.\n",
      explanations.met_by_each(), all.facts, all.met(), explanations.combinations, explanations.fitting);
  return out;
}

std::string to_csv(const MemoryExplanations& explanations) {
  std::string out = fmt::format("slice,facts,met,as_good,{},unmet\n", fmt::join(names_of(explanations), ","));
  const auto add = [&](const MemoryExplanation& one) {
    out += fmt::format("{},{},{},{},{},{}\n", one.slice.empty() ? "all" : one.slice, one.facts, one.met(), one.as_good,
                       fmt::join(one.words, ","), csv_cell(unmet_text(one)));
  };
  add(explanations.all);
  for (const auto& one : explanations.each) add(one);
  return out;
}

}  // namespace slmsim
