// The server: listens, and sends and receives at a client's request.
//
// Protocol, version kProtocol. Every connection opens with one line:
//   slmsim-netprobe VERSION control TOKEN  answered "welcome KEY", "refused", "busy" or "version VERSION"
//   slmsim-netprobe VERSION data KEY ID    answered "ok"
// TOKEN is the server's; its user passes it to the client's user. KEY is the session's.
// On the control connection, one command and one answer at a time; "error TEXT" may answer any of them:
//   facts                      "NAME VALUE" lines, then "."
//   ping COUNT                 each of COUNT bytes comes back
//   receive BYTES ID           "ready"; answers the last byte on connection ID with one byte; then "received"
//   send BYTES PAUSE RTT ID    sends on ID after a pause; "sent FIGURES"
//   drain ID...                "ready"; receives until the client aborts them; then "drained"
//   stream WARM SECONDS PACE ID...  sends on all, then aborts them; "streamed FIGURES"
//   close ID                   "closed"
// One client is served at a time; others with the token are "busy". A connection that opens with anything else is closed; so
// are one whose line is not complete after kPatience, and a client that gives no command for kIdleClient.
//
// docs/netprobe.md lists the attackers and attacks that the server must withstand.
#pragma once

#include <string>

#include "calibrate/netprobe/socket.h"

namespace slmsim::calibrate::netprobe {

inline constexpr int kProtocol = 2;
inline constexpr const char* kGreeting = "slmsim-netprobe";
inline constexpr double kIdleClient = 60;  // s
inline constexpr std::size_t kShortestToken = 16, kLongestToken = 64;

struct Limits {
  std::string token;
  int sessions = 1;       // that end as their clients wish; ten times this number may begin
  double seconds = 900;   // per session
  double bytes = 500e9;   // per session, both ways
  double waiting = 3600;  // s without any session
};

// 128 random bits as 32 hexadecimal digits.
std::string new_token();
// Letters, digits, '-', '_' and '.', enough to be unguessable.
bool is_token(const std::string& text);

// Serves until `sessions` are over or no client came for `waiting`. Reports clients on standard error.
void serve(const Descriptor& listener, const Limits& limits);

}  // namespace slmsim::calibrate::netprobe
