/** The help of `bootproof verify`: the common options, and the others by topic. */
import type { Topics } from "./command.js";
import { CONNECTION_HELP } from "./connection.js";

/** The topics in the order of the options in `command-options.ts`. `common` is shown without a topic. */
export const VERIFY_TOPICS: Topics = {
  common: {
    about: "what is usual",
    from: "boot-proof",
    examples: `
  An activity with its app proofs, against a pinned policy:
    $ bootproof verify --boot-proof boot.json --activity activity.json --policy policy.json --organization-id ID

  Fetch from the service and verify:
    $ bootproof verify --app signer --policy policy.json

Exit codes: 0 verified (or authentic, with --no-policy or --bundle-policy), 1 rejected (or, with --fail-on-warning, a
warning), 2 wrong usage or unreadable file, 3 evidence could not be fetched.`,
  },
  expected: {
    about: "is it the result of my request, the image that I built?",
    from: "image",
    examples: `
  Is it the result of my request? Compare the organization, the request as it was sent, and the addresses:
    $ bootproof verify --boot-proof boot.json --activity activity.json --policy policy.json \\
        --organization-id ID --request request.json --address 0x…

  Does it run the image that I built? Each boot proof must attest its measurements, with any policy:
    $ bootproof verify --boot-proof boot.json --image app.eif --policy policy.json`,
  },
  evidence: {
    about: "bundles, pages, a bare document, pipes, signed policies",
    from: "policy-signers",
    examples: `
  An activity with its app proofs, the boot proof from a pipe, the report as JSON:
    $ fetch-boot-proof | bootproof verify --boot-proof - --activity activity.json --policy policy.json --format json

  A bare attestation document (binary, base64 or hex):
    $ bootproof verify --attestation document.cbor --no-policy

  Bytes that an application signed and that are no app proof, compared with your own:
    $ bootproof verify --boot-proof boot.json --signed-message digest.bin --signature HEX --expect mine.bin \\
        --policy policy.json

  Fetch from the service and verify (with the connection from the environment):
    $ bootproof verify --app signer policy-engine --policy policy.json
    $ bootproof verify --ephemeral-key HEX --policy policy.json
    $ bootproof verify --activity-id ID --policy policy.json

  Under the newest version of a signed policy, which is remembered:
    $ bootproof verify --app signer --policy feed.jsonl --policy-signers signers.json --policy-state policy.state

  A bundle, years later, without a network; or with the policy inside it, which its maker chose:
    $ bootproof verify bundle.json --policy policy.json
    $ bootproof verify bundle.json --bundle-policy

  The evidence in a page of --format html, whatever the page shows:
    $ bootproof verify report.html --policy policy.json
${CONNECTION_HELP}`,
  },
  formats: {
    about: "reports for CI and machines, and how much text is written",
    from: "out",
    examples: `
--format FORMAT is one of text, json, html, junit, sarif, github, markdown, ear and vsa. Text at a terminal is the
summary; a pipe or a file gets the whole text.

  In CI: annotations of a change and a step summary at GitHub; a test report anywhere else:
    $ bootproof verify --app signer --policy policy.json --format github
    $ bootproof verify --app signer --policy policy.json --format junit > bootproof.xml

  The same, where nothing may weaken the verdict (another root, debug mode, a policy that leaves much open):
    $ bootproof verify --app signer --policy policy.json --format github --fail-on-warning

  A page for those who asked: one file with the evidence, which verifies in their browser:
    $ bootproof verify --boot-proof boot.json --policy policy.json --format html --title "Payments" --out report.html

  For machines: an attestation result (RATS EAR, a JWT), and a verification summary (SLSA VSA, in-toto):
    $ bootproof verify --boot-proof boot.json --policy policy.json --format ear --ear-key key.pem
    $ bootproof verify --boot-proof boot.json --policy policy.json --format vsa`,
  },
  provenance: {
    about: "which workflow of which repository built the application",
    from: "provenance",
    examples: `
  Which workflow of which repository built the application? The policy demands it (provenance), offline:
    $ bootproof verify --boot-proof boot.json --provenance build.sigstore.json --policy policy.json`,
  },
  time: {
    about: "another present, other roots, debug mode: what loosens",
    from: "at",
    examples: `
  Was it good at that time? Ages are counted from --now, and certificates are valid at the time of the document:
    $ bootproof verify --boot-proof boot.json --policy policy.json --now 2026-03-04T05:06:07Z

  Is this a genuine enclave, no matter whose? --no-policy has to be written out:
    $ bootproof verify --boot-proof boot.json --no-policy`,
  },
};
