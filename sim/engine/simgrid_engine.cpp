#include "sim/engine/simgrid_engine.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

namespace slmsim {
namespace {

namespace sg = simgrid::s4u;
namespace kernel = simgrid::kernel;

using LinkImpl = kernel::resource::StandardLinkImpl;

// Links cannot be added once an engine has run, so a pool is made beforehand; 1.3 us each.
std::size_t least_links = 1024;
bool made = false;
constexpr double kSlowest = 1e-3;  // B/s; SimGrid refuses links without bandwidth

// A zone with one pair of hosts whose route is whatever the next flow asks for. Routes are known per
// connection already; SimGrid's own routing tables would only be built to be searched again.
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

}  // namespace

struct SimgridEngine::Impl {
  std::unique_ptr<sg::Engine> engine;
  RouteZone* zone = nullptr;
  sg::Host* from = nullptr;
  sg::Host* to = nullptr;
  std::vector<sg::Link*> links, caps;
  std::vector<LinkImpl*> link_impls, cap_impls;
  std::vector<std::size_t> slots;  // slots[i] == i: what a flow carries to tell whose it is
  std::vector<sg::CommPtr> flows;  // kept until replaced: SimGrid calls back while they end
  std::function<void()> on_wake;
  std::function<void(std::size_t)> on_flow_end;
  kernel::timer::Timer* timer = nullptr;

  sg::Link* add_link(const std::string& name, sg::Link::SharingPolicy policy) {
    auto* link = zone->create_link(name, {1e9});
    link->set_sharing_policy(policy)->set_latency(0.0)->seal();
    return link;
  }

  Impl(std::size_t link_count, std::size_t cap_count) {
    // SimGrid logs every back-trace of a deadlock; errors are reported by this program instead.
    static char name[] = "slmsim", quiet[] = "--log=root.thresh:critical";
    static char* arguments[] = {name, quiet, nullptr};
    int count = 2;
    engine = std::make_unique<sg::Engine>(&count, arguments);
    // CM02: plain sharing of bandwidths. Full: the lazy update gives times up to 1.5 % off under contention.
    // No cross-traffic: acknowledgements are negligible. TCP-gamma: SimGrid's own window is switched off.
    for (const char* setting : {"network/model:CM02", "network/optim:Full", "network/maxmin-selective-update:no",
                                "network/crosstraffic:no", "network/TCP-gamma:1e15"}) {
      sg::Engine::set_config(setting);
    }
    zone = new RouteZone("root");  // owned by the engine
    from = zone->create_host("from", {1e9});
    to = zone->create_host("to", {1e9});
    for (std::size_t i = 0; i < link_count; ++i)
      links.push_back(add_link(fmt::format("link{}", i), sg::Link::SharingPolicy::SHARED));
    for (std::size_t i = 0; i < cap_count; ++i)
      caps.push_back(add_link(fmt::format("cap{}", i), sg::Link::SharingPolicy::FATPIPE));
    for (auto* link : links) link_impls.push_back(link->get_impl());
    for (auto* cap : caps) cap_impls.push_back(cap->get_impl());
    sg::Activity::on_completion_cb([this](const sg::Activity& activity) {
      on_flow_end(*static_cast<const sg::Comm&>(activity).get_data<std::size_t>());
    });
  }
};

SimgridEngine::SimgridEngine(std::size_t links)
    : impl_(std::make_unique<Impl>(std::max(links, least_links), 2 * std::max(links, least_links))) {}

SimgridEngine::~SimgridEngine() = default;

SimgridEngine& SimgridEngine::instance(std::size_t links) {
  // Never destroyed: SimGrid's own statics may be gone first.
  static auto* engine = new SimgridEngine(links);
  made = true;
  return *engine;
}

void SimgridEngine::reserve(std::size_t links) { least_links = std::max(least_links, links); }

bool SimgridEngine::exists() { return made; }

void SimgridEngine::configure(const std::vector<Link>& links, const std::vector<double>& caps) {
  if (links.size() > impl_->links.size() || caps.size() > impl_->caps.size()) {
    throw std::logic_error(
        fmt::format("a network of {} links and {} rates after a smaller one; the engine has {} and {}", links.size(),
                    caps.size(), impl_->links.size(), impl_->caps.size()));
  }
  for (std::size_t i = 0; i < links.size(); ++i)
    impl_->links[i]->set_bandwidth(std::max(kSlowest, links[i].bandwidth.value));
  for (std::size_t i = 0; i < caps.size(); ++i) impl_->caps[i]->set_bandwidth(std::max(kSlowest, caps[i]));
}

double SimgridEngine::now() const { return sg::Engine::get_clock(); }

void SimgridEngine::wake_at(double date) {
  if (impl_->timer) impl_->timer->remove();
  impl_->timer = kernel::timer::Timer::set(date, [this] {
    impl_->timer = nullptr;
    impl_->on_wake();
  });
}

void SimgridEngine::start_flow(std::size_t slot, double bytes, const std::vector<int>& links, int cap) {
  auto& route = impl_->zone->next;
  route.clear();
  for (const int link : links) route.push_back(impl_->link_impls[static_cast<std::size_t>(link)]);
  if (cap >= 0) route.push_back(impl_->cap_impls[static_cast<std::size_t>(cap)]);
  auto flow = sg::Comm::sendto_init(impl_->from, impl_->to);
  flow->set_payload_size(static_cast<std::uint64_t>(bytes))->set_data(&impl_->slots[slot]);
  impl_->flows[slot] = flow;
  flow->vetoable_start();
}

void SimgridEngine::run(std::size_t slots, std::function<void()> on_wake,
                        std::function<void(std::size_t)> on_flow_end) {
  impl_->on_wake = std::move(on_wake);
  impl_->on_flow_end = std::move(on_flow_end);
  while (impl_->slots.size() < slots) impl_->slots.push_back(impl_->slots.size());
  impl_->flows.assign(slots, nullptr);
  wake_at(now());
  impl_->engine->run();
  impl_->flows.clear();
}

}  // namespace slmsim
