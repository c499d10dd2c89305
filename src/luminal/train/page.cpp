// The page with curves: SVG made here, so that it needs nothing but a browser.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "luminal/support/html.h"
#include "luminal/support/text.h"
#include "luminal/train/report.h"

namespace luminal::train {
namespace {

struct Curve {
  std::string name;
  std::string colour;
  std::vector<std::pair<double, double>> points;
};

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", value);
  return text;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double place(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

/// One diagram; empty if there is nothing to draw. Large histories are thinned to what a screen can show.
std::string diagram(const std::string& title, const std::vector<Curve>& curves, bool logarithmic) {
  constexpr double width = 720;
  constexpr double height = 240;
  constexpr double left = 64;
  constexpr double bottom = 28;
  const auto scaled = [&](double y) { return logarithmic ? std::log10(std::max(y, 1e-9)) : y; };
  Range xs;
  Range ys;
  for (const auto& curve : curves)
    for (const auto& [x, y] : curve.points) {
      xs.add(x);
      ys.add(scaled(y));
    }
  if (!(xs.low <= xs.high)) return "";
  std::string svg = cat("<h2>", title, logarithmic ? " (logarithmic)" : "", "</h2>\n<svg viewBox=\"0 0 ",
                        rounded(left + width + 16), " ", rounded(height + bottom + 12), "\">\n");
  for (int k = 0; k <= 4; ++k) {
    const double y = 6 + height * (1 - k / 4.0);
    const double value = ys.low + (ys.high - ys.low) * k / 4;
    svg += cat("<line class=\"grid\" x1=\"", left, "\" x2=\"", left + width, "\" y1=\"", rounded(y),
               "\" y2=\"", rounded(y), "\"/><text x=\"", left - 6, "\" y=\"", rounded(y + 4),
               "\" text-anchor=\"end\">", rounded(logarithmic ? std::pow(10, value) : value), "</text>\n");
    const double x = left + width * k / 4;
    svg += cat("<text x=\"", rounded(x), "\" y=\"", height + bottom, "\" text-anchor=\"middle\">",
               std::llround(xs.low + (xs.high - xs.low) * k / 4), "</text>\n");
  }
  for (const auto& curve : curves) {
    svg += cat("<polyline fill=\"none\" stroke=\"", curve.colour, "\" stroke-width=\"1.5\" points=\"");
    const std::size_t every = curve.points.size() / 2000 + 1;
    for (std::size_t k = 0; k < curve.points.size(); ++k)
      if (k % every == 0 || k + 1 == curve.points.size())
        svg += cat(rounded(left + width * xs.place(curve.points[k].first)), ",",
                   rounded(6 + height * (1 - ys.place(scaled(curve.points[k].second)))), " ");
    svg += "\"/>\n";
  }
  svg += "</svg>\n<p>";
  for (const auto& curve : curves)
    if (!curve.points.empty())
      svg += cat("<span style=\"color:", curve.colour, "\">&#9632;</span> ", curve.name, ": ",
                 rounded(curve.points.back().second), " at the end &nbsp; ");
  return svg + "</p>\n";
}

Curve curve(const std::string& name, const std::string& colour, const std::vector<StepReport>& history,
            const std::function<std::optional<double>(const StepReport&)>& value) {
  Curve result{name, colour, {}};
  for (const auto& report : history)
    if (const auto y = value(report); y && std::isfinite(*y))
      result.points.emplace_back(static_cast<double>(report.step), *y);
  return result;
}

}  // namespace

std::string html_page(const std::string& title, const std::vector<StepReport>& history,
                      const std::vector<PageFact>& facts) {
  std::string page =
      cat("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", escape_html(title),
          "</title>\n<style>body{font:15px system-ui,sans-serif;max-width:820px;margin:2em auto;"
          "color:#222;background:#fff}svg{width:100%}text{font-size:12px;fill:#555}.grid{stroke:#ddd}"
          "td{padding:2px 16px 2px 0}h2{font-size:17px;margin-bottom:4px}</style></head><body>\n<h1>",
          escape_html(title), "</h1>\n<table>\n");
  for (const auto& fact : facts)
    page += cat("<tr><td>", escape_html(fact.name), "</td><td>", escape_html(fact.value), "</td></tr>\n");
  page += "</table>\n";
  page += diagram(
      "Loss by step",
      {curve("training", "#1f6feb", history,
             [](const StepReport& r) { return std::optional<double>(r.loss); }),
       curve("evaluation", "#d1242f", history, [](const StepReport& r) { return r.evaluation_loss; })},
      true);
  page += diagram(
      "Share of right answers",
      {curve("evaluation", "#1a7f37", history, [](const StepReport& r) { return r.evaluation_correct; })},
      false);
  page += diagram(
      "Learning rate",
      {curve("rate", "#8250df", history, [](const StepReport& r) { return std::optional(r.rate); })}, false);
  page += diagram("Examples a second",
                  {curve("training", "#9a6700", history,
                         [](const StepReport& r) { return std::optional(r.examples_per_second); })},
                  false);
  return page + "</body></html>\n";
}

}  // namespace luminal::train
