// Means of restarting jobs in closed form, by renewal theory, and the checkpoint interval that minimises them.
//
// Between two readable checkpoints lie work of tau and a pause of C. With stops at a rate of L the mean time at work and in
// pauses until the next one is readable is (e^{L (tau + C)} - 1) / L; where checkpoints are written in the background for w
// beyond their pause, (e^{L (tau + C)} - 1) e^{L w} / L. Each stop also costs a recovery (mean_recovery). The minimum over tau
// is Daly's optimum (FGCS 22, 2006), whose first term is Young's sqrt(2 C / L) (CACM 17, 1974). It does not depend on
// recoveries.
#pragma once

#include "sim/predict/job/job_process.h"

namespace slmsim {

// Time from a stop until training resumes: waiting for repairs, including those of further stops, then restarting and reading,
// with repeated attempts. For stops with equal repair times D and a restart of R it is ((e^{L D} - 1) + (1 - e^{-L R})) e^{L R}
// / L; unequal repair times enter as their mean by rate.
Seconds mean_recovery(const JobProcess& process);

// Length of a job with very many checkpoints over its work; where no checkpoint is written, of the whole work at once. For
// restarting jobs with equal hours.
double mean_stretch(const JobProcess& process);

// The interval that minimises the job's mean: at least `least`, the time of an iteration or round, and a multiple of it, and at
// least the time of writing; kForever where no checkpoint is best. With few checkpoints the job's parts are as equal as that
// allows, with many they are those that minimise mean_stretch.
Seconds best_interval(const JobProcess& process, Seconds least);

// The same for replicas that continue without each other, for which there is no closed form: of multiples of a round, each
// about 20 % above the one before, the one with the shortest mean of `count` drawn jobs; kForever where that is none.
Seconds best_drawn_interval(const JobProcess& process, int count, std::uint64_t seed);

}  // namespace slmsim
