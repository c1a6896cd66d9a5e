#include "sim/base/pending_file.h"

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "sim/base/error.h"

namespace slmsim {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const std::string& reason) {
  throw InputError(Place{std::make_shared<Source>(Source{file.string(), ""}), 0, 0},
                   "the result cannot be written there: " + reason + "; check the place, its permissions and the disk");
}

}  // namespace

PendingFile::PendingFile(fs::path file, const std::string& suffix)
    : file_(std::move(file)), partial_(file_.string() + suffix) {}

PendingFile::~PendingFile() {
  if (out_) std::fclose(out_);
  std::error_code ignored;
  fs::remove(partial_, ignored);
}

void PendingFile::write(std::string_view text) {
  if (failed_) return;
  if (!out_) {
    std::error_code ignored;
    fs::remove(partial_, ignored);
    out_ = std::fopen(partial_.c_str(), "wbx");
  }
  if (!out_ || std::fwrite(text.data(), 1, text.size(), out_) != text.size()) failed_ = errno;
}

void PendingFile::complete() {
  write("");  // creates an empty one too
  if (out_ && std::fclose(std::exchange(out_, nullptr)) != 0 && !failed_) failed_ = errno;
  if (failed_) fail(file_, std::generic_category().message(failed_));
}

void PendingFile::commit() {
  std::error_code failed;
  fs::rename(partial_, file_, failed);
  if (failed) fail(file_, failed.message());
}

}  // namespace slmsim
