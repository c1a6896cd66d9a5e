// One parser under random input. A target returns where the input is sound, and throws InputError where it is not; anything else
// that it throws, or that ends it, is a finding.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace slmsim::fuzz {

using TryInput = std::function<void(std::string_view text)>;

// Every target by its name, which is that of its folder in corpus/.
inline std::map<std::string, TryInput>& targets() {
  static std::map<std::string, TryInput> all;
  return all;
}

// Adds a target to the others: `const Target kText("text", try_text);`.
struct Target {
  Target(const std::string& name, TryInput try_input) { targets()[name] = std::move(try_input); }
};

// The text as a file in memory; its path, which holds until the next call.
std::string as_file(std::string_view text);

}  // namespace slmsim::fuzz
