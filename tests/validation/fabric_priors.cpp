// Priors of values that the FABRIC study does not publish: ranges of data sheets, of defaults and of the documentation of the
// software that it names. Their author had seen the study's figures, so they may be narrower, or better placed, than a
// stranger's would be.
#include <fmt/format.h>

#include "sim/fit/unknown.h"
#include "tests/validation/fabric_protocol.h"

namespace slmsim {
namespace {

// Beyond the ping's: queues of routers and switches, and hosts that wake up late.
constexpr double kMostBeyondPing = 20e-3;  // s

// Range of a path that carries less than its data sheet says: a slow or shared link, a policer.
constexpr double kNarrowest = 0.05e9 / 8, kWidest = 10e9 / 8;  // bytes/s

constexpr double kNotNarrow = 0.75;  // share of the paths

constexpr double kUsualBuffer = 6 * kMebi;  // Linux's default, tcp(7)

}  // namespace

std::vector<Unknown> fabric_shared() {
  const ValueType share = number_type(1e-4, 2), time = quantity_type(Dimension::kTime);
  return {
      one_of({"training.batch"}, {"4", "8", "16", "32"}, "Alpa's GPT-2 example has such batch sizes"),
      one_of({"training.precision", "training.gradient_precision"}, {"fp16", "fp32"},
             "JAX's default is fp32, Alpa's example fp16"),
      one_of({"training.rematerialisation"}, {"no", "yes"}, "Alpa's option, off by default"),
      one_of({"models.0.vocabulary", "models.1.vocabulary", "models.2.vocabulary"}, {"50257", "50256"},
             "GPT-2's, or the one that Alpa's example trains"),
      one_of({"techniques.ZeRO2.gathered"}, {"fp16", "fp32"}, "what Alpa's train state holds"),
      one_of(
          {"nccl.NCCL_ALGO"}, {"Ring", "Tree"},
          "NCCL prefers trees between two VMs if it takes the NIC for slower than PCIe, as when it reports no speed"),
      one_of({"techniques.Data.micro_batches", "techniques.ZeRO2.micro_batches"}, {"1", "2"},
             "one is Alpa's default, two those of one sequence per GPU"),
      one_of({"techniques.Pipeshard.micro_batches"}, {"1", "2", "4", "8"}, "Alpa's examples have such numbers"),
      by_factors({"software.matrix_efficiency.Turing"}, 0.05, 1.2, share,
                 "of the data sheet's peak in either precision"),
      by_factors({"software.matrix_efficiency.Ampere"}, 0.05, 1.2, share,
                 "of the data sheet's peak in either precision"),
      by_factors({"platform.vms.*.type.tcp.copy_rate"}, 0.3e9, 3e9, quantity_type(Dimension::kDataRate),
                 "one core copying for a socket"),
      one_of({"platform.vms.*.type.tcp.net.ipv4.tcp_slow_start_after_idle"}, {"yes", "yes", "yes", "no"},
             "Linux's default, or as in tuning guides for wide-area hosts"),
      by_factors({"techniques.Data.startup", "techniques.ZeRO2.startup", "techniques.Shard.startup"}, 20, 600, time,
                 "XLA compiles a GPT-2 in one to several minutes"),
      by_factors({"techniques.Pipeshard.startup"}, 60, 1200, time, "Alpa also profiles and builds stages"),
      by_factors({"training.blocks_per_epoch"}, 200, 2000, number_type(1, 1e12),
                 "a wiki of some megabytes in 1024 tokens each"),
      by_factors({"training.control_round_trips"}, 1, 100, number_type(0, 10'000), "Ray's messages of an iteration"),
      by_factors({"software.framework_memory"}, 300 * kMebi, 1500 * kMebi, quantity_type(Dimension::kData),
                 "CUDA context, cuBLAS, cuDNN and NCCL"),
  };
}

std::vector<Unknown> fabric_own(const Scenario& slice, std::optional<double> given) {
  Unknown work = by_factors({"training.blocks_per_epoch"}, 0.25, 1, number_type(1, 1e12),
                            "the study states 20 epochs for all; runs may have been cut short");
  work.relative = true;
  work.spike = given ? 1 : 0.8;
  work.spike_at = given.value_or(1);
  // Most slices have the common batch.
  Unknown batch = one_of({"training.batch"}, {"1", "1", "1", "1", "0.5", "2"}, "may differ where memory does");
  batch.relative = true;
  const Unknown buffers = socket_buffers(
      {"platform.vms.*.type.tcp.net.ipv4.tcp_rmem", "platform.vms.*.type.tcp.net.ipv4.tcp_wmem"}, kUsualBuffer);
  Unknown pieces =
      one_of({"techniques.Pipeshard.micro_batches"}, {"1", "1", "1", "1", "2"}, "may differ where memory does");
  pieces.relative = true;
  std::vector<Unknown> out = {work, batch, pieces, buffers};
  for (const auto& link : slice.platform.links) {
    const auto at = [&](const char* key) { return fmt::format("platform.links.{}.{}", link.name, key); };
    const double rtt = link.forward.delay.value + link.backward.delay.value;
    Unknown loaded = by_factors({at("rtt")}, rtt, rtt + kMostBeyondPing, quantity_type(Dimension::kTime),
                                "under load, beyond the ping's");
    loaded.prior = Unknown::Prior::kUniform;
    Unknown narrow = by_factors({at("bandwidth")}, kNarrowest, kWidest, quantity_type(Dimension::kDataRate),
                                "best effort on shared paths");
    narrow.spike = kNotNarrow;
    narrow.spike_at = link.forward.bandwidth.value;
    out.insert(out.end(), {loaded, path_loss(at("loss")), narrow});
  }
  return out;
}

}  // namespace slmsim
