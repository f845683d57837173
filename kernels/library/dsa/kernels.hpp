// The DSA decode kernels by name, for `daybreak kernels` and for the words of `daybreak run`.
#pragma once
#include <array>
#include <string_view>

namespace daybreak::kernels::dsa {

struct KernelInfo {
  std::string_view name, header, sentence;
  int lines = 0;  // of the header: shared by Host, Record and Hopper
  int hopper_lines =
      0;  // of its bindings in kernels/device/kernels.cuh: machine, variant, Tuning data
};

inline constexpr std::array kKernels{
    KernelInfo{"indexer_prepare", "kernels/library/dsa/indexer_prepare.hpp",
               "Normalises, rotates and quantises the index query and key of each new token and "
               "appends the key to its page.",
               127, 3},
    KernelInfo{"latent_append", "kernels/library/dsa/latent_append.hpp",
               "Normalises, rotates and quantises the latent of each new token and scatters its "
               "record to the token's slot.",
               85, 3},
    KernelInfo{"query_prepare", "kernels/library/dsa/query_prepare.hpp",
               "Rotates the position part of the attention queries.", 65, 3},
    KernelInfo{
        "indexer", "kernels/library/dsa/indexer.hpp",
        "Scores every cached index key of a request against the index queries of its tokens.", 173,
        6},
    KernelInfo{"topk_partial", "kernels/library/dsa/topk_partial.hpp",
               "Sorts a range of one token's scores into a list of its best 2048.", 98, 7},
    KernelInfo{"topk_merge", "kernels/library/dsa/topk_merge.hpp",
               "Merges the partial lists of a token into its selected positions, ascending.", 64,
               3},
    KernelInfo{"indexer_topk", "kernels/library/dsa/indexer_topk.hpp",
               "Scores and selects in one launch; partial lists pass between cores by counters.",
               129, 0},
    KernelInfo{"merge_add", "kernels/library/dsa/merge_add.hpp",
               "Adds the positions appended since to a list that an earlier token kept.", 65, 0},
    KernelInfo{"index_table", "kernels/library/dsa/index_table.hpp",
               "Translates selected positions through the page table into one table of rows.", 42,
               3},
    KernelInfo{"sparse_mla", "kernels/library/dsa/sparse_mla.hpp",
               "Attends to the rows an index table names, 64 heads a task, keys split over tasks.",
               199, 6},
    KernelInfo{"mla_combine", "kernels/library/dsa/mla_combine.hpp",
               "Joins the splits of sparse MLA and applies the attention sink.", 105, 3},
};

}  // namespace daybreak::kernels::dsa
