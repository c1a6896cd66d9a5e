#include "sim/crew/journal.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/hash.h"

namespace slmsim {
namespace {

constexpr std::string_view kAnyKind = "slmsim-sweep-journal-";  // of any version
constexpr const char* kKind = "slmsim-sweep-journal-2";
constexpr std::uint64_t kMostRecordBytes = 1u << 30;
// Workers of a killed sweep hold its journal for an instant longer.
constexpr int kLockTrials = 40;
constexpr auto kLockPause = std::chrono::milliseconds(50);

// Reads a file from its beginning, in large blocks.
class Reader {
 public:
  explicit Reader(int descriptor) : descriptor_(descriptor) {}
  std::uint64_t offset() const { return offset_; }

  // Reads a line without its newline; false at the end of the file or where the line is too long.
  bool line(std::string& out) {
    constexpr std::size_t kLongest = 1 << 20;
    out.clear();
    for (char c = 0; byte(c) && out.size() < kLongest; out += c) {
      if (c == '\n') return true;
    }
    return false;
  }

  bool bytes(std::uint64_t count, std::string& out) {
    out.clear();
    while (out.size() < count) {
      if (at_ == size_ && !fill()) return false;
      const std::size_t take = std::min<std::size_t>(size_ - at_, count - out.size());
      out.append(buffer_.data() + at_, take);
      at_ += take;
      offset_ += take;
    }
    return true;
  }

 private:
  bool byte(char& c) {
    if (at_ == size_ && !fill()) return false;
    c = buffer_[at_++];
    ++offset_;
    return true;
  }
  bool fill() {
    const ssize_t got = pread(descriptor_, buffer_.data(), buffer_.size(), static_cast<off_t>(offset_));
    at_ = 0;
    size_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    return got > 0;
  }

  int descriptor_;
  std::array<char, 1 << 16> buffer_{};
  std::size_t at_ = 0, size_ = 0;
  std::uint64_t offset_ = 0;
};

// Parses a line of whole numbers in a base.
bool parse_words(const std::string& line, std::initializer_list<std::uint64_t*> out) {
  const char* at = line.data();
  const char* const end = at + line.size();
  for (std::uint64_t* value : out) {
    if (at != line.data() && (at == end || *at++ != ' ')) return false;
    const auto [next, failed] = std::from_chars(at, end, *value);
    if (failed != std::errc{}) return false;
    at = next;
  }
  return at == end;
}

// The hash covers the number too: a record under another number is another record.
std::uint64_t hash_of(std::uint64_t question, const Texts& answer) {
  return fnv1a(answer.second, fnv1a(answer.first, fnv1a(fmt::format("{} {} ", question, answer.first.size()))));
}

// Whether the file is empty or begins as every journal does, so that a restart overwrites no other file.
bool may_be_journal(int descriptor, off_t size) {
  std::string there(std::min<std::size_t>(kAnyKind.size(), static_cast<std::size_t>(size)), '\0');
  return pread(descriptor, there.data(), there.size(), 0) == static_cast<ssize_t>(there.size()) &&
         kAnyKind.starts_with(there);
}

std::string record_head(std::uint64_t question, const Texts& answer) {
  return fmt::format("{} {} {} {}\n", question, answer.first.size(), answer.second.size(), hash_of(question, answer));
}

}  // namespace

Journal::Journal(Journal&& other) noexcept
    : file_(std::move(other.file_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      of_(std::move(other.of_)),
      records_(std::move(other.records_)),
      count_(other.count_),
      end_(other.end_) {}

Journal::~Journal() {
  if (descriptor_ >= 0) close(descriptor_);
}

void Journal::fail(const std::string& text) const { throw InputError(whole_of(file_.string()), text); }

std::string Journal::first_lines() const {
  return fmt::format("{} {}\n{} {} {}\n{}\n", kKind, of_.identity, of_.questions, of_.shard.index, of_.shard.count,
                     of_.header);
}

std::uint64_t Journal::scan() {
  Reader reader(descriptor_);
  std::string line;
  const std::string kind = std::string(kKind) + " ";
  if (!reader.line(line) || !line.starts_with(kind)) fail(fmt::format("not a journal of a {}", of_.words.work));
  of_.identity = line.substr(kind.size());
  const bool numbers = reader.line(line) && parse_words(line, {&of_.questions, &of_.shard.index, &of_.shard.count});
  if (!numbers || of_.questions > kMostQuestions || of_.shard.index < 1 || of_.shard.index > of_.shard.count ||
      !reader.line(of_.header))
    fail(fmt::format("not a journal of a {}: its first lines are damaged", of_.words.work));
  records_.assign(of_.questions, {});
  std::uint64_t whole = reader.offset();
  for (Texts answer; reader.line(line);) {
    std::uint64_t question = 0, first = 0, second = 0, hash = 0;
    std::string newline;
    if (!parse_words(line, {&question, &first, &second, &hash}) || question >= of_.questions ||
        first > kMostRecordBytes || second > kMostRecordBytes)
      break;
    const std::uint64_t offset = reader.offset();
    if (!reader.bytes(first, answer.first) || !reader.bytes(second, answer.second) || !reader.bytes(1, newline)) break;
    if (newline != "\n" || hash_of(question, answer) != hash) break;
    count_ += holds(question) ? 0 : 1;
    records_[question] = {offset, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(second)};
    whole = reader.offset();
  }
  return whole;
}

Journal Journal::open(const std::filesystem::path& file, const JournalOf& of, bool restart) {
  Journal journal(file, ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (journal.descriptor_ < 0)
    journal.fail(fmt::format("the journal cannot be written there: {}", std::strerror(errno)));
  for (int trial = 1; flock(journal.descriptor_, LOCK_EX | LOCK_NB) != 0; ++trial) {
    if (trial == kLockTrials)
      journal.fail(fmt::format("another {} is writing this result; wait for it, or choose another {}", of.words.work,
                               of.words.option));
    std::this_thread::sleep_for(kLockPause);
  }
  struct stat status {};
  const bool read = fstat(journal.descriptor_, &status) == 0;
  if (!read || !S_ISREG(status.st_mode)) journal.fail("not a regular file; a journal must be one");
  if (restart && !may_be_journal(journal.descriptor_, status.st_size))
    journal.fail("this is not a journal; move it away, or choose another " + of.words.option);
  // The first lines are written in one piece; a program that ended before them left nothing to keep.
  const std::string beginning = [&] {
    journal.of_ = of;
    return journal.first_lines();
  }();
  const bool is_new = restart || static_cast<std::size_t>(status.st_size) < beginning.size();
  if (is_new && !restart && status.st_size > 0) {
    std::string there(static_cast<std::size_t>(status.st_size), '\0');
    const bool ours =
        pread(journal.descriptor_, there.data(), there.size(), 0) == status.st_size && beginning.starts_with(there);
    if (!ours) {
      journal.fail(fmt::format("not a journal, or the journal of another {}; move it away{}", of.words.work,
                               may_be_journal(journal.descriptor_, status.st_size) ? ", or give --restart" : ""));
    }
  }
  if (is_new) {
    journal.records_.assign(of.questions, {});
    const bool written =
        ftruncate(journal.descriptor_, 0) == 0 &&
        pwrite(journal.descriptor_, beginning.data(), beginning.size(), 0) == static_cast<ssize_t>(beginning.size());
    if (!written) journal.fail("the journal cannot be written; is the disk full?");
    journal.end_ = beginning.size();
    return journal;
  }
  journal.end_ = journal.scan();
  if (journal.of_ != of) {
    journal.fail(
        fmt::format("this is the journal of another {}: {} or the version of slmsim has changed; undo that to "
                    "continue, or give --restart to start over",
                    of.words.work, of.words.decides));
  }
  if (ftruncate(journal.descriptor_, static_cast<off_t>(journal.end_)) != 0)
    journal.fail("the journal cannot be truncated");
  return journal;
}

Journal Journal::read(const std::filesystem::path& file, const JournalWords& words) {
  Journal journal(file, ::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  journal.of_.words = words;
  struct stat status {};
  if (journal.descriptor_ < 0 || fstat(journal.descriptor_, &status) != 0) journal.fail("no such file");
  if (!S_ISREG(status.st_mode)) journal.fail("not a regular file");
  journal.end_ = journal.scan();
  if (journal.end_ != static_cast<std::uint64_t>(status.st_size)) journal.fail("the file is truncated or damaged");
  return journal;
}

void Journal::add_texts(std::uint64_t question, const Texts& answer) {
  const std::string head = record_head(question, answer);
  const std::string record = head + answer.first + answer.second + "\n";
  for (std::size_t done = 0; done < record.size();) {
    const ssize_t wrote =
        pwrite(descriptor_, record.data() + done, record.size() - done, static_cast<off_t>(end_ + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) fail(fmt::format("the journal cannot be written: {}", std::strerror(errno)));
    done += static_cast<std::size_t>(wrote);
  }
  count_ += holds(question) ? 0 : 1;
  records_[question] = {end_ + head.size(), static_cast<std::uint32_t>(answer.first.size()),
                        static_cast<std::uint32_t>(answer.second.size())};
  end_ += record.size();
}

Texts Journal::texts(std::uint64_t question) const {
  const Record& record = records_[question];
  std::string both(static_cast<std::size_t>(record.first) + record.second, '\0');
  if (pread(descriptor_, both.data(), both.size(), static_cast<off_t>(record.offset)) !=
      static_cast<ssize_t>(both.size()))
    fail("the journal cannot be read");
  return {both.substr(0, record.first), both.substr(record.first)};
}

}  // namespace slmsim
