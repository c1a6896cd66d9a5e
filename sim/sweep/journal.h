// The rows of a sweep's points as they come in: a file that only grows, so that whatever ends the program leaves all
// but the last record whole. Also the form in which the parts of a sweep travel between machines.
//
// The file: a line with what it is of, the result's header, then one record per point: a line with number, sizes and
// hash, the CSV lines, the JSON lines, a newline.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/sweep/sweep.h"

namespace slmsim {

// Part i of n takes the points whose number leaves i - 1 when divided by n.
struct Shard {
  std::uint64_t index = 1, count = 1;
  bool holds(std::uint64_t point) const { return point % count == index - 1; }
  bool operator==(const Shard&) const = default;
};

struct JournalOf {
  std::string identity;  // of the sweep
  std::uint64_t points = 0;
  Shard shard;
  std::string header;  // of the result's columns
  bool operator==(const JournalOf&) const = default;
};

class Journal {
 public:
  // Opens or makes the journal of a sweep to add to it; a record that is not whole is cut off. Throws InputError where
  // another program has it open, where it belongs to another sweep, or where it cannot be read or written. `restart`:
  // what it holds is thrown away first.
  static Journal open(const std::filesystem::path& file, const JournalOf& of, bool restart);
  // Opens a journal only to read it. Throws InputError where it is none or not whole.
  static Journal read(const std::filesystem::path& file);

  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;
  ~Journal();

  const JournalOf& of() const { return of_; }
  const std::filesystem::path& file() const { return file_; }
  bool holds(std::uint64_t point) const { return records_[point].offset != 0; }
  std::uint64_t count() const { return count_; }
  int descriptor() const { return descriptor_; }

  void add(std::uint64_t point, const PointRows& rows);  // throws InputError where the disk is full
  PointRows rows(std::uint64_t point) const;             // of a point that it holds

 private:
  struct Record {
    std::uint64_t offset = 0;  // of the CSV lines; 0: not there
    std::uint32_t csv = 0, json = 0;
  };

  Journal(std::filesystem::path file, int descriptor) : file_(std::move(file)), descriptor_(descriptor) {}
  std::string first_lines() const;
  // Reads what the file is of, and all whole records; the offset behind them.
  std::uint64_t scan();
  [[noreturn]] void fail(const std::string& text) const;

  std::filesystem::path file_;
  int descriptor_ = -1;
  JournalOf of_;
  std::vector<Record> records_;
  std::uint64_t count_ = 0, end_ = 0;
};

}  // namespace slmsim
