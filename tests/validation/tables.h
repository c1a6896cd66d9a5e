// The comparisons with published studies and measurements, as Markdown and as CSV.
#pragma once

#include <string>

#include "tests/validation/deepspeed_facts.h"
#include "tests/validation/deepspeed_protocol.h"
#include "tests/validation/facts.h"
#include "tests/validation/gpu_validation.h"
#include "tests/validation/job_runs.h"
#include "tests/validation/memory_explanations.h"
#include "tests/validation/reported_runs.h"
#include "tests/validation/wan_facts.h"

namespace slmsim {

// A validation as the Markdown table of docs/validation, and as CSV.

// As CSV: a header and one line per fact; empty where nothing was published or nothing runs.
std::string to_csv(const Validation& validation);

std::string to_markdown(const Validation& validation);

// The DeepSpeed study's facts as a table. Used by `slmsim validate deepspeed` and docs/validation/deepspeed.md.
std::string to_markdown(const DeepSpeedValidation& validation);
std::string to_csv(const DeepSpeedValidation& validation);

// Results for a study's held-out cells, as Markdown and as CSV.
std::string to_markdown(const FabricProtocol& protocol);
std::string to_csv(const FabricProtocol& protocol);
std::string to_markdown(const DeepSpeedProtocol& protocol);
std::string to_csv(const DeepSpeedProtocol& protocol);

// Explanations of which models fit, as Markdown and as CSV.
std::string to_markdown(const MemoryExplanations& explanations);
// A line per explanation: for all slices, called "all", and for each.
std::string to_csv(const MemoryExplanations& explanations);

std::string to_markdown(const GpuValidation& validation);
std::string to_csv(const GpuValidation& validation);

// Predictions beside reported training runs (tests/validation/reported_runs.h).
std::string to_markdown(const RunsValidation& validation);
std::string to_csv(const RunsValidation& validation);

// Goodput of drawn jobs beside that of published runs (tests/validation/job_runs.h).
std::string to_markdown(const JobValidation& validation);
std::string to_csv(const JobValidation& validation);

// Predictions beside measurements of paths and of local SGD (tests/validation/wan_facts.h).
std::string to_markdown(const WanValidation& validation);
std::string to_csv(const WanValidation& validation);

}  // namespace slmsim
