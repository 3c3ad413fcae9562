/**
 * Uses the proxies of the environment, if this version of Node can. Otherwise explains why a connection may have
 * failed.
 */

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A part of `node:http` since Node 24.14 and 25.4. It is declared here because the installed types are those of Node
 * 20.
 */
interface GlobalProxy {
  readonly setGlobalProxyFromEnv?: ((env: Environment) => unknown) | undefined;
}

/** Loads the module only when it is needed, since loading delays the start of every command. */
function nodeHttp(): GlobalProxy {
  return process.getBuiltinModule("node:http") as object;
}

/**
 * Names of this machine. Requests to it never use a proxy, because they may be plain HTTP, which a proxy could read.
 */
const THIS_MACHINE = "localhost,127.0.0.1,::1,[::1]";

/**
 * Sends all requests of this process through the proxies of the environment, if it names any and Node can do so. Throws
 * TypeError if Node refuses an address. The message never quotes the address, since it may contain a password.
 */
export function useProxies(env: Environment, http?: GlobalProxy): void {
  const [HTTP_PROXY, HTTPS_PROXY] = [proxyOf(env, "http:"), proxyOf(env, "https:")];
  if ((HTTP_PROXY ?? HTTPS_PROXY) === undefined) return;
  const { setGlobalProxyFromEnv } = http ?? nodeHttp();
  if (setGlobalProxyFromEnv === undefined) return;
  const named = valueOf(env, "NO_PROXY")?.value;
  const NO_PROXY = named === undefined ? THIS_MACHINE : `${named},${THIS_MACHINE}`;
  try {
    setGlobalProxyFromEnv({
      NO_PROXY,
      ...(HTTP_PROXY && { HTTP_PROXY: HTTP_PROXY.value }),
      ...(HTTPS_PROXY && { HTTPS_PROXY: HTTPS_PROXY.value }),
    });
  } catch {
    const names = [HTTP_PROXY, HTTPS_PROXY].flatMap((proxy) => proxy?.name ?? []);
    throw new TypeError(
      `${names.join(" or ")}: expected the address of a proxy, such as http://proxy.example.com:8080`,
    );
  }
}

interface ThisNode extends GlobalProxy {
  readonly version: string;
  readonly flags: ReadonlySet<string>;
  readonly execArgv: readonly string[];
}

/**
 * Returns a sentence with a leading space: why no proxy was used for this address, although the environment names one.
 * Empty if a proxy was used, or if none is named.
 */
export function unusedProxyText(baseUrl: string, env: Environment, given?: ThisNode): string {
  const { protocol, hostname } = new URL(baseUrl);
  const proxy = proxyOf(env, protocol);
  if (proxy === undefined || isExcepted(hostname, env)) return "";
  const node = given ?? thisNode();
  if (node.setGlobalProxyFromEnv !== undefined) return "";
  if (!node.flags.has(FLAG))
    return (
      ` ${proxy.name} is set, but Node ${node.version} cannot use a proxy: Node 22.21 and 24.5 can, with ` +
      `NODE_USE_ENV_PROXY=1, and Node 24.14 does.`
    );
  if (isUsed(env, node)) return "";
  return ` ${proxy.name} is set, but Node ${node.version} uses it only with NODE_USE_ENV_PROXY=1: set that, too.`;
}

const FLAG = "--use-env-proxy";

function thisNode(): ThisNode {
  const { version, allowedNodeEnvironmentFlags: flags, execArgv } = process;
  return { ...nodeHttp(), version, flags, execArgv };
}

function isUsed(env: Environment, { execArgv }: ThisNode): boolean {
  const words = [...execArgv, ...(env["NODE_OPTIONS"] ?? "").split(/\s+/)];
  return env["NODE_USE_ENV_PROXY"] === "1" || words.includes(FLAG);
}

interface Named {
  readonly name: string;
  readonly value: string;
}

function proxyOf(env: Environment, protocol: string): Named | undefined {
  return valueOf(env, protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY");
}

/**
 * Returns the value of a variable. The lower-case name is preferred, as in Node and curl. An empty value is ignored.
 */
function valueOf(env: Environment, name: string): Named | undefined {
  const found = [name.toLowerCase(), name].find((each) => (env[each] ?? "") !== "");
  return found === undefined ? undefined : { name: found, value: env[found]! };
}

function isExcepted(host: string, env: Environment): boolean {
  const excepted = `${valueOf(env, "NO_PROXY")?.value ?? ""},${THIS_MACHINE}`.toLowerCase().split(/[\s,]+/);
  return excepted.some((each) => {
    const domain = each.replace(/^\*?\./, "");
    return each === "*" || (domain !== "" && (host === domain || host.endsWith(`.${domain}`)));
  });
}
