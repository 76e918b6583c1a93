#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "profiler/report/profile.h"

namespace stax {
namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 440;
constexpr double kMargin = 60;

constexpr char kStyle[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;"
    "color:#1b1f24}h1{font-size:1.4rem}table{border-collapse:collapse;width:100%;font-size:14px}"
    "th,td{padding:.35rem .6rem;border-bottom:1px solid #d8dee4;text-align:right}"
    "th:first-child,td:first-child,th:last-child,td:last-child{text-align:left}"
    "svg text{font:12px system-ui,sans-serif;fill:#57606a}.roof{stroke:#57606a;stroke-width:2;"
    "fill:none}.grid{stroke:#eaeef2}.point{fill:#0969da}.point:hover{fill:#cf222e}p{color:#57606a}";

std::string Escape(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Decades of one logarithmic axis.
struct LogAxis {
  int low = 0;  // exponents of ten
  int high = 0;
  void Include(double value) {
    if (!(value > 0)) return;
    low = std::min(low, static_cast<int>(std::floor(std::log10(value))));
    high = std::max(high, static_cast<int>(std::ceil(std::log10(value))));
  }
  // 0 at the low end, 1 at the high end.
  double Position(double value) const {
    return (std::log10(value) - low) / std::max(1, high - low);
  }
};

// Achieved flop/s of a kernel; its point in the plot.
double Rate(const KernelProfile& k) { return k.flops() / k.measured_ns() * 1e9; }

bool HasPoint(const KernelProfile& k) {
  return k.flops() > 0 && k.intensity_flops_per_byte() > 0 && k.measured_ns() > 0;
}

// The roofline plot: flop/s over flop/byte, both logarithmic. The slope is the copy bandwidth, the
// flat part the f32 FMA rate.
class RooflinePlot {
 public:
  explicit RooflinePlot(const ProfileReport& report) : report_(report) {
    const DeviceSpec& device = report.device();
    ridge_ = device.f32_flops_per_s() / device.dram_copy_bytes_per_s();
    x_.low = -1;
    x_.Include(ridge_ * 10);
    y_.low = y_.high = static_cast<int>(std::ceil(std::log10(device.f32_flops_per_s())));
    for (const KernelProfile& k : report.kernels()) {
      if (!HasPoint(k)) continue;
      x_.Include(k.intensity_flops_per_byte());
      y_.Include(Rate(k));
    }
    y_.Include(device.dram_copy_bytes_per_s() * std::pow(10.0, x_.low));
  }

  std::string Svg() const {
    std::string svg = absl::StrFormat(
        "<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\""
        "Roofline plot\">\n",
        kWidth, kHeight);
    AppendGrid(svg);
    AppendRoof(svg);
    for (const KernelProfile& k : report_.kernels()) {
      if (HasPoint(k)) AppendPoint(k, svg);
    }
    absl::StrAppendFormat(&svg,
                          "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">flop / byte"
                          "</text>\n<text x=\"4\" y=\"14\">flop / s</text>\n</svg>\n",
                          kWidth / 2, kHeight - 8);
    return svg;
  }

 private:
  double X(double intensity) const {
    return kMargin + x_.Position(intensity) * (kWidth - 2 * kMargin);
  }
  double Y(double rate) const {
    return kHeight - kMargin - y_.Position(rate) * (kHeight - 2 * kMargin);
  }

  void AppendGrid(std::string& svg) const {
    for (int e = x_.low; e <= x_.high; ++e) {
      double x = X(std::pow(10.0, e));
      absl::StrAppendFormat(&svg,
                            "<path class=\"grid\" d=\"M%.1f %g V%g\"/><text x=\"%.1f\" "
                            "y=\"%g\" text-anchor=\"middle\">1e%d</text>\n",
                            x, kMargin, kHeight - kMargin, x, kHeight - kMargin + 16, e);
    }
    for (int e = y_.low; e <= y_.high; ++e) {
      double y = Y(std::pow(10.0, e));
      absl::StrAppendFormat(&svg,
                            "<path class=\"grid\" d=\"M%g %.1f H%g\"/><text x=\"%g\" "
                            "y=\"%.1f\" text-anchor=\"end\">1e%d</text>\n",
                            kMargin, y, kWidth - kMargin, kMargin - 6, y + 4, e);
    }
  }

  void AppendRoof(std::string& svg) const {
    const double peak = report_.device().f32_flops_per_s();
    const double left = std::pow(10.0, x_.low);
    absl::StrAppendFormat(&svg, "<path class=\"roof\" d=\"M%.1f %.1f L%.1f %.1f L%.1f %.1f\"/>\n",
                          X(left), Y(left * report_.device().dram_copy_bytes_per_s()), X(ridge_),
                          Y(peak), X(std::pow(10.0, x_.high)), Y(peak));
  }

  void AppendPoint(const KernelProfile& k, std::string& svg) const {
    absl::StrAppendFormat(&svg,
                          "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>%s: "
                          "%.3g flop/byte, %.3g flop/s, %.1f GB/s</title></circle>\n",
                          X(k.intensity_flops_per_byte()), Y(Rate(k)), Escape(k.name()),
                          k.intensity_flops_per_byte(), Rate(k), k.achieved_bytes_per_s() / 1e9);
  }

  const ProfileReport& report_;
  double ridge_;
  LogAxis x_;
  LogAxis y_;
};

std::string TableRows(const ProfileReport& report) {
  std::string rows;
  for (const KernelProfile& k : report.kernels()) {
    absl::StrAppendFormat(
        &rows,
        "<tr><td><code>%s</code></td><td>%.2f</td><td>%.2f</td><td>%.2f to %.2f</td><td>%.1f</td>"
        "<td>%.2f</td><td>%+.0f %%</td><td>%s</td></tr>\n",
        Escape(k.name()), k.predicted_ns() / 1e3, k.measured_ns() / 1e3, k.interval_low_ns() / 1e3,
        k.interval_high_ns() / 1e3, k.achieved_bytes_per_s() / 1e9, k.intensity_flops_per_byte(),
        100 * k.error(), Escape(k.verdict()));
  }
  return rows;
}

}  // namespace

std::string ReportHtml(const ProfileReport& report) {
  const DeviceSpec& device = report.device();
  return absl::StrCat(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Stax profile: ",
      Escape(report.program_name()), "</title><style>", kStyle, "</style></head><body>\n<h1>",
      Escape(report.program_name()), "</h1>\n<p>", Escape(device.name()), ", ",
      Escape(report.date()), ". Times by ", Escape(report.method()), ". ",
      absl::StrFormat("Calibrated %s: read %.1f, write %.1f, copy %.1f GB/s; latency %.0f ns; f32 "
                      "FMA %.2f Tflop/s; launch %.2f us.",
                      Escape(device.date()), device.dram_read_bytes_per_s() / 1e9,
                      device.dram_write_bytes_per_s() / 1e9, device.dram_copy_bytes_per_s() / 1e9,
                      device.latency_ns(), device.f32_flops_per_s() / 1e12,
                      device.launch_ns() / 1e3),
      "</p>\n", RooflinePlot(report).Svg(),
      "<table><thead><tr><th>kernel</th><th>predicted us</th><th>measured us</th><th>95 % "
      "interval</th><th>GB/s</th><th>flop/byte</th><th>error</th><th>verdict</th></tr></thead>"
      "<tbody>\n",
      TableRows(report), "</tbody></table>\n</body></html>\n");
}

}  // namespace stax
