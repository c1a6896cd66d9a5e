// Published all-reduce times inside one machine, compared with predictions.
//
// Input: a CSV table with the columns source, machine, gpus, bytes and seconds; other columns are ignored. Each known pair of
// source and machine stands for a shipped GPU and VM type, which describe the machine; the first `gpus` of its GPUs take part.
// Rows of other machines are left out, and the machines listed.
//
// Some figures of those files are fitted to such tables and marked `inferred`; so are the default of pcie_share and
// kChannelCopy (sim/collective/ring.cpp). For these, the comparison shows whether one figure holds for all sizes and numbers of
// GPUs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/unit.h"
#include "sim/fit/measured_step.h"

namespace slmsim {

struct AllReduceRow {
  std::string source, machine;
  int gpus = 0;
  Bytes size;
  Seconds measured, predicted;

  Comparison judged() const { return {measured.value, predicted.value}; }
};

struct AllReduceSummary {
  std::string source, machine, gpu, vm_type;
  int gpus = 0;               // 0: all of them together
  ErrorSummary large, small;  // above 10 MB, and up to 10 MB
};

struct AllReduceReport {
  std::vector<AllReduceRow> rows;          // in the table's order
  std::vector<AllReduceSummary> machines;  // in order of appearance, each with all its numbers of GPUs
  std::vector<std::string> unknown;        // unknown machines, each once
};

// Throws InputError with file and line where the table is invalid.
AllReduceReport validate_all_reduce(const std::filesystem::path& table);

}  // namespace slmsim
