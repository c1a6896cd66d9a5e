// wan relay: two hosts joined by an emulated wide-area path, for any program, until it is stopped:
//   wan relay --rtt 57.4 --rate 300 --loss 1e-5
//   nsenter --net=/proc/PID/fd/N iperf3 -s        (the lines that it prints)
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <unistd.h>

#include "tests/wan/command.h"
#include "tests/wan/relay.h"

namespace slmsim::wan {
namespace {

struct RelayOptions {
  double rtt = 57.4, jitter = 0, rate = 0, loss = 0, queue = 64, seconds = 0;
  int mtu = 1500;
  std::uint64_t seed = 1;
};

void keep_path(const RelayOptions& options) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const Host a("10.99.0.2", options.mtu), b("10.99.0.3", options.mtu);
  Direction forward{options.rtt / 2e3, options.jitter / 1e3, options.rate * 1e6 / 8,
                    options.loss,      options.seed,         std::int64_t(options.queue * 1048576)};
  Direction backward = forward;
  ++backward.seed;
  Relay relay(a, b, forward, backward);
  for (const Host* host : {&a, &b}) {
    std::printf("%s  nsenter --net=/proc/%d/fd/%d\n", host->address().c_str(), getpid(), host->name_space());
  }
  std::fflush(stdout);
  if (options.seconds > 0) alarm(static_cast<unsigned>(options.seconds < 1 ? 1 : options.seconds));
  int signal = 0;
  sigwait(&signals, &signal);
  relay.stop();
  for (const RelayCount* count : {&relay.forward(), &relay.backward()}) {
    std::printf("%llu packets, %llu bytes, %llu lost, %llu over the queue, at most %.3f ms late\n",
                static_cast<unsigned long long>(count->packets), static_cast<unsigned long long>(count->bytes),
                static_cast<unsigned long long>(count->lost), static_cast<unsigned long long>(count->overflowed),
                count->latest * 1e3);
  }
}

}  // namespace

Command add_relay(CLI::App& app) {
  auto* command = app.add_subcommand("relay", "two network namespaces joined by a path, for other programs");
  auto options = std::make_shared<RelayOptions>();
  RelayOptions& o = *options;
  command->add_option("--rtt", o.rtt, "round trip, ms, half of it per direction")->capture_default_str();
  command->add_option("--jitter", o.jitter, "added evenly from 0 to this, ms per direction")->capture_default_str();
  command->add_option("--rate", o.rate, "Mbit/s per direction, 0: none")->capture_default_str();
  command->add_option("--loss", o.loss, "probability per packet and direction")->capture_default_str();
  command->add_option("--seed", o.seed, "of loss and jitter")->capture_default_str();
  command->add_option("--queue", o.queue, "MiB that may wait for the rate")->capture_default_str();
  command->add_option("--mtu", o.mtu, "bytes")->check(CLI::Range(576, 65535))->capture_default_str();
  command->add_option("--seconds", o.seconds, "stop after this time, 0: on SIGINT or SIGTERM")->capture_default_str();
  return {command, [options](const std::string&) { keep_path(*options); }};
}

}  // namespace slmsim::wan
