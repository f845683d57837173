// Words for messages: the nearest known name, lists of what is allowed, numbers as text.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::configs {

// Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other.
int edit_distance(std::string_view a, std::string_view b);

// The known word within a third of the length (at least 2 edits); empty when none is near. Ties go
// to the word that stands first.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

// "; did you mean 'x'?" or empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

// "a, b or c".
std::string any_of(const std::vector<std::string>& words);

// A piece of user text for a message: in quotes, control characters and bytes that are no
// UTF-8 escaped, cut at 40 bytes.
std::string in_quotes(std::string_view text);

// Shortest text that reads back to the same number ("0.625", "16", "1e+30"); no locale.
std::string number_text(double value);

}  // namespace daybreak::configs
