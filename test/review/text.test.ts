/** The whole text of reviews: of one that has everything, and of one that has nothing. */
import { expect, it } from "vitest";
import type { ManifestReview } from "../../src/review/review.js";
import { renderReview } from "../../src/review/text.js";

const NOTHING: ManifestReview = {
  format: "bootproof-review/1",
  unknowable: ["What no review knows."],
  ok: true,
  manifestHash: "ab".repeat(32),
  manifestVersion: "v2",
  namespace: "lab/signer",
  nonce: 7,
  deployment: "lab",
  deployments: [],
  measured: [],
  members: [],
  changes: null,
  approvers: { threshold: 2, members: [] },
  approvals: [],
  faults: [],
  notes: [],
};

const fault = { code: "set", about: "x", deployment: null, expected: null, actual: null, advice: "Do this." } as const;
const member = { name: "env", place: "pivot.env", before: null, after: null } as const;

const ALL: ManifestReview = {
  ...NOTHING,
  ok: false,
  deployment: null,
  measured: ["pcr0", "pivotHash"],
  deployments: [
    {
      name: "one",
      holds: false,
      notCompared: ["commitment", "pcrs.4"],
      pins: [
        { pin: "pcrs", holds: true, detail: "", expected: null, actual: null },
        { pin: "namespace", holds: true, detail: "", expected: null, actual: null },
        { pin: "pivotHash", holds: false, detail: "", expected: "a", actual: "b" },
        { pin: "minNonce", holds: false, detail: "", expected: "a", actual: "b" },
      ],
    },
    {
      name: "n".repeat(170),
      holds: true,
      notCompared: [],
      pins: [{ pin: "shareSet", holds: true, detail: "", expected: null, actual: null }],
    },
  ],
  faults: [
    { ...fault, message: "a set" },
    { ...fault, code: "pin", message: "both sides", expected: "one\ntwo", actual: "one\nthree" },
    { ...fault, code: "zero-pcr", message: "one side", actual: `${"z".repeat(1010)}\nlast` },
    { ...fault, code: "image-not-compared", message: "the other side", expected: "two" },
    { ...fault, code: "open-member", message: "open", expected: "hidden", actual: "hidden" },
  ],
  members: [
    { ...member, status: "open", before: '{"A":"1"}' },
    { ...member, name: "dns", place: "dns", status: "accepted", after: "[]" },
    { ...member, name: "restart", place: "pivot.restart", status: "unchanged", before: "x", after: "y".repeat(210) },
  ],
  changes: [
    {
      what: "environment",
      severity: "notable",
      place: "pivot.env.A",
      also: [],
      entry: "A",
      before: "A=1",
      after: null,
      means: "It means this.",
    },
  ],
  approvers: {
    threshold: 1,
    members: [
      { alias: "alice", pubKey: "01", approved: true },
      { alias: "bob", pubKey: "02", approved: false },
      { alias: "carol", pubKey: "03", approved: true },
      { alias: "dave", pubKey: "04", approved: false },
    ],
  },
  approvals: [
    { set: "manifest", alias: "alice", pubKey: "01", status: "valid" },
    { set: "share", alias: "mallory", pubKey: "05", status: "stranger" },
  ],
  notes: ["The first note.", "The second note."],
};

it("writes this of a review that has nothing", () => {
  expect(renderReview(NOTHING)).toMatchInlineSnapshot(`
    "What no review knows.

    EVERYTHING HOLDS: everything that was given was compared, with the deployment
    "lab".
    manifest  "lab/signer", nonce 7, v2
    build     no image and no binary was given
    hash      an approval signs it:
      abababababababababababababababababababababababababababababababab

    Approvals
      required     2 of 0 members of the manifest's own set
      approved by  nobody yet
      may approve  nobody else
    "
  `);
});

it("writes this of a review that has everything", () => {
  expect(renderReview(ALL, { width: 100 })).toMatchInlineSnapshot(`
    "What no review knows.

    DO NOT APPROVE: 5 faults.
    manifest  "lab/signer", nonce 7, v2
    build     it pins exactly the binary that you built
              it names exactly the image that you built: pcr0
    hash      an approval signs it:
      abababababababababababababababababababababababababababababababab

    FAIL  a set (set)
      to do  Do this.

    FAIL  both sides (pin)
      expected  one
                two
      actual    one
                three
      to do     Do this.

    FAIL  one side (zero-pcr)
      actual  zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
              zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
              zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
              zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
              zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
              zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
              zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
              zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
              zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
              zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
              zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
              zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz…
              last
      to do   Do this.

    FAIL  the other side (image-not-compared)
      expected  two
      to do     Do this.

    FAIL  open (open-member)
      to do  Do this.

    Pins
      "one"
        holds      pcrs, namespace
        differs    pivotHash, minNonce
        not shown  commitment, pcrs.4: only a boot proof shows it
      "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn
      nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"…
        holds  shareSet

    Members that no pin holds
      open       pivot.env (--accept env)
        before  {"A":"1"}
        after   (not there)
      accepted   dns
        before  (not there)
        after   []
      unchanged  pivot.restart yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy
                 yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy
                 yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…

    Changes since the previous manifest
      NOTABLE  application: environment variable A
        means   It means this.
        before  A=1
        after   (not there)
        at      pivot.env.A

    Approvals
      required     1 of 4 members of the manifest's own set
      approved by  "alice", "carol"
      may approve  "bob", "dave"
      stranger     "mallory", for the share set

    Notes
      - The first note.
      - The second note.
    "
  `);
});

it("writes the value alone where there is no previous manifest", () => {
  const members = [
    { ...member, status: "open", after: "1" },
    { ...member, status: "accepted", after: "2" },
  ] as const;
  const text = renderReview({ ...NOTHING, ok: false, faults: [{ ...fault, message: "one" }], members, changes: null });
  expect(text).toContain("\nDO NOT APPROVE: 1 fault.\n");
  expect(text).toContain(
    "\nMembers that no pin holds\n  open      pivot.env (--accept env) 1\n  accepted  pivot.env 2\n\nApprovals\n",
  );
});

it("paints the verdict and each fault", () => {
  expect(renderReview(NOTHING, { color: true })).toContain("\u001b[30;42mEVERYTHING HOLDS\u001b[0m: ");
  const text = renderReview(ALL, { color: true });
  expect(text).toContain("\u001b[1;31mDO NOT APPROVE\u001b[0m: 5 faults.\n");
  expect(text).toContain("\u001b[1;31mFAIL\u001b[0m  a set (set)\n");
});

it("takes no other object", () => {
  expect(() => renderReview({ ok: true } as ManifestReview)).toThrow(/review: expected the awaited result/);
});
