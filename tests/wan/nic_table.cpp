#include "tests/wan/nic_table.h"

#include <algorithm>

#include "tests/wan/csv.h"

namespace slmsim::wan {
namespace {

constexpr double kMegabit = 1e6 / 8;  // B

#define COLUMN(name, member) \
  column<SharingRow>(        \
      name, [](SharingRow & row) -> auto& { return row.member; })
const std::vector<Column<SharingRow>>& sharing_columns() {
  static const std::vector<Column<SharingRow>> all = {
      COLUMN("queueing", what.queueing),
      COLUMN("rate_mbps", what.rate),
      COLUMN("near_rtt_ms", what.near_rtt),
      COLUMN("far_rtt_ms", what.far_rtt),
      COLUMN("near_connections", what.near_connections),
      COLUMN("far_connections", what.far_connections),
      COLUMN("wmem", what.wmem),
      COLUMN("rmem", what.rmem),
      COLUMN("repeats", repeats),
      COLUMN("near_mbps", near),
      COLUMN("far_mbps", far),
      COLUMN("far_least_mbps", far_least),
      COLUMN("far_most_mbps", far_most),
      COLUMN("far_ping_ms", far_ping),
      COLUMN("dropped", dropped),
  };
  return all;
}
#undef COLUMN

}  // namespace

SharingRow row_of(const Sharing& what, const std::vector<Shares>& samples) {
  const auto sorted = [&](double Shares::*member) {
    std::vector<double> values;
    for (const auto& sample : samples) values.push_back(sample.*member);
    std::sort(values.begin(), values.end());
    return values;
  };
  const auto near = sorted(&Shares::near), far = sorted(&Shares::far);
  const std::size_t half = samples.size() / 2;
  SharingRow row{.what = what, .repeats = static_cast<int>(samples.size())};
  row.near = near[half] / kMegabit;
  row.far = far[half] / kMegabit;
  row.far_least = far.front() / kMegabit;
  row.far_most = far.back() / kMegabit;
  row.far_ping = sorted(&Shares::far_ping).front() * 1e3;
  for (const auto& sample : samples) row.dropped += sample.dropped;
  return row;
}

void write_sharing_header(std::ostream& out, const std::vector<std::string>& comments) {
  write_csv_header(out, sharing_columns(), comments);
}

void write_row(std::ostream& out, const SharingRow& row) { write_csv_row(out, sharing_columns(), row); }

std::vector<SharingRow> read_sharing(std::istream& in) { return read_csv(in, sharing_columns()); }

}  // namespace slmsim::wan
