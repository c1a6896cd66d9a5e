// Acknowledgements on their way back to a sender, by the date at which they are back.
//
// Acknowledgements clock what leaves, so that dates meet whatever the figures are: of two equal pieces that left one after the
// other, the first one's acknowledgement lets a third one go, whose last byte leaves as the second one's acknowledgement is back.
// Their dates are sums of the same figures in another order, and the last digit, or SimGrid's clock, would say which comes first,
// and with it how much seems to be on its way at once: in slow start, twice that is the widest the window becomes. So what is
// back by the nanosecond counts before more leaves. The acknowledgement stands for those that come from then on, as the next
// piece stands for what leaves from then on; they take each other's place, and no more is on its way than before.
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

  // Takes out what is back by then, and calls `back` with its bytes and its date, which is none to come: once for all that is
  // back at one date.
  template <class Back>
  void settle(double now, Back back) {
    constexpr double kTogether = 1e-9;  // s
    while (!empty() && front().date <= now + kTogether) {
      const double date = std::min(front().date, now);
      double bytes = 0;
      for (; !empty() && front().date <= date + kTogether; ++next_) bytes += front().bytes;
      back(bytes, date);
    }
    if (!empty() && next_ < kMostBehind) return;
    all_.erase(all_.begin(), begin());
    next_ = 0;
  }

 private:
  static constexpr std::size_t kMostBehind = 64;  // taken out and not yet cleared away

  std::vector<Return> all_;  // from next_ on
  std::size_t next_ = 0;
};

}  // namespace slmsim
