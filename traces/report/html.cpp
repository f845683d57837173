#include "traces/report/html.hpp"

#include <nlohmann/json.hpp>

#include "traces/report/analysis_text.hpp"
#include "traces/report/page.hpp"
#include "traces/report/roofline.hpp"

namespace daybreak::traces {

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
  return page(kRunScript, data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace daybreak::traces
