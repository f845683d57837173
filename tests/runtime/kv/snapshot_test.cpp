// Snapshots: what is cut or altered is refused and loads nothing; a process killed while it writes
// leaves the old one or the new one.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "configs/reader/errors.hpp"
#include "kernels/runtime/kv/snapshot.hpp"
#include "tests/runtime/kv/bench.hpp"
#include "traces/event/atomic_file.hpp"

namespace daybreak::kernels::kv::test {
namespace {

std::vector<std::byte> snapshot_of(const KvCache& kv) {
  std::vector<std::byte> bytes;
  write_snapshot(kv, [&](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  });
  return bytes;
}

void fill(Bench& b, int count, int32_t first) {
  const int r = b.kv->open(tokens_of(count, first))->request;
  ASSERT_TRUE(b.kv->append(r, tokens_of(count, first), {r}));
  b.write(r);
  b.kv->state(r) = {std::byte(1), std::byte(2), std::byte(first)};
}

std::string error_of(std::span<const std::byte> bytes, Sizes sizes = {}) {
  Bench b(sizes);
  try {
    read_snapshot(*b.kv, bytes, "x.kv");
  } catch (const UserError& e) {
    for (int r = 0; r < b.kv->requests(); ++r) EXPECT_FALSE(b.kv->open(r));
    EXPECT_EQ(b.caches[1]->free_pages(), b.sizes.latent_pages);
    return e.what();
  }
  return "";
}

TEST(Snapshot, KeepsTokensBytesAndState) {
  Bench b;
  fill(b, 130, 0), fill(b, 3, 50);
  Bench other({.latent_page = 8, .latent_pages = 40, .blocks = 40});
  const auto requests = read_snapshot(*other.kv, snapshot_of(*b.kv), "memory");
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_TRUE(other.holds(requests[0]));
  EXPECT_TRUE(other.holds(requests[1]));
  EXPECT_EQ(other.kv->state(requests[1]).back(), std::byte(50));
  EXPECT_EQ(snapshot_of(*other.kv), snapshot_of(*b.kv));
}

TEST(Snapshot, OfNothing) {
  Bench b;
  Bench other;
  EXPECT_TRUE(read_snapshot(*other.kv, snapshot_of(*b.kv), "memory").empty());
}

TEST(Snapshot, EveryCutAndEveryFlippedByteIsRefused) {
  Bench b;
  fill(b, 5, 0);
  auto bytes = snapshot_of(*b.kv);
  for (size_t n = 0; n < bytes.size(); n += 1 + n / 64)
    EXPECT_NE(error_of(std::span(bytes).first(n)), "") << n;
  for (size_t i = 0; i < bytes.size(); i += 1 + i / 64) {
    bytes[i] ^= std::byte(0x40);
    const std::string error = error_of(bytes);
    EXPECT_EQ(error.find("snapshot x.kv: "), 0u) << i << ": " << error;
    bytes[i] ^= std::byte(0x40);
  }
  bytes.push_back(std::byte(0));
  EXPECT_NE(error_of(bytes), "");
}

TEST(Snapshot, WhatDoesNotFitIsNamed) {
  Bench b;
  fill(b, 130, 0), fill(b, 3, 50);
  const auto bytes = snapshot_of(*b.kv);
  EXPECT_NE(error_of(bytes, {.requests = 1}).find("2 sequences, the cache takes 1"),
            std::string::npos);
  EXPECT_NE(error_of(bytes, {.blocks = 2}).find("130 tokens, the cache takes 122"),
            std::string::npos);
}

// A child replaces the snapshot again and again until it is killed; what is there is always whole.
TEST(Snapshot, KilledAtAnyMomentLeavesTheOldOrTheNew) {
  const std::string path =
      ::testing::TempDir() + "daybreak_kv_" + std::to_string(::getpid()) + ".kv";
  Bench old, fresh;
  fill(old, 100, 0), fill(fresh, 120, 7);
  const auto first = snapshot_of(*old.kv), second = snapshot_of(*fresh.kv);
  traces::write_file(path, {reinterpret_cast<const char*>(first.data()), first.size()});
  std::mt19937_64 random(5);
  int seen[2] = {0, 0};
  for (int round = 0; round < 200; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int turn = 0;; ++turn) {
        traces::AtomicFile file(path);
        write_snapshot(turn % 2 ? *old.kv : *fresh.kv, [&](std::span<const std::byte> part) {
          file.write({reinterpret_cast<const char*>(part.data()), part.size()});
        });
        file.commit();
      }
    }
    ::usleep(useconds_t(random() % 20000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    std::ifstream in(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const auto bytes = std::as_bytes(std::span(text));
    ASSERT_EQ(error_of(bytes), "");
    const bool is_old = std::ranges::equal(bytes, first);
    ASSERT_TRUE(is_old || std::ranges::equal(bytes, second));
    ++seen[is_old];
  }
  EXPECT_GT(seen[0], 0);
  EXPECT_GT(seen[1], 0);
  for (const auto& entry : std::filesystem::directory_iterator(::testing::TempDir()))
    if (entry.path().string().starts_with(path)) std::filesystem::remove(entry.path());
}

}  // namespace
}  // namespace daybreak::kernels::kv::test
