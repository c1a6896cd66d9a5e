// slmsim: predicts which pretraining technique to use, on which GPUs, and how long it takes.
#include "sim/cli/program.h"

int main(int argc, char** argv) { return slmsim::run_program(argc, argv); }
