#include "tests/wan/collective_table.h"

#include <algorithm>

#include "tests/wan/csv.h"
#include "tests/wan/table.h"

namespace slmsim::wan {
namespace {

#define COLUMN(name, member) \
  column<CollectiveRow>(     \
      name, [](CollectiveRow & row) -> auto& { return row.member; })
std::vector<Column<CollectiveRow>> make_columns() {
  std::vector<Column<CollectiveRow>> all = {
      COLUMN("collective", what.collective),
      COLUMN("ranks", what.ranks),
      COLUMN("rtt_ms", what.path.rtt),
      COLUMN("rate_mbps", what.path.rate),
      COLUMN("mtu", what.path.mtu),
      COLUMN("congestion", what.path.congestion),
      COLUMN("wmem", what.path.wmem),
      COLUMN("rmem_initial", what.path.rmem_initial),
      COLUMN("rmem", what.path.rmem),
      COLUMN("bytes", what.path.bytes),
      COLUMN("state", state),
      COLUMN("repeats", repeats),
      COLUMN("median_s", median),
      COLUMN("least_s", least),
      COLUMN("most_s", most),
      COLUMN("path_rtt_ms", path_rtt),
      COLUMN("first_rank_s", first_rank),
      COLUMN("pause_s", pause),
  };
  for (std::size_t i = 0; i < kShares.size(); ++i) {
    all.push_back(column<CollectiveRow>(
        fmt::format("forward_{:.0f}_s", kShares[i] * 100), [i](CollectiveRow & row) -> auto& {
          return row.forward[i];
        }));
  }
  for (std::size_t i = 0; i < kShares.size(); ++i) {
    all.push_back(column<CollectiveRow>(
        fmt::format("backward_{:.0f}_s", kShares[i] * 100), [i](CollectiveRow & row) -> auto& {
          return row.backward[i];
        }));
  }
  return all;
}
#undef COLUMN

const std::vector<Column<CollectiveRow>>& collective_columns() {
  static const auto all = make_columns();
  return all;
}

}  // namespace

CollectiveRow row_of(const CollectiveCase& what, const std::string& state, double path_rtt,
                     const std::vector<CollectiveSample>& samples) {
  const auto middle = [&](auto value) {
    std::vector<double> values;
    for (const auto& sample : samples) values.push_back(value(sample));
    return median(values);
  };
  CollectiveRow row{.what = what, .state = state, .repeats = static_cast<int>(samples.size())};
  row.median = middle([](const auto& s) { return s.seconds; });
  row.first_rank = middle([](const auto& s) { return s.first_rank; });
  row.pause = middle([](const auto& s) { return s.pause; });
  row.path_rtt = path_rtt * 1e3;
  row.least = row.most = samples.front().seconds;
  for (const auto& sample : samples) {
    row.least = std::min(row.least, sample.seconds);
    row.most = std::max(row.most, sample.seconds);
  }
  for (std::size_t i = 0; i < kShares.size(); ++i) {
    row.forward[i] = middle([i](const auto& s) { return s.forward[i]; });
    row.backward[i] = middle([i](const auto& s) { return s.backward[i]; });
  }
  return row;
}

void write_collective_header(std::ostream& out, const std::vector<std::string>& comments) {
  write_csv_header(out, collective_columns(), comments);
}

void write_row(std::ostream& out, const CollectiveRow& row) { write_csv_row(out, collective_columns(), row); }

std::vector<CollectiveRow> read_collectives(std::istream& in) { return read_csv(in, collective_columns()); }

}  // namespace slmsim::wan
