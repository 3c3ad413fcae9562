/** Each fact at each entrance: the evidence, the command line, and what the entrance has to make of both. */
import { expect } from "vitest";
import { parsePolicy } from "../../src/index.js";
import type { JsonObject } from "../../src/decode/json.js";
import { packEvidence } from "../../src/bundle/pack.js";
import { type CommandName, type OptionName, commandsWith } from "../../src/cli/option-table.js";
import type { Policy } from "../../src/appraise/policy.js";
import type { SignedPolicy } from "../../src/signed-policy/index.js";
import { type Answer, bootproof, fileOf } from "../cli/support.js";
import {
  CELLS,
  type Cell,
  type Cells,
  type DoorName,
  ENTRANCES,
  type Entrance,
  type EntranceName,
  type Outcome,
} from "./doors.js";
import { FACTS, type Fact, type FactName } from "./facts.js";
import { type Change, Evidence, NOW, REQUEST, type Request, deployed, policyFile } from "./worlds.js";

export type Side = "honest" | "other";

/** A fact, its evidence on both sides, and the policy that both are judged by. */
const honest = new Map<string, Evidence>();

/** One for all rows whose honest evidence is the lab's. */
function honestEvidence(both: Change | undefined, demandsBuild: boolean, submitted: Request): Evidence {
  const key = String(demandsBuild);
  const known = both === undefined ? honest.get(key) : undefined;
  const evidence = known ?? new Evidence(both ?? {}, demandsBuild, submitted);
  if (both === undefined) honest.set(key, evidence);
  return evidence;
}

export class World {
  readonly name: FactName;
  readonly fact: Fact;
  readonly request: Request;
  readonly honest: Evidence;
  readonly other: Evidence;
  readonly policy: JsonObject;
  readonly policyPath: string;
  #before: Promise<string> | undefined;

  constructor(name: FactName, fact: Fact) {
    [this.name, this.fact] = [name, fact];
    const demandsBuild = name.startsWith("pin provenance");
    this.request = fact.submits ?? REQUEST;
    this.honest = honestEvidence(fact.both, demandsBuild, this.request);
    this.other = new Evidence(fact.other, demandsBuild, this.request);
    const deployment = fact.deployment?.(deployed(), this.honest) ?? deployed();
    this.policy = policyFile([deployment, ...(fact.beside ? [fact.beside(deployed())] : [])], fact.policy);
    this.policyPath = fileOf(this.policy);
  }

  /** The name of what is submitted, as paths and clients have it. */
  get operation(): string {
    return this.request.type.replace(/^ACTIVITY_TYPE_|_V\d+$/g, "").toLowerCase();
  }

  get isBare(): boolean {
    return this.fact.class === "bare";
  }

  /** The policy for a door that takes a signed one, too. */
  parsed(): Policy | SignedPolicy {
    return parsePolicy(JSON.stringify(this.policy));
  }

  /** The options that the caller demands of this side, as far as the command has them. */
  words(command: CommandName, side: Side, ...more: readonly OptionName[]): string[] {
    if (this.fact.isDemandAlone === true && side === "honest") return [];
    const rowOf = (option: string) => commandsWith(option).find((row) => row.command === command);
    const given = Object.entries(this.fact.options?.(this.honest) ?? {}) as [OptionName, string][];
    return given
      .filter(([option]) => rowOf(option) !== undefined && !more.includes(option))
      .flatMap(([option, value]) => [`--${option}`, ...(rowOf(option)!.flags.includes("<") ? [value] : [])]);
  }

  /** A policy under which the other evidence is accepted: what `pin` writes of it. */
  before(): Promise<string> {
    this.#before ??= (async () => {
      const anchor = fileOf(this.other.forged.anchorPem, "anchor.pem");
      const source = ["--boot-proof", this.other.file("boot"), "--trust-anchor", anchor, "--allow-debug"];
      const { code, stdout, stderr } = await bootproof(["pin", ...source], AROUND);
      if (code !== 0) throw new Error(`pin of the other evidence: ${stderr}`);
      return stdout;
    })();
    return this.#before;
  }
}

export const AROUND = { now: NOW.toISOString() };

const worlds = new Map<FactName, World>();
function worldOf(name: FactName): World {
  const known = worlds.get(name) ?? new World(name, FACTS[name]);
  worlds.set(name, known);
  return known;
}

/** A row goes before its class, and an entrance before its column. */
export function cellOf(name: FactName, { name: entrance, door }: Entrance): Cell {
  const fact: Fact = FACTS[name];
  const ofClass: Cells & Readonly<Record<DoorName, Cell>> = CELLS[fact.class];
  return fact.cells?.[entrance] ?? fact.cells?.[door] ?? ofClass[entrance] ?? ofClass[door];
}

/** What the evidence of a fact is judged by, and what has to come of it. */
export type Judge = (world: World, side: Side) => Promise<Outcome>;

export interface Judged {
  readonly name: FactName;
  readonly entrance: EntranceName;
  readonly judge: Judge;
  readonly fails: readonly string[];
  /** Nothing else may fail. Otherwise a command says more in codes of its own. */
  readonly isWhole: boolean;
}

/** The cells of these entrances that apply. */
export function cellsOf(judges: Readonly<Partial<Record<EntranceName, Judge>>>): Judged[] {
  return (Object.keys(FACTS) as FactName[]).flatMap((name) =>
    ENTRANCES.flatMap((entrance) => {
      const [judge, cell] = [judges[entrance.name], cellOf(name, entrance)];
      if (judge === undefined || (typeof cell === "object" && !("fails" in cell))) return [];
      const fails = typeof cell === "object" ? cell.fails : failsAt(name, entrance.door);
      return [
        { name, entrance: entrance.name, judge, fails, isWhole: cell === "checks" && entrance.door !== "review" },
      ];
    }),
  );
}

/** Refused for this fact: no deployment matches any more, and nothing else is wrong. Its honest twin is accepted. */
export async function expectJudged({ name, entrance, judge, fails, isWhole }: Judged): Promise<void> {
  const world = worldOf(name);
  const { accepted, why } = await judge(world, "other");
  const others = why.filter((id) => id !== "policy.deployment" || fails.includes(id));
  expect([accepted, ...(isWhole ? [...others].sort() : others)]).toEqual(
    isWhole ? [false, ...[...fails].sort()] : expect.arrayContaining([false, ...fails]),
  );
  expect(await judgedTwin(entrance, judge, world)).toEqual({ accepted: true, why: [] });
}

function failsAt(name: FactName, door: DoorName): readonly string[] {
  const { fails, isDemandAlone }: Fact = FACTS[name];
  if (isDemandAlone === true) return ["warning"];
  return door === "review" ? [`pin ${name.replace("pin ", "").replace(/^.* of the (\w+)$/, pinOfPart)}`] : fails;
}

const pinOfPart = (_: string, part: string): string => (["role", "bytes"].includes(part) ? "pcrs" : part);

/** Of a command that writes a report as JSON. */
export function reported({ code, stdout, stderr }: Pick<Answer, "code" | "stdout" | "stderr">): Outcome {
  if (code > 1) return { accepted: false, why: [`exit ${code}`, stderr] };
  const json = JSON.parse(stdout) as ReportJson & { readonly report?: ReportJson };
  const { checks, refusedFor } = json.report ?? json;
  const failed = checks.filter(({ status }) => status === "fail").map(({ id }) => id);
  return { accepted: code === 0, why: [...new Set(failed), ...(refusedFor === undefined ? [] : ["warning"])] };
}

interface ReportJson {
  readonly checks: readonly { readonly id: string; readonly status: string }[];
  readonly refusedFor?: readonly string[];
}

/** The evidence as options of `verify` and the like. */
export function pieces({ isBare, ...world }: World, side: Side): string[] {
  const evidence = world[side];
  if (isBare) return ["--attestation", evidence.file("document")];
  return [
    ...["--boot-proof", evidence.file("boot")],
    ...(evidence.hasAnswer ? ["--activity", evidence.file("activity"), ...organization(true)] : []),
    ...builds(evidence),
  ];
}

/** Without a judgement: nobody verified it before. */
export function bundleOf(world: World, side: Side): string {
  const { bootProof, activity, builds: provenance, hasAnswer } = world[side];
  const evidence = { bootProofs: [bootProof], ...(hasAnswer && { activity }), provenance };
  return fileOf(packEvidence(evidence));
}

export function builds(evidence: Evidence): string[] {
  return evidence.builds.length > 0 ? ["--provenance", evidence.file("builds")] : [];
}

export function organization(isDemanded: boolean): string[] {
  return isDemanded ? ["--organization-id", REQUEST.organizationId] : [];
}

const twins = new Map<Evidence, Map<string, Promise<Outcome>>>();

/** What an entrance makes of the honest evidence: once for all rows that give it the same under the same policy. */
function judgedTwin(entrance: EntranceName, judge: Judge, world: World): Promise<Outcome> {
  const { class: ofClass, options, expected, asks = "submit", isDemandAlone = false } = world.fact;
  const demands = isDemandAlone ? {} : options?.(world.honest);
  const isOwn = entrance === "watch, after SIGHUP";
  const key = JSON.stringify([entrance, world.policy, demands, ofClass, expected, asks, isOwn && world.name]);
  const known = twins.get(world.honest) ?? new Map<string, Promise<Outcome>>();
  twins.set(world.honest, known);
  const outcome = known.get(key) ?? judge(world, "honest");
  known.set(key, outcome);
  return outcome;
}
