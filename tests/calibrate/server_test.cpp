// Client and server over loopback: what they say, not how long it takes.
#include "calibrate/netprobe/server.h"

#include <sys/socket.h>
#include <thread>

#include <gmock/gmock.h>

#include "calibrate/common/text.h"
#include "calibrate/netprobe/failure.h"
#include "calibrate/netprobe/wire.h"

namespace slmsim::calibrate::netprobe::server_test {
namespace {

using testing::HasSubstr;

constexpr const char* kToken = "token-of-the-tests";

// A server, on a port of its own; the last client of each test ends it.
class Served : public testing::Test {
 protected:
  explicit Served(const Limits& limits = {.token = kToken, .waiting = 60}, const std::string& address = "127.0.0.1")
      : address_(address),
        limits_(limits),
        listener_(listen_on(address, 0)),
        port_(port_of(listener_)),
        thread_([this] { serve(listener_, limits_); }) {}
  ~Served() override { thread_.join(); }

  std::string refusal(const std::string& token = kToken) const {
    try {
      Client client(address_, port_, token);
    } catch (const NetworkError& error) {
      return error.what();
    }
    return "";
  }

  // A session by hand: the control connection and its key.
  std::string key_;
  Connection begun() {
    Connection control = connect_to(address_, port_);
    control.send_text(format("slmsim-netprobe 2 control %s\n", kToken));
    const auto words = words_of(control.read_line());
    EXPECT_EQ(words.size(), 2);
    EXPECT_EQ(words.front(), "welcome");
    key_ = words.back();
    return control;
  }
  Connection opened(const std::string& id) const {
    Connection data = connect_to(address_, port_);
    data.send_text(format("slmsim-netprobe 2 data %s %s\n", key_.c_str(), id.c_str()));
    EXPECT_EQ(data.read_line(), "ok");
    return data;
  }
  // Tries until the server is free again; ends it.
  void end() const {
    for (int i = 0; i < 100; ++i) {
      if (refusal().empty()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    ADD_FAILURE() << "the server is still busy";
  }

  const std::string address_;
  const Limits limits_;
  Descriptor listener_;
  int port_;
  std::thread thread_;
};

TEST_F(Served, MeasuresBothWays) {
  Client client("127.0.0.1", port_, kToken);
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
  Client client("127.0.0.1", port_, kToken);
  // Two connections at half a MB/s each; bursts at the start are over after the warm-up.
  const Stream stream = client.wire().stream(Direction::kReverse, 2, 1, 1, 1e6);
  EXPECT_LT(stream.bytes / stream.seconds, 2e6);
}

TEST_F(Served, IsBusyMeanwhile) {
  Client client("127.0.0.1", port_, kToken);
  EXPECT_THAT(refusal(), HasSubstr("is busy with another client"));
  EXPECT_EQ(client.wire().ping(3).size(), 2);
}

TEST_F(Served, OutlivesStrangers) {
  for (const std::string text :
       {"GET / HTTP/1.1\r\n\r\n", "\n", "slmsim-netprobe\n", "slmsim-netprobe 2 data x 1\n",
        "slmsim-netprobe 2 control token-of-the-tests\nping 1\n", "slmsim-netprobe 2 dance\n"}) {
    const Connection stranger = connect_to("127.0.0.1", port_);
    stranger.send_text(text);
    EXPECT_THROW(stranger.read_line(), NetworkError) << text;
  }
  std::vector<Connection> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(connect_to("127.0.0.1", port_));
  const Connection long_line = connect_to("127.0.0.1", port_);
  long_line.send_text(std::string(100'000, 'x'));
  Client client("127.0.0.1", port_, kToken);
  EXPECT_EQ(client.wire().ping(3).size(), 2);
}

TEST_F(Served, TellsAnotherVersionItsOwn) {
  {
    const Connection old = connect_to("127.0.0.1", port_);
    old.send_text("slmsim-netprobe 99 control\n");
    EXPECT_EQ(old.read_line(), "version 2");
  }
  Client client("127.0.0.1", port_, kToken);
}

TEST_F(Served, RefusesCommandsThatNoClientGives) {
  const Connection control = begun();
  const Connection data = opened("1");
  for (const char* command : {"",
                              "dance",
                              "ping",
                              "ping -1",
                              "ping 0",
                              "ping 0.5",
                              "ping 1e5",
                              "ping 1e300",
                              "receive 0 1",
                              "receive 0.5 1",
                              "receive 1e99 1",
                              "receive 1e12 1",
                              "receive 5 nobody",
                              "send 5",
                              "send 0.5 0 0 1",
                              "send 0 0 0 1",
                              "send 1.5 0 0 1",
                              "send 1e12 0 0 1",
                              "send 1 3600 0 1",
                              "send 1 -1 0 1",
                              "send 1 0 1e9 1",
                              "send nan nan nan 1",
                              "send inf 0 0 1",
                              "stream 1 1 1",
                              "stream 3600 3600 0 1",
                              "stream 0 1e9 0 1",
                              "stream 0 1 1e-3 1",
                              "drain",
                              "close 7"}) {
    control.send_text(std::string(command) + "\n");
    EXPECT_THAT(control.read_line(), testing::StartsWith("error ")) << command;
  }
  // None of them took the connection.
  control.send_text("send 1 0 0 1\n");
  data.receive_bytes(1);
  data.send_text(".");
  EXPECT_THAT(control.read_line(), testing::StartsWith("sent "));
  control.send_text("bye\n");
}

TEST(Connections, SendAWholeByteForAPartOfOne) {
  const Descriptor listener = listen_on("127.0.0.1", 0);
  const Connection one = connect_to("127.0.0.1", port_of(listener));
  const Connection other(Descriptor{accept(listener.get(), nullptr, nullptr)});
  one.send_bytes(0.5);  // went on for ever
  other.receive_bytes(0.5);
}

TEST_F(Served, TellsNothingWithoutTheToken) {
  for (const char* text :
       {"slmsim-netprobe 2 control\n", "slmsim-netprobe 2 control \n", "slmsim-netprobe 2 control token-of-the-test\n",
        "slmsim-netprobe 2 control token-of-the-tests facts\n"}) {
    const Connection stranger = connect_to("127.0.0.1", port_);
    stranger.send_text(text);
    EXPECT_EQ(stranger.read_line(), "refused") << text;
    EXPECT_THROW(stranger.read_line(), NetworkError);
  }
  EXPECT_THAT(refusal("token-of-someone-else"), HasSubstr("has another token"));
  // While someone measures, too, and nobody joins the session with what is not its key.
  const Connection control = begun();
  EXPECT_THAT(refusal("token-of-someone-else"), HasSubstr("has another token"));
  const Connection stranger = connect_to("127.0.0.1", port_);
  stranger.send_text("slmsim-netprobe 2 data 0123456789abcdef0123456789abcdef 1\n");
  EXPECT_THROW(stranger.read_line(), NetworkError);
  control.send_text("bye\n");
}

TEST_F(Served, EndsAfterItsClient) {
  { Client client("127.0.0.1", port_, kToken); }
  thread_.join();
  thread_ = std::thread([] {});
}

TEST_F(Served, IsFreeAgainWhenAClientVanishesInAPause) {
  {
    Connection control = begun();
    Connection data = opened("1");
    control.send_text("send 1 100 0 1\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    control.abort();
  }
  end();
}

TEST_F(Served, IsFreeAgainWhenAClientVanishesInAStream) {
  {
    Connection control = begun();
    Connection data = opened("1");
    control.send_text("stream 100 500 0 1\n");
    data.receive_bytes(1e6);
    control.abort();
  }
  end();
}

struct ForTwo : Served {
  ForTwo() : Served({.token = kToken, .sessions = 2}) {}
};
TEST_F(ForTwo, ServesTwoClients) {
  for (int i = 0; i < 2; ++i) {
    for (int again = 0; again < 50 && !refusal().empty(); ++again)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

struct OfFewBytes : Served {
  OfFewBytes() : Served({.token = kToken, .bytes = 5e6}) {}
};
TEST_F(OfFewBytes, GivesNoMore) {
  {
    const Connection control = begun();
    const Connection data = opened("1");
    control.send_text("stream 0 500 0 1\n");
    EXPECT_THROW(data.receive_bytes(1e8), NetworkError);
    EXPECT_THROW(control.read_line(), NetworkError);
  }
  {
    const Connection control = begun();
    const Connection data = opened("1");
    control.send_text("send 1000000000 0 0 1\n");
    EXPECT_THROW(data.receive_bytes(1e8), NetworkError);
  }
  end();
}

struct OfASecond : Served {
  OfASecond() : Served({.token = kToken, .seconds = 1}) {}
};
TEST_F(OfASecond, EndsInAPause) {
  const Connection control = begun();
  const Connection data = opened("1");
  control.send_text("send 1 100 0 1\n");
  EXPECT_THROW(control.read_line(), NetworkError);
  end();
}
TEST_F(OfASecond, EndsInAStream) {
  const Connection control = begun();
  const Connection data = opened("1");
  control.send_text("stream 100 500 1000 1\n");
  EXPECT_THROW(control.read_line(), NetworkError);
  end();
}
TEST_F(OfASecond, EndsWithAClientThatSaysNothing) {
  const Connection control = begun();
  EXPECT_THROW(control.read_line(), NetworkError);
  end();
}
TEST_F(OfASecond, EndsWithAClientThatSendsAByteNowAndThen) {
  const Connection control = begun();
  const Connection data = opened("1");
  control.send_text("receive 1000000 1\n");
  EXPECT_EQ(control.read_line(), "ready");
  EXPECT_THROW(
      {
        for (int i = 0; i < 1000; ++i) {
          data.send_text("x");
          if (control.wait_readable(0.05)) control.read_line();
        }
      },
      NetworkError);
  end();
}

struct Forsaken : Served {
  Forsaken() : Served({.token = kToken, .waiting = 0.1}) {}
};
TEST_F(Forsaken, EndsWithoutAClient) {}

bool has_ipv6() {
  try {
    listen_on("::1", 0);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}
struct Both : Served {
  Both() : Served({.token = kToken, .sessions = has_ipv6() ? 2 : 1}, "") {}
};
TEST_F(Both, TakesIpv4AndIpv6WithoutAnAddress) {
  if (has_ipv6()) {
    Client client("::1", port_, kToken);
    EXPECT_EQ(client.hosts().client_address, "::1");
    EXPECT_EQ(client.wire().cold(Direction::kReverse, 1e5).pause, 0);
  }
  for (int again = 0; again < 50; ++again) {
    try {
      Client client("127.0.0.1", port_, kToken);
      EXPECT_EQ(client.hosts().server_address, "127.0.0.1");
      return;
    } catch (const NetworkError&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it is still busy with the first
    }
  }
  ADD_FAILURE() << "nobody answers";
}

// Not a server: sends one text to every client.
std::string refusal_by(const std::string& said) {
  const Descriptor listener = listen_on("127.0.0.1", 0);
  std::thread other([&] {
    const Connection guest(Descriptor{accept(listener.get(), nullptr, nullptr)});
    guest.send_text(said);
    if (!said.empty()) guest.wait_readable(5);
  });
  std::string text;
  try {
    Client client("127.0.0.1", port_of(listener), kToken);
  } catch (const NetworkError& error) {
    text = error.what();
  }
  other.join();
  return text;
}

TEST(Client, SaysWhatIsWrongWithTheOtherEnd) {
  EXPECT_THAT(refusal_by("version 7\n"),
              HasSubstr("speaks version 7 of the protocol, this program 2; use the same program"));
  EXPECT_THAT(refusal_by("SSH-2.0-OpenSSH_9.2\r\n"), HasSubstr("is not slmsim-netprobe"));
  EXPECT_THAT(refusal_by(std::string(10'000, 'x')), HasSubstr("does not answer as slmsim-netprobe"));
  EXPECT_THAT(refusal_by(""), HasSubstr("does not answer as slmsim-netprobe"));
  EXPECT_THAT(refusal_by("busy\n"), HasSubstr("try again later"));
}

TEST(Client, SaysThatNobodyListens) {
  int port = 0;
  { port = port_of(listen_on("127.0.0.1", 0)); }
  try {
    Client client("127.0.0.1", port, kToken);
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
  Client client("127.0.0.1", port_of(listener), kToken);
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
}  // namespace slmsim::calibrate::netprobe::server_test
