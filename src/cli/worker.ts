/** `bootproof audit worker`: verifies entries for audits on other machines, through a queue. */
import type { Health } from "../run/node.js";
import { auditPolicy, requireAuditPolicy } from "./audit-policy.js";
import { commandOf } from "./command.js";
import { EXIT } from "./exit-codes.js";
import { startedHealth } from "./health.js";
import { Interruption } from "./interruption.js";
import { queueOptions, queueUrlOf, runProblem } from "./queue.js";

const EXAMPLES = `
A worker verifies what bootproof audit --queue puts there under the same policy and the same version of bootproof, for
one audit after another. On Ctrl-C or SIGTERM it finishes its batches. Any number of workers may run, and be killed.

The queue is Redis or Valkey, through the packages bullmq and ioredis. Unless it is on this host, both sides need the
same secret: without it, anyone who can write to that server can forge results. A URL with a password belongs into
BOOTPROOF_QUEUE_URL: a worker then needs no --queue, and an audit needs it without a URL.

Examples:
    $ bootproof audit worker --queue redis://10.0.0.5:6379 --queue-secret-file queue.secret --policy policy.json
    $ bootproof audit --queue redis://10.0.0.5:6379 --queue-secret-file queue.secret --policy policy.json proofs.ndjson

Exit codes: 0 ended normally, 1 the signed policy is not in force, 2 wrong usage, or this worker cannot verify any more,
or the queue's server may drop jobs (maxmemory-policy); 3 the queue cannot be reached.`;

export const addWorkerCommand = commandOf(
  "audit worker",
  {
    usage: "[--queue URL] (--policy FILE | --no-policy) [--workers N]",
    help: EXAMPLES,
  },
  async ({ args, flags, files, io }) => {
    const url = await queueUrlOf(args, flags.queue, io);
    requireAuditPolicy(args);
    const { workers } = flags;
    args.throwFaults();
    const interruption = new Interruption();
    let reported: Health | null = null;
    try {
      const held = await auditPolicy(files, flags, io);
      files.throwFaults();
      reported = await startedHealth(flags, { command: "worker" }, io);
      const options = await queueOptions(flags, files, io);
      const { runWorker } = await import("../run/queue.js");
      const { batches, entries } = await runWorker(url!, held, {
        ...options,
        ...(workers !== undefined && { workers }),
        signal: interruption.signal,
        onQueue: (contact) => reported?.queue(contact),
        onProgress: (progress) => reported?.work(progress),
      });
      io.report(`note: ended; ${entries} entries were verified here, in ${batches} batches\n`, {
        event: "ended",
        fields: { entries, batches },
      });
      return EXIT.good;
    } catch (error) {
      throw runProblem(error);
    } finally {
      await reported?.close();
      interruption.forget();
    }
  },
);
