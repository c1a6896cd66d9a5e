// Acknowledgements in flight to a sender, by return date.
//
// Acknowledgements clock the departures, so dates often coincide: of two equal consecutive pieces, the first one's
// acknowledgement releases a third one, whose last byte leaves when the second one's acknowledgement returns. These
// dates are sums of the same terms in different order, so rounding errors, or SimGrid's clock, would decide their order
// and thereby the bytes in flight: in slow start, twice that is the limit of the window. Acknowledgements that return
// within the nanosecond are therefore counted before more data leaves. Each stands for those that arrive from then on,
// as the next piece stands for the data that leaves from then on; they replace each other, and the bytes in flight do
// not grow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace slmsim {

class Returns {
 public:
  struct Return {
    double date = 0, bytes = 0;  // s of this run
  };

  using Place = std::vector<Return>::const_iterator;

  bool empty() const { return next_ == all_.size(); }
  const Return& front() const { return all_[next_]; }
  Place begin() const { return all_.begin() + static_cast<std::ptrdiff_t>(next_); }
  Place end() const { return all_.end(); }

  void add(double date, double bytes) {
    Place at = end();
    while (at != begin() && std::prev(at)->date > date) --at;
    all_.insert(at, {date, bytes});
  }

  // Removes acknowledgements that have returned by then, and calls `back` with their bytes and their date, which is not
  // in the future: once per date.
  template <class Back>
  void settle(double now, Back back) {
    constexpr double kTogether = 1e-9;  // s
    while (!empty() && front().date <= now + kTogether) {
      const double date = std::min(front().date, now);
      double bytes = 0;
      for (; !empty() && front().date <= date + kTogether; ++next_) bytes += front().bytes;
      back(bytes, date);
    }
    if (empty()) {
      all_.clear();
      next_ = 0;
    } else if (next_ >= kMostBehind) {
      all_.erase(all_.begin(), begin());
      next_ = 0;
    }
  }

 private:
  static constexpr std::size_t kMostBehind = 64;  // removed entries that are not yet erased

  std::vector<Return> all_;  // from next_ on
  std::size_t next_ = 0;
};

}  // namespace slmsim
