/** Addresses of services. */

/** Returns the address without a trailing slash. Throws TypeError with the option's name for an invalid address. */
export function checkedBaseUrl(text: string, option = "baseUrl"): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const good =
    url !== null &&
    ["https:", "http:"].includes(url.protocol) &&
    url.username + url.password + url.search + url.hash === "";
  if (!good) throw new TypeError(`${option}: expected an http or https address, without user, query and fragment`);
  return url.href.replace(/\/+$/, "");
}
