/**
 * The examples of docs/operations.md: manifests by the fields of the Kubernetes API, the unit by systemd, each command
 * line by the command, each alert by the metrics that are served (that they fire: test/alerts.test.ts).
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

/** What a value must be; the faults of one that is not, by path. */
type Check = (value: unknown, path: string) => string[];
type Fields = Readonly<Record<string, Check>>;

const fault = (isRight: boolean, path: string, wanted: string): string[] => (isRight ? [] : [`${path}: ${wanted}`]);
const text: Check = (value, path) => fault(typeof value === "string" && value !== "", path, "a string");
const flag: Check = (value, path) => fault(typeof value === "boolean", path, "a boolean");
const count: Check = (value, path) => fault(Number.isSafeInteger(value) && (value as number) >= 0, path, "an integer");
const like =
  (pattern: RegExp): Check =>
  (value, path) =>
    fault(typeof value === "string" && pattern.test(value), path, String(pattern));
const one = (...words: readonly string[]): Check => like(new RegExp(`^(?:${words.join("|")})$`));
const either =
  (first: Check, second: Check): Check =>
  (value, path) =>
    first(value, path).length === 0 ? [] : second(value, path);
const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const list =
  (item: Check): Check =>
  (value, path) =>
    Array.isArray(value) && value.length > 0
      ? value.flatMap((each, index) => item(each, `${path}[${index}]`))
      : [`${path}: a list`];
const map =
  (item: Check): Check =>
  (value, path) =>
    isMap(value) ? Object.entries(value).flatMap(([name, each]) => item(each, `${path}.${name}`)) : [`${path}: a map`];
const object =
  (required: Fields, optional: Fields = {}): Check =>
  (value, path) => {
    if (!isMap(value)) return [`${path}: an object`];
    const known = { ...optional, ...required };
    return [
      ...Object.keys(required).flatMap((name) => fault(name in value, `${path}.${name}`, "required")),
      ...Object.entries(value).flatMap(([name, each]) =>
        Object.hasOwn(known, name) ? known[name]!(each, `${path}.${name}`) : [`${path}.${name}: no such field`],
      ),
    ];
  };

/** Names of RFC 1123, labels, and quantities: as the API server checks them. */
const NAME = like(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
const LABELS = map(like(/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/));
const QUANTITY = like(/^\d+(?:\.\d+)?(?:m|[kMGTP]|[KMGTP]i)?$/);
const PORT: Check = (value, path) => fault(Number.isInteger(value) && Number(value) < 65536, path, "a port");
const METADATA = object({ name: NAME }, { namespace: NAME, labels: LABELS, annotations: map(text) });
const RESOURCES = object({}, { requests: map(QUANTITY), limits: map(QUANTITY) });
const KEY_REF = object({ name: NAME, key: text }, { optional: flag });
const PROBE = object(
  {
    httpGet: object(
      { port: either(PORT, NAME) },
      {
        path: like(/^\//),
      },
    ),
  },
  {
    initialDelaySeconds: count,
    periodSeconds: count,
    failureThreshold: count,
    terminationGracePeriodSeconds: count,
  },
);
const SECCOMP = object({ type: one("RuntimeDefault", "Unconfined", "Localhost") });
const CONTAINER = object(
  { name: NAME, image: text },
  {
    args: list(text),
    env: list(
      object(
        { name: like(/^[A-Z_]+$/) },
        { value: text, valueFrom: object({}, { configMapKeyRef: KEY_REF, secretKeyRef: KEY_REF }) },
      ),
    ),
    ports: list(object({ containerPort: PORT }, { name: NAME, protocol: one("TCP", "UDP", "SCTP") })),
    livenessProbe: PROBE,
    readinessProbe: PROBE,
    resources: RESOURCES,
    securityContext: object(
      {},
      {
        allowPrivilegeEscalation: flag,
        readOnlyRootFilesystem: flag,
        runAsNonRoot: flag,
        runAsUser: count,
        seccompProfile: SECCOMP,
        capabilities: object({}, { drop: list(text) }),
      },
    ),
    volumeMounts: list(object({ name: NAME, mountPath: like(/^\//) }, { readOnly: flag })),
  },
);
const ITEMS = list(object({ key: text, path: text }));
const POD = object(
  { containers: list(CONTAINER) },
  {
    automountServiceAccountToken: flag,
    restartPolicy: one("Always", "OnFailure", "Never"),
    terminationGracePeriodSeconds: count,
    securityContext: object({}, { runAsNonRoot: flag, runAsUser: count, fsGroup: count, seccompProfile: SECCOMP }),
    volumes: list(
      object(
        { name: NAME },
        {
          configMap: object({ name: NAME }, { items: ITEMS, optional: flag }),
          persistentVolumeClaim: object({ claimName: NAME }, { readOnly: flag }),
        },
      ),
    ),
  },
);
const TEMPLATE = object({ metadata: object({ labels: LABELS }, { annotations: map(text) }), spec: POD });
const SELECTOR = object({ matchLabels: LABELS });
const resource = (apiVersion: string, kind: string, spec: Check): Check =>
  object({ apiVersion: one(apiVersion), kind: one(kind), metadata: METADATA, spec });

/** Of the reference of Kubernetes 1.31: the fields that each kind needs, and those of the others that are used here. */
const KINDS: Readonly<Record<string, Check>> = {
  Service: resource(
    "v1",
    "Service",
    object(
      { ports: list(object({ port: PORT }, { name: NAME, protocol: one("TCP") })) },
      { clusterIP: one("None"), selector: LABELS, type: one("ClusterIP", "NodePort", "LoadBalancer") },
    ),
  ),
  StatefulSet: resource(
    "apps/v1",
    "StatefulSet",
    object(
      { serviceName: NAME, selector: SELECTOR, template: TEMPLATE },
      {
        replicas: count,
        volumeClaimTemplates: list(
          object({
            metadata: METADATA,
            spec: object(
              { accessModes: list(one("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")) },
              { resources: RESOURCES },
            ),
          }),
        ),
      },
    ),
  ),
  Deployment: resource(
    "apps/v1",
    "Deployment",
    object(
      { selector: SELECTOR, template: TEMPLATE },
      {
        replicas: count,
        strategy: object(
          {},
          {
            type: one("RollingUpdate", "Recreate"),
            rollingUpdate: object(
              {},
              { maxUnavailable: either(count, like(/^\d+%$/)), maxSurge: either(count, like(/^\d+%$/)) },
            ),
          },
        ),
      },
    ),
  ),
  CronJob: resource(
    "batch/v1",
    "CronJob",
    object(
      {
        schedule: like(/^(?:[\d*,/-]+ ){4}[\d*,/-]+$/),
        jobTemplate: object({
          spec: object(
            { template: TEMPLATE },
            {
              backoffLimit: count,
              activeDeadlineSeconds: count,
              podFailurePolicy: object({
                rules: list(
                  object(
                    { action: one("FailJob", "FailIndex", "Ignore", "Count") },
                    {
                      onExitCodes: object({ operator: one("In", "NotIn"), values: list(count) }, {}),
                    },
                  ),
                ),
              }),
            },
          ),
        }),
      },
      {
        concurrencyPolicy: one("Allow", "Forbid", "Replace"),
        successfulJobsHistoryLimit: count,
        failedJobsHistoryLimit: count,
      },
    ),
  ),
};

const ALERTS = object({
  groups: list(
    object(
      {
        name: text,
        rules: list(
          object(
            { alert: like(/^[A-Z]\w+$/), expr: text },
            { for: like(/^\d+[smhd]$/), labels: LABELS, annotations: map(text) },
          ),
        ),
      },
      {},
    ),
  ),
});

interface Container {
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string }[];
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
const faultsOf = (manifest: Manifest): string[] => KINDS[manifest.kind]?.(manifest, manifest.kind) ?? ["unknown kind"];

describe("manifests", () => {
  it("are of four kinds", () => {
    expect(manifests.map(({ kind }) => kind)).toEqual(["Service", "StatefulSet", "Deployment", "CronJob"]);
  });

  it.each(manifests)("have the fields of their kind: $kind", (manifest) => {
    expect(faultsOf(manifest)).toEqual([]);
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

  it("have secrets in the environment, from a Secret that the document makes", () => {
    const [made = ""] = blocksOf("sh").filter((each) => each.includes("create secret"));
    const names = [...made.matchAll(/--from-(?:file|literal)=([a-z-]+)(?:=|\s)/g)].map(([, name]) => name);
    const used = manifestTexts.flatMap((each) => [...each.matchAll(/KeyRef: \{ name: bootproof, key: ([a-z-]+) \}/g)]);
    expect(used.filter(([, name]) => !names.includes(name))).toEqual([]);
    expect(used.map(([, name]) => name)).toEqual(expect.arrayContaining(["queue-url", "queue-secret"]));
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
  it.each(manifests.filter((manifest) => templateOf(manifest)))("of a $kind are accepted", async (manifest) => {
    const [{ args, env = [] }] = templateOf(manifest)!.spec.containers;
    await accepted(
      args,
      env.map(({ name }) => name),
    );
  });

  const [unit = ""] = blocksOf("ini");

  it("of the unit are accepted", async () => {
    const [, line] = /^ExecStart=((?:.*\\\n)*.*)$/m.exec(unit)!;
    const [, ...args] = line!.replaceAll("\\\n", "").split(/\s+/);
    const [, names] = /^# (BOOTPROOF_[A-Z_, ]+);/m.exec(unit)!;
    await accepted(
      args.map((word) => word.replace(/\$\{\w+\}/, "/state")),
      names!.split(", "),
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
    expect(named.length).toBeGreaterThan(20);
    expect([...new Set(named)].filter((name) => !OPTION_NAMES.includes(name.slice(2)))).toEqual([]);
  });
});

describe("metrics", () => {
  const served = new Set(Object.values(MEASURES).flatMap((all) => Object.keys(all)));

  it("of alerts are served, and the rules have the fields of Prometheus", () => {
    const rules = parse(alerts!) as { groups: { rules: { expr: string }[] }[] };
    expect(ALERTS(rules, "alerts")).toEqual([]);
    const named = rules.groups.flatMap(({ rules: all }) =>
      all.flatMap(({ expr }) => expr.match(/\bbootproof_\w+/g) ?? []),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !served.has(name))).toEqual([]);
  });

  it("of the tables are all that is served", () => {
    const [, section] = /^## Metrics\n(.*?)^## /ms.exec(document)!;
    const whole = [...section!.matchAll(/`(bootproof_[a-z_]*[a-z])`/g)].map(([, name]) => name!);
    const [, work] = /^Of a worker (.*?)\. Of each/ms.exec(section!)!;
    const parts = [...work!.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)]
      .map(([, name]) => name!)
      .filter((name) => !name.startsWith("bootproof_") && name !== "ephemeral_key");
    const documented = [
      ...whole,
      ...["worker", "audit"].flatMap((each) => parts.map((name) => `bootproof_${each}_${name}`)),
    ];
    expect([...new Set(documented)].sort()).toEqual([...served].sort());
  });
});
