// What the FABRIC study says of memory, under each combination of the choices that it leaves open: batch, micro-batches,
// precision, rematerialisation, vocabulary, what ZeRO2 gathers.
//
// Enters: the study's table and scenarios. Leaves: the combination that meets most facts, of fits or does not, of all slices
// together, and of each alone. They are chosen by the facts that they are counted against: it is told how much of the study one
// explanation can hold at best, not how well a slice is predicted, which validate_held_out does.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/fit/unknown.h"
#include "sim/validate/fabric_rows.h"

namespace slmsim {

struct MemoryExplanation {
  std::string slice;               // empty: all of them
  std::vector<std::string> words;  // one of each alternative
  std::size_t as_good = 0;         // combinations that meet as many facts, itself among them
  std::size_t facts = 0;
  std::vector<FabricRow> unmet;

  std::size_t met() const { return facts - unmet.size(); }
};

struct MemoryExplanations {
  std::vector<Unknown> alternatives;
  std::size_t combinations = 0;  // that can be; the others have fewer sequences than micro-batches
  std::size_t fitting = 0;       // facts that who says of everything that it fits would meet
  MemoryExplanation all;
  std::vector<MemoryExplanation> each;
  bool complete = true;

  std::size_t met_by_each() const;  // facts of all slices, each with its own explanation
};

// As --set takes them: each word at all paths of its alternative.
Overrides overrides_of(const std::vector<Unknown>& alternatives, const std::vector<std::string>& words);

// Of combinations that meet as many facts of a slice, the one that meets most of all is taken, then the first. Throws
// InputError.
MemoryExplanations explain_memory(const std::filesystem::path& root, const std::filesystem::path& reference,
                                  const std::function<bool()>& stop = {});

}  // namespace slmsim
