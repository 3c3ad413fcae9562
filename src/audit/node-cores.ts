/** How many threads a process should start: by its cores and the limit of its container. */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, normalize } from "node:path/posix";

/** 64 threads take 1.8 GB, and were slower than two. */
const MOST_THREADS = 16;

/**
 * 1 to 16. `availableParallelism` knows the affinity of the process, not the CPU time that its control group may use.
 * `root`: the folder that holds `proc` and `sys`. `cores`: those of the process.
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
  /** The limits in a folder, in cores: one, or none. */
  readonly read: (folder: string) => readonly number[];
}

/** cgroups(7): a line is `ID:CONTROLLERS:PATH`; that of version 2 has ID 0 and no controllers. */
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
 * The group's folder and all above it, each of which may limit it. In a container the path is often that of the host,
 * which is not there, or begins with `/..`: the mount itself is the container's own group then.
 */
function foldersTo(mount: string, path: string): string[] {
  const names = normalize(`/${path}`).split("/").filter(Boolean);
  return Array.from({ length: names.length + 1 }, (_, depth) => join(mount, ...names.slice(0, depth)));
}

/** `QUOTA PERIOD` in microseconds, or `max PERIOD`. */
function limitOfVersion2(folder: string): readonly number[] {
  const [quota = "", period = ""] = (textAt(join(folder, "cpu.max")) ?? "").trim().split(/\s+/);
  return ratio(quota, period);
}

/** -1: no limit. */
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
