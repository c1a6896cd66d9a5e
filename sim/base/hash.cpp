#include "sim/base/hash.h"

#include <fmt/format.h>

namespace slmsim {

std::string identity_of(std::string_view version, const std::vector<std::string>& texts) {
  std::uint64_t hash = fnv1a(version);
  // Each text is preceded by its length, so that different lists never hash the same bytes.
  for (const auto& text : texts) hash = fnv1a(text, fnv1a(fmt::format("\n{}\n", text.size()), hash));
  return fmt::format("{:016x}", hash);
}

}  // namespace slmsim
