// Local SGD (Stich, ICLR 2019, arXiv 1805.09767, algorithm 1): each replica makes several optimizer steps
// independently, then the parameters of all are averaged by an all-reduce.
#include "sim/technique/replicas/replicas.h"
#include "sim/technique/rounds/rounds.h"

namespace slmsim {
namespace {

// Parameters are averaged in formats that can be added directly; the first three of ExchangeFormat.
const std::vector<std::string>& averaged_names() {
  static const std::vector<std::string> kNames(exchange_format_names().begin(), exchange_format_names().begin() + 3);
  return kNames;
}

const Option<ExchangeFormat> kAveraged{
    choice_option({"format", "The number format in which parameters are averaged."}, averaged_names)};

PlanResult plan_local_sgd(const PlanRequest& request) {
  return plan_rounds(request, {.format = request.options.get(kAveraged)});
}

}  // namespace

extern const Technique kLocalSgd =
    technique_of_rounds("LocalSGD", "replicas take several steps on their own, then average their parameters",
                        {"#ffffff", "#5d9a3c", "8", "-", "+++"}, plan_local_sgd, {&kAveraged});

}  // namespace slmsim
