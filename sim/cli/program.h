// The command line of slmsim. Its main function is apart, so that a program with a table of techniques of its own runs it too.
#pragma once

namespace slmsim {

// Runs the command that the words name, and returns the exit status of docs/commands/README.md.
int run_program(int argc, char** argv);

}  // namespace slmsim
