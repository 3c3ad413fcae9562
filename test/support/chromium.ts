/** Chromium for tests, where it is installed. `BOOTPROOF_BROWSER` names it or, as `required`, demands it. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const WANTED = process.env["BOOTPROOF_BROWSER"] ?? "";
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = ["", "required"].includes(WANTED) ? PLACES.find((place) => existsSync(place)) : WANTED;
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Tests in Chromium are skipped: it is not installed, and not required. */
export const NO_CHROMIUM = executablePath === undefined && WANTED !== "required";

export const WITHOUT_CHROMIUM =
  `No browser at ${PLACES.join(", ")}: what has to run in one is not tested here (Debian: apt-get install chromium; ` +
  `or BOOTPROOF_BROWSER=/path/to/one).`;

export async function launchChromium(): Promise<Browser> {
  if (executablePath === undefined)
    throw new Error(`BOOTPROOF_BROWSER=required, and there is none at ${PLACES.join(", ")}`);
  return chromium.launch({ executablePath, args: FLAGS, chromiumSandbox: false });
}
