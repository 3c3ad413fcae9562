/** How the page lies in a Chromium: nothing wider than the window. That texts are legible, axe says of built pages. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { printable } from "../../src/report/printable.js";
import { NO_CHROMIUM, WITHOUT_CHROMIUM, launchChromium } from "../support/chromium.js";
import { REJECTED_FLEETS, SHOWN } from "./evidence.js";
import { pageOf } from "./html.js";

if (NO_CHROMIUM) console.warn(WITHOUT_CHROMIUM);

describe.skipIf(NO_CHROMIUM)("in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  const names = [
    "verified, with warnings",
    "authentic",
    "rejected: another release",
    "stale",
    "an activity",
    "hostile",
  ];
  it.each(names)("%s fits, unfolded", async (name) => {
    const html = (await pageOf(await SHOWN[name]!())).replaceAll("<details ", "<details open ");
    const page = await browser.newPage();
    await page.setContent(html.replaceAll("<details>", "<details open>"));
    for (const width of [320, 390, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await widthOf(page), `${width}`).toBeLessThanOrEqual(width);
    }
    await page.close();
  });

  const rejected = ["rejected: another release", "rejected: a forged signature", "rejected: no JSON", "stale"];
  it.each([...rejected, ...Object.keys(REJECTED_FLEETS)])(
    "%s: the first failure is in sight, and can be read",
    async (name) => {
      const shown = await (SHOWN[name] ?? REJECTED_FLEETS[name]!)();
      expect(shown.report.verdict).toBe("rejected");
      const [failed] = shown.report.checks.filter(({ status }) => status === "fail");
      const html = await pageOf({
        ...shown,
        notices: [{ kind: "warning", text: "the policy came out of the bundle. ".repeat(8) }],
      });
      for (const viewport of [
        { width: 1280, height: 800 },
        { width: 390, height: 844 },
      ]) {
        const page = await browser.newPage({ viewport });
        await page.setContent(html);
        const item = page.locator(".rows > .tone-bad").first();
        expect(await item.locator(".id").innerText()).toBe(failed!.id);
        const sentence = item.locator("> .text");
        expect(await sentence.innerText()).toContain(printable(failed!.detail).slice(0, 60));
        const [box, text] = [(await item.boundingBox())!, (await sentence.boundingBox())!];
        expect(
          [box.y, text.y + text.height].map((y) => y > 0 && y <= 900),
          `${box.y}, ${viewport.width}`,
        ).toEqual([true, true]);
        await page.close();
      }
    },
  );

  it("letters that are read from right to left stand in the order in which they were signed", async () => {
    const shown = await SHOWN["a bare document"]!();
    const page = await browser.newPage();
    await page.setContent(await pageOf({ ...shown, notices: [{ kind: "warning", text: "\u05d0\u05d1 (1) \u05d2" }] }));
    const lefts = await page.locator(".warnings li").evaluate((span) => {
      const node = span.firstChild!;
      return [...node.textContent!].map((_, index) => {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + 1);
        return range.getBoundingClientRect().left;
      });
    });
    expect(lefts).toHaveLength(8);
    expect(lefts).toEqual(lefts.toSorted((one, other) => one - other));
    await page.close();
  });

  it.each(["an activity", "verified, with warnings"])("%s: no date and no id is on two lines", async (name) => {
    const page = await browser.newPage();
    await page.setContent(await pageOf(await SHOWN[name]!()));
    for (const width of [390, 420, 460, 768, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      const { seen, broken } = await page.evaluate(() => {
        const texts = [...document.querySelectorAll("header, .statements, section:first-of-type")].flatMap((part) => {
          const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
          const nodes: Text[] = [];
          while (walker.nextNode()) nodes.push(walker.currentNode as Text);
          return nodes;
        });
        const words = texts.flatMap((node) =>
          [...node.data.matchAll(/\S*\d\S*-\S+|\S+-\S*\d\S*/g)].map(({ 0: word, index }) => {
            const range = document.createRange();
            range.setStart(node, index);
            range.setEnd(node, index + word.length);
            return { word, lines: new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size };
          }),
        );
        // On a narrow page an id may be wider than a line.
        const most = document.documentElement.clientWidth < 768 ? 32 : 80;
        const broken = words.filter(({ word, lines }) => lines > 1 && word.length <= most).map(({ word }) => word);
        return { seen: words.length, broken };
      });
      expect(seen).toBeGreaterThan(5);
      expect(broken, `${width}`).toEqual([]);
    }
    await page.close();
  });

  it("an id that is wider than the page fills its line, and is not broken at its hyphen", async () => {
    const shown = await SHOWN["a bare document"]!();
    const id = `i-${"0".repeat(20)}-${"1".repeat(120)}`;
    const page = await browser.newPage({ viewport: { width: 390, height: 900 } });
    await page.setContent(await pageOf({ ...shown, notices: [{ kind: "note", text: `module ${id}` }] }));
    const first = await page
      .locator("section:first-of-type > p .whole")
      .first()
      .evaluate((span) => {
        const range = document.createRange();
        const top = span.getClientRects()[0]!.top;
        for (let end = 1; end <= span.textContent!.length; end++) {
          range.setStart(span.firstChild!, end - 1);
          range.setEnd(span.firstChild!, end);
          if (range.getBoundingClientRect().top > top + 10) return span.textContent!.slice(0, end - 1);
        }
        return "";
      });
    expect(first.length).toBeGreaterThan(26);
    expect(await widthOf(page)).toBeLessThanOrEqual(390);
    await page.close();
  });

  it("many warnings leave the addresses and the first of them in sight", async () => {
    const shown = await SHOWN["an activity"]!();
    const warning = { kind: "warning", text: "the policy came out of the bundle itself. ".repeat(3) } as const;
    const notices = Array.from({ length: 12 }, (_, index) => ({ ...warning, text: `${index} ${warning.text}` }));
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.setContent(await pageOf({ ...shown, notices }));
    expect(await page.locator(".warnings li").count()).toBe(13);
    for (const part of [".rows", ".warnings li"]) {
      const { y } = (await page.locator(part).first().boundingBox())!;
      expect(y).toBeLessThan(600);
    }
    await page.close();
  });
});

function widthOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth);
}
