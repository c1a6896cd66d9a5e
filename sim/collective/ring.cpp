#include "sim/collective/ring.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace slmsim {

int step_count(Collective collective, int ranks) {
  return collective == Collective::kAllReduce ? 2 * (ranks - 1) : ranks - 1;
}

double loop_count(int ranks, Bytes size, const RingRules& rules) {
  const double wanted = std::ceil(size / (rules.chunk * (static_cast<double>(rules.channels) * ranks)));
  return std::max(static_cast<double>(rules.least_pieces), wanted);
}

double transfer_count(Collective collective, int ranks, Bytes size, const RingRules& rules) {
  return static_cast<double>(ranks) * step_count(collective, ranks) * loop_count(ranks, size, rules) * rules.slices;
}

namespace {

// The smallest period of a ring's elements.
template <class Same>
std::size_t period_of(std::size_t count, Same same) {
  for (std::size_t period = 1; period < count; ++period) {
    if (count % period != 0) continue;
    std::size_t i = period;
    while (i < count && same(i - period, i)) ++i;
    if (i == count) return period;
  }
  return count;
}

}  // namespace

Ring::Ring(TaskGraph& graph, const Network& network, std::vector<int> devices, RingRules rules)
    : graph_(graph), size_(devices.size()), rules_(std::move(rules)) {
  if (size_ < 2) return;
  std::vector<Connection> connections;
  connections.reserve(size_);
  for (std::size_t rank = 0; rank < size_; ++rank) {
    const int from = devices[rank], to = devices[next(rank)];
    const int sockets = rules_.sockets.empty() ? rules_.sockets_per_channel : rules_.sockets[rank];
    const int relay = relay_between(rules_.relays, from, to);
    connections.push_back({.from = from,
                           .to = to,
                           .sockets = rules_.channels * sockets,
                           .route = network.route(from, to, rules_.nic, relay),
                           .nic = rules_.nic,
                           .relay = relay});
  }
  const Fold* fold = graph_.fold();
  const std::size_t period = !fold ? 1 : period_of(size_, [&](std::size_t a, std::size_t b) {
    return (fold->is_together() || fold->first(connections[a].from) == fold->first(connections[b].from)) &&
           connections[a].sockets == connections[b].sockets &&
           connections[a].route.latency == connections[b].route.latency &&
           connections[a].route.links.size() == connections[b].route.links.size();
  });
  for (std::size_t rank = 0; rank < size_; ++rank) {
    const int from = devices[rank], to = devices[next(rank)];
    const int connection = graph_.add_connection(std::move(connections[rank]), static_cast<int>(rank % period));
    edges_.push_back({connection, rules_.announced ? network.route(to, from).latency : Seconds{0}});
  }
}

Ring::Ring(TaskGraph& graph, std::vector<RingEdge> edges, RingRules rules)
    : graph_(graph), size_(edges.size()), edges_(std::move(edges)), rules_(std::move(rules)) {}

std::vector<TaskId> Ring::run(Collective collective, Bytes size, TagId tag, std::span<const TaskId> ready) {
  assert(ready.size() == size_);
  if (size_ < 2 || graph_.has_only_connections()) return {ready.begin(), ready.end()};
  std::vector<TaskId> at_once;
  if (rules_.together && std::adjacent_find(ready.begin(), ready.end(), std::not_equal_to<>()) != ready.end()) {
    at_once.assign(size_, graph_.delay(Seconds{0}, tag, ready));
    ready = at_once;
  }
  if (rules_.detail == Detail::kSteps)
    return graph_.fold() ? run_folded(collective, size, tag, ready) : run_steps(collective, size, tag, ready);
  assert(rules_.order == Order::kPieceAfterPiece && rules_.in_flight == 1 && !rules_.announced);
  return run_aggregated(step_count(collective, static_cast<int>(size_)), size, tag, ready);
}

std::vector<TaskId> Ring::run(Collective collective, Bytes size, Bytes chunk, bool whole_chunks, TagId tag,
                              std::span<const TaskId> ready) {
  const RingRules usual = rules_;
  rules_.chunk = chunk;
  if (!whole_chunks) {
    rules_.last_copy.clear();
    rules_.slices = 1;
  }
  auto done = run(collective, size, tag, ready);
  rules_ = usual;
  return done;
}

// While a slice is on its way, an edge sends the later slices of its chunk: at its highest rate they hide the least.
Seconds Ring::visible_latency(const RingEdge& edge, Bytes slice) const {
  const Connection& connection = graph_.connection(edge.connection);
  const Bytes later = slice * (rules_.slices - 1.0);
  return std::max(Seconds{0}, connection.route.latency - later / most_rate(connection, graph_.links()));
}

// Whether each step follows the one before without a pause.
bool Ring::hides_latency(Bytes slice) const {
  return rules_.slices > 1 &&
         std::ranges::all_of(edges_, [&](const RingEdge& edge) { return visible_latency(edge, slice) <= Seconds{0}; });
}

std::vector<TaskId> Ring::run_steps(Collective collective, Bytes size, TagId tag, std::span<const TaskId> ready) {
  const std::size_t n = size_, own = ready.size();  // ranks with tasks of their own
  const auto steps = static_cast<std::int64_t>(step_count(collective, static_cast<int>(n)));
  const auto pieces = static_cast<std::int64_t>(loop_count(static_cast<int>(n), size, rules_));
  const bool by_piece = rules_.order == Order::kPieceAfterPiece;
  const Bytes loop_size = rules_.chunk * (static_cast<double>(rules_.channels) * static_cast<double>(n));
  const bool two_phases = rules_.phase_by_phase && collective == Collective::kAllReduce;
  const std::int64_t slices = rules_.slices;
  const std::int64_t phase = by_piece ? steps * slices : two_phases ? steps * pieces / 2 : steps * pieces;
  const std::int64_t all = steps * pieces * slices;
  // Receptions that later steps wait for: step i in row i modulo the number of rows.
  const std::int64_t in_flight = rules_.in_flight * slices;
  const auto rows = static_cast<std::size_t>(in_flight);
  std::vector<TaskId> received;
  for (std::size_t row = 0; row < rows; ++row) received.insert(received.end(), ready.begin(), ready.end());
  TaskId* last = received.data();
  std::vector<TaskId> sent(own);
  const auto piece_of = [&](std::int64_t i) {
    const std::int64_t loop = i / phase;
    const Bytes left = by_piece ? size - loop_size * static_cast<double>(loop) : size;
    return whole_bytes((by_piece ? std::min(left, loop_size) : size / static_cast<double>(pieces)) /
                       static_cast<double>(n));
  };
  const auto slice_of = [&](std::int64_t i) {
    const Bytes one = piece_of(i) / static_cast<double>(slices);
    const auto at = static_cast<double>(i % slices);
    return whole_bytes(one * (at + 1)) - whole_bytes(one * at);
  };
  // Where all ranks do the same, each does one transfer after the other, and sends a loop in one go where no step waits.
  const bool chain = own == 1 && n > 1 && by_piece && !rules_.announced;
  const bool in_one_go = chain && hides_latency(slice_of(all - 1));
  for (std::int64_t i = 0; i < all; ++i) {
    const Bytes sent_now = in_one_go ? piece_of(i) * static_cast<double>(steps) : slice_of(i);
    // A connection keeps the order, so the arrival of a piece implies that of all earlier ones. A phase's first pieces
    // wait for the last piece of the phase before.
    const std::int64_t back = i < phase ? in_flight : std::min(in_flight, i % phase + 1);
    const auto* waits_for = &received[static_cast<std::size_t>(i - back + in_flight) % rows * own];
    // A piece that went around the whole ring implies that the rank itself was ready; earlier pieces do not.
    const bool early = i < static_cast<std::int64_t>(n) * in_flight;
    const std::int64_t times = chain && slices == 1 ? steps : 1;
    for (std::size_t rank = 0; rank < own; ++rank) {
      std::array after = {waits_for[rank], early ? ready[rank] : kNoTask, kNoTask};
      if (rules_.announced) {
        const std::size_t to = next(rank) % own;
        const std::array waiting = {waits_for[to], early ? ready[to] : kNoTask};
        const RingEdge& edge = edges_[rank];
        after[2] = edge.behind < 0 ? graph_.delay(edge.back, tag, waiting)
                                   : graph_.transfer(edge.behind, Bytes{0}, tag, waiting);
      }
      sent[rank] = graph_.transfer(edges_[rank].connection, sent_now, tag, after, static_cast<int>(times));
    }
    i += (in_one_go ? phase : times) - 1;
    last = &received[static_cast<std::size_t>(i) % rows * own];
    for (std::size_t rank = 0; rank < own; ++rank) last[rank] = sent[previous(rank) % own];
    if (!rules_.last_copy.empty() && i % phase == phase - 1) copy_last(sent_now, tag, {last, own});
  }
  std::vector<TaskId> done(last, last + own);
  // In n-1 steps a rank receives data that started at its other neighbour, which does not imply that it was ready
  // itself.
  if (steps < static_cast<std::int64_t>(n)) {
    for (std::size_t rank = 0; rank < own; ++rank)
      done[rank] = graph_.delay({0}, tag, std::array{done[rank], ready[rank]});
  }
  return done;
}

// Ranks that do the same at the same time share their tasks, and equal calls are reused.
std::vector<TaskId> Ring::run_folded(Collective collective, Bytes size, TagId tag, std::span<const TaskId> ready) {
  Fold& fold = *graph_.fold();
  const auto word = [](double number) { return std::bit_cast<std::uint64_t>(number); };
  const std::size_t period = rules_.announced ? size_ : period_of(size_, [&](std::size_t a, std::size_t b) {
    return ready[a] == ready[b] && fold.in_step(edges_[a].connection, edges_[b].connection) &&
           (rules_.last_copy.empty() || rules_.last_copy[a] == rules_.last_copy[b]);
  });
  std::vector<std::uint64_t> key = {static_cast<std::uint64_t>(collective),
                                    word(size.value),
                                    word(rules_.chunk.value),
                                    static_cast<std::uint64_t>(rules_.channels),
                                    tag,
                                    size_,
                                    static_cast<std::uint64_t>(rules_.order),
                                    static_cast<std::uint64_t>(rules_.in_flight),
                                    static_cast<std::uint64_t>(rules_.least_pieces),
                                    rules_.phase_by_phase};
  for (std::size_t rank = 0; rank < period; ++rank) {
    key.push_back(ready[rank]);
    key.push_back(fold.place(edges_[rank].connection));
    if (!rules_.last_copy.empty()) key.push_back(word(rules_.last_copy[rank].value));
  }
  auto& calls = fold.calls();
  // A single chain of tasks is not worth storing.
  const bool keeps = period > 1 && !rules_.announced;
  auto known = keeps ? calls.find(key) : calls.end();
  std::size_t from = 0;  // first edge whose transfers are not yet counted
  std::vector<TaskId> done;
  if (known != calls.end()) {
    done = known->second;
  } else {
    const std::uint64_t before = fold.place(edges_.front().connection);
    done = run_steps(collective, size, tag, ready.first(period));
    done.push_back(static_cast<TaskId>(fold.place(edges_.front().connection) - before));
    if (keeps) calls.emplace(std::move(key), done);
    from = period;
  }
  const std::uint32_t transfers = done.back();
  for (std::size_t rank = from; rank < size_; ++rank) fold.skip(edges_[rank].connection, transfers);
  done.pop_back();
  done.resize(size_);
  for (std::size_t rank = period; rank < size_; ++rank) done[rank] = done[rank - period];
  return done;
}

void Ring::copy_last(Bytes size, TagId tag, std::span<TaskId> received) {
  Tag of_kernels = graph_.tags()[tag];
  of_kernels.of = TaskClass::kKernels;
  const TagId kernels = graph_.tag(std::move(of_kernels));
  for (std::size_t rank = 0; rank < received.size(); ++rank)
    received[rank] = graph_.delay(size / rules_.last_copy[rank], kernels, std::array{received[rank]});
}

std::vector<TaskId> Ring::run_aggregated(int steps, Bytes size, TagId tag, std::span<const TaskId> ready) {
  const std::size_t n = size_;
  const Bytes volume = size * (static_cast<double>(steps) / static_cast<double>(n));
  std::vector<TaskId> sent(n);
  const double loops = loop_count(static_cast<int>(n), size, rules_);
  const Bytes slice = volume / (loops * steps * rules_.slices);
  Seconds around{0}, waits{0}, longest{0};
  for (std::size_t rank = 0; rank < n; ++rank) {
    const Seconds latency = graph_.connection(edges_[rank].connection).route.latency;
    around += latency;
    waits += visible_latency(edges_[rank], slice);
    longest = std::max(longest, latency);
    sent[rank] = graph_.transfer(edges_[rank].connection, volume, tag, std::array{ready[rank]});
  }
  // Each of `loops` chains has `steps` hops of the ring's mean latency, as far as no slice hides it, but for the last; the
  // transfers above paid one hop.
  const Seconds chains = (waits * (steps - 1.0) + around) * (loops / static_cast<double>(n));
  const TaskId done = graph_.delay(std::max(Seconds{0}, chains - longest), tag, sent);
  std::vector<TaskId> received(n, done);
  if (!rules_.last_copy.empty()) copy_last(size / static_cast<double>(n), tag, received);
  return received;
}

namespace {

// Inferred: all-reduces of 2 to 8 A100 in public tables take 2 (n-1) + 0.4 steps of 235 GB/s on 24 channels.
constexpr BytesPerSecond kChannelCopy{24.5e9};

}  // namespace

std::vector<std::vector<BytesPerSecond>> last_copies(const Network& network, std::span<const std::vector<int>> rings,
                                                     int channels, const Relays& relays) {
  std::map<int, double> uses;
  std::vector<std::vector<Route>> ways;  // to each rank, from its predecessor
  for (const auto& devices : rings) {
    ways.emplace_back();
    for (std::size_t rank = 0; rank < devices.size(); ++rank) {
      const int from = devices[rank == 0 ? devices.size() - 1 : rank - 1];
      if (!network.share_vm(from, devices[rank])) return {};
      ways.back().push_back(network.route(from, devices[rank], -1, relay_between(relays, from, devices[rank])));
      for (const int link : ways.back().back().links) ++uses[link];
    }
  }
  std::vector<std::vector<BytesPerSecond>> out;
  for (const auto& ring : ways) {
    out.emplace_back();
    for (const Route& way : ring) {
      BytesPerSecond rate{way.measured ? std::numeric_limits<double>::infinity() : kChannelCopy.value * channels};
      if (way.staged && !way.measured) {
        rate = BytesPerSecond{std::numeric_limits<double>::infinity()};
        for (const int link : way.links) rate = std::min(rate, network.links()[link].bandwidth / uses.at(link));
      }
      out.back().push_back(rate);
    }
  }
  return out;
}

}  // namespace slmsim
