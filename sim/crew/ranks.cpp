#include "sim/crew/ranks.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <fmt/core.h>

#include "sim/base/error.h"
#include "sim/base/file.h"
#include "sim/base/work.h"

namespace slmsim {

namespace {

enum Tag { kQuestions = 1, kEvent, kEnd };

// MPI's own waiting occupies a whole core.
constexpr auto kPause = std::chrono::microseconds(100);

struct EventHeader {
  std::uint64_t kind = 0, question = 0, first = 0, second = 0, how = 0, questions = 0;
};

std::string packed(const CrewEvent& event) {
  const EventHeader head{static_cast<std::uint64_t>(event.kind),
                         event.question,
                         event.answer.first.size(),
                         event.answer.second.size(),
                         event.how.size(),
                         event.questions.size()};
  std::string out(reinterpret_cast<const char*>(&head), sizeof head);
  out += event.answer.first;
  out += event.answer.second;
  out += event.how;
  out.append(reinterpret_cast<const char*>(event.questions.data()), event.questions.size() * sizeof(std::uint64_t));
  return out;
}

CrewEvent unpacked(const std::string& bytes, std::size_t worker) {
  EventHeader head;
  std::memcpy(&head, bytes.data(), sizeof head);
  CrewEvent event{.worker = worker, .kind = static_cast<CrewEvent::Kind>(head.kind), .question = head.question};
  std::size_t at = sizeof head;
  for (const auto& [text, size] :
       {std::pair{&event.answer.first, head.first}, {&event.answer.second, head.second}, {&event.how, head.how}}) {
    *text = bytes.substr(at, size);
    at += size;
  }
  event.questions.resize(head.questions);
  // memcpy may not be given the null pointer of an empty vector.
  if (head.questions > 0)
    std::memcpy(event.questions.data(), bytes.data() + at, head.questions * sizeof(std::uint64_t));
  return event;
}

}  // namespace

std::unique_ptr<Transport> Transport::begin() {
  Transport* (*begin_mpi)() = nullptr;
  try {
    begin_mpi = library_function<Transport*()>("libslmsim_mpi.so", "slmsim_mpi_transport");
  } catch (const std::logic_error& reason) {
    throw InputError({}, fmt::format("an MPI launcher started several processes, but this slmsim was built without MPI "
                                     "({}); build it where MPI is installed, or split a sweep with --shard",
                                     reason.what()));
  }
  return std::unique_ptr<Transport>(begin_mpi());
}

Ranks::~Ranks() {
  for (std::size_t worker = 0; worker < given_.size(); ++worker) {
    // A rank still sends the answers that are no longer needed.
    while (!given_[worker].empty()) wait(1000);
    transport_.send(nullptr, 0, static_cast<int>(worker) + 1, kEnd);
  }
}

void Ranks::give(std::size_t worker, const std::vector<std::uint64_t>& questions) {
  given_[worker] = questions;
  transport_.send(questions.data(), questions.size() * sizeof(std::uint64_t), static_cast<int>(worker) + 1, kQuestions);
}

std::vector<CrewEvent> Ranks::wait(int milliseconds) {
  std::vector<CrewEvent> events;
  const Deadline deadline(1e-3 * milliseconds);
  while (events.empty()) {
    while (const auto message = transport_.receive(-1)) {
      events.push_back(unpacked(message->bytes, static_cast<std::size_t>(message->from - 1)));
      const CrewEvent& event = events.back();
      auto& given = given_[event.worker];
      if (event.kind == CrewEvent::Kind::kReturned) {
        for (const std::uint64_t question : event.questions) std::erase(given, question);
      } else {
        std::erase(given, event.question);
      }
    }
    if (deadline.is_over()) break;
    if (events.empty()) std::this_thread::sleep_for(kPause);
  }
  return events;
}

void serve(Transport& transport, const std::function<Texts(std::uint64_t)>& answer) {
  Crew crew(1, answer, {});
  for (;;) {
    if (const auto message = transport.receive(0)) {
      if (message->tag == kEnd) return;
      std::vector<std::uint64_t> questions(message->bytes.size() / sizeof(std::uint64_t));
      std::memcpy(questions.data(), message->bytes.data(), message->bytes.size());
      crew.give(0, questions);
    }
    if (crew.is_idle(0)) std::this_thread::sleep_for(kPause);
    for (const auto& event : crew.wait(crew.is_idle(0) ? 0 : 1000)) {
      const std::string bytes = packed(event);
      transport.send(bytes.data(), bytes.size(), 0, kEvent);
    }
  }
}

Launch launch_of_environment() {
  // Open MPI; MPICH and Slurm's PMI.
  for (const auto& [size, rank] :
       {std::pair{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"}}) {
    const char *ranks = std::getenv(size), *mine = std::getenv(rank);
    if (ranks && mine) return {std::atoi(ranks), std::atoi(mine)};
  }
  return {};
}

}  // namespace slmsim
