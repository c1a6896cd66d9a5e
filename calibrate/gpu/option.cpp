#include "calibrate/gpu/option.h"

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>

#include "calibrate/common/failure.h"
#include "calibrate/common/text.h"
#include "calibrate/gpu/kernel.h"

namespace slmsim::calibrate {
namespace {

constexpr double kLeastTime = 1, kMostTime = 24 * 3600, kLeastMessage = 4, kMostMessage = 64e9;
constexpr int kMostDevices = 64;
const std::map<std::string, Options::Verb> kVerbs = {{"all", Options::Verb::kAll},
                                                     {"gemm", Options::Verb::kGemm},
                                                     {"elementwise", Options::Verb::kElementwise},
                                                     {"adam", Options::Verb::kAdam},
                                                     {"copy", Options::Verb::kCopy},
                                                     {"launch", Options::Verb::kLaunch},
                                                     {"peer", Options::Verb::kPeer},
                                                     {"nccl", Options::Verb::kNccl},
                                                     {"info", Options::Verb::kInfo},
                                                     {"compare", Options::Verb::kCompare},
                                                     {"--version", Options::Verb::kVersion}};

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Indices of the named words in `known`.
std::vector<std::size_t> chosen(const std::string& option, const std::string& text,
                                const std::vector<std::string>& known) {
  std::vector<std::size_t> found;
  for (const auto& part : parts_of(text)) {
    const auto at = std::find(known.begin(), known.end(), part);
    if (at == known.end())
      throw UsageError(option + ": unknown \"" + printable(part).substr(0, 64) + "\"; known are: " + listed(known));
    found.push_back(static_cast<std::size_t>(at - known.begin()));
  }
  if (found.empty()) throw UsageError(option + " names nothing; known are: " + listed(known));
  return found;
}

double checked(const std::string& option, const std::string& text, std::optional<double> value, double low, double high,
               const std::string& right) {
  if (!value || *value < low || *value > high)
    throw UsageError(option + ": \"" + printable(text).substr(0, 64) + "\" is not " + right);
  return *value;
}

int whole(const std::string& option, const std::string& text, int low, int high) {
  const auto value = parse_number(text);
  const bool right = value && *value == static_cast<double>(static_cast<int>(*value));
  return static_cast<int>(checked(option, text, right ? value : std::nullopt, low, high,
                                  format("a whole number from %d to %d", low, high)));
}

std::optional<double> share_from(const std::string& text) {
  if (text.empty() || text.back() != '%') return parse_number(text);
  const auto value = parse_number(text.substr(0, text.size() - 1));
  return value ? std::optional(*value / 100) : std::nullopt;
}

using Take = std::function<void(const std::string& option, const std::string& value)>;

std::map<std::string, Take> options_with_value(Options& options) {
  const auto message = [](double& into) {
    return [&into](const std::string& option, const std::string& value) {
      into = checked(option, value, parse_size(value), kLeastMessage, kMostMessage,
                     "a size such as 64MB, from 4 B to 64 GB");
    };
  };
  std::map<std::string, Take> known;
  known["--shapes"] = [&](const std::string&, const std::string& value) {
    for (auto& part : parts_of(value)) options.shapes.push_back(std::move(part));
  };
  known["--output"] = known["-o"] = [&](const std::string&, const std::string& value) { options.output = value; };
  known["--name"] = [&](const std::string& option, const std::string& value) {
    if (!is_name(value))
      throw UsageError(option + ": \"" + printable(value).substr(0, 64) +
                       "\" is not a name; letters, digits, '-', '_' and '.' make one");
    options.name = value;
  };
  known["--precisions"] = [&](const std::string& option, const std::string& value) {
    options.precisions.clear();
    for (const std::size_t at : chosen(option, value, precision_names()))
      options.precisions.push_back(precision_names()[at]);
  };
  known["--collectives"] = [&](const std::string& option, const std::string& value) {
    options.collectives.clear();
    for (const std::size_t at : chosen(option, value, collective_names()))
      options.collectives.push_back(static_cast<Collective>(at));
  };
  known["--library"] = [&](const std::string& option, const std::string& value) {
    options.cublaslt = chosen(option, value, {"cublas", "cublaslt"}).front() == 1;
  };
  known["--device"] = [&](const std::string& option, const std::string& value) {
    options.device = whole(option, value, 0, kMostDevices - 1);
  };
  known["--gpus"] = [&](const std::string& option, const std::string& value) {
    options.gpus = whole(option, value, 1, kMostDevices);
  };
  known["--time-limit"] = [&](const std::string& option, const std::string& value) {
    options.time_limit =
        checked(option, value, parse_time(value), kLeastTime, kMostTime, "a time such as 9min, from 1 s to 24 h");
  };
  known["--precision"] = [&](const std::string& option, const std::string& value) {
    options.rules.precision =
        checked(option, value, share_from(value), 1e-4, 0.5, "a share such as 2%, from 0.01% to 50%");
  };
  known["--min-size"] = message(options.least);
  known["--max-size"] = message(options.most);
  return known;
}

}  // namespace

const char* const kHelp =
    R"(Times a GPU's kernels, copies and collectives, for slmsim's GPU profiles.

  slmsim-calibrate all --shapes FILE[,FILE] [-o FILE]   everything below, as far as the machine has it
  slmsim-calibrate gemm --shapes FILE                   matrix products with cuBLAS, or cuBLASLt
  slmsim-calibrate elementwise --shapes FILE            softmax, layer norm, GELU, dropout + residual, cross entropy
  slmsim-calibrate adam --shapes FILE                   the optimizer
  slmsim-calibrate copy | launch | peer                 copies; launching a kernel; from GPU to GPU
  slmsim-calibrate nccl                                 collectives over this host's GPUs, or over all ranks that
                                                        torchrun, mpirun or srun started
  slmsim-calibrate compare [--shapes FILE]              products of 2048^3 and more, beside cuBLAS's best in a plain loop
  slmsim-calibrate info                                 the GPUs, driver and libraries

  --shapes FILE        kernels to time, from `slmsim shapes MODEL...`; may be given several times
  --output, -o FILE    the profile (YAML); default standard output. An interrupted run resumes from FILE.journal
  --name NAME          name of the profile; default from the GPU's name
  --precisions LIST    default fp16,bf16,tf32,fp32
  --library NAME       cublas (default) or cublaslt
  --device N           default 0
  --time-limit TIME    default 9min; points beyond it are skipped and listed in the profile
  --precision SHARE    target half-width of the 95 % interval of a median; default 2%
  --fresh              do not resume an interrupted run
nccl:
  --collectives LIST   default all-reduce,reduce-scatter,all-gather,broadcast,send-receive
  --min-size, --max-size SIZE   default 1KiB to 1GiB, powers of two
  --gpus N             GPUs of this host; default all. Without a launcher one thread drives each

Ranks are set by RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT as torchrun sets them, or by mpirun's or
srun's variables and MASTER_ADDR. Rank 0 listens on MASTER_PORT + 1.

Examples:
  slmsim-calibrate all --shapes calibrate/shapes/gpt2m.csv -o my-gpu.yaml
  slmsim-calibrate nccl --max-size 64MB
  torchrun --no-python --nnodes 2 --nproc-per-node 2 --node-rank 0 --master-addr 10.0.0.1 slmsim-calibrate nccl
  mpirun -np 4 -H vm1:2,vm2:2 -x MASTER_ADDR=10.0.0.1 slmsim-calibrate nccl -o wan.yaml

Exit status: 0 done, 1 a GPU or the network failed or a result is wrong, 2 bad usage, no GPU or no driver, 3 internal
error, 130 interrupted.
)";

Options parse_options(const std::vector<std::string>& words) {
  Options options;
  options.precisions = precision_names();
  for (std::size_t i = 0; i < collective_names().size(); ++i) options.collectives.push_back(static_cast<Collective>(i));
  if (words.empty()) throw UsageError("say what to measure; see slmsim-calibrate --help");
  if (words[0] == "--help" || words[0] == "-h") return options;
  const auto verb = kVerbs.find(words[0]);
  if (verb == kVerbs.end()) {
    throw UsageError(
        "unknown word \"" + printable(words[0]).substr(0, 64) +
        "\"; known are: all, gemm, elementwise, adam, copy, launch, peer, nccl, compare, info, --help, --version");
  }
  options.verb = verb->second;
  const auto known = options_with_value(options);
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string word = words[i];
    if (word == "--help" || word == "-h") return Options{};
    if (word == "--fresh") {
      options.fresh = true;
      continue;
    }
    std::optional<std::string> value;
    if (const auto equals = word.find('='); word.starts_with("--") && equals != std::string::npos) {
      value = word.substr(equals + 1);
      word.resize(equals);
    }
    const auto option = known.find(word);
    if (option == known.end()) {
      std::vector<std::string> names = {"--fresh"};
      for (const auto& [name, take] : known) names.push_back(name);
      throw UsageError("unknown option \"" + printable(word).substr(0, 64) + "\"; known are: " + listed(names));
    }
    if (!value && i + 1 >= words.size()) throw UsageError(word + " needs a value; see slmsim-calibrate --help");
    option->second(word, value ? *value : words[++i]);
  }
  const bool needs_shapes = options.verb == Options::Verb::kAll || options.verb == Options::Verb::kGemm ||
                            options.verb == Options::Verb::kElementwise || options.verb == Options::Verb::kAdam;
  if (needs_shapes && options.shapes.empty())
    throw UsageError(words[0] +
                     " needs --shapes FILE; calibrate/shapes has those of the shipped models, and "
                     "`slmsim shapes MODEL...` prints any model's");
  if (options.least > options.most) throw UsageError("--min-size is more than --max-size");
  return options;
}

}  // namespace slmsim::calibrate
