// SimGrid behind SimgridEngine: a separate shared library, and the only file that uses SimGrid.
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include "sim/engine/simgrid_engine.h"

namespace slmsim {
namespace {

namespace sg = simgrid::s4u;
namespace kernel = simgrid::kernel;

using LinkImpl = kernel::resource::StandardLinkImpl;

constexpr double kSlowest = 1e-3;  // B/s; SimGrid refuses links without bandwidth
// SimGrid counts whole bytes, while the pieces of a transfer may be fractional; it is given fractions of a byte as
// units.
constexpr double kParts = 4096;

// A zone with one pair of hosts whose route is set for each flow. Routes are known per connection; SimGrid's own
// routing tables would be built only to be searched again.
class RouteZone : public kernel::routing::NetZoneImpl {
 public:
  explicit RouteZone(const std::string& name) : NetZoneImpl(name) {}
  std::vector<LinkImpl*> next;

  void get_local_route(const kernel::routing::NetPoint*, const kernel::routing::NetPoint*, kernel::routing::Route* into,
                       double*) override {
    into->link_list_ = next;
  }
  void get_graph(const s_xbt_graph_t*, std::map<std::string, xbt_node_t, std::less<>>*,
                 std::map<std::string, xbt_edge_t, std::less<>>*) override {}
};

class Engine : public SimgridEngine {
 public:
  Engine(std::size_t link_count, std::size_t cap_count) {
    // SimGrid logs every back-trace of a deadlock; errors are reported by this program instead.
    static char name[] = "slmsim", quiet[] = "--log=root.thresh:critical";
    static char* arguments[] = {name, quiet, nullptr};
    int count = 2;
    engine_ = std::make_unique<sg::Engine>(&count, arguments);
    // CM02: plain sharing of bandwidths. Full: the lazy update gives times up to 1.5 % off under contention.
    // No cross-traffic: acknowledgements are negligible. TCP-gamma: SimGrid's own window is switched off.
    for (const char* setting : {"network/model:CM02", "network/optim:Full", "network/maxmin-selective-update:no",
                                "network/crosstraffic:no", "network/TCP-gamma:1e15"}) {
      sg::Engine::set_config(setting);
    }
    zone_ = new RouteZone("root");  // owned by the engine
    from_ = zone_->create_host("from", {1e9});
    to_ = zone_->create_host("to", {1e9});
    for (std::size_t i = 0; i < link_count; ++i)
      links_.push_back(add_link(fmt::format("link{}", i), sg::Link::SharingPolicy::SHARED));
    for (std::size_t i = 0; i < cap_count; ++i)
      caps_.push_back(add_link(fmt::format("cap{}", i), sg::Link::SharingPolicy::FATPIPE));
    for (auto* link : links_) link_impls_.push_back(link->get_impl());
    for (auto* cap : caps_) cap_impls_.push_back(cap->get_impl());
    sg::Activity::on_completion_cb([this](const sg::Activity& activity) {
      on_flow_end_(*static_cast<const sg::Comm&>(activity).get_data<std::size_t>());
    });
  }

  void configure(const std::vector<Link>& new_links, const std::vector<double>& new_caps) override {
    if (new_links.size() > links_.size() || new_caps.size() > caps_.size()) {
      throw std::logic_error(
          fmt::format("a network of {} links and {} rates after a smaller one; the engine has {} and {}",
                      new_links.size(), new_caps.size(), links_.size(), caps_.size()));
    }
    for (std::size_t i = 0; i < new_links.size(); ++i)
      links_[i]->set_bandwidth(kParts * std::max(kSlowest, new_links[i].bandwidth.value));
    for (std::size_t i = 0; i < new_caps.size(); ++i) caps_[i]->set_bandwidth(kParts * std::max(kSlowest, new_caps[i]));
  }

  double now() const override { return sg::Engine::get_clock(); }

  void wake_at(double date) override {
    if (timer_) timer_->remove();
    // SimGrid aborts if a date lies in the past, even by a rounding error.
    timer_ = kernel::timer::Timer::set(std::max(date, now()), [this] {
      timer_ = nullptr;
      on_wake_();
    });
  }

  void start_flow(std::size_t slot, double bytes, const std::vector<int>& way, int cap) override {
    auto& route = zone_->next;
    route.clear();
    for (const int link : way) route.push_back(link_impls_[link]);
    if (cap >= 0) route.push_back(cap_impls_[cap]);
    auto flow = sg::Comm::sendto_init(from_, to_);
    flow->set_payload_size(static_cast<std::uint64_t>(std::llround(bytes * kParts)))->set_data(&slots_[slot]);
    flows_[slot] = flow;
    flow->vetoable_start();
  }

  void run(std::size_t count, std::function<void()> wake, std::function<void(std::size_t)> flow_end) override {
    on_wake_ = std::move(wake);
    on_flow_end_ = std::move(flow_end);
    while (slots_.size() < count) slots_.push_back(slots_.size());
    flows_.assign(count, nullptr);
    wake_at(now());
    engine_->run();
    flows_.clear();
  }

 private:
  std::unique_ptr<sg::Engine> engine_;
  RouteZone* zone_ = nullptr;
  sg::Host* from_ = nullptr;
  sg::Host* to_ = nullptr;
  std::vector<sg::Link*> links_, caps_;
  std::vector<LinkImpl*> link_impls_, cap_impls_;
  std::vector<std::size_t> slots_;  // slots_[i] == i: identifies a flow in callbacks
  std::vector<sg::CommPtr> flows_;  // kept until replaced: SimGrid calls back while they end
  std::function<void()> on_wake_;
  std::function<void(std::size_t)> on_flow_end_;
  kernel::timer::Timer* timer_ = nullptr;

  sg::Link* add_link(const std::string& name, sg::Link::SharingPolicy policy) {
    auto* link = zone_->create_link(name, {1e9});
    link->set_sharing_policy(policy)->set_latency(0.0)->seal();
    return link;
  }
};

}  // namespace
}  // namespace slmsim

extern "C" [[gnu::visibility("default")]] slmsim::SimgridEngine* slmsim_simgrid_engine(std::size_t links) {
  return new slmsim::Engine(links, 2 * links);
}
