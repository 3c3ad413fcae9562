/**
 * The action under `.github/actions/verify`, run the way a runner does it: inputs with their defaults, conditions,
 * expressions in the environment, each script in bash. Needs `npm run build`.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { apiKeyStamper, createClient } from "../src/client/index.js";
import { COMMAND, type Step, action, actionText as text, runAction, steps } from "./support/action.js";
import { SECTIONS, imageOf } from "./support/images.js";
import { type Process, speaking } from "./cli/process.js";
import { BOOT_1, bootproof, fileOf, readJson, vector } from "./cli/support.js";
import type { Report } from "../src/report/report.js";
import { sarifFaults } from "./formats/schemas.js";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** Names that a shell could stumble over, or take for something else. */
const ODD = ["a proof; touch injected.json", "$(touch injected) `touch injected` 'x' \"y\" * & |.json", "--quiet.json"];

const POLICY = (await bootproof(["pin", "--boot-proof", BOOT_1])).stdout;

/** A checkout with evidence in it. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "bootproof action "));
  mkdirSync(join(folder, "my evidence"));
  writeFileSync(join(folder, "policy.json"), POLICY);
  writeFileSync(join(folder, "other policy.json"), POLICY.replace(/"namespace": "[^"]*"/, '"namespace": "another"'));
  for (const name of ["my evidence/boot proof.json", ...ODD]) cpSync(BOOT_1, join(folder, name));
  cpSync(vector("boot-proofs/appproof-1.json"), join(folder, "app.json"));
  return folder;
}

/** An image that no enclave of these runs. */
const IMAGE = fileOf(imageOf({ sections: SECTIONS }), "app.eif");
const noOutputs = (exitCode: string): object => ({
  ...{ verdict: "", "exit-code": exitCode, "sarif-file": "", "report-file": "", "bundle-file": "", "page-file": "" },
});
const built = { command: `${process.execPath} ${COMMAND}` };

describe("the action", () => {
  it("is composite, in bash, and names other actions by their commit", () => {
    expect(action.runs.using).toBe("composite");
    expect(steps.filter(({ run, shell }) => run !== undefined && shell !== "bash")).toEqual([]);
    const used = steps.flatMap(({ uses }) => uses ?? []);
    expect(used).toEqual([expect.stringMatching(/^github\/codeql-action\/upload-sarif@[0-9a-f]{40}$/)]);
  });

  it("takes no input into the text of a script", () => {
    expect(steps.filter(({ run }) => run?.includes("${{"))).toEqual([]);
    expect(steps.filter(({ run }) => run !== undefined).length).toBeGreaterThan(1);
    const read = [...text.matchAll(/\binputs\.([\w-]+)/g)].map(([, name]) => name!);
    expect([...new Set(read)].sort()).toEqual(Object.keys(action.inputs).sort());
    expect(Object.entries(action.inputs).flatMap(([name, { required }]) => (required === true ? name : []))).toEqual([
      "policy",
    ]);
  });

  it("starts this version of the package, where the caller names no other", () => {
    const { version } = readJson(join(ROOT, "package.json"));
    expect(action.inputs["version"]!.default).toBe(version);
    const bin = mkdtempSync(join(tmpdir(), "bootproof-npx-"));
    const started = `exec "${process.execPath}" "${COMMAND}" "$@"`;
    const npx = `#!/bin/sh\nprintf '<%s>' "$@" >> "${bin}/words"\nshift 2\n${started}\n`;
    writeFileSync(join(bin, "npx"), npx, { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env["PATH"]!}` };
    expect(runAction({ policy: "policy.json", "boot-proof": "--quiet.json" }, newFolder(), { env }).ok).toBe(true);
    expect(readFileSync(join(bin, "words"), "utf8")).toContain(`<--yes><bootproof@${String(version)}><verify>`);
  });

  it("passes with one notice and a summary where the evidence is what the policy pins", () => {
    const inputs = {
      ...built,
      policy: "policy.json",
      "boot-proof": "my evidence/boot proof.json",
      "app-proof": "app.json",
    };
    const { ok, outputs, annotations, summary, called } = runAction(inputs, newFolder());
    expect(ok).toBe(true);
    expect(outputs).toMatchObject({ verdict: "verified", "exit-code": "0" });
    expect(annotations).toEqual([expect.stringMatching(/^::notice title=bootproof::VERIFIED with \d warnings?: /)]);
    expect(summary).toMatch(/^## VERIFIED/);
    expect(summary.match(/^## VERIFIED/gm)).toHaveLength(1);
    expect(called).toEqual([]);
    expect(sarifFaults(JSON.parse(readFileSync(outputs["sarif-file"]!, "utf8")))).toEqual([]);
  });

  it("keeps the evidence in one file, whatever the verdict, and a page with html", async () => {
    for (const [policy, code] of [
      ["policy.json", 0],
      ["other policy.json", 1],
    ] as const) {
      const files = { "boot-proof": "my evidence/boot proof.json", "app-proof": "app.json" };
      const folder = newFolder();
      const { outputs } = runAction({ ...built, policy, ...files, html: "true" }, folder);
      for (const file of [outputs["bundle-file"]!, outputs["page-file"]!]) {
        const again = await bootproof(["verify", file, "--policy", join(folder, policy)]);
        expect(again.code, again.stderr).toBe(code);
      }
    }
    const without = runAction({ ...built, policy: "policy.json", "boot-proof": "app.json" }, newFolder());
    expect([without.outputs["bundle-file"], without.outputs["page-file"]]).toEqual(["", ""]);
  });

  it("fails with 1, annotations and findings where it is not, and uploads those", () => {
    const inputs = {
      ...built,
      policy: "other policy.json",
      "boot-proof": "my evidence/boot proof.json",
      sarif: "true",
    };
    const { ok, code, outputs, annotations, summary, called } = runAction(inputs, newFolder());
    expect([ok, code]).toEqual([false, 1]);
    expect(outputs).toMatchObject({ verdict: "rejected", "exit-code": "1" });
    expect(annotations[0]).toMatch(/^::error title=bootproof::REJECTED: nothing is proven\./);
    expect(annotations.join("\n")).toContain(
      "::error title=bootproof policy.namespace,file=my evidence/boot proof.json,line=1::",
    );
    expect(summary).toMatch(/^## REJECTED/);
    expect(called).toEqual([
      {
        uses: expect.stringContaining("upload-sarif") as string,
        with: { sarif_file: outputs["sarif-file"]!, category: "bootproof" },
      },
    ]);
    const sarif = readFileSync(outputs["sarif-file"]!, "utf8");
    expect(sarifFaults(JSON.parse(sarif))).toEqual([]);
    expect(sarif).toContain('"uri": "my%20evidence/boot%20proof.json"');
  });

  it("tells a rejection as one where the upload fails, too", () => {
    const inputs = { ...built, policy: "other policy.json", "boot-proof": ODD[0]!, sarif: "true" };
    expect(runAction(inputs, newFolder(), { othersFail: true })).toMatchObject({ ok: false, code: 1 });
    const good = { ...inputs, policy: "policy.json" };
    expect(runAction(good, newFolder(), { othersFail: true })).toMatchObject({ ok: false, code: 0 });
  });

  it("takes every file by its name, whatever is in it", () => {
    const folder = newFolder();
    const before = readdirSync(folder);
    const inputs = { ...built, policy: "policy.json", "boot-proof": `${ODD.join("\r\n")}\n` };
    const { outputs, log } = runAction(inputs, folder);
    expect([outputs["exit-code"], log.match(/^::error/gm)]).toEqual(["0", null]);
    expect(readdirSync(folder)).toEqual(before);
    const sarif = JSON.parse(readFileSync(outputs["sarif-file"]!, "utf8")) as {
      runs: [{ artifacts: { location: { uri: string } }[] }];
    };
    expect(sarif.runs[0].artifacts.map(({ location }) => decodeURIComponent(location.uri))).toEqual(ODD);
  });

  it.each([
    ["a policy", { policy: "$(touch injected)" }],
    ["a bundle", { bundle: "--no-policy; touch injected" }],
    ["an application", { app: "$(touch injected)\n; touch injected" }],
    ["a payload", { "app-proof": "app.json", payload: "T:/x=`touch injected`\n$(touch injected)" }],
    ["a version", { command: "none", version: "$(touch injected)" }],
    ["a command", { command: "true; touch injected $(touch injected)" }],
  ])("runs nothing out of %s", (_, inputs) => {
    const folder = newFolder();
    const offline = { npm_config_registry: "http://127.0.0.1:9", npm_config_fetch_retries: "0" };
    const ran = runAction({ ...built, policy: "policy.json", ...inputs }, folder, { env: offline });
    expect(ran.ok).toBe(false);
    expect(ran.outputs["verdict"]).toBe("");
    expect(readdirSync(folder)).not.toContain("injected");
  });

  it.each([
    ["a file that is not there", { "boot-proof": "nowhere.json" }, "nowhere.json: no such file"],
    ["a file that is named like an option", { "boot-proof": "--no-policy" }, "an option, as its value"],
    ["no evidence at all", {}, "the evidence to verify"],
    ["an organization that nothing can be of", { "boot-proof": "--quiet.json", "organization-id": "o" }, "name no org"],
    [
      "an address that nothing is fetched from",
      { "boot-proof": "--quiet.json", "base-url": "https://a" },
      "is for app",
    ],
    ["a word that is neither true nor false", { "boot-proof": "--quiet.json", sarif: "yes" }, "sarif is true or false"],
    ["a command that is not there", { command: "./nothing-here" }, "bootproof could not be started"],
    ["a command that fails as a rejection does", { command: "false" }, "bootproof could not be started"],
    ["a command of another kind", { command: "touch" }, "bootproof could not be started"],
  ])("fails with 2, and no verdict, for %s", (_, inputs, said) => {
    const { ok, code, outputs, annotations, log, called } = runAction(
      { ...built, policy: "policy.json", sarif: "true", ...inputs },
      newFolder(),
    );
    expect([ok, code, outputs]).toEqual([false, 2, noOutputs("2")]);
    expect(annotations).toEqual([expect.stringMatching(/^::error title=bootproof::Nothing was verified: /)]);
    expect(log).toContain(said);
    expect(called).toEqual([]);
  });

  it.each(Object.keys(action.inputs))("fails with 2, and no verdict, where %s is given and empty", (name) => {
    const inputs = { ...built, policy: "policy.json", "boot-proof": "--quiet.json" };
    const offline = { npm_config_registry: "http://127.0.0.1:9", npm_config_fetch_retries: "0" };
    const given = { ...inputs, [name]: name === "app" ? " \n" : "" };
    const { ok, code, outputs, annotations } = runAction(given, newFolder(), { env: offline });
    expect([ok, code, outputs]).toEqual([false, 2, noOutputs("2")]);
    expect(annotations).toEqual([
      expect.stringMatching(`^::error title=bootproof::Nothing was verified: the input ${name} is empty\\.`),
    ]);
  });

  it.each([
    ["boot-proof", "--quiet.json\n\n"],
    ["app-proof", "\n--quiet.json"],
    ["app", "--quiet.json\n \r\n--quiet.json"],
    ["payload", "--quiet.json\n\n"],
  ])("fails with 2 where a line of %s is empty", (name, lines) => {
    const inputs = { ...built, policy: "policy.json", "boot-proof": "--quiet.json", [name]: lines };
    const { code, log } = runAction(inputs, newFolder());
    expect([code, log]).toEqual([2, expect.stringContaining(`the input ${name} has a line that is empty`)]);
  });

  it("takes none for what is not used, as it does what is left out", () => {
    const required = { ...built, policy: "policy.json", "boot-proof": "--quiet.json" };
    const unused = Object.keys(action.inputs).filter((name) => action.inputs[name]!.default === "none");
    for (const name of ["boot-proof", "command"]) unused.splice(unused.indexOf(name), 1);
    expect(unused).toHaveLength(14);
    expect(unused.map((name) => action.inputs[name]!.default)).toEqual(unused.map(() => "none"));
    const none = Object.fromEntries(unused.map((name) => [name, "none\n"]));
    expect(runAction({ ...none, ...required }, newFolder()).outputs["verdict"]).toBe("verified");
  });

  it("holds app proofs against the organization", () => {
    const inputs = { ...built, policy: "policy.json", "boot-proof": "--quiet.json", "app-proof": "app.json" };
    const { code, log } = runAction({ ...inputs, "organization-id": "another" }, newFolder());
    expect([code, log]).toEqual([1, expect.stringContaining("app.request")]);
  });

  it("with fail-on-warning fails with 1 for a warning, and says which", async () => {
    const folder = newFolder();
    const six = vector("boot-proofs/six-members.json");
    writeFileSync(join(folder, "policy.json"), (await bootproof(["pin", "--boot-proof", six])).stdout);
    const inputs = { ...built, policy: "policy.json", "boot-proof": six };
    expect(runAction(inputs, folder).outputs["verdict"]).toBe("verified");
    const { code, outputs, annotations } = runAction({ ...inputs, "fail-on-warning": "true" }, folder);
    expect([code, outputs["verdict"]]).toEqual([1, "rejected"]);
    expect(annotations[0]).toMatch(/^::error title=bootproof::REFUSED with \d warnings?: .*WARNING /);
  });

  it("takes a nonce, an image and payloads, each of which fails what does not meet it", () => {
    const inputs = { ...built, policy: "policy.json", "boot-proof": "--quiet.json" };
    const failing = (more: Readonly<Record<string, string>>): string[] => {
      const { outputs } = runAction({ ...inputs, ...more }, newFolder());
      expect(outputs["exit-code"]).toBe("1");
      const { verdict, checks } = readJson(outputs["report-file"]!) as unknown as Report;
      expect(verdict).toBe("rejected");
      return checks.filter(({ status }) => status === "fail").map(({ id }) => id);
    };
    expect(failing({ nonce: "00ff" })).toEqual(["bind.nonce"]);
    expect(failing({ image: IMAGE })).toEqual(["bind.image"]);
    expect(failing({ "app-proof": "app.json", payload: 'OTHER:/a="1"\nMORE:/b="2"' })).toContain("app.request");
  });

  it("verifies a bundle against the policy that is committed, and not by its maker's", async () => {
    const folder = newFolder();
    const { stdout } = await bootproof(["bundle", "--boot-proof", BOOT_1, "--policy", join(folder, "policy.json")]);
    writeFileSync(join(folder, "a bundle.json"), stdout);
    const inputs = { ...built, bundle: "a bundle.json" };
    expect(runAction({ ...inputs, policy: "policy.json" }, folder).outputs["exit-code"]).toBe("0");
    expect(runAction({ ...inputs, policy: "other policy.json" }, folder).outputs["exit-code"]).toBe("1");
    expect(runAction({ ...inputs, policy: "" }, folder).outputs["exit-code"]).toBe("2");
  });
});

const document = readFileSync(join(ROOT, "docs/ci.md"), "utf8");
const block = (first: string): unknown =>
  parse(new RegExp(`^\`\`\`yaml\\n(# ${first}\\n[^]*?)^\`\`\`$`, "m").exec(document)![1]!);

/** A folder with the `npm ci` of a pipeline, and `npx --no -- bootproof`, which is the built command. */
function npmBin(): string {
  const bin = mkdtempSync(join(tmpdir(), "bootproof-npx-"));
  const npx = `#!/bin/sh\n[ "$1 $2 $3" = "--no -- bootproof" ] || exit 9\nshift 3\n`;
  writeFileSync(join(bin, "npx"), `${npx}exec "${process.execPath}" "${COMMAND}" "$@"\n`, { mode: 0o755 });
  writeFileSync(join(bin, "npm"), '#!/bin/sh\n[ "$*" = "ci" ]\n', { mode: 0o755 });
  return bin;
}

describe("docs/ci.md", () => {
  it("calls the action by its path, with inputs that it has", () => {
    const { jobs } = block("\\.github/workflows/verify\\.yml") as { jobs: { verify: { steps: Step[] } } };
    const step = jobs.verify.steps.find(({ uses }) => uses?.includes("/bootproof/"))!;
    const [, path] = /^OWNER\/bootproof\/(.+)@COMMIT$/.exec(step.uses!)!;
    expect(existsSync(join(ROOT, path!, "action.yml"))).toBe(true);
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(step.with!)));
    expect(String(step.with!["sarif"])).toBe("true");
    const named = new Set(text.match(/BOOTPROOF_API_\w+/g));
    expect(Object.keys(step.env!)).toEqual([...named]);
  });
});

describe("the page of the state in docs/ci.md", () => {
  const { jobs } = block("\\.github/workflows/state\\.yml") as { jobs: { state: { steps: Step[] } } };
  const { steps } = jobs.state;
  const script = steps.find(({ run }) => run?.includes("badge.json"))!.run!;
  const stateOf = (file: string, policy = "policy.json") => {
    const folder = newFolder();
    const own = script.replace("--app signer", `--boot-proof '${file}'`).replace("policy.json", `'${policy}'`);
    const env = { ...process.env, PATH: `${npmBin()}:${process.env["PATH"]}` };
    const { status } = spawnSync("bash", ["-e", "-c", own], { cwd: folder, env });
    const [, title] = /<title>([^<]*)</.exec(readFileSync(join(folder, "site/index.html"), "utf8"))!;
    return [status, title, readJson(join(folder, "site/badge.json"))];
  };

  it("shows each state, and is published whatever it is", () => {
    const state = (code: number, word: string, message: string, color: string) => {
      return [code, expect.stringContaining(word), { schemaVersion: 1, label: "deployment", message, color }];
    };
    const boot = "my evidence/boot proof.json";
    expect(stateOf(boot)).toEqual(state(0, "VERIFIED with 3 warnings", "verified", "green"));
    expect(stateOf(boot, "other policy.json")).toEqual(state(1, "REJECTED", "rejected", "red"));
    expect(stateOf("gone.json")).toEqual(state(2, "NOT VERIFIED", "not verified", "lightgrey"));
    expect(steps.slice(-2).map((step) => step.if)).toEqual(["always()", "always()"]);
  });
});

describe("the action with a service", () => {
  const data = mkdtempSync(join(tmpdir(), "bootproof-action-lab-"));
  let lab: Process;
  let inputs: Readonly<Record<string, string>>;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    lab = await speaking(["lab", "--data", data]);
    const facts = readJson(join(data, "lab.json")) as Record<string, string>;
    const key = readJson(join(data, facts["apiKeyFile"]!)) as Record<string, string>;
    env = { BOOTPROOF_API_PUBLIC_KEY: key["publicKey"]!, BOOTPROOF_API_PRIVATE_KEY: key["privateKey"]! };
    inputs = {
      ...built,
      policy: join(data, facts["policyFile"]!),
      app: "signer\n",
      "base-url": facts["baseUrl"]!,
      "organization-id": facts["organizationId"]!,
    };
  });
  afterAll(() => lab.end("SIGINT"));

  it("fetches once, and says whose word it is that this enclave is the newest", () => {
    // As on a runner of GitHub, whose path has no space that Markdown would set apart.
    const own = { ...env, RUNNER_TEMP: mkdtempSync(join(tmpdir(), "Runner Temp (x)-")) };
    const { ok, outputs, annotations, summary, log } = runAction(inputs, newFolder(), { env: own });
    expect([ok, outputs["verdict"]], log).toEqual([true, "verified"]);
    expect(Object.keys(readJson(outputs["bundle-file"]!))).toEqual(["bundle", "bootProofs", "appProofs"]);
    expect([summary.includes("1-signer.json"), summary.includes("signer")]).toEqual([false, true]);
    expect(annotations).toEqual([
      expect.stringMatching(
        /^::notice title=bootproof::Fetched by the application's name: .* is the service's word\.$/,
      ),
      expect.stringMatching(/^::notice title=bootproof::VERIFIED with \d warnings?: /),
    ]);
    expect(readFileSync(outputs["sarif-file"]!, "utf8")).toContain("/bootproof-1/1-signer.json");
    expect(log).not.toContain(env["BOOTPROOF_API_PRIVATE_KEY"]!);
  });

  it("takes the connection from the environment of the job", () => {
    const { "base-url": BOOTPROOF_BASE_URL, "organization-id": BOOTPROOF_ORGANIZATION_ID, ...rest } = inputs;
    const ofTheJob = {
      ...env,
      BOOTPROOF_BASE_URL: BOOTPROOF_BASE_URL!,
      BOOTPROOF_ORGANIZATION_ID: BOOTPROOF_ORGANIZATION_ID!,
    };
    expect(runAction(rest, newFolder(), { env: ofTheJob }).outputs["verdict"]).toBe("verified");
  });

  it("fetches an activity by its id, and compares it with the request as it was submitted", async () => {
    const folder = newFolder();
    const { app, ...connection } = inputs;
    const client = createClient({
      baseUrl: inputs["base-url"]!,
      organizationId: inputs["organization-id"]!,
      stamper: await apiKeyStamper({
        publicKey: env["BOOTPROOF_API_PUBLIC_KEY"]!,
        privateKey: env["BOOTPROOF_API_PRIVATE_KEY"]!,
      }),
      fetch: (input, init) => {
        if (String(input).includes("/submit/")) writeFileSync(join(folder, "request.json"), init!.body as Uint8Array);
        return fetch(input, init);
      },
    });
    const { ids } = readJson(join(data, "lab.json")) as unknown as { ids: { walletId: string } };
    const parameters = { walletId: ids.walletId, walletName: "of the action" };
    const { activity } = await client.updateWallet(parameters, { generateAppProofs: true });
    const asked = { ...connection, "activity-id": activity.id, request: "request.json" };
    const { outputs, log } = runAction(asked, folder, { env });
    expect(outputs["verdict"], log).toBe("verified");
    const { claims } = readJson(outputs["report-file"]!) as unknown as Report;
    expect(claims!.activity).toMatchObject({
      id: activity.id,
      asked: expect.arrayContaining(["id", "parameters"]) as [],
    });
    const request = readFileSync(join(folder, "request.json"), "utf8");
    writeFileSync(join(folder, "request.json"), request.replace("of the action", "of another"));
    expect(runAction(asked, folder, { env })).toMatchObject({ code: 1, outputs: { verdict: "rejected" } });
    const unknown = runAction({ ...connection, "activity-id": "none-such" }, folder, { env });
    expect([unknown.code, unknown.outputs["verdict"]]).toEqual([3, ""]);
    expect([app, activity.status]).toEqual(["signer\n", "ACTIVITY_STATUS_COMPLETED"]);
  });

  it("fails with 3 where there is nothing to fetch, and with 2 without a key", () => {
    const nobody = runAction({ ...inputs, app: "nobody" }, newFolder(), { env });
    expect([nobody.code, nobody.outputs]).toEqual([3, noOutputs("3")]);
    expect(nobody.annotations).toEqual([
      expect.stringContaining("Evidence could not be fetched: nothing was verified"),
    ]);
    const keyless = runAction(inputs, newFolder());
    expect([keyless.code, keyless.outputs["verdict"]]).toEqual([2, ""]);
    expect(keyless.annotations).toEqual([expect.stringContaining("the connection is at fault")]);
  });
});

describe(".github/Dockerfile", () => {
  const dockerfile = readFileSync(join(ROOT, ".github/Dockerfile"), "utf8");

  it("makes an image that is not root, has no shell, and no packages but the dependencies", () => {
    expect(dockerfile).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    expect(dockerfile).toMatch(/^ARG RUNTIME=gcr\.io\/distroless\/nodejs\d+-debian12:nonroot$/m);
    expect(dockerfile).toMatch(/npm ci --omit=dev --omit=peer --omit=optional --ignore-scripts /);
  });

  /** Only where a builder answers; it fetches the base images. */
  const hasBuilder = spawnSync("docker", ["info"], { stdio: "ignore" }).status === 0;
  it.runIf(hasBuilder)("is built by the builder of this machine, and verifies offline", { timeout: 600_000 }, () => {
    const tag = `bootproof-test-${process.pid}`;
    const built = spawnSync("docker", ["build", "-f", ".github/Dockerfile", "-t", tag, "."], { cwd: ROOT });
    expect(built.status, built.stderr.toString().slice(-2000)).toBe(0);
    const folder = newFolder();
    const run = (...args: string[]): { status: number | null; stdout: string } =>
      spawnSync("docker", ["run", "--rm", "--network", "none", "-v", `${folder}:/work:ro`, tag, ...args], {
        encoding: "utf8",
      });
    expect(run("--version").stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const args = ["verify", "--boot-proof", "my evidence/boot proof.json"];
    for (const format of ["text", "junit", "html", "ear"])
      expect(run(...args, "--policy", "policy.json", "--format", format).status).toBe(0);
    expect(run(...args, "--policy", "other policy.json").status).toBe(1);
    expect(run(...args).status).toBe(2);
  });
});
