// slmsim init: a platform and a scenario for the user's machines.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/cli/common.h"
#include "sim/cli/machines.h"
#include "sim/import/inventory/setup.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

// Measurement of the path between a peer's slmsim-netprobe server and this machine.
std::string probe(const std::string& name, const std::string& address, const std::string& token) {
  fmt::print(stderr, "slmsim: probing {} for 90 s\n", printable(address));
  std::string folder = (fs::temp_directory_path() / "slmsim-init-XXXXXX").string();
  if (!mkdtemp(folder.data()))
    throw InputError(word_place(folder), "a folder for the measurement cannot be created there");
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

// A path is relative to the scenario's folder there, and to the current one here.
std::string model_word(const std::string& model, const std::string& folder) {
  std::error_code ignored;
  if (is_name(model) && !fs::exists(model, ignored)) return model;
  fs::path file = fs::absolute(model);
  if (fs::is_directory(file, ignored)) file /= "config.json";
  if (!fs::exists(file, ignored)) return model;  // the scenario's reader lists the names
  return fs::relative(file, fs::absolute(folder)).string().starts_with(".")
             ? fs::relative(file, fs::absolute(folder)).string()
             : "./" + fs::relative(file, fs::absolute(folder)).string();
}

void refuse_to_overwrite(const std::vector<Result>& files) {
  std::vector<Error> errors;
  std::error_code ignored;
  for (const auto& file : files) {
    if (fs::exists(file.file, ignored))
      errors.push_back({word_place(file.file), "already exists; give --force to overwrite it, or another folder"});
  }
  if (!errors.empty()) throw InputError(std::move(errors));
}

// Reads everything back before the first file is written.
void check(const std::vector<Result>& files, const std::string& folder) {
  const std::string stem = (fs::path(folder) / "scenario.yaml").string();
  const auto text_of = [&](const std::string& name) -> const std::string& {
    return std::find_if(files.begin(), files.end(), [&](const auto& f) { return fs::path(f.file).filename() == name; })
        ->text;
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
  read_scenario(ScenarioFile(std::move(scenario), stem).link({}), "scenario");
}

int init(InitOptions& options) {
  if (options.peers.empty() && options.token_given)
    throw InputError({}, "--token is for measuring the path to --peer NAME=ADDRESS");
  Inventory inventory = machines_of(options);
  for (const auto& word : options.sites) {
    const Pair pair = pair_of("--site", word, "NAME=SITE");
    machine_called(inventory, "--site", pair.key).site = pair.value;
  }
  for (const auto& word : options.types) {
    const Pair pair = pair_of("--vm-type", word, "NAME=TYPE");
    machine_called(inventory, "--vm-type", pair.key).type = pair.value;
  }
  add_links(options, inventory);
  const auto file = [&](const char* name) { return (fs::path(options.folder) / name).string(); };
  if (!options.force) refuse_to_overwrite({{"", file("platform.yaml")}, {"", file("scenario.yaml")}});
  std::vector<Result> files = probe_peers(options, inventory);

  SetupRequest request;
  const std::string folder = fs::weakly_canonical(options.folder).filename().string();
  request.name = options.name.empty() ? key_name(folder) : options.name;
  if (!is_name(request.name)) throw InputError({}, "--name: letters, digits and - _ . are expected");
  request.command = options.command;
  request.inventory = std::move(inventory);
  for (const auto& model : options.models) request.models.push_back(model_word(model, options.folder));
  if (request.models.empty()) request.models = {"gpt2m"};
  request.techniques = options.techniques;
  if (request.techniques.empty()) request.techniques = {"Data", "ZeRO2", "Shard", "Pipeshard"};
  request.batch = options.batch;
  const Setup setup = set_up(request);
  files.push_back({setup.platform, file("platform.yaml")});
  files.push_back({setup.scenario, file("scenario.yaml")});
  check(files, options.folder);
  std::error_code failed;
  fs::create_directories(options.folder, failed);
  write_results(files);

  std::string summary = fmt::format("{} and scenario.yaml: {} machine{}, {} GPU{}, {} site{}\n", file("platform.yaml"),
                                    setup.machines, setup.machines == 1 ? "" : "s", setup.gpus,
                                    setup.gpus == 1 ? "" : "s", setup.sites, setup.sites == 1 ? "" : "s");
  for (const auto& remark : request.inventory.remarks) summary += fmt::format("remark: {}\n", printable(remark));
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
  const auto list = [&](const char* name, std::vector<std::string>& words, const char* about) {
    verb->add_option(name, words, about)->take_all()->allow_extra_args(false);
  };
  verb->add_option("DIR", options->folder, "the folder for platform.yaml and scenario.yaml")->capture_default_str();
  list("--gpu", options->gpus,
       "TYPE:COUNT: GPUs of this machine, or of listed machines that state none; NAME=TYPE:COUNT: of machine NAME");
  list("--site", options->sites, "NAME=SITE: site of a machine; each machine of --gpu defaults to a site of its own");
  list("--link", options->links, "SITE,SITE=RTT[,RATE]: the path between two sites, such as lab,cloud=28ms,1Gbps");
  list("--peer", options->peers, "NAME=ADDRESS: measure the path to NAME, where slmsim-netprobe server runs");
  auto* token = verb->add_option("--token", options->token, "token printed by the peers' servers");
  token->envname("SLMSIM_NETPROBE_TOKEN");
  list("--fablib", options->fablib,
       "a FABRIC slice by FABlib: slice.save(), a notebook with outputs, JSON or printed tables");
  verb->add_option("--ansible", options->ansible,
                   "an Ansible inventory (INI, YAML or the output of ansible-inventory --list) or a list of hosts");
  verb->add_option("--ssh", options->ssh, "an ssh configuration");
  list("--vm-type", options->types, "NAME=TYPE: machine type, a name of platforms/vms");
  list("--model,-m", options->models, "a name of models/, or a Hugging Face config.json; default gpt2m");
  list("--technique,-t", options->techniques, "a technique to predict; default Data, ZeRO2, Shard and Pipeshard");
  verb->add_option("--batch", options->batch, "sequences per iteration; default 8 per GPU")
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
  slmsim init --fablib slice.graphml --model gpt2m mine
  slmsim init --ansible inventory.ini --gpu t4:1 mine)");
  return {verb, [options, verb, token] {
            options->token_given = token->count() > 0 && !std::getenv("SLMSIM_NETPROBE_TOKEN");
            options->command = command_text(*verb, *options);
            return init(*options);
          }};
}

}  // namespace slmsim
