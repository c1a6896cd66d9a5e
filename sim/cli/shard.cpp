#include "sim/cli/shard.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/base/error.h"
#include "sim/base/quantity.h"

namespace slmsim {

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

}  // namespace slmsim
