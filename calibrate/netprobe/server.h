// The other end: listens, and sends and receives what a client asks for.
//
// Protocol, version kProtocol. Every connection opens with one line:
//   slmsim-netprobe VERSION control        answered "welcome TOKEN", "busy" or "version VERSION"
//   slmsim-netprobe VERSION data TOKEN ID  answered "ok"
// On the control connection, one command and one answer at a time; "error TEXT" answers any of them:
//   facts                      "NAME VALUE" lines, then "."
//   ping COUNT                 each of COUNT bytes comes back
//   receive BYTES ID           "ready"; answers the last byte on connection ID with one byte; then "received"
//   send BYTES PAUSE RTT ID    sends on ID after a pause; "sent FIGURES"
//   drain ID...                "ready"; receives until the client aborts them; then "drained"
//   stream WARM SECONDS PACE ID...  sends on all, then aborts them; "streamed FIGURES"
//   close ID                   "closed"
// The first client is served, others meanwhile are "busy". A connection that opens with anything else is closed; one
// that says nothing is closed after kPatience, and so is a client that gives no command for kIdleClient.
#pragma once

#include <string>

#include "calibrate/netprobe/socket.h"

namespace slmsim::calibrate::netprobe {

inline constexpr int kProtocol = 1;
inline constexpr const char* kGreeting = "slmsim-netprobe";
inline constexpr double kIdleClient = 60;  // s

// Serves until the process ends, or one client where `once` is set. Tells on standard error who comes and goes.
void serve(const Descriptor& listener, bool once);

}  // namespace slmsim::calibrate::netprobe
