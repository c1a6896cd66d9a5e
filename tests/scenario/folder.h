// A folder of its own for each test, with a small world in it: platform "pair" of VMs west and east with two
// GPUs "g" each, 100 ms apart, and the model "tiny". Gone when the test ends.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "sim/scenario/scenario.h"
#include "tests/errors_of.h"

namespace slmsim {

class Folder : public testing::Test {
 protected:
  Folder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(testing::TempDir()) / ("slmsim_" + std::to_string(getpid()) + "_" + test->name());
    const std::string gpu =
        "architecture: Ampere\nmultiprocessors: 10\nmemory: 8 GiB\nmemory_bandwidth: 100 GB/s\npcie: 8 GB/s\n"
        "peak: {fp32: 1 TFLOP/s}\n";
    write("platforms/gpus/g.yaml", "name: g\n" + gpu);
    write("platforms/gpus/other.yaml", "name: other\n" + gpu);
    write("platforms/vms/box.yaml",
          "name: box\nnic: 80 Gbps\ndevice_latency: 10 us\n"
          "tcp: {net.ipv4.tcp_rmem: 8 MB, net.ipv4.tcp_wmem: 6 MB, copy_rate: 1 GB/s}\n");
    write("platforms/pair.yaml",
          "name: pair\nsites: {west: {}, east: {}}\n"
          "vms:\n  west: {site: west, type: box, gpus: [g, g]}\n  east: {site: east, type: box, gpus: [g, g]}\n"
          "links:\n  wan:\n    between: [west, east]\n"
          "    rtt: {value: 100 ms, provenance: measured, source: ping}\n    bandwidth: 8 Gbps\n");
    write("platforms/alone.yaml",
          "name: alone\nsites: {west: {}}\nvms:\n  west: {site: west, type: box, gpus: [g, g]}\n");
    const std::string model = "family: gpt2\nhidden: 4\nheads: 2\nlayers: 1\nsequence: 2\nvocabulary: 10\n";
    write("models/tiny.yaml", "name: tiny\n" + model);
    write("models/small.yaml", "name: small\n" + model);
    write("run.yaml", kRun);
  }
  ~Folder() override { std::filesystem::remove_all(path_); }

  static inline const std::string kTraining = "training: {batch: 8, epochs: 3, blocks_per_epoch: 10}\n";
  static inline const std::string kRun = "platform: pair\nmodels: tiny\n" + kTraining;

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  Scenario load(const Overrides& overrides = {}, const std::string& name = "run.yaml") const {
    return load_scenario(path_ / name, overrides);
  }
  // First lines of the errors, without this folder's own path.
  std::vector<std::string> errors(const Overrides& overrides = {}, const std::string& name = "run.yaml") const {
    auto lines = errors_of([&] { load(overrides, name); });
    const std::string own = path_.string() + "/";
    for (auto& line : lines) {
      for (auto at = line.find(own); at != std::string::npos; at = line.find(own)) line.erase(at, own.size());
    }
    return lines;
  }

  std::filesystem::path path_;
};

}  // namespace slmsim
