#include "traces/event/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "configs/reader/errors.hpp"

namespace daybreak::traces {

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  // The process number keeps two runs that write the same name apart; the last to commit wins.
  temporary_ = fmt::format("{}.part{}", path_, getpid());
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) fail("created");
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(file_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("written");
    bytes.remove_prefix(size_t(done));
    size_ += done;
  }
}

void AtomicFile::commit() {
  const int closed = ::close(std::exchange(file_, -1));
  if (closed != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    errno = error;
    fail("written");
  }
}

void AtomicFile::fail(const char* what) const {
  throw UserError(fmt::format("{}: the file cannot be {} ({}); a writable folder is needed", path_,
                              what, std::strerror(errno)));
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace daybreak::traces
