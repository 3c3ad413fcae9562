/**
 * Pages in Chromium, from files, without a network: what they answer, that they ask for nothing, that their own policy
 * is never violated, and that axe finds nothing to complain about. Needs `npm run build`.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { NO_CHROMIUM, launchChromium } from "../support/chromium.js";
import { APP_2, BOOT_1, fileOf } from "../cli/support.js";
import type { Report } from "../../src/report/report.js";
import { bundleIn } from "./data-of.js";
import { CASES, CHALLENGE, FLEET, MADE, built, pageFile, pageOf } from "./cases.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Watched {
  readonly page: Page;
  /** What the page asked for, but itself. */
  readonly requests: string[];
  /** Errors, and violations of the page's own policy. */
  readonly complaints: string[];
}

describe.skipIf(NO_CHROMIUM)("in Chromium", () => {
  let browser: Browser;
  /** Of all pages with the same options. */
  const contexts = new Map<string, Promise<BrowserContext>>();
  const opened: Watched[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
  });
  afterEach(async () => {
    const watched = opened.splice(0);
    for (const { page } of watched) await page.close();
    for (const { requests, complaints } of watched) expect([requests, complaints]).toEqual([[], []]);
  });

  async function open(file: string, options: { javaScriptEnabled?: boolean } = {}): Promise<Watched> {
    const kind = JSON.stringify(options);
    const context = contexts.get(kind) ?? browser.newContext({ offline: true, ...options });
    contexts.set(kind, context);
    const page = await (await context).newPage();
    const own = pathToFileURL(file).href;
    const watched: Watched = { page, requests: [], complaints: [] };
    page.on("request", (request) => {
      if (request.url() !== own && request.url() !== "data:,") watched.requests.push(request.url());
    });
    page.on("pageerror", (error) => watched.complaints.push(error.message));
    page.on("console", (message) => watched.complaints.push(message.text()));
    if (options.javaScriptEnabled !== false)
      await page.addInitScript(() => {
        const violations: string[] = [];
        (globalThis as unknown as { violations: string[] }).violations = violations;
        document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
      });
    await page.goto(own);
    opened.push(watched);
    return watched;
  }

  const violationsOf = (page: Page): Promise<string[]> =>
    page.evaluate(() => (globalThis as unknown as { violations: string[] }).violations);

  /** Through the debugger, which no policy of the page forbids. */
  async function axe(page: Page): Promise<string[]> {
    return page.evaluate(async (source) => {
      (0, eval)(source);
      const { run } = (globalThis as unknown as { axe: { run: (options: object) => Promise<AxeResults> } }).axe;
      const { violations } = await run({ resultTypes: ["violations"] });
      return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
    }, AXE);
  }
  interface AxeResults {
    readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
  }

  /** The headings of the PDF by their order: the sheet of each, from 0, and its distance from the top in points. */
  async function printed(page: Page): Promise<Heading[]> {
    const pdf = (await page.pdf({ format: "A4", outline: true, tagged: true })).toString("latin1");
    // Skia numbers the sheets in their order.
    const sheets = [...pdf.matchAll(/\n(\d+) 0 obj\n<<\/Type \/Page\n/g)].map(([, id]) => Number(id));
    sheets.sort((one, other) => one - other);
    const headings = [...pdf.matchAll(/\/Title \((.*)\)\n\/Dest \[(\d+) 0 R \/XYZ [\d.]+ ([\d.]+) 0\]/g)].map(
      ([, title, sheet, y]) => ({ title: title!, page: sheets.indexOf(Number(sheet)), fromTop: A4_POINTS - Number(y) }),
    );
    return headings.sort((one, other) => one.page - other.page || one.fromTop - other.fromTop);
  }
  const A4_POINTS = 842;
  interface Heading {
    readonly title: string;
    readonly page: number;
    readonly fromTop: number;
  }

  const verifier = (): Promise<Watched> => open(pageFile(built("page").stdout, "verifier.html"));
  const result = async (page: Page): Promise<string> => {
    await page.locator("#result header").waitFor();
    return (await page.locator("#result").innerText()).trim();
  };
  const give = async (page: Page, ...files: string[]): Promise<void> => {
    const list = page.locator("#file-list li");
    const before = await list.count();
    await page.locator("#files").setInputFiles(files);
    await list.nth(before + files.length - 1).waitFor();
  };
  const setTime = async (page: Page): Promise<void> => {
    await page.getByText("More", { exact: true }).click();
    await page.getByLabel("Time from which ages are counted").fill(MADE.at);
  };
  const listed = async (page: Page): Promise<string[]> => page.locator("#file-list li > span").allInnerTexts();
  const listing = (path: string, what: string): string => {
    const bytes = readFileSync(path);
    const digest = createHash("sha256").update(bytes).digest("hex");
    return `${what} ${bytes.length} bytes, SHA-256 ${digest.slice(0, 12)}…`;
  };
  const press = async (page: Page): Promise<void> => page.getByRole("button", { name: "Verify", exact: true }).click();
  /** What is in the way, after the button was pressed. */
  const refusal = async (page: Page): Promise<string[]> => {
    await press(page);
    await page.locator("#faults li").first().waitFor();
    return page.locator("#faults li").allInnerTexts();
  };

  /** Verifies what the page carries, with a policy of the reader's or none, and returns what the result says. */
  const answer = async (page: Page, ...files: string[]): Promise<string> => {
    await page.getByText("Verify in this browser").click();
    await page.locator("#file-list li").waitFor();
    if (files.length > 0) await give(page, ...files);
    else await page.getByLabel(/^No policy: any genuine enclave/).check();
    await press(page);
    return result(page);
  };

  const SEEN_BY_AXE = ["verified", "rejected", "stale", "6 boot proofs"];
  const unfold = (page: Page): Promise<void> =>
    page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));

  it.each(Object.keys(CASES))("%s: axe finds nothing before and after its reader verifies it", async (name) => {
    const { page } = await open(pageFile(pageOf(name), "page.html"));
    const isSeen = SEEN_BY_AXE.includes(name);
    if (isSeen) expect(await axe(page)).toEqual([]);
    const text = await answer(page);
    expect(text).toMatch(/^(?:AUTHENTIC|REJECTED)/);
    if (!name.startsWith("a bare")) expect(text).toContain("Its report is not trusted: everything was verified again.");
    expect(text).not.toContain("does not match its evidence");
    // What the page's maker stated is gone, with its title.
    expect(await page.locator("#about").count()).toBe(0);
    expect(await page.title()).toMatch(/^(?:AUTHENTIC, of anybody|REJECTED)[: ].*(?:page\.html|6 boot proofs)/);
    await unfold(page);
    if (isSeen) expect(await axe(page)).toEqual([]);
    expect(await violationsOf(page)).toEqual([]);
  });

  it("is judged by its reader's policy, beside what its maker's report said", async () => {
    const { page } = await open(pageFile(pageOf("verified"), "page.html"));
    const text = await answer(page, MADE.policy, MADE.anchor);
    expect(text).toMatch(/^VERIFIED/);
    expect(text).toContain("The bundle was made at");
  });

  it("keeps its maker's report until its reader verifies, and lets the evidence be exchanged for another", async () => {
    const { page } = await open(pageFile(pageOf("verified"), "page.html"));
    await page.getByText("Verify in this browser").click();
    await give(page, MADE.policy, MADE.anchor);
    await page.getByLabel("Organization ID").fill("x");
    expect(await page.locator("#about, #result .verdict.tone-good").count()).toBe(2);
    await page.getByLabel("Organization ID").fill("");
    await page.getByRole("button", { name: "Remove page.html" }).click();
    await give(page, FLEET.boots[0]!);
    await press(page);
    expect(await result(page)).toMatch(/^REJECTED/);
    expect(await page.locator("#about").count()).toBe(0);
  });

  it.each(["verified", "rejected"])("%s: axe finds nothing in a narrow window, and on paper", async (name) => {
    const { page } = await open(pageFile(pageOf(name), "page.html"));
    await page.setViewportSize({ width: 320, height: 640 });
    await unfold(page);
    for (const colorScheme of ["light", "dark"] as const)
      for (const media of ["screen", "print"] as const) {
        await page.emulateMedia({ colorScheme, media });
        expect(await axe(page), `${colorScheme}, ${media}`).toEqual([]);
      }
    await page.emulateMedia({ media: "screen" });
    // Nothing is wider than the window: nobody has to scroll sideways.
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  });

  it("names its own file in the command that verifies it", async () => {
    const { page } = await open(pageFile(pageOf("verified"), "july report.html"));
    expect(await page.locator("#own-command").innerText()).toBe(
      'bootproof verify "july report.html" --policy yours.json',
    );
  });

  /** The evidence of `bootproof demo`, and its changed copy. */
  const demoPage = (name: string): string => {
    const folder = join(dirname(MADE.boot), "demo");
    if (!existsSync(folder)) expect(built("demo", "--out", folder).status).toBe(0);
    const of = (file: string): string => join(folder, file);
    const files = ["--boot-proof", of("boot-proof.json"), "--app-proof", of(name), "--policy", of("policy.json")];
    return built("verify", ...files, "--now", "2025-09-16T21:40:00Z", "--format", "html").stdout;
  };

  it("is printed on three sheets, what is proven and what is not on the first", async () => {
    const { page } = await open(pageFile(demoPage("app-proof.json"), "page.html"));
    const headings = await printed(page);
    expect(headings.slice(0, 3).map(({ title, page: sheet }) => [title, sheet])).toEqual([
      [expect.stringMatching(/^VERIFIED ?with 3 warnings/), 0],
      ["Proven", 0],
      ["Not proven", 0],
    ]);
    // The last line of both is on it, too: the next heading stands on another sheet, or below them.
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 718, height: 1000 });
    const { y, height } = (await page.locator(".statements").boundingBox())!;
    expect(y + height).toBeLessThan(1047);
    for (const format of ["A4", "Letter"]) {
      const pdf = (await page.pdf({ format })).toString("latin1");
      expect(pdf.match(/\/Type \/Page\n/g)!.length, format).toBeLessThanOrEqual(3);
    }
  });

  it("prints what weakens a verdict, whatever its reader folded up, and says that the file has the rest", async () => {
    const { page } = await open(pageFile(pageOf("another release"), "page.html"));
    await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = false)));
    await page.emulateMedia({ media: "print" });
    const shown = await page.locator("main").innerText();
    const { checks } = bundleIn(pageOf("another release"))["report"] as Report;
    const failed = checks.filter(({ status }) => status === "fail");
    expect(failed.length).toBeGreaterThan(1);
    for (const { id, detail, advice = "" } of failed)
      for (const text of [id, detail, ...advice.split("\n")]) expect(shown.split(text).length - 1).toBeGreaterThan(1);
    expect(await page.locator('.chain-of-trust .tone-bad strong:text("actual")').first().isVisible()).toBe(true);
    expect(await page.locator(".chain-of-trust .rows > li:has(> .id).tone-good").first().isVisible()).toBe(false);
    expect(shown).toContain("What is folded up is not printed. The file has it");
  });

  it("says why, where the data cannot be read", async () => {
    const html = pageOf("verified").replace("bootproof-bundle/1", "bootproof-bundle/9");
    const { page } = await open(pageFile(html, "page.html"));
    await page.getByText("Verify in this browser").click();
    await page.getByLabel(/^No policy: any genuine enclave/).check();
    expect(await refusal(page)).toEqual([expect.stringMatching(/bootproof-bundle\/1/)]);
  });

  it("is readable without JavaScript, and has no button then", async () => {
    const { page } = await open(pageFile(pageOf("rejected"), "page.html"), { javaScriptEnabled: false });
    const text = await page.locator("body").innerText();
    expect(text).toMatch(
      /^An enclave that no policy names\n+Stated by whoever made this file, .*, under no policy\.\n/,
    );
    expect(text).toContain("Verify it yourself: bootproof verify report.html --policy yours.json");
    expect(text).toContain("JavaScript is off: this page cannot verify.");
    expect(text).toContain("REJECTED");
    expect(await page.getByRole("button").count()).toBe(0);
    expect(await page.locator("#form").isVisible()).toBe(false);
  });

  /** What is on the first screen of each width, in its order. */
  const WORD = [".maker", "h1"];
  const AGE = "p.tone-strong";
  const ADDRESS = '.rows strong:text("proven address")';
  const ACTUAL = '.rows strong:text("actual")';
  const SCREENS: [string, readonly string[], readonly string[]][] = [
    ["verified", [...WORD, AGE, ADDRESS, ".warnings"], [...WORD, AGE]],
    ["an activity", [...WORD, AGE, ADDRESS, ".warnings"], [...WORD, AGE]],
    ["a bare document", [...WORD, AGE], [...WORD, AGE]],
    ["6 boot proofs", [...WORD, AGE, ".warnings"], [...WORD, AGE]],
    ["rejected", [...WORD, ".rows > .tone-bad"], [...WORD, ".rows > .tone-bad > .text"]],
    ["another release", [...WORD, ACTUAL], [...WORD, ACTUAL]],
  ];
  it.each(SCREENS)("%s: the first screen says whose word it is, and all that matters", async (name, wide, narrow) => {
    for (const javaScriptEnabled of name === "verified" ? [true, false] : [true]) {
      const { page } = await open(pageFile(pageOf(name), "page.html"), { javaScriptEnabled });
      for (const [width, parts] of [
        [1280, wide],
        [390, narrow],
      ] as const) {
        await page.setViewportSize({ width, height: 900 });
        const boxes = await Promise.all(parts.map(async (part) => (await page.locator(part).first().boundingBox())!));
        const tops = boxes.map(({ y }) => y);
        expect(tops, `${width}`).toEqual(tops.toSorted((one, other) => one - other));
        for (const [index, { y, height }] of boxes.entries())
          expect([parts[index], y >= 0 && y + height <= 900]).toEqual([parts[index], true]);
      }
    }
  });

  it("lets nothing else run, and nothing out", async () => {
    const html = pageOf("verified").replace(
      "</main>",
      '<script>globalThis.ran = 1</script><b onclick="1">x</b></main>',
    );
    const watched = await open(pageFile(html, "page.html"));
    const { page, complaints } = watched;
    const tried = await page.evaluate(async () => {
      const of = async (work: () => unknown): Promise<string> => {
        try {
          await work();
          return "done";
        } catch (error) {
          return (error as Error).name;
        }
      };
      return {
        ran: "ran" in globalThis,
        markup: await of(() => (document.createElement("p").innerHTML = "<b>x</b>")),
        policy: await of(() => (globalThis as unknown as Trusted).trustedTypes.createPolicy("x", {})),
        fetched: await of(() => fetch("http://127.0.0.1:1/")),
      };
    });
    interface Trusted {
      readonly trustedTypes: { readonly createPolicy: (name: string, rules: object) => unknown };
    }
    expect(tried).toEqual({ ran: false, markup: "TypeError", policy: "TypeError", fetched: "TypeError" });
    expect(await violationsOf(page)).toEqual(
      expect.arrayContaining(["script-src-elem", "connect-src", "require-trusted-types-for", "trusted-types"]),
    );
    complaints.length = 0;
    watched.requests.length = 0;
  });

  describe("the page that verifies what it is given", () => {
    it("verifies files against a policy, with its anchor's file", async () => {
      const { page } = await verifier();
      expect(await axe(page)).toEqual([]);
      await give(page, MADE.boot, MADE.app, MADE.policy, MADE.anchor);
      expect(await listed(page)).toEqual([
        listing(MADE.boot, "boot.json boot proof"),
        listing(MADE.app, "app.json app proof"),
        listing(MADE.policy, "policy.json policy"),
        listing(MADE.anchor, "trust-anchor.pem certificate"),
      ]);
      await setTime(page);
      await press(page);
      expect(await result(page)).toContain("VERIFIED");
      expect(await page.locator("#said").innerText()).toMatch(/^Verdict: VERIFIED/);
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("result");
      const { y } = (await page.locator("#result h1").boundingBox())!;
      expect([y >= 0, y < page.viewportSize()!.height / 2]).toEqual([true, true]);
      expect(await axe(page)).toEqual([]);
      expect(await violationsOf(page)).toEqual([]);
    });

    it("compares expected payloads, challenge included, and says at the form what is not JSON", async () => {
      const { page } = await verifier();
      await give(page, MADE.boot, MADE.quote, MADE.policy, MADE.anchor);
      await setTime(page);
      await page.getByLabel("Payloads").fill("QUOTE:/price=1.50");
      const challenges = page.getByLabel("Challenges");
      await challenges.fill(`QUOTE:/challenge=${CHALLENGE}`);
      expect(await axe(page)).toEqual([]);
      expect(await refusal(page)).toEqual([
        expect.stringMatching(/^Challenges: QUOTE:\/challenge: the value is not JSON/),
      ]);
      await challenges.fill(`QUOTE:/challenge="${CHALLENGE}"`);
      await press(page);
      const text = await result(page);
      expect(text).toContain("VERIFIED");
      expect(text).toContain(`It answers your challenge ${CHALLENGE} (/challenge)`);
      expect(text).not.toContain("mean its maker");
      await challenges.fill('QUOTE:/challenge="another-challenge-of-mine"');
      await press(page);
      await page.getByText(/^Verdict: REJECTED/).waitFor();
      expect(await result(page)).toContain("app.request");
      expect(await axe(page)).toEqual([]);
      expect(await violationsOf(page)).toEqual([]);
    });

    it("keeps the list of files in view, and shows the reason beside a wrong file", async () => {
      const { page } = await verifier();
      const broken = fileOf(readFileSync(MADE.policy, "utf8").replace('"pivotHash"', '"pivotHush"'), "broken.json");
      await give(page, MADE.boot, MADE.app, broken, MADE.anchor, fileOf("hello", "notes.txt"));
      for (const [width, height] of [
        [1280, 900],
        [390, 844],
      ] as const) {
        await page.setViewportSize({ width, height });
        const [fault] = await refusal(page);
        expect(fault).toMatch(/^broken\.json: not a usable policy: /);
        const item = page.locator("#file-list li").nth(2);
        expect(await item.locator(".reason").allInnerTexts()).toEqual([fault!.slice("broken.json: ".length)]);
        expect(await page.locator("#file-list li.wrong strong").allInnerTexts()).toEqual(["broken.json", "notes.txt"]);
        await page.locator("#verify").scrollIntoViewIfNeeded();
        const [reason, button] = await Promise.all(
          [item.locator(".reason"), page.locator("#verify")].map(async (one) => {
            return (await one.boundingBox())!;
          }),
        );
        const bottom = reason!.y + reason!.height;
        const inView = [reason!.y >= 0, bottom <= height, button!.y + button!.height <= height];
        expect([width, ...inView]).toEqual([width, true, true, true]);
      }
      expect(await axe(page)).toEqual([]);
      await page.getByRole("button", { name: "Remove broken.json" }).click();
      expect(await page.locator(".reason").count()).toBe(0);
      expect(await page.locator("#faults li").count()).toBe(0);
    });

    it("lists a file that is too large with its reason", async () => {
      const { page } = await verifier();
      await give(page, fileOf(" ".repeat(8 * 1024 * 1024 + 1), "large.json"));
      expect(await listed(page)).toEqual(["large.json larger than 8 MiB, the limit of a file; not used"]);
    });

    it("takes what is dropped on it", async () => {
      const { page } = await verifier();
      const files = [BOOT_1, APP_2].map((path) => ({
        name: path.replace(/^.*\//, ""),
        text: readFileSync(path, "utf8"),
      }));
      await page.evaluate((given) => {
        const transfer = new DataTransfer();
        for (const { name, text } of given) transfer.items.add(new File([text], name));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
      }, files);
      await page.locator("#file-list li").nth(1).waitFor();
      await page.getByLabel(/^No policy: any genuine enclave/).check();
      await press(page);
      expect(await result(page)).toContain("REJECTED");
    });

    it("is used by keyboard alone", async () => {
      const { page } = await verifier();
      const focused = (): Promise<string> =>
        page.evaluate(() => document.activeElement?.id || (document.activeElement?.textContent ?? ""));
      const order: string[] = [];
      const chooser = page.waitForEvent("filechooser");
      await page.keyboard.press("Tab");
      expect(await focused()).toBe("Verify in this browser");
      await page.keyboard.press("Tab");
      order.push(await focused());
      await page.keyboard.press("Enter");
      await (await chooser).setFiles([MADE.boot]);
      await page.locator("#file-list li").waitFor();
      for (const expected of ["Remove", "policy-file"]) {
        await page.keyboard.press("Tab");
        order.push(await focused());
        expect(order.at(-1)).toBe(expected);
      }
      await page.keyboard.press("ArrowDown");
      expect([await focused(), await page.locator("#policy-none").isChecked()]).toEqual(["policy-none", true]);
      for (let steps = 0; steps < 10 && (await focused()) !== "verify"; steps++) await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      expect(await result(page)).toContain("REJECTED");
      expect(await page.locator("#result").innerText()).toContain("chain.anchor");
      expect(await focused()).toBe("result");
    });

    it("tells files of one name apart, takes the same file once, and removes each", async () => {
      const { page } = await verifier();
      const twin = (text: string): { name: string; mimeType: string; buffer: Buffer } => {
        return { name: "boot.json", mimeType: "application/json", buffer: Buffer.from(text) };
      };
      const text = readFileSync(MADE.boot, "utf8");
      await page.locator("#files").setInputFiles([twin(text), twin(`${text} `)]);
      await page.locator("#file-list li").nth(1).waitFor();
      await page.locator("#files").setInputFiles([twin(text)]);
      await page.getByText("0 files added. 1 already in the list.").waitFor();
      const [first, second, ...others] = await listed(page);
      expect([first, others]).toEqual([listing(MADE.boot, "boot.json boot proof"), []]);
      expect(second).not.toBe(first);
      expect(await axe(page)).toEqual([]);
      await page
        .getByRole("button", { name: /^Remove boot\.json \(SHA-256 [0-9a-f]{12}…\)$/ })
        .nth(1)
        .click();
      expect(await listed(page)).toEqual([first]);
      await page.getByRole("button", { name: "Remove boot.json", exact: true }).click();
      expect(await listed(page)).toEqual([]);
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("files");
    });

    it("has a title of its own before a verdict, with each, and after each change", async () => {
      const { page } = await verifier();
      expect(await page.title()).toBe("Nothing verified yet – bootproof");
      await refusal(page);
      expect(await page.title()).toBe("Not verified – bootproof");
      await give(page, MADE.boot, MADE.anchor);
      await page.getByLabel(/^No policy/).check();
      await press(page);
      await result(page);
      expect(await page.title()).toMatch(/^AUTHENTIC, of anybody with .*: boot\.json – bootproof$/);
      await page.getByRole("button", { name: "Remove trust-anchor.pem" }).click();
      expect(await page.title()).toBe("Nothing verified yet – bootproof");
      expect(await page.locator("#result").innerText()).toBe("");
      await press(page);
      await result(page);
      expect(await page.title()).toBe("REJECTED: boot.json – bootproof");
      await page.getByLabel("Organization ID").fill("x");
      expect(await page.title()).toBe("Nothing verified yet – bootproof");
      expect(await page.locator("#result").innerText()).toBe("");
    });

    it("shows no result of entries that changed while it verified", async () => {
      const { page } = await verifier();
      await give(page, MADE.boot, MADE.anchor);
      await page.getByLabel(/^No policy/).check();
      await page.evaluate(() => {
        document.getElementById("verify")!.click();
        (document.querySelector("[aria-label='Remove trust-anchor.pem']") as HTMLButtonElement).click();
      });
      await page.getByText("Files or form were changed: verify again.").waitFor();
      expect(await page.title()).toBe("Nothing verified yet – bootproof");
      expect(await page.locator("#result").innerText()).toBe("");
    });

    it("shows above the verdict what it did not use, both in view", async () => {
      const { page } = await verifier();
      await give(page, MADE.boot, MADE.policy, MADE.anchor, fileOf({ name: "app", version: "1.0.0" }, "package.json"));
      for (const viewport of [
        { width: 1280, height: 900 },
        { width: 390, height: 844 },
      ]) {
        await page.setViewportSize(viewport);
        await press(page);
        expect(await result(page)).toMatch(/^Not used\n+package\.json: .+\n+VERIFIED/);
        const boxes = await Promise.all(
          ["#result .warn", "#result h1"].map(async (part) => (await page.locator(part).first().boundingBox())!),
        );
        for (const { y, height } of boxes) expect([y >= 0, y + height <= viewport.height]).toEqual([true, true]);
      }
      expect(await axe(page)).toEqual([]);
    });

    it("refuses a warning by choice, in its title and its first words", async () => {
      const { page } = await verifier();
      await give(page, MADE.boot, MADE.anchor);
      await page.getByLabel(/^No policy/).check();
      await page.getByLabel(/^A warning is a failure/).check();
      await press(page);
      expect(await result(page)).toMatch(/^REFUSED/);
      expect(await page.title()).toMatch(/^REFUSED with 1 warning: boot\.json – bootproof$/);
      expect(await page.locator("#said").innerText()).toMatch(
        /^Verdict: REFUSED with 1 warning: the verdict "authentic" is not accepted with warnings\./,
      );
      expect(await axe(page)).toEqual([]);
    });

    it("prints its result, and no form", async () => {
      const { page } = await verifier();
      await give(page, MADE.boot, MADE.app, MADE.policy, MADE.anchor);
      expect((await printed(page)).map(({ title }) => title)).toEqual(["Verify", "This page"]);
      await setTime(page);
      await press(page);
      await result(page);
      const [first, ...others] = await printed(page);
      expect(first).toMatchObject({ title: expect.stringMatching(/^VERIFIED/), page: 0 });
      expect(others.map(({ title }) => title)).not.toContain("Files");
      expect(others.at(-1)!.title).toBe("This page");
      await page.emulateMedia({ media: "print" });
      await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
      const { y, height } = (await page.locator(".verdict").boundingBox())!;
      const hidden = ["#files", "#verify", "#policy-file", "#said", "#file-list"];
      const seen = await Promise.all(hidden.map((id) => page.locator(id).isVisible()));
      expect([y >= 0 && y < 40, height < 900, seen]).toEqual([true, true, hidden.map(() => false)]);
    });

    it("says without JavaScript what to use in its place", async () => {
      const { page } = await open(pageFile(built("page").stdout, "verifier.html"), { javaScriptEnabled: false });
      expect(await page.locator("body").innerText()).toContain("JavaScript is off: this page cannot verify.");
    });
  });
});
