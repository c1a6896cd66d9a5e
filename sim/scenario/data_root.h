// Folders in which names of files are looked up: those that hold platforms/ or models/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/key_record.h"

namespace slmsim {

// Search path for names in a file: the folders above it, the nearest first, then the data installed with this program,
// relative to its current location, then those of its install location at build time, then the source tree's.
std::vector<std::filesystem::path> data_roots(const std::filesystem::path& file);

// The file of a name in the nearest folder that has it, by the file's name or, where the kind is named inside, by the
// name that it states (names that differ only in case cannot be two files on every system); empty if none has.
std::filesystem::path find_named(const std::vector<std::filesystem::path>& roots, const FileKind& kind,
                                 const std::string& name);
// All names that would be found, those of the nearest folder first.
std::vector<std::string> known_names(const std::vector<std::filesystem::path>& roots, const FileKind& kind);

// The files of a folder below the roots, the nearest root's first; each name once, as find_named() takes it.
std::vector<std::filesystem::path> files_below(const std::vector<std::filesystem::path>& roots,
                                               const std::string& folder);

// Whether the word has the form org/name of Hugging Face's hub.
bool is_hub_id(const std::string& word);
// "get its config.json: hf download org/name ...".
std::string how_to_download(const std::string& hub_id);

// Names of the YAML files directly inside a folder, sorted, without their extension.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace slmsim
