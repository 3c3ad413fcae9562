/** What bin/build.mjs makes of src/page/browser.ts: known to the compiler before it is there. */
declare module "bootproof/page/script" {
  /** What runs in a page. */
  export const PAGE_SCRIPT: string;
}
