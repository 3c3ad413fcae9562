/** A check for a terminal, to the letter, in colours. */
import { expect, it } from "vitest";
import type { CheckedRelease, ReleaseCheck } from "../../src/release/check.js";
import { renderReleaseCheck } from "../../src/release/text.js";

const HASH = `${"ab".repeat(16)}${"cd".repeat(16)}`;

function release(status: CheckedRelease["status"], more: Partial<CheckedRelease> = {}): CheckedRelease {
  return {
    ...{ name: `${status}/app`, version: null, application: "app", status, place: null },
    ...{ manifestHash: HASH, manifestVersion: "v1", namespace: "lab/app", nonce: 7, threshold: 2, members: 3 },
    ...{ approvedBy: [], faults: [], notes: [] },
    ...more,
  };
}

const change = (severity: string, what: string, place = what): never =>
  ({ what, severity, place, turn: "changed", before: "a", after: "b", means: "m" }) as never;

const place = (index: number) => ({ place: { history: 0, index } });
const members = (...aliases: string[]) => ({ approvedBy: aliases.map((alias) => ({ alias, pubKey: "04" })) });
const about = (code: string, message: string) => ({ code, file: "good/app/manifest", message }) as never;

const CHECK: ReleaseCheck = {
  format: "bootproof-release-check/1",
  good: false,
  demand: "policy",
  counts: { good: 1, bad: 2, "not checked": 1, older: 1, skipped: 1 },
  releases: [
    release("bad", { ...place(2), ...members("a") }),
    release("good", { ...place(1), ...members("a", "b"), notes: [about("same-manifest", "the manifest of x")] }),
    release("older", { ...place(0), ...members("c\u001b") }),
    release("bad", { ...place(3), name: "own/app", faults: [about("threshold", "too few")] }),
    release("bad", { ...place(4), name: "both/app", faults: [about("nonce", "another")] }),
    release("not checked", { manifestHash: null, nonce: null, threshold: null, members: null }),
    release("skipped", { name: "n".repeat(170), manifestHash: null, nonce: null, threshold: null }),
  ],
  histories: [
    {
      application: "app",
      namespace: "lab/app",
      releases: [],
      newestNonce: 7,
      notAnchored: [],
      steps: [
        {
          from: "",
          to: "",
          changes: [
            change("critical", "quorum-key"),
            change("critical", "quorum-key"),
            change("minor", "manifest.nonce"),
            change("notable", "other", "pivot.x"),
            change("notable", "arguments"),
          ],
        },
        { from: "", to: "", changes: [] },
        { from: "", to: "", changes: [] },
        { from: "", to: "", changes: [] },
      ],
      faults: [{ code: "approvers", release: "both/app", index: 4, message: "too few of that set" }],
    },
  ],
  unknowable: ["Nothing is known\u001b of what is missing.", "And that."],
};

/** Letters in place of the codes of colours. */
function shown(text: string): string {
  const names = { "1": "bold", "2": "dim", "31": "red", "32": "green", "1;31": "bold red", "30;43": "yellow", "0": "" };
  return text.replaceAll(/\u001b\[([\d;]+)m/g, (_, code: string) => `<${names[code as "0"]}>`);
}

it("shows each release with its status, its changes and its faults", () => {
  expect(shown(renderReleaseCheck(CHECK, { color: true, width: 120 }))).toBe(`\
<bold>not good: 1 good, 2 bad, 1 not checked, 1 older, 1 skipped<>
Demanded: approvals of the manifest sets that the policy pins.
A release that is older than every minNonce of the policy is listed, and nothing is demanded of it.

<bold>app (lab/app)<>
  <dim>older<>  older/app, nonce 7, abababab…cdcdcdcd, approved by c\\u{1b} (2 of 3 required)
  <green>good<>   good/app, nonce 7, abababab…cdcdcdcd, approved by a, b (2 of 3 required)
    note      good/app/manifest: the manifest of x
    <bold red>critical<>  quorum key
    <yellow>notable<>   pivot.x, application: arguments
    <dim>minor<>     manifest: nonce
  <bold red>bad<>    bad/app, nonce 7, abababab…cdcdcdcd, approved by a (2 of 3 required)
    <bold red>fail<>  not anchored: too few approvers in the set of a good release before it, or in a demanded set
  <bold red>bad<>    own/app, nonce 7, abababab…cdcdcdcd, approved by nobody (2 of 3 required)
    <bold red>fail<>  good/app/manifest: too few
  <bold red>bad<>    both/app, nonce 7, abababab…cdcdcdcd, approved by nobody (2 of 3 required)
    <bold red>fail<>  good/app/manifest: another
    <bold red>fail<>  too few of that set

<bold red>not checked<>  not checked/app
<dim>skipped<>      ${"n".repeat(82)}
             ${"n".repeat(78)}…

Nothing is known\\u{1b} of what is missing.
And that.
`);
});

it("names the demand, and leaves out what is not there", () => {
  const empty = { ...CHECK, counts: { good: 0, bad: 0, "not checked": 0, older: 0, skipped: 0 } };
  const of = (demand: ReleaseCheck["demand"]) =>
    renderReleaseCheck({ ...empty, good: true, demand, releases: [], histories: [], unknowable: ["x"] });
  expect(of("none")).toBe("good: nothing was checked\nDemanded: no manifest set.\n\nx\n");
  expect(of("manifest set")).toBe(
    "good: nothing was checked\nDemanded: approvals of the manifest set that was given.\n\nx\n",
  );
});

it("shows nothing but a whole check", () => {
  for (const value of [null, {}, { ...CHECK, releases: null }, { ...CHECK, histories: [{}] }])
    expect(() => renderReleaseCheck(value as never)).toThrow(
      new TypeError("check: expected the awaited result of checkReleases"),
    );
});
