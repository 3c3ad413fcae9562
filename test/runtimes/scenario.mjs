/**
 * What every runtime is asked to do with the package. Nothing is used here but the language, WebCrypto and the package:
 * the same file runs in Node, Deno, Bun, workerd and an edge runtime. The answers go back as JSON, and are judged by
 * the test.
 */

/** @param entries the package by its entries @param asked what `questions()` of the test made */
export async function answersOf({ core, client, adapters }, asked) {
  const evidence = await evidenceAnswers(core, asked);
  const computing = watched();
  const signatures = await signatureAnswers(core, asked);
  return {
    computedBy: computing(),
    ...evidence,
    signatures,
    ...(await stampAnswers(client, asked)),
    ...(await webhookAnswers(client, asked)),
    fetched: await fetchAnswers(core, adapters, asked.fetching),
  };
}

/** Which cryptography verifies from now on: its calls are counted. The choice is made, and its questions answered. */
function watched() {
  const used = new Set();
  const watch = (name, owner) => {
    const verify = owner?.verify;
    if (verify === undefined) return;
    owner.verify = (...args) => {
      used.add(name);
      return verify.apply(owner, args);
    };
  };
  watch("node:crypto", globalThis.process?.getBuiltinModule?.("node:crypto"));
  watch("WebCrypto", globalThis.crypto.subtle);
  return () => [...used].join(" and ") || "noble";
}

async function evidenceAnswers(core, { policy, now, genuine, altered }) {
  const options = { policy: core.parsePolicy(policy), now: new Date(now) };
  const judged = async ({ bootProof, appProof }) => {
    const { report } = await core.verifyEvidence({ bootProofs: [bootProof], appProofs: [appProof] }, options);
    return [report.verdict, ...report.checks.filter(({ status }) => status === "fail").map(({ id }) => id)];
  };
  const { bootProof } = await core.verifyBootProof(genuine.bootProof, options);
  const { report, appProof } = await core.verifyAppProof(genuine.appProof, bootProof, options);
  core.requireVerified(report);
  const rejected = [];
  for (const pair of altered) rejected.push(await judged(pair));
  return { genuine: await judged(genuine), payloadType: appProof.payload.type, altered: rejected };
}

/** Of each signature, whether it is good: a good one, and everything that lies beside one. */
async function signatureAnswers(core, { signatures }) {
  const cache = new core.SignatureCache();
  const answers = [];
  for (const { curve, ...hex } of signatures) {
    const [point, message, signature] = [hex.point, hex.message, hex.signature].map(fromHex);
    answers.push(await cache.verify(curve, point, message, signature).catch((error) => `threw ${error}`));
  }
  return answers;
}

async function stampAnswers(client, { apiKey, body }) {
  const bytes = new TextEncoder().encode(body);
  const stampOf = async (stamper) => (await stamper.stamp(bytes)).value;
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]);
  const wrong = { ...apiKey, publicKey: (await client.generateApiKey()).publicKey };
  const target = await client.createSessionTarget();
  // The private key of a session is 32 bytes; these are text as well.
  const session = await target.open(await client.encryptOnRampSecret(SESSION_KEY, target.publicKey));
  return {
    stamp: await stampOf(await client.apiKeyStamper(apiKey)),
    stampOfPair: await stampOf(await client.apiKeyStamper(pair)),
    stampOfNew: await stampOf(await client.apiKeyStamper(await client.generateApiKey())),
    stampOfSession: await stampOf(session.stamper),
    stampOfWrong: await client.apiKeyStamper(wrong).then(
      () => "made",
      (error) => error.code,
    ),
  };
}

const SESSION_KEY = "thirty-two bytes, which are text";

async function webhookAnswers(client, { jwks, now, delivery, otherDelivery }) {
  const received = async (given) => {
    const input = { ...given, jwks, now: new Date(now), store: new client.MemoryEventStore() };
    return (await client.verifyWebhook(input)).eventId;
  };
  const refused = await received(otherDelivery).catch((error) => error.fault);
  return { delivery: await received(delivery), otherDelivery: refused };
}

/** A verified answer, a lie, and a submit that is not sent. The platform makes a request of all that is sent. */
async function fetchAnswers(core, { verifiedFetch, reportOf }, fetching) {
  const { policy, now, baseUrl, path, bootProofs } = fetching;
  const sent = [];
  const asked = async ({ body, answer }) => {
    const send = async (url, init) => {
      const request = new Request(url, init);
      sent.push(`${request.method} ${request.url} ${(await request.text()) === fetching.body}`);
      return new Response(answer, { headers: { "Content-Type": "application/json" } });
    };
    const options = { policy: core.parsePolicy(policy), baseUrl, evidence: bootProofs, fetch: send };
    const wrapped = verifiedFetch({ ...options, now: () => new Date(now) });
    const { signal } = new AbortController();
    const init = { method: "POST", body, headers: { "X-Stamp": "stamp" }, signal };
    return wrapped(new Request(baseUrl.toUpperCase() + path, init)).then(
      async (response) => [reportOf(response)?.verdict, (await response.json()).activity.result],
      (error) => error.message,
    );
  };
  const verified = await asked(fetching);
  const lie = await asked({ ...fetching, answer: fetching.lie });
  const notSent = await asked({ ...fetching, body: fetching.unproven });
  return { verified, lie, notSent, sent };
}

function fromHex(hex) {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}
