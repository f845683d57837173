// One HTML file that holds everything it needs: style, data and script. It works from file:// and asks no
// network. traces/report/page.html is the frame; a script draws one kind of page from its data.
#pragma once
#include <string>

namespace daybreak::traces {

extern const char* const kPageFrame;    // the files of this folder, made strings by the build
extern const char* const kRunScript;    // run_page.js
extern const char* const kSweepScript;  // sweep_page.js

// `data`: JSON that the script reads.
std::string page(const char* script, std::string data);

}  // namespace daybreak::traces
