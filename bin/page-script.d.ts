/** The script that bin/build.mjs makes of src/page/browser.ts, declared before it exists. */
declare module "#page-script" {
  export const PAGE_SCRIPT: string;
}
