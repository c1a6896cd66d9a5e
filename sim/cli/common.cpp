#include "sim/cli/common.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <optional>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/quantity.h"
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

Shard parse_shard(const std::string& text) {
  if (text.empty()) return {};
  const auto slash = std::min(text.find('/'), text.size());
  const auto index = parse_number(text.substr(0, slash));
  const auto count = slash < text.size() ? parse_number(text.substr(slash + 1)) : std::nullopt;
  const auto is_count = [](std::optional<double> n) { return n && *n >= 1 && *n <= 1e6 && *n == std::floor(*n); };
  if (!is_count(index) || !is_count(count) || *index > *count)
    throw InputError(
        {}, fmt::format("--shard \"{}\" is no part; it reads i/n with i from 1 to n, e.g. 2/8", text.substr(0, 64)));
  return {static_cast<std::uint64_t>(*index), static_cast<std::uint64_t>(*count)};
}

namespace {

using std::chrono::steady_clock;

volatile std::sig_atomic_t signal_that_came = 0;

}  // namespace

std::function<bool()> stop_at(double seconds) {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, [](int came) {
      signal_that_came = came;
      std::signal(came, SIG_DFL);
    });
  }
  const auto end =
      steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(seconds));
  return [seconds, end] { return signal_that_came != 0 || (seconds > 0 && steady_clock::now() >= end); };
}

void end_as_asked() {
  if (signal_that_came == 0) return;
  std::signal(signal_that_came, SIG_DFL);
  std::raise(signal_that_came);
}

}  // namespace slmsim
