// slmsim serve [SCENARIO]: the page to draw and try a cluster.
#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/cli/command.h"
#include "sim/serve/app.h"

namespace slmsim {
namespace {

constexpr int kUsualPort = 8765;

struct ServeVerb {
  std::string scenario, folder = ".", host = "127.0.0.1";
  int port = kUsualPort;
  bool helper = false;
};

bool is_loopback(const std::string& host) { return host.starts_with("127.") || host == "localhost" || host == "::1"; }

int serve_page(const ServeVerb& verb) {
  const web::Folder folder(verb.folder);
  if (verb.helper) {
    web::help({.folder = folder.root(), .reach = folder.reach(), .jobs = available_cores()}, STDIN_FILENO,
              STDOUT_FILENO);
    return kDone;
  }
  web::ServerOptions options{.host = verb.host, .port = verb.port, .folder = folder.root(), .open = {}, .helper = {}};
  options.version = SLMSIM_VERSION;
  options.jobs = std::max<std::size_t>(2, available_cores());
  options.helper = {"/proc/self/exe", "serve", "--helper", "--folder", folder.root().string()};
  if (!verb.scenario.empty()) {
    std::error_code failed;
    options.open = std::filesystem::canonical(verb.scenario, failed).lexically_relative(folder.root()).string();
    if (failed) throw InputError({}, fmt::format("there is no file \"{}\" to start with", printable(verb.scenario)));
    folder.read(options.open);
  }
  if (!is_loopback(verb.host))
    fmt::print(stderr,
               "slmsim: {} can be reached from other machines, without encryption; an eavesdropper gets the token\n",
               printable(verb.host));
  web::serve(options, [&](const std::string& address) {
    fmt::print("slmsim: {} is open at\n  {}\nCtrl-C ends it.\n", printable(folder.root().string()), address);
    std::fflush(stdout);
  });
  return kDone;
}

}  // namespace

Command add_serve(CLI::App& app) {
  auto* verb = app.add_subcommand("serve", "open a local page to draw a cluster and see predictions at once");
  auto options = std::make_shared<ServeVerb>();
  verb->add_option("SCENARIO", options->scenario, "scenario that the page starts with, below the folder");
  verb->add_option("--folder", options->folder, "folder whose scenarios the page may open and save")
      ->capture_default_str();
  verb->add_option("--port,-p", options->port, "the port; 0: a free one")
      ->capture_default_str()
      ->check(number_within(0, 65535));
  verb->add_option("--host", options->host, "address to listen on; a warning appears if other machines can reach it")
      ->capture_default_str();
  verb->add_flag("--helper", options->helper, "answer questions on standard input, for the page's own processes")
      ->group("");
  verb->footer(R"(
Open the printed address in a browser. docs/commands/serve.md describes the page and its protection.

Examples:
  slmsim serve
  slmsim serve mine/scenario.yaml --port 0
  slmsim serve --folder scenarios --port 9000)");
  return {verb, [options] { return serve_page(*options); }};
}

}  // namespace slmsim
