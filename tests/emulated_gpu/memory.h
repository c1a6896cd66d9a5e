// Memory of the emulated GPU: its content is no number before something is written, and what lies between arrays is
// watched, by the address sanitizer where the program is compiled with it, and in any case when it is given back.
#pragma once

#include <cstddef>

namespace emulated {

// At a multiple of 256, as cudaMalloc's; watched behind its end.
void* allocate(std::size_t bytes);
// Nothing may touch these bytes of an allocation.
void guard(void* from, std::size_t bytes);
void release(void* memory);
// How often so far guarded bytes were found overwritten.
int overwritten();

}  // namespace emulated
