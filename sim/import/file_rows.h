// What a format's reader takes from one file, and what it leaves out and why.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/platform/profile.h"

namespace slmsim {

// One time of the file. Where it is of several kernels, as a backward pass of two products, each takes an equal part. A
// kernel may have a name that slmsim does not know: who gathers the rows counts it.
struct KernelTime {
  std::string gpu;  // as the table names it; empty where it does not
  Precision precision = Precision::kFp32;
  std::vector<KernelShape> shapes;
  Seconds time;
  int line = 0;  // of the file, where it stands
};

struct CollectiveTime {
  std::string gpu;
  std::string name;  // "all-reduce", as profiles say
  std::int64_t ranks = 0, hosts = 1;
  Bytes size;  // as nccl-tests count it: of the whole buffer
  Seconds time;
  int line = 0;
};

struct FileRows {
  std::vector<KernelTime> kernels;
  std::vector<CollectiveTime> collectives;
  std::map<std::string, std::size_t> left_out;              // reason: times
  std::map<std::string, std::set<std::string>> not_chosen;  // values that --where left out, by column
  std::map<std::string, std::size_t> unknown;               // times, by what slmsim has no kernel for
  std::set<std::string> remarks;

  void leave_out(const std::string& why, std::size_t times = 1) { left_out[why] += times; }
};

// What the user chose beside the files.
struct ImportRequest {
  struct Choice {
    std::string column, value;
  };
  std::optional<Precision> precision;
  std::vector<Choice> where;
  std::optional<Seconds> least;  // shorter times are left out
  bool mixed = false;            // of collectives: GPUs of several kinds may take part
  std::string shapes;            // a file that says which kernel of slmsim a kernel's name stands for
};

// "half", "float16", "torch.float32" and the like; nothing for what slmsim does not train in, such as fp8.
std::optional<Precision> precision_called(std::string_view name);
// A collective as profiles name it: "all_reduce" is all-reduce; nothing for what profiles do not hold, such as
// alltoall.
std::optional<std::string> collective_called(std::string_view name);

// y = x W of a PyTorch Linear, whose weights lie as n x k, so that the product is nt.
inline KernelShape linear_kernel(std::int64_t m, std::int64_t n, std::int64_t k) { return {"gemm-nt", 1, m, n, k}; }

}  // namespace slmsim
