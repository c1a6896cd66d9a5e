#include "sim/crew/mpi/ranks.h"

#include <chrono>
#include <cstring>
#include <mpi.h>
#include <thread>

namespace slmsim {
namespace {

enum Tag { kQuestions = 1, kEvent, kEnd };

// MPI's own waiting takes a whole core.
constexpr auto kPause = std::chrono::microseconds(100);

struct Head {
  std::uint64_t kind = 0, question = 0, first = 0, second = 0, how = 0, questions = 0;
};

std::string packed(const CrewEvent& event) {
  const Head head{static_cast<std::uint64_t>(event.kind),
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
  Head head;
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

void send_bytes(const void* data, std::size_t size, int rank, Tag tag) {
  MPI_Send(data, static_cast<int>(size), MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}

// The next message that waits, if any.
bool probe(int from, MPI_Status& status) {
  int there = 0;
  MPI_Iprobe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
  return there != 0;
}

std::string receive_bytes(const MPI_Status& status) {
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::string out(static_cast<std::size_t>(size), '\0');
  MPI_Recv(out.data(), size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return out;
}

}  // namespace

MpiSession::MpiSession() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

MpiSession::~MpiSession() { MPI_Finalize(); }

Ranks::~Ranks() {
  for (std::size_t worker = 0; worker < given_.size(); ++worker) {
    // A rank whose answers nobody waits for any more still sends what it has.
    while (!given_[worker].empty()) wait(1000);
    send_bytes(nullptr, 0, static_cast<int>(worker) + 1, kEnd);
  }
}

void Ranks::give(std::size_t worker, const std::vector<std::uint64_t>& questions) {
  given_[worker] = questions;
  send_bytes(questions.data(), questions.size() * sizeof(std::uint64_t), static_cast<int>(worker) + 1, kQuestions);
}

std::vector<CrewEvent> Ranks::wait(int milliseconds) {
  std::vector<CrewEvent> events;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  MPI_Status status;
  while (events.empty()) {
    while (probe(MPI_ANY_SOURCE, status)) {
      events.push_back(unpacked(receive_bytes(status), static_cast<std::size_t>(status.MPI_SOURCE - 1)));
      const CrewEvent& event = events.back();
      auto& given = given_[event.worker];
      if (event.kind == CrewEvent::Kind::kReturned) {
        for (const std::uint64_t question : event.questions) std::erase(given, question);
      } else {
        std::erase(given, event.question);
      }
    }
    if (std::chrono::steady_clock::now() >= until) break;
    if (events.empty()) std::this_thread::sleep_for(kPause);
  }
  return events;
}

void serve(const std::function<Texts(std::uint64_t)>& answer) {
  Crew crew(1, answer, {});
  for (MPI_Status status;;) {
    if (probe(0, status)) {
      const std::string bytes = receive_bytes(status);
      if (status.MPI_TAG == kEnd) return;
      std::vector<std::uint64_t> questions(bytes.size() / sizeof(std::uint64_t));
      std::memcpy(questions.data(), bytes.data(), bytes.size());
      crew.give(0, questions);
    }
    if (crew.is_idle(0)) std::this_thread::sleep_for(kPause);
    for (const auto& event : crew.wait(crew.is_idle(0) ? 0 : 1000)) {
      const std::string bytes = packed(event);
      send_bytes(bytes.data(), bytes.size(), 0, kEvent);
    }
  }
}

}  // namespace slmsim
