// The FABRIC study's memory facts under each combination of the choices that it leaves open: batch, micro-batches, precision,
// rematerialisation, vocabulary, the states that ZeRO2 gathers.
//
// Input: the study's table and scenarios. Output: the combination that meets most facts (fits or does not), for all slices
// together and for each alone. Combinations are chosen by the facts that they are counted on: the result is the largest part of
// the study that one explanation can meet, not the accuracy for an unseen slice, which validate_held_out measures.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/fit/unknown.h"
#include "tests/validation/fabric_rows.h"

namespace slmsim {

struct MemoryExplanation {
  std::string slice;               // empty: all of them
  std::vector<std::string> words;  // one of each alternative
  std::size_t as_good = 0;         // combinations that meet the same number of facts, itself included
  std::size_t facts = 0;
  std::vector<FabricRow> unmet;

  std::size_t met() const { return facts - unmet.size(); }
};

struct MemoryExplanations {
  std::vector<Unknown> alternatives;
  std::size_t combinations = 0;  // valid ones; the others have fewer sequences than micro-batches
  std::size_t fitting = 0;       // facts that the answer "everything fits" would meet
  MemoryExplanation all;
  std::vector<MemoryExplanation> each;
  bool complete = true;

  std::size_t met_by_each() const;  // facts of all slices, each with its own explanation
};

// As overrides for --set: each word at all paths of its alternative.
Overrides overrides_of(const std::vector<Unknown>& alternatives, const std::vector<std::string>& words);

// Among combinations that meet the same number of a slice's facts, picks the one that meets most of all slices, then the first.
// Throws InputError.
MemoryExplanations explain_memory(const std::filesystem::path& root, const std::filesystem::path& reference,
                                  const std::function<bool()>& stop = {});

}  // namespace slmsim
