// Rows that a format's reader takes from one file, and the rows it leaves out, with reasons.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/platform/profile.h"

namespace slmsim {

// One time of the file. A time of several kernels, such as a backward pass of two products, is divided equally. The kernel's
// name may be unknown to slmsim; gather() counts those.
struct KernelTime {
  std::string gpu;  // as the table names it; empty where it does not name one
  Precision precision = Precision::kFp32;
  std::vector<KernelShape> shapes;
  Seconds time;
  int line = 0;  // in the file
};

struct CollectiveTime {
  std::string gpu;
  std::string name;  // "all-reduce", as in profiles
  std::int64_t ranks = 0, hosts = 1;
  Bytes size;  // as nccl-tests count it: the whole buffer
  Seconds time;
  int line = 0;
};

struct FileRows {
  std::vector<KernelTime> kernels;
  std::vector<CollectiveTime> collectives;
  std::map<std::string, std::size_t> left_out;              // reason: number of times
  std::map<std::string, std::set<std::string>> not_chosen;  // values that --where left out, by column
  std::map<std::string, std::size_t> unknown;               // number of times, by name of the unknown kernel
  std::set<std::string> remarks;

  void leave_out(const std::string& why, std::size_t times = 1) { left_out[why] += times; }
};

// The user's options beside the files.
struct ImportRequest {
  struct Choice {
    std::string column, value;
  };
  std::optional<Precision> precision;
  std::vector<Choice> where;
  std::optional<Seconds> least;  // shorter times are left out
  bool mixed = false;            // for collectives: GPUs of several kinds may take part
  std::string shapes;            // a file that maps kernel names to slmsim's kernels
};

// "half", "float16", "torch.float32" and the like; nothing for precisions that slmsim does not train in, such as fp8.
std::optional<Precision> precision_called(std::string_view name);
// A collective by a profile's name: "all_reduce" is all-reduce; nothing for collectives without a profile, such as alltoall.
std::optional<std::string> collective_called(std::string_view name);

// y = x W of a PyTorch Linear, whose weights are stored as n x k, so that the product is nt.
inline KernelShape linear_kernel(std::int64_t m, std::int64_t n, std::int64_t k) { return {"gemm-nt", 1, m, n, k}; }

}  // namespace slmsim
