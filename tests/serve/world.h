// A folder of its own with scenarios in it, and requests as a browser sends them.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "sim/serve/app.h"

namespace slmsim::web {

inline const std::string kToken = "0123456789abcdef0123456789abcdef";

// Two GPUs 20 ms apart.
inline const std::string kTwoSites = R"(platform:
  name: two
  sites: {near: {}, far: {}}
  vms:
    a: {site: near, type: workstation, gpus: [rtx3090]}
    b: {site: far, type: workstation, gpus: [rtx3090]}
  links:
    wan: {between: [near, far], rtt: 20 ms, bandwidth: 1 Gbps, loss: 1e-5}
models: [gpt2m]
techniques: [Data, Pipeshard]
training: {batch: 8, epochs: 1, blocks_per_epoch: 800}
)";

inline Guard own_guard() {
  return {.token = kToken, .hosts = {"127.0.0.1:8765", "localhost:8765"}, .cookie = "slmsim-8765"};
}

inline Request post(const std::string& path, const Json& body) {
  return {.method = "POST",
          .path = path,
          .headers = {{"host", "127.0.0.1:8765"},
                      {"origin", "http://127.0.0.1:8765"},
                      {"cookie", "other=1; slmsim-8765=" + kToken},
                      {"content-type", "application/json"},
                      {"sec-fetch-site", "same-origin"}},
          .query = {},
          .body = body.dump()};
}

inline Request get(const std::string& path) {
  Request out = post(path, nullptr);
  out.method = "GET";
  out.headers.erase("origin");
  out.headers.erase("content-type");
  out.body.clear();
  return out;
}

class PageFolder : public testing::Test {
 protected:
  PageFolder() {
    std::string pattern = testing::TempDir() + "slmsim-serve-XXXXXX";
    outer_ = mkdtemp(pattern.data());
    root_ = outer_ / "folder";
    std::filesystem::create_directories(root_ / "below");
    write("folder/two.yaml", kTwoSites);
    write("folder/below/deep.yaml", kTwoSites);
    write("folder/.hidden.yaml", kTwoSites);
    write("folder/notes.txt", "no scenario");
    write("outside.yaml", kTwoSites);
    write("secret-platform.yaml",
          "name: secret\nsites: {here: {}}\nvms: {v: {site: here, type: workstation, gpus: [rtx3090]}}\n");
    std::filesystem::create_symlink(outer_ / "outside.yaml", root_ / "link.yaml");
    std::filesystem::create_directory_symlink(outer_, root_ / "up");
  }
  ~PageFolder() override { std::filesystem::remove_all(outer_); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(outer_ / name) << text; }
  Workplace workplace() const { return {.folder = Folder(root_).root(), .reach = Folder(root_).reach()}; }

  std::filesystem::path outer_, root_;
};

}  // namespace slmsim::web
