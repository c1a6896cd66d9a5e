// A request to the page: "METHOD PATH?QUERY", lines of headers, an empty line, the body. Long computations are left out:
// a question is read with its scenario, and its trees are answered.
#include <fstream>

#include "sim/serve/answer.h"
#include "sim/serve/app.h"
#include "tests/fuzz/target.h"

namespace slmsim::web {
namespace {

const std::string kToken(32, 'a');

std::filesystem::path folder() {
  static const std::filesystem::path kFolder = [] {
    std::string pattern = (std::filesystem::temp_directory_path() / "slmsim-fuzz-XXXXXX").string();
    std::filesystem::path made = mkdtemp(pattern.data());
    std::ofstream(made / "in.yaml") << "platform: gat-amst\nmodels: gpt2m\n";
    return made;
  }();
  return kFolder;
}

Response read_only(const HelperRequest& asking) {
  const Workplace workplace{.folder = folder(), .reach = Folder(folder()).reach()};
  try {
    const Question question = read_question(asking.body, workplace);
    Json out;
    add_trees(question, out);
    load_scenario(question.text, question.set);
    return {.body = out.dump(-1, ' ', false, Json::error_handler_t::replace)};
  } catch (const InputError& error) {
    for (const auto& one : error.errors()) error_json(one, folder() / "in.yaml");
    return refusal(422, error.what());
  }
}

Request request_of(std::string_view text) {
  const auto line = [&] {
    const std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), row.size() + 1));
    return std::string(row);
  };
  Request out;
  std::string first = line();
  out.method = first.substr(0, first.find(' '));
  first.erase(0, std::min(first.size(), out.method.size() + 1));
  out.path = first.substr(0, first.find('?'));
  if (const auto token = first.find("?token="); token != std::string::npos)
    out.query["token"] = first.substr(token + 7);
  for (std::string row = line(); !row.empty(); row = line())
    out.headers[row.substr(0, row.find(':'))] = row.substr(std::min(row.size(), row.find(':') + 2));
  out.body = text;
  return out;
}

}  // namespace
}  // namespace slmsim::web

namespace slmsim::fuzz {
namespace {

void try_serve(std::string_view text) {
  using namespace slmsim::web;
  // Whose jobs end before the next input, and before what they use is gone.
  App app({.guard = {.token = kToken, .hosts = {"127.0.0.1:1"}, .cookie = "slmsim-1"},
           .folder = folder(),
           .open = {},
           .version = {}},
          read_only);
  const Request request = request_of(text);
  const bool may = !app.refuse(request);
  const Response response = app.handle(request);
  // A refusal reveals nothing, and paths out of the folder are not read; a message may repeat the request's words.
  constexpr std::string_view kOfPasswords = "root:x:0:";
  const auto holds = [&](std::string_view said) { return said.find(kOfPasswords) != std::string_view::npos; };
  if (!may && response.status == 200) __builtin_trap();
  if (holds(response.body) && !holds(text)) __builtin_trap();
}

const Target kServe("serve", try_serve);

}  // namespace
}  // namespace slmsim::fuzz
