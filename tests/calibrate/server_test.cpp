// Client and server over loopback: what they say, not how long it takes.
#include "calibrate/netprobe/server.h"

#include <sys/socket.h>
#include <thread>

#include <gmock/gmock.h>

#include "calibrate/netprobe/failure.h"
#include "calibrate/netprobe/wire.h"

namespace slmsim::calibrate::netprobe {
namespace {

using testing::HasSubstr;

// A server for one client, on a port of its own; the last client of each test ends it.
class Served : public testing::Test {
 protected:
  Served()
      : listener_(listen_on("127.0.0.1", 0)), port_(port_of(listener_)), thread_([this] { serve(listener_, true); }) {}
  ~Served() override { thread_.join(); }

  std::string refusal() const {
    try {
      Client client("127.0.0.1", port_);
    } catch (const NetworkError& error) {
      return error.what();
    }
    return "";
  }

  Descriptor listener_;
  int port_;
  std::thread thread_;
};

TEST_F(Served, MeasuresBothWays) {
  Client client("127.0.0.1", port_);
  const Hosts hosts = client.hosts();
  EXPECT_EQ(hosts.client_address, "127.0.0.1");
  EXPECT_EQ(hosts.server_address, "127.0.0.1");
  EXPECT_EQ(hosts.server, hosts.client);  // it is one machine
  const Wire wire = client.wire();
  EXPECT_EQ(wire.ping(11).size(), 10);
  EXPECT_GT(wire.kernel_rtt(), 0);
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    const Message cold = wire.cold(direction, 1e6);
    EXPECT_GT(cold.seconds, 0);
    EXPECT_GE(cold.initial_window, 1);
    EXPECT_GE(cold.segments, 1e6 / 65536);
    EXPECT_EQ(cold.pause, 0);
    const Message idle = wire.idle(direction, 1e6, 1.5, 1e5);
    EXPECT_GE(idle.pause, 1.5 * 0.2);  // Linux' least time-out is 200 ms
    const Stream stream = wire.stream(direction, 2, 0.1, 0.2, 0);
    EXPECT_GE(stream.seconds, 0.2);
    EXPECT_GT(stream.bytes, stream.first_half);
    EXPECT_GT(stream.path_mtu, 1000);
  }
}

TEST_F(Served, PacesAStream) {
  Client client("127.0.0.1", port_);
  // Two connections at half a MB/s each; bursts at the start are over after the warm-up.
  const Stream stream = client.wire().stream(Direction::kReverse, 2, 1, 1, 1e6);
  EXPECT_LT(stream.bytes / stream.seconds, 2e6);
}

TEST_F(Served, IsBusyMeanwhile) {
  Client client("127.0.0.1", port_);
  EXPECT_THAT(refusal(), HasSubstr("is measuring with someone else"));
  EXPECT_EQ(client.wire().ping(3).size(), 2);
}

TEST_F(Served, OutlivesStrangers) {
  for (const std::string text : {"GET / HTTP/1.1\r\n\r\n", "\n", "slmsim-netprobe\n", "slmsim-netprobe 1 data x 1\n",
                                 "slmsim-netprobe 1 control\nping 1\n", "slmsim-netprobe 1 dance\n"}) {
    const Connection stranger = connect_to("127.0.0.1", port_);
    stranger.send_text(text);
    EXPECT_THROW(stranger.read_line(), NetworkError) << text;
  }
  std::vector<Connection> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(connect_to("127.0.0.1", port_));
  const Connection long_line = connect_to("127.0.0.1", port_);
  long_line.send_text(std::string(100'000, 'x'));
  Client client("127.0.0.1", port_);
  EXPECT_EQ(client.wire().ping(3).size(), 2);
}

TEST_F(Served, TellsAnotherVersionItsOwn) {
  {
    const Connection old = connect_to("127.0.0.1", port_);
    old.send_text("slmsim-netprobe 99 control\n");
    EXPECT_EQ(old.read_line(), "version 1");
  }
  Client client("127.0.0.1", port_);
}

TEST_F(Served, RefusesCommandsThatNoClientGives) {
  const Connection control = connect_to("127.0.0.1", port_);
  control.send_text("slmsim-netprobe 1 control\n");
  EXPECT_THAT(control.read_line(), testing::StartsWith("welcome "));
  for (const char* command : {"", "dance", "ping", "ping -1", "ping 1e300", "receive 1e99 1", "receive 5 nobody",
                              "send 5", "stream 1 1 1", "drain", "close 7", "send nan nan nan 1"}) {
    control.send_text(std::string(command) + "\n");
    EXPECT_THAT(control.read_line(), testing::StartsWith("error ")) << command;
  }
  control.send_text("bye\n");
}

// What is not a server: says one thing to whoever comes.
std::string refusal_by(const std::string& said) {
  const Descriptor listener = listen_on("127.0.0.1", 0);
  std::thread other([&] {
    const Connection guest(Descriptor{accept(listener.get(), nullptr, nullptr)});
    guest.send_text(said);
    if (!said.empty()) guest.wait_readable(5);
  });
  std::string text;
  try {
    Client client("127.0.0.1", port_of(listener));
  } catch (const NetworkError& error) {
    text = error.what();
  }
  other.join();
  return text;
}

TEST(Client, SaysWhatIsWrongWithTheOtherEnd) {
  EXPECT_THAT(refusal_by("version 7\n"),
              HasSubstr("speaks version 7 of the protocol, this program 1; use the same program"));
  EXPECT_THAT(refusal_by("SSH-2.0-OpenSSH_9.2\r\n"), HasSubstr("is not slmsim-netprobe"));
  EXPECT_THAT(refusal_by(std::string(10'000, 'x')), HasSubstr("does not answer as slmsim-netprobe"));
  EXPECT_THAT(refusal_by(""), HasSubstr("does not answer as slmsim-netprobe"));
  EXPECT_THAT(refusal_by("busy\n"), HasSubstr("try again when it is done"));
}

TEST(Client, SaysThatNobodyListens) {
  int port = 0;
  { port = port_of(listen_on("127.0.0.1", 0)); }
  try {
    Client client("127.0.0.1", port);
    ADD_FAILURE() << "somebody does";
  } catch (const NetworkError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Connection refused; is \"slmsim-netprobe server\" running there?"));
  }
}

TEST(Client, SaysThatItLostTheServer) {
  const Descriptor listener = listen_on("127.0.0.1", 0);
  std::thread server([&] {
    const Connection guest(Descriptor{accept(listener.get(), nullptr, nullptr)});
    guest.read_line();
    guest.send_text("welcome token\n");
    guest.receive_bytes(5);  // "ping " of a command, and then it is gone
  });
  Client client("127.0.0.1", port_of(listener));
  EXPECT_THROW(client.wire().ping(3), NetworkError);
  server.join();
}

TEST(Server, SaysThatItsPortIsTaken) {
  const Descriptor taken = listen_on("127.0.0.1", 0);
  try {
    listen_on("127.0.0.1", port_of(taken));
    ADD_FAILURE() << "the port is free";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Address already in use; choose another with --port or --bind"));
  }
}

}  // namespace
}  // namespace slmsim::calibrate::netprobe
