#include "sim/cli/intervals.h"

#include <fmt/format.h>

#include "sim/cli/command.h"

namespace slmsim {

void add_interval_options(CLI::App& verb, IntervalRequest& options) {
  verb.add_option("--fitted", options.fitted, "take the values of this fit (slmsim fit), and tell intervals from it");
  verb.add_flag("--intervals", options.intervals,
                "tell what each prediction is between, from what the scenario does not know");
  verb.add_option("--level", options.level, "probability that an interval holds what would be measured")
      ->capture_default_str()
      ->check(number_within(0.5, 0.99));
  add_seed(verb, options.seed, "of the points that intervals come from; another seed, other points");
}

Intervals intervals_of(const IntervalRequest& request, const ScenarioOptions& options) {
  const IntervalRequest usual;
  if (!request.asked() && request.level != usual.level)
    throw InputError({}, "--level is of intervals; ask for them by --intervals or --fitted FILE");
  if (!request.asked() && request.seed != usual.seed)
    throw InputError({}, "--seed is of intervals; ask for them by --intervals or --fitted FILE");
  if (!request.fitted.empty() && request.seed != usual.seed)
    throw InputError({}, "--seed is of points that are drawn; those of --fitted FILE stand in the file");
  if (!request.fitted.empty() && options.scenarios.size() != 1)
    throw InputError({}, "--fitted FILE is of one scenario; give it alone");
  Intervals out(request, options.scenarios.front(), options.overrides);
  if (out.is_stale())
    fmt::print(stderr, "slmsim: {} was fitted to other files than {} is now; fit again if what changed matters\n",
               request.fitted, options.scenarios.front());
  return out;
}

}  // namespace slmsim
