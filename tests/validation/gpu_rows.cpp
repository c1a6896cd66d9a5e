#include "tests/validation/gpu_rows.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/csv.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"
#include "sim/scenario/stack.h"

namespace slmsim {
namespace {

constexpr std::size_t kMostErrors = 20;

// The cells of one row, with their errors.
class GpuRow {
 public:
  GpuRow(const CsvRow& cells, const std::shared_ptr<Source>& file, std::size_t index, std::vector<Error>& errors)
      : cells_(cells), place_{file, static_cast<int>(index) + 2, 1}, errors_(errors) {}

  const std::string& text(const std::string& column) const { return cells_.at(column); }

  double number(const std::string& column, double low, double high) {
    const auto value = parse_number(text(column));
    if (value && *value >= low && *value <= high) return *value;
    error(fmt::format("{}: \"{}\" is {}; expected a number from {:g} to {:g}", column,
                      printable(text(column)).substr(0, 64), value ? "out of range" : "not a number", low, high));
    return low;
  }

  std::int64_t count(const std::string& column) { return static_cast<std::int64_t>(number(column, 1, 1e9)); }
  Seconds seconds() { return Seconds{number("seconds", 1e-9, 1e4)}; }

  std::size_t choice(const std::string& column, const std::vector<std::string>& choices) {
    const auto found = std::find(choices.begin(), choices.end(), text(column));
    if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
    error(fmt::format("{}: there is no \"{}\"; {}", column, printable(text(column)).substr(0, 64),
                      did_you_mean(text(column), choices)));
    return 0;
  }

 private:
  void error(std::string text) {
    if (errors_.size() < kMostErrors) errors_.push_back({place_, std::move(text)});
  }
  const CsvRow& cells_;
  Place place_;
  std::vector<Error>& errors_;
};

template <class Value, class Read>
std::vector<Value> read_rows(const std::filesystem::path& file, const std::vector<std::string>& columns, Read read) {
  const auto source = std::make_shared<Source>(Source{file.string(), ""});
  std::vector<Error> errors;
  std::vector<Value> out;
  const auto table = read_csv_table(file, columns, "a table of times of kernels or operators");
  for (std::size_t i = 0; i < table.size(); ++i) {
    GpuRow row(table[i], source, i, errors);
    out.push_back(read(row));
  }
  if (!errors.empty()) throw InputError(errors);
  return out;
}

}  // namespace

std::vector<OperatorRow> read_operator_rows(const std::filesystem::path& file) {
  const std::vector<std::string> columns = {"gpu",      "precision", "hidden", "heads", "vocabulary",
                                            "sequence", "batch",     "op",     "pass",  "seconds"};
  return read_rows<OperatorRow>(file, columns, [](GpuRow& row) {
    OperatorRow out;
    out.gpu = row.text("gpu");
    out.precision = static_cast<Precision>(row.choice("precision", precision_names()));
    out.model = {.name = "layer",
                 .family = Family::kGpt2,
                 .hidden = row.count("hidden"),
                 .heads = row.count("heads"),
                 .kv_heads = 0,
                 .layers = 1,
                 .sequence = row.count("sequence"),
                 .vocabulary = row.count("vocabulary"),
                 .intermediate = 0,
                 .tied_embedding = true,
                 .dropout = true};
    out.model.kv_heads = out.model.heads;
    out.model.intermediate = 4 * out.model.hidden;
    out.batch = static_cast<int>(row.count("batch"));
    out.op = row.text("op");
    out.forward = row.choice("pass", {"fwd", "bwd"}) == 0;
    out.time = row.seconds();
    return out;
  });
}

std::vector<KernelRow> read_kernel_rows(const std::filesystem::path& file) {
  const std::vector<std::string> columns = {"source", "gpu", "precision", "kernel", "batch", "m", "n", "k", "seconds"};
  return read_rows<KernelRow>(file, columns, [](GpuRow& row) {
    KernelRow out;
    out.source = row.text("source");
    out.gpu = row.text("gpu");
    out.precision = static_cast<Precision>(row.choice("precision", precision_names()));
    out.kernel = {row.text("kernel"), row.count("batch"), row.count("m"), row.count("n"), row.count("k")};
    out.time = row.seconds();
    return out;
  });
}

std::filesystem::path NamedFiles::find(const std::string& folder, const std::string& name) const {
  std::error_code ignored;
  for (const auto& root : roots_) {
    auto file = root / folder / (name + ".yaml");
    if (is_name(name) && std::filesystem::exists(file, ignored)) return file;
  }
  throw InputError({}, fmt::format("there is no {}/{}.yaml", folder, printable(name).substr(0, 64)));
}

const Gpu& NamedFiles::gpu(const std::string& name) {
  const auto known = gpus_.find(name);
  if (known != gpus_.end()) return known->second;
  Reading reading;
  Gpu gpu = read_gpu(read_yaml(find(kGpuFile.folder, name)), "", reading);
  reading.check();
  gpu.sustained = 1;  // rows are kernels timed alone
  return gpus_.emplace(name, std::move(gpu)).first->second;
}

Software NamedFiles::stack(const std::string& name) const {
  Reading reading;
  Software software;
  read_stack(read_yaml(find(kStackFile.folder, name)), "", reading, software);
  reading.check();
  return software;
}

}  // namespace slmsim
