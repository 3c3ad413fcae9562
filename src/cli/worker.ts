/** `bootproof worker`: verifies for the audits of other machines, through a queue. */
import type { Command } from "commander";
import type { Health } from "../health/node.js";
import { auditPolicy } from "./audit-policy.js";
import { EXIT } from "./exit-codes.js";
import { InputFiles } from "./files.js";
import { type HealthRequest, evidenceTime, healthOf, startedHealth } from "./health.js";
import { Interruption } from "./interruption.js";
import type { Io } from "./io.js";
import { requireLogFormat } from "./message-lines.js";
import type { Flags } from "./option-table.js";
import { workersOf } from "./option-values.js";
import { ArgumentReader, choosesPolicy } from "./options.js";
import { type QueueRequest, queueOf, queueOptions, queuePaths, queueProblem } from "./queue.js";
import { PIN_FIRST, WHY_A_POLICY } from "./verify-request.js";

interface WorkerRequest {
  readonly queue: QueueRequest;
  /** Null means `--no-policy`. */
  readonly policy: string | null;
  readonly trustAnchor: string | undefined;
  readonly workers: number | undefined;
  readonly health: HealthRequest;
}

const EXAMPLES = `
A worker verifies what bootproof audit --queue puts there under the same policy and the same version of bootproof. It
reports other batches, and leaves them to other workers. It serves one audit after another until it is ended: on Ctrl-C
or SIGTERM it finishes its batches. Any number of workers may run, and each may be killed at any time.

The queue is Redis or Valkey, through the packages bullmq and ioredis: npm install bullmq ioredis. Anyone who can write
to that server can forge results, unless both sides have the same secret in the environment: BOOTPROOF_QUEUE_SECRET.
The URL belongs into the environment, too, if it has a password: BOOTPROOF_QUEUE_URL. A worker then needs no --queue,
and an audit needs it without a URL.

Examples:
    $ bootproof worker --queue redis://10.0.0.5:6379 --policy policy.json
    $ bootproof audit --queue redis://10.0.0.5:6379 --policy policy.json proofs.ndjson --out results.ndjson

Exit codes: 0 ended normally, 2 wrong usage, or this worker cannot verify any more, or the queue's server
may drop jobs (maxmemory-policy); 3 the queue cannot be reached.`;

export function addWorkerCommand(command: Command, io: Io, finish: (code: number) => void): void {
  command
    .description("Verify what bootproof audit --queue puts into a queue, on all cores, until it is ended.")
    .usage("[--queue URL] (--policy FILE | --no-policy) [--workers N]")
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(command);
  command.action(async (flags: Flags<"worker">) => {
    finish(await run(await requestOf(args, flags, io), io));
  });
}

async function requestOf(args: ArgumentReader, flags: Flags<"worker">, io: Io): Promise<WorkerRequest> {
  const { policy, trustAnchor, workers } = flags;
  args.refuseRepeated();
  const queue = await queueOf(args, flags, io);
  if (!choosesPolicy(args)) args.fault(WHY_A_POLICY, PIN_FIRST);
  if (trustAnchor !== undefined && args.has("policy"))
    args.fault('--trust-anchor requires --no-policy: a policy has its own, as "trustAnchors"');
  args.refuseRepeatedStdin([policy || undefined, trustAnchor, ...queuePaths(flags)]);
  const threads = workers === undefined ? undefined : workersOf(args, workers);
  const health = healthOf(args, flags);
  requireLogFormat(args, flags.logFormat);
  args.throwFaults();
  return { queue: queue!, policy: policy === false ? null : policy!, trustAnchor, workers: threads, health };
}

async function run(request: WorkerRequest, io: Io): Promise<number> {
  // The handler is set before any work, so that no signal is missed.
  const interruption = new Interruption();
  let health: Health | null = null;
  try {
    const files = new InputFiles(io);
    const held = await auditPolicy(files, request, "worker");
    files.throwFaults();
    health = await startedHealth(request.health, { command: "worker" }, io);
    const options = await queueOptions(request.queue, io);
    const { runWorker } = await import("../audit/queue.js");
    const { batches, entries } = await runWorker(request.queue.url, held, {
      ...options,
      ...(request.workers !== undefined && { workers: request.workers }),
      signal: interruption.signal,
      onQueue: (contact) => health?.queue(contact),
      onProgress: ({ entries, refused, newest }) =>
        health?.work({ entries, refused, evidenceAt: evidenceTime(newest) }),
    });
    io.report(`note: ended; ${entries} entries were verified here, in ${batches} batches\n`, {
      event: "ended",
      fields: { entries, batches },
    });
    return EXIT.good;
  } catch (error) {
    throw queueProblem(error) ?? error;
  } finally {
    await health?.close();
    interruption.forget();
  }
}
