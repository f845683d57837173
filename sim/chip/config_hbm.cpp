#include "sim/chip/config_hbm.hpp"

namespace daybreak::sim {
namespace {

// Timing in ns, from the clock counts of memory.md section 1.
void hbm2_2000(HbmConfig& h) {
  h.capacity_gb = 8, h.channels = 8, h.pseudo_channels = 2, h.pc_bits = 64;
  h.bank_groups = 4, h.banks = 4, h.stack_ids = 1, h.rows = 32768, h.row_bytes = 1024, h.atom = 32;
  h.tck = 1, h.burst = 2, h.cl = 14, h.cwl = 5, h.rcd_rd = 14, h.rcd_wr = 12;
  h.rp = 14, h.ras = 34, h.rc = 48, h.ccd_s = 2, h.ccd_l = 4, h.ccd_r = 2;
  h.rrd_s = 4, h.rrd_l = 4, h.faw = 15, h.wr = 16, h.rtp = 5;
  h.wtr_s = 6, h.wtr_l = 8, h.rtw = 13, h.refi = 3900, h.rfc_ab = 260, h.rfc_pb = 160, h.rrefd = 8;
  h.act_command = 2, h.pre_command = 1, h.ref_command = 1;
}

void hbm2e_3200(HbmConfig& h) {
  h.capacity_gb = 16, h.channels = 8, h.pseudo_channels = 2, h.pc_bits = 64;
  h.bank_groups = 4, h.banks = 4, h.stack_ids = 1, h.rows = 65536, h.row_bytes = 1024, h.atom = 32;
  const double ck = 0.625;
  h.tck = ck, h.burst = 2, h.cl = 23 * ck, h.cwl = 8 * ck, h.rcd_rd = 23 * ck, h.rcd_wr = 20 * ck;
  h.rp = 23 * ck, h.ras = 55 * ck, h.rc = 77 * ck, h.ccd_s = 2 * ck, h.ccd_l = 4 * ck;
  h.ccd_r = 2 * ck, h.rrd_s = 7 * ck, h.rrd_l = 7 * ck, h.faw = 24 * ck, h.wr = 26 * ck;
  h.rtp = 8 * ck, h.wtr_s = 10 * ck, h.wtr_l = 13 * ck, h.rtw = 19 * ck, h.refi = 6240 * ck;
  h.rfc_ab = 560 * ck, h.rfc_pb = 256 * ck, h.rrefd = 13 * ck;
  h.act_command = 2 * ck, h.pre_command = ck, h.ref_command = ck;
}

void hbm3_6400(HbmConfig& h) {
  h.capacity_gb = 16, h.channels = 16, h.pseudo_channels = 2, h.pc_bits = 32;
  h.bank_groups = 4, h.banks = 4, h.stack_ids = 2, h.rows = 16384, h.row_bytes = 1024, h.atom = 32;
  const double ck = 0.625;
  h.tck = ck, h.burst = 2, h.cl = 20 * ck, h.cwl = 10 * ck, h.rcd_rd = 31 * ck, h.rcd_wr = 15 * ck;
  h.rp = 26 * ck, h.ras = 45 * ck, h.rc = 72 * ck, h.ccd_s = 2 * ck, h.ccd_l = 4 * ck;
  h.ccd_r = 3 * ck, h.rrd_s = 4 * ck, h.rrd_l = 5 * ck, h.faw = 24 * ck, h.wr = 33 * ck;
  h.rtp = 9 * ck, h.wtr_s = 7 * ck, h.wtr_l = 10 * ck, h.rtw = 20 * ck, h.refi = 6240 * ck;
  h.rfc_ab = 560 * ck, h.rfc_pb = 320 * ck, h.rrefd = 8 * ck;
  h.act_command = 1.5 * ck, h.pre_command = 0.5 * ck, h.ref_command = 0.5 * ck;
}

// Section 3: HBM3 timing in ns under a slower clock, 24 Gb dies.
void hbm3e_h200(HbmConfig& h) {
  hbm3_6400(h);
  const double ck = 0.64;
  h.capacity_gb = 24, h.tck = ck, h.rows = 24576, h.rfc_ab = 450, h.rfc_pb = 200;
  h.act_command = 1.5 * ck, h.pre_command = 0.5 * ck, h.ref_command = 0.5 * ck;
}

struct Preset {
  const char* name;
  void (*apply)(HbmConfig&);
};
constexpr Preset kPresets[] = {{"hbm2_2000", hbm2_2000},
                               {"hbm2e_3200", hbm2e_3200},
                               {"hbm3_6400", hbm3_6400},
                               {"hbm3e_h200", hbm3e_h200}};

}  // namespace

std::vector<std::string> hbm_preset_names() {
  std::vector<std::string> names;
  for (const auto& preset : kPresets) names.push_back(preset.name);
  return names;
}

bool hbm_preset_sets(const std::string& knob) {
  for (const char* kept : {"stacks", "refresh", "page", "map", "bank_hash", "controller", "queue",
                           "starvation", "write_high", "write_low"})
    if (knob == kept) return false;
  return true;
}

bool apply_hbm_preset(HbmConfig& hbm, const std::string& name) {
  for (const auto& preset : kPresets)
    if (name == preset.name) return preset.apply(hbm), true;
  return false;
}

}  // namespace daybreak::sim
