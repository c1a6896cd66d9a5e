// Makes two hosts joined by an emulated wide-area path and keeps them until it is stopped, for any program:
//   wan_relay --rtt 57.4 --rate 300 --loss 1e-5
//   nsenter --net=/proc/PID/fd/N iperf3 -s        (the lines that it prints)
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "tests/wan/relay.h"

int main(int argc, char** argv) {
  using namespace slmsim::wan;
  double rtt = 57.4, jitter = 0, rate = 0, loss = 0, queue = 64, seconds = 0;
  int mtu = 1500;
  std::uint64_t seed = 1;
  CLI::App app{"Two network namespaces joined by an emulated wide-area path"};
  app.add_option("--rtt", rtt, "round trip, ms, half of it per direction")->capture_default_str();
  app.add_option("--jitter", jitter, "added evenly from 0 to this, ms per direction")->capture_default_str();
  app.add_option("--rate", rate, "Mbit/s per direction, 0: none")->capture_default_str();
  app.add_option("--loss", loss, "probability per packet and direction")->capture_default_str();
  app.add_option("--seed", seed, "of loss and jitter")->capture_default_str();
  app.add_option("--queue", queue, "MiB that may wait for the rate")->capture_default_str();
  app.add_option("--mtu", mtu, "bytes")->check(CLI::Range(576, 65535))->capture_default_str();
  app.add_option("--seconds", seconds, "stop after this time, 0: on SIGINT or SIGTERM")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  try {
    const Host a("10.99.0.2", mtu), b("10.99.0.3", mtu);
    Direction forward{rtt / 2e3, jitter / 1e3, rate * 1e6 / 8, loss, seed, std::int64_t(queue * 1048576)};
    Direction backward = forward;
    ++backward.seed;
    Relay relay(a, b, forward, backward);
    for (const Host* host : {&a, &b}) {
      std::printf("%s  nsenter --net=/proc/%d/fd/%d\n", host->address().c_str(), getpid(), host->name_space());
    }
    std::fflush(stdout);
    if (seconds > 0) alarm(static_cast<unsigned>(seconds < 1 ? 1 : seconds));
    int signal = 0;
    sigwait(&signals, &signal);
    relay.stop();
    for (const RelayCount* count : {&relay.forward(), &relay.backward()}) {
      std::printf("%llu packets, %llu bytes, %llu lost, %llu over the queue, at most %.3f ms late\n",
                  static_cast<unsigned long long>(count->packets), static_cast<unsigned long long>(count->bytes),
                  static_cast<unsigned long long>(count->lost), static_cast<unsigned long long>(count->overflowed),
                  count->latest * 1e3);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wan_relay: %s\n", error.what());
    return 1;
  }
}
