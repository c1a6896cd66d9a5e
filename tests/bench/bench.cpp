// How fast the simulator is on the sizes that it must handle. Each case reports its transfers and
// computations, so that a run can be compared with SimGrid's own rate per activity.
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "sim/base/work.h"
#include "sim/collective/ring.h"
#include "sim/compute/operator_graph.h"
#include "sim/predict/iterations.h"
#include "sim/predict/job/renewal.h"
#include "sim/predict/predict.h"
#include "sim/predict/result.h"
#include "sim/report/report.h"
#include "sim/sweep/run.h"
#include "sim/technique/alpa/operators.h"
#include "sim/technique/alpa/planner/intra_operator.h"
#include "tests/named.h"

namespace slmsim {
namespace {

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

// `count` GPUs in VMs of eight at one site. A NIC for each GPU is one of eight times the rate; with a single
// one the eight contend for it.
constexpr BytesPerSecond kOneNic{25e9}, kEightNics{200e9};

Platform cluster(int count, BytesPerSecond nic) {
  Platform platform;
  platform.name = "cluster";
  platform.sites = {{"site", Seconds{20e-6}, Bytes{9000}}};
  Gpu gpu{.name = "gpu", .title = "GPU", .architecture = "Ampere", .multiprocessors = 108};
  gpu.memory = Bytes{80 * kGibi};
  gpu.memory_bandwidth = BytesPerSecond{1.5e12};
  gpu.peak.fill(FlopsPerSecond{312e12});
  gpu.pcie = BytesPerSecond{25e9};
  gpu.nvlink = BytesPerSecond{300e9};
  VmType type{.name = "vm", .nic = nic, .nvlink = true, .device_latency = Seconds{3e-6}};
  type.tcp = {.receive_buffer = Bytes{64 * kMebi}, .send_buffer = Bytes{64 * kMebi}, .copy_rate = BytesPerSecond{3e9}};
  for (int first = 0; first < count; first += 8) {
    platform.vms.push_back({"vm" + std::to_string(first / 8), 0, type, first, 8});
    for (int i = 0; i < 8; ++i)
      platform.devices.push_back({gpu, first / 8, platform.vms.back().name + "/" + std::to_string(i)});
  }
  return platform;
}

Scenario cluster_scenario(int gpus, BytesPerSecond nic) {
  Scenario scenario;
  scenario.platform = cluster(gpus, nic);
  scenario.training = {.batch = 4096, .epochs = 1, .blocks_per_epoch = 4096, .iteration_overhead = {}};
  scenario.nccl.buffer = Bytes{4 * kMebi};
  scenario.nccl.algorithm = NcclAlgorithm::kRing;
  for (const auto& name : architecture_names()) scenario.software.matrix[name] = 0.5;
  scenario.software.memory = 0.8;
  scenario.software.launch = Seconds{5e-6};
  return scenario;
}

// 16 stages of 64 replicas, 64 micro-batches, one ring per stage, every chunk of it a transfer. With a trace as `slmsim run
// --trace` makes it of the iteration that it has simulated.
enum class Output { kTimes, kTrace };
void pipeline_1024(benchmark::State& state, BytesPerSecond nic, Output output) {
  const Scenario scenario = cluster_scenario(1024, nic);
  const Transformer model{"gpt2xl", Family::kGpt2, 1600, 25, 25, 48, 1024, 50257, 6400, true};
  const OperatorGraph operators = build_operator_graph(model);
  Plan plan;
  plan.technique = named("Pipeshard");
  plan.micro_batches = 64;
  std::size_t next = 0;
  for (int s = 0; s < 16; ++s) {
    Stage stage;
    stage.first = next;
    while (next < boost::num_vertices(operators) && (operators[next].layer < 3 * (s + 1) || s == 15)) ++next;
    stage.last = next;
    for (int r = 0; r < 64; ++r) stage.mesh.push_back(64 * s + r);
    stage.shardings.assign(stage.last - stage.first, Sharding::kBatch);
    stage.batch_shares.assign(64, 1.0 / 64);
    plan.stages.push_back(std::move(stage));
  }
  const Network network(scenario.platform);
  double tasks = 0;
  for (auto _ : state) {
    const TaskGraph graph = lower_operators({plan, operators, scenario, network}).graph;
    const bool traced = output == Output::kTrace;
    const Timeline timeline = simulate(graph, {}, {.record_flows = traced});
    benchmark::DoNotOptimize(timeline.end);
    if (traced) benchmark::DoNotOptimize(to_trace({graph, timeline, scenario.platform, "pipeline"}));
    tasks = static_cast<double>(graph.tasks().size());
  }
  state.counters["tasks"] = tasks;
  state.counters["peak_MB"] = peak_memory_mb();
}

void all_reduce_1024(benchmark::State& state, Detail detail) {
  const Platform platform = cluster(1024, kEightNics);
  const Network network(platform);
  std::vector<int> devices;
  for (int i = 0; i < 1024; ++i) devices.push_back(i);
  double tasks = 0;
  for (auto _ : state) {
    TaskGraph graph(network.links(), 1024);
    Ring ring(graph, network, devices, {2, 1, Bytes{2 * kMebi}, detail});
    const std::vector<TaskId> ready(1024, kNoTask);
    ring.run(Collective::kAllReduce, Bytes{kGibi}, graph.tag({.name = "all-reduce"}), ready);
    benchmark::DoNotOptimize(simulate(graph).end);
    tasks = static_cast<double>(graph.tasks().size());
  }
  state.counters["tasks"] = tasks;
  state.counters["peak_MB"] = peak_memory_mb();
}

void run_gat_amst(benchmark::State& state) {
  for (auto _ : state) {
    RunResult result;
    result.scenario = load_scenario(SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml");
    result.predictions = predict(result.scenario);
    result.selections = select_techniques(result.scenario, result.predictions, Algorithm::kAmended);
    benchmark::DoNotOptimize(to_table(result));
  }
  state.counters["peak_MB"] = peak_memory_mb();
}

// 1000 predictions in the order in which tests/bench/python.py makes them: 250 distances, four techniques, each scenario read
// anew from files in memory, and written as CSV.
void predictions_1000(benchmark::State& state) {
  for (auto _ : state) {
    ScenarioFile file(SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml");
    for (int i = 1; i <= 250; ++i) {
      std::vector<Override> overrides;
      for (const std::string& text : {std::string("models=gpt2m"), std::string("groups=all"),
                                      fmt::format("platform.links.wan.rtt={} us", 400 * i)})
        overrides.push_back(parse_override(text));
      Scenario scenario = read_scenario(file.link(overrides), file.name());
      PredictOptions options = json_options(scenario);
      options.links = false;
      benchmark::DoNotOptimize(to_csv({run_scenario(std::move(scenario), options)}));
    }
  }
}

// A Llama of 1e9 parameters by nanotron on 8, 16, 32 and 64 H100 of nodes of eight, in every division into tensor and pipeline
// parallelism up to 8 and 4, and replicas; 8 or 32 micro-batches. One prediction after the other, in one process.
void predictions_of_nanotron(benchmark::State& state) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / fmt::format("nanotron-{}.yaml", getpid());
  std::vector<Scenario> scenarios;
  for (const int gpus : {8, 16, 32, 64}) {
    for (int tensor = 1; tensor <= 8; tensor *= 2) {
      for (int pipeline = 1; pipeline <= 4 && tensor * pipeline <= gpus; pipeline *= 2) {
        const int data = gpus / tensor / pipeline;
        for (const int micro_batches : {8, 32}) {
          std::ofstream(file) << fmt::format(
              "models: [{{name: llama-1b, family: llama, hidden: 2048, heads: 32, layers: 16, sequence: 2048, "
              "vocabulary: "
              "49152, intermediate: 8192}}]\n"
              "techniques: {{Megatron: {{tensor: {}, pipeline: {}, data: {}, micro_batches: {}}}}}\n"
              "training: {{batch: {}, epochs: 1, blocks_per_epoch: {}, precision: bf16, gradient_precision: fp32}}\n"
              "groups: all\nsoftware: {{stack: nanotron}}\n"
              "platform: {{name: cluster, sites: {{lab: {{rtt: 2 us}}}}, vms: {{node: {{count: {}, site: lab, type: "
              "dgx-h100, "
              "gpus: [h100, h100, h100, h100, h100, h100, h100, h100]}}}}}}\n",
              tensor, pipeline, data, micro_batches, 2 * data * micro_batches, 200 * data * micro_batches, gpus / 8);
          scenarios.push_back(load_scenario(file));
        }
      }
    }
  }
  std::filesystem::remove(file);
  for (auto _ : state) {
    for (const Scenario& scenario : scenarios)
      benchmark::DoNotOptimize(
          predict(scenario, {.links = state.range(0) > 0, .advice = false, .ignore_memory = true}));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(scenarios.size()) * state.iterations());
}

// One technique at a time on four GPUs over a WAN: the unit of a sweep.
void predict_technique(benchmark::State& state, const Technique* technique) {
  const Scenario scenario = load_scenario(SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml", {"models=gpt2m", "groups=all"});
  for (auto _ : state) benchmark::DoNotOptimize(predict(scenario, {.only = technique}));
}

// gpt2L on a mesh of four GPUs: the planner, and the integer program of the whole without layers divided alike.
enum class Size { kOnce, kWhole };
void integer_program(benchmark::State& state, MeshShape shape, Size size) {
  const Transformer model{"gpt2L", Family::kGpt2, 1280, 20, 20, 30, 1024, 50257, 5120, true};
  const OperatorGraph operators = build_operator_graph(model);
  const Training training;
  const IntraOperatorRequest request{operators,        0, boost::num_vertices(operators), shape, 4, training,
                                     alpa_costs(shape)};
  for (auto _ : state) {
    if (size == Size::kOnce) {
      benchmark::DoNotOptimize(divide_operators(request));
    } else {
      benchmark::DoNotOptimize(solve(division_program(request, false).program, Seconds{60}));
    }
  }
}

BENCHMARK_CAPTURE(integer_program, gpt2L_4x1, MeshShape{4, 1}, Size::kOnce)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(integer_program, gpt2L_4x1_whole, MeshShape{4, 1}, Size::kWhole)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(integer_program, gpt2L_2x2, MeshShape{2, 2}, Size::kOnce)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(integer_program, gpt2L_2x2_whole, MeshShape{2, 2}, Size::kWhole)->Unit(benchmark::kMillisecond);
// 1000 latency points of four techniques in two workers, as `slmsim sweep` does it.
void sweep_latency(benchmark::State& state) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("slmsim-bench-{}", getpid());
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "latency.yaml")
      << "scenario: " SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml\nset: {models: gpt2m, groups: all}\n"
      << "axes: [{key: platform.links.wan.rtt, from: 0.1 ms, to: 200 ms, points: 1000, scale: log}]\n";
  for (auto _ : state) {
    Sweep sweep(folder / "latency.yaml");
    run_sweep(sweep, {.output = folder / "latency", .jobs = 2, .version = "bench"});
  }
  std::filesystem::remove_all(folder);
  state.counters["peak_MB"] = peak_memory_mb();
}

// 16 GPUs, each with a mean time between failures of `mtbf_days`; a job of `days` with a checkpoint every half hour.
void draw_whole_jobs(benchmark::State& state, double days, double mtbf_days, bool replicas) {
  JobProcess process;
  process.work = process.plain = Seconds{days * 86400};
  process.interval = Seconds{1800};
  process.pause = process.write = Seconds{20};
  process.restart = Seconds{120};
  process.round = Seconds{60};
  process.replicas = replicas ? 16 : 1;
  for (int gpu = 0; gpu < 16; ++gpu)
    process.stops.push_back(
        {1 / (mtbf_days * 86400), Seconds{600}, Seconds{0}, replicas ? std::vector{gpu} : std::vector<int>{}});
  const auto count = static_cast<int>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(draw_jobs(process, count, 1));
}

BENCHMARK_CAPTURE(draw_whole_jobs, week_5_failures, 7.0, 22.4, false)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(draw_whole_jobs, week_5_failures_replicas, 7.0, 22.4, true)
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(draw_whole_jobs, year_a_failure_a_day, 365.0, 16.0, false)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(draw_whole_jobs, year_a_failure_a_day_1000, 365.0, 16.0, false)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);

// First: where no engine has run yet, workers need not be replaced.
BENCHMARK(sweep_latency)->Unit(benchmark::kMillisecond)->Iterations(1)->UseRealTime();
BENCHMARK(run_gat_amst)->Unit(benchmark::kMillisecond);
BENCHMARK(predictions_of_nanotron)->ArgName("links")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(predictions_1000)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(predict_technique, Data, named("Data"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(predict_technique, ZeRO2, named("ZeRO2"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(predict_technique, Shard, named("Shard"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(predict_technique, Pipeshard, named("Pipeshard"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(all_reduce_1024, aggregated, Detail::kAggregated)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(pipeline_1024, a_nic_per_gpu, kEightNics, Output::kTimes)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(pipeline_1024, a_nic_per_vm, kOneNic, Output::kTimes)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(pipeline_1024, a_nic_per_vm_traced, kOneNic, Output::kTrace)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(all_reduce_1024, steps, Detail::kSteps)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace slmsim

int main(int argc, char** argv) {
  slmsim::keep_memory();  // as the program does
  // SimGrid's pool of links cannot grow after the first run: make it large enough for the largest case.
  slmsim::reserve_network(8192);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
