// All-reduces that others measured inside one machine against this program's predictions.
//
// Enters: a CSV table with the columns source, machine, gpus, bytes and seconds; other columns are passed over. Each pair of
// source and machine that is known here stands for a shipped GPU and VM type, which state how the machine is built; the
// first `gpus` of its GPUs take part. Other machines are named and their rows left out.
//
// Some figures of those files are fitted to such tables and say so (`inferred`); so are the default of pcie_share and
// kChannelCopy (sim/nccl/last_copy.cpp). What the tables then tell is whether one figure holds for all sizes and numbers
// of GPUs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/unit.h"
#include "sim/validate/error_summary.h"

namespace slmsim {

struct AllReduceRow {
  std::string source, machine;
  int gpus = 0;
  Bytes size;
  Seconds measured, predicted;

  Judged judged() const { return {measured.value, predicted.value}; }
};

struct AllReduceSummary {
  std::string source, machine, gpu, vm_type;
  int gpus = 0;               // 0: all numbers of them together
  ErrorSummary large, small;  // above 10 MB and up to there
};

struct AllReduceReport {
  std::vector<AllReduceRow> rows;          // as the table has them
  std::vector<AllReduceSummary> machines;  // in the order in which they appear, each with all its numbers of GPUs
  std::vector<std::string> unknown;        // machines that stand for nothing here, each once
};

// Throws InputError with file and line where the table does not read.
AllReduceReport validate_all_reduce(const std::filesystem::path& table);

}  // namespace slmsim
