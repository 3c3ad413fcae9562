/** The data of a page, for tests that change it. */
import type { PageData } from "../../src/page/data.js";

const DATA = /id="bootproof-data">(.*?)<\/script>/s;

export function dataOf(html: string): PageData {
  return JSON.parse(DATA.exec(html)![1]!) as PageData;
}

/** The page with other data. */
export function withData(html: string, data: PageData): string {
  const text = JSON.stringify(data).replaceAll("<", "\\u003c");
  return html.replace(DATA, () => `id="bootproof-data">${text}</script>`);
}
