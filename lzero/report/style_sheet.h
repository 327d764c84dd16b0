// The look of a report: light, dark and on paper. Colors that people with color blindness can tell
// apart. [Okabe and Ito 2008, Color universal design]
#ifndef LZERO_REPORT_STYLE_SHEET_H_
#define LZERO_REPORT_STYLE_SHEET_H_

namespace lzero {

inline constexpr const char* kStyleSheet = R"(
:root { color-scheme: light dark; --page: #fbfbfa; --paper: #fff; --ink: #1d2125; --soft: #5b646d;
  --line: #d9dde1; --grid: #e9ecee; --good: #00734f; --bad: #b3390a; --open: #80600a;
  --warn: #fdf4dc; --g0: #0072b2; --g1: #d55e00; --g2: #009e73; --g3: #c05a95; --g4: #b98100;
  --g5: #56b4e9; --g6: #7a6a53; --g7: #6a51a3; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171a; --paper: #1b1f23; --ink: #e6e9ec; --soft: #9aa4ae; --line: #343b42;
    --grid: #272d33; --good: #4cc79b; --bad: #ff8b5c; --open: #e0bd5a; --warn: #332c18;
    --g0: #4ea8e6; --g1: #f28c3a; --g2: #35c498; --g3: #e48fc0; --g4: #e3b440; --g5: #9bd4f5;
    --g6: #b7a58a; --g7: #a994e0; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 980px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 25px; line-height: 1.25; margin: 0 0 2px; }
h2 { font-size: 18px; margin: 36px 0 10px; padding-bottom: 5px; border-bottom: 1px solid var(--line); }
h3 { font-size: 14.5px; margin: 18px 0 4px; overflow-wrap: anywhere; }
p { margin: 6px 0; }
.note, figcaption { color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 12px;
  margin-top: 16px; }
.card { background: var(--paper); border: 1px solid var(--line); border-radius: 8px;
  padding: 12px 16px; }
.card h3 { margin-top: 0; }
.verdict { font-size: 16px; }
.good { color: var(--good); } .bad { color: var(--bad); } .open { color: var(--open); }
.warnings { background: var(--warn); border: 1px solid var(--line); border-radius: 8px;
  padding: 10px 16px 10px 32px; margin: 14px 0 0; font-size: 13.5px; overflow-wrap: anywhere; }
figure { margin: 10px 0; background: var(--paper); border: 1px solid var(--line);
  border-radius: 8px; padding: 8px; break-inside: avoid; }
.small { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 10px; }
.small figure { margin: 0; }
@media (max-width: 760px) { .small { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
.strip figcaption { margin-bottom: 4px; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font-family: inherit; fill: var(--soft); font-size: 11px; }
svg .title { fill: var(--ink); font-size: 12px; font-weight: 600; }
svg .inpart { fill: #fff; font-weight: 600; }

.grid { stroke: var(--grid); } .axis { stroke: var(--soft); }
.level { stroke: var(--ink); stroke-dasharray: 5 4; opacity: .65; }
polyline { fill: none; stroke: var(--c); stroke-linejoin: round; stroke-linecap: round; }
.thin { stroke-width: 1.1; opacity: .55; } .bold { stroke-width: 2.6; } .solo { stroke-width: 1.5; }
@media (prefers-color-scheme: dark) { svg .inpart { fill: #10141a; } .thin { opacity: .7; } }
.thin.dense { stroke-width: .6; opacity: .35; }
.band { fill: var(--c); opacity: .17; } .part { fill: var(--c); }
.c0 { --c: var(--g0); } .c1 { --c: var(--g1); } .c2 { --c: var(--g2); } .c3 { --c: var(--g3); }
.c4 { --c: var(--g4); } .c5 { --c: var(--g5); } .c6 { --c: var(--g6); } .c7 { --c: var(--g7); }
.d1 { stroke-dasharray: 7 3.5; } .d2 { stroke-dasharray: 1.5 4; }
.swatch { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin: 0 6px 0 0;
  background: var(--c); print-color-adjust: exact; }
.swatch.d1, .swatch.d2 { width: 18px; }
.swatch.d1 { background: linear-gradient(90deg, var(--c) 40%, #0000 40% 60%, var(--c) 60%); }
.swatch.d2 { background: repeating-linear-gradient(90deg, var(--c) 0 3px, #0000 3px 7.5px); }
.legend .swatch { margin-left: 12px; } .legend .swatch:first-child { margin-left: 0; }
.legend { color: var(--soft); font-size: 13px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--soft); font-weight: 600; vertical-align: bottom; }
th, td { padding: 5px 10px 5px 0; border-bottom: 1px solid var(--line); }
td:first-child { min-width: 200px; overflow-wrap: anywhere; }
.r { text-align: right; white-space: nowrap; } th.r { white-space: normal; }
.interval, .none { color: var(--soft); }
.settings { columns: 3 260px; font-size: 12.5px; } .settings div { break-inside: avoid; }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 12.5px; }
pre { background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.pictures { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 10px; }
.pictures img { width: 100%; image-rendering: pixelated; border-radius: 4px; }
@media print { :root { --page: #fff; } body { font-size: 12px; } main { padding: 0; }
  .scroll { overflow: visible; } table { font-size: 10px; } th, td { padding-right: 6px; }
  td:first-child { min-width: 0; } h2, h3 { break-after: avoid; } .card, tr { break-inside: avoid; } }
footer { margin-top: 40px; color: var(--soft); font-size: 12.5px; }
)";

}  // namespace lzero

#endif  // LZERO_REPORT_STYLE_SHEET_H_
