// A file that appears whole or not at all: bytes go to a temporary file in the same folder,
// commit() renames it. Without commit() the destructor removes the temporary file. Failures throw
// UserError naming the path, because the path is what the user gave.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace daybreak::traces {

class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();
  int64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const char* what) const;
  std::string path_, temporary_;
  int file_ = -1;
  int64_t size_ = 0;
};

// The whole of a small file at once.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace daybreak::traces
