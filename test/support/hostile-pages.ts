/** Pages of up to 32 MiB, made from a good one to cost its reader as much as possible. */
import { bundleIn, withBlock } from "../page/data-of.js";

const MAX = 32 * 1024 * 1024;
/** Of a bundle. */
const MAX_BLOCK = 8 * 1024 * 1024;
/** A placeholder in JSON for text that replaces it. */
const HOLE = "@@HOLE@@";

export interface HostilePage {
  readonly name: string;
  readonly html: () => string;
}

/** The shapes, from a page of a boot proof and an app proof. */
export function hostilePages(good: string): HostilePage[] {
  const bundle = bundleIn(good);
  const [boot] = bundle["bootProofs"] as object[];
  const [app] = bundle["appProofs"] as object[];
  const room = MAX_BLOCK - JSON.stringify(bundle).length - 4096;
  const large = MAX - Buffer.byteLength(good) - 4096;
  const many = (unit: string | ((index: number) => string), size = room): string => {
    const items: string[] = [];
    for (let left = size; left > 0; left -= items.at(-1)!.length + 1)
      items.push(typeof unit === "string" ? unit : unit(items.length));
    return items.slice(0, -1).join();
  };
  const page = (changed: object, hole = ""): string => {
    const text = JSON.stringify({ ...bundle, ...changed }).replaceAll("<", "\\u003c");
    return withBlock(
      good,
      text.replace(`"${HOLE}"`, () => hole),
    );
  };
  const report = (member: string, text: () => string) => () =>
    page({ report: { ...(bundle["report"] as object), [member]: HOLE } }, text());
  const pieces = (bootProofs: unknown, appProofs: unknown = []) => ({ bootProofs, appProofs });
  const options = (more: object, text: () => string) => () =>
    page({ options: { ...(bundle["options"] as object), ...more } }, text());
  const empty = (count: number): object[] => Array<object>(count).fill({});
  const shapes: Readonly<Record<string, () => string>> = {
    "a report of empty checks": report("checks", () => `[${many("{}")}]`),
    "a report of 100,000 checks": report(
      "checks",
      () => `[${many((index) => JSON.stringify({ id: "x", detail: `x${index}` }), 5_000_000)}]`,
    ),
    "a report of members": report("policy", () => `{${many((index) => `"${index.toString(36)}":0`)}}`),
    "a deep report": report("policy", () => "[".repeat(room / 2) + "]".repeat(room / 2)),
    "a report of one text": report("policy", () => `"${"x".repeat(room)}"`),
    "a report of what is not printable": report("policy", () => `"${"\u0085".repeat(room / 2)}"`),
    "a report of tags": report("policy", () => `"${"\\u003c".repeat(room / 6)}"`),
    "no JSON": () => withBlock(good, "[".repeat(room)),
    "a block of 32 MiB": () => withBlock(good, "[".repeat(large)),
    "pieces without end": () => page(pieces(HOLE), `[${many("{}")}]`),
    "256 genuine boot proofs": () => page(pieces(Array(256).fill(boot))),
    "more genuine boot proofs than there may be": () => page(pieces(Array(400).fill(boot))),
    "2,048 genuine app proofs": () => page(pieces([boot], Array(2048).fill(app))),
    "256 genuine boot proofs and 2,048 app proofs": () => page(pieces(Array(256).fill(boot), Array(2048).fill(app))),
    "a value of 8 MiB": () => page(pieces([HOLE]), `[${many("{}")}]`),
    "a text of 8 MiB": () => page(pieces([HOLE]), `"${"[".repeat(room)}"`),
    "pieces of one long text": () => page(pieces(Array(200).fill({ x: "y".repeat(30_000) }))),
    "a piece of 247,000 values": () => page(pieces([{ x: empty(240_000) }])),
    "an activity of 200,000 values": () => {
      const appProofs = Array(2000).fill({ x: empty(100) });
      return page({ ...pieces([boot]), activity: { id: "x", appProofs } });
    },
    "addresses without end": options(
      { expected: { organizationId: "o", addresses: HOLE } },
      () => `[${many('"a"', room / 8)}]`,
    ),
    "keys without end": options({ requestedKeys: HOLE }, () => `[${many('"00"')}]`),
    "a policy of 8 MiB": () => page({ policy: HOLE }, `{"policy":"${"A".repeat(room)}"}`),
    "a report of 200,000 checks beside 256 boot proofs": () =>
      page({ ...pieces(empty(256), empty(2048)), report: { checks: empty(200_000) } }),
    "a report of 7 MB beside 256 boot proofs": () => page({ ...pieces(empty(256)), report: { x: "y".repeat(7e6) } }),
    "blocks that begin without end": () =>
      withBlock(good, "") + '<script type="text/plain" id="bootproof-evidence">'.repeat(600_000),
    "tags without end": () => "<!doctype html>" + "<script".repeat(4_700_000),
    "the id without end": () => "<!doctype html><script" + "bootproof-evidence".repeat(1_800_000),
  };
  return Object.entries(shapes).map(([name, html]) => ({ name, html }));
}
