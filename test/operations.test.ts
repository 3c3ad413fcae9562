/**
 * The examples of docs/operations.md: manifests by the fields of the Kubernetes API, the unit by systemd, each command
 * line by the command, each alert by the metrics that are served (that they fire: test/alerts.test.ts).
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { OPTION_NAMES } from "../src/cli/option-table.js";
import { MEASURES } from "../src/run/measures.js";
import { bootproof } from "./cli/support.js";
import { ROOT } from "./tracked.mjs";

const document = readFileSync(join(ROOT, "docs/operations.md"), "utf8");
const blocksOf = (language: string): string[] =>
  [...document.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, text]) => text!);

/** What the JSON of a value looks like. */
const [TEXT, FLAG, COUNT] = [/^".+"$/, /^(?:true|false)$/, /^\d+$/];
/** Names of RFC 1123, labels, paths and quantities: as the API server checks them. */
const NAME = /^"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"$/;
const LABEL = /^"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"$/;
const PATH = /^"\/.*"$/;
const QUANTITY = /^"\d+(?:\.\d+)?(?:m|[kMGTP]|[KMGTP]i)?"$/;
const KINDS = ["Service v1", "StatefulSet apps/v1", "Deployment apps/v1", "CronJob batch/v1"];

/** Of the reference of Kubernetes 1.31: the fields that are used here, below a pod and each of its containers, too. */
const FIELDS: readonly (readonly [before: string, names: string, value: RegExp])[] = [
  ["", "apiVersion kind", TEXT],
  ["metadata.", "name", NAME],
  ["spec.", "replicas failedJobsHistoryLimit", COUNT],
  ["spec.", "clusterIP", /^"None"$/],
  ["spec.", "serviceName", NAME],
  ["spec.", "selector.app selector.matchLabels.app template.metadata.labels.app", LABEL],
  ["spec.", "concurrencyPolicy", /^"(?:Allow|Forbid|Replace)"$/],
  ["spec.", "schedule", /^"(?:[\d*,/-]+ ){4}[\d*,/-]+"$/],
  ["spec.volumeClaimTemplates[].", "metadata.name", NAME],
  ["spec.volumeClaimTemplates[].", "spec.accessModes[]", /^"(?:ReadWrite(?:Once|Many|OncePod)|ReadOnlyMany)"$/],
  ["spec.volumeClaimTemplates[].", "spec.resources.requests.storage", QUANTITY],
  ["spec.jobTemplate.spec.", "template.metadata.labels.app", LABEL],
  ["spec.jobTemplate.spec.", "backoffLimit activeDeadlineSeconds", COUNT],
  ["spec.jobTemplate.spec.podFailurePolicy.rules[].", "action", /^"(?:FailJob|FailIndex|Ignore|Count)"$/],
  ["spec.jobTemplate.spec.podFailurePolicy.rules[].onExitCodes.", "operator", /^"(?:In|NotIn)"$/],
  ["spec.jobTemplate.spec.podFailurePolicy.rules[].onExitCodes.", "values[]", COUNT],
  ["POD.", "terminationGracePeriodSeconds securityContext.fsGroup", COUNT],
  ["POD.", "automountServiceAccountToken securityContext.runAsNonRoot", FLAG],
  ["POD.", "securityContext.seccompProfile.type", /^"(?:RuntimeDefault|Unconfined|Localhost)"$/],
  ["POD.", "restartPolicy", /^"(?:Always|OnFailure|Never)"$/],
  ["POD.volumes[].", "name configMap.name persistentVolumeClaim.claimName", NAME],
  ["POD.volumes[].", "persistentVolumeClaim.readOnly", FLAG],
  ["EACH.", "image args[]", TEXT],
  ["EACH.", "name ports[].name envFrom[].secretRef.name", NAME],
  ["EACH.", "ports[].containerPort", COUNT],
  ["EACH.", "livenessProbe.httpGet.path readinessProbe.httpGet.path volumeMounts[].mountPath", PATH],
  ["EACH.", "livenessProbe.httpGet.port readinessProbe.httpGet.port volumeMounts[].name", NAME],
  ["EACH.", "livenessProbe.failureThreshold", COUNT],
  ["EACH.resources.", "requests.cpu requests.memory limits.cpu limits.memory", QUANTITY],
  ["EACH.", "securityContext.allowPrivilegeEscalation securityContext.readOnlyRootFilesystem", FLAG],
  ["EACH.", "securityContext.capabilities.drop[]", TEXT],
  ["EACH.", "volumeMounts[].readOnly", FLAG],
];
/** Of the reference of Prometheus. */
const ALERTS: typeof FIELDS = [
  ["groups[].", "name rules[].expr", TEXT],
  ["groups[].rules[].", "alert", /^"[A-Z]\w+"$/],
  ["groups[].rules[].", "for", /^"\d+[smhd]"$/],
  ["groups[].rules[].", "labels.severity annotations.summary annotations.description", TEXT],
];

/** The values that no row allows where they stand. */
function faultsIn(value: unknown, rows: typeof FIELDS, at = ""): string[] {
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value as Readonly<Record<string, unknown>>);
    if (members.length === 0) return [`${at}: empty`];
    const below = (name: string): string => (Array.isArray(value) ? `${at}[]` : `${at}${at === "" ? "" : "."}${name}`);
    return members.flatMap(([name, member]) => faultsIn(member, rows, below(name)));
  }
  const path = at
    .replace(/^spec\.(?:jobTemplate\.spec\.)?template\.spec\./, "POD.")
    .replace("POD.containers[].", "EACH.");
  const isAllowed = rows.some(
    ([before, names, form]) =>
      names.split(" ").some((name) => before + name === path) && form.test(JSON.stringify(value)),
  );
  return isAllowed ? [] : [`${at}: ${JSON.stringify(value)}`];
}

interface Container {
  readonly args: readonly string[];
  readonly envFrom?: readonly [{ readonly secretRef: { readonly name: string } }];
  readonly ports?: readonly { readonly name: string }[];
  readonly livenessProbe?: { readonly httpGet: { readonly path: string; readonly port: string } };
  readonly readinessProbe?: { readonly httpGet: { readonly path: string; readonly port: string } };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}
interface Template {
  readonly metadata: { readonly labels: object };
  readonly spec: {
    readonly containers: readonly [Container];
    readonly volumes: readonly { readonly name: string }[];
    readonly restartPolicy?: string;
  };
}
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly serviceName?: string;
    readonly selector?: { readonly matchLabels: object };
    readonly template?: Template;
    readonly jobTemplate?: { readonly spec: { readonly template: Template } };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

const alerts = blocksOf("yaml").find((each) => each.startsWith("groups:"));
const manifestTexts = blocksOf("yaml").filter((each) => each.startsWith("apiVersion:"));
const manifests = manifestTexts.flatMap((each) => parseAllDocuments(each).map((one) => one.toJS() as Manifest));
const templateOf = ({ spec }: Manifest): Template | undefined => spec.template ?? spec.jobTemplate?.spec.template;

describe("manifests", () => {
  it("are of four kinds", () => {
    expect(manifests.map(({ kind, apiVersion }) => `${kind} ${apiVersion}`)).toEqual(KINDS);
  });

  it.each(manifests)("have the fields of their kind: $kind", (manifest) => {
    expect(faultsIn(manifest, FIELDS)).toEqual([]);
    for (const container of templateOf(manifest)?.spec.containers ?? [])
      expect(container).toMatchObject({ name: expect.any(String) as unknown, image: expect.any(String) as unknown });
    expect(faultsIn({ ...manifest, spec: { ...manifest.spec, replica: 1 } }, FIELDS)).toEqual(["spec.replica: 1"]);
  });

  it.each(manifests.filter((manifest) => templateOf(manifest)))("refer to what they have: $kind", (manifest) => {
    const { spec } = manifest;
    const template = templateOf(manifest)!;
    const [container] = template.spec.containers;
    if (spec.selector !== undefined) expect(spec.selector.matchLabels).toEqual(template.metadata.labels);
    const volumes = [...template.spec.volumes, ...(spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata)];
    expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(
      volumes.map(({ name }) => name).toSorted(),
    );
    const probes = [container.livenessProbe, container.readinessProbe].flatMap((probe) => probe ?? []);
    const ports = (container.ports ?? []).map(({ name }) => name);
    for (const { httpGet } of probes) expect(ports).toContain(httpGet.port);
    // A job of the batch API restarts no container by itself.
    expect(template.spec.restartPolicy).toBe(manifest.kind === "CronJob" ? "Never" : undefined);
    if (spec.serviceName !== undefined)
      expect(manifests.filter(({ kind }) => kind === "Service").map(({ metadata }) => metadata.name)).toContain(
        spec.serviceName,
      );
    // Every file that a command names is in a volume.
    for (const [, file] of container.args.join("\n").matchAll(/(?:^|=)(\/\S+)$/gm))
      expect(container.volumeMounts.filter(({ mountPath }) => file!.startsWith(`${mountPath}/`))).toHaveLength(1);
  });

  it("have secrets in the environment, from Secrets that the document makes", () => {
    const made = [...document.matchAll(/^kubectl create secret generic ([\w-]+) --from-env-file=[\w-]+\.env$/gm)];
    const used = manifestTexts.flatMap((each) => [...each.matchAll(/secretRef: \{ name: ([\w-]+) \}/g)]);
    expect(used.map(([, name]) => name)).toEqual(["bootproof-watch", "bootproof-worker"]);
    expect(made.map(([, name]) => name)).toEqual(used.map(([, name]) => name));
    for (const each of manifestTexts) expect(each).not.toMatch(/rediss?:/);
  });

  it.each(manifests.filter((manifest) => templateOf(manifest)))("probe what is served: $kind", (manifest) => {
    const { livenessProbe, readinessProbe, args } = templateOf(manifest)!.spec.containers[0];
    expect(args).toContain("--metrics=0.0.0.0:9464");
    // A night that judges nothing is an alert; a job of the batch API has no probe that would end it.
    if (manifest.kind === "CronJob") return;
    expect([livenessProbe!.httpGet.path, readinessProbe!.httpGet.path]).toEqual(["/healthz", "/readyz"]);
  });
});

const URLS: Readonly<Record<string, string>> = {
  BOOTPROOF_BASE_URL: "https://a.example",
  BOOTPROOF_QUEUE_URL: "rediss://worker:hunter2@queue:6379",
};

/** Runs a command line, whose files are not there: the command accepted every option if that is all that it reports. */
async function accepted(args: readonly string[], names: readonly string[]): Promise<void> {
  const env = Object.fromEntries(names.map((name) => [name, URLS[name] ?? "ab"]));
  const folder = mkdtempSync(join(tmpdir(), "bootproof-operations-"));
  const text = args.filter((word, index) => !/^--log-format/.test(word) && args[index - 1] !== "--log-format");
  const moved = text.map((word) => word.replace(/(^|=)\//, `$1${folder}/`));
  mkdirSync(join(folder, "var/lib/bootproof"), { recursive: true });
  const { code, stderr } = await bootproof(moved, { env });
  expect([code, stderr.split("\n")[0]]).toEqual([
    2,
    expect.stringMatching(/^bootproof: \/\S+\/policy\.json: no such file/),
  ]);
  expect((await bootproof([...moved, "--log-format=json", "--no-such-option"], { env })).stderr).toContain(
    "no-such-option",
  );
  rmSync(folder, { recursive: true });
}

describe("command lines", () => {
  const [unit = ""] = blocksOf("ini");
  /** What the document says that the environment files have. */
  const namesBy = (form: RegExp): string[] => form.exec(document)![1]!.match(/BOOTPROOF_\w+/g)!;
  const ofWatch = namesBy(/^# (BOOTPROOF_[A-Z_, ]+);/m);
  const ofSecret: Readonly<Record<string, readonly string[]>> = {
    "bootproof-watch": ofWatch,
    "bootproof-worker": namesBy(/`worker\.env` has ([^(]*)/),
  };

  it.each(manifests.filter((manifest) => templateOf(manifest)))("of a $kind are accepted", async (manifest) => {
    const [{ args, envFrom = [] }] = templateOf(manifest)!.spec.containers;
    await accepted(
      args,
      envFrom.flatMap(({ secretRef }) => ofSecret[secretRef.name]!),
    );
  });

  it("of the unit are accepted", async () => {
    const [, line] = /^ExecStart=((?:.*\\\n)*.*)$/m.exec(unit)!;
    const [, ...args] = line!.replaceAll("\\\n", "").split(/\s+/);
    await accepted(
      args.map((word) => word.replace(/\$\{\w+\}/, "/state")),
      ofWatch,
    );
  });

  it.runIf(spawnSync("systemd-analyze", ["--version"]).status === 0)("and the unit are systemd's", () => {
    const folder = mkdtempSync(join(tmpdir(), "bootproof-unit-"));
    const units: Readonly<Record<string, string>> = {
      "bootproof-watch.service": unit,
      "other-key.service": unit.replace("ProtectHome=", "ProtectHomes="),
      "other-value.service": unit.replace("Restart=on-failure", "Restart=on-fail"),
    };
    const files = Object.entries(units).map(([name, content]) => {
      writeFileSync(join(folder, name), content.replace("/usr/local/bin/bootproof", process.execPath));
      return join(folder, name);
    });
    const { stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", ...files], { encoding: "utf8" });
    const told = (name: string): string =>
      stderr
        .split("\n")
        .filter((each) => each.includes(name))
        .join("\n");
    expect(Object.keys(units).map(told)).toEqual([
      "",
      expect.stringMatching(/Unknown key/),
      expect.stringMatching(/restart/),
    ]);
    rmSync(folder, { recursive: true });
  });
});

describe("what can happen", () => {
  const [, first = ""] = /^# Operations\n\n[^|#]*?^## What can happen\n\n(\|.*?)\n\n/ms.exec(document) ?? [];
  const [head, , ...rows] = first.split("\n");

  it("is the first table of the page, and each row says how one learns of it, and what to do", () => {
    expect(head).toBe("| what can happen | how you learn of it | what to do |");
    expect(rows.length).toBeGreaterThan(15);
    for (const row of rows) expect(row).toMatch(/^\| [^|]{10,} \| [^|]{10,} \| [^|]{7,} \|$/);
  });

  it("has each alert, and no other", () => {
    const rules = [...alerts!.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name!);
    const named = first.match(/`[A-Z]\w+`/g)!.map((name) => name.slice(1, -1));
    expect([...new Set(named)].toSorted()).toEqual(rules.toSorted());
  });

  it("and the whole page name options that exist", () => {
    const spans = document.replaceAll(/^```.*?^```$/gms, "").match(/`[^`]+`/g)!;
    const named = spans
      .filter((span) => !span.startsWith("`systemctl"))
      .flatMap((span) => span.match(/(?<![\w-])--[a-z-]+/g) ?? []);
    expect(named.length).toBeGreaterThan(15);
    expect([...new Set(named)].filter((name) => !OPTION_NAMES.includes(name.slice(2)))).toEqual([]);
  });
});

describe("metrics", () => {
  const served = new Set(Object.values(MEASURES).flatMap((all) => Object.keys(all)));

  it("of alerts are served, and the rules have the fields of Prometheus", () => {
    const rules = parse(alerts!) as { groups: { rules: { expr: string }[] }[] };
    expect(faultsIn(rules, ALERTS)).toEqual([]);
    const named = rules.groups.flatMap(({ rules: all }) =>
      all.flatMap(({ expr }) => expr.match(/\bbootproof_\w+/g) ?? []),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !served.has(name))).toEqual([]);
  });

  it("of the tables are all that is served", () => {
    const [, section] = /^## Metrics\n(.*?)^## /ms.exec(document)!;
    const documented = section!.split("\n\n").flatMap((part) => {
      const names = [...part.matchAll(/`([a-z]+(?:_[a-z]+)*_?)…?`/g)].map(([, name]) => name!);
      const prefixes = names.filter((name) => name.endsWith("_"));
      const others = names.filter((name) => !["app", "ephemeral_key", ...prefixes].includes(name));
      return others.flatMap((name) => (/^bootproof_/.test(name) ? name : prefixes.map((prefix) => prefix + name)));
    });
    expect([...new Set(documented)].sort()).toEqual([...served].sort());
  });
});
