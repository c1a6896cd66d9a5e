#include "sim/predict/row.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/quantity.h"
#include "sim/scenario/group.h"

namespace slmsim {
namespace {

constexpr std::size_t kFirstResult = 7;  // columns before it are known for every prediction

Cell words(const char* column, std::string value) { return {column, std::move(value), false}; }
Cell number(const char* column, double value) { return {column, fmt::format("{:.9g}", value), true}; }
Cell whole(const char* column, double value) { return {column, fmt::format("{:.0f}", value), true}; }

}  // namespace

std::vector<Cell> row_of(const std::string& scenario, const Prediction& p) {
  const auto& b = p.breakdown;
  std::vector<Cell> row = {words("scenario", scenario),
                           words("model", p.model),
                           words("technique", p.technique ? p.technique->name : ""),
                           words("group", fmt::format("{}", fmt::join(in_ranges(p.group), "+"))),
                           whole("gpus", p.gpus),
                           words("status", name_of(p.status)),
                           words("reason", p.reason),
                           number("minutes", p.job.value / 60),
                           number("iteration_s", p.iteration.value),
                           number("first_iteration_s", p.first_iteration.value),
                           whole("iterations", p.iterations),
                           number("tflops_per_gpu", p.rate_per_gpu.value / kTera),
                           number("tflops_total", p.rate_per_gpu.value / kTera * p.gpus),
                           number("gpu_hours", p.gpu_hours()),
                           number("compute_s", b.compute.value),
                           number("exposed_communication_s", b.exposed_communication.value),
                           number("pipeline_bubble_s", b.pipeline_bubble.value),
                           number("optimizer_s", b.optimizer.value),
                           number("overhead_s", b.overhead.value)};
  // After the older columns, whose positions scripts may rely on.
  const auto put_last = [&](const char* column, double value) {
    row.push_back(number(column, value));
    if (!p.is_timed()) row.back().text.clear();
  };
  for (std::size_t i = kFirstResult; !p.is_timed() && i < row.size(); ++i) row[i].text.clear();
  const DeviceMemory* memory = fullest(p.memory);
  row.push_back(whole("memory_bytes", memory ? memory->total().value : 0));
  row.push_back(whole("memory_limit_bytes", memory ? memory->limit.value : 0));
  for (std::size_t i = row.size() - 2; !memory && i < row.size(); ++i) row[i].text.clear();
  put_last("tokens_per_second", p.tokens_per_second);
  put_last("mfu", p.mfu);
  put_last("energy_kwh", p.bill.energy ? p.bill.energy->value / kJoulesPerKwh : 0);
  if (!p.bill.energy) row.back().text.clear();
  put_last("cost", p.bill.cost.value_or(0));
  if (!p.bill.cost) row.back().text.clear();
  row.push_back(words("currency", p.is_timed() && p.bill.cost ? p.bill.currency : ""));
  row.push_back(words("assumed", fmt::format("{}", fmt::join(p.assumed, " "))));
  row.push_back(words("measure", fmt::format("{}", fmt::join(p.measures, ", "))));
  return row;
}

std::vector<Cell> row_without_prediction(const std::string& status, const std::string& reason) {
  std::vector<Cell> row = row_of("", {});
  for (auto& cell : row) {
    const std::string_view column = cell.column;
    cell.text = column == "status" ? status : column == "reason" ? reason : "";
  }
  return row;
}

std::string csv_header() {
  std::string out;
  for (const auto& cell : row_of("", {})) out += fmt::format("{}{}", out.empty() ? "" : ",", cell.column);
  return out;
}

std::string csv_cell(std::string_view text) {
  // A spreadsheet would evaluate it.
  const bool formula =
      !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos && !parse_number(text);
  if (!formula && text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = formula ? "\"'" : "\"";
  for (const char c : text) {
    if (c == '"') out += c;
    out += c;
  }
  return out + "\"";
}

std::string csv_line(const std::vector<Cell>& row) {
  std::string out;
  for (const auto& cell : row) {
    if (&cell != &row.front()) out += ',';
    out += csv_cell(cell.text);
  }
  return out;
}

std::string json_string(std::string_view text) { return nlohmann::json(text).dump(); }

std::string json_members(const std::vector<Cell>& row) {
  std::string out;
  for (const auto& cell : row) {
    if (!out.empty()) out += ", ";
    const std::string value = !cell.is_number ? json_string(cell.text) : cell.text.empty() ? "null" : cell.text;
    out += fmt::format("\"{}\": {}", cell.column, value);
  }
  return out;
}

}  // namespace slmsim
