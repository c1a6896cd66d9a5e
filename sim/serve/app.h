// The page and its questions: maps a request to its response, without sockets.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/serve/asset.h"
#include "sim/serve/folder.h"
#include "sim/serve/job_list.h"
#include "sim/serve/message.h"

namespace slmsim::web {

struct AppOptions {
  Guard guard;
  std::filesystem::path folder = ".";
  std::string open;     // the scenario below the folder that the page opens first; empty: none
  std::string version;  // the program's
};

class App {
 public:
  // `answerer` is called from several threads at once.
  App(AppOptions options, Answerer answerer);

  // Checks the guard, then handles:
  //   GET  /                  the page; /NAME its parts
  //   POST /api/catalog       {}                              models, GPUs, VM types, techniques, scenarios
  //   POST /api/files/list    {}                              {"folder", "files": [...]}
  //   POST /api/files/read    {"path"}                        {"path", "text"}
  //   POST /api/files/shipped {"name"}                        {"path", "whole"}: a shipped scenario, see tree.h
  //   POST /api/files/write   {"path", "text", "replace"}     {"path"}
  //   POST /api/VERB          see answer.h; a long one returns {"job": number}
  //   POST /api/job           {"job": number}                 its progress or its answer
  //   POST /api/job/cancel    {"job": number}
  // An understood question has status 200; errors of a scenario or a path are in "errors".
  Response handle(const Request& request);
  // Checks only the guard, before the request's body is read.
  std::optional<Response> refuse(const Request& request) const { return check(options_.guard, request); }

  // Time limit for one scenario on the page.
  static constexpr double kMostSeconds = 60;

 private:
  Response ask(const std::string& what, const std::string& body);

  AppOptions options_;
  Folder folder_;
  Answerer answerer_;
  JobList jobs_;
};

// The page on a socket: the only part that handles the process's signals.

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: a free one
  std::filesystem::path folder = ".";
  std::string open, version;
  std::vector<std::string> helper;  // the command of a process that calls help()
  std::size_t jobs = 1;             // largest number of helper processes at once
};

// Serves until SIGINT or SIGTERM. `ready` is called with the address and token once the page can be opened. Throws InputError
// where host and port cannot be bound.
void serve(const ServerOptions& options, const std::function<void(const std::string& address)>& ready);

}  // namespace slmsim::web
