#include "sim/base/hash.h"

#include <fmt/format.h>

namespace slmsim {

std::string identity_of(std::string_view version, const std::vector<std::string>& texts) {
  std::uint64_t hash = fnv1a(version);
  // A length before each text: two lists of texts never read alike.
  for (const auto& text : texts) hash = fnv1a(text, fnv1a(fmt::format("\n{}\n", text.size()), hash));
  return fmt::format("{:016x}", hash);
}

}  // namespace slmsim
