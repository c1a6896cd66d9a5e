#include "sim/sweep/run.h"

#include <exception>
#include <memory>

#include <fmt/format.h>

#include "sim/base/quantity.h"
#include "sim/crew/pool.h"
#include "sim/crew/ranks.h"

namespace slmsim {
namespace {

constexpr std::size_t kMostPointsAtOnce = 16;  // per worker; about 20 us each time

PointRows rows_or_reason(Sweep& sweep, std::uint64_t point) {
  try {
    return sweep.rows(point);
  } catch (const std::exception& error) {
    return sweep.failed(point, printable(fmt::format("internal error: {}", error.what())));
  }
}

// True if every point has its rows.
template <class Workers>
bool predict_all(Workers& workers, const Sweep& sweep, QuestionQueue& queue, Journal& journal,
                 const SweepOptions& options, std::uint64_t all) {
  const std::uint64_t before = journal.count();
  AskOptions<PointRows> asking;
  asking.at_once = kMostPointsAtOnce;
  asking.taken = [&](std::uint64_t point, const PointRows& rows) { journal.add(point, rows); };
  asking.lost = [&](std::uint64_t point, const std::string& how) { return sweep.failed(point, how); };
  asking.stop = options.stop;
  if (options.progress) asking.progress = [&] { options.progress(journal.count(), all, before); };
  return ask_all(workers, queue, asking);
}

template <class MakeWorkers>
SweepOutcome conduct(Sweep& sweep, const SweepOptions& options, MakeWorkers make_workers) {
  SweepOutcome outcome;
  outcome.files = result_files(options.output, options.shard);
  const Shard shard = options.shard;
  Journal journal = Journal::open(
      outcome.files.journal, {sweep_words(), sweep.identity(options.version), sweep.points(), shard, sweep.header()},
      options.restart);
  QuestionQueue queue(sweep.points(), [&](std::uint64_t point) { return shard.holds(point) && !journal.holds(point); });
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

SweepOutcome run_sweep(Sweep& sweep, const SweepOptions& options) {
  const auto rows = in_texts<PointRows>([&sweep](std::uint64_t point) { return rows_or_reason(sweep, point); });
  if (launch_of_environment().ranks > 1) {
    const auto transport = Transport::begin();
    if (transport->rank() > 0) {
      serve(*transport, rows);
      return {.complete = true};
    }
    Ranks others(*transport);
    return conduct(sweep, options, [&](const Journal&, std::uint64_t) { return &others; });
  }
  return conduct(sweep, options, [&](const Journal& journal, std::uint64_t left) {
    const auto jobs = static_cast<std::size_t>(std::min<std::uint64_t>(options.jobs, left));
    return std::make_unique<Crew>(jobs, rows, std::vector<int>{journal.descriptor()});
  });
}

}  // namespace slmsim
