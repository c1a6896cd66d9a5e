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

// Names that messages use for a sweep's journal.
const JournalWords& sweep_words();

// Paths of a result's parts; `output` may be FILE or FILE.csv. Throws InputError where it is or needs a folder.
struct ResultFiles {
  std::filesystem::path csv, json, journal, part;
};
ResultFiles result_files(const std::filesystem::path& output, const Shard& shard);

// Writes both files of one result, under temporary names that are renamed once complete. `journals` hold every point together.
// Throws InputError where they cannot be written. Returns the counts of what was written.
StatusCounts write_result_files(const std::vector<Journal>& journals, const ResultFiles& files);

// The result of a shard: a journal with its records in order.
void write_part(const Journal& journal, const ResultFiles& files);

// Opens the parts of one sweep. Throws InputError where they belong to different sweeps, where two hold the same point, or
// where points are missing.
std::vector<Journal> read_parts(const std::vector<std::filesystem::path>& files);

}  // namespace slmsim
