#include "sim/sweep/journal.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/sweep/hash.h"

namespace slmsim {
namespace {

constexpr const char* kKind = "slmsim-sweep-journal-1";
constexpr std::uint64_t kMostRecordBytes = 1u << 30;
// Workers of a sweep that was killed hold its journal for an instant longer.
constexpr int kLockTrials = 40;
constexpr auto kLockPause = std::chrono::milliseconds(50);

// Reads a file from its beginning, in large pieces.
class Reader {
 public:
  explicit Reader(int descriptor) : descriptor_(descriptor) {}
  std::uint64_t offset() const { return offset_; }

  // A line without its newline; false at the end of the file or where no line ends within reason.
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

// The words of a line that all are whole numbers in a base.
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

std::string record_head(std::uint64_t point, const PointRows& rows) {
  const std::uint64_t hash = fnv1a(rows.json, fnv1a(rows.csv));
  return fmt::format("{} {} {} {}\n", point, rows.csv.size(), rows.json.size(), hash);
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

void Journal::fail(const std::string& text) const {
  throw InputError(Place{std::make_shared<Source>(Source{file_.string(), ""}), 0, 0}, text);
}

std::string Journal::first_lines() const {
  return fmt::format("{} {}\n{} {} {}\n{}\n", kKind, of_.identity, of_.points, of_.shard.index, of_.shard.count,
                     of_.header);
}

std::uint64_t Journal::scan() {
  Reader reader(descriptor_);
  std::string line;
  const std::string kind = std::string(kKind) + " ";
  if (!reader.line(line) || !line.starts_with(kind)) fail("this is no journal of a sweep");
  of_.identity = line.substr(kind.size());
  const bool numbers = reader.line(line) && parse_words(line, {&of_.points, &of_.shard.index, &of_.shard.count});
  if (!numbers || of_.points > kMostPoints || of_.shard.index < 1 || of_.shard.index > of_.shard.count ||
      !reader.line(of_.header))
    fail("this is no journal of a sweep: its first lines are broken");
  records_.assign(of_.points, {});
  std::uint64_t whole = reader.offset();
  for (PointRows rows; reader.line(line);) {
    std::uint64_t point = 0, csv = 0, json = 0, hash = 0;
    std::string newline;
    if (!parse_words(line, {&point, &csv, &json, &hash}) || point >= of_.points || csv > kMostRecordBytes ||
        json > kMostRecordBytes)
      break;
    const std::uint64_t offset = reader.offset();
    if (!reader.bytes(csv, rows.csv) || !reader.bytes(json, rows.json) || !reader.bytes(1, newline)) break;
    if (newline != "\n" || fnv1a(rows.json, fnv1a(rows.csv)) != hash) break;
    count_ += holds(point) ? 0 : 1;
    records_[point] = {offset, static_cast<std::uint32_t>(csv), static_cast<std::uint32_t>(json)};
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
      journal.fail("another sweep is writing this result; wait for it, or choose another --output");
    std::this_thread::sleep_for(kLockPause);
  }
  struct stat status {};
  const bool read = fstat(journal.descriptor_, &status) == 0;
  if (!read || !S_ISREG(status.st_mode)) journal.fail("not a regular file; a journal is one");
  // The first lines are written in one piece; a program that ended before left nothing worth keeping.
  const std::string beginning = [&] {
    journal.of_ = of;
    return journal.first_lines();
  }();
  const bool is_new = restart || static_cast<std::size_t>(status.st_size) < beginning.size();
  if (is_new && !restart && status.st_size > 0) {
    std::string there(static_cast<std::size_t>(status.st_size), '\0');
    const bool ours =
        pread(journal.descriptor_, there.data(), there.size(), 0) == status.st_size && beginning.starts_with(there);
    if (!ours) journal.fail("this is another file, or the journal of another sweep; move it away, or give --restart");
  }
  if (is_new) {
    journal.records_.assign(of.points, {});
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
        "this is the journal of another sweep: the sweep's file, its scenario, a file these name, --set, --shard or "
        "the "
        "version of slmsim has changed; undo that to continue, or give --restart to begin anew");
  }
  if (ftruncate(journal.descriptor_, static_cast<off_t>(journal.end_)) != 0) journal.fail("the journal cannot be cut");
  return journal;
}

Journal Journal::read(const std::filesystem::path& file) {
  Journal journal(file, ::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (journal.descriptor_ < 0 || fstat(journal.descriptor_, &status) != 0) journal.fail("no such file");
  if (!S_ISREG(status.st_mode)) journal.fail("not a regular file");
  journal.end_ = journal.scan();
  if (journal.end_ != static_cast<std::uint64_t>(status.st_size)) journal.fail("the file is cut off or damaged");
  return journal;
}

void Journal::add(std::uint64_t point, const PointRows& rows) {
  const std::string head = record_head(point, rows);
  const std::string record = head + rows.csv + rows.json + "\n";
  for (std::size_t done = 0; done < record.size();) {
    const ssize_t wrote =
        pwrite(descriptor_, record.data() + done, record.size() - done, static_cast<off_t>(end_ + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) fail(fmt::format("the journal cannot be written: {}", std::strerror(errno)));
    done += static_cast<std::size_t>(wrote);
  }
  count_ += holds(point) ? 0 : 1;
  records_[point] = {end_ + head.size(), static_cast<std::uint32_t>(rows.csv.size()),
                     static_cast<std::uint32_t>(rows.json.size())};
  end_ += record.size();
}

PointRows Journal::rows(std::uint64_t point) const {
  const Record& record = records_[point];
  std::string both(static_cast<std::size_t>(record.csv) + record.json, '\0');
  if (pread(descriptor_, both.data(), both.size(), static_cast<off_t>(record.offset)) !=
      static_cast<ssize_t>(both.size()))
    fail("the journal cannot be read");
  return {both.substr(0, record.csv), both.substr(record.csv)};
}

}  // namespace slmsim
