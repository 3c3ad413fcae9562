/** The licences of what a build bundles. */
import { readFileSync, readdirSync } from "node:fs";

/** Returns name, version and licence text of every bundled package, as the licences require. */
export function notices(what, metafiles) {
  const inputs = metafiles.flatMap(({ inputs }) => Object.keys(inputs));
  const found = inputs.flatMap((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  const texts = [...new Set(found)].sort().map((name) => {
    const folder = `node_modules/${name}`;
    const { version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const [file] = readdirSync(folder).filter((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no file with its licence`);
    return `${name} ${version}\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
  });
  return `${what} has code of these packages in it.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`;
}
