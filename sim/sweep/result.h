// A sweep's result from its journals: FILE.csv and FILE.jsonl, in the order of the points.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sim/crew/journal.h"

namespace slmsim {

// Rows by their status: "ok", "oom", "invalid", ...
using StatusCounts = std::map<std::string, std::uint64_t>;

// How messages speak of a sweep's journal.
const JournalWords& sweep_words();

// Where the parts of a result lie; `output` may be FILE or FILE.csv. Throws InputError where it is or needs a folder.
struct ResultFiles {
  std::filesystem::path csv, json, journal, part;
};
ResultFiles result_files(const std::filesystem::path& output, const Shard& shard);

// Both files of one result; they are written under temporary names and renamed once they are complete. `journals`
// hold every point together. Throws InputError where they cannot be written. What was written is counted.
StatusCounts write_result_files(const std::vector<Journal>& journals, const ResultFiles& files);

// What a shard leaves: a journal whose records are in order.
void write_part(const Journal& journal, const ResultFiles& files);

// Opens the parts of one sweep. Throws InputError where they are of different sweeps, where two hold a point, or where
// points are missing.
std::vector<Journal> read_parts(const std::vector<std::filesystem::path>& files);

}  // namespace slmsim
