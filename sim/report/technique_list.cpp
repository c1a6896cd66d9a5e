#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/tables.h"
#include "sim/scenario/technique.h"

namespace slmsim {

std::string to_technique_table() {
  std::string out;
  for (const Technique* one : technique_table()) out += fmt::format("{:<12} {}\n", one->name, one->summary);
  return out;
}

std::string to_technique_json() {
  auto list = nlohmann::ordered_json::array();
  for (const Technique* one : technique_table()) {
    auto options = nlohmann::ordered_json::array();
    for (const OptionSpec* option : options_of(*one)) options.push_back(option->key);
    const FigureStyle& style = one->style;
    list.push_back({{"name", one->name},
                    {"summary", one->summary},
                    {"options", options},
                    {"usual", one->usual},
                    {"looks",
                     {{"fill", style.fill},
                      {"line", style.line},
                      {"marker", style.marker},
                      {"dash", style.dash},
                      {"hatch", style.hatch}}}});
  }
  return list.dump(2) + "\n";
}

}  // namespace slmsim
