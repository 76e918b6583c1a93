#include "profiler/report/html.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "profiler/regression/regression.h"
#include "profiler/report/html_escape.h"
#include "profiler/report/modelled.h"
#include "profiler/report/quantity.h"
#include "profiler/report/roofline_plot.h"

namespace stax {
namespace {

// Nothing runs and nothing is loaded, whatever a name may say.
constexpr char kPolicy[] = "default-src 'none'; style-src 'unsafe-inline'";

constexpr char kStyle[] = R"(
:root { color-scheme: light dark; --text: #1b1f24; --faint: #57606a; --back: #ffffff; --line: #d8dee4; --grid: #eaeef2;
  --mark: #0969da; --chosen: #b3261e; --chosen-back: #fff1c2;
  --slower: #b3261e; --faster: #116329; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --faint: #9da7b3; --back: #0d1117; --line: #30363d; --grid: #21262d;
    --mark: #58a6ff; --chosen: #ff8f87; --chosen-back: #4a3a10;
    --slower: #ff8f87; --faster: #56d364; }
}
body { font: 15px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 2rem auto; padding: 0 1rem; color: var(--text);
  background: var(--back); }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
h1, p, dd, td { overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p, small, dt { color: var(--faint); }
p { margin: .25rem 0; }
dl { display: flex; flex-wrap: wrap; gap: .5rem 2.5rem; margin: 0; }
dt { font-size: 13px; }
dd { margin: 0; font-weight: 600; }
code { font: 13px/1.4 ui-monospace, monospace; }
small { display: block; font-size: 12px; }
.scroll { overflow-x: auto; }
svg { display: block; width: 100%; min-width: 44rem; }
svg text { font: 13px system-ui, sans-serif; fill: var(--faint); }
.tick path { stroke: var(--grid); }
.roof { stroke: var(--faint); stroke-width: 2; fill: none; }
.point { fill: var(--mark); stroke: var(--back); }
svg .number { font-weight: 600; fill: var(--text); }
svg .number, svg .roof-label { paint-order: stroke; stroke: var(--back); stroke-width: 3px; stroke-linejoin: round; }
.point:hover, .point:target { fill: var(--chosen); }
tr:target { background: var(--chosen-back); }
a { color: var(--mark); }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
th { vertical-align: bottom; }
td { white-space: nowrap; }
.name, .baseline, .verdict { text-align: left; white-space: normal; min-width: 14.5rem; }
.name { min-width: 16rem; }
.slower { color: var(--slower); }
.faster { color: var(--faster); }
)";

// NAME=VALUE, sorted by name.
std::string Assignments(const google::protobuf::Map<std::string, int64_t>& values) {
  const std::map<std::string, int64_t> sorted(values.begin(), values.end());
  return EscapeHtml(absl::StrJoin(sorted, " ", absl::PairFormatter("=")));
}

std::string Calibration(const DeviceSpec& device) {
  std::string list =
      device.origin().empty()
          ? absl::StrCat("<h2>Device, calibrated ", EscapeHtml(device.date()), "</h2>\n<dl>\n")
          : absl::StrCat("<h2>Device, not measured</h2>\n<p>", EscapeHtml(device.origin()),
                         "</p>\n<dl>\n");
  auto append = [&](const std::string& what, const std::string& value) {
    absl::StrAppend(&list, "<div><dt>", what, "</dt><dd>", value, "</dd></div>\n");
  };
  append("DRAM read", GigabytesPerS(device.dram_read_bytes_per_s()));
  append("DRAM write", GigabytesPerS(device.dram_write_bytes_per_s()));
  append("DRAM copy", GigabytesPerS(device.dram_copy_bytes_per_s()));
  append("DRAM latency", absl::StrCat(ThreeDigits(device.latency_ns()), " ns"));
  append("f32 FMA", WithPrefix(device.f32_flops_per_s(), "flop/s"));
  append("Launch", absl::StrFormat("%.2f µs", device.launch_ns() / 1e3));
  return absl::StrCat(list, "</dl>\n");
}

// Of a compared report.
std::string BaselineCell(const KernelProfile& k) {
  const std::string word = RegressionWord(k);
  if (!k.has_regression()) return absl::StrCat("<td class=\"baseline\">", word, "</td>");
  const KernelRegression& r = k.regression();
  return absl::StrFormat("<td class=\"baseline %s\">%s: %.3f (%.3f to %.3f)<small>%s</small></td>",
                         word, word, r.ratio(), r.ratio_low(), r.ratio_high(),
                         EscapeHtml(r.note()));
}

std::string BaselineParagraph(const ProfileReport& report) {
  if (!report.has_baseline()) return "";
  const Baseline& baseline = report.baseline();
  std::string text = absl::StrFormat(
      "<p>Compared with the baseline of %s, threshold %g %%: the ratio of the medians, now to "
      "then, and its 95 %% interval.",
      EscapeHtml(baseline.date()), 100 * baseline.threshold());
  if (!baseline.missing_kernels().empty())
    absl::StrAppend(&text, " Only in the baseline: ",
                    EscapeHtml(absl::StrJoin(baseline.missing_kernels(), ", ")), ".");
  for (const std::string& note : baseline.notes())
    absl::StrAppend(&text, " ", EscapeHtml(note), ".");
  return text + "</p>\n";
}

std::string Row(const ProfileReport& report, const KernelProfile& k, int number) {
  std::string row = absl::StrFormat("<tr id=\"kernel-%d\"><td>", number);
  if (HasPoint(k))
    absl::StrAppendFormat(&row, "<a href=\"#point-%d\">%d</a>", number, number);
  else
    absl::StrAppend(&row, number);
  absl::StrAppend(&row, "</td><td class=\"name\"><code>", EscapeHtml(k.name()), "</code><small>",
                  Assignments(k.config().values()), "</small></td>");
  absl::StrAppendFormat(&row, "<td>%.2f</td><td>%.2f</td><td>%.2f to %.2f</td>",
                        k.predicted_ns() / 1e3, k.measured_ns() / 1e3, k.interval_low_ns() / 1e3,
                        k.interval_high_ns() / 1e3);
  absl::StrAppend(&row, "<td>", ThreeDigits(1 + k.error()), "</td><td>",
                  ThreeDigits(k.achieved_bytes_per_s() / 1e9), "</td><td>",
                  ThreeDigits(AchievedFlopsPerS(k) / 1e9), "</td><td>",
                  ThreeDigits(k.intensity_flops_per_byte()), "</td>",
                  report.has_baseline() ? BaselineCell(k) : "", "<td class=\"verdict\">",
                  EscapeHtml(k.verdict()), "</td></tr>\n");
  return row;
}

std::string Table(const ProfileReport& report) {
  const std::string taken = IsModelled(report) ? "modelled" : "measured";
  std::string table =
      absl::StrCat("<h2>Kernels</h2>\n", BaselineParagraph(report),
                   "<div class=\"scroll\"><table>\n<thead><tr><th>#</th><th "
                   "class=\"name\">kernel</th><th>predicted µs</th><th>",
                   taken, " µs</th><th>95 % interval µs</th><th>", taken,
                   " / predicted</th><th>GB/s</th><th>Gflop/s</th><th>flop/byte</th>",
                   report.has_baseline() ? "<th class=\"baseline\">against the baseline</th>" : "",
                   "<th class=\"verdict\">verdict</th></tr></thead>\n<tbody>\n");
  for (int i = 0; i < report.kernels_size(); ++i)
    absl::StrAppend(&table, Row(report, report.kernels(i), i + 1));
  return absl::StrCat(table, "</tbody></table></div>\n");
}

// Bytes that were moved, a line below them those that had to be.
std::string CountedCell(int64_t moved, int64_t distinct, double plan) {
  return absl::StrFormat("<td>%d<small>distinct %d, plan %.0f</small></td>", moved, distinct, plan);
}

std::string CountedRow(const KernelProfile& k, int number) {
  const EmulatedCounters& c = k.emulated();
  std::string flops;
  for (const auto& [type, count] :
       {std::pair{"f16", c.flops_f16()}, std::pair{"f32", c.flops_f32()},
        std::pair{"f64", c.flops_f64()}, std::pair{"tensor", c.flops_tensor()}}) {
    if (count > 0) absl::StrAppend(&flops, flops.empty() ? "" : ", ", count, " ", type);
  }
  std::string row = absl::StrFormat(
      "<tr><td>%d</td><td class=\"name\"><code>%s</code><small>largest term: %s</small></td>",
      number, EscapeHtml(k.name()), EscapeHtml(c.largest_term()));
  absl::StrAppend(&row,
                  CountedCell(c.load_sector_bytes() + c.atomic_sector_bytes(),
                              c.distinct_read_bytes(), k.read_bytes()),
                  CountedCell(c.store_sector_bytes() + c.atomic_sector_bytes(),
                              c.distinct_write_bytes(), k.write_bytes()));
  absl::StrAppendFormat(&row, "<td>%s<small>plan %.0f</small></td>", flops.empty() ? "0" : flops,
                        k.flops());
  absl::StrAppendFormat(&row, "<td>%d<small>of %d</small></td><td>%d</td>",
                        c.shared_bank_conflicts(), c.shared_wavefronts(), c.warp_instructions());
  for (double ns : {c.launch_ns(), c.dram_ns(), c.l2_ns(), c.l1_ns(), c.issue_ns(), c.tensor_ns(),
                    c.latency_ns()})
    absl::StrAppendFormat(&row, "<td>%.2f</td>", ns / 1e3);
  return absl::StrCat(row, "</tr>\n");
}

// Of the emulator's report.
std::string CountersTable(const ProfileReport& report) {
  std::string table = absl::StrCat(
      "<h2>Counters</h2>\n<p>Counted by the emulator, exactly, of one launch. Bytes are 32 times "
      "the sectors that warps asked for; below them those of distinct sectors, and what the plan "
      "must move. The modelled time is the launch and the largest of the other terms.</p>\n"
      "<div class=\"scroll\"><table>\n<thead><tr><th>#</th><th class=\"name\">kernel</th>"
      "<th>bytes read</th><th>bytes written</th><th>flop</th><th>bank conflicts</th>"
      "<th>warp instructions</th><th>launch µs</th><th>DRAM µs</th><th>L2 µs</th><th>L1 µs</th>"
      "<th>issue µs</th><th>tensor µs</th><th>latency µs</th></tr></thead>\n"
      "<tbody>\n");
  for (int i = 0; i < report.kernels_size(); ++i) {
    if (report.kernels(i).has_emulated())
      absl::StrAppend(&table, CountedRow(report.kernels(i), i + 1));
  }
  return absl::StrCat(table, "</tbody></table></div>\n");
}

std::string Plot(const ProfileReport& report) {
  int without = 0;
  for (const KernelProfile& k : report.kernels()) without += !HasPoint(k);
  return absl::StrCat(
      "<h2>Roofline</h2>\n<p>Numbers are those of the table; a number there marks its point here.",
      without == 0 ? ""
                   : absl::StrCat(" Without a point, as nothing is computed: ", without,
                                  without == 1 ? " kernel." : " kernels."),
      "</p>\n<div class=\"scroll\">", RooflineSvg(report), "</div>\n");
}

}  // namespace

std::string ReportHtml(const ProfileReport& report) {
  const std::string name = EscapeHtml(report.program_name());
  return absl::StrCat(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"",
      kPolicy,
      "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Stax profile: ",
      name, "</title>\n<style>", kStyle, "</style></head>\n<body>\n<h1>", name, "</h1>\n<p>",
      EscapeHtml(report.device().name()), ", ", EscapeHtml(report.date()),
      "</p>\n<p>Times: ", EscapeHtml(report.method()), "; medians with their 95 % intervals</p>\n",
      report.sizes().empty() ? ""
                             : absl::StrCat("<p>Sizes: ", Assignments(report.sizes()), "</p>\n"),
      Calibration(report.device()),
      report.kernels().empty() ? "<h2>Kernels</h2>\n<p>The program has no kernels.</p>\n"
                               : absl::StrCat(Plot(report), Table(report),
                                              IsModelled(report) ? CountersTable(report) : ""),
      "</body></html>\n");
}

}  // namespace stax
