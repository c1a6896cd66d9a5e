#include "sim/cli/intervals.h"

#include <fmt/format.h>

#include "sim/cli/command.h"

namespace slmsim {

void add_interval_options(CLI::App& verb, IntervalRequest& options) {
  verb.add_option("--fitted", options.fitted, "use the values of this fit (slmsim fit) and report intervals");
  verb.add_flag("--intervals", options.intervals,
                "report an interval for each prediction, from the scenario's unknowns");
  verb.add_option("--level", options.level, "probability that an interval contains the measured value")
      ->capture_default_str()
      ->check(number_within(0.5, 0.99));
  add_seed(verb, options.seed, "seed of the points that intervals are computed from");
}

Intervals intervals_of(const IntervalRequest& request, const ScenarioOptions& options) {
  const IntervalRequest usual;
  if (!request.asked() && request.level != usual.level)
    throw InputError({}, "--level needs --intervals or --fitted FILE");
  if (!request.asked() && request.seed != usual.seed) throw InputError({}, "--seed needs --intervals");
  if (!request.fitted.empty() && request.seed != usual.seed)
    throw InputError({}, "--seed has no effect with --fitted FILE, which holds its points");
  if (!request.fitted.empty() && options.scenarios.size() != 1)
    throw InputError({}, "--fitted FILE is for one scenario; give only that one");
  Intervals out(request, options.scenarios.front(), options.overrides);
  if (out.is_stale())
    fmt::print(stderr, "slmsim: {} was fitted before the files of {} changed; fit again if the change matters\n",
               request.fitted, options.scenarios.front());
  return out;
}

}  // namespace slmsim
