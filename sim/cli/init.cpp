// slmsim init: a platform and a scenario for the user's machines.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/cli/machines.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

// Measurement of the path between a peer's slmsim-netprobe server and this machine.
std::string probe(const std::string& name, const std::string& address, const std::string& token) {
  fmt::print(stderr, "slmsim: probing {} for 90 s\n", printable(address));
  std::string folder = (fs::temp_directory_path() / "slmsim-init-XXXXXX").string();
  if (!mkdtemp(folder.data()))
    throw InputError(whole_of(folder), "a folder for the measurement cannot be created there");
  const std::string file = folder + "/path.yaml";
  std::vector<std::string> words = {
      beside_this_program("slmsim-netprobe"), "client", address, "--quick", "-o", file, "--name",
      fmt::format("{}-{}", kHere, name)};
  if (!token.empty()) words.insert(words.end(), {"--token", token});
  const bool done = output_of(words, true).has_value();
  std::string text = done && fs::exists(file) ? read_text(file) : "";
  fs::remove_all(folder);
  if (text.empty())
    throw InputError({}, fmt::format("--peer {}: slmsim-netprobe could not measure the path to {}; run slmsim-netprobe "
                                     "server there and give its token with --token (docs/measuring.md#network-path)",
                                     name, printable(address)));
  return text;
}

// The measured paths: files beside the platform.
std::vector<Result> probe_peers(const InitOptions& options, Inventory& inventory) {
  std::vector<Result> files;
  for (const auto& word : options.peers) {
    const auto [name, address] = pair_of("--peer", word, "NAME=ADDRESS");
    Machine& peer = machine_called(inventory, "--peer (name its GPUs with --gpu NAME=TYPE:COUNT)", name);
    Machine& here = machine_called(inventory, "--peer", kHere);
    const std::string file = fmt::format("path-{}.yaml", key_name(name));
    files.push_back({probe(name, address, options.token), (fs::path(options.folder) / file).string()});
    peer.path = here.path = "./" + file;
    peer.path_host = "server";
    here.path_host = "client";
    inventory.connections.push_back({here.site, peer.site, {}, "", {}, "", "./" + file});
  }
  return files;
}

void refuse_to_overwrite(const std::vector<Result>& files) {
  std::vector<Error> errors;
  std::error_code ignored;
  for (const auto& file : files) {
    if (fs::exists(file.file, ignored))
      errors.push_back({whole_of(file.file), "already exists; give --force to overwrite it, or another folder"});
  }
  if (!errors.empty()) throw InputError(std::move(errors));
}

// Before anything is asked or measured: an existing folder, or one that can be created.
void check_target(const std::string& folder) {
  std::error_code failed;
  fs::path existing = fs::absolute(folder, failed).lexically_normal();
  // "mine/" has no name of its own.
  if (existing.filename().empty()) existing = existing.parent_path();
  const auto is_missing = [&](const fs::path& path) {
    const auto status = fs::status(path, failed);
    return status.type() == fs::file_type::not_found;
  };
  while (is_missing(existing) && existing.has_parent_path() && existing != existing.parent_path())
    existing = existing.parent_path();
  const Place place = whole_of(folder);
  const auto status = fs::status(existing, failed);
  if (status.type() != fs::file_type::directory && status.type() != fs::file_type::none)
    throw InputError(place, fmt::format("{} is not a folder; name another one", existing.string()));
  if (access(existing.c_str(), W_OK | X_OK) != 0)
    throw InputError(place, fmt::format("nothing can be written there: {}; name another folder",
                                        std::generic_category().message(errno)));
}

// Reads everything back before the first file is written.
Scenario check(const std::vector<Result>& files, const std::vector<ChosenModel>& models, const std::string& folder) {
  const std::string stem = (fs::path(folder) / "scenario.yaml").string();
  const auto text_of = [&](const std::string& name) -> const std::string& {
    return std::ranges::find_if(files, [&](const auto& f) { return fs::path(f.file).filename() == name; })->text;
  };
  Node scenario = parse_yaml(text_of("scenario.yaml"), stem);
  *scenario.find("platform") = parse_yaml(text_of("platform.yaml"), (fs::path(folder) / "platform.yaml").string());
  // A path measured in this run is not yet a file.
  if (Node* links = scenario.find("platform")->find("links")) {
    for (auto& link : links->entries) {
      if (Node* path = link.value.find("path"))
        *path = parse_yaml(text_of(fs::path(path->scalar).filename()), path->scalar);
    }
  }
  for (auto& vm : scenario.find("platform")->find("vms")->entries) {
    Node* tcp = vm.value.find("tcp");
    if (Node* path = tcp ? tcp->find("path") : nullptr)
      *path = parse_yaml(text_of(fs::path(path->scalar).filename()), path->scalar);
  }
  for (auto& word : scenario.find("models")->items) {
    const auto copy =
        std::ranges::find_if(models, [&](const auto& one) { return !one.file.empty() && one.word == word.scalar; });
    if (copy != models.end()) word = copy->node;
  }
  return read_scenario(ScenarioFile(std::move(scenario), stem).link({}), "scenario");
}

std::vector<ChosenModel> choose_models(const InitOptions& options, std::int64_t most) {
  std::vector<ChosenModel> out;
  for (const auto& word : options.models) {
    out.push_back(choose_model(word, options.folder, options.sequence, most));
    for (std::size_t i = 0; i + 1 < out.size(); ++i) {
      if (out[i].word == out.back().word)
        throw InputError(whole_of("--model"), fmt::format("two models are named {}", out.back().word));
    }
  }
  return out;
}

// The files of a request with these models.
std::vector<Result> files_of(const Setup& setup, const std::vector<ChosenModel>& models, const fs::path& folder) {
  std::vector<Result> out;
  for (const auto& model : models) {
    if (!model.file.empty()) out.push_back({model.text, (folder / model.file).string()});
  }
  out.push_back({setup.platform, (folder / "platform.yaml").string()});
  out.push_back({setup.scenario, (folder / "scenario.yaml").string()});
  return out;
}

// Sequences tried in turn until something fits; 0: the models' own.
constexpr std::int64_t kSequences[] = {0, kUsualSequence, kUsualSequence / 2, kUsualSequence / 4};

struct Completed {
  std::vector<ChosenModel> models;
  bool fits = false;
};

// A machine that is alone at its site has at least the network card that the stated rate of its links takes, where its type is
// assumed. Whether any has a faster one than its type's. The platform's VMs are the machines, in their order.
bool take_cards_of_links(Inventory& inventory, const Platform& platform) {
  bool any = false;
  for (std::size_t i = 0; i < inventory.machines.size(); ++i) {
    Machine& machine = inventory.machines[i];
    const auto here = [&](const Machine& other) { return other.site == machine.site; };
    if (machine.nic || !machine.type.empty() || std::ranges::count_if(inventory.machines, here) > 1) continue;
    BytesPerSecond most = platform.vms[i].type.nic;
    for (const SiteLink& link : inventory.connections) {
      const bool ends_here = link.from == machine.site || link.to == machine.site;
      if (!ends_here || !link.bandwidth || *link.bandwidth <= most) continue;
      most = *link.bandwidth;
      machine.nic = most;
      machine.nic_by_link = link.from == machine.site ? link.to : link.from;
      any = true;
    }
  }
  return any;
}

// Completes a request: the models, then what their formats and the GPUs allow, then the batch that fits. `measured` are the
// files of measured paths, `most` as for choose_model.
Completed completed(SetupRequest& request, const InitOptions& options, const std::vector<Result>& measured,
                    std::int64_t most) {
  const std::vector<ChosenModel> models = choose_models(options, most);
  const auto read = [&] {
    std::vector<Result> files = files_of(set_up(request), models, options.folder);
    files.insert(files.end(), measured.begin(), measured.end());
    return check(files, models, options.folder);
  };
  request.models.clear();
  for (const auto& model : models) request.models.push_back({model.word, model.why});
  request.batch = {std::to_string(std::max(1, options.batch))};
  request.micro_batch = request.gradient_precision = request.rematerialisation = {};
  request.precision = {"fp16"};
  request.stack = {"compiled"};
  Scenario first = read();
  if (take_cards_of_links(request.inventory, first.platform)) first = read();
  const auto stated = std::ranges::find_if(models, [](const auto& model) { return model.dtype.has_value(); });
  request.precision = choose_precision(stated == models.end() ? std::nullopt : stated->dtype, first.platform);
  request.stack = choose_stack(first);
  if (!options.stack.empty()) {
    const NamedStack named = named_stack(options.stack, options.folder);
    request.stack = named.stack;
    request.gradient_precision = named.gradient_precision;
    const Scenario chosen = read();
    const std::string old = too_old_gpu(chosen, all_devices(chosen.platform));
    if (!old.empty()) request.stack.why = old + ": its kernels do not run there";
  }
  const ChosenBatch batch = choose_batch(read(), options.batch);
  request.batch = batch.batch;
  request.micro_batch = batch.micro_batch;
  request.rematerialisation = batch.rematerialisation;
  return {models, batch.fits};
}

std::vector<ChosenModel> complete(SetupRequest& request, const InitOptions& options,
                                  const std::vector<Result>& measured) {
  for (const std::int64_t most : kSequences) {
    Completed one = completed(request, options, measured, most);
    if (one.fits || options.sequence > 0) return one.models;
  }
  return completed(request, options, measured, 0).models;
}

// NAME=VALUE, one for each machine.
void set_each(Inventory& inventory, const char* option, const std::vector<std::string>& words, const char* form,
              std::string Machine::*member) {
  std::set<std::string> named;
  for (const auto& word : words) {
    const Pair pair = pair_once(option, word, form, named);
    machine_called(inventory, option, pair.key).*member = pair.value;
  }
}

int init(InitOptions& options) {
  if (options.peers.empty() && options.token_given)
    throw InputError({}, "--token is for measuring the path to --peer NAME=ADDRESS");
  check_target(options.folder);
  Inventory inventory = machines_of(options);
  set_each(inventory, "--site", options.sites, "NAME=SITE", &Machine::site);
  set_each(inventory, "--vm-type", options.types, "NAME=TYPE", &Machine::type);
  add_links(options, inventory);
  add_prices(options, inventory);
  const auto file = [&](const char* name) { return (fs::path(options.folder) / name).string(); };
  if (!options.force) refuse_to_overwrite({{"", file("platform.yaml")}, {"", file("scenario.yaml")}});

  SetupRequest request;
  std::error_code failed;
  const std::string folder = fs::weakly_canonical(options.folder, failed).filename().string();
  request.name = options.name.empty() ? key_name(folder) : options.name;
  if (!is_name(request.name)) throw InputError({}, "--name: letters, digits and - _ . are expected");
  request.command = options.command;
  request.techniques = options.techniques.empty() ? usual_techniques(inventory) : named_techniques(options.techniques);
  if (options.models.empty()) options.models = {"gpt2m"};
  choose_models(options, 0);  // wrong ones are errors before paths are measured
  const std::vector<Result> measured = probe_peers(options, inventory);
  request.inventory = std::move(inventory);
  const std::vector<ChosenModel> models = complete(request, options, measured);
  const Setup setup = set_up(request);
  std::vector<Result> files = files_of(setup, models, options.folder);
  files.insert(files.end(), measured.begin(), measured.end());
  check(files, models, options.folder);
  if (!options.force) refuse_to_overwrite(files);
  fs::create_directories(options.folder, failed);
  if (failed) throw InputError(whole_of(options.folder), fmt::format("cannot be created: {}", failed.message()));
  write_results(files);

  std::string summary = fmt::format("{} and scenario.yaml: {} machine{}, {} GPU{}, {} site{}\n", file("platform.yaml"),
                                    setup.machines, setup.machines == 1 ? "" : "s", setup.gpus,
                                    setup.gpus == 1 ? "" : "s", setup.sites, setup.sites == 1 ? "" : "s");
  for (const auto& remark : request.inventory.remarks) summary += fmt::format("remark: {}\n", printable(remark));
  for (const auto& [word, why] : request.models) {
    if (!why.empty()) summary += fmt::format("model: {}: {}\n", word, why);
  }
  const auto settings = {std::pair{"batch", request.batch},
                         {"micro_batch", request.micro_batch},
                         {"precision", request.precision},
                         {"rematerialisation", request.rematerialisation},
                         {"stack", request.stack}};
  for (const auto& [key, chosen] : settings) {
    if (!chosen.why.empty()) summary += fmt::format("{}: {} ({})\n", key, chosen.value, chosen.why);
  }
  for (const auto& line : setup.assumed) summary += fmt::format("assumed: {}\n", line);
  summary += fmt::format("next: slmsim run {}\n", file("scenario.yaml"));
  write_result(summary, "");
  return kDone;
}

std::string command_text(const CLI::App& verb, const InitOptions& options) {
  std::string out = "slmsim init";
  for (const auto* option : verb.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames().front();
    if (name == "force" || name == "token" || name == "help") continue;
    for (const auto& word : option->results()) out += fmt::format(" --{} {}", name, word);
  }
  return options.folder == "." ? out : out + " " + options.folder;
}

}  // namespace

Command add_init(CLI::App& app) {
  auto* verb = app.add_subcommand("init", "write a platform and a scenario for your machines");
  auto options = std::make_shared<InitOptions>();
  verb->add_option("DIR", options->folder, "the folder for platform.yaml and scenario.yaml")->capture_default_str();
  add_words(
      *verb, "--gpu", options->gpus,
      "TYPE:COUNT: GPUs of this machine, or of listed machines that state none; NAME=TYPE:COUNT: of machine NAME");
  add_words(*verb, "--site", options->sites,
            "NAME=SITE: site of a machine; each machine of --gpu defaults to a site of its own");
  add_words(
      *verb, "--link", options->links,
      "SITE,SITE=RTT[,RATE[,WHOSE]]: the path between two sites, such as lab,cloud=28ms,1Gbps; WHOSE rate: the path's "
      "(default), of each pair of machines or of each TCP connection");
  add_words(*verb, "--peer", options->peers,
            "NAME=ADDRESS: measure the path to NAME, where slmsim-netprobe server runs");
  auto* token = verb->add_option("--token", options->token, "token printed by the peers' servers");
  token->envname("SLMSIM_NETPROBE_TOKEN");
  add_words(*verb, "--fablib", options->fablib,
            "a FABRIC slice by FABlib: slice.save(), a notebook with outputs, JSON or printed tables");
  verb->add_option("--ansible", options->ansible,
                   "an Ansible inventory (INI, YAML or the output of ansible-inventory --list) or a list of hosts");
  verb->add_option("--ssh", options->ssh, "an ssh configuration");
  add_words(*verb, "--vm-type", options->types, "NAME=TYPE: machine type, a name of platforms/vms");
  add_words(*verb, "--price", options->prices,
            "MACHINE=USD or GPU=USD: price per hour of a machine, or of each such GPU");
  add_words(*verb, "--model,-m", options->models,
            "a config.json, its folder, a shipped model's hub id, or a name of models/; default gpt2m");
  add_sequence_option(*verb, options->sequence);
  add_words(
      *verb, "--technique,--techniques,-t", options->techniques,
      "techniques to predict, with commas; study: those of Alpa's study; default DDP, FSDP, a pipeline and DiLoCo");
  verb->add_option("--stack", options->stack, "software stack (slmsim list stacks); default compiled");
  verb->add_option("--batch", options->batch, "sequences per iteration; default 8 or more per GPU")
      ->check(number_within(1, 1e6));
  verb->add_option("--name", options->name, "name of platform and scenario; default the folder's");
  verb->add_flag("--force", options->force, "overwrite existing files");
  verb->footer(R"(
On a terminal, without machines, it asks questions. GPUs of this machine are read from nvidia-smi. Missing values get
defaults, which are marked in the files and listed with the program that measures them.

Examples:
  slmsim init --gpu a10:2 mine
  slmsim init --gpu desk=rtx3090 --gpu rented=a100-40:2 --link desk,rented=28ms,1Gbps mine
  slmsim init --gpu rtx3090 --gpu lab=a30:2 --peer lab=192.0.2.7 --token TOKEN mine
  slmsim init --gpu lab=a5000:2 --gpu cloud=a100-80 --price a100-80=1.99 --model ./Llama-3.2-1B mine
  slmsim init --fablib slice.graphml --model openai-community/gpt2-medium mine
  slmsim init --ansible inventory.ini --gpu t4:1 mine)");
  return {verb, [options, verb, token] {
            options->token_given = token->count() > 0 && !std::getenv("SLMSIM_NETPROBE_TOKEN");
            options->command = command_text(*verb, *options);
            return init(*options);
          }};
}

}  // namespace slmsim
