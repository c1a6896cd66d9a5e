// Journal of answers: an append-only file, so that an interrupted program leaves all but the last record whole. The parts of a
// sweep also travel between machines in this form.
//
// Format: two lines that identify the work, a line that the caller chooses, then one record per answer: a line with the
// question's number, the sizes of the answer's texts and their hash, the texts, a newline.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/crew/crew.h"

namespace slmsim {

inline constexpr std::uint64_t kMostQuestions = 10'000'000;

// Part i of n has the questions whose number leaves i - 1 when divided by n.
struct Shard {
  std::uint64_t index = 1, count = 1;
  bool holds(std::uint64_t question) const { return question % count == index - 1; }
  bool operator==(const Shard&) const = default;
};

// Names that messages use for the journal's work.
struct JournalWords {
  std::string work;     // "sweep"
  std::string option;   // the option that names the file: "--output"
  std::string decides;  // inputs that identify the work: "the sweep's file, its scenario, ..."
  bool operator==(const JournalWords&) const = default;
};

struct JournalOf {
  JournalWords words;
  std::string identity;  // of the work
  std::uint64_t questions = 0;
  Shard shard;
  std::string header;  // the caller's line: a sweep's columns
  bool operator==(const JournalOf&) const = default;
};

class Journal {
 public:
  // Opens or creates a journal for appending; an incomplete last record is cut off. Throws InputError where another program has
  // it open, where it belongs to another work, or where it cannot be read or written. `restart`: an existing journal is emptied
  // first.
  static Journal open(const std::filesystem::path& file, const JournalOf& of, bool restart);
  // Opens a journal for reading. Throws InputError where it is not a journal or not complete.
  static Journal read(const std::filesystem::path& file, const JournalWords& words);

  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;
  ~Journal();

  const JournalOf& of() const { return of_; }
  const std::filesystem::path& file() const { return file_; }
  bool holds(std::uint64_t question) const { return records_[question].offset != 0; }
  std::uint64_t count() const { return count_; }
  int descriptor() const { return descriptor_; }

  // Throws InputError where the disk is full.
  template <class Answer>
  void add(std::uint64_t question, const Answer& answer) {
    add_texts(question, to_texts(answer));
  }
  // The answer to a question that the journal holds.
  template <class Answer>
  Answer answer(std::uint64_t question) const {
    Answer out;
    from_texts(texts(question), out);
    return out;
  }

 private:
  struct Record {
    std::uint64_t offset = 0;  // of the first text; 0: none
    std::uint32_t first = 0, second = 0;
  };

  Journal(std::filesystem::path file, int descriptor) : file_(std::move(file)), descriptor_(descriptor) {}
  void add_texts(std::uint64_t question, const Texts& answer);
  Texts texts(std::uint64_t question) const;
  std::string first_lines() const;
  // Reads the first lines and all complete records; returns the offset behind them.
  std::uint64_t scan();
  [[noreturn]] void fail(const std::string& text) const;

  std::filesystem::path file_;
  int descriptor_ = -1;
  JournalOf of_;
  std::vector<Record> records_;
  std::uint64_t count_ = 0, end_ = 0;
};

}  // namespace slmsim
