/** Style of the parts that only pages have: the part about the page itself, and the form of the verifying page. */
export const PAGE_STYLE = `
.stated { display: grid; gap: .4rem; margin-bottom: .75rem; padding: .6rem 1rem; background: var(--card);
  border: 1px solid var(--line); border-left: .35rem solid var(--warning-line); border-radius: .5rem;
  font-size: .9375rem; line-height: 1.4; }
.stated button, .given button { min-height: 1.75rem; padding: .1rem .6rem; border-width: 1px; background: none;
  color: inherit; font-size: .875rem; font-weight: 600; }
.this-page { display: grid; gap: .75rem; max-width: 60rem; }
#another-result { margin-bottom: 1rem; font-weight: 700; }
.asking { display: grid; grid-template-columns: minmax(0, 1fr); }
/* The list of files stays in view beside the form, or above it where the window is narrow. */
@media (min-width: 60rem) {
  .asking { grid-template-columns: minmax(0, 24rem) minmax(0, 1fr); gap: 0 2rem; }
  .asking > * { grid-column: 2; }
  .asking > :first-child { grid-area: 1 / 1 / span 4; position: sticky; top: 0; align-self: start; max-height: 100vh;
    overflow-y: auto; }
}
@media screen and (max-width: 59.99rem) {
  .asking { margin-top: 1.5rem; }
  .asking > :first-child { display: contents; }
  .given { position: sticky; top: 0; z-index: 1; max-height: 40vh; overflow-y: auto; background: var(--page); }
}
.asked { display: grid; gap: 1rem; }
details.more > summary { font-weight: 700; }
details.more > * + * { margin-top: .75rem; }
.verify { margin: 1.25rem 0; }
.field { display: grid; gap: .25rem; }
.field .hint { margin: 0; }
.expected-values { display: grid; gap: .75rem; }
.expected-values:empty { display: none; }
.given { list-style: none; padding: 0; margin-top: .75rem; display: grid; gap: .5rem; }
.given > li { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1rem; padding: .5rem .75rem;
  background: var(--card); border: 1px solid var(--line); border-radius: .4rem; }
.given .about { color: var(--soft); }
.given > li > span { flex: 1 1 10rem; min-width: 0; }
.given > li > .reason { flex: 1 0 100%; font-weight: 600; }
.given > li.wrong { border-color: var(--warning-line); background: var(--warning-tint); }
#verify-answer > * + * { margin-top: .5rem; }
[aria-busy="true"] { opacity: .6; }
@media print {
  .form-part, .verify, .stated p:has(button) { display: none; }
  main:has(> .result > *) > :not(.result, .this-page) { display: none; }
  .result { margin-top: 0; }
}`;
