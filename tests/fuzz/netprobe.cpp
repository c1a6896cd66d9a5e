// netprobe's wire protocol, by the input's first byte: figures that a server answers with, and a client's commands to a
// session whose other end is gone.
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "calibrate/netprobe/failure.h"
#include "calibrate/netprobe/flow.h"
#include "calibrate/netprobe/session.h"
#include "tests/fuzz/target.h"

namespace slmsim::fuzz {
namespace {

namespace netprobe = calibrate::netprobe;

constexpr double kMostBytes = 1e5;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

void serve(std::string_view commands) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  const std::string text(commands.substr(0, 32768));
  const bool sent = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(ends[1]);
  netprobe::Session session(netprobe::Connection{calibrate::Descriptor{ends[0]}}, "key", kMostBytes);
  if (sent) session.run();
}

void try_netprobe(std::string_view text) {
  if (text.empty()) return;
  const char way = text.front();
  text.remove_prefix(1);
  try {
    if (way % 3 == 0) netprobe::message_from(words_of(text));
    if (way % 3 == 1) netprobe::stream_from(words_of(text));
    if (way % 3 == 2) serve(text);
  } catch (const netprobe::NetworkError&) {
  }
}

const Target kNetprobe("netprobe", try_netprobe);

}  // namespace
}  // namespace slmsim::fuzz
