#include "tests/validation/job_runs.h"

#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "sim/base/csv.h"
#include "sim/base/error.h"
#include "sim/base/quantity.h"

namespace slmsim {
namespace {

constexpr int kDrawnJobs = 10'000;

constexpr double kMostOfJob = 1e12;

Seconds stop_time(const TableRow& row, std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  const ParsedQuantity parsed = parse_quantity(text, Dimension::kTime);
  if (!parsed.problem.empty()) row.fail("stops: " + parsed.problem);
  return Seconds{parsed.value};
}

// "168 h: 2 h; 20 d: 10 h"
std::vector<Stop> stops_in(const TableRow& row) {
  std::vector<Stop> out;
  const std::string& all = row.text("stops");
  for (std::size_t from = 0; from < all.size();) {
    const std::size_t end = std::min(all.find(';', from), all.size());
    const std::string one = all.substr(from, end - from);
    const std::size_t colon = std::min(one.find(':'), one.size());
    const Seconds mtbf = stop_time(row, one.substr(0, colon));
    if (mtbf <= Seconds{0} || colon == one.size())
      row.fail(fmt::format("stops: \"{}\" is not like \"168 h: 2 h\", the time between two and what each takes",
                           one.substr(0, 64)));
    out.push_back({1 / mtbf.value, stop_time(row, one.substr(colon + 1)), Seconds{0}});
    from = end + 1;
  }
  return out;
}

JobRun read_run(const TableRow& row) {
  JobRun out{row.text("run"), row.text("stretch"), row.text("source"), {}, {}, 0, 0, {}, {}};
  const double iterations = row.number("iterations", 1, kMostOfJob), every = row.number("checkpoint_every", 0, kMostOfJob);
  const Seconds iteration{row.number("iteration_s", 1e-6, kMostOfJob)};
  out.elapsed = Seconds{row.number("elapsed_h", 1e-3, kMostOfJob) * 3600};
  const Seconds training = iteration * iterations;
  JobProcess& process = out.process;
  if (const double evaluations = row.number("evaluate_every", 0, kMostOfJob); evaluations > 0)
    process.evaluation = Seconds{row.number("evaluation_s", 0, kMostOfJob)} * std::floor(iterations / evaluations);
  process.work = process.plain = training + process.evaluation;
  if (every > 0) process.interval = iteration * every;
  process.pause = process.write = Seconds{row.number("checkpoint_s", 0, kMostOfJob)};
  process.stops = stops_in(row);
  out.measured = training / out.elapsed;
  out.lost = out.elapsed - training;
  return out;
}

}  // namespace

Comparison JobRun::judged() const { return {measured, predicted}; }

JobValidation validate_jobs(const std::filesystem::path& file) {
  const auto table = read_table(file,
                                {"run", "stretch", "iterations", "iteration_s", "elapsed_h", "checkpoint_every",
                                 "checkpoint_s", "evaluate_every", "evaluation_s", "stops", "source"},
                                "tests/reference/job.csv");
  JobValidation out;
  std::vector<Comparison> cells;
  for (const TableRow& row : table) {
    JobRun run = read_run(row);
    Seconds useful{0}, all{0};
    for (const DrawnJob& job : draw_jobs(run.process, kDrawnJobs, 1)) {
      useful += job.parts.useful;
      all += job.parts.total();
    }
    run.predicted = useful / all;
    run.lost_drawn = (all - useful) / kDrawnJobs;
    cells.push_back(run.judged());
    out.runs.push_back(std::move(run));
  }
  out.errors = summary_of(cells);
  return out;
}

}  // namespace slmsim
