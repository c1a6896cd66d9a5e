#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/platform/network.h"
#include "sim/platform/wan_route.h"
#include "tests/platform/example.h"

namespace slmsim::site_route_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kAll = 100;

// Two VMs with windows of 4 MB and sockets of 1 GB/s, 20 ms apart by 8 Gbit/s.
const std::string kFar = kPair +
                         "  e: {site: east, type: *box, gpus: [*g]}\n"
                         "links:\n"
                         "  wan: {between: [west, east], rtt: 20 ms, bandwidth: 8 Gbps}\n";

std::string with(std::string text, const std::string& old, const std::string& now) {
  return text.replace(text.find(old), old.size(), now);
}

std::string text_of(const SiteRoute& route) { return way_text(route) + ": " + carried_text(route); }

TEST(SiteRoute, TellsTheRoundTripAndWhatAWindowCarriesInIt) {
  const auto routes = site_routes(platform_of(kFar), kAll);
  ASSERT_EQ(routes.size(), 1u);
  EXPECT_THAT(routes[0].links, ElementsAre("wan"));
  EXPECT_THAT(routes[0].over, IsEmpty());
  EXPECT_DOUBLE_EQ(routes[0].rtt.value, 0.02);
  EXPECT_DOUBLE_EQ(routes[0].there.value, 2762 * 1448 / 0.02);  // the whole segments of 4 MB in 20 ms
  EXPECT_EQ(routes[0].bound_there, "window");
  EXPECT_EQ(text_of(routes[0]),
            "west to east by wan: RTT 20 ms; 1 GB/s for all traffic; one TCP connection carries 200 MB/s (window)");
}

TEST(SiteRoute, TellsWhatElseBinds) {
  // 2 Gbit/s are 250 MB/s, 4 MB in 4 ms 1 GB/s.
  const auto slow = site_routes(platform_of(with(with(kFar, "rtt: 20 ms", "rtt: 4 ms"), "8 Gbps", "2 Gbps")), kAll);
  EXPECT_DOUBLE_EQ(slow[0].there.value, 250e6);
  EXPECT_EQ(slow[0].bound_there, "wan:west->east");
  // 4 MB in 2 ms would be 2 GB/s, on 80 Gbit/s.
  const auto near = site_routes(platform_of(with(with(kFar, "rtt: 20 ms", "rtt: 2 ms"), "8 Gbps", "80 Gbps")), kAll);
  EXPECT_DOUBLE_EQ(near[0].there.value, 1e9);
  EXPECT_EQ(near[0].bound_there, "copy rate");
}

TEST(SiteRoute, TellsWhoseTheBandwidthIs) {
  const auto text = [](const char* whose) {
    const auto routes =
        site_routes(platform_of(with(kFar, "8 Gbps", std::string("800 Mbps, bandwidth_of: ") + whose)), kAll);
    return text_of(routes[0]);
  };
  EXPECT_EQ(
      text("path"),
      "west to east by wan: RTT 20 ms; 100 MB/s for all traffic; one TCP connection carries 100 MB/s (wan:west->east)");
  EXPECT_EQ(
      text("pair"),
      "west to east by wan: RTT 20 ms; 100 MB/s for each pair of VMs; one TCP connection carries 100 MB/s (w->e)");
  EXPECT_EQ(text("connection"),
            "west to east by wan: RTT 20 ms; a rate for each connection; one TCP connection carries 100 MB/s (rate of "
            "each connection)");
}

// Two VMs at each site: what two of them send shares a link, whichever GPU sends it, and no other pair's.
TEST(Network, HasALinkForEachPairOfVmsThatShareABandwidth) {
  const Platform platform = platform_of(with(with(kFar, "  e: {site: east, type: *box, gpus: [*g]}",
                                                  "  e: {count: 2, site: east, type: *box, gpus: [*g, *g]}"),
                                             "8 Gbps", "8 Gbps, bandwidth_of: pair, reverse: {bandwidth: 4 Gbps}"));
  const Network network(platform);
  const auto limiting = [&](int from, int to) {
    std::vector<int> out;
    for (const int link : network.route(from, to).links) {
      const double rate = network.links()[link].bandwidth.value;
      if (rate == 1e9 || rate == 0.5e9) out.push_back(link);
    }
    return out;
  };
  // GPUs 0 and 1 are in the west, 2 and 3 in one VM of the east, 4 and 5 in the other.
  ASSERT_EQ(limiting(0, 2).size(), 1u);
  EXPECT_EQ(limiting(0, 2), limiting(1, 3));
  EXPECT_NE(limiting(0, 2), limiting(0, 4));
  EXPECT_EQ(network.links()[limiting(0, 2)[0]].bandwidth.value, 1e9);
  EXPECT_EQ(network.links()[limiting(2, 0)[0]].bandwidth.value, 0.5e9);
  EXPECT_EQ(network.links()[limiting(0, 4)[0]].back, limiting(4, 0)[0]);
}

TEST(SiteRoute, TellsEachDirection) {
  // A thousandth is lost on its way: the mean window by Ott et al. is 1.31 / sqrt(0.001) = 41.4 segments of 1448 B, by
  // CUBIC 1.054 (0.02 / 0.001)^0.75 = 9.97.
  const auto routes = site_routes(platform_of(with(kFar, "8 Gbps", "8 Gbps, loss: 1e-3, reverse: {loss: 0}")), kAll);
  EXPECT_NEAR(routes[0].there.value, 1.31 / std::sqrt(1e-3) * 1448 / 0.02, 1);
  EXPECT_EQ(routes[0].bound_there, "loss");
  EXPECT_DOUBLE_EQ(routes[0].back.value, 2762 * 1448 / 0.02);
  EXPECT_EQ(routes[0].bound_back, "window");
}

TEST(SiteRoute, TellsTheSitesOverWhichTrafficGoes) {
  const std::string chain = with(with(kFar, "east: {}", "east: {}, mid: {transit: yes}"), "wan: {between: [west, east]",
                                 "one: {between: [west, mid], rtt: 10 ms, bandwidth: 8 Gbps}\n"
                                 "  two: {between: [mid, east]");
  const auto routes = site_routes(platform_of(chain), kAll);
  ASSERT_EQ(routes.size(), 1u);  // nothing is asked of a site without VMs
  EXPECT_THAT(routes[0].links, ElementsAre("one", "two"));
  EXPECT_THAT(routes[0].over, ElementsAre("mid"));
  EXPECT_DOUBLE_EQ(routes[0].rtt.value, 0.03);
}

TEST(SiteRoute, IsNoneInsideASite) { EXPECT_THAT(site_routes(platform_of(kPair), kAll), IsEmpty()); }

TEST(SiteRoute, StopsAtSoMany) { EXPECT_THAT(site_routes(platform_of(kFar), 0), IsEmpty()); }

}  // namespace
}  // namespace slmsim::site_route_test
