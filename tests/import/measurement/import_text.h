// Importing made-up tables: nobody measured these.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "sim/import/measurement/imported_profile.h"

namespace slmsim::import_test {

// Files that are removed with their folder.
class Files {
 public:
  Files() {
    std::string pattern = testing::TempDir() + "slmsim-import-XXXXXX";
    if (mkdtemp(pattern.data())) path_ = pattern;
  }
  ~Files() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  std::string write(const std::string& name, const std::string& text) {
    const auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    names_.push_back(file);
    return file;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::filesystem::path path_;
  std::vector<std::string> names_;
};

inline ImportedProfile import(const std::string& format, const Files& files, const ImportRequest& request = {},
                              const Gpu* gpu = nullptr) {
  return gather(import_format(format), files.names(), request, gpu);
}

// "LINE:COLUMN text" of each error.
inline std::vector<std::string> refusals(const std::string& format, const Files& files,
                                         const ImportRequest& request = {}, const Gpu* gpu = nullptr) {
  std::vector<std::string> out;
  try {
    import(format, files, request, gpu);
  } catch (const InputError& error) {
    for (const auto& one : error.errors())
      out.push_back(std::to_string(one.place.line) + ":" + std::to_string(one.place.column) + " " + one.text);
  }
  return out;
}

// "gemm-nt fp16 1x2048x3072x1024 0.0005" of each point.
inline std::vector<std::string> points(const ImportedProfile& profile) {
  std::vector<std::string> out;
  for (const auto& [name, by_precision] : profile.points.kernels) {
    for (std::size_t p = 0; p < kPrecisions; ++p) {
      for (const auto& one : by_precision[p]) {
        std::ostringstream text;
        text << name << " " << precision_names()[p] << " " << one.batch << "x" << one.m << "x" << one.n << "x" << one.k
             << " " << one.time.value;
        out.push_back(text.str());
      }
    }
  }
  return out;
}

inline std::vector<std::string> collectives(const ImportedProfile& profile) {
  std::vector<std::string> out;
  for (const auto& one : profile.collectives) {
    std::ostringstream text;
    text << one.name << " " << one.ranks << "/" << one.hosts << " " << one.size.value << " " << one.time.value;
    out.push_back(text.str());
  }
  return out;
}

// "3 shorter than 100 us" of the first file.
inline std::vector<std::string> left_out(const ImportedProfile& profile) {
  std::vector<std::string> out;
  for (const auto& [why, times] : profile.sources.front().left_out) out.push_back(std::to_string(times) + " " + why);
  return out;
}

}  // namespace slmsim::import_test
