#include "traces/report/html.hpp"

#include <nlohmann/json.hpp>

#include "configs/reader/errors.hpp"
#include "traces/report/analysis_text.hpp"
#include "traces/report/roofline.hpp"

namespace daybreak::traces {

extern const char* const kReportTemplate;  // report.html, made a string by the build

namespace {

using Json = nlohmann::ordered_json;

Json timeline_json(const Timeline& t) {
  Json launches = Json::array(), kinds = Json::array();
  for (const Timeline::Launch& l : t.launches())
    launches.push_back(
        {{"kernel", l.kernel}, {"ready", l.ready}, {"started", l.started}, {"ended", l.ended}});
  for (const Timeline::Kind& k : t.kinds())
    kinds.push_back({{"name", k.name},
                     {"units", k.units},
                     {"window", k.busy.window()},
                     {"busy", k.busy.bytes()}});
  return {{"launches", launches}, {"kinds", kinds}};
}

// Nothing inside the data may end the element that holds it.
std::string inside_script(std::string text) {
  for (size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3)
    text.replace(at, 2, "<\\/");
  return text;
}

}  // namespace

std::string report_html(const ReportParts& p) {
  const Json data = {{"record", Json::parse(to_json(p.record))},
                     {"clock_hz", p.facts.clock_hz},
                     {"path", path_json(p.path)},
                     {"stalls", stall_json(p.stalls)},
                     {"overlap", overlap_json(p.overlap)},
                     {"task_cycles", p.overlap.task_cycles()},
                     {"roofline", roofline_json(roofline(p.record, p.facts), p.facts)},
                     {"timeline", timeline_json(p.timeline)}};
  std::string page = kReportTemplate;
  const std::string mark = "@DATA@";
  const size_t at = page.find(mark);
  if (at == std::string::npos) throw InvariantError("the report's template has no place for data");
  return page.replace(at, mark.size(),
                      inside_script(data.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace daybreak::traces
