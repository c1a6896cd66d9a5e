// Compares names of GPUs as data sheets ("NVIDIA Tesla T4"), drivers ("NVIDIA A100-SXM4-40GB") and people ("t4") spell
// them. Names of makers and families, case and punctuation are ignored.
#pragma once

#include <string>

namespace slmsim {

// All words are the same, in any order; the driver's "NVIDIA H100 80GB HBM3" is "NVIDIA H100 SXM5 80GB".
bool is_same_gpu(const std::string& a, const std::string& b);

// The chip is the same, or one name does not state it; memory and slot may differ: "NVIDIA A100-SXM4-40GB" and "NVIDIA
// A100 PCIe 80GB".
bool is_same_chip(const std::string& a, const std::string& b);

// Both names state a memory size or a slot, and these differ; memory rate and clocks then differ too.
bool is_other_variant(const std::string& a, const std::string& b);

// Whether a name has words besides those of makers and families.
bool names_a_gpu(const std::string& text);

}  // namespace slmsim
