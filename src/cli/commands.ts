/** Every command by the heading of its group, in the order of the help. Without `help all` only the first is shown. */
import type { ProcessIo } from "./io.js";
import { type Commands, FRONT_GROUP, run } from "./main.js";

export const COMMANDS = {
  [FRONT_GROUP]: {
    verify: {
      hasTopics: true,
      summary: "verify boot proofs, app proofs, activities, bundles and pages",
      load: async () => (await import("./verify.js")).addVerifyCommand,
    },
    fetch: {
      summary: "fetch boot proofs and app proofs from the service",
      load: async () => (await import("./fetch.js")).addFetchCommand,
    },
    pin: {
      summary: "write a policy that pins deployments, or add a deployment to a policy",
      load: async () => (await import("./pin.js")).addPinCommand,
    },
    policy: {
      summary: "check a policy or releases, drop a deployment, or sign versions",
      load: async () => (await import("./policy.js")).addPolicyCommand,
    },
    bundle: {
      summary: "pack evidence, policy and report into one file",
      load: async () => (await import("./bundle.js")).addBundleCommand,
    },
    review: {
      summary: "compare a manifest with a policy before anyone approves it",
      operands: { "[manifest]": "a manifest or an envelope; - for stdin" },
      load: async () => (await import("./review.js")).addReviewCommand,
    },
    explain: {
      summary: "explain what a check proves, why it fails, and what to do",
      operands: { "[word]": "the id of a check, a verdict, a status, an exit code, or a term" },
      load: async () => (await import("./explain.js")).addExplainCommand,
    },
    demo: {
      summary: "verify real evidence that comes with the package, then a changed copy of it",
      load: async () => (await import("./demo.js")).addDemoCommand,
    },
    lab: {
      summary: "run a local service with software enclaves, for trying and testing",
      load: async () => (await import("./lab.js")).addLabCommand,
    },
  },
  "Operations:": {
    audit: {
      summary: "verify any number of entries on all cores, with a result for each",
      operands: { "[input...]": "files of lines, folders, or - for lines on stdin" },
      load: async () => (await import("./audit.js")).addAuditCommand,
    },
    "audit worker": {
      summary: "verify entries for audits on other machines, through a queue",
      load: async () => (await import("./worker.js")).addWorkerCommand,
    },
    watch: {
      summary: "watch applications: verify and log every new boot proof",
      load: async () => (await import("./watch.js")).addWatchCommand,
    },
    log: {
      summary: "check that no line of a bootproof watch log was removed, edited or moved",
      load: async () => (await import("./log.js")).addLogCommand,
    },
    addresses: {
      summary: "list every address of an organization, and whether a pinned enclave derived it",
      load: async () => (await import("./addresses.js")).addAddressesCommand,
    },
    proxy: {
      summary: "verify what the service answers to clients in any language",
      load: async () => (await import("./proxy.js")).addProxyCommand,
    },
  },
  "Files:": {
    inspect: {
      summary: "show the contents of evidence, a bundle or a policy, without verifying it",
      operands: { "<file>": "the file to show; - for stdin" },
      load: async () => (await import("./inspect.js")).addInspectCommand,
    },
    diff: {
      summary: "show what changed between two files, worst first, without verifying them",
      operands: { "<a>": "the old file; - for stdin", "<b>": "the new file; - for stdin" },
      load: async () => (await import("./diff.js")).addDiffCommand,
    },
    measure: {
      summary: "the PCRs of an enclave image, and whether a policy pins them",
      operands: { "[file]": "the enclave image; - for stdin" },
      load: async () => (await import("./measure.js")).addMeasureCommand,
    },
    page: {
      summary: "make a page that verifies in a browser",
      load: async () => (await import("./page.js")).addPageCommand,
    },
    token: {
      summary: "verify a session token, an OTP verification token or a signed bundle",
      operands: { "<token>": "@FILE, or - for stdin" },
      load: async () => (await import("./token.js")).addTokenCommand,
    },
  },
  "Keys:": {
    key: {
      summary: "make keys, show their public halves, and stamp requests",
      load: async () => (await import("./key.js")).addKeyCommand,
    },
  },
  "The shell:": {
    completion: {
      summary: "write a completion script for bash, zsh or fish",
      operands: { "<shell>": "bash, zsh, fish" },
      load: async () => (await import("./completion.js")).addCompletionCommand,
    },
  },
} satisfies Commands;

/** Runs the command line of any command, as `run` does. Resolves to the exit code. */
export function runAny(argv: readonly string[], io: ProcessIo): Promise<number> {
  return run(argv, io, COMMANDS);
}
