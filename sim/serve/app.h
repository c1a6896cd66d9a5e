// The page and its questions: maps a request to its response, without sockets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/serve/folder.h"
#include "sim/serve/job_list.h"
#include "sim/serve/server.h"

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

// The files of sim/serve/web, compiled into the program.

struct Asset {
  const char* name;  // "page.css"
  std::string_view text;
};

// Generated at build time from the files.
const std::vector<Asset>& assets();
// nullptr where no asset has this name.
const Asset* find_asset(const std::string& name);
// The media type for the name's ending.
std::string media_type(const std::string& name);

}  // namespace slmsim::web
