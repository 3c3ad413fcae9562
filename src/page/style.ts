/** Style of pages for light and dark screens, paper, and narrow and wide windows. It loads nothing. */

/** Colours by meaning. Text has a contrast of at least 4.5 in both schemes. */
const COLOURS = `
:root {
  color-scheme: light dark;
  --page: #f5f6f8; --card: #ffffff; --ink: #14181f; --soft: #4a5361; --line: #ccd2db; --link: #0b4fb3; --well: #eef0f4;
  --proven: #0a6b3d; --failed: #b0121f; --failed-tint: #fdebec; --grey: #5a6473;
  --warning: #7a4a00; --warning-tint: #fff3d4; --warning-line: #d99100; --mark: #ffd9dc;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono", monospace;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
  --edge: clamp(1rem, 3vw, 2rem);
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #0f1318; --card: #181d25; --ink: #edf0f5; --soft: #aeb7c5; --line: #39424f; --link: #8ab8ff;
    --well: #212833;
    --proven: #57d08e; --failed: #ff8a8f; --failed-tint: #3a1519; --grey: #a4aebd;
    --warning: #ffc857; --warning-tint: #33270b; --warning-line: #d99100; --mark: #6d2027;
  }
}`;

/** Base style. Right-to-left letters of evidence are shown in the order in which they were signed. */
const BASE = `
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.5 var(--sans); overflow-wrap: anywhere; }
main { display: block; max-width: 76rem; margin: 0 auto; padding: 1rem clamp(.75rem, 3vw, 2rem) 4rem; }
h1, h2, p, ul { margin: 0; }
h2 { font-size: clamp(1.5rem, 3.2vw, 2rem); font-weight: 700; line-height: 1.2; margin: 0 0 .75rem; }
ul { padding-left: 1.25rem; }
a { color: var(--link); }
code { font-family: var(--mono); font-size: .875em; overflow-wrap: anywhere; }
h1, h2, p, li, a, summary, strong, span, code { unicode-bidi: isolate-override; }
code.hex { word-break: break-all; }
.whole { display: inline-block; max-width: 100%; word-break: break-all; }
section, .statements, .result > details { margin-top: 1.5rem; }
.verdict { margin-top: .5rem; }
summary { cursor: pointer; padding: .35rem 0; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 2px; }
mark { background: var(--mark); color: inherit; font-weight: 700; }
.maker, fieldset, .given > li { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
.hint, .about { color: var(--soft); font-weight: 400; font-size: .9375rem; }
.message { padding: .75rem 1rem; border-left: .35rem solid var(--grey); background: var(--card); }
.message:empty { display: none; }
.message.bad { border-left-color: var(--failed); background: var(--failed-tint); }
.message.warn, .given > li.wrong { border-color: var(--warning-line); background: var(--warning-tint); }`;

/** Style of the parts of a document. The colours of the verdict and of warnings are the same in both schemes. */
const DOCUMENT = `
.verdict { padding: .75rem var(--edge); border-radius: .75rem; background: #3d4653; color: #ffffff; }
.verdict.tone-good { background: #0a6b3d; }
.verdict.tone-warning { background: #ffc533; color: #1c1500; }
.verdict.tone-bad { background: #a90f1c; }
.verdict h1 { display: flex; flex-wrap: wrap; align-items: center; gap: .1em .28em; line-height: 1;
  font-size: clamp(2.2rem, 6vw, 3.25rem); font-weight: 850; letter-spacing: -.025em; overflow-wrap: normal; }
.verdict .count { font-size: .42em; letter-spacing: 0; font-weight: 750; padding: .25em .55em; border-radius: .3em;
  background: #ffc533; color: #1c1500; }
.verdict.tone-warning .count { background: #1c1500; color: #ffffff; }
.verdict p { margin-top: .5rem; font-size: clamp(1.0625rem, 2vw, 1.25rem); line-height: 1.4; text-wrap: pretty; }
.verdict ~ p, .left { margin-top: .35rem; }
.left, p.tone-strong { font-weight: 700; }
.warnings { margin: .75rem 0; padding: .75rem var(--edge); border-radius: .5rem; background: #ffc533; color: #1c1500; }
p.tone-warning { padding: .75rem 1rem; border-left: .35rem solid var(--warning-line);
  background: var(--warning-tint); }
section > div > * + p { margin-top: .5rem; }
.statements { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1rem;
  margin-top: 1.5rem; }
.statements section { margin: 0 0 1rem; background: var(--card); border: 2px solid var(--band); border-radius: .75rem;
  overflow: hidden; --band: var(--ink); --band-text: var(--page); }
.statements .proven { --band: #0a6b3d; --band-text: #ffffff; }
.statements section > div { padding: .5rem var(--edge) 1rem; }
.statements h2 { margin: 0; font-size: 1.5rem; padding: .35em var(--edge); background: var(--band);
  color: var(--band-text); }
.statements li { margin-top: .6rem; }`;

/** Style of rows. A label stands beside its text where there is room. */
const ROWS = `
.rows { list-style: none; padding: 0; }
.rows > li { --tone: var(--ink); padding: .15rem 0; }
.rows > li, .rows summary { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .75rem; }
.rows summary { position: relative; padding-left: 1.25rem; }
.rows summary::before { content: "\\25b8"; position: absolute; left: 0; color: var(--link); }
.rows [open] > summary::before { content: "\\25be"; }
.rows > .tone-good { --tone: var(--proven); }
.rows > .tone-warning { --tone: var(--warning); }
.rows > .tone-bad { --tone: var(--failed); }
.rows > .tone-quiet { --tone: var(--soft); }
.rows strong { min-width: 5.5rem; color: var(--tone); }
.rows .text { flex: 1 1 14rem; min-width: 0; }
.rows :is(ul, details) { flex: 1 0 100%; min-width: 0; }
.rows ul { margin: .15rem 0 .35rem; padding-left: .75rem; border-left: .2rem solid var(--tone, var(--line)); }
.rows .tone-good > .rows, .rows details > .rows { border-color: var(--line); }
section > div > .rows > li { background: var(--card); border: 1px solid var(--line); padding: .4rem .75rem; }
section > .rows { margin-top: .75rem; }
section > .rows > li { background: var(--card); border-left: .35rem solid var(--tone); padding: .4rem .75rem; }`;

/** Style of what a page says of itself, and of its form, whose list of files stays in view. */
const PAGE = `
.maker { display: grid; gap: .3rem; margin-bottom: .75rem; padding: .6rem 1rem; font-size: .9375rem; line-height: 1.4;
  border-left: .35rem solid var(--warning-line); }
.maker .title { font-size: 1.25rem; font-weight: 750; }
.this-page { max-width: 60rem; }
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

/** Style for paper. What is folded up is left out, but for what weakens a verdict: that is printed in any case. */
const PAPER = `
@media print {
  :root { color-scheme: light; --page: #ffffff; --well: #f3f4f6; --edge: .75rem; }
  html { font-size: 8pt; }
  body { line-height: 1.35; }
  main { max-width: none; padding: 0; }
  .form, noscript, .left, details:not([open], .kept) { display: none; }
  main:has(> .result > *) > .verifier { display: none; }
  .verdict, .warnings, mark, .statements h2 { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .verdict h1 { font-size: 2.4rem; }
  h2 { font-size: 1.5rem; margin-bottom: .4rem; }
  main > section, .statements { margin-top: 1rem; }
  .statements { grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: .75rem; }
  .statements li { margin-top: .25rem; }
  .verdict, .rows > li:not(:has(> details)), .statements section, .warnings li { break-inside: avoid-page; }
  h2 { break-after: avoid-page; }
  .statements details, .kept { display: block; }
  .kept::details-content, .statements details::details-content {
    content-visibility: visible; display: block; height: auto; }
}`;

export const STYLE: string = [COLOURS, BASE, DOCUMENT, ROWS, PAGE, PAPER].join("\n");
