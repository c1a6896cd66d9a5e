// The validated cluster nearest to a prediction's: how far its times may be trusted without a measurement of one's own.
#pragma once

#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/search/verdict.h"

namespace slmsim {

// What a prediction's GPUs reach each other by.
enum class Fabric { kNone, kPcie, kNvlink, kTcp, kRdma };  // one GPU; one VM, without and with NVLink; several VMs
enum class TechniqueFamily { kReplicas, kOperators, kMegatron, kRounds };

struct ClusterFeatures {
  int sites = 1;
  double rtt = 0;  // ms, the longest between two VMs
  double gpus = 1;
  double memory = 0;  // GiB, of the smallest GPU
  Fabric fabric = Fabric::kNone;
  TechniqueFamily family = TechniqueFamily::kReplicas;
  double parameters = 0;  // of the model, in millions
};

ClusterFeatures features_of(const Scenario& scenario, const Prediction& prediction);

// Measurements of one page of docs/validation, and the features that they cover.
struct ValidatedCluster {
  const char* name;
  const char* page;
  double error;  // median absolute relative error of its times or rates; the mean where the page has only that
  int sites;
  Range<double> rtt, gpus, memory;
  Fabric fabric;
  TechniqueFamily family;
  Range<double> parameters;
};
const std::vector<ValidatedCluster>& validated_clusters();

// Root of the sum of the squares of the features' distances. Inside a range it is 0; outside, of GPUs, memory and parameters
// the logarithm to base 10 of the ratio to its end, of the RTT that of (1 ms + RTT); of sites the difference; 1 for another
// fabric and for another family.
double distance(const ClusterFeatures& features, const ValidatedCluster& cluster);

NearestValidated nearest_validated(const Scenario& scenario, const Prediction& prediction);

}  // namespace slmsim
