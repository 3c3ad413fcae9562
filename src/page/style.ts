/** Style of pages for light and dark screens, paper, and narrow and wide windows. It loads nothing. */

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
  --edge: clamp(1rem, 3vw, 2rem);
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
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.5 var(--sans); overflow-wrap: anywhere; }
main { display: block; max-width: 76rem; margin: 0 auto; padding: 1rem clamp(.75rem, 3vw, 2rem) 4rem; }
h1, h2, h3, h4, p, ul, ol, dl, dd { margin: 0; }
h2 { font-size: clamp(1.5rem, 3.2vw, 2rem); line-height: 1.2; letter-spacing: -.01em; margin: 0 0 .75rem; }
h3, .link h4 { font-size: 1.15rem; line-height: 1.3; }
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
.maker, .link-text, .piece, .boot, .overview, .origin > .values, fieldset, .given > li { background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem; }
.note, .hint, .asks, .place, .digest, .check .about, .check .holds, dt, label small { color: var(--soft); }
.hint, .digest, .place, .legend, .check .about, dt, label small { font-weight: 400; font-size: .9375rem; }
.overview, .legend, .chain, .notices, .given, .checks ul, .first-failure ul, .addresses ul { list-style: none;
  padding: 0; }
.message { padding: .75rem 1rem; border-left: .35rem solid var(--grey); background: var(--card); }
.message:empty { display: none; }
.message.bad { border-left-color: var(--failed); background: var(--failed-tint); }
.message.warn, .given > li.wrong { border-color: var(--warning-line); background: var(--warning-tint); }`;

/** Style of the verdict. Its colours are the same in both schemes, and warnings follow directly below. */
const VERDICT = `
.verdict { border-radius: .75rem; overflow: hidden; }
.verdict-band, .gist > div, .verdict > .values, .first-failure { padding: .75rem var(--edge); }
.verdict-band { background: #3d4653; color: #ffffff; --on: #3d4653; }
.verdict-verified .verdict-band { background: #0a6b3d; --on: #0a6b3d; }
.verdict-authentic .verdict-band { background: #ffc533; color: #1c1500; }
.verdict-rejected .verdict-band { background: #a90f1c; --on: #a90f1c; }
.verdict > .values, .first-failure, .addresses { background: var(--card); }
.first-failure { border-left: .4rem solid var(--failed); }
.first-failure .check:first-child { border-top: 0; }
.first-failure .holds:has(+ .detail) { display: none; }
.verdict h1 { display: flex; flex-wrap: wrap; align-items: center; gap: .1em .28em; line-height: 1;
  font-size: clamp(2.2rem, 6vw, 3.25rem); font-weight: 850; letter-spacing: -.025em; overflow-wrap: normal; }
.verdict h1 .icon { width: .95em; height: .95em; flex: none; }
.verdict h1 .icon g { --state: currentColor; }
.verdict h1 .count { font-size: .42em; letter-spacing: 0; font-weight: 750; padding: .25em .55em; border-radius: .3em;
  background: #ffc533; color: #1c1500; }
.verdict-authentic h1 .count { background: #1c1500; color: #ffffff; }
.verdict .sentence, .verdict .age { margin-top: .5rem; font-size: clamp(1.0625rem, 2vw, 1.25rem); line-height: 1.4;
  text-wrap: pretty; }
.verdict .left { font-weight: 750; }
.verdict .left a { color: inherit; text-underline-offset: .2em; }
.verdict :focus-visible { outline-color: currentColor; }
.gist { display: flex; flex-wrap: wrap; }
.gist > div { min-width: 0; line-height: 1.45; }
.gist strong { font-size: 1.25rem; font-weight: 850; }
.warnings { flex: 100 1 30rem; background: #ffc533; color: #1c1500; }
.verdict-authentic .warnings { border-top: 2px solid #1c1500; }
.addresses { flex: 1 1 28rem; }
.notices { padding-top: 1rem; }
.notice-item { padding-left: 1.5rem; }`;

const STATEMENTS = `
.statements { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1rem;
  margin-top: 1.5rem; }
.statements section { margin: 0; background: var(--card); border: 2px solid var(--band); border-radius: .75rem;
  overflow: hidden; }
.statements .proven { --band: #0a6b3d; --band-text: #ffffff; }
.statements .not-proven { --band: var(--ink); --band-text: var(--page); }
.statements section > div { padding: .5rem var(--edge) 1.5rem; font-size: 1.0625rem; }
.statements h2 { display: flex; align-items: center; gap: .3em; margin: 0; padding: .45em var(--edge);
  font-size: clamp(2rem, 5vw, 3rem); font-weight: 850; line-height: 1; background: var(--band);
  color: var(--band-text); }
.statements h2 .icon { width: 1em; height: 1em; flex: none; }
.statements h2 .icon g { --state: currentColor; --on: var(--band); }
.statements li { margin-top: .6rem; }
.image-word { margin: .75rem 0 1rem; padding: .75rem 1rem 1rem; background: var(--word-tint); border-radius: .5rem; }
.image-word h3 { color: var(--word); }`;

const CHAIN = `
.state-proven { --state: var(--proven); --tint: var(--proven-tint); }
.state-warned { --state: var(--warning); --tint: var(--warning-tint); }
.state-failed { --state: var(--failed); --tint: var(--failed-tint); }
.state-word { --state: var(--word); --tint: var(--word-tint); }
.state-open, .state-unproven { --state: var(--grey); --tint: var(--grey-tint); }
.solid { fill: var(--state); }
.outline { fill: none; stroke: var(--state); stroke-width: 3; }
.dashed { stroke-dasharray: 5 4; }
.mark, .sign { fill: none; stroke: var(--state); stroke-width: 4; stroke-linecap: round; stroke-linejoin: round; }
.sign { stroke: var(--on); }
.thin { stroke-width: 2.500; }
.warned { --state: var(--warning-line); --on: #1c1500; }
.icon { width: 2.75rem; height: 2.75rem; }
.legend { display: flex; flex-wrap: wrap; gap: .35rem 1.5rem; }
.legend li { display: flex; align-items: center; gap: .5rem; }
.legend .icon { width: 1.5rem; height: 1.5rem; flex: none; }
.legend strong { color: var(--ink); }
.legend + * { margin-top: 1.5rem; }
.overview { display: none; margin: 1rem 0; padding: 1rem .5rem; }
.overview li { flex: 1 1 0; min-width: 0; display: grid; justify-items: center; align-content: start; gap: .2rem;
  font-size: .875rem; line-height: 1.25; text-align: center; overflow-wrap: normal; }
.overview a { color: var(--ink); font-weight: 700; }
.overview .state { color: var(--state); font-weight: 600; }
.chain:is(ol) { margin-top: 1rem; }
.link { position: relative; display: grid; grid-template-columns: 2.75rem minmax(0, 1fr); gap: 0 1rem;
  padding-bottom: 1rem; }
.link::before { content: ""; position: absolute; left: calc(1.375rem - 2px); top: 3rem; bottom: .25rem; width: 0;
  border-left: 4px dotted var(--state); }
.link:is(.state-proven, .state-warned)::before { border-left-style: solid; }
.link:last-child::before { display: none; }
.link-text { padding: .7rem 1.1rem .8rem; border-left: .35rem solid var(--state); min-width: 0; }
.link.state-failed .link-text { background: var(--failed-tint); border-color: var(--failed); }
.link.state-open .link-text { border-left-style: dashed; }
.link :is(h3, h4) { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem; }
.link .state { font-size: .9375rem; font-weight: 700; color: var(--state); background: var(--tint);
  padding: .1rem .6rem; border-radius: 1rem; border: 1px solid currentColor; }
.link.state-failed .reason { font-weight: 650; }
.link .message { margin-top: .5rem; padding: .5rem .75rem; }
.more { display: flex; flex-wrap: wrap; gap: 0 2rem; }
.more > details { min-width: 0; }
.more > details[open] { flex: 1 0 100%; }
.facts > summary, .checks > summary, .statements summary { color: var(--link); font-weight: 600; }
.boot, .piece { margin-top: .5rem; padding: .25rem clamp(.5rem, 1.5vw, 1rem); }
.boot > summary h3 { display: inline; margin-right: 1rem; }
@media (min-width: 60rem) { .overview { display: flex; } }`;

const DETAILS = `
.values { display: grid; gap: .45rem; }
.values > div { display: grid; gap: 0 1rem; grid-template-columns: minmax(0, 1fr); min-width: 0; }
.values dd { min-width: 0; }
@media (min-width: 48rem) { .values > div { grid-template-columns: minmax(0, 11rem) minmax(0, 1fr); } }
.values .values { padding-left: .75rem; border-left: 2px solid var(--line); }
.values .values > div { grid-template-columns: minmax(0, 1fr); }
.items { padding-left: 2rem; }
.facts > .values, .check .values, .piece > details > :is(.values, code) { display: grid; background: var(--well);
  border-radius: .4rem; padding: .6rem .75rem; margin-top: .35rem; }
.link.state-failed .check .values { background: var(--card); }
.lines code { display: block; }
.check { padding: .6rem 0 .7rem; border-top: 1px solid var(--line); }
.check-head { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .75rem; }
.check .status { min-width: 4.5rem; color: var(--soft); }
.link.state-proven .check-pass .status { color: var(--proven); }
.check-fail .status, .check-unknown .status { color: var(--failed); }
.check-warn .status { color: var(--warning); }
.check-fail .detail, .check-unknown .detail { font-weight: 600; }
.advice { margin-top: .5rem; padding-left: .75rem; border-left: .25rem solid var(--failed); }
.advice::before { content: "What to do: "; font-weight: 700; }
.advice .step { display: block; margin-top: .25rem; }
.unverified { margin-bottom: .75rem; }
.piece > details { border-top: 1px solid var(--line); }
.piece .digest { display: block; }
.origin > .values { padding: 1rem 1.25rem; }`;

/** Style of what a page says of itself, and of its form, whose list of files stays in view. */
const PAGE = `
.maker { display: grid; gap: .3rem; margin-bottom: .75rem; padding: .6rem 1rem; font-size: .9375rem; line-height: 1.4;
  border-left: .35rem solid var(--warning-line); }
.maker .title { font-size: 1.25rem; font-weight: 750; }
.this-page { display: grid; gap: .75rem; max-width: 60rem; }
.on-paper { display: none; }
.form { margin-bottom: .75rem; }
.form > summary { font-weight: 700; }
.asking { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; }
.form-part { margin: 0; display: grid; gap: 1rem; align-content: start; }
.form-part > h2 { margin: 0; }
fieldset { margin: 0; padding: 1rem 1.25rem 1.25rem; min-width: 0; display: grid; gap: .75rem; }
legend { padding: 0 .4rem; font-weight: 700; }
label { display: grid; gap: .25rem; font-weight: 600; }
input, textarea, button { font: inherit; color: inherit; max-width: 100%; }
input[type="text"], input[type="file"], textarea { width: 100%; min-height: 2.75rem; padding: .5rem .75rem;
  background: var(--card); border: 1px solid var(--grey); border-radius: .4rem; }
label:has([type="checkbox"], [type="radio"]) { display: flex; align-items: center; gap: .6rem; }
[type="checkbox"], [type="radio"] { width: 1.25rem; height: 1.25rem; flex: none; accent-color: var(--link); }
button { min-height: 2.75rem; padding: .5rem 1.25rem; font-weight: 700; cursor: pointer; border: 2px solid var(--ink);
  border-radius: .4rem; background: var(--ink); color: var(--card); }
button:hover { background: var(--card); color: var(--ink); }
button:disabled { background: var(--well); color: var(--soft); border-color: var(--line); cursor: not-allowed; }
.given button { min-height: 1.75rem; padding: .1rem .6rem; border-width: 1px; background: none; color: inherit;
  font-size: .875rem; font-weight: 600; }
.dropzone { display: grid; place-items: center; gap: .5rem; padding: 1.5rem 1rem; text-align: center;
  border: 3px dashed var(--grey); border-radius: .75rem; background: var(--card); }
.dropzone:hover, .dropzone:focus-within, .dropzone.over { border-color: var(--link); background: var(--well); }
.field { display: grid; gap: .25rem; }
details.more-fields > * + * { margin-top: .75rem; }
.given { display: grid; gap: .5rem; }
.given:empty { display: none; }
.given > li { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1rem; padding: .5rem .75rem; }
.given > li > span { flex: 1 1 10rem; min-width: 0; }
.given > li > .reason { flex: 1 0 100%; font-weight: 600; }
.result { scroll-margin-top: .5rem; }
.result > .message { margin-bottom: .75rem; }
[aria-busy="true"] { opacity: .6; }
@media (min-width: 60rem) {
  .asking { grid-template-columns: minmax(0, 24rem) minmax(0, 1fr); gap: 1rem 2rem; }
  .asking > * { grid-column: 2; }
  .asking > :first-child { grid-area: 1 / 1 / span 4; position: sticky; top: 0; max-height: 100vh; overflow-y: auto; }
}
@media screen and (max-width: 59.99rem) {
  .asking > :first-child { display: contents; }
  .given { position: sticky; top: 0; z-index: 1; max-height: 40vh; overflow-y: auto; background: var(--page); }
}`;

/** Style of the page of addresses. */
const ADDRESSES = `
.classes { margin-top: 1.5rem; display: grid; }
.classes a { color: inherit; font-weight: 700; }
.row { background: var(--card); border: 1px solid var(--line); border-left: .35rem solid var(--state); }
.row + .row { border-top: 0; }
.row > summary { position: relative; display: grid; gap: .1rem 1.25rem; padding: .5rem 1rem .5rem 2rem; }
.row > summary::before { content: "\\25b8"; position: absolute; left: .75rem; top: .5rem; }
.row[open] > summary::before { content: "\\25be"; }
.row .why { font-weight: 600; }
.row > .chain { margin: .25rem 1rem .5rem; }
@media (min-width: 60rem) {
  .row > summary { grid-template-columns: minmax(0, 27rem) minmax(0, 1fr) minmax(0, 18rem); }
  .row .why { grid-column: 1 / -1; }
}`;

/** Style for paper. What is folded up is left out, but for what weakens a verdict: that is printed in any case. */
const PAPER = `
@media print {
  :root { color-scheme: light; --page: #ffffff; --well: #f3f4f6; --edge: .75rem; }
  html { font-size: 8pt; }
  body { line-height: 1.35; }
  main { max-width: none; padding: 0; }
  .form, noscript, .overview, .legend, .chain .asks { display: none; }
  main:has(> .result > *) > .verifier { display: none; }
  .on-paper { display: block; }
  .verdict, .warnings, .link-text, .link .state, svg, mark, .statements h2 { print-color-adjust: exact;
    -webkit-print-color-adjust: exact; }
  .verdict h1 { font-size: 2.4rem; }
  .verdict .sentence, .verdict .age, .gist strong, .maker .title { font-size: 1.15rem; margin-top: .2rem; }
  .verdict-band, .gist > div, .verdict > .values, .first-failure { padding: .4rem var(--edge); }
  h2 { font-size: 1.5rem; margin-bottom: .4rem; }
  .values { gap: .2rem; }
  .values > div { grid-template-columns: 11rem minmax(0, 1fr); }
  section, .statements { margin-top: 1rem; }
  .statements { grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: .75rem; }
  .statements h2 { font-size: 1.6rem; padding: .25em var(--edge); }
  .statements section > div { padding: .2rem var(--edge) .6rem; font-size: 1rem; }
  .statements li { margin-top: .25rem; }
  .link { grid-template-columns: 1.5rem minmax(0, 1fr); gap: 0 .6rem; padding-bottom: .4rem; }
  .link::before { display: none; }
  .link .icon { width: 1.5rem; height: 1.5rem; }
  .link-text { padding: .25rem .75rem; }
  .verdict, .link, .check, .statements section, .warnings li, .row { break-inside: avoid-page; }
  h2, h3, h4 { break-after: avoid-page; }
  .more { display: block; }
  .more > details:not([open], .bad), .piece > details:not([open]) { display: none; }
  .not-proven details::details-content, .bad::details-content, .check-fail details::details-content {
    content-visibility: visible; display: block; height: auto; }
}`;

export const STYLE: string = [COLOURS, BASE, VERDICT, STATEMENTS, CHAIN, DETAILS, PAGE, ADDRESSES, PAPER].join("\n");
