#include "kernels/runtime/kv/layout.hpp"

#include "kernels/library/dsa/layouts.hpp"

namespace daybreak::kernels::kv {

int64_t CacheLayout::token_bytes() const {
  int64_t sum = 0;
  for (const Field& f : fields) sum += f.bytes;
  return sum;
}

CacheLayout latent_records(int64_t page_tokens) {
  return {.name = "latents",
          .page_tokens = page_tokens,
          .page_bytes = page_tokens * dsa::kRecordBytes,
          .fields = {{.offset = 0, .stride = dsa::kRecordBytes, .bytes = dsa::kRecordBytes}}};
}

CacheLayout index_keys(int64_t page_tokens) {
  return {.name = "index keys",
          .page_tokens = page_tokens,
          .page_bytes = page_tokens * (dsa::kKey + 4),
          .fields = {{.offset = 0, .stride = dsa::kKey, .bytes = dsa::kKey},
                     {.offset = page_tokens * dsa::kKey, .stride = 4, .bytes = 4}}};
}

}  // namespace daybreak::kernels::kv
