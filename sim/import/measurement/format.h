// The formats that profiles are made from: one row each, used by `slmsim import --help`, `slmsim list formats` and "did you
// mean". Each format is one file in this folder.
#pragma once

#include <string>
#include <vector>

#include "sim/import/measurement/csv_columns.h"

namespace slmsim {

struct ImportFormat {
  const char* name;
  const char* about;    // a sentence
  const char* columns;  // contents of a file, as text
  // For tables: the columns of each kind of table, and its reader.
  CsvColumns::Headers headers;
  void (*read_table)(CsvColumns& table, FileRows& rows);
  // For other files.
  void (*read_text)(const InputFile& file, const ImportRequest& request, FileRows& rows, std::vector<Error>& errors);
  // Shorter times measure the host's launches rather than the kernel; zero where the measurement excludes them.
  Seconds least{};
  // Each launch was timed by itself: the shortest time of a table is that of a launch and the wait for it, and every time
  // includes it.
  bool single_launches = false;
};

ImportFormat aceso_format();
ImportFormat aiconfigurator_format();
ImportFormat csv_format();
ImportFormat deepbench_format();
ImportFormat nccl_tests_format();
ImportFormat neusight_format();
ImportFormat nsys_format();
ImportFormat sailor_format();
ImportFormat vidur_format();

const std::vector<ImportFormat>& import_formats();
// Throws InputError where no format has this name.
const ImportFormat& import_format(const std::string& name);

}  // namespace slmsim
