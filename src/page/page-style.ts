/** Style of the parts that only pages have: the part about the page itself, and the form of the verifying page. */
export const PAGE_STYLE = `
.this-page { display: grid; gap: .75rem; max-width: 60rem; }
#another-result { margin-bottom: 1rem; font-weight: 700; }
.command { margin: 0; padding: .6rem .75rem; background: var(--well); border-radius: .4rem; overflow-x: auto; }
.command code { white-space: pre; overflow-wrap: normal; }
.asked { display: grid; gap: 1rem; }
.more > summary { font-weight: 700; }
.more > * + * { margin-top: .75rem; }
.verify { margin: 1.25rem 0; }
.field { display: grid; gap: .25rem; }
.field .hint { margin: 0; }
.expected-values { display: grid; gap: .75rem; }
.expected-values:empty { display: none; }
.given { list-style: none; padding: 0; margin-top: .75rem; display: grid; gap: .5rem; }
.given > li { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1rem; padding: .5rem .75rem;
  background: var(--card); border: 1px solid var(--line); border-radius: .4rem; }
.given .about { color: var(--soft); }
.given > li > span { flex: 1 1 16rem; min-width: 0; }
.given > li.unused { border-color: var(--warning-line); background: var(--warning-tint); }
#verify-answer > * + * { margin-top: .5rem; }
[aria-busy="true"] { opacity: .6; }
@media print {
  .this-page .command { white-space: pre-wrap; }
  .form-part, .verify { display: none; }
  main:has(> .result > *) > :not(.result, .this-page) { display: none; }
  .result { margin-top: 0; }
}`;
