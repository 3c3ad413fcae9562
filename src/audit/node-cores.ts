/** Decides how many threads a process should start, by its cores and the limit of its container. */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, normalize } from "node:path/posix";

/** Measured: 64 threads take 1.8 GB, and were slower than two. */
const MOST_THREADS = 16;

/**
 * Returns 1 to 16. `availableParallelism` knows the affinity of the process, but not the CPU time that its control
 * group may use. `root` is the folder that holds `proc` and `sys`; `cores` is the number of cores of the process.
 */
export function defaultThreads(root = "/", cores = availableParallelism()): number {
  const groups = groupsOf(textAt(join(root, "proc/self/cgroup")) ?? "");
  const limits = groups.flatMap(({ mounts, path, read }) =>
    mounts.flatMap((mount) => foldersTo(join(root, "sys/fs/cgroup", mount), path).flatMap((folder) => read(folder))),
  );
  const allowed = Math.min(cores, MOST_THREADS, ...limits.map((limit) => Math.ceil(limit)));
  return Math.max(1, allowed);
}

interface Group {
  /** Folders of `/sys/fs/cgroup` where the hierarchy may be mounted. */
  readonly mounts: readonly string[];
  readonly path: string;
  /** Returns the limit in a folder, in cores, or an empty list. */
  readonly read: (folder: string) => readonly number[];
}

/** A line is `ID:CONTROLLERS:PATH` (cgroups(7)). The line of version 2 has ID 0 and no controllers. */
function groupsOf(text: string): Group[] {
  return text.split("\n").flatMap((line): Group[] => {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) return [];
    if (controllers === "") return [{ mounts: [""], path, read: limitOfVersion2 }];
    if (!controllers.split(",").includes("cpu")) return [];
    return [{ mounts: [...new Set([controllers, "cpu"])], path, read: limitOfVersion1 }];
  });
}

/**
 * Returns the group's folder and all above it, each of which may limit it. In a container the path is often that of the
 * host, which does not exist, or begins with `/..`: the mount itself is then the container's own group.
 */
function foldersTo(mount: string, path: string): string[] {
  const names = normalize(`/${path}`).split("/").filter(Boolean);
  return Array.from({ length: names.length + 1 }, (_, depth) => join(mount, ...names.slice(0, depth)));
}

/** The file has `QUOTA PERIOD` in microseconds, or `max PERIOD`. */
function limitOfVersion2(folder: string): readonly number[] {
  const [quota = "", period = ""] = (textAt(join(folder, "cpu.max")) ?? "").trim().split(/\s+/);
  return ratio(quota, period);
}

/** A quota of -1 means no limit. */
function limitOfVersion1(folder: string): readonly number[] {
  const quota = textAt(join(folder, "cpu.cfs_quota_us")) ?? "";
  return ratio(quota.trim(), (textAt(join(folder, "cpu.cfs_period_us")) ?? "").trim());
}

function ratio(quota: string, period: string): readonly number[] {
  const isLimit = /^[1-9]\d{0,15}$/.test(quota) && /^[1-9]\d{0,15}$/.test(period);
  return isLimit ? [Number(quota) / Number(period)] : [];
}

function textAt(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
