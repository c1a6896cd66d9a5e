#include "sim/search/plan_crew.h"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "sim/compute/operator_graph.h"
#include "sim/crew/journal.h"
#include "sim/crew/pool.h"
#include "sim/crew/ranks.h"
#include "sim/technique/alpa/planner/stage_choice.h"

namespace slmsim {
namespace {

constexpr std::size_t kAssessedByWorker = 4;  // per worker

constexpr const char* kHeader = "plan";
const JournalWords kWords = {"search", "--journal", "the scenario, a file it names, --set, --technique"};

}  // namespace

// Questions: for each space in turn two per choice, to assess it and to measure it.
class PlanCrew::Work {
 public:
  Work(const std::vector<Space>& spaces, const PlanCrewOptions& options) : spaces_(spaces), options_(options) {
    std::uint64_t questions = 0;
    for (const auto& space : spaces) {
      first_.push_back(questions);
      questions += 2 * space.size();
      operators_.push_back(build_operator_graph(space.model()));
      tables_.emplace_back();
    }
    if (options.ranks) launch_ = launch_of_environment();
    if (launch_.ranks > 1) begin_mpi();
    if (launch_.rank > 0) return;
    std::vector<int> open;
    if (!options.journal.empty()) {
      if (questions > kMostQuestions)
        throw InputError({}, fmt::format("the search has {} choices; a journal holds at most {}", questions / 2,
                                         kMostQuestions / 2));
      journal_.emplace(Journal::open(options.journal, {kWords, options.identity, questions, options.shard, kHeader},
                                     options.restart));
      open.push_back(journal_->descriptor());
    }
    read_parts(questions);
    for (const Journal& part : parts_) open.push_back(part.descriptor());
    if (launch_.ranks < 2 || options.alone) crew_ = std::make_unique<Crew>(options.jobs, answer(), open);
  }

  bool serve() {
    if (launch_.rank == 0) return false;
    slmsim::serve(*transport_, answer());
    return true;
  }

  // `What` is Assessment or Measurement, in the order of the choices; empty when stopped.
  template <class What>
  std::vector<What> find_out(std::size_t space, const std::vector<std::size_t>& choices) {
    constexpr bool kMeasure = std::is_same_v<What, Measurement>;
    std::map<std::uint64_t, Finding> found;
    std::vector<std::uint64_t> questions, open;
    for (const std::size_t choice : choices) {
      const std::uint64_t question = first_[space] + 2 * choice + (kMeasure ? 1 : 0);
      questions.push_back(question);
      if (const Journal* journal = holder_of(question)) {
        found[question] = journal->answer<Finding>(question);
      } else {
        open.push_back(question);
      }
    }
    AskOptions<Finding> asking;
    asking.at_once = kMeasure ? 1 : kAssessedByWorker;
    asking.taken = [&](std::uint64_t question, const Finding& finding) {
      if (journal_) journal_->add(question, finding);
      found[question] = finding;
    };
    asking.lost = [](std::uint64_t question, const std::string& how) -> Finding {
      throw std::runtime_error(fmt::format("choice {} of the search: {}", question / 2, how));
    };
    asking.stop = options_.stop;
    QuestionQueue queue(open);
    if (!ask(queue, asking)) return {};
    std::vector<What> out;
    out.reserve(questions.size());
    for (const std::uint64_t question : questions) out.push_back(std::get<What>(found.at(question)));
    return out;
  }

 private:
  // Throws InputError with all parts of other searches.
  void read_parts(std::uint64_t questions) {
    std::vector<Error> errors;
    for (const auto& file : options_.parts) {
      try {
        Journal part = Journal::read(file, kWords);
        const JournalOf of{kWords, options_.identity, questions, part.of().shard, kHeader};
        if (part.of() == of) {
          parts_.push_back(std::move(part));
        } else {
          errors.push_back(
              {Place{std::make_shared<Source>(Source{file.string(), ""}), 0, 0},
               "a part of another search: other files, --set, --technique or --model, or another version of slmsim"});
        }
      } catch (const InputError& error) {
        errors.insert(errors.end(), error.errors().begin(), error.errors().end());
      }
    }
    if (!errors.empty()) throw InputError(std::move(errors));
  }

  const Journal* holder_of(std::uint64_t question) const {
    if (journal_ && journal_->holds(question)) return &*journal_;
    const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Journal& j) { return j.holds(question); });
    return part == parts_.end() ? nullptr : &*part;
  }

  void begin_mpi() {
    transport_ = Transport::begin();
    if (launch_.rank == 0) ranks_.emplace(*transport_);
  }

  bool ask(QuestionQueue& queue, const AskOptions<Finding>& asking) {
    if (!crew_) return ask_all(*ranks_, queue, asking);
    return ask_all(*crew_, queue, asking);
  }

  std::function<Texts(std::uint64_t)> answer() const {
    return in_texts<Finding>([this](std::uint64_t question) { return find_out(question); });
  }

  // Runs in a worker.
  Finding find_out(std::uint64_t question) const {
    std::size_t space = first_.size() - 1;
    while (first_[space] > question) --space;
    const std::uint64_t number = question - first_[space];
    const Choice choice = spaces_[space].choice(number / 2);
    if (number % 2 == 0) return assess(spaces_[space], operators_[space], choice, options_.objective, &tables_[space]);
    return measure(spaces_[space], operators_[space], choice, options_.objective);
  }

  const std::vector<Space>& spaces_;
  PlanCrewOptions options_;
  std::vector<OperatorGraph> operators_;
  mutable std::vector<StageTables> tables_;  // each worker's own
  std::vector<std::uint64_t> first_;
  Launch launch_;
  std::unique_ptr<Transport> transport_;
  std::optional<Ranks> ranks_;  // of rank 0, which ends the others before MPI ends
  std::optional<Journal> journal_;
  std::vector<Journal> parts_;
  std::unique_ptr<Crew> crew_;
};

PlanCrew::PlanCrew(const std::vector<Space>& spaces, const PlanCrewOptions& options)
    : work_(std::make_unique<Work>(spaces, options)) {}

PlanCrew::~PlanCrew() = default;

bool PlanCrew::serve() { return work_->serve(); }

Evaluator PlanCrew::evaluator(std::size_t space) {
  return {[this, space](const auto& choices) { return work_->find_out<Assessment>(space, choices); },
          [this, space](const auto& choices) { return work_->find_out<Measurement>(space, choices); }};
}

}  // namespace slmsim
