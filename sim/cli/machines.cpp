#include "sim/cli/machines.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iostream>
#include <set>
#include <sstream>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/text.h"
#include "sim/cli/command.h"
#include "sim/import/inventory/fablib.h"

namespace slmsim {
namespace {

Machine* find(Inventory& inventory, const std::string& name) {
  auto& all = inventory.machines;
  const auto at = std::ranges::find_if(all, [&](const auto& m) { return m.name == name; });
  return at == all.end() ? nullptr : &*at;
}

struct GpusHere {
  std::vector<std::string> names;
  std::set<double> limits;  // power limits in W; 0: the board's full power
};

// As nvidia-smi names them; none where the program or a GPU is missing.
GpusHere gpus_of_this_machine() {
  const auto output =
      output_of({"nvidia-smi", "--query-gpu=name,power.limit,power.default_limit", "--format=csv,noheader"});
  GpusHere out;
  std::istringstream lines(output.value_or(""));
  for (std::string text; std::getline(lines, text);) {
    if (text.empty()) continue;
    std::istringstream parts(text);
    std::string line, limit, usual;
    std::getline(parts, line, ',');
    std::getline(parts, limit, ',');
    std::getline(parts, usual);
    const std::string name = gpu_called(line);
    if (name.empty())
      throw InputError({}, fmt::format("nvidia-smi reports a \"{}\", which is not in platforms/gpus; name a similar "
                                       "one with --gpu, or write its file (docs/scenario.md#gpus)",
                                       printable(line).substr(0, 64)));
    out.names.push_back(name);
    // "280.00 W", or "[N/A]", whose value is 0.
    const double most = parse_quantity(limit, Dimension::kPower).value;
    const double board = parse_quantity(usual, Dimension::kPower).value;
    out.limits.insert(most < board ? most : 0.0);
  }
  return out;
}

void add_machine(Inventory& inventory, const std::string& name, std::vector<std::string> gpus) {
  Machine machine;
  machine.name = name;
  machine.site = name;
  machine.gpus = std::move(gpus);
  inventory.machines.push_back(std::move(machine));
}

// --gpu TYPE:COUNT applies to this machine, or to those of an inventory without GPUs, of which it may state the number;
// NAME=TYPE:COUNT to one machine, for which it holds over the inventory.
void add_gpus(const InitOptions& options, Inventory& inventory) {
  const bool listed = !inventory.machines.empty();
  std::set<std::string> replaced;
  for (const auto& word : options.gpus) {
    const bool named = word.find('=') != std::string::npos;
    const Pair pair = named ? pair_of("--gpu", word, "NAME=TYPE:COUNT") : Pair{kHere, word};
    const auto gpus = read_gpus(pair.value, whole_of("--gpu"));
    if (gpus.empty())
      throw InputError({}, fmt::format("--gpu \"{}\" names no GPU; expected TYPE:COUNT with a count of 1 or more",
                                       printable(word).substr(0, 64)));
    if (listed && !named) {
      const bool counted = pair.value.find_first_of(":,") != std::string::npos;
      for (auto& machine : inventory.machines) {
        if (!machine.gpus.empty()) continue;
        machine.gpus = gpus;
        if (machine.count > 0 && !counted) machine.gpus.assign(static_cast<std::size_t>(machine.count), gpus.front());
      }
    } else if (Machine* machine = find(inventory, pair.key)) {
      if (listed && replaced.insert(pair.key).second) machine->gpus.clear();
      machine->gpus.insert(machine->gpus.end(), gpus.begin(), gpus.end());
    } else if (listed) {
      machine_called(inventory, "--gpu", pair.key);
    } else {
      add_machine(inventory, pair.key, gpus);
    }
  }
}

StatedGpus stated_gpus(const InitOptions& options) {
  StatedGpus out;
  for (const auto& word : options.gpus) {
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      out.others = true;
    else
      out.nodes.insert(word.substr(0, equals));
  }
  return out;
}

void add_power_limit(const GpusHere& here, Inventory& inventory) {
  Machine* machine = find(inventory, kHere);
  if (!machine || here.names.empty() || machine->gpus != here.names) return;
  if (here.limits.size() > 1)
    inventory.remarks.emplace_back(
        "the GPUs of this machine have different power limits (nvidia-smi); none is used, since a VM states one "
        "power_limit");
  else if (*here.limits.begin() > 0)
    machine->power_limit = Watts{*here.limits.begin()};
}

// Asks until the answer passes `check`, which throws InputError with the reason otherwise. Throws InputError where the input
// ends.
std::string ask(const std::string& question, const std::string& usual,
                const std::function<void(const std::string&)>& check) {
  for (;;) {
    fmt::print("{}{}: ", question, usual.empty() ? "" : fmt::format(" [{}]", usual));
    std::fflush(stdout);
    std::string line;
    if (!std::getline(std::cin, line)) throw InputError({}, "the questions were not answered; nothing is written");
    line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    if (line.empty()) line = usual;
    try {
      check(line);
      return line;
    } catch (const InputError& error) {
      for (const auto& one : error.errors()) fmt::print("  {}\n", one.text);
    }
  }
}

void check_gpus(const std::string& text) {
  if (text.find('=') != std::string::npos) throw InputError({}, "only TYPE:COUNT; other machines come next");
  if (read_gpus(text, {}).empty()) throw InputError({}, "a count of 1 or more is expected; - for none");
}

double check_quantity(const std::string& text, Dimension dimension, double low, double high, const char* range) {
  const auto [value, problem] = parse_quantity(text, dimension);
  if (!problem.empty()) throw InputError({}, problem);
  if (value < low || value > high)
    throw InputError({}, fmt::format("\"{}\" is out of range; expected {}", printable(text).substr(0, 64), range));
  return value;
}

Seconds check_round_trip(const std::string& text) {
  return Seconds{check_quantity(text, Dimension::kTime, kRttRange.low.value, kRttRange.high.value,
                                "100 ns to 10 s, such as 28 ms")};
}

BytesPerSecond check_rate(const std::string& text) {
  return BytesPerSecond{
      check_quantity(text, Dimension::kDataRate, kNetRange.low.value, kNetRange.high.value, "1 kbps to 800 Tbps")};
}

// Whose a link's rate is: a value of a platform's bandwidth_of.
void check_whose(const std::string& text) {
  const auto& names = bandwidth_holder_names();
  if (std::ranges::find(names, text) == names.end())
    throw InputError({}, fmt::format("\"{}\" is none of path (all traffic together), pair (each two machines) and "
                                     "connection (each TCP connection)",
                                     printable(text).substr(0, 64)));
}

// Asks on a terminal, where no machine was named.
void ask_for_machines(InitOptions& options, const std::vector<std::string>& found) {
  // "-" skips a question.
  const auto or_none = [](const std::function<void(const std::string&)>& check) {
    return [check](const std::string& text) {
      if (text != "-") check(text);
    };
  };
  const std::string usual = found.empty() ? "-" : fmt::format("{}:{}", found.front(), found.size());
  const std::string here = ask("GPUs of this machine, as TYPE:COUNT (- for none)", usual, or_none(check_gpus));
  if (here != "-") options.gpus.push_back(here);
  std::set<std::string> names = {kHere};
  const auto check_machine = [&](const std::string& text) {
    if (text == "-" && options.gpus.empty()) throw InputError({}, "at least one machine with a GPU is needed");
    if (text == "-") return;
    const Pair pair = pair_of("machine", text, "NAME=TYPE:COUNT");
    if (pair.key.find(',') != std::string::npos) throw InputError({}, "a machine's name holds no comma");
    if (names.contains(pair.key))
      throw InputError({}, fmt::format("\"{}\" is named already; choose another name", printable(pair.key)));
    check_gpus(pair.value);
  };
  for (;;) {
    const std::string other = ask("another machine, as NAME=TYPE:COUNT (- for no more)", "-", check_machine);
    if (other == "-") break;
    const std::string name = pair_of("machine", other, "NAME=TYPE:COUNT").key;
    options.gpus.push_back(other);
    names.insert(name);
    if (here == "-") continue;
    const std::string rtt = ask(fmt::format("round trip from here to {}, as ping reports it (- if unknown)", name), "-",
                                or_none(check_round_trip));
    if (rtt == "-") continue;
    const std::string rate = ask("and the rate of that path, such as 1 Gbps (- if unknown)", "-", or_none(check_rate));
    std::string link = fmt::format("{},{}={}", kHere, name, rtt);
    if (rate != "-")
      link += fmt::format(",{},{}", rate,
                          ask("whose rate is it: all traffic's (path), that of each pair of machines (pair) or of each "
                              "TCP connection (connection)",
                              "path", check_whose));
    options.links.push_back(link);
  }
  if (options.models.empty())
    options.models = {ask("model, a name of models/ or a Hugging Face config.json", "gpt2m",
                          [&](const std::string& word) { choose_model(word, options.folder, options.sequence); })};
  if (options.batch > 0) return;
  const auto check_batch = [](const std::string& text) {
    const auto number = parse_number(text);
    if (!number || *number < 1 || *number > 1e6 || *number != std::floor(*number))
      throw InputError({}, fmt::format("\"{}\" is not a number of sequences; expected a whole number from 1",
                                       printable(text).substr(0, 64)));
  };
  const std::string batch = ask("sequences per iteration (- for 8 or more per GPU)", "-", or_none(check_batch));
  if (batch != "-") options.batch = static_cast<int>(*parse_number(batch));
}

// RTT[,RATE[,WHOSE]] of --link.
void read_values(const std::string& text, SiteLink& link) {
  try {
    const auto second = text.find(',');
    link.rtt = check_round_trip(text.substr(0, second));
    if (second == std::string::npos) return;
    const auto third = text.find(',', second + 1);
    link.bandwidth = check_rate(text.substr(second + 1, third - second - 1));
    if (third == std::string::npos) return;
    link.bandwidth_of = text.substr(third + 1);
    check_whose(link.bandwidth_of);
  } catch (const InputError& wrong) {
    throw InputError({}, fmt::format("--link: {}", wrong.what()));
  }
}

}  // namespace

Pair pair_of(const std::string& option, const std::string& text, const char* form) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    throw InputError({}, fmt::format("{} \"{}\": {} is expected", option, printable(text).substr(0, 64), form));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Pair pair_once(const std::string& option, const std::string& text, const char* form, std::set<std::string>& stated) {
  Pair pair = pair_of(option, text, form);
  if (!stated.insert(pair.key).second)
    throw InputError({}, fmt::format("{} states {} twice; state it once", option, printable(pair.key).substr(0, 64)));
  return pair;
}

Machine& machine_called(Inventory& inventory, const std::string& option, const std::string& name) {
  if (Machine* machine = find(inventory, name)) return *machine;
  std::vector<std::string> known;
  for (const auto& machine : inventory.machines) known.push_back(machine.name);
  throw InputError({}, fmt::format("{}: there is no machine \"{}\"; {}", option, printable(name).substr(0, 64),
                                   did_you_mean(name, known)));
}

Inventory machines_of(InitOptions& options) {
  const int sources = int(!options.fablib.empty()) + int(!options.ansible.empty()) + int(!options.ssh.empty());
  if (sources > 1) throw InputError({}, "give one of --fablib, --ansible and --ssh");
  Inventory out;
  GpusHere here;
  if (!options.fablib.empty()) out = read_fablib(options.fablib, stated_gpus(options));
  if (!options.ansible.empty()) out = read_ansible(options.ansible);
  if (!options.ssh.empty()) out = read_ssh_config(options.ssh);
  if (sources == 0) {
    const bool names_here = std::ranges::any_of(options.gpus, [](const std::string& word) {
      return word.find('=') == std::string::npos || word.starts_with(fmt::format("{}=", kHere));
    });
    const bool needs_here = !names_here && (options.gpus.empty() || !options.peers.empty());
    if (needs_here) here = gpus_of_this_machine();
    const auto& found = here.names;
    if (options.gpus.empty() && options.peers.empty() && isatty(STDIN_FILENO)) {
      ask_for_machines(options, found);
    } else if (!found.empty()) {
      add_machine(out, kHere, found);
    }
  }
  add_gpus(options, out);
  add_power_limit(here, out);
  // Machines without GPUs in a list are skipped; where none has GPUs, the user must add them.
  const bool any = std::ranges::any_of(out.machines, [](const auto& m) { return !m.gpus.empty(); });
  if (sources > 0 && any) {
    std::erase_if(out.machines, [&](const Machine& machine) {
      if (!machine.gpus.empty()) return false;
      out.remarks.push_back(fmt::format("{} states no GPUs (gpus=TYPE:COUNT) and is skipped", machine.name));
      return true;
    });
  }
  if (out.machines.empty())
    throw InputError({},
                     "no machine is named, and nvidia-smi finds no GPU here; give --gpu TYPE:COUNT, --gpu "
                     "NAME=TYPE:COUNT, --fablib, --ansible or --ssh FILE");
  return out;
}

void add_links(const InitOptions& options, Inventory& inventory) {
  std::set<std::pair<std::string, std::string>> pairs;
  for (const auto& word : options.links) {
    const char* form = "SITE,SITE=RTT[,RATE[,WHOSE]]";
    const Pair pair = pair_of("--link", word, form);
    const auto comma = pair.key.find(',');
    if (comma == std::string::npos || comma == 0 || comma + 1 == pair.key.size())
      throw InputError({}, fmt::format("--link \"{}\": {} is expected", printable(word).substr(0, 64), form));
    SiteLink connection;
    connection.from = pair.key.substr(0, comma);
    connection.to = pair.key.substr(comma + 1);
    connection.rtt_source = connection.bandwidth_source = "--link";
    for (const std::string* end : {&connection.from, &connection.to}) {
      std::vector<std::string> sites;
      for (const auto& machine : inventory.machines) {
        if (std::ranges::find(sites, machine.site) == sites.end()) sites.push_back(machine.site);
      }
      if (std::ranges::find(sites, *end) != sites.end()) continue;
      const auto machine =
          std::ranges::find_if(inventory.machines, [&](const Machine& one) { return one.name == *end; });
      throw InputError({}, fmt::format("--link: there is no site \"{}\"; {}", printable(*end).substr(0, 64),
                                       machine == inventory.machines.end()
                                           ? did_you_mean(*end, sites)
                                           : fmt::format("the machine of that name is at site {}", machine->site)));
    }
    if (connection.from == connection.to)
      throw InputError({}, fmt::format("--link \"{}\" names one site twice; a link joins two sites", word));
    if (!pairs.insert(std::minmax(connection.from, connection.to)).second)
      throw InputError({}, fmt::format("--link states the path between {} and {} twice; state it once", connection.from,
                                       connection.to));
    read_values(pair.value, connection);
    std::erase_if(inventory.connections, [&](const SiteLink& known) {
      return (known.from == connection.from && known.to == connection.to) ||
             (known.from == connection.to && known.to == connection.from);
    });
    inventory.connections.push_back(std::move(connection));
  }
}

void add_prices(const InitOptions& options, Inventory& inventory) {
  std::set<std::string> named;
  std::map<std::string, double> by_gpu;
  for (const auto& word : options.prices) {
    const Pair pair = pair_once("--price", word, "GPU=USD or MACHINE=USD", named);
    const std::string amount = pair.value.starts_with('$') ? pair.value.substr(1) : pair.value;
    const auto dollars = parse_number(amount);
    if (!dollars || *dollars < 0 || *dollars > 1e6)
      throw InputError({}, fmt::format("--price \"{}\": dollars per hour are expected, such as {}=1.99",
                                       printable(word).substr(0, 64), printable(pair.key).substr(0, 32)));
    if (Machine* machine = find(inventory, pair.key)) {
      machine->price = *dollars;
      continue;
    }
    const std::string gpu = gpu_called(pair.key);
    const bool any = std::ranges::any_of(inventory.machines, [&](const Machine& machine) {
      return std::ranges::find(machine.gpus, gpu) != machine.gpus.end();
    });
    if (any) by_gpu[gpu] = *dollars;
    if (any) continue;
    std::vector<std::string> known;
    for (const auto& machine : inventory.machines) {
      known.push_back(machine.name);
      known.insert(known.end(), machine.gpus.begin(), machine.gpus.end());
    }
    std::ranges::sort(known);
    known.erase(std::unique(known.begin(), known.end()), known.end());
    throw InputError({}, fmt::format("--price: no machine or GPU is named \"{}\"; {}",
                                     printable(pair.key).substr(0, 64), did_you_mean(pair.key, known)));
  }
  // A machine's own price is all that it costs.
  for (auto& machine : inventory.machines) {
    double sum = 0;
    bool any = false;
    for (const auto& gpu : machine.gpus) {
      const auto price = by_gpu.find(gpu);
      if (price != by_gpu.end()) sum += price->second, any = true;
    }
    if (any && !machine.price) machine.price = sum;
  }
}

}  // namespace slmsim
