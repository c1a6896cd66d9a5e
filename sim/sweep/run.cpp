#include "sim/sweep/run.h"

#include <cstdlib>
#include <exception>
#include <memory>

#include <fmt/format.h>

#include "sim/base/quantity.h"
#include "sim/sweep/crew.h"
#include "sim/sweep/queue.h"
#ifdef SLMSIM_MPI
#include "sim/sweep/mpi/ranks.h"
#endif

namespace slmsim {
namespace {

constexpr std::size_t kMostPointsAtOnce = 16;  // given to a worker; some 20 us each time
constexpr int kPatience = 200;                 // ms between two questions whether to stop

PointRows rows_or_reason(Sweep& sweep, std::uint64_t point) {
  try {
    return sweep.rows(point);
  } catch (const std::exception& error) {
    return sweep.failed(point, printable(fmt::format("internal error: {}", error.what())));
  }
}

// True if every point got its rows. `Workers` is a Crew or what is used like one.
template <class Workers>
bool predict_all(Workers& workers, const Sweep& sweep, PointQueue& queue, Journal& journal, const SweepOptions& options,
                 std::uint64_t all) {
  const std::uint64_t before = journal.count();
  std::size_t busy = 0;
  for (;;) {
    busy = 0;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (workers.is_idle(i)) {
        if (const auto points = queue.take(kMostPointsAtOnce, workers.size()); !points.empty()) workers.give(i, points);
      }
      busy += workers.is_idle(i) ? 0 : 1;
    }
    if (options.progress) options.progress(journal.count(), all, before);
    if (busy == 0) return true;
    if (options.stop && options.stop()) return false;
    for (const auto& event : workers.wait(kPatience)) {
      switch (event.kind) {
        case CrewEvent::Kind::kRows:
          journal.add(event.point, event.rows);
          break;
        case CrewEvent::Kind::kDied:
          if (!queue.died(event.point)) journal.add(event.point, sweep.failed(event.point, event.text));
          break;
        case CrewEvent::Kind::kReturned:
          queue.give_back(event.points);
          break;
      }
    }
  }
}

template <class MakeWorkers>
SweepOutcome conduct(Sweep& sweep, const SweepOptions& options, MakeWorkers make_workers) {
  SweepOutcome outcome;
  outcome.files = result_files(options.output, options.shard);
  const Shard shard = options.shard;
  Journal journal = Journal::open(
      outcome.files.journal, {sweep.identity(options.version), sweep.points(), shard, sweep.header()}, options.restart);
  PointQueue queue(sweep.points(), [&](std::uint64_t point) { return shard.holds(point) && !journal.holds(point); });
  outcome.all = journal.count() + queue.left();
  if (queue.left() > 0) {
    auto workers = make_workers(journal, queue.left());
    outcome.complete = predict_all(*workers, sweep, queue, journal, options, outcome.all);
  } else {
    outcome.complete = true;
  }
  outcome.done = journal.count();
  if (!outcome.complete) return outcome;
  if (shard.count > 1) {
    write_part(journal, outcome.files);
  } else {
    std::vector<Journal> all;
    all.push_back(std::move(journal));
    outcome.rows = write_result_files(all, outcome.files);
  }
  std::error_code ignored;
  std::filesystem::remove(outcome.files.journal, ignored);
  return outcome;
}

}  // namespace

Launch launch_of_environment() {
  // Open MPI; MPICH and Slurm's PMI.
  for (const auto& [size, rank] :
       {std::pair{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"}}) {
    const char *ranks = std::getenv(size), *mine = std::getenv(rank);
    if (ranks && mine) return {std::atoi(ranks), std::atoi(mine)};
  }
  return {};
}

SweepOutcome run_sweep(Sweep& sweep, const SweepOptions& options) {
  const auto rows = [&sweep](std::uint64_t point) { return rows_or_reason(sweep, point); };
  if (launch_of_environment().ranks > 1) {
#ifdef SLMSIM_MPI
    const MpiSession session;
    if (session.rank() > 0) {
      serve(rows);
      return {.complete = true};
    }
    Ranks others(session);
    return conduct(sweep, options, [&](const Journal&, std::uint64_t) { return &others; });
#else
    throw InputError({},
                     "an MPI launcher started several of these, but this slmsim was built without MPI; build it where "
                     "MPI is installed, or cut the sweep with --shard");
#endif
  }
  return conduct(sweep, options, [&](const Journal& journal, std::uint64_t left) {
    const auto jobs = static_cast<std::size_t>(std::min<std::uint64_t>(options.jobs, left));
    return std::make_unique<Crew>(jobs, rows, std::vector<int>{journal.descriptor()});
  });
}

}  // namespace slmsim
