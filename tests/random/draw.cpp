#include "tests/random/draw.h"

#include <algorithm>

#include <fmt/format.h>

namespace slmsim {
namespace {

// GPUs of a scenario, so that it can be simulated within a fraction of a second; one in fifty has more.
constexpr int kUsualGpus = 16, kMostGpus = 96;

std::string with_unit(double value, const char* unit) { return fmt::format("{:.6g} {}", value, unit); }

class ScenarioDraw {
 public:
  explicit ScenarioDraw(std::uint64_t seed) : dice_(seed) { out_["name"] = fmt::format("random-{}", seed); }

  Json scenario() {
    draw_platform();
    out_["models"] = Json::array();
    const auto models = dice_.one_in(8) ? 2 : 1;
    for (int m = 0; m < models; ++m) out_["models"].push_back(draw_model(m));
    const int batch = draw_batch();
    out_["techniques"] = draw_techniques(dice_, batch, gpus_);
    draw_groups();
    draw_training(batch);
    if (dice_.one_in(2)) out_["nccl"] = draw_nccl();
    if (dice_.one_in(2)) out_["software"] = draw_software();
    return std::move(out_);
  }

 private:
  void draw_platform() {
    Json platform = {{"name", "drawn"}, {"sites", Json::object()}, {"vms", Json::object()}};
    const auto sites = dice_.number(1, 4);
    for (std::int64_t s = 0; s < sites; ++s) {
      Json site = Json::object();
      if (dice_.one_in(2)) site["rtt"] = with_unit(dice_.log_between(0.05, 2), "ms");
      if (dice_.one_in(4)) site["mtu"] = dice_.of({"1500 B", "9000 B"});
      if (sites > 2) site["transit"] = "yes";  // links make a tree
      platform["sites"][fmt::format("s{}", s)] = std::move(site);
    }
    if (sites > 1) platform["links"] = Json::object();
    for (std::int64_t s = 1; s < sites; ++s)
      platform["links"][fmt::format("l{}", s)] = draw_link(dice_.number(0, s - 1), s);
    if (sites > 2 && dice_.one_in(3)) platform["links"]["other"] = draw_link(0, sites - 1);
    widen_packets(platform);
    draw_vms(platform, sites);
    out_["platform"] = std::move(platform);
  }

  // Hosts send packets as large as their links' stated ones.
  void widen_packets(Json& platform) {
    if (!platform.contains("links")) return;
    for (const auto& link : platform["links"]) {
      for (const std::string end : link["between"]) {
        Json& site = platform["sites"][end];
        if (link.value("mtu", "") == "9000 B" && site.contains("mtu")) site["mtu"] = "9000 B";
      }
    }
  }

  Json draw_link(std::int64_t from, std::int64_t to) {
    Json link = {{"between", {fmt::format("s{}", from), fmt::format("s{}", to)}},
                 {"rtt", with_unit(dice_.one_in(2) ? dice_.log_between(0.1, 300)
                                                   : dice_.of(std::vector{0.5, 20.0, 57.4, 103.0, 300.0}),
                                   "ms")},
                 {"bandwidth", draw_rate(0.1, 200)}};
    if (dice_.one_in(2)) link["loss"] = dice_.one_in(3) ? dice_.log_between(1e-7, 1e-2) : 1e-5;
    if (dice_.one_in(4)) link["mtu"] = dice_.of({"1500 B", "9000 B"});
    if (dice_.one_in(4)) link["reverse"] = {{"bandwidth", draw_rate(0.1, 100)}};
    return link;
  }

  // Round rates, which tie with others, as often as odd ones.
  std::string draw_rate(double low, double high) {
    if (dice_.one_in(2)) return with_unit(dice_.log_between(low, high), "Gbps");
    return dice_.of({"1 Gbps", "10 Gbps", "25 Gbps", "100 Gbps"});
  }

  void draw_vms(Json& platform, std::int64_t sites) {
    const int most = dice_.one_in(50) ? kMostGpus : kUsualGpus;
    const auto vms = dice_.one_in(3) ? dice_.number(1, 12) : dice_.number(1, 4);
    const bool equal = dice_.one_in(2);
    Json type, gpus;
    for (std::int64_t v = 0; v < vms; ++v) {
      if (v == 0 || !equal) {
        const auto room = std::max<std::int64_t>(1, std::min<std::int64_t>(16, (most - gpus_) / (equal ? vms : 1)));
        draw_vm(v, dice_.log_number(1, room), type, gpus);
      }
      if (v > 0 && gpus_ + std::ssize(gpus) > most) break;
      gpus_ += static_cast<int>(gpus.size());
      platform["vms"][fmt::format("v{}", v)] = {
          {"site", fmt::format("s{}", v < sites ? v : dice_.number(0, sites - 1))}, {"type", type}, {"gpus", gpus}};
      if (type.contains("inside")) platform["vms"][fmt::format("v{}", v)]["storage"] = draw_storage(std::ssize(gpus));
    }
  }

  void draw_vm(std::int64_t number, std::int64_t count, Json& type, Json& gpus) {
    gpus = Json::array();
    const Json one = draw_gpu(number);
    const bool mixed = dice_.one_in(5);
    for (std::int64_t g = 0; g < count; ++g) gpus.push_back(mixed && g > 0 && dice_.one_in(2) ? draw_gpu(number) : one);
    if (count == 8 && dice_.one_in(2)) {
      type = dice_.of({"nvlink-pairs-8", "pcie-switch-8", "dgx-1v", "dgx-a100"});
      return;
    }
    type = {{"name", fmt::format("box{}", number)},
            {"nic", draw_rate(1, 400)},
            {"device_latency", dice_.of({"0 us", "3 us", "10 us", "50 us"})},
            {"tcp", draw_tcp()}};
    if (dice_.one_in(3)) type["peer_to_peer"] = dice_.of({"yes", "no"});
    if (dice_.one_in(3)) type["cloud"] = dice_.of({"aws", "gcp", "other"});
    if (dice_.one_in(8)) type["rdma"] = "yes";
    if (count >= 2 && count <= 4 && dice_.one_in(4)) {
      type.erase("peer_to_peer");
      type["inside"] = draw_inside(count);
    } else if (dice_.one_in(4)) {
      type["nvlink"] = "yes";
      for (auto& gpu : gpus) {
        if (gpu.is_object() && !gpu.contains("nvlink")) gpu["nvlink"] = "300 GB/s";
        if (gpu.is_string()) gpu = "a100-40";
      }
    }
  }

  Json draw_tcp() {
    Json tcp = {{"net.ipv4.tcp_rmem", dice_.of({"0.25 MiB", "1 MiB", "6 MiB", "64 MiB"})},
                {"net.ipv4.tcp_wmem", dice_.of({"0.25 MiB", "4 MiB", "16 MiB", "64 MiB"})},
                {"copy_rate", with_unit(dice_.log_between(0.3, 10), "GB/s")}};
    if (dice_.one_in(3)) tcp["net.ipv4.tcp_congestion_control"] = dice_.of({"reno", "cubic", "bbr"});
    if (dice_.one_in(3)) tcp["net.ipv4.tcp_slow_start_after_idle"] = dice_.of({"yes", "no"});
    if (dice_.one_in(4)) tcp["initial_window"] = dice_.of(std::vector{1, 10, 100});
    if (dice_.one_in(4)) tcp["receive_window_share"] = dice_.of(std::vector{0.1, 0.625, 1.0});
    return tcp;
  }

  // Two sockets with host memory, GPUs and a NIC each.
  static Json draw_inside(std::int64_t gpus) {
    Json parts = {{"cpu0", {{"kind", "switch"}}},
                  {"cpu1", {{"kind", "switch"}}},
                  {"dram0", {{"kind", "memory"}, {"capacity", "256 GiB"}}},
                  {"dram1", {{"kind", "memory"}, {"capacity", "256 GiB"}}},
                  {"nic0", {{"kind", "nic"}}}};
    Json slots = Json::array();
    for (std::int64_t g = 0; g < gpus; ++g) {
      parts[fmt::format("gpu{}", g)] = {{"kind", "gpu"}};
      slots.push_back(fmt::format("cpu{} gpu{}", g < (gpus + 1) / 2 ? 0 : 1, g));
    }
    return {{"parts", parts},
            {"links",
             {{"PCIe-GPU", {{"between", slots}, {"rate", "32 GB/s"}, {"efficiency", 0.8}, {"latency", "1 us"}}},
              {"PCIe-NIC", {{"between", {"cpu0 nic0"}}, {"rate", "32 GB/s"}, {"latency", "2 us"}}},
              {"xGMI", {{"between", {"cpu0 cpu1"}}, {"rate", "100 GB/s"}, {"latency", "5 us"}}},
              {"DRAM", {{"between", {"cpu0 dram0", "cpu1 dram1"}}, {"rate", "200 GB/s"}}}}}};
  }

  static Json draw_storage(std::int64_t gpus) {
    const Json drive = {{"name", "flash"},    {"capacity", "3 TB"},     {"read", "6 GB/s"}, {"write", "3 GB/s"},
                        {"command", "50 us"}, {"interconnect", "NVMe"}, {"rate", "7 GB/s"}};
    Json of = Json::array();
    for (std::int64_t g = 0; g < gpus; ++g) of.push_back(fmt::format("gpu{}", g));
    return {{"drives", {{"d0", {{"at", "cpu0"}, {"model", drive}}}, {"d1", {{"at", "cpu1"}, {"model", drive}}}}},
            {"volumes", {{"vol", {{"drives", {"d0", "d1"}}, {"gpus", of}}}}}};
  }

  // Made-up GPUs of different figures may have the same name.
  Json draw_gpu(std::int64_t number) {
    if (dice_.one_in(2)) return dice_.of({"a30", "t4", "rtx6000", "a100-40", "rtx3090", "v100", "h100"});
    const double peak = dice_.log_between(8, 990);
    Json out = {{"name", fmt::format("gpu{}", number % 3)},
                {"architecture", dice_.of({"Volta", "Turing", "Ampere", "Ada", "Hopper"})},
                {"multiprocessors", dice_.of(std::vector{1, 56, 108, 132})},
                {"memory", dice_.of({"8 GiB", "16 GiB", "24 GiB", "40 GiB", "80 GiB"})},
                {"memory_bandwidth", with_unit(dice_.log_between(200, 3350), "GB/s")},
                {"pcie", with_unit(dice_.log_between(4, 63), "GB/s")},
                {"peak", {{"fp16", with_unit(peak, "TFLOP/s")}, {"fp32", with_unit(peak / 8, "TFLOP/s")}}}};
    if (dice_.one_in(2)) {
      out["peak"]["bf16"] = out["peak"]["fp16"];
      out["peak"]["tf32"] = with_unit(peak / 2, "TFLOP/s");
    }
    return out;
  }

  Json draw_model(int number) {
    if (number == 0 && dice_.one_in(8)) return dice_.of({"gpt2m", "gpt2"});
    const std::string family = dice_.of({"gpt2", "llama"});
    const std::int64_t heads = dice_.of(std::vector{1, 2, 5, 8, 12, 16}), width = dice_.of(std::vector{4, 16, 64, 128});
    Json out = {{"name", fmt::format("m{}", number)},
                {"family", family},
                {"hidden", heads * width},
                {"heads", heads},
                {"layers", dice_.log_number(1, 48)},
                {"sequence", dice_.of(std::vector{1, 32, 127, 512, 1024, 2048})},
                {"vocabulary", dice_.of(std::vector{1, 100, 50257, 50304})}};
    if (family == "llama") out["intermediate"] = dice_.of(std::vector<std::int64_t>{1, heads * width * 3, 1024, 3073});
    if (family == "llama" && heads % 2 == 0 && dice_.one_in(3)) out["kv_heads"] = heads / 2;
    if (dice_.one_in(3)) out["tied_embedding"] = dice_.of({"yes", "no"});
    return out;
  }

  int draw_batch() {
    // Mostly such as GPUs and micro-batches divide.
    if (dice_.one_in(4)) return static_cast<int>(dice_.log_number(1, 64));
    return gpus_ * static_cast<int>(dice_.of(std::vector{1, 2, 4}));
  }

  void draw_groups() {
    Json groups = dice_.of(std::vector<Json>{{"all"}, {"all"}, {"all", "each"}, {"each"}});
    const Json& vms = out_["platform"]["vms"];
    if (dice_.one_in(3)) {
      Json own = Json::array();
      for (const auto& [name, vm] : vms.items()) {
        if (!dice_.one_in(2)) continue;
        own.push_back(dice_.one_in(3) ? fmt::format("{}/{}", name, std::ssize(vm["gpus"]) - 1) : name);
      }
      if (!own.empty()) groups.push_back(own);
    }
    if (vms.size() > 4) groups = {"all"};
    out_["groups"] = groups;
  }

  void draw_training(int batch) {
    Json training = {{"batch", batch},
                     {"epochs", dice_.of(std::vector{1, 20})},
                     {"blocks_per_epoch", dice_.of(std::vector{1, 100, 570, 20000})},
                     {"precision", dice_.of({"fp16", "bf16", "tf32", "fp32"})}};
    if (dice_.one_in(4)) training["gradient_precision"] = dice_.of({"fp16", "fp32"});
    if (dice_.one_in(3)) training["rematerialisation"] = dice_.of({"yes", "no"});
    if (dice_.one_in(3)) training["control_round_trips"] = dice_.of(std::vector{0, 4, 30});
    if (dice_.one_in(4)) training["iteration_overhead"] = dice_.of({"1 ms", "50 ms"});
    out_["training"] = std::move(training);
  }

  Json draw_nccl() {
    Json nccl = Json::object();
    if (dice_.one_in(2)) nccl["NCCL_ALGO"] = dice_.of({"auto", "Ring", "Tree"});
    if (dice_.one_in(3)) nccl["NCCL_PROTO"] = dice_.of({"auto", "LL", "Simple"});
    if (dice_.one_in(4)) nccl["NCCL_MAX_NCHANNELS"] = dice_.number(1, 8);
    if (dice_.one_in(4)) nccl["NCCL_SOCKET_NTHREADS"] = dice_.number(1, 4);
    if (dice_.one_in(6)) nccl["NCCL_BUFFSIZE"] = dice_.of({"1 MiB", "16 MiB"});
    if (nccl.contains("NCCL_SOCKET_NTHREADS") && dice_.one_in(2)) nccl["NCCL_NSOCKS_PERTHREAD"] = dice_.number(1, 4);
    return nccl;
  }

  Json draw_software() {
    Json software = Json::object();
    if (dice_.one_in(3)) software["stack"] = "eager";
    if (dice_.one_in(2)) software["attention"] = dice_.of({"unfused", "fused_softmax", "flash"});
    if (dice_.one_in(3)) software["usable_memory"] = dice_.of(std::vector{1.0, 0.5, 0.1});
    if (dice_.one_in(3)) software["framework_memory"] = dice_.of({"0 B", "0.5 GiB", "4 GiB"});
    if (dice_.one_in(3)) software["matrix_efficiency"] = {{"Ampere", 0.3}, {"Turing", 0.065}, {"Hopper", 0.66}};
    return software;
  }

  CaseDice dice_;
  Json out_;
  int gpus_ = 0;
};

}  // namespace

Json draw_scenario(std::uint64_t seed) { return ScenarioDraw(seed).scenario(); }

}  // namespace slmsim
