/** Style of the page for light and dark screens, paper, and narrow and wide windows. It loads nothing. */

/** Colours by meaning. Text has a contrast of at least 4.5 in both schemes. */
const COLOURS = `
:root {
  color-scheme: light dark;
  --page: #f5f6f8; --card: #ffffff; --ink: #14181f; --soft: #4a5361; --line: #ccd2db; --link: #0b4fb3; --well: #eef0f4;
  --proven: #0a6b3d; --proven-tint: #e6f4ec; --failed: #b0121f; --failed-tint: #fdebec;
  --word: #5a35a0; --word-tint: #f1ecfa; --grey: #5a6473; --grey-tint: #eef0f4;
  --warning: #7a4a00; --warning-tint: #fff3d4; --warning-line: #d99100; --mark: #ffd9dc; --on: #ffffff;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono", monospace;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #0f1318; --card: #181d25; --ink: #edf0f5; --soft: #aeb7c5; --line: #39424f; --link: #8ab8ff;
    --well: #212833;
    --proven: #57d08e; --proven-tint: #12301f; --failed: #ff8a8f; --failed-tint: #3a1519;
    --word: #c3a6ff; --word-tint: #271d3d; --grey: #a4aebd; --grey-tint: #242b36;
    --warning: #ffc857; --warning-tint: #33270b; --warning-line: #d99100; --mark: #6d2027; --on: #10141a;
  }
}`;

/** Base style. Right-to-left letters of evidence are shown in the order in which they were signed. */
const BASE = `
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-behavior: smooth; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.55 var(--sans); overflow-wrap: anywhere; }
main { display: block; max-width: 76rem; margin: 0 auto; padding: 1rem clamp(.75rem, 3vw, 2rem) 4rem; }
h1, h2, h3, h4, p, ul, ol, dl, dd { margin: 0; }
h2 { font-size: clamp(1.5rem, 3.2vw, 2rem); line-height: 1.2; letter-spacing: -.01em; margin: 0 0 .75rem; }
h3 { font-size: 1.15rem; line-height: 1.3; }
ul, ol { padding-left: 1.25rem; }
a { color: var(--link); }
code { font-family: var(--mono); font-size: .875em; overflow-wrap: anywhere; }
h1, h2, h3, h4, p, li, dt, dd, a, summary, strong, span, code { unicode-bidi: isolate-override; }
code.hex { word-break: break-all; }
.whole { display: inline-block; max-width: 100%; word-break: break-all; }
section { margin-top: 2.5rem; }
summary { cursor: pointer; padding: .35rem 0; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 2px; }
svg { display: block; }
mark { background: var(--mark); color: inherit; font-weight: 700; }
@media (prefers-reduced-motion: reduce) {
  html { scroll-behavior: auto; }
  *, ::before, ::after { animation: none !important; transition: none !important; }
}`;

/** Style of the verdict. Its colours are the same in both schemes, and warnings follow directly below. */
const VERDICT = `
.verdict { border-radius: .75rem; overflow: hidden; }
.verdict-band { padding: clamp(.9rem, 2.5vw, 1.5rem) clamp(1.25rem, 4vw, 2.5rem); background: #3d4653; color: #ffffff; }
.verdict-verified .verdict-band { background: #0a6b3d; }
.verdict-authentic .verdict-band { background: #ffc533; color: #1c1500; }
.verdict-rejected .verdict-band { background: #a90f1c; }
.verdict > .values, .verdict > .first-failure { margin: 0; padding: .75rem clamp(1.25rem, 4vw, 2.5rem);
  background: var(--card); }
.verdict > .first-failure { list-style: none; border-left: .4rem solid var(--failed); }
.first-failure .check:first-child { border-top: 0; }
.verdict h1 { display: flex; flex-wrap: wrap; align-items: center; gap: .1em .28em; line-height: 1;
  font-size: clamp(2.4rem, 7vw, 3.75rem); font-weight: 850; letter-spacing: -.025em; overflow-wrap: normal; }
.verdict h1 .icon { width: .95em; height: .95em; flex: none; --state: currentColor; }
.verdict h1 .icon g { --state: currentColor; --on: #0a6b3d; }
.verdict-rejected h1 .icon g { --on: #a90f1c; }
.verdict h1 .count { font-size: .42em; letter-spacing: 0; font-weight: 750; padding: .25em .55em; border-radius: .3em;
  background: #ffc533; color: #1c1500; }
.verdict-authentic h1 .count { background: #1c1500; color: #ffffff; }
.verdict .sentence, .verdict .age { margin-top: .5rem; font-size: clamp(1.0625rem, 2vw, 1.25rem); line-height: 1.4;
  text-wrap: pretty; }
.verdict .counts, .verdict .left { margin-top: .4rem; }
.verdict .left { font-weight: 750; }
.verdict .left a { color: inherit; text-underline-offset: .2em; }
.verdict :focus-visible { outline-color: currentColor; }
.gist { display: flex; flex-wrap: wrap; }
.gist > div { padding: .75rem clamp(1.25rem, 4vw, 2.5rem); min-width: 0; line-height: 1.45; }
.gist strong { font-size: 1.25rem; font-weight: 850; }
.warnings { flex: 100 1 30rem; background: #ffc533; color: #1c1500; }
.verdict-authentic .warnings { border-top: 2px solid #1c1500; }
.warnings li + li { margin-top: .25rem; }
.addresses { flex: 1 1 28rem; background: var(--card); }
.addresses ul { list-style: none; padding: 0; }
.first-failure .holds:has(+ .detail) { display: none; }
.notices { list-style: none; padding: 1rem 0 0; }
.notices .notice-item { padding-left: 1.5rem; }`;

const STATEMENTS = `
.statements { display: grid; gap: 1rem; margin-top: 1.5rem; }
.statements section { margin: 0; background: var(--card); border: 2px solid var(--band); border-radius: .75rem;
  overflow: hidden; }
.statements .proven { --band: #0a6b3d; --band-text: #ffffff; }
.statements .not-proven { --band: var(--ink); --band-text: var(--page); }
.statements section > div { padding: .5rem clamp(1rem, 2.5vw, 1.75rem) 1.5rem; font-size: 1.0625rem; }
.statements h2 { display: flex; align-items: center; gap: .3em; margin: 0; padding: .45em clamp(1rem, 2.5vw, 1.75rem);
  font-size: clamp(2rem, 5vw, 3rem); font-weight: 850; line-height: 1; background: var(--band);
  color: var(--band-text); }
.statements h2 .icon { width: 1em; height: 1em; flex: none; }
.statements h2 .icon g { --state: currentColor; --on: var(--band); }
.statements li { margin-top: .6rem; }
.image-word { margin: .75rem 0 1rem; padding: .75rem 1rem 1rem; background: var(--word-tint); border-radius: .5rem; }
.image-word h3 { color: var(--word); }
@media (min-width: 60rem) {
  .statements { grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); }
}`;

const CHAIN = `
.state-proven { --state: var(--proven); --tint: var(--proven-tint); }
.state-warned { --state: var(--warning); --tint: var(--warning-tint); }
.state-failed { --state: var(--failed); --tint: var(--failed-tint); }
.state-word { --state: var(--word); --tint: var(--word-tint); }
.state-open, .state-unproven { --state: var(--grey); --tint: var(--grey-tint); }
.solid { fill: var(--state); }
.outline { fill: none; stroke: var(--state); stroke-width: 3; }
.dashed { stroke-dasharray: 5 4; }
.mark { fill: none; stroke: var(--state); stroke-width: 4; stroke-linecap: round; stroke-linejoin: round; }
.sign { fill: none; stroke: var(--on); stroke-width: 4.500; stroke-linecap: round; stroke-linejoin: round; }
.thin { stroke-width: 2.500; }
.warned { --state: var(--warning-line); --on: #1c1500; stroke: var(--card); stroke-width: 0; }
.icon { width: 2.75rem; height: 2.75rem; }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .35rem 1.5rem; color: var(--soft);
  font-size: .9375rem; }
.legend li { display: grid; grid-template-columns: auto minmax(0, 1fr); align-items: center; gap: .5rem; }
.legend .icon { width: 1.5rem; height: 1.5rem; flex: none; }
.legend strong { color: var(--ink); }
.chains > h3 { margin-top: 1.5rem; }
.overview { display: none; width: 100%; height: auto; margin: 1rem 0 .5rem; padding: 1rem 0 .25rem;
  background: var(--card);
  border: 1px solid var(--line); border-radius: .75rem; }
.overview .name { fill: var(--ink); font: 700 13.500px var(--sans); }
.overview .state { fill: var(--state); font: 600 12.500px var(--sans); }
.connector { fill: none; stroke: var(--grey); stroke-width: 3; stroke-dasharray: 3 6; }
.connector.to-proven { stroke: var(--proven); stroke-dasharray: none; }
.connector.to-warned { stroke: var(--warning); stroke-dasharray: none; }
.connector.to-failed { stroke: var(--failed); stroke-dasharray: 10 8; }
@media (min-width: 60rem) { .overview { display: block; } }
.chain { list-style: none; padding: 0; margin-top: 1rem; }
.link { position: relative; display: grid; grid-template-columns: 2.75rem minmax(0, 1fr); gap: 0 1rem;
  padding-bottom: 1rem; }
.link::before { content: ""; position: absolute; left: calc(1.375rem - 2px); top: 3rem; bottom: .25rem; width: 0;
  border-left: 4px dotted var(--grey); }
.link.state-proven::before, .link.state-warned::before { border-left: 4px solid var(--state); }
.link.state-failed::before { border-left: 4px dashed var(--failed); }
.link:last-child::before { display: none; }
.link-text { padding: .8rem clamp(.9rem, 2vw, 1.25rem) .9rem; background: var(--card); border: 1px solid var(--line);
  border-left: .35rem solid var(--state); border-radius: .5rem; min-width: 0; }
.link.state-failed .link-text { background: var(--failed-tint); border-color: var(--failed); }
.link.state-open .link-text { border-left-style: dashed; }
.link h4 { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem; font-size: 1.2rem;
  line-height: 1.3; }
.link .state { font-size: .9375rem; font-weight: 700; color: var(--state); background: var(--tint);
  padding: .1rem .6rem; border-radius: 1rem; border: 1px solid currentColor; }
.link .asks { color: var(--soft); }
.link .reason { margin-top: .35rem; }
.link.state-failed .reason { font-weight: 650; }
.warning { margin-top: .5rem; padding: .5rem .75rem; background: var(--warning-tint); border-left: .3rem solid
  var(--warning-line); }
.warning strong { color: var(--warning); }
.more { display: flex; flex-wrap: wrap; gap: 0 2rem; margin-top: .35rem; }
.more > details { min-width: 0; }
.more > details[open] { flex: 1 0 100%; }
.facts > summary, .checks > summary, .statements summary { color: var(--link); font-weight: 600; }
.boots { list-style: none; padding: 0; margin: 1.25rem 0; background: var(--card); border: 1px solid var(--line);
  border-radius: .75rem; }
.boots li { display: grid; grid-template-columns: minmax(0, 1fr); gap: .1rem 1rem; align-items: center;
  padding: .4rem 1rem; }
.boots li + li { border-top: 1px solid var(--line); }
.boots .sum { color: var(--soft); font-size: .9375rem; }
.strip { width: 100%; max-width: 15rem; height: auto; }
@media (min-width: 48rem) { .boots li { grid-template-columns: minmax(0, 1fr) 15rem minmax(0, 1.4fr); } }
.boot { margin-top: .5rem; padding: .25rem clamp(.5rem, 1.5vw, 1rem); border: 1px solid var(--line);
  border-radius: .75rem; }
.boot > summary { padding: .5rem 0; }
.boot > summary h3 { display: inline; margin-right: 1rem; }`;

const DETAILS = `
.values { display: grid; gap: .45rem; }
.values > div { display: grid; gap: 0 1rem; grid-template-columns: minmax(0, 1fr); min-width: 0; }
.values dt { color: var(--soft); font-size: .9375rem; }
.values dd { min-width: 0; }
@media (min-width: 48rem) { .values > div { grid-template-columns: minmax(0, 11rem) minmax(0, 1fr); } }
.values .values { padding-left: .75rem; border-left: 2px solid var(--line); }
.values .values > div { grid-template-columns: minmax(0, 1fr); }
.items { padding-left: 2rem; }
.items > li { margin-top: .35rem; }
.facts .values, .check .values, .piece > details > .values, .bytes > code { background: var(--well);
  border-radius: .4rem;
  padding: .6rem .75rem; margin-top: .35rem; }
.link.state-failed .check .values { background: var(--card); }
.bytes > code { display: block; }
.lines code { display: block; }
.checks ul { list-style: none; padding: 0; }
.check { padding: .6rem 0 .7rem; border-top: 1px solid var(--line); }
.check-head { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .75rem; }
.check .status { min-width: 4.5rem; }
.check-pass .status { color: var(--soft); }
.link.state-proven .check-pass .status { color: var(--proven); }
.check-fail .status, .check-unknown .status { color: var(--failed); }
.check-warn .status { color: var(--warning); }
.check-skip .status, .check .about, .note, .check .holds { color: var(--soft); }
.check .about { font-size: .9375rem; }
.check-fail .detail, .check-unknown .detail { font-weight: 600; }
.check .advice { margin-top: .5rem; padding-left: .75rem; border-left: .25rem solid var(--failed); }
.check .advice::before { content: "What to do: "; font-weight: 700; }
.advice .step { display: block; margin-top: .25rem; }
.unverified { margin-bottom: .75rem; max-width: 60rem; }
.piece { margin-top: .75rem; padding: .35rem clamp(.75rem, 2vw, 1.25rem); background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem; }
.piece > details { border-top: 1px solid var(--line); }
.piece > summary { padding: .5rem 0; }
.piece .digest { color: var(--soft); display: block; font-size: .9375rem; }
.faults { padding: .5rem .75rem; background: var(--failed-tint); border-radius: .4rem; margin-bottom: .5rem; }
.origin > .values { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: 1rem 1.25rem; }`;

const FORM = `
form { display: grid; gap: 1rem; }
fieldset { margin: 0; padding: 1rem 1.25rem 1.25rem; border: 1px solid var(--line); border-radius: .5rem; min-width: 0;
  background: var(--card); display: grid; gap: .75rem; }
legend { padding: 0 .4rem; font-weight: 700; }
label { display: grid; gap: .25rem; font-weight: 600; }
label small, .hint { font-weight: 400; font-size: .9375rem; color: var(--soft); }
input, textarea, select, button { font: inherit; color: inherit; max-width: 100%; }
input:not([type="checkbox"], [type="radio"]), textarea, select { width: 100%; min-height: 2.75rem;
  padding: .5rem .75rem;
  background: var(--card); border: 1px solid var(--grey); border-radius: .4rem; }
label:has([type="checkbox"], [type="radio"]) { display: flex; align-items: center; gap: .6rem; }
[type="checkbox"], [type="radio"] { width: 1.25rem; height: 1.25rem; flex: none; accent-color: var(--link); }
button { min-height: 2.75rem; padding: .5rem 1.25rem; font-weight: 700; cursor: pointer; border: 2px solid var(--ink);
  border-radius: .4rem; background: var(--ink); color: var(--card); }
button:hover { background: var(--card); color: var(--ink); }
button:disabled { background: var(--well); color: var(--soft); border-color: var(--line); cursor: not-allowed; }
.dropzone { display: grid; place-items: center; gap: .5rem; padding: 2rem 1rem; text-align: center;
  border: 3px dashed var(--grey); border-radius: .75rem; background: var(--card); }
.dropzone:hover, .dropzone:focus-within, .dropzone.over { border-color: var(--link); background: var(--well); }
.message { padding: .75rem 1rem; border-left: .35rem solid var(--grey); background: var(--card); }
.message:empty { display: none; }
.message.good { border-left-color: var(--proven); background: var(--proven-tint); }
.message.bad { border-left-color: var(--failed); background: var(--failed-tint); }
.message.warn { border-left-color: var(--warning-line); background: var(--warning-tint); }
.result { margin-top: 2rem; }`;

/** Style for paper. Checks and values are printed unfolded, but byte strings only if the reader unfolded them. */
const PAPER = `
@media print {
  .more { display: block; }
  :root { color-scheme: light; --page: #ffffff; --well: #f3f4f6; }
  html { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  .verdict, .warnings, .link-text, .state, svg, mark { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .verdict-band, .warnings { border: 2px solid #1c1500; }
  .overview { display: none; }
  .verdict, .link, .check, .statements section, .warnings li { break-inside: avoid-page; }
  h2, h3, h4 { break-after: avoid-page; }
  .facts:not([open])::details-content, .checks:not([open])::details-content, .boot:not([open])::details-content {
    content-visibility: visible; display: block; height: auto; }
  form, button, .dropzone { display: none; }
}`;

export const STYLE: string = [COLOURS, BASE, VERDICT, STATEMENTS, CHAIN, DETAILS, FORM, PAPER].join("\n");
