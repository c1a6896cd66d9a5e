#include "sim/sweep/result.h"

#include <memory>

#include <fmt/format.h>

#include "sim/base/file.h"
#include "sim/sweep/sweep.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const std::string& text) {
  throw InputError(whole_of(file.string()), text);
}

// No other process writes the result while a sweep holds its journal.
constexpr const char* kPartial = ".tmp";

// Counts statuses in lines that json_members writes.
void count_statuses(const std::string& lines, StatusCounts& counts) {
  const std::string key = "\"status\": \"";
  for (auto at = lines.find(key); at != std::string::npos; at = lines.find(key, at)) {
    at += key.size();
    ++counts[lines.substr(at, lines.find('"', at) - at)];
  }
}

const Journal* holder_of(std::uint64_t point, const std::vector<Journal>& journals) {
  for (const auto& journal : journals) {
    if (journal.holds(point)) return &journal;
  }
  return nullptr;
}

}  // namespace

const JournalWords& sweep_words() {
  static const JournalWords kWords = {"sweep", "--output",
                                      "the sweep's file, its scenario, a file these name, --set, --shard"};
  return kWords;
}

ResultFiles result_files(const fs::path& output, const Shard& shard) {
  std::error_code ignored;
  if (fs::is_directory(output, ignored)) fail(output, "this is a folder; name a file in it");
  if (output.has_parent_path() && !fs::is_directory(output.parent_path(), ignored))
    fail(output, fmt::format("there is no folder \"{}\" to write to", output.parent_path().string()));
  const std::string base =
      output.extension() == ".csv" ? fs::path(output).replace_extension().string() : output.string();
  const std::string of = shard.count > 1 ? fmt::format("{}.{}-of-{}", base, shard.index, shard.count) : base;
  return {base + ".csv", base + ".jsonl", of + ".journal", of + ".part"};
}

StatusCounts write_result_files(const std::vector<Journal>& journals, const ResultFiles& files) {
  StatusCounts counts;
  PendingFile csv(files.csv, kPartial), json(files.json, kPartial);
  const JournalOf& of = journals.front().of();
  csv.write(of.header + "\n");
  for (std::uint64_t point = 0; point < of.questions; ++point) {
    const auto rows = holder_of(point, journals)->answer<PointRows>(point);
    csv.write(rows.csv);
    json.write(rows.json);
    count_statuses(rows.json, counts);
  }
  csv.complete();
  json.complete();
  csv.commit();
  json.commit();
  return counts;
}

void write_part(const Journal& journal, const ResultFiles& files) {
  PendingFile part(files.part, kPartial);
  {
    Journal ordered = Journal::open(part.partial(), journal.of(), true);
    for (std::uint64_t point = 0; point < journal.of().questions; ++point) {
      if (journal.holds(point)) ordered.add(point, journal.answer<PointRows>(point));
    }
  }
  part.commit();
}

std::vector<Journal> read_parts(const std::vector<fs::path>& files) {
  std::vector<Journal> parts;
  std::vector<Error> errors;
  const auto blame = [&](const fs::path& file, std::string text) {
    errors.push_back({whole_of(file.string()), std::move(text)});
  };
  for (const auto& file : files) {
    try {
      parts.push_back(Journal::read(file, sweep_words()));
    } catch (const InputError& error) {
      errors.insert(errors.end(), error.errors().begin(), error.errors().end());
    }
  }
  if (!errors.empty()) throw InputError(std::move(errors));
  const JournalOf& first = parts.front().of();
  for (const auto& part : parts) {
    const JournalOf& of = part.of();
    if (of.identity != first.identity || of.questions != first.questions || of.header != first.header)
      blame(part.file(),
            fmt::format("a part of another sweep than {}; all parts need the same sweep, files and version of slmsim",
                        parts.front().file().string()));
    else if (of.shard.count != first.shard.count)
      blame(part.file(), fmt::format("one of {} parts, but {} is one of {}; all parts need the same n of --shard i/n",
                                     of.shard.count, parts.front().file().string(), first.shard.count));
  }
  if (!errors.empty()) throw InputError(std::move(errors));
  std::uint64_t missing = 0, example = 0;
  for (std::uint64_t point = 0; point < first.questions; ++point) {
    std::size_t holders = 0;
    for (const auto& part : parts) holders += part.holds(point) ? 1 : 0;
    if (holders == 0 && missing++ == 0) example = point;
    if (holders > 1) {
      for (const auto& part : parts) {
        if (part.holds(point))
          blame(part.file(), fmt::format("point {} is also in another part; give each part once", point));
      }
      throw InputError(std::move(errors));
    }
  }
  if (missing > 0) {
    throw InputError({},
                     fmt::format("{} of {} points are missing, the first is {}; add the part of --shard {}/{}", missing,
                                 first.questions, example, example % first.shard.count + 1, first.shard.count));
  }
  return parts;
}

}  // namespace slmsim
