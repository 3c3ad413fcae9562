/**
 * The script that bin/build.mjs makes from src/page/browser.ts. It is declared here, since it does not exist before the
 * build.
 */
declare module "#page-script" {
  export const PAGE_SCRIPT: string;
}
