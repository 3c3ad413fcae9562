/** Pages of up to 32 MiB, made from a good one to cost the checker as much as possible. */
import type { PageData } from "../../src/page/data.js";

const MAX = 32 * 1024 * 1024;
const DATA = /(?<=id="bootproof-data">).*?(?=<\/script>)/s;
/** A placeholder in JSON for text that replaces it. */
const HOLE = "@@HOLE@@";

export interface HostilePage {
  readonly name: string;
  readonly html: () => string;
}

/** The shapes, from a page of a boot proof and an app proof. */
export function hostilePages(good: string): HostilePage[] {
  const data = JSON.parse(DATA.exec(good)![0]) as PageData;
  const evidence = data.evidence as { bootProofs: object[]; appProofs: object[] };
  const [boot, app] = [evidence.bootProofs[0]!, evidence.appProofs[0]!];
  const room = MAX - Buffer.byteLength(good) - 4096;
  const many = (unit: string | ((index: number) => string), size = room): string => {
    const items: string[] = [];
    for (let left = size; left > 0; left -= items.at(-1)!.length + 1)
      items.push(typeof unit === "string" ? unit : unit(items.length));
    return items.slice(0, -1).join();
  };
  const page = (changed: object, hole = ""): string => {
    const text = JSON.stringify({ ...data, ...changed }).replaceAll("<", "\\u003c");
    return good.replace(DATA, () => text.replace(`"${HOLE}"`, () => hole));
  };
  const report = (member: string, text: () => string) => () =>
    page({ report: { ...data.report, [member]: HOLE } }, text());
  const pieces = (bootProofs: unknown, appProofs: unknown = []) => ({ evidence: { bootProofs, appProofs } });
  const inline = (value: unknown): object => ({ name: null, value });
  const oneFile = (file: string, value: unknown, boots = 200, apps = 500) => {
    const piece = { name: null, file: 0, value };
    return page({
      ...pieces(Array<object>(boots).fill(piece), Array<object>(apps).fill(piece)),
      files: [Buffer.from(file).toString("base64")],
    });
  };
  const bundle = (members: { bootProofs: unknown; appProofs?: unknown; report: unknown }) => {
    const { now } = data.options;
    const file = { bundle: "bootproof-bundle/1", appProofs: [], now, policy: null, ...members };
    const files = [Buffer.from(JSON.stringify(file)).toString("base64")];
    return page({ evidence: { bundle: { name: "b", file: 0 } }, files, options: { now, policy: null } });
  };
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
    "a report of tags": report("policy", () => `"${"<".repeat(room)}"`),
    "no JSON": () => good.replace(DATA, () => "[".repeat(room)),
    "empty files": () => page({ files: HOLE }, `[${many('""')}]`),
    "files that are alike": () => {
      const names = Array.from({ length: 256 }, (_, file) => ({ name: null, file, value: "text" }));
      const fileOf = (index: number): string => `${"A".repeat(90_000)}${String(index).padStart(4, "0")}`;
      return page({ ...pieces(names), files: names.map((_, index) => Buffer.from(fileOf(index)).toString("base64")) });
    },
    "many pieces of one long text": () => oneFile(`{"bootProof":{"x":"${"y".repeat(20e6)}"}}`, { at: ["bootProof"] }),
    "many pieces of one file's bytes": () => oneFile(`{"bootProof":{"x":"${"y".repeat(20e6)}"}}`, "bytes"),
    "many pieces of one small file": () => oneFile("y".repeat(11_000), "bytes", 256, 500),
    "many pieces of many values": () => oneFile(`{"x":[${many("{}", 700_000)}]}`, { at: [] }),
    "pieces without end": () => page(pieces(HOLE), `[${many('{"value":{"json":{}},"name":null}')}]`),
    "256 genuine boot proofs": () => page(pieces(Array(256).fill(boot))),
    "more genuine boot proofs than there may be": () => page(pieces(Array(400).fill(boot))),
    "2,048 genuine app proofs": () => page(pieces([boot], Array(2048).fill(app))),
    "256 genuine boot proofs and 2,048 app proofs": () => page(pieces(Array(256).fill(boot), Array(2048).fill(app))),
    "a value of 32 MiB": () => page(pieces([inline({ json: HOLE })]), `[${many("{}")}]`),
    "a text of 32 MiB": () => page(pieces([inline({ text: HOLE })]), `"${"[".repeat(room)}"`),
    "a text of 8 MiB": () => page(pieces([inline({ text: "[".repeat(8_000_000) })])),
    "a piece of 247,000 values": () => page(pieces([inline({ json: { x: empty(247_000) } })])),
    "an activity of 247,000 values": () => {
      const appProofs = Array(2000).fill({ x: empty(100) });
      return page({ evidence: { ...pieces([boot]).evidence, activity: inline({ json: { id: "x", appProofs } }) } });
    },
    "addresses without end": () =>
      page(
        { options: { ...data.options, expected: { organizationId: "o", addresses: HOLE } } },
        `[${many('"a"', room / 8)}]`,
      ),
    "a policy of 32 MiB": () =>
      page({ options: { ...data.options, policy: { bytes: HOLE } } }, `"${"A".repeat(room - (room % 4))}"`),
    "a bundle whose report has 200,000 checks": () =>
      bundle({ bootProofs: empty(256), appProofs: empty(2048), report: { checks: empty(200_000) } }),
    "a bundle of 20 MB": () => bundle({ bootProofs: empty(256), report: { x: "y".repeat(20e6) } }),
    "a bundle of 7 MB": () => bundle({ bootProofs: empty(256), report: { x: "y".repeat(7e6) } }),
    "data that begins without end": () =>
      good.replace(DATA, "") + '<script type="application/json" id="bootproof-data">'.repeat(500_000),
    "generators without end": () => '<meta name="generator" content="bootproof '.repeat(700_000),
  };
  return Object.entries(shapes).map(([name, html]) => ({ name, html }));
}
