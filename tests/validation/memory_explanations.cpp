#include "tests/validation/memory_explanations.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "sim/fit/forecast.h"
#include "tests/validation/fabric_protocol.h"

namespace slmsim {
namespace {

// The study's choices that affect memory; repeated words are reduced to one.
std::vector<Unknown> choices_of_memory() {
  std::vector<Unknown> out;
  for (auto& unknown : fabric_shared()) {
    const bool of_network = unknown.name().starts_with("nccl.") || unknown.name().starts_with("platform.");
    if (!unknown.is_choice() || of_network) continue;
    unknown.words.erase(std::unique(unknown.words.begin(), unknown.words.end()), unknown.words.end());
    out.push_back(std::move(unknown));
  }
  return out;
}

std::vector<std::vector<std::string>> products_of(const std::vector<Unknown>& alternatives) {
  std::vector<std::vector<std::string>> out = {{}};
  for (const auto& unknown : alternatives) {
    std::vector<std::vector<std::string>> longer;
    for (const auto& words : out) {
      for (const auto& word : unknown.words) {
        longer.push_back(words);
        longer.back().push_back(word);
      }
    }
    out = std::move(longer);
  }
  return out;
}

// Every fact concerns memory only.
Experiment memory_experiment_of(const FabricSlice& slice) {
  Experiment out{slice.file, {}, {}, slice.rows.size(), {}};
  for (const auto& [row, candidate] : slice.rows) out.cells.push_back(candidate);
  return out;
}

std::vector<FabricRow> unmet_of(const FabricSlice& slice, const std::vector<Forecast>& forecasts) {
  std::vector<FabricRow> out;
  for (std::size_t i = 0; i < forecasts.size(); ++i) {
    const FabricRow& row = slice.rows[i].first;
    if (row.fits() != (forecasts[i].status == Status::kOk)) out.push_back(row);
  }
  return out;
}

// Facts under every valid combination.
struct FactCounts {
  std::size_t facts = 0;
  std::vector<std::vector<FabricRow>> unmet;  // by combination
};

MemoryExplanation best_of(const std::string& slice, const FactCounts& of, const FactCounts& all,
                          const std::vector<std::vector<std::string>>& combinations) {
  const auto misses = [&](std::size_t c) { return std::pair(of.unmet[c].size(), all.unmet[c].size()); };
  std::size_t best = 0, as_good = 0;
  for (std::size_t c = 1; c < combinations.size(); ++c) {
    if (misses(c) < misses(best)) best = c;
  }
  for (const auto& unmet : of.unmet) as_good += unmet.size() == of.unmet[best].size() ? 1 : 0;
  return {slice, combinations[best], as_good, of.facts, of.unmet[best]};
}

}  // namespace

Overrides overrides_of(const std::vector<Unknown>& alternatives, const std::vector<std::string>& words) {
  Overrides out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const auto& path : alternatives[i].paths) out.push_back(path + "=" + words[i]);
  }
  return out;
}

std::size_t MemoryExplanations::met_by_each() const {
  return std::accumulate(each.begin(), each.end(), std::size_t{0},
                         [](std::size_t sum, const MemoryExplanation& one) { return sum + one.met(); });
}

MemoryExplanations explain_memory(const std::filesystem::path& root, const std::filesystem::path& reference,
                                  const std::function<bool()>& stop) {
  const auto slices = read_fabric_slices(root, reference);
  MemoryExplanations out;
  out.alternatives = choices_of_memory();
  const auto products = products_of(out.alternatives);
  std::vector<Experiment> experiments;
  experiments.reserve(slices.size());
  for (const auto& slice : slices) experiments.push_back(memory_experiment_of(slice));
  Forecaster forecaster(std::move(experiments));

  std::vector<Question> questions;
  for (const auto& words : products) {
    for (std::size_t s = 0; s < slices.size(); ++s) questions.push_back({s, overrides_of(out.alternatives, words)});
  }
  const auto answers = forecaster.ask(questions, stop);
  if (stop && stop()) {
    out.complete = false;
    return out;
  }

  FactCounts all;
  std::vector<FactCounts> by_slice(slices.size());
  for (std::size_t s = 0; s < slices.size(); ++s) {
    all.facts += by_slice[s].facts = slices[s].rows.size();
    for (const auto& [row, candidate] : slices[s].rows) out.fitting += row.fits() ? 1 : 0;
  }
  std::vector<std::vector<std::string>> combinations;
  for (std::size_t c = 0; c < products.size(); ++c) {
    const std::span of_slices(&answers[c * slices.size()], slices.size());
    if (std::any_of(of_slices.begin(), of_slices.end(), [](const auto& answer) { return answer.empty(); })) continue;
    combinations.push_back(products[c]);
    auto& unmet = all.unmet.emplace_back();
    for (std::size_t s = 0; s < slices.size(); ++s) {
      const auto& here = by_slice[s].unmet.emplace_back(unmet_of(slices[s], of_slices[s]));
      unmet.insert(unmet.end(), here.begin(), here.end());
    }
  }
  out.combinations = combinations.size();
  if (combinations.empty()) return out;
  out.all = best_of("", all, all, combinations);
  for (std::size_t s = 0; s < slices.size(); ++s)
    out.each.push_back(best_of(slices[s].name, by_slice[s], all, combinations));
  return out;
}

}  // namespace slmsim
