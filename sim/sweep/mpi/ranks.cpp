#include "sim/sweep/mpi/ranks.h"

#include <chrono>
#include <cstring>
#include <mpi.h>
#include <thread>

namespace slmsim {
namespace {

enum Tag { kPoints = 1, kEvent, kEnd };

// MPI's own waiting takes a whole core.
constexpr auto kPause = std::chrono::microseconds(100);

struct Head {
  std::uint64_t kind = 0, point = 0, csv = 0, json = 0, text = 0, points = 0;
};

std::string packed(const CrewEvent& event) {
  const Head head{static_cast<std::uint64_t>(event.kind),
                  event.point,
                  event.rows.csv.size(),
                  event.rows.json.size(),
                  event.text.size(),
                  event.points.size()};
  std::string out(reinterpret_cast<const char*>(&head), sizeof head);
  out += event.rows.csv;
  out += event.rows.json;
  out += event.text;
  out.append(reinterpret_cast<const char*>(event.points.data()), event.points.size() * sizeof(std::uint64_t));
  return out;
}

CrewEvent unpacked(const std::string& bytes, std::size_t worker) {
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  CrewEvent event{.worker = worker, .kind = static_cast<CrewEvent::Kind>(head.kind), .point = head.point};
  std::size_t at = sizeof head;
  for (const auto& [text, size] :
       {std::pair{&event.rows.csv, head.csv}, {&event.rows.json, head.json}, {&event.text, head.text}}) {
    *text = bytes.substr(at, size);
    at += size;
  }
  event.points.resize(head.points);
  std::memcpy(event.points.data(), bytes.data() + at, head.points * sizeof(std::uint64_t));
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
    // A rank whose points nobody waits for any more still sends what it has.
    while (!given_[worker].empty()) wait(1000);
    send_bytes(nullptr, 0, static_cast<int>(worker) + 1, kEnd);
  }
}

void Ranks::give(std::size_t worker, const std::vector<std::uint64_t>& points) {
  given_[worker] = points;
  send_bytes(points.data(), points.size() * sizeof(std::uint64_t), static_cast<int>(worker) + 1, kPoints);
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
        for (const std::uint64_t point : event.points) std::erase(given, point);
      } else {
        std::erase(given, event.point);
      }
    }
    if (std::chrono::steady_clock::now() >= until) break;
    if (events.empty()) std::this_thread::sleep_for(kPause);
  }
  return events;
}

void serve(const std::function<PointRows(std::uint64_t)>& rows) {
  Crew crew(1, rows, {});
  for (MPI_Status status;;) {
    if (probe(0, status)) {
      const std::string bytes = receive_bytes(status);
      if (status.MPI_TAG == kEnd) return;
      std::vector<std::uint64_t> points(bytes.size() / sizeof(std::uint64_t));
      std::memcpy(points.data(), bytes.data(), bytes.size());
      crew.give(0, points);
    }
    if (crew.is_idle(0)) std::this_thread::sleep_for(kPause);
    for (const auto& event : crew.wait(crew.is_idle(0) ? 0 : 1000)) {
      const std::string bytes = packed(event);
      send_bytes(bytes.data(), bytes.size(), 0, kEvent);
    }
  }
}

}  // namespace slmsim
