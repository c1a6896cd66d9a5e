#include "sim/cli/common.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <optional>

#include <fmt/format.h>

#include "sim/base/deadline.h"
#include "sim/base/error.h"
#include "sim/base/quantity.h"
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

Shard parse_shard(const std::string& text) {
  if (text.empty()) return {};
  const auto slash = std::min(text.find('/'), text.size());
  const auto index = parse_number(text.substr(0, slash));
  const auto count = slash < text.size() ? parse_number(text.substr(slash + 1)) : std::nullopt;
  const auto is_count = [](std::optional<double> n) { return n && *n >= 1 && *n <= 1e6 && *n == std::floor(*n); };
  if (!is_count(index) || !is_count(count) || *index > *count)
    throw InputError({},
                     fmt::format("--shard \"{}\": i/n with i from 1 to n is expected, e.g. 2/8", text.substr(0, 64)));
  return {static_cast<std::uint64_t>(*index), static_cast<std::uint64_t>(*count)};
}

namespace {

volatile std::sig_atomic_t signal_that_came = 0;

}  // namespace

std::function<bool()> stop_at(double seconds) {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, [](int came) {
      signal_that_came = came;
      std::signal(came, SIG_DFL);
    });
  }
  return [deadline = Deadline::of_limit(seconds)] { return signal_that_came != 0 || deadline.is_over(); };
}

void end_as_asked() {
  if (signal_that_came == 0) return;
  std::signal(signal_that_came, SIG_DFL);
  std::raise(signal_that_came);
}

}  // namespace slmsim
