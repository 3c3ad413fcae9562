/** The entrances that need a build, a server or a browser. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { packEvidence } from "../../src/bundle/pack.js";
import { runAny } from "../../src/cli/commands.js";
import type { OptionName } from "../../src/cli/option-table.js";
import { IDS } from "../../src/page/this-page.js";
import { bootproof, fileOf } from "../cli/support.js";
import { COMMAND, runAction } from "../support/action.js";
import { launchChromium } from "../support/chromium.js";
import { type RedisServer, redisServer } from "../support/redis.js";
import { AROUND, type Judge, type Side, type World, builds, bundleOf, organization, pieces } from "./cells.js";
import type { EntranceOf, Outcome } from "./doors.js";
import { FORM } from "./sources.js";
import { NOW, REQUEST } from "./worlds.js";

const run = (...words: readonly string[]) => bootproof(words, AROUND);

/** An entry that is a bundle without a judgement, or a bare document. */
function entryOf(world: World, side: Side): Uint8Array {
  if (world.isBare) return world[side].forged.document;
  const { bootProof, activity, hasAnswer } = world[side];
  return Buffer.from(JSON.stringify(packEvidence({ bootProofs: [bootProof], ...(hasAnswer && { activity }) })));
}

interface Line {
  readonly verdict: string;
  readonly failed: readonly string[];
  readonly refusedFor?: readonly string[];
}

/** Both sides in one audit where both are asked alike: a thread starts once, and each entry has its own line. */
function inOneRun(audit: (world: World, sides: readonly Side[]) => Promise<readonly Outcome[]>): Judge {
  const known = new Map<World, Promise<readonly Outcome[]>>();
  return async (world, side) => {
    const isAlike = world.fact.class !== "build" && world.fact.isDemandAlone !== true;
    if (!isAlike) return (await audit(world, [side]))[0]!;
    const outcomes = known.get(world) ?? audit(world, ["honest", "other"]);
    known.set(world, outcomes);
    return (await outcomes)[side === "honest" ? 0 : 1]!;
  };
}

async function audited(world: World, sides: readonly Side[], more: readonly string[]): Promise<readonly Outcome[]> {
  const folder = mkdtempSync(join(tmpdir(), "bootproof-matrix-audit-"));
  const [entries, inputs] = [sides.map((side) => entryOf(world, side)), join(folder, "entries")];
  mkdirSync(inputs);
  for (const [at, entry] of entries.entries()) writeFileSync(join(inputs, `${at}.json`), entry);
  const digests = entries.map((entry) => createHash("sha256").update(entry).digest("hex"));
  const expected = { organizationId: REQUEST.organizationId, ...world.fact.expected };
  const lines = digests.map((digest) => `${JSON.stringify({ entry: digest, expected })}\n`);
  const asked = world.fact.class === "request" ? ["--expected", fileOf(lines.join(""))] : [];
  const words = [...world.words("audit", sides[0]!), ...builds(world[sides[0]!]), ...asked, ...more];
  const { code, stdout, stderr } = await run("audit", inputs, "--policy", world.policyPath, ...words);
  rmSync(folder, { recursive: true });
  if (code > 1) return sides.map(() => ({ accepted: false, why: [`exit ${code}`, stderr] }));
  const outcomes = sides.map((_, at) => outcomeIn(JSON.parse(stdout.split("\n")[1 + at]!) as Line));
  if (outcomes.every(({ accepted }) => accepted) !== (code === 0)) throw new Error(`exit ${code}: ${stdout}`);
  return outcomes;
}

function outcomeIn({ verdict, failed, refusedFor }: Line): Outcome {
  const unread = verdict === "malformed" ? [verdict] : [];
  const why = [...failed, ...unread, ...(refusedFor === undefined ? [] : ["warning"])];
  return { accepted: verdict === "verified" && why.length === 0, why };
}

let redis: Promise<RedisServer> | undefined;
let queues = 0;

/** With a worker of its own, ended with the audit. */
const queued = inOneRun(async (world, sides) => {
  redis ??= redisServer();
  const queue = ["--queue", (await redis).url, "--queue-prefix", `matrix-${queues++}`];
  const known = process.listeners("SIGINT");
  const io = { stdin: (async function* () {})(), stdout: { write: () => {} }, stderr: { write: () => {} } };
  const words = [
    "audit",
    "worker",
    ...queue,
    "--policy",
    world.policyPath,
    ...world.words("audit worker", sides[0]!),
    "--workers",
    "1",
  ];
  const working = runAny(words, { ...io, env: {}, now: () => NOW });
  try {
    return await audited(world, sides, queue);
  } finally {
    // Of this worker alone, by now.
    for (const end of process.listeners("SIGINT")) if (!known.includes(end)) (end as () => void)();
    await working;
  }
});

let browser: Promise<Browser> | undefined;
let page: Promise<Page> | undefined;
let verifierPage: Promise<string> | undefined;

async function offlinePage(): Promise<Page> {
  browser = launchChromium();
  return (await (await browser).newContext({ offline: true })).newPage();
}

/** The page that verifies what it is given, its form filled in. It is loaded anew for each evidence. */
const inChromium: Judge = async (world, side) => {
  const loaded = await (page ??= offlinePage());
  verifierPage ??= run("page").then(({ stdout }) => fileOf(stdout, "verifier.html"));
  await loaded.goto(pathToFileURL(await verifierPage).href);
  await fillIn(loaded, world, side);
  await loaded.locator(`#${IDS.verify}`).click();
  await loaded.locator(`#${IDS.result} header, #${IDS.faults} li`).first().waitFor();
  return shown(loaded);
};

async function fillIn(page: Page, world: World, side: Side): Promise<void> {
  const evidence = world[side];
  const parts = world.isBare
    ? (["document"] as const)
    : evidence.hasAnswer
      ? (["boot", "activity"] as const)
      : (["boot"] as const);
  const files = [...parts.map((part) => evidence.file(part)), ...builds(evidence).slice(1), world.policyPath];
  await page.locator(`#${IDS.files}`).setInputFiles(files);
  await page
    .locator(`#${IDS.list} > li`)
    .nth(files.length - 1)
    .waitFor();
  await page.getByText("More", { exact: true }).click();
  await page.locator(`#now`).fill(NOW.toISOString());
  if (!world.isBare && evidence.hasAnswer) await page.locator(`#organization`).fill(REQUEST.organizationId);
  const words = world.words("verify", side);
  for (const [index, word] of words.entries()) {
    const option = word.replace(/^--/, "") as OptionName;
    const id = word.startsWith("--") ? FORM[option] : undefined;
    if (id === undefined) continue;
    const place = page.locator(`#${id}`);
    if (id === "failOnWarning") await place.check();
    // Several values of one option are lines.
    else await place.fill([await place.inputValue(), words[index + 1]!].join("\n").trim());
  }
}

async function shown(page: Page): Promise<Outcome> {
  const faults = await page.locator(`#${IDS.faults} li`).allInnerTexts();
  if (faults.length > 0) return { accepted: false, why: ["exit 2", ...faults] };
  const result = page.locator(`#${IDS.result}`);
  const [text, ids] = [await result.innerText(), await result.locator(".rows > .tone-bad > code.id").allTextContents()];
  const refused = text.startsWith("REFUSED") ? ["warning"] : [];
  return { accepted: text.startsWith("VERIFIED"), why: [...new Set(ids), ...refused] };
}

/** The inputs of the action, by the options whose values they hold. */
const asInputs = (words: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    words.flatMap((word, index) =>
      word.startsWith("--") ? [[word.slice(2), word === "--fail-on-warning" ? "true" : words[index + 1]!]] : [],
    ),
  );

/** The action asks the machine for the present, once. */
const BIN = mkdtempSync(join(tmpdir(), "bootproof-matrix-bin-"));
writeFileSync(join(BIN, "date"), `#!/bin/sh\necho ${NOW.toISOString().replace(".000", "")}\n`, { mode: 0o755 });
const PATH = `${BIN}:${process.env["PATH"] ?? ""}`;

/** Verifies once: that the other formats say the same is of test/github-action.test.ts. */
const VERIFIER = join(BIN, "bootproof");
const VERIFIES = `#!/bin/sh
case "$*" in
  --version) echo 0.1.0 ;;
  *--format=github*) code=0; ${process.execPath} ${COMMAND} "$@" || code=$?; echo $code > ${BIN}/code; exit $code ;;
  *) exit "$(cat ${BIN}/code)" ;;
esac
`;
writeFileSync(VERIFIER, VERIFIES, { mode: 0o755 });

/** Provenance comes in a bundle: there is no input for its files. */
const action: Judge = (world, side) => {
  const isBuild = world.fact.class === "build";
  const hasAnswer = world[side].hasAnswer;
  const evidence = isBuild ? ["--bundle", bundleOf(world, side), ...organization(hasAnswer)] : pieces(world, side);
  const words = [...evidence, "--policy", world.policyPath, ...world.words("verify", side)];
  const inputs = { ...asInputs(words), command: VERIFIER };
  const ran = runAction(inputs, tmpdir(), { env: { PATH } });
  const ids = [...ran.log.matchAll(/^::error title=bootproof ([a-z-]+\.[a-z-]+)/gm)].map(([, id]) => id!);
  const judged = /^::error title=bootproof::REFUSED/m.test(ran.log) ? ["warning"] : ids;
  const why = ran.code > 1 ? [`exit ${ran.code}`, ran.log] : judged;
  return Promise.resolve({ accepted: ran.ok, why: [...new Set(why)] });
};

export const BUILT: Readonly<Record<EntranceOf<"built">, Judge>> = {
  "verify, page in Chromium": inChromium,
  "verify, GitHub action": action,
  "audit, threads": inOneRun((world, sides) => audited(world, sides, ["--workers", "1"])),
  "audit, queue": queued,
};

export async function close(): Promise<void> {
  await (await browser)?.close();
  await (await redis)?.close();
}
