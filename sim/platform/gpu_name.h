// Whether two names are of one GPU: as data sheets ("NVIDIA Tesla T4"), drivers ("NVIDIA A100-SXM4-40GB") and people ("t4")
// spell them. Makers' and families' names, case and punctuation say nothing.
#pragma once

#include <string>

namespace slmsim {

// All words are the same, in whatever order; "NVIDIA H100 80GB HBM3" is how the driver calls "NVIDIA H100 SXM5 80GB".
bool is_same_gpu(const std::string& a, const std::string& b);

// The chip is the same, or one name says nothing of it; memory and slot may be others: "NVIDIA A100-SXM4-40GB" and "NVIDIA
// A100 PCIe 80GB".
bool is_same_chip(const std::string& a, const std::string& b);

// Both names tell of memory, or of a slot, and not of the same: then the rates of memory and clocks are others too.
bool is_other_variant(const std::string& a, const std::string& b);

// Whether anything is left of a name beside makers' and families' words.
bool names_a_gpu(const std::string& text);

}  // namespace slmsim
