/** The number of threads: by the cores, and by the limits of the control groups that a process is in. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { defaultThreads } from "../../src/run/node-cores.js";
import { testFolder } from "../support/folder.js";

const folder = testFolder();

const V2 = "0::/app\n";
const V1 = "11:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n1:name=systemd:/docker/1\n";
const quota = (place: string, cores: number): Record<string, string> => ({
  [`${place}/cpu.cfs_quota_us`]: `${cores < 0 ? -1 : cores * 100_000}\n`,
  [`${place}/cpu.cfs_period_us`]: "100000\n",
});

/** Files below /sys/fs/cgroup, the cores of the machine, and the threads. */
const CASES: readonly (readonly [string, string | null, Readonly<Record<string, string>>, number, number])[] = [
  ["no control groups", null, {}, 4, 4],
  ["no limit", V2, { "app/cpu.max": "max 100000\n" }, 8, 8],
  ["no file of a limit", V2, {}, 8, 8],
  ["no limit of 64 cores", V2, { "app/cpu.max": "max 100000\n" }, 64, 16],
  ["a limit of two cores", V2, { "app/cpu.max": "200000 100000\n" }, 64, 2],
  ["a limit with another period", V2, { "app/cpu.max": "30000 10000\n" }, 64, 3],
  ["a part of a core", V2, { "app/cpu.max": "50000 100000\n" }, 8, 1],
  ["two cores and a half", V2, { "app/cpu.max": "250000 100000\n" }, 8, 3],
  ["more than the machine has", V2, { "app/cpu.max": "900000 100000\n" }, 4, 4],
  ["more than most threads", V2, { "app/cpu.max": "4000000 100000\n" }, 64, 16],
  ["a limit of the parent", "0::/a/b\n", { "a/cpu.max": "100000 100000\n", "a/b/cpu.max": "max 100000\n" }, 8, 1],
  ["the least of two limits", "0::/a/b\n", { "a/cpu.max": "300000 100000", "a/b/cpu.max": "200000 100000" }, 8, 2],
  ["a limit of the mount", "0::/a\n", { "cpu.max": "300000 100000\n" }, 8, 3],
  ["a path of the host", "0::/system.slice/docker-1.scope\n", { "cpu.max": "200000 100000\n" }, 8, 2],
  ["a path outside the namespace", "0::/../../a\n", { "cpu.max": "200000 100000\n" }, 8, 2],
  ["a limit of another group", V2, { "other/cpu.max": "100000 100000\n" }, 8, 8],
  ["a damaged limit", V2, { "app/cpu.max": "two cores\n" }, 8, 8],
  ["a limit of nothing", V2, { "app/cpu.max": "0 100000\n" }, 8, 8],
  ["version 1 without a limit", V1, quota("cpu,cpuacct/docker/1", -1), 8, 8],
  ["version 1", V1, quota("cpu,cpuacct/docker/1", 2), 64, 2],
  ["version 1 by its link", V1, quota("cpu/docker/1", 3), 64, 3],
  ["version 1, in a container", V1, quota("cpu,cpuacct", 1.5), 64, 2],
  ["version 1, of the parent", V1, { ...quota("cpu/docker", 1), ...quota("cpu/docker/1", 4) }, 64, 1],
  ["version 1 without a period", V1, { "cpu/docker/1/cpu.cfs_quota_us": "100000\n" }, 8, 8],
  ["version 1 of other controllers", "3:cpuset:/docker/1\n", quota("cpu/docker/1", 1), 8, 8],
  ["both versions", `${V1}0::/docker/1\n`, quota("cpu/docker/1", 3), 64, 3],
];

it.each(CASES)("%s", (name, groups, files, cores, threads) => {
  const root = join(folder, name.replaceAll(" ", "-"));
  const all = Object.entries(files).map(([path, text]) => [`sys/fs/cgroup/${path}`, text] as const);
  for (const [path, text] of [...all, ...(groups === null ? [] : [["proc/self/cgroup", groups] as const])]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  expect(defaultThreads(root, cores)).toBe(threads);
});

it("here is a number of threads", () => {
  expect(defaultThreads()).toBeGreaterThanOrEqual(1);
  expect(defaultThreads()).toBeLessThanOrEqual(16);
});
