/** The tables of docs/comparison.md, from results.json. */

function tablesOf({ date, node, peers, withoutHeader: header }) {
  const shown = (value) => (value === null ? "–" : String(value));
  const rows = peers.map(({ name, version, corpus, cost, kilobytes: size }) => {
    const counts = ["agreed", "falseAccepts", "falseRejects", "unsupported"].map((key) => shown(corpus?.[key] ?? null));
    return `| ${name} | ${version ?? "this"} | ${counts.join(" | ")} | ${shown(cost)} | ${size} |`;
  });
  const ids = (list) => (list.length === 0 ? "none" : list.map((id) => `\`${id}\``).join(", "));
  const checks = peers.map(({ name, corpus, said }) =>
    corpus === null
      ? `| ${name} | nothing of a boot proof: given a Nitro document it says “${said}” | – |`
      : `| ${name} | ${ids(corpus.catches)} | ${ids(corpus.misses)} |`,
  );
  return [
    `Measured on ${date}, Node ${node}, in one run.`,
    "",
    "| verifier | version | agreed | accepted, and refused by the corpus | refused, and accepted by the corpus " +
      "| not asked | cost in F0 | kB in a browser |",
    "|---|---|---:|---:|---:|---:|---:|---:|",
    ...rows,
    "",
    "| verifier | refuses every case that fails | accepts some case that fails |",
    "|---|---|---|",
    ...checks,
    "",
    `A fetch of \`createAttestationVerifyingFetch\` (tee-verifier) whose response has no attestation: ${header}.`,
  ].join("\n");
}

const MARKS = ["<!-- made by test/peers/compare.mjs -->", "<!-- end -->"];

export function documentWith(text, results) {
  const [before, rest] = text.split(MARKS[0]);
  return `${before}${MARKS[0]}\n\n${tablesOf(results)}\n\n${MARKS[1]}${rest.split(MARKS[1])[1]}`;
}
