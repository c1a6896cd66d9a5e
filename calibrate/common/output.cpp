#include "calibrate/common/output.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calibrate/common/descriptor.h"
#include "calibrate/common/failure.h"
#include "calibrate/common/text.h"

namespace slmsim::calibrate {
namespace {

bool is_special(const std::string& file) {
  struct stat status {};
  return stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

// A temporary name beside the file; rename() then replaces the file.
std::string partial_name(const std::string& file) { return format("%s.%d.tmp", file.c_str(), getpid()); }

[[noreturn]] void fail(const std::string& file) {
  throw UsageError(with_reason(format("cannot write \"%s\"", printable(file).c_str())));
}

void write_all(int descriptor, const std::string& text, const std::string& file) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t now = write(descriptor, text.data() + at, text.size() - at);
    if (now < 0 && errno != EINTR) fail(file);
    if (now > 0) at += static_cast<std::size_t>(now);
  }
}

}  // namespace

void check_writable(const std::string& file) {
  if (file.empty()) return;
  if (is_special(file)) {
    const Descriptor probe{open(file.c_str(), O_WRONLY | O_CLOEXEC)};
    if (probe.get() < 0) fail(file);
    return;
  }
  const std::string partial = partial_name(file);
  const Descriptor probe{open(partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)};
  if (probe.get() < 0) fail(file);
  unlink(partial.c_str());
}

void write_file(const std::string& file, const std::string& text) {
  if (file.empty()) return write_all(STDOUT_FILENO, text, "standard output");
  if (is_special(file)) {
    const Descriptor out{open(file.c_str(), O_WRONLY | O_CLOEXEC)};
    if (out.get() < 0) fail(file);
    return write_all(out.get(), text, file);
  }
  const std::string partial = partial_name(file);
  try {
    const Descriptor out{open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
    if (out.get() < 0) fail(file);
    write_all(out.get(), text, file);
    if (rename(partial.c_str(), file.c_str()) != 0) fail(file);
  } catch (const UsageError&) {
    unlink(partial.c_str());
    throw;
  }
}

}  // namespace slmsim::calibrate
