// The page and its questions: from a request to its response, without sockets.
#pragma once

#include <string>

#include "sim/serve/folder.h"
#include "sim/serve/guard.h"
#include "sim/serve/job_list.h"

namespace slmsim::web {

struct AppOptions {
  Guard guard;
  std::filesystem::path folder = ".";
  std::string open;     // a scenario below the folder that the page begins with; empty: none
  std::string version;  // of the program
};

class App {
 public:
  // `answerer` is asked from several threads at once.
  App(AppOptions options, Answerer answerer);

  // Refuses by the guard, then:
  //   GET  /                  the page; /NAME its parts
  //   POST /api/catalog       {}                              what there is: models, GPUs, VM types, techniques, scenarios
  //   POST /api/files/list    {}                              {"folder", "files": [...]}
  //   POST /api/files/read    {"path"}                        {"path", "text"}
  //   POST /api/files/shipped {"name"}                        {"path", "whole"}: a scenario of the program's, see tree.h
  //   POST /api/files/write   {"path", "text", "replace"}     {"path"}
  //   POST /api/VERB          see answer.h; a long one tells {"job": number}
  //   POST /api/job           {"job": number}                 how far it is, or its answer
  //   POST /api/job/cancel    {"job": number}
  // A question that was understood is answered with status 200; what is wrong with a scenario or a path stands in "errors".
  Response handle(const Request& request);
  // Only what the guard says of a request whose body nobody read yet.
  std::optional<Response> refuse(const Request& request) const { return check(options_.guard, request); }

  // A scenario on the page takes so long at most.
  static constexpr double kMostSeconds = 60;

 private:
  Response ask(const std::string& what, const std::string& body);

  AppOptions options_;
  Folder folder_;
  Answerer answerer_;
  JobList jobs_;
};

}  // namespace slmsim::web
