/** Computes how many threads a process should start, from its cores and the CPU limit of its container. */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, normalize } from "node:path/posix";

/** Maximum number of threads. In a measurement, 64 threads used 1.8 GB and were slower than two. */
const MOST_THREADS = 16;

/**
 * Returns the number of threads, 1 to 16. `availableParallelism` respects the affinity of the process, but not the
 * limit on CPU time of its control group. `root` is the folder that holds `proc` and `sys`, and `cores` is the number
 * of cores of the process.
 */
export function defaultThreads(root = "/", cores = availableParallelism()): number {
  const groups = groupsOf(textAt(join(root, "proc/self/cgroup")) ?? "");
  const limits = groups.flatMap(({ mounts, path, files }) =>
    mounts.flatMap((mount) =>
      foldersTo(join(root, "sys/fs/cgroup", mount), path).flatMap((folder) => limitIn(folder, files)),
    ),
  );
  const allowed = Math.min(cores, MOST_THREADS, ...limits.map((limit) => Math.ceil(limit)));
  return Math.max(1, allowed);
}

interface Group {
  /** Folders of `/sys/fs/cgroup` where the hierarchy may be mounted. An empty text means `/sys/fs/cgroup` itself. */
  readonly mounts: readonly string[];
  readonly path: string;
  /** Files that have quota and period in microseconds, in one or in two. No limit is `max` or -1. */
  readonly files: readonly string[];
}

/** Reads lines `ID:CONTROLLERS:PATH` (cgroups(7)). The line of version 2 has the ID 0 and no controllers. */
function groupsOf(text: string): Group[] {
  return text.split("\n").flatMap((line): Group[] => {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) return [];
    if (controllers === "") return [{ mounts: [""], path, files: ["cpu.max"] }];
    if (!controllers.split(",").includes("cpu")) return [];
    const mounts = [...new Set([controllers, "cpu"])];
    return [{ mounts, path, files: ["cpu.cfs_quota_us", "cpu.cfs_period_us"] }];
  });
}

/**
 * Returns the group's folder and all folders above it: each can limit the group. In a container the path is often the
 * host's, which does not exist there, or begins with `/..`. The mount itself is then the container's own group.
 */
function foldersTo(mount: string, path: string): string[] {
  const names = normalize(`/${path}`).split("/").filter(Boolean);
  return Array.from({ length: names.length + 1 }, (_, depth) => join(mount, ...names.slice(0, depth)));
}

/** Returns the limit in a folder, in cores. The list is empty if there is none. */
function limitIn(folder: string, files: readonly string[]): readonly number[] {
  const text = files.map((name) => textAt(join(folder, name)) ?? "").join(" ");
  const [, quota, period] = /^\s*([1-9]\d{0,15})\s+([1-9]\d{0,15})\s*$/.exec(text) ?? [];
  return quota === undefined ? [] : [Number(quota) / Number(period)];
}

function textAt(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
