// Records of the keys that a reader reads: the source of the key reference and of the JSON Schema.
//
// Records are never written by hand. A reader whose Reading describes (sim/base/describe.h) finds every key present,
// and each call of Fields leaves a record.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.h"
#include "sim/base/yaml.h"

namespace slmsim {

// The kinds of files that other files name, with the folder in which names are looked up.
struct FileKind {
  const char* name;           // of its schema: `slmsim schema gpu`
  const char* what;           // in messages
  const char* folder;         // below a data root
  bool named_inside = false;  // a file is also found by the name that it states, which may differ from its own
};

inline constexpr FileKind kModelFile{"model", "model", "models", true};
inline constexpr FileKind kPlatformFile{"platform", "platform", "platforms"};
inline constexpr FileKind kVmFile{"vm", "VM type", "platforms/vms"};
inline constexpr FileKind kGpuFile{"gpu", "GPU", "platforms/gpus"};
inline constexpr FileKind kDriveFile{"drive", "drive", "platforms/drives"};
inline constexpr FileKind kPathFile{"path", "path", "platforms/paths"};
inline constexpr FileKind kStackFile{"stack", "software stack", "scenarios/stacks"};
inline constexpr FileKind kProfileFile{"profile", "GPU profile", "platforms/profiles"};

template <class T>
struct Range {
  T low;
  T high;

  bool operator==(const Range&) const = default;
};

// Programs that measure a value of a file. The costs of a training framework come from pilot runs and a fit.
inline constexpr std::string_view kNetprobe = "slmsim-netprobe", kCalibrate = "slmsim-calibrate", kFit = "slmsim fit";
inline constexpr std::string_view kTorchStep = "calibrate/reference/torch_step.py";

// Whose property a value is. kMatrix: GPUs by name or architecture; kScenario: none of the others.
enum class Scope { kScenario, kSite, kLink, kVm, kDrives, kVmType, kInside, kGpu, kMatrix, kStack, kKernel, kOption };

// What a run must have for a value to matter to it; from kHostAdam on a property of its plan.
enum class Use {
  kAny,
  kUntimedKernels,  // GPUs whose profiles do not time all kernels
  kGpuAdam,
  kFlash,    // flash attention
  kFlashOn,  // flash attention on the architecture that the key names
  kPrice,
  kHostAdam,
  kHostMemory,
  kHostAdamBelowStage3,
  kHostAdamStage3,
  kStage3,
  kDrives,
  kDriver
};
constexpr bool is_of_plan(Use use) { return use >= Use::kHostAdam; }

// A key where it is read: its name, its meaning in one plain sentence, and, where no constant describes absence, the
// value that absence implies ("rtt / 2").
struct FileKey {
  FileKey(std::string key, std::string_view meaning, std::string_view absence = {})
      : name(std::move(key)), about(meaning), otherwise(absence) {}

  // Names the program that measures a property of the user's machine or software. Its default is then a guess, which
  // readers leave in Reading::defaults, and not the behaviour of a program with its default settings.
  FileKey measured_by(std::string_view program, Use user = Use::kAny) && {
    measure = program;
    return std::move(*this).matters_to(user);
  }
  // Limits the runs to which the value matters.
  FileKey matters_to(Use user) && {
    use = user;
    return std::move(*this);
  }

  std::string name;
  std::string_view about, otherwise, measure = {};
  Use use = Use::kAny;
};

// Placeholder for any name in a map whose keys are the user's names ("sites.NAME.rtt").
inline constexpr const char* kAnyName = "NAME";

using Count = Range<std::size_t>;
inline constexpr Count kAnyCount{0, std::numeric_limits<std::size_t>::max()};

// The values allowed under a key.
struct ValueType {
  enum class Kind { kQuantity, kNumber, kInteger, kFlag, kChoice, kName, kText, kFile, kList, kMap, kAny };

  Kind kind = Kind::kAny;
  Dimension dimension = Dimension::kTime;  // of a quantity
  double low = 0, high = 0;                // of a quantity, a number, a whole number
  std::vector<std::string> choices;
  const FileKind* file = nullptr;  // its name, its path, or its contents as a map
  std::vector<ValueType> items;    // of a list: each may be any of these
  Count count = kAnyCount;         // number of a list's items; a minimum of 1 or more makes the list required
  bool stated = false;             // may also be written with its provenance
  bool nullable = false;

  static ValueType of(Kind kind) { return {.kind = kind, .choices = {}, .items = {}}; }
  static ValueType map() { return of(Kind::kMap); }
  static ValueType name() { return of(Kind::kName); }
  static ValueType text() { return of(Kind::kText); }
  static ValueType any() { return of(Kind::kAny); }
  static ValueType choice(std::vector<std::string> words) {
    return {.kind = Kind::kChoice, .choices = std::move(words), .items = {}};
  }
  static ValueType integer(std::int64_t low, std::int64_t high) {
    return {.kind = Kind::kInteger,
            .low = static_cast<double>(low),
            .high = static_cast<double>(high),
            .choices = {},
            .items = {}};
  }
  static ValueType of_file(const FileKind& kind) {
    return {.kind = Kind::kFile, .choices = {}, .file = &kind, .items = {}};
  }
  static ValueType list(std::vector<ValueType> each, Count count = kAnyCount) {
    return {.kind = Kind::kList, .choices = {}, .items = std::move(each), .count = count};
  }

  bool operator==(const ValueType& other) const;
};

struct KeyRecord {
  std::string map, key;  // path of the map, "links.NAME" or, for a list's items, "axes.0"
  std::string about;
  std::vector<ValueType> types;  // any of these
  bool required = false;
  std::string fallback;   // as it would be written; empty: no default
  std::string otherwise;  // the meaning of absence where there is no constant default

  bool operator==(const KeyRecord&) const = default;
};

// A place where other keys of the map depend on a key: on its choice among `options`, or on its presence.
struct Fork {
  std::string map;
  std::string key;  // empty: the fork is on a key's presence, "with step" or "without step"
  std::size_t taken = 0;
  std::vector<std::string> options;

  bool operator==(const Fork&) const = default;
};

// One run of a describing reader.
struct Description {
  std::vector<std::size_t> script;  // option taken at the first forks; the first option at all others
  std::vector<KeyRecord> keys;      // in the order of reading, each once
  std::vector<Fork> forks;
  std::set<std::string> closed;  // maps in which other keys are errors
  std::deque<Node> samples;      // handed to the reader
  std::deque<Entry> entries;

  void add(KeyRecord record);
  std::size_t take(std::string map, std::string key, std::vector<std::string> options);
  const Node* sample_of(const ValueType& type);
  const Entry* sample_entry();  // a map under any name
};

}  // namespace slmsim
