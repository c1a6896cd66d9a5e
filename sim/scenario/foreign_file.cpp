#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

#include <fmt/format.h>

#include "sim/base/file.h"
#include "sim/base/text.h"
#include "sim/scenario/link.h"

namespace slmsim {
namespace {

constexpr std::size_t kForeignHead = 64 << 10;
constexpr const char* kInit = "slmsim reads YAML";

struct Foreign {
  std::string what, use = kInit;
};

[[noreturn]] void refuse_foreign(const Place& place, const Foreign& file, const std::string& expected = "scenario") {
  throw InputError(place, fmt::format("this is {}, not a {}; {}", file.what, expected, file.use));
}

struct TextSign {
  std::string_view text;
  const char* what;
};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::optional<Foreign> binary_file(std::string_view text) {
  static constexpr TextSign kBegin[] = {{"GGUF", "a GGUF file of a model's weights"},
                                        {"PK\x03\x04", "an archive (a PyTorch checkpoint, a spreadsheet)"},
                                        {"\x7f"
                                         "ELF",
                                         "a program"},
                                        {"\x89PNG", "a picture"},
                                        {"%PDF", "a PDF document"},
                                        {"\x1f\x8b", "a compressed file"},
                                        {"\x80\x02", "a Python pickle"},
                                        {"\x80\x04", "a Python pickle"},
                                        {"SQLite format 3", "a database (SQLite)"},
                                        {"\x89HDF", "an HDF5 file"}};
  for (const auto& [begin, what] : kBegin) {
    if (text.starts_with(begin)) return Foreign{what};
  }
  // The length of the header in eight bytes, and the header, JSON.
  if (text.size() > 9 && text[8] == '{' && text[7] == '\0') return Foreign{"a safetensors file of a model's weights"};
  return std::nullopt;
}

std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.remove_suffix(1);
    lines.push_back(line);
  }
  return lines;
}

// The program that a script starts, or a configuration belongs to.
std::string program_of(std::string_view text) {
  static constexpr TextSign kStarted[] = {{"pretrain_gpt", "Megatron-LM"},
                                          {"--num-layers-per-virtual-pipeline", "Megatron-LM"},
                                          {"--tensor-model-parallel-size", "Megatron-LM"},
                                          {"torchtitan", "torchtitan"},
                                          {"accelerate launch", "Accelerate"},
                                          {"import deepspeed", "DeepSpeed"},
                                          {"deepspeed ", "DeepSpeed"},
                                          {"--deepspeed", "DeepSpeed"},
                                          {"torchrun", "PyTorch"},
                                          {"torch.distributed", "PyTorch"},
                                          {"#SBATCH", "Slurm"}};
  for (const auto& [sign, program] : kStarted) {
    if (contains(text, sign))
      return fmt::format(", of {} by its \"{}\"", program, sign.substr(0, sign.find_last_not_of(' ') + 1));
  }
  return "";
}

bool begins_with_any(std::string_view line, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return line.starts_with(word); });
}

std::optional<Foreign> script_file(const std::string& ending, std::string_view text,
                                   const std::vector<std::string_view>& lines) {
  const std::string_view first = lines.empty() ? "" : lines.front();
  const bool marked = first.starts_with("#!");
  bool python = ending == ".py" || (marked && contains(first, "python"));
  bool shell = (marked && !python) || begins_with_any(ending, {".sh", ".bash", ".slurm", ".sbatch"});
  for (const auto line : lines) {
    if (python || shell) break;
    python = (line.starts_with("import ") || (line.starts_with("from ") && contains(line, " import "))) &&
             !contains(line, ": ");
    shell = begins_with_any(line, {"export ", "#SBATCH ", "torchrun ", "srun ", "mpirun ", "deepspeed ",
                                   "accelerate launch", "python ", "python3 ", "set -e", "source "}) &&
            !contains(line.substr(0, line.find(' ') + 1), ":");
  }
  if (python) return Foreign{"a Python script" + program_of(text)};
  if (shell) return Foreign{"a shell script" + program_of(text)};
  return std::nullopt;
}

// "[section]" on a line of its own, and a line "key = value".
std::optional<Foreign> toml_file(const std::string& ending, const std::vector<std::string_view>& lines) {
  std::string sections;
  bool pairs = false, plain = false;  // plain: "node1 slots=4", as inventories have it
  for (const auto line : lines) {
    const auto close = line.find(']');
    if (line.starts_with("[") && close != std::string_view::npos && !contains(line, ",") && !contains(line, ":") &&
        (close + 1 == line.size() || line.substr(close + 1).find_first_not_of("] \t") == std::string_view::npos ||
         contains(line.substr(close), "#")))
      sections += std::string(line.substr(0, close + 1));
    const auto equals = line.find('=');
    const auto word = line.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
    plain = plain || (!line.empty() && !line.starts_with("#") && !line.starts_with("[") && !contains(line, ": "));
    pairs = pairs || (equals != std::string_view::npos && equals > 0 && line.find_first_not_of(' ', word) == equals);
  }
  const bool ini = begins_with_any(ending, {".ini", ".cfg", ".conf"}) || (!sections.empty() && plain && !pairs);
  if (ending != ".toml" && !ini && (sections.empty() || !pairs)) return std::nullopt;
  if (ini) return Foreign{"an INI file", "slmsim init --ansible reads inventories"};
  if (contains(sections, "[parallelism]")) return Foreign{"TOML, of torchtitan by its [parallelism]"};
  if (contains(sections, "[project]") || contains(sections, "[build-system]"))
    return Foreign{"TOML, of a Python package"};
  return Foreign{"TOML"};
}

std::optional<Foreign> table_file(const std::string& ending, const std::vector<std::string_view>& lines) {
  const auto commas = [](std::string_view line) { return std::ranges::count(line, ','); };
  const std::string_view head = lines.empty() ? "" : lines.front();
  const bool columns = lines.size() > 1 && commas(head) >= 2 && commas(head) == commas(lines[1]) &&
                       head.find_first_of(":{}[]#") == std::string_view::npos;
  if (ending != ".csv" && ending != ".tsv" && !columns) return std::nullopt;
  if (contains(head, "group,what,value"))
    return Foreign{"a table of runs", "slmsim fit SCENARIO --measured FILE reads it"};
  if (contains(head, "technique,group,status")) return Foreign{"a table of results", "slmsim plot draws it"};
  return Foreign{"a table (CSV)", "slmsim import reads tables of measurements"};
}

std::optional<Foreign> printed_text(std::string_view text) {
  static constexpr TextSign kLogs[] = {{"elapsed time per iteration (", "a log of Megatron-LM"},
                                       {"SamplesPerSec=", "a log of DeepSpeed"},
                                       {" iter time (s):", "a log of DeepSpeed"},
                                       {"[titan]", "a log of torchtitan"},
                                       {" token/s, ", "a log of Alpa"}};
  for (const auto& [sign, what] : kLogs) {
    if (contains(text, sign)) return Foreign{what, "slmsim fit reads it, named in a table of runs (what: log)"};
  }
  if (contains(text, "busbw") && contains(text, "algbw") && contains(text, "(us)"))
    return Foreign{"the output of nccl-tests", "slmsim import nccl-tests reads it"};
  return std::nullopt;
}

std::optional<Foreign> markup_file(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '<' || text.substr(begin).starts_with("<<"))
    return std::nullopt;
  if (contains(text, "<graphml")) return Foreign{"GraphML", "slmsim init --fablib reads FABRIC's slices"};
  if (contains(text, "<html") || contains(text, "<!DOCTYPE html")) return Foreign{"an HTML page"};
  return Foreign{"XML"};
}

struct KeySign {
  std::array<const char*, 2> keys;  // all that are named
  const char* what;
  const char* use = kInit;
};
constexpr const char* kPlotDraws = "slmsim plot draws it";
constexpr KeySign kPrograms[] = {
    {{"zero_optimization", ""}, "DeepSpeed's configuration"},
    {{"train_micro_batch_size_per_gpu", ""}, "DeepSpeed's configuration"},
    {{"train_batch_size", ""}, "DeepSpeed's configuration"},
    {{"compute_environment", ""}, "Accelerate's configuration"},
    {{"distributed_type", ""}, "Accelerate's configuration"},
    {{"pipe-parallel-size", ""}, "GPT-NeoX's configuration"},
    {{"pipe_parallel_size", ""}, "GPT-NeoX's configuration"},
    {{"exp_manager", ""}, "NeMo's configuration"},
    {{"tensor_model_parallel_size", ""}, "Megatron's configuration"},
    {{"parallelism", "job"}, "torchtitan's configuration"},
    {{"base_model", ""}, "Axolotl's configuration"},
    {{"model_name_or_path", ""}, "a configuration of Hugging Face's trainers"},
    {{"weight_map", ""}, "an index of weights of Hugging Face"},
    {{"log_history", ""}, "a trainer_state.json of Hugging Face"},
    {{"tokenizer_class", ""}, "a tokenizer's configuration of Hugging Face"},
    {{"added_tokens", ""}, "a tokenizer of Hugging Face"},
    {{"transformers_version", ""}, "a generation_config.json of Hugging Face"},
    {{"cells", "nbformat"}, "a Jupyter notebook", "slmsim init --fablib reads FABRIC's"},
    {{"predictions", ""}, "a result of slmsim run", kPlotDraws},
    {{"traceEvents", ""}, "a trace", kPlotDraws},
    {{"ensemble", "unknowns"}, "a result of slmsim fit", "slmsim run SCENARIO --fitted FILE reads it"},
    {{"architectures", ""}, "a config.json of Hugging Face without its model_type"},
    {{"apiVersion", "kind"}, "a Kubernetes manifest"},
    {{"services", ""}, "a Docker Compose file"}};

}  // namespace

void refuse_foreign_text(const std::string& name, std::string_view text, const std::string& expected) {
  text = text.substr(0, kForeignHead);
  const Place place = whole_of(name);
  if (const auto found = binary_file(text)) refuse_foreign(place, *found, expected);
  if (contains(text, std::string_view("\0", 1))) return;  // the YAML reader states where
  text = without_byte_order_mark(text);
  const std::string ending = lower_case(std::filesystem::path(name).extension().string());
  const auto begin = text.find_first_not_of(" \t\r\n");
  const bool json = begin != std::string_view::npos && text[begin] == '{';
  if (ending == ".ipynb" || (json && contains(text, "\"cell_type\"")))
    refuse_foreign(place, {"a Jupyter notebook", "slmsim init --fablib reads FABRIC's"}, expected);
  if (json) return;
  const auto lines = lines_in(text);
  if (const auto found = markup_file(text)) refuse_foreign(place, *found, expected);
  if (const auto found = printed_text(text)) refuse_foreign(place, *found, expected);
  if (const auto found = table_file(ending, lines)) refuse_foreign(place, *found, expected);
  if (const auto found = toml_file(ending, lines)) refuse_foreign(place, *found, expected);
  if (const auto found = script_file(ending, text, lines)) refuse_foreign(place, *found, expected);
}

void refuse_foreign_keys(const Node& file) {
  if (file.kind != Node::Kind::kMap) return;
  static const std::vector<std::string> kOwn = {"extends",  "platform", "models",    "techniques", "groups", "training",
                                                "software", "nccl",     "selection", "plan",       "job"};
  const auto is_own = [&](const std::string& key) {
    return std::ranges::find(kOwn, key) != kOwn.end() || !nearest(key, kOwn).empty();
  };
  Place place = file.place;
  place.line = place.column = 0;
  const bool scenario = file.find("platform") || file.find("extends");
  for (const auto& [keys, what, use] : kPrograms) {
    const bool all = std::ranges::all_of(keys, [&](std::string_view k) { return k.empty() || file.find(k); });
    if (all && !scenario) refuse_foreign(place, {fmt::format("{}, by its \"{}\"", what, keys.front()), use});
  }
  std::vector<std::string> others;
  for (const auto& entry : file.entries) {
    if (is_own(entry.key)) return;
    if (entry.key != "name" && entry.key != "description") others.push_back(printable(entry.key).substr(0, 32));
  }
  if (others.size() < 2) return;
  refuse_foreign(place, {fmt::format("another program's file, by its \"{}\" and \"{}\"", others[0], others[1])});
}

Node read_own_yaml(const std::filesystem::path& file, const std::string& expected) {
  std::ifstream stream = open_regular_file(file);
  std::string head(kForeignHead, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, stream.gcount())));
  refuse_foreign_text(file.string(), head, expected);
  return read_yaml(file);
}

}  // namespace slmsim
