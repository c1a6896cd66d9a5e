// Transfers that meet many losses, at the mean rate that these lead to.
//
// Where a path loses a segment in 200 or more, windows are a few segments, and a transfer of many windows meets many losses.
// Once slow start has met its first loss, such a transfer is carried at the rate of a sender alone on the path (tcp_sender.h),
// as its mean over many losses, instead of round trip by round trip; SimGrid's engine simulates each loss. Real losses fall at
// random distances, so a time varies by 1 / sqrt(losses); `losses_of` counts them.
#pragma once

#include <optional>

#include "sim/engine/tcp_sender.h"

namespace slmsim {

// Expected losses of a transfer of these bytes on one connection where they are many; 0: each loss is simulated.
double losses_of(const TcpWindow& path, double bytes);

class LossRate {
 public:
  // As TcpSender; `most`: B/s of all connections without losses.
  LossRate(const TcpWindow& path, int connections, double most, double single)
      : path_(path), connections_(connections), most_(most), single_(single) {}

  // B/s of a transfer of these bytes that begins in this state, `idle` seconds after the last byte left; 0 where its losses are
  // simulated. After a pause, a window leaves at once.
  double rate(double bytes, double idle, const TcpState& before);
  // State after such a transfer.
  const TcpState& state() const { return mean_->state; }

 private:
  struct Mean {
    double rate = 0;  // B/s of all connections
    TcpState state;
  };
  Mean alone() const;

  TcpWindow path_;
  int connections_ = 1;
  double most_ = 0, single_ = 0;
  std::optional<Mean> mean_;
};

// Where the path loses too little for any transfer: nothing.
std::optional<LossRate> loss_rate_of(const TcpWindow& path, int connections, double most, double single);

}  // namespace slmsim
