#include "calibrate/netprobe/option.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gmock/gmock.h>

#include "calibrate/common/text.h"
#include "calibrate/netprobe/failure.h"
#include "calibrate/netprobe/host.h"

namespace slmsim::calibrate::netprobe::option_test {
namespace {

using testing::HasSubstr;

constexpr const char* kToken = "of-the-environment";

std::string error_of(const std::vector<std::string>& words) {
  try {
    parse_options(words, kToken);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Options, OfAServer) {
  const Options o = parse_options({"server", "--port", "7000", "--bind", "::1", "--token", "0123456789abcdef",
                                   "--sessions", "3", "--max-time", "2min", "--max-bytes", "10GB"});
  EXPECT_EQ(o.verb, Options::Verb::kServer);
  EXPECT_EQ(o.port, 7000);
  EXPECT_EQ(o.bind, "::1");
  EXPECT_EQ(o.limits.token, "0123456789abcdef");
  EXPECT_EQ(o.limits.sessions, 3);
  EXPECT_EQ(o.limits.seconds, 120);
  EXPECT_EQ(o.limits.bytes, 10e9);
  EXPECT_EQ(parse_options({"server"}).port, 5210);
  EXPECT_EQ(parse_options({"server"}).limits.sessions, 1);
  EXPECT_EQ(parse_options({"server"}).limits.token, "");  // it makes one
  EXPECT_EQ(parse_options({"server"}, kToken).limits.token, kToken);
}

TEST(Options, OfTheTokenAreCheckedAndKept) {
  EXPECT_EQ(parse_options({"client", "c", "--token", "0123456789abcdef"}, kToken).token, "0123456789abcdef");
  EXPECT_EQ(parse_options({"client", "c"}, kToken).token, kToken);
  EXPECT_THROW(parse_options({"client", "c"}), UsageError);
  EXPECT_THAT(error_of({"client", "c", "--token", "short"}), HasSubstr("a token has 16 to 64 letters"));
  EXPECT_THAT(error_of({"server", "--token", "spaces in a token"}), HasSubstr("a token has 16 to 64 letters"));
  EXPECT_THAT(error_of({"server", "--sessions", "0"}), HasSubstr("from 1 to 1000"));
  EXPECT_THAT(error_of({"server", "--sessions", "1.5"}), HasSubstr("is whole"));
  EXPECT_THAT(error_of({"server", "--max-time", "1s"}), HasSubstr("from 20 s"));
  EXPECT_EQ(without_token({"client", "c", "--token", "0123456789abcdef", "--quick"}),
            "slmsim-netprobe client c --quick");
  EXPECT_TRUE(is_token(new_token()));
  EXPECT_NE(new_token(), new_token());
}

TEST(Options, OfAWatch) {
  const Options o = parse_options({"client", "c", "--watch", "24h", "--name", "wan", "-o", "day.yaml"}, kToken);
  EXPECT_EQ(o.watch, 86400);
  EXPECT_EQ(o.every, 1800);
  EXPECT_EQ(parse_options({"client", "c"}, kToken).watch, 0);
  EXPECT_THAT(error_of({"client", "c", "--every", "5min"}), HasSubstr("--every is for --watch TIME"));
  EXPECT_THAT(error_of({"client", "c", "--watch", "24h", "--name", "wan"}), HasSubstr("--watch needs --output FILE"));
  EXPECT_THAT(error_of({"client", "c", "--watch", "24h", "-o", "f"}), HasSubstr("--watch needs --name"));
  EXPECT_THAT(error_of({"client", "c", "--watch", "24h", "--name", "wan", "-o", "f", "--quick"}),
              HasSubstr("have no effect with --watch"));
  EXPECT_THAT(error_of({"client", "c", "--watch", "1h"}), HasSubstr("from 2 h to 168 h"));
}

TEST(Options, OfAClient) {
  const Options o = parse_options(
      {"client", "cloud", "-o", "p.yaml", "--max-size", "256MB", "--time-limit", "10min", "--name", "lab-cloud"},
      kToken);
  EXPECT_EQ(o.verb, Options::Verb::kClient);
  EXPECT_EQ(o.host, "cloud");
  EXPECT_EQ(o.output, "p.yaml");
  EXPECT_EQ(o.name, "lab-cloud");
  EXPECT_EQ(o.request.largest, 256e6);
  EXPECT_EQ(o.request.time_limit, 600);
  EXPECT_FALSE(o.request.one_way);
}

TEST(Options, ThatAreStatedHoldOverQuickInAnyOrder) {
  EXPECT_EQ(parse_options({"client", "c", "--time-limit", "45s", "--quick"}, kToken).request.time_limit, 45);
  EXPECT_EQ(parse_options({"client", "c", "--quick", "--max-size", "1GB"}, kToken).request.largest, 1e9);
  EXPECT_LT(parse_options({"client", "c", "--quick"}, kToken).request.time_limit, 300);
}

TEST(Options, SayWhatWouldBeRight) {
  EXPECT_THAT(error_of({}), HasSubstr("say server or client"));
  EXPECT_THAT(error_of({"sever"}), HasSubstr("unknown word \"sever\"; known are: server, client"));
  EXPECT_THAT(error_of({"client"}), HasSubstr("needs the server's name or address"));
  EXPECT_THAT(error_of({"client", "a", "b"}), HasSubstr("unknown word \"b\""));
  EXPECT_THAT(error_of({"client", "a", "--fast"}), HasSubstr("unknown option \"--fast\"; known are: --port"));
  EXPECT_THAT(error_of({"client", "a", "--port"}), HasSubstr("--port needs a value"));
  for (const char* port : {"65536", "-1", "80.5", "http", ""})
    EXPECT_THAT(error_of({"server", "--port", port}), HasSubstr("port")) << port;
  for (const char* size : {"256", "1 XB", "10GB0", "100GB", "1kB", "nan GB"})
    EXPECT_THAT(error_of({"client", "a", "--max-size", size}), HasSubstr("is not a size such as 256MB")) << size;
  for (const char* time : {"5", "5 m", "1s", "inf h"})
    EXPECT_THAT(error_of({"client", "a", "--time-limit", time}), HasSubstr("is not a time such as 5min")) << time;
  EXPECT_THAT(error_of({"client", "a", "--name", "a b"}), HasSubstr("is not a name"));
}

TEST(Text, HasUnitsThatTheSimulatorReads) {
  EXPECT_EQ(time_text(0.1032), "103.2 ms");
  EXPECT_EQ(time_text(2e-7), "0.2 us");
  EXPECT_EQ(time_text(75), "75 s");
  EXPECT_EQ(size_text(64e3), "64 kB");
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(rate_text(50e6), "400 Mbps");
  EXPECT_EQ(rate_text(1.25e9), "10 Gbps");
  EXPECT_EQ(printable("a\033[2J\n"), "a?[2J?");
}

TEST(Host, TellsItsKernelsSettings) {
  namespace fs = std::filesystem;
  const fs::path proc = fs::path(testing::TempDir()) / ("slmsim_proc_" + std::to_string(getpid()));
  fs::create_directories(proc / "sys/net/ipv4");
  std::ofstream(proc / "cpuinfo") << "processor : 0\nmodel name\t: Some CPU\n";
  std::ofstream(proc / "sys/net/ipv4/tcp_rmem") << "4096\t131072\t6291456\n";
  const HostFacts facts = facts_of_this_host(proc);
  EXPECT_THAT(fact(facts, "machine"), HasSubstr("Some CPU, "));
  EXPECT_EQ(fact(facts, "net.ipv4.tcp_rmem"), "4096 131072 6291456");
  EXPECT_EQ(last_number(facts, "net.ipv4.tcp_rmem"), 6291456);
  EXPECT_FALSE(facts.contains("net.ipv4.tcp_wmem"));
  EXPECT_EQ(last_number(facts, "net.ipv4.tcp_wmem"), 0);
  fs::remove_all(proc);
}

}  // namespace
}  // namespace slmsim::calibrate::netprobe::option_test
