// Means of restarting jobs in closed form, by renewal theory, and the interval between checkpoints that makes them least.
//
// Between two readable checkpoints lies work of tau and a pause of C. With stops at a rate of L the time at work and in pauses
// until the next one is readable is (e^{L (tau + C)} - 1) / L on the mean; where checkpoints are written in the background for w
// beyond their pause, (e^{L (tau + C)} - 1) e^{L w} / L. Each stop costs besides a recovery, of which below. The least of this
// over tau is Daly's optimum (FGCS 22, 2006), whose first term is Young's sqrt(2 C / L) (CACM 17, 1974). It does not depend on
// recoveries.
#pragma once

#include "sim/job/course.h"

namespace slmsim {

// From a stop until training goes on: waiting for repairs, also of what stops meanwhile, restarting and reading, also anew. Of
// stops with equal repair times D and a restart of R it is ((e^{L D} - 1) + (1 - e^{-L R})) e^{L R} / L; unequal ones are taken
// at their mean by rate.
Seconds mean_recovery(const Course& course);

// Length of a job of very many checkpoints over the work in it; where no checkpoint is written, of the whole work at once. Of
// restarting jobs whose hours are alike.
double mean_stretch(const Course& course);

// The interval for which that is least: not below `least`, the time of an iteration or round, of which it is a multiple, nor
// below what writing takes; kForever where no checkpoint is best.
Seconds best_interval(const Course& course, Seconds least);

// The same of replicas that go on without each other, for which there is no closed form: of multiples of a round, each some
// 20 % above the one before, the one with the shortest mean of so many jobs drawn; kForever where that is none.
Seconds best_drawn_interval(const Course& course, int count, std::uint64_t seed);

}  // namespace slmsim
