// A file descriptor that closes itself.
#pragma once

#include <unistd.h>
#include <utility>

namespace slmsim::calibrate {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      if (number_ >= 0) close(number_);
      number_ = other.release();
    }
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

}  // namespace slmsim::calibrate
