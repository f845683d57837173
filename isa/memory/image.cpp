// Sparse pages in a hash map behind a small direct-mapped cache: kernels touch rows of a few hundred
// bytes, so almost every access is one compare and one copy. Only pages that a generator or a write
// needs exist; reads of plain regions that nobody wrote give zeros and make nothing.
#include "isa/memory/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "configs/reader/errors.hpp"

namespace daybreak::isa {

namespace {

struct Region {
  uint64_t base = 0, end = 0;
  std::string name;
  Generator generator;
};

struct Page {
  std::unique_ptr<std::byte[]> bytes;
  bool written = false;
};

std::string hex(uint64_t v) { return fmt::format("{:#x}", v); }

}  // namespace

struct MemoryImage::Impl {
  static constexpr uint64_t kFirst = kPage;  // address 0 stays unmapped
  static constexpr size_t kCached = 256;
  // Generated pages that nobody wrote are dropped when there are this many (1 GiB): weights of a large
  // model stream through once.
  static constexpr size_t kMostClean = 16384;

  std::vector<Region> regions;  // ascending base, disjoint
  std::unordered_map<uint64_t, Page> pages;
  struct Cached {
    uint64_t number = ~uint64_t{0};
    Page* page = nullptr;
  };
  std::array<Cached, kCached> cache{};
  size_t last = 0;  // region of the last access
  uint64_t next = kFirst;
  size_t clean = 0;  // pages made and not written since the last drop; an upper bound

  // Index of the last region whose base is <= at; regions.size() if there is none.
  size_t at_or_before(uint64_t at) const {
    const auto after = std::upper_bound(regions.begin(), regions.end(), at,
                                        [](uint64_t a, const Region& r) { return a < r.base; });
    return after == regions.begin() ? regions.size() : size_t(after - regions.begin()) - 1;
  }

  std::string place(uint64_t at) const {
    if (regions.empty()) return hex(at) + " (nothing is reserved)";
    size_t i = at_or_before(at);
    if (i < regions.size() && at < regions[i].end)
      return regions[i].name + "+" + std::to_string(at - regions[i].base);
    // Nearest region by distance to either end.
    const size_t above = i == regions.size() ? 0 : i + 1;
    if (i == regions.size() ||
        (above < regions.size() && regions[above].base - at < at - regions[i].end))
      i = above;
    const Region& r = regions[i];
    if (at >= r.end)
      return hex(at) + " (" + std::to_string(at - r.end) + " bytes past the end of " + r.name + ")";
    return hex(at) + " (" + std::to_string(r.base - at) + " bytes before " + r.name + ")";
  }

  void check(uint64_t at, uint64_t bytes, const char* what) {
    if (!regions.empty()) {
      if (last >= regions.size() || at < regions[last].base || at >= regions[last].end) {
        const size_t found = at_or_before(at);
        if (found < regions.size()) last = found;
      }
      const Region& r = regions[last];
      if (at >= r.base && at < r.end && bytes <= r.end - at) return;
    }
    throw InvariantError(std::string(what) + " of " + std::to_string(bytes) + " bytes at " +
                         place(at) + " is outside every region of memory");
  }

  // Contents of a page that nothing has written.
  void generate(uint64_t number, std::byte* to) const {
    const uint64_t begin = number * kPage, end = begin + kPage;
    std::memset(to, 0, kPage);
    size_t i = at_or_before(begin);
    if (i == regions.size()) i = 0;
    for (; i < regions.size() && regions[i].base < end; ++i) {
      const Region& r = regions[i];
      const uint64_t from = std::max(begin, r.base), until = std::min(end, r.end);
      if (r.generator && from < until)
        r.generator(from - r.base, std::span(to + (from - begin), until - from));
    }
  }
  bool generated(uint64_t number) const {
    const uint64_t begin = number * kPage, end = begin + kPage;
    size_t i = at_or_before(begin);
    if (i == regions.size()) i = 0;
    for (; i < regions.size() && regions[i].base < end; ++i)
      if (regions[i].generator && regions[i].end > begin) return true;
    return false;
  }

  // The page, made on first touch; null if it would be all zeros and `make` is false.
  Page* page(uint64_t number, bool make) {
    Cached& c = cache[number % kCached];
    if (c.number == number) return c.page;
    auto it = pages.find(number);
    if (it == pages.end()) {
      if (!make && !generated(number)) return nullptr;
      if (++clean > kMostClean) drop_unwritten();
      Page fresh{.bytes = std::make_unique_for_overwrite<std::byte[]>(kPage)};
      generate(number, fresh.bytes.get());
      it = pages.emplace(number, std::move(fresh)).first;
    }
    c = {number, &it->second};
    return c.page;
  }

  void drop_unwritten() {
    std::erase_if(pages, [](const auto& p) { return !p.second.written; });
    cache.fill({});
    clean = 0;
  }

  void add(uint64_t base, const std::string& name, Bytes bytes, Generator generator) {
    if (bytes.value < 0 || base + uint64_t(bytes.value) < base)
      throw InvariantError("region " + name + " of " + std::to_string(bytes.value) +
                           " bytes does not fit the 64-bit memory");
    const uint64_t end = base + uint64_t(bytes.value);
    auto after = std::upper_bound(regions.begin(), regions.end(), base,
                                  [](uint64_t a, const Region& r) { return a < r.base; });
    if (after != regions.end() && after->base < end && after->end > base)
      throw InvariantError("region " + name + " overlaps " + after->name);
    if (after != regions.begin() && std::prev(after)->end > base)
      throw InvariantError("region " + name + " overlaps " + std::prev(after)->name);
    // Pages that exist already were made without this region's contents.
    if (generator && bytes.value > 0)
      for (auto& [number, page] : pages) {
        const uint64_t begin = std::max(number * kPage, base),
                       stop = std::min(number * kPage + kPage, end);
        if (begin < stop)
          generator(begin - base, std::span(page.bytes.get() + begin % kPage, stop - begin));
      }
    regions.insert(after, Region{base, end, name, std::move(generator)});
    last = 0;
    next = std::max(next, end);
  }
};

MemoryImage::MemoryImage() : impl_(std::make_unique<Impl>()) {}
MemoryImage::~MemoryImage() = default;

Address MemoryImage::reserve(const std::string& name, Bytes bytes, Generator generator,
                             uint64_t align) {
  if (align == 0) throw InvariantError("region " + name + " asks for an alignment of 0");
  const uint64_t base = (impl_->next + align - 1) / align * align;
  impl_->add(base, name, bytes, std::move(generator));
  return Address(base);
}

void MemoryImage::reserve_at(Address base, const std::string& name, Bytes bytes,
                             Generator generator) {
  impl_->add(base.value, name, bytes, std::move(generator));
}

void MemoryImage::read(Address from, std::span<std::byte> to) const {
  if (to.empty()) return;
  impl_->check(from.value, to.size(), "read");
  uint64_t at = from.value;
  for (size_t done = 0; done < to.size();) {
    const uint64_t inside = at % kPage;
    const size_t n = std::min<uint64_t>(kPage - inside, to.size() - done);
    if (const Page* p = impl_->page(at / kPage, false))
      std::memcpy(to.data() + done, p->bytes.get() + inside, n);
    else
      std::memset(to.data() + done, 0, n);
    done += n;
    at += n;
  }
}

void MemoryImage::write(Address to, std::span<const std::byte> from) {
  if (from.empty()) return;
  impl_->check(to.value, from.size(), "write");
  uint64_t at = to.value;
  for (size_t done = 0; done < from.size();) {
    const uint64_t inside = at % kPage;
    const size_t n = std::min<uint64_t>(kPage - inside, from.size() - done);
    Page* p = impl_->page(at / kPage, true);
    std::memcpy(p->bytes.get() + inside, from.data() + done, n);
    p->written = true;
    done += n;
    at += n;
  }
}

void MemoryImage::drop_clean_pages() {
  const auto fresh = std::make_unique_for_overwrite<std::byte[]>(kPage);
  for (auto it = impl_->pages.begin(); it != impl_->pages.end();) {
    bool clean = !it->second.written;
    if (!clean) {
      impl_->generate(it->first, fresh.get());
      clean = std::memcmp(fresh.get(), it->second.bytes.get(), kPage) == 0;
    }
    it = clean ? impl_->pages.erase(it) : std::next(it);
  }
  impl_->cache.fill({});
}

Bytes MemoryImage::resident() const { return Bytes(int64_t(impl_->pages.size() * kPage)); }

std::string MemoryImage::name_of(Address at) const { return impl_->place(at.value); }

Scratch::Scratch(std::array<Bytes, kSpaces> sizes) {
  for (int s = 0; s < kSpaces; ++s) {
    if (sizes[s].value < 0) throw InvariantError("a scratchpad cannot have a negative size");
    sizes_[s] = size_t(sizes[s].value);
    if (sizes_[s] == 0) continue;
    spaces_[s].reset(static_cast<std::byte*>(std::calloc(sizes_[s], 1)));
    if (!spaces_[s]) throw std::bad_alloc();
  }
}

}  // namespace daybreak::isa
