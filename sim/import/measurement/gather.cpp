#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"
#include "sim/import/measurement/imported_profile.h"
#include "sim/import/measurement/plausible.h"

namespace slmsim {
namespace {

constexpr const char* kTooFast = "faster than possible";
constexpr std::size_t kMostNames = 40;  // kernel names unknown to slmsim that are listed

struct ReadFile {
  InputFile file;
  FileRows rows;
};

std::string wrong_header(const ImportFormat& format, const std::vector<std::string>& found) {
  for (const auto& other : import_formats()) {
    for (const auto& header : other.headers) {
      const bool fits =
          std::ranges::all_of(header, [&](const auto& name) { return std::ranges::find(found, name) != found.end(); });
      if (fits) return fmt::format("the columns are those of the format {}; import it as that", other.name);
    }
  }
  std::vector<std::string> wanted;
  for (const auto& header : format.headers) wanted.push_back(fmt::format("{}", fmt::join(header, ", ")));
  return fmt::format("no header of the format {}; columns {} are expected", format.name, fmt::join(wanted, "; or "));
}

void read_file(const ImportFormat& format, const ImportRequest& request, ReadFile& into, std::vector<Error>& errors) {
  if (format.read_text) return format.read_text(into.file, request, into.rows, errors);
  CsvColumns table(into.file, format.headers, request, into.rows, errors);
  if (table.form())
    format.read_table(table, into.rows);
  else
    errors.push_back({into.file.at(1), wrong_header(format, table.names())});
}

std::vector<ReadFile> read_files(const ImportFormat& format, const std::vector<std::string>& files,
                                 const ImportRequest& request) {
  std::vector<ReadFile> read;
  std::vector<Error> errors;
  for (const auto& path : files) {
    try {
      read.push_back({read_input_file(path), {}});
      read_file(format, request, read.back(), errors);
    } catch (const InputError& error) {
      errors.insert(errors.end(), error.errors().begin(), error.errors().end());
    }
  }
  if (!errors.empty()) throw InputError(std::move(errors));
  return read;
}

// The GPU whose times are used, for kernels or for collectives. Nothing where there are no times.
template <class Times>
std::optional<std::string> one_gpu(const std::vector<ReadFile>& files, Times FileRows::*times,
                                   const ImportRequest& request, const std::vector<std::string>& gpu_names) {
  std::map<std::string, std::size_t> found;
  for (const auto& [file, rows] : files) {
    for (const auto& one : rows.*times) ++found[one.gpu];
  }
  for (const auto& [column, value] : request.where) {
    if (column != "gpu") continue;
    if (found.contains(value)) return value;
    if (found.size() == 1 && found.contains("")) return "";  // a column of the table named it, and chose the rows
  }
  if (found.empty()) return std::nullopt;
  if (found.size() == 1 && request.where.empty()) return found.begin()->first;
  for (const auto& name : gpu_names) {
    if (found.contains(name)) return name;
  }
  std::vector<std::string> choices;
  choices.reserve(found.size());
  for (const auto& [gpu, count] : found)
    choices.push_back(
        fmt::format("\"{}\" ({} times)", gpu.empty() ? "not named" : printable(gpu).substr(0, 64), count));
  if (choices.size() > 20) choices.resize(20);
  const bool asked = std::ranges::any_of(request.where, [](const auto& c) { return c.column == "gpu"; });
  if (found.size() == 1 && !asked) return found.begin()->first;
  throw InputError({}, fmt::format("the tables hold {} GPU{}{}; choose one with --where gpu=NAME: {}", found.size(),
                                   found.size() == 1 ? "" : "s", asked ? ", none of them the requested one" : "",
                                   fmt::join(choices, ", ")));
}

Seconds median_of(std::vector<TimedRow>& rows) {
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.time < b.time; });
  const std::size_t half = rows.size() / 2;
  return rows.size() % 2 == 1 ? rows[half].time : (rows[half - 1].time + rows[half].time) / 2;
}

// For kernels other than products tf32 is fp32.
std::size_t place_of(Precision precision, const std::string& kernel) {
  const bool fp32 = precision == Precision::kTf32 && !is_product(kernel);
  return static_cast<std::size_t>(fp32 ? Precision::kFp32 : precision);
}

class Gathering {
 public:
  Gathering(const ImportFormat& format, const ImportRequest& request, const Gpu* gpu)
      : format_(format), least_(request.least.value_or(format.least)), plausibility_(gpu) {}

  void take_off_launches(const std::vector<ReadFile>& files, const std::string& gpu);
  void add(ReadFile& read, const std::string& gpu, const std::string& machine);
  ImportedProfile finish();

 private:
  bool take(const KernelTime& one, const std::string& gpu, const InputFile& file, FileRows& rows);
  bool take(const CollectiveTime& one, const std::string& machine, const InputFile& file, FileRows& rows);

  const ImportFormat& format_;
  Seconds least_, launch_;
  ImportedProfile out_;
  std::map<std::pair<KernelShape, std::size_t>, std::vector<TimedRow>> kernels_;
  std::map<std::tuple<std::string, std::int64_t, std::int64_t, double>, std::vector<TimedRow>> collectives_;
  Plausibility plausibility_;
  std::set<std::string> remarks_;
};

// A launch timed by PyTorch or CUDA events took 24 to 32 us on the measured GPUs.
void Gathering::take_off_launches(const std::vector<ReadFile>& files, const std::string& gpu) {
  constexpr Seconds kLongestLaunch{50e-6};
  Seconds shortest = kLongestLaunch;
  for (const auto& [file, rows] : files) {
    for (const auto& one : rows.kernels) {
      if (one.gpu == gpu) shortest = std::min(shortest, one.time);
    }
  }
  if (shortest < kLongestLaunch) launch_ = shortest;
  remarks_.insert(launch_ > Seconds{0}
                      ? fmt::format("each launch was timed by itself: the shortest time, {}, is subtracted from all",
                                    to_text(launch_))
                      : "each launch was timed by itself, but no time is short enough to show the launch time: the "
                        "times include it");
}

bool Gathering::take(const KernelTime& one, const std::string& gpu, const InputFile& file, FileRows& rows) {
  if (one.gpu != gpu) return rows.leave_out("of another GPU"), false;
  if (one.time < least_) return rows.leave_out(fmt::format("shorter than {}", to_text(least_))), false;
  if (one.time <= launch_) return rows.leave_out("not longer than a launch"), false;
  for (const auto& shape : one.shapes) {
    if (is_kernel(shape.name)) continue;
    return ++rows.unknown[shape.name], false;
  }
  if (!plausibility_.admit(one, file)) return rows.leave_out(kTooFast), false;
  const Seconds part = (one.time - launch_) / static_cast<double>(one.shapes.size());
  for (const auto& shape : one.shapes)
    kernels_[{shape, place_of(one.precision, shape.name)}].push_back({part, &file, one.line});
  return true;
}

bool Gathering::take(const CollectiveTime& one, const std::string& machine, const InputFile& file, FileRows& rows) {
  if (one.gpu != machine) return rows.leave_out("of another GPU"), false;
  if (one.ranks < 2) return rows.leave_out("of one GPU, which exchanges nothing"), false;
  if (!plausibility_.admit(one, file)) return rows.leave_out(kTooFast), false;
  collectives_[{one.name, one.ranks, one.hosts, one.size.value}].push_back({one.time, &file, one.line});
  return true;
}

void Gathering::add(ReadFile& read, const std::string& gpu, const std::string& machine) {
  ImportSource source{read.rows.collectives.empty() ? "kernels" : "collectives", read.file.path(), format_.name, 0, {}};
  for (const auto& one : read.rows.kernels) source.taken += take(one, gpu, read.file, read.rows);
  for (const auto& one : read.rows.collectives) source.taken += take(one, machine, read.file, read.rows);
  if (!read.rows.unknown.empty()) {
    std::size_t times = 0;
    std::vector<std::string> names;
    for (const auto& [name, count] : read.rows.unknown) {
      times += count;
      if (names.size() < kMostNames) names.push_back(fmt::format("{} {}", count, printable(name).substr(0, 48)));
    }
    if (names.size() < read.rows.unknown.size()) names.emplace_back("and others");
    read.rows.leave_out(fmt::format("of operators without a kernel in slmsim ({})", fmt::join(names, ", ")), times);
  }
  source.left_out.insert(source.left_out.end(), read.rows.left_out.begin(), read.rows.left_out.end());
  std::ranges::stable_sort(source.left_out, [](const auto& a, const auto& b) { return a.second > b.second; });
  if (source.taken > 0) remarks_.insert(read.rows.remarks.begin(), read.rows.remarks.end());
  out_.sources.push_back(std::move(source));
}

ImportedProfile Gathering::finish() {
  const auto implausible = plausibility_.finish();
  Disagreement disagreement;
  for (auto& [key, times] : kernels_) {
    const auto& [shape, precision] = key;
    out_.points.kernels[shape.name][precision].push_back({shape.batch, shape.m, shape.n, shape.k, median_of(times)});
    disagreement.add(fmt::format("{} {} {}x{}x{}x{}", shape.name, precision_names()[precision], shape.batch, shape.m,
                                 shape.n, shape.k),
                     times);
  }
  for (auto& [key, times] : collectives_) {
    const auto& [name, ranks, hosts, size] = key;
    out_.collectives.push_back({"", name, ranks, hosts, Bytes{size}, median_of(times)});
    disagreement.add(fmt::format("{} of {:.0f} B over {} GPUs", name, size, ranks), times);
  }
  out_.remarks.assign(remarks_.begin(), remarks_.end());
  for (const auto& remarks : {implausible, disagreement.remarks()})
    out_.remarks.insert(out_.remarks.end(), remarks.begin(), remarks.end());
  return std::move(out_);
}

// Reports why nothing is left, from all files.
[[noreturn]] void nothing_taken(const std::vector<ReadFile>& files, const std::vector<ImportSource>& sources) {
  std::vector<Error> errors;
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::vector<std::string> reasons;
    for (const auto& [why, times] : sources[i].left_out) reasons.push_back(fmt::format("{} {}", times, why));
    if (reasons.size() > 8) reasons.resize(8);
    std::string text = reasons.empty()
                           ? "the table has no rows; times are expected"
                           : fmt::format("none of its times can be used; left out are {}", fmt::join(reasons, ", "));
    for (const auto& [column, values] : files[i].rows.not_chosen)
      text +=
          fmt::format("; {} is one of {}", printable(column), printable(fmt::format("{}", fmt::join(values, ", "))));
    errors.push_back({files[i].file.at(0, 0), text});
  }
  throw InputError(std::move(errors));
}

constexpr std::size_t kMostReasons = 12;  // per file; the others are counted

std::string reasons_of(const ImportSource& source) {
  std::vector<std::string> reasons;
  std::size_t others = 0;
  for (const auto& [why, times] : source.left_out) {
    if (reasons.size() < kMostReasons)
      reasons.push_back(fmt::format("{} {}", times, why));
    else
      others += times;
  }
  if (others > 0) reasons.push_back(fmt::format("{} for other reasons", others));
  return fmt::format("{}", fmt::join(reasons, "; "));
}

std::string bytes_text(Bytes size) { return fmt::format("{:.0f} B", size.value); }

}  // namespace

std::size_t ImportSource::times() const {
  return std::accumulate(left_out.begin(), left_out.end(), taken,
                         [](std::size_t sum, const auto& one) { return sum + one.second; });
}

std::size_t points_of(const GpuProfile& profile) {
  std::size_t points = 0;
  for (const auto& [name, by_precision] : profile.kernels) {
    for (const auto& series : by_precision) points += series.size();
  }
  return points;
}

ImportedProfile gather(const ImportFormat& format, const std::vector<std::string>& files, const ImportRequest& request,
                       const Gpu* asked) {
  const auto gpu_names = asked ? std::vector<std::string>{asked->name, asked->title} : std::vector<std::string>();
  auto read = read_files(format, files, request);
  const auto gpu = one_gpu(read, &FileRows::kernels, request, gpu_names);
  const auto machine = one_gpu(read, &FileRows::collectives, request, gpu_names);
  Gathering gathering(format, request, asked);
  if (format.single_launches && gpu) gathering.take_off_launches(read, *gpu);
  for (auto& one : read) gathering.add(one, gpu.value_or(""), machine.value_or(""));
  ImportedProfile profile = gathering.finish();
  if (profile.points.kernels.empty() && profile.collectives.empty()) nothing_taken(read, profile.sources);
  profile.gpu = gpu.value_or(machine.value_or(""));
  return profile;
}

std::string to_yaml(const ImportedProfile& profile) {
  std::string out =
      "# A GPU's profile made by slmsim import from measurements of others; `sources` lists them and the times left "
      "out.\n"
      "# time: the median of the times of a size.\n"
      "schema: slmsim/gpu-profile/1\n";
  out += fmt::format("name: {}\n", profile.name);
  if (!profile.gpu.empty()) out += fmt::format("gpu: {}\n", yaml_quoted(profile.gpu));
  out += fmt::format("command: {}\n", yaml_quoted(profile.command));
  out += "sources:\n";
  for (const auto& source : profile.sources) {
    out += fmt::format("  - {{section: {}, file: {}, format: {}, times: {}, taken: {}", source.section,
                       yaml_quoted(source.file), source.format, source.times(), source.taken);
    if (!source.left_out.empty()) out += fmt::format(", left_out: {}", yaml_quoted(reasons_of(source)));
    out += "}\n";
  }
  if (!profile.remarks.empty()) out += "remarks:\n";
  for (const auto& remark : profile.remarks) out += fmt::format("  - {}\n", yaml_quoted(remark));
  if (!profile.points.kernels.empty()) out += "kernels:\n";
  for (const auto& [name, by_precision] : profile.points.kernels) {
    for (std::size_t p = 0; p < kPrecisions; ++p) {
      for (const auto& point : by_precision[p]) {
        out += fmt::format("  - {{kernel: {}, precision: {}, batch: {}, m: {}, n: {}, k: {}, time: {}}}\n", name,
                           precision_names()[p], point.batch, point.m, point.n, point.k,
                           exact_text(point.time.value, Dimension::kTime));
      }
    }
  }
  if (!profile.collectives.empty()) out += "collectives:\n";
  for (const auto& one : profile.collectives) {
    out += fmt::format("  - {{collective: {}, ranks: {}, hosts: {}, size: {}, time: {}}}\n", one.name, one.ranks,
                       one.hosts, bytes_text(one.size), exact_text(one.time.value, Dimension::kTime));
  }
  return out;
}

std::string to_summary(const ImportedProfile& profile) {
  std::string out = fmt::format("{}: {} kernels, {} collectives\n", profile.name, points_of(profile.points),
                                profile.collectives.size());
  for (const auto& source : profile.sources) {
    out += fmt::format("{}: {} of {} times taken", printable(source.file), source.taken, source.times());
    if (!source.left_out.empty()) out += fmt::format("; left out: {}", reasons_of(source));
    out += "\n";
  }
  for (const auto& remark : profile.remarks) out += fmt::format("- {}\n", printable(remark));
  return out;
}

}  // namespace slmsim
