// Sweeps that cannot be run, whatever their points.
#pragma once

#include "tests/cli/bad_case.h"

namespace slmsim {

inline std::vector<BadCase> bad_sweep_cases() {
  return {
      {"sweep",
       "sweep-keys.yaml",
       {{"1:1", "unknown key \"scenaro\"; did you mean \"scenario\"?"},
        {"1:1", "the file has no \"scenario\"; it is required"},
        {"3:27", "unknown key \"vaules\" in axes.0; did you mean \"values\"?"},
        {"3:5", "axes.0 has neither \"values\" nor a range"},
        {"4:5", "axes.1 has no \"key\"; it is required"},
        {"4:6", "unknown key \"kye\" in axes.1; did you mean \"key\"?"}},
       ""},
      {"sweep",
       "sweep-paths.yaml",
       {{"3:11", "there is no link \"wna\" to override; did you mean \"wan\"?"},
        {"4:11", "there is no \"trainig.batch\" to override; did you mean \"training\"?"},
        {"5:11", "unknown key \"bach\" in training; did you mean \"batch\"?"},
        {"6:11", "\"name.of\" leads into a single value"}},
       ""},
      {"sweep",
       "sweep-ranges.yaml",
       {{"3:30", "\"ms\" and \"s\" are different units; write the range in one"},
        {"4:48", "log steps need positive ends"},
        {"5:37", "steps of -8 do not lead from 8 to 64"},
        {"6:39", "axes.3.points: \"1\" is out of range; expected a whole number from 2"},
        {"7:5", "a range needs either \"points\" (how many) or \"step\" (how far apart)"},
        {"8:20", "from: a number is expected"},
        {"9:35", "axes.6 has both \"values\" and \"points\""},
        {"10:36", "a log scale has no \"step\""},
        {"11:48", "axes.8.scale: unknown value \"cubic\"; known are: linear, log"}},
       ""},
      {"sweep",
       "sweep-zip.yaml",
       {{"5:15", "training.batch has 2 values and training.epochs has 3"},
        {"6:11", "training.batch is on two axes"},
        {"7:5", "axes.2 is a single value; an axis reads {key: "}},
       ""},
      {"sweep",
       "sweep-scenario.yaml",
       {{"1:11", "there is no file \"../gat-amst.yaml\"; the path counts from this file's folder"},
        {"2:6", "set is a list; a map of keys and values is expected"},
        {"3:7", "axes is a map; a list of axes is expected"}},
       ""},
      {"sweep", "sweep-set.yaml", {{"2:23", "training.batch: \"0\" is out of range"}}, ""},
      {"sweep", "sweep-points.yaml", {{"3:3", "more than 10000000 points"}}, ""},
  };
}

}  // namespace slmsim
