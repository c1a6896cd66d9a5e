// The other end: listens, and sends and receives what a client asks for.
//
// Protocol, version kProtocol. Every connection opens with one line:
//   slmsim-netprobe VERSION control TOKEN  answered "welcome KEY", "refused", "busy" or "version VERSION"
//   slmsim-netprobe VERSION data KEY ID    answered "ok"
// TOKEN is the server's, which its user gives to the client's; KEY is the session's.
// On the control connection, one command and one answer at a time; "error TEXT" answers any of them:
//   facts                      "NAME VALUE" lines, then "."
//   ping COUNT                 each of COUNT bytes comes back
//   receive BYTES ID           "ready"; answers the last byte on connection ID with one byte; then "received"
//   send BYTES PAUSE RTT ID    sends on ID after a pause; "sent FIGURES"
//   drain ID...                "ready"; receives until the client aborts them; then "drained"
//   stream WARM SECONDS PACE ID...  sends on all, then aborts them; "streamed FIGURES"
//   close ID                   "closed"
// One client is served at a time, others with the token meanwhile are "busy". A connection that opens with anything else is
// closed; one whose line is not complete after kPatience is closed, and so is a client that gives no command for kIdleClient.
//
// Whom this must withstand, and what of, is docs/netprobe.md.
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
  int sessions = 1;       // that end as their clients wish; ten times as many may begin
  double seconds = 900;   // of a session
  double bytes = 500e9;   // of a session, both ways
  double waiting = 3600;  // s without any session
};

// 128 random bits as 32 hexadecimal digits.
std::string new_token();
// Letters, digits, '-', '_' and '.', so many that nobody guesses it.
bool is_token(const std::string& text);

// Serves until `sessions` are over or nobody came for `waiting`. Tells on standard error who comes and goes.
void serve(const Descriptor& listener, const Limits& limits);

}  // namespace slmsim::calibrate::netprobe
