#include "sim/scenario/link.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/text.h"
#include "sim/platform/path.h"
#include "sim/scenario/data_root.h"
#include "sim/scenario/kind.h"
#include "sim/scenario/scenario.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

// The canonical form of the existing part of a path, without links; nothing where it cannot be determined.
fs::path resolved(const fs::path& path) {
  std::error_code failed;
  fs::path out = fs::weakly_canonical(fs::absolute(path, failed), failed);
  return failed ? fs::path() : out;
}

constexpr std::size_t kDeepestExtends = 16;
constexpr std::size_t kMostReferences = 32'000;  // GPUs of a platform, each replaced by its file's map
constexpr std::size_t kMostValues = 600'000;     // some 70 per GPU

std::size_t node_count(const Node& node) {
  std::size_t count = 1;
  for (const auto& item : node.items) count += node_count(item);
  for (const auto& entry : node.entries) count += node_count(entry.value);
  return count;
}

constexpr const char* kDefaultStack = "eager";

// Replaces names by the contents of the files they name; each file is read once.
class Linker {
 public:
  using Files = std::map<std::string, Node>;
  using Places = std::map<std::string, fs::path>;

  Linker(const std::vector<fs::path>& roots, const Reach& reach, Files& files, Places& places)
      : roots_(roots), reach_(reach), files_(files), places_(places) {}

  // Replaces the name of a platform's file by its map; names inside it remain.
  void platform_file(Node& platform) { resolve(platform, kPlatformFile); }

  void platform(Node& platform) {
    Node* vms = platform.find("vms");
    if (Node* links = platform.find("links")) {
      for (auto& link : links->entries) {
        if (Node* path = link.value.find("path")) resolve(*path, kPathFile);
      }
    }
    if (!vms || vms->kind != Node::Kind::kMap) return;
    for (auto& vm : vms->entries) {
      if (Node* type = vm.value.find("type")) resolve(*type, kVmFile);
      Node* tcp = vm.value.find("tcp");
      if (Node* path = tcp ? tcp->find("path") : nullptr) resolve(*path, kPathFile);
      Node* storage = vm.value.find("storage");
      if (Node* drives = storage ? storage->find("drives") : nullptr) {
        for (auto& drive : drives->entries) {
          if (Node* model = drive.value.find("model")) resolve(*model, kDriveFile);
        }
      }
      Node* gpus = vm.value.find("gpus");
      if (!gpus) continue;
      if (gpus->kind == Node::Kind::kScalar) *gpus = list_of(*gpus);
      for (auto& gpu : gpus->items) {
        resolve(gpu, kGpuFile);
        if (Node* profile = gpu.find("profile")) share_profile(platform, *profile);
      }
    }
  }

  void scenario(Node& scenario) {
    if (Node* models = scenario.find("models")) {
      if (models->kind == Node::Kind::kScalar) *models = list_of(*models);
      for (auto& model : models->items) resolve(model, kModelFile);
    }
    software(scenario);
    if (Node* platform_node = scenario.find("platform")) {
      resolve(*platform_node, kPlatformFile);
      platform(*platform_node);
    }
  }

  // A scenario without a stack uses kDefaultStack.
  void software(Node& scenario) {
    if (scenario.kind != Node::Kind::kMap) return;
    if (!scenario.find("software")) {
      scenario.entries.push_back({"software", scenario.place, {}});
      scenario.entries.back().value.kind = Node::Kind::kMap;
      scenario.entries.back().value.place = scenario.place;
    }
    Node& software = *scenario.find("software");
    if (software.kind != Node::Kind::kMap) return;
    if (!software.find("stack")) {
      Node stack;
      stack.kind = Node::Kind::kScalar;
      stack.place = {scenario.place.source, 0, 0};  // without a line: read_software reports that it was not stated
      stack.scalar = kDefaultStack;
      software.entries.push_back({"stack", software.place, std::move(stack)});
    }
    resolve(*software.find("stack"), kStackFile);
  }

  void check() const {
    if (!errors_.empty()) throw InputError(errors_);
  }

 private:
  static Node list_of(const Node& item) {
    Node list;
    list.kind = Node::Kind::kSequence;
    list.place = item.place;
    list.items.push_back(item);
    return list;
  }

  // A profile has thousands of values and is named by many GPUs: the platform holds each once, under its file's name,
  // and its GPUs refer to it by that name.
  void share_profile(Node& platform, Node& named) {
    if (named.kind != Node::Kind::kScalar) return;
    Node* profiles = platform.find("profiles");
    if (profiles && profiles->find(named.scalar)) return;
    Node read = named;
    resolve(read, kProfileFile);
    if (read.kind == Node::Kind::kScalar) return;
    if (!profiles) {
      platform.entries.push_back({"profiles", named.place, {}});
      profiles = &platform.entries.back().value;
      profiles->kind = Node::Kind::kMap;
      profiles->place = named.place;
    }
    named.scalar = read.place.source->name;
    if (!profiles->find(named.scalar)) profiles->entries.push_back({named.scalar, named.place, std::move(read)});
  }

  void resolve(Node& node, const FileKind& kind) {
    if (node.kind != Node::Kind::kScalar) return;
    if (++references_ > kMostReferences)
      throw InputError(node.place,
                       fmt::format("more than {} references; that is beyond this simulator", kMostReferences));
    const bool is_path = node.scalar.find('/') != std::string::npos;
    // A path is relative to the folder of the file that states it; an override's to the current folder.
    const fs::path folder_of_path = is_override(node) ? fs::path() : fs::path(node.place.source->name).parent_path();
    fs::path file = is_path ? folder_of_path / node.scalar : named(kind, node.scalar);
    std::error_code ignored;
    if (&kind == &kModelFile && fs::is_directory(file, ignored)) file /= "config.json";  // a Hugging Face folder
    try {
      if (&kind == &kModelFile && is_hub_id(node.scalar) && !fs::exists(file.parent_path(), ignored)) {
        const std::string name = lower_case(node.scalar.substr(node.scalar.find('/') + 1));
        const bool shipped = !named(kind, name).empty();
        errors_.push_back({node.place, fmt::format("there is no file {}; {}", node.scalar,
                                                   shipped ? fmt::format("did you mean \"{}\"?", name)
                                                           : how_to_download(node.scalar))});
        return;
      }
      if (node.scalar.empty() || file.empty()) {
        errors_.push_back({node.place, unknown_text(node.scalar, kind, folder_of_path)});
        return;
      }
      auto found = files_.find(file.string());
      if (found == files_.end()) {
        if (is_path) reach_.check(file, node.place);
        Node read = read_own_yaml(file, kind.what);
        found = files_.emplace(file.string(), &kind == &kPathFile ? as_path(std::move(read)) : std::move(read)).first;
      }
      values_ += node_count(found->second);
      if (values_ > kMostValues)
        throw InputError(
            node.place,
            fmt::format("more than {} values in all files together; that is beyond this simulator", kMostValues));
      const Place named_at = node.place;
      node = found->second;
      node.named_at = named_at;
    } catch (const InputError& inner) {
      if (is_path && inner.errors().front().place.line == 0) {
        errors_.push_back({node.place, fmt::format("{} \"{}\": {}", kind.what, node.scalar, inner.what())});
        return;
      }
      errors_.insert(errors_.end(), inner.errors().begin(), inner.errors().end());
    } catch (const fs::filesystem_error& inner) {
      errors_.push_back(
          {node.place, fmt::format("{} \"{}\": {}", kind.what, node.scalar.substr(0, 64), inner.code().message())});
    }
  }

  fs::path named(const FileKind& kind, const std::string& name) {
    const auto [place, is_new] = places_.try_emplace(std::string(kind.folder) + "/" + name);
    if (is_new) place->second = find_named(roots_, kind, name);
    return place->second;
  }

  std::string unknown_text(const std::string& name, const FileKind& kind, const fs::path& folder) {
    std::error_code ignored;
    const bool is_file = fs::is_regular_file(folder / name, ignored) ||
                         (&kind == &kModelFile && fs::is_regular_file(folder / name / "config.json", ignored));
    const std::string none = fmt::format("there is no {} \"{}\"; ", kind.what, name.substr(0, 64));
    if (is_file) return none + fmt::format("did you mean the file \"./{}\"?", name);
    const auto& known = known_of(kind);
    return &kind == &kGpuFile ? no_such_gpu(name, known) : none + did_you_mean(name, known);
  }

  // Files may be read for their names, so each kind is listed once, however many of its names are wrong.
  const std::vector<std::string>& known_of(const FileKind& kind) {
    const auto [place, is_new] = known_.try_emplace(&kind);
    if (is_new) place->second = known_names(roots_, kind);
    return place->second;
  }

  static bool is_override(const Node& node) { return node.place.source->name.starts_with(kOverrideSource); }

  const std::vector<fs::path>& roots_;
  const Reach& reach_;
  Files& files_;
  Places& places_;
  std::map<const FileKind*, std::vector<std::string>> known_;
  std::vector<Error> errors_;
  std::size_t references_ = 0, values_ = 0;
};

// A file's tree merged with the bases that it extends.
Node with_bases(Node node, const fs::path& file, const Reach& reach, std::vector<fs::path>& chain,
                std::set<std::string>& texts) {
  texts.insert(node.place.source->text);
  const Node* base_name = node.find(kExtends.name);
  if (!base_name) return node;
  if (base_name->kind != Node::Kind::kScalar)
    throw InputError(base_name->place,
                     fmt::format("extends is {}; one file's path is expected", kind_name(base_name->kind)));
  const fs::path base_file = (file.parent_path() / base_name->scalar).lexically_normal();
  chain.push_back(file.lexically_normal());
  const bool ring = std::ranges::find(chain, base_file) != chain.end();
  if (ring)
    throw InputError(base_name->place,
                     fmt::format("\"{}\" extends itself; a base must not lead back to it", base_name->scalar));
  if (chain.size() > kDeepestExtends)
    throw InputError(base_name->place,
                     fmt::format("more than {} files extend each other; fewer are enough", kDeepestExtends));
  reach.check(base_file, base_name->place);
  std::error_code failed;
  const auto status = fs::status(base_file, failed);
  if (!fs::exists(status)) {
    throw InputError(base_name->place,
                     fmt::format("there is no file \"{}\" to extend; the path is relative to this file's folder",
                                 base_name->scalar));
  }
  if (!fs::is_regular_file(status))
    throw InputError(base_name->place, fmt::format("\"{}\" is not a regular file to extend", base_name->scalar));
  Node base = with_bases(read_yaml(base_file), base_file, reach, chain, texts);
  std::erase_if(node.entries, [](const Entry& entry) { return entry.key == kExtends.name; });
  if (const Node* training = node.find("training")) {
    for (const Entry& entry : training->entries) yield_to(base, "training." + entry.key);
  }
  merge(base, node);
  base.place = node.place;
  return base;
}

// Rewrites paths relative to another file's folder as relative to this one.
void rebase(Node& node, const fs::path& folder) {
  if (node.kind == Node::Kind::kScalar && node.scalar.find('/') != std::string::npos && node.place.source) {
    const fs::path own = fs::path(node.place.source->name).parent_path();
    std::error_code ignored;
    if (own != folder && fs::path(node.scalar).is_relative() && fs::exists(own / node.scalar, ignored))
      node.scalar =
          "./" + (own / node.scalar).lexically_normal().lexically_relative(folder.lexically_normal()).string();
  }
  for (auto& item : node.items) rebase(item, folder);
  for (auto& entry : node.entries) rebase(entry.value, folder);
}

}  // namespace

const FileKey kExtends{"extends",
                       "Path, relative to this file's folder, of a scenario that supplies the values not stated here."};

ScenarioFile::ScenarioFile(const fs::path& file) : file_(file), roots_(data_roots(file)) {
  std::vector<fs::path> chain;
  root_ = with_bases(read_own_yaml(file), file, reach_, chain, texts_);
  require_scenario(root_);
}

ScenarioFile::ScenarioFile(const ScenarioText& text)
    : file_(text.file), reach_(text.reach), roots_(data_roots(text.file)) {
  std::vector<fs::path> chain;
  refuse_foreign_text(file_.string(), text.text);
  root_ = with_bases(parse_yaml(text.text, file_.string()), file_, reach_, chain, texts_);
  require_scenario(root_);
}

ScenarioFile::ScenarioFile(Node scenario, const fs::path& file)
    : file_(file), root_(std::move(scenario)), roots_(data_roots(file)) {}

Node ScenarioFile::link(const std::vector<Override>& overrides) {
  Node scenario = root_;
  std::vector<const Override*> later;
  for (const auto& override : overrides) {
    yield_to(scenario, override.path);
    if (!apply(scenario, override)) later.push_back(&override);
  }
  Linker linker(roots_, reach_, files_, places_);
  linker.scenario(scenario);
  linker.check();
  for (const auto* override : later) {
    if (!apply(scenario, *override))
      throw InputError(override->place,
                       fmt::format("\"{}\" leads into a single value; it has no keys below it", override->path));
  }
  // An override may itself name a file (platform.vms.gat.gpus.0=h100).
  linker.scenario(scenario);
  linker.check();
  return scenario;
}

Node ScenarioFile::self_contained(const fs::path& folder) {
  Node scenario = root_;
  Linker linker(roots_, reach_, files_, places_);
  if (Node* platform = scenario.find("platform")) linker.platform_file(*platform);
  linker.check();
  rebase(scenario, folder);
  return scenario;
}

std::string ScenarioFile::name() const {
  const std::string stem = file_.stem().string();
  return is_name(stem) ? stem : "scenario";
}

std::set<std::string> ScenarioFile::texts() const {
  std::set<std::string> texts = texts_;
  for (const auto& [path, node] : files_) texts.insert(node.place.source->text);
  return texts;
}

Node link_platform(const fs::path& file) {
  Node platform = read_yaml(file);
  const auto roots = data_roots(file);
  Linker::Files files;
  Linker::Places places;
  const Reach anywhere;
  Linker linker(roots, anywhere, files, places);
  linker.platform(platform);
  linker.check();
  return platform;
}

bool Reach::holds(const fs::path& file) const {
  if (folders.empty()) return true;
  const fs::path real = resolved(file);
  return !real.empty() && std::ranges::any_of(folders, [&](const fs::path& folder) {
    const fs::path root = resolved(folder);
    return !root.empty() && is_below(real, root);
  });
}

void Reach::check(const fs::path& file, const Place& named_at) const {
  if (!holds(file))
    throw InputError(
        named_at, fmt::format("a path may lead only to files below {}; copy the file there", folders.front().string()));
}

}  // namespace slmsim
