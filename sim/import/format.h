// The formats that profiles are made from: one row each, read by `slmsim import --help`, `slmsim list formats` and "did
// you mean". Each is one file of this room.
#pragma once

#include <string>
#include <vector>

#include "sim/import/csv_columns.h"

namespace slmsim {

struct ImportFormat {
  const char* name;
  const char* about;    // a sentence
  const char* columns;  // what a file holds, for people
  // Of tables: the columns that each kind of table has, and what reads one.
  CsvColumns::Headers headers;
  void (*read_table)(CsvColumns& table, FileRows& rows);
  // Of anything else.
  void (*read_text)(const InputFile& file, const ImportRequest& request, FileRows& rows, std::vector<Error>& errors);
  // Shorter times tell of the host that launches and not of the kernel; zero where the measurement leaves it out.
  Seconds least{};
  // Each launch was timed by itself: the shortest time of a table is that of a launch and the wait for it, and in all.
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
// Throws InputError where there is none of this name.
const ImportFormat& import_format(const std::string& name);

}  // namespace slmsim
