#include "profiler/report/roofline_plot.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "profiler/report/html_escape.h"
#include "profiler/report/quantity.h"

namespace stax {
namespace {

// In units of the viewBox; text has 13 of them (html.cc). The margins hold the labels of the axes.
constexpr double kWidth = 960;
constexpr double kHeight = 500;
constexpr double kLeft = 96;
constexpr double kRight = kWidth - 24;
constexpr double kTop = 40;
constexpr double kBottom = kHeight - 56;
constexpr double kRadius = 5;
constexpr double kTextHeight = 16;
constexpr double kCharWidth = 8.6;  // of the widest common sans-serif fonts, on average

struct Box {
  double left, top, right, bottom;
  bool Overlaps(const Box& o) const {
    return left < o.right && o.left < right && top < o.bottom && o.top < bottom;
  }
  bool InPlot() const {
    return left >= kLeft && right <= kRight && top >= kTop && bottom <= kBottom;
  }
};

// Whether a logarithmic axis has a place for it.
bool HasPlace(double value) { return value > 0 && std::isfinite(value); }

// Decades of one logarithmic axis.
struct LogAxis {
  int low;  // exponents of ten
  int high;
  void Include(double value) {
    if (!HasPlace(value)) return;
    low = std::min(low, static_cast<int>(std::floor(std::log10(value))));
    high = std::max(high, static_cast<int>(std::ceil(std::log10(value))));
  }
  // 0 at the low end, 1 at the high end.
  double Position(double value) const {
    return (std::log10(value) - low) / std::max(1, high - low);
  }
  // Decades from one tick to the next; about 12 ticks have room.
  int Step() const { return 1 + (high - low) / 12; }
};

class RooflinePlot {
 public:
  explicit RooflinePlot(const ProfileReport& report)
      : report_(report),
        copy_(report.device().dram_copy_bytes_per_s()),
        peak_(report.device().f32_flops_per_s()),
        ridge_(peak_ / copy_) {
    x_.low = -1;
    x_.high = 1;
    x_.Include(ridge_ * 10);
    y_.low = y_.high = static_cast<int>(std::ceil(std::log10(peak_)));
    for (const KernelProfile& k : report.kernels()) {
      if (!HasPoint(k)) continue;
      x_.Include(k.intensity_flops_per_byte());
      y_.Include(AchievedFlopsPerS(k));
    }
    y_.Include(copy_ * std::pow(10.0, x_.low));
  }

  std::string Svg() {
    svg_ = absl::StrFormat(
        "<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"Roofline plot\">\n", kWidth, kHeight);
    AppendAxes();
    AppendRoof();
    for (const KernelProfile& k : report_.kernels()) {
      if (!HasPoint(k)) continue;
      const double x = X(k), y = Y(k);
      taken_.push_back({x - kRadius, y - kRadius, x + kRadius, y + kRadius});
    }
    AppendRoofLabels();
    for (int i = 0; i < report_.kernels_size(); ++i) {
      if (HasPoint(report_.kernels(i))) AppendPoint(report_.kernels(i), i + 1);
    }
    for (int i = 0; i < report_.kernels_size(); ++i) {
      if (HasPoint(report_.kernels(i))) AppendNumber(report_.kernels(i), i + 1);
    }
    return absl::StrCat(svg_, "</svg>\n");
  }

 private:
  double X(double intensity) const { return kLeft + x_.Position(intensity) * (kRight - kLeft); }
  double Y(double rate) const { return kBottom - y_.Position(rate) * (kBottom - kTop); }
  double X(const KernelProfile& k) const { return X(k.intensity_flops_per_byte()); }
  double Y(const KernelProfile& k) const { return Y(AchievedFlopsPerS(k)); }

  void AppendAxes() {
    for (int e = x_.low; e <= x_.high; e += x_.Step()) {
      const double value = std::pow(10.0, e);
      absl::StrAppendFormat(&svg_,
                            "<g class=\"tick x\"><path d=\"M%.2f %g V%g\"/>"
                            "<text x=\"%.2f\" y=\"%g\" text-anchor=\"middle\">%g</text></g>\n",
                            X(value), kTop, kBottom, X(value), kBottom + 20, value);
    }
    for (int e = y_.low; e <= y_.high; e += y_.Step()) {
      const double value = std::pow(10.0, e);
      absl::StrAppendFormat(&svg_,
                            "<g class=\"tick y\"><path d=\"M%g %.2f H%g\"/>"
                            "<text x=\"%g\" y=\"%.2f\" text-anchor=\"end\">%s</text></g>\n",
                            kLeft, Y(value), kRight, kLeft - 8, Y(value) + 4.5, TickText(e));
    }
    absl::StrAppendFormat(&svg_,
                          "<text x=\"8\" y=\"18\">Achieved rate</text>\n"
                          "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">Operations per byte that "
                          "must move (flop/byte)</text>\n",
                          (kLeft + kRight) / 2, kHeight - 8);
  }

  // 100 Gflop/s for 11.
  static std::string TickText(int exponent) {
    constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
    const int prefix = std::clamp(exponent / 3, 0, 5);
    return absl::StrFormat("%g %sflop/s", std::pow(10.0, exponent - 3 * prefix), kPrefixes[prefix]);
  }

  void AppendRoof() {
    const double left = std::pow(10.0, x_.low);
    absl::StrAppendFormat(&svg_, "<path class=\"roof\" d=\"M%.2f %.2f L%.2f %.2f L%.2f %.2f\"/>\n",
                          X(left), Y(left * copy_), X(ridge_), Y(peak_), X(std::pow(10.0, x_.high)),
                          Y(peak_));
  }

  // Above the slope, ending at it; above the flat part, or below where points lie on it.
  void AppendRoofLabels() {
    const std::string slope = absl::StrCat("copy ", GigabytesPerS(copy_));
    for (double share : {0.6, 0.5, 0.7, 0.4, 0.8, 0.9, 0.3}) {
      const double x = kLeft + share * (X(ridge_) - kLeft);
      const double start = Y(copy_ * std::pow(10.0, x_.low));
      if (Place(slope, x - 8, start + share * (Y(peak_) - start) - 4, "end", "roof-label")) break;
    }
    const std::string flat = absl::StrCat("f32 FMA ", WithPrefix(peak_, "flop/s"));
    for (double dy : {-6.0, 20.0}) {
      if (Place(flat, kRight - 4, Y(peak_) + dy, "end", "roof-label")) return;
      if (Place(flat, X(ridge_) + 8, Y(peak_) + dy, "start", "roof-label")) return;
    }
  }

  void AppendPoint(const KernelProfile& k, int number) {
    absl::StrAppendFormat(
        &svg_,
        "<a href=\"#kernel-%d\"><circle class=\"point\" id=\"point-%d\" cx=\"%.2f\" cy=\"%.2f\" "
        "r=\"%g\"><title>%d %s: %s, %s flop/byte, %s; %s</title></circle></a>\n",
        number, number, X(k), Y(k), kRadius, number, EscapeHtml(k.name()),
        WithPrefix(AchievedFlopsPerS(k), "flop/s"), ThreeDigits(k.intensity_flops_per_byte()),
        GigabytesPerS(k.achieved_bytes_per_s()), EscapeHtml(k.verdict()));
  }

  // Beside the point, further away where that is taken.
  void AppendNumber(const KernelProfile& k, int number) {
    const std::string text = absl::StrCat(number);
    const double width = text.size() * kCharWidth;
    for (double distance : {9.0, 22.0, 35.0}) {
      for (auto [dx, dy] : {std::pair{1.0, 0.0},
                            {-1.0, 0.0},
                            {0.0, -1.0},
                            {0.0, 1.0},
                            {0.7, -0.7},
                            {0.7, 0.7},
                            {-0.7, -0.7},
                            {-0.7, 0.7}}) {
        const double x = X(k) + dx * (distance + width / 2);
        const double y = Y(k) + dy * (distance + kTextHeight / 2) + 4.5;
        if (Place(text, x, y, "middle", "number")) return;
      }
    }
  }

  // Appends the text if it has room there. x and y: its anchor and base line.
  bool Place(const std::string& text, double x, double y, const std::string& anchor,
             const std::string& style) {
    const double width = text.size() * kCharWidth;
    const double left = anchor == "end" ? x - width : anchor == "middle" ? x - width / 2 : x;
    const Box box = {left, y - 0.8 * kTextHeight, left + width, y + 0.2 * kTextHeight};
    if (!box.InPlot()) return false;
    if (std::any_of(taken_.begin(), taken_.end(), [&](const Box& b) { return b.Overlaps(box); }))
      return false;
    taken_.push_back(box);
    absl::StrAppendFormat(&svg_,
                          "<text class=\"%s\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\">%s</text>\n",
                          style, x, y, anchor, text);
    return true;
  }

  const ProfileReport& report_;
  const double copy_;   // bytes/s
  const double peak_;   // flop/s
  const double ridge_;  // flop/byte
  LogAxis x_;
  LogAxis y_;
  std::string svg_;
  std::vector<Box> taken_;
};

}  // namespace

bool HasPoint(const KernelProfile& kernel) {
  return HasPlace(kernel.intensity_flops_per_byte()) && HasPlace(AchievedFlopsPerS(kernel));
}

double AchievedFlopsPerS(const KernelProfile& kernel) {
  return kernel.flops() / kernel.measured_ns() * 1e9;
}

std::string RooflineSvg(const ProfileReport& report) {
  const double peak = report.device().f32_flops_per_s();
  const double copy = report.device().dram_copy_bytes_per_s();
  if (!HasPlace(peak) || !HasPlace(copy) || !HasPlace(peak / copy)) return "";
  return RooflinePlot(report).Svg();
}

}  // namespace stax
