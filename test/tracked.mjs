/** The files of the repository, as its index names them: what lies beside them is nobody's fault. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../", import.meta.url));
const LEFT_OUT = /(?:^|\/)(?:node_modules|dist|coverage|\.git|\.runtimes)$/;

/** Paths from the top, sorted. Without git, as in an unpacked archive, every file counts. */
export function trackedFiles() {
  const { status, stdout } = spawnSync("git", ["-C", ROOT, "ls-files", "-z"], { encoding: "utf8" });
  const files = status === 0 ? stdout.split("\0").filter((file) => file !== "") : filesIn("");
  return files.filter((file) => existsSync(join(ROOT, file))).sort();
}

function filesIn(folder) {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (LEFT_OUT.test(path)) return [];
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}
