#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.h"
#include "sim/import/measurement/imported_profile.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

bool is_spread(const std::string& key) { return std::ranges::find(kSpreadKeys, key) != std::end(kSpreadKeys); }

std::string scalar_text(const Node& node) {
  const bool plain = std::ranges::all_of(node.scalar, [](char c) {
    return std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/ ").find(c) !=
           std::string_view::npos;
  });
  return plain && !node.scalar.empty() ? node.scalar : yaml_quoted(node.scalar);
}

std::string map_text(const Node& map) {
  std::string out;
  for (const auto& [key, place, value] : map.entries) {
    if (is_spread(key) || value.kind != Node::Kind::kScalar) continue;
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", key, scalar_text(value));
  }
  return "  - {" + out + "}\n";
}

std::string flash_text(const fs::path& file) {
  ImportRequest request;
  request.where.push_back({"backend", "flash"});
  const ImportedProfile flash = gather(import_format("csv"), {file.string()}, request);
  std::string out;
  for (const auto& [name, by_precision] : flash.points.kernels) {
    for (std::size_t p = 0; p < kPrecisions; ++p) {
      for (const auto& point : by_precision[p])
        out += fmt::format("  - {{kernel: {}, precision: {}, batch: {}, m: {}, n: {}, k: {}, time: {}}}\n", name,
                           precision_names()[p], point.batch, point.m, point.n, point.k,
                           exact_text(point.time.value, Dimension::kTime));
    }
  }
  return out;
}

// The three operators of docs/measuring.md#host, forward and backward, on a host as the software stacks' figures are of.
constexpr double kUsualHost = 3 * (35 + 40);  // us

// Launch time of this machine's host as a factor; empty without a host.csv.
std::string host_text(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return "";
  for (const TableRow& row : read_table(file, {"what", "kernels", "us_per_call"}, "tests/reference/h200/host.csv")) {
    if (row.text("what") == "norm, linear, sum and their backward")
      return fmt::format(
          "host: {:.3g}\n",
          row.number("us_per_call", kHostShare.low * kUsualHost, kHostShare.high * kUsualHost) / kUsualHost);
  }
  return "";
}

}  // namespace

std::string profile_of_folder(const fs::path& folder, const std::string& name, const std::string& command) {
  const Node root = read_yaml(folder / "gpu.yaml");
  Reading reading;
  read_profile(root, "", reading);
  reading.check();
  std::error_code ignored;
  const bool has_flash = fs::exists(folder / "flash.csv", ignored);
  const std::string flash = has_flash ? flash_text(folder / "flash.csv") : "";
  std::string out = fmt::format(
      "# A GPU's profile made by {}\n# from what calibrate/run_on_gpu.sh measured. time: the median of the times of a "
      "size.\n",
      command);
  for (const auto& [key, place, value] : root.entries) {
    if (value.kind == Node::Kind::kScalar)
      out += fmt::format("{}: {}\n", key,
                         key == "name"     ? name
                         : key == "schema" ? value.scalar
                                           : yaml_quoted(value.scalar));
    if (key == "name") out += host_text(folder / "host.csv");
    if (value.kind != Node::Kind::kSequence) continue;
    std::string items;
    for (const auto& item : value.items) {
      if (item.kind == Node::Kind::kMap) items += map_text(item);
    }
    if (key == "kernels") items += flash;
    if (!items.empty()) {
      out += key;
      out += ":\n";
      out += items;
    }
  }
  if (!root.find("kernels") && !flash.empty()) out += "kernels:\n" + flash;
  return out;
}

}  // namespace slmsim
