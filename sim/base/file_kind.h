// The kinds of files that other files name, with the folder in which names are looked up.
#pragma once

namespace slmsim {

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

}  // namespace slmsim
