#include "sim/sweep/plan_crew.h"

#include <deque>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "sim/sweep/crew.h"

namespace slmsim {
namespace {

constexpr std::size_t kAssessedAtOnce = 4;  // given to a worker
constexpr int kPatience = 200;              // ms between two questions whether to stop

}  // namespace

// Points: of each space in turn two per choice, to assess it and to measure it.
class PlanCrew::Work {
 public:
  Work(const std::vector<Space>& spaces, const PlanCrewOptions& options) : spaces_(spaces), options_(options) {
    std::uint64_t points = 0;
    for (const auto& space : spaces) {
      first_.push_back(points);
      points += 2 * space.size();
      operators_.push_back(build_operator_graph(space.model()));
    }
    std::vector<int> open;
    if (!options.journal.empty()) {
      if (points > kMostPoints)
        throw InputError(
            {}, fmt::format("the search has {} choices; a journal holds at most {}", points / 2, kMostPoints / 2));
      journal_.emplace(Journal::open(options.journal, {options.identity, points, {}, "plan"}, options.restart));
      open.push_back(journal_->descriptor());
    }
    crew_ = std::make_unique<Crew>(
        options.jobs, [this](std::uint64_t point) { return rows(point); }, open);
  }

  std::vector<std::string> lines(std::size_t space, const std::vector<std::size_t>& choices, bool simulate) {
    std::map<std::uint64_t, std::string> found;
    std::deque<std::uint64_t> wanted;
    std::vector<std::uint64_t> points;
    for (const std::size_t choice : choices) {
      const std::uint64_t point = first_[space] + 2 * choice + (simulate ? 1 : 0);
      points.push_back(point);
      if (journal_ && journal_->holds(point)) {
        found[point] = journal_->rows(point).csv;
      } else {
        wanted.push_back(point);
      }
    }
    if (!work_off(wanted, simulate ? 1 : kAssessedAtOnce, found)) return {};
    std::vector<std::string> out;
    for (const std::uint64_t point : points) out.push_back(found.at(point));
    return out;
  }

  void remove_journal() {
    if (!journal_) return;
    std::error_code ignored;
    std::filesystem::remove(options_.journal, ignored);
  }

 private:
  PointRows rows(std::uint64_t point) const {
    std::size_t space = first_.size() - 1;
    while (first_[space] > point) --space;
    const std::uint64_t number = point - first_[space];
    const Choice& choice = spaces_[space].choices()[number / 2];
    return {number % 2 == 0 ? to_line(assess(spaces_[space], operators_[space], choice, &memo_))
                            : to_line(measure(spaces_[space], operators_[space], choice, &memo_)),
            ""};
  }

  // False where it was stopped.
  bool work_off(std::deque<std::uint64_t>& wanted, std::size_t at_once, std::map<std::uint64_t, std::string>& found) {
    std::map<std::uint64_t, int> deaths;
    for (;;) {
      bool busy = false;
      for (std::size_t i = 0; i < crew_->size(); ++i) {
        if (crew_->is_idle(i) && !wanted.empty()) {
          std::vector<std::uint64_t> some;
          for (; some.size() < at_once && !wanted.empty(); wanted.pop_front()) some.push_back(wanted.front());
          crew_->give(i, some);
        }
        busy = busy || !crew_->is_idle(i);
      }
      if (!busy) return true;
      if (options_.stop && options_.stop()) return false;
      for (const auto& event : crew_->wait(kPatience)) {
        if (event.kind == CrewEvent::Kind::kRows) {
          if (journal_) journal_->add(event.point, event.rows);
          found[event.point] = event.rows.csv;
        } else if (event.kind == CrewEvent::Kind::kReturned) {
          wanted.insert(wanted.begin(), event.points.begin(), event.points.end());
        } else if (++deaths[event.point] > 1) {
          throw std::runtime_error(fmt::format("choice {} of the search: {}", event.point / 2, event.text));
        } else {
          wanted.push_back(event.point);
        }
      }
    }
  }

  const std::vector<Space>& spaces_;
  PlanCrewOptions options_;
  std::vector<OperatorGraph> operators_;
  mutable DivisionMemo memo_;  // a cache
  std::vector<std::uint64_t> first_;
  std::optional<Journal> journal_;
  std::unique_ptr<Crew> crew_;
};

PlanCrew::PlanCrew(const std::vector<Space>& spaces, const PlanCrewOptions& options)
    : work_(std::make_unique<Work>(spaces, options)) {}

PlanCrew::~PlanCrew() = default;

Evaluator PlanCrew::evaluator(std::size_t space) {
  Evaluator out;
  out.assess = [this, space](const std::vector<std::size_t>& choices) {
    std::vector<Assessed> all;
    for (const auto& line : work_->lines(space, choices, false)) all.push_back(assessed_of(line));
    return all;
  };
  out.measure = [this, space](const std::vector<std::size_t>& choices) {
    std::vector<Measured> all;
    for (const auto& line : work_->lines(space, choices, true)) all.push_back(measured_of(line));
    return all;
  };
  return out;
}

void PlanCrew::done() { work_->remove_journal(); }

}  // namespace slmsim
