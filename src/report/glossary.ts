/**
 * The terms of reports and documents, for `explain`. `docs/glossary.md` has the same entries in the same order.
 * Verification loads none of this.
 */

export interface GlossaryEntry {
  /** The term as it is written. */
  readonly name: string;
  /** What it is, in one line. */
  readonly title: string;
  /** More about it, in a few sentences. */
  readonly means: string;
}

/** By the word that `explain` takes: in lower case, with hyphens for spaces. */
export const GLOSSARY: Readonly<Record<string, GlossaryEntry>> = {
  activity: {
    name: "activity",
    title: "one request to the service, with its state and its result",
    means:
      "The service returns it as JSON: id, type, intent (what was requested), result, app proofs. No enclave " +
      "signs it as a whole: only what its app proofs repeat is proven, and everything else is the service's " +
      "word.",
  },
  "app-proof": {
    name: "app proof",
    title: "a statement that an application signed inside its enclave",
    means:
      "Its payload is signed with the ephemeral key of the enclave: for example that an address was derived, or " +
      "how a policy of the organization was decided. Anyone's application can sign payloads of its own types. An app " +
      "proof is worth as much as the boot proof that attests its key.",
  },
  appraisal: {
    name: "appraisal",
    title: "the comparison of verified evidence with a policy",
    means:
      "Verification decides whether evidence is authentic; appraisal decides whether it is what you expect. The " +
      'ids of its checks begin with "policy". The word is that of RFC 9334.',
  },
  approval: {
    name: "approval",
    title: "the signature of one member of the manifest set over the manifest hash",
    means:
      "The envelope carries approvals beside the manifest. At least as many members as the threshold of the set " +
      "have to approve. Approvals of the share set say who posted a share of the quorum key.",
  },
  "attestation-document": {
    name: "attestation document",
    title: "what the hardware signs about one enclave at one time",
    means:
      "A COSE_Sign1 structure in CBOR: module, time, PCRs, public key, user data, nonce, and the certificates " +
      "up to the root of AWS Nitro. Everything that is proven rests on its signature.",
  },
  "boot-proof": {
    name: "boot proof",
    title: "the evidence of what one enclave booted",
    means:
      "The attestation document, the manifest with its envelope, and the ephemeral key. The labels " +
      "beside them (enclaveApp, owner, deploymentLabel, createdAt) are not signed.",
  },
  bundle: {
    name: "bundle",
    title: "evidence, policy and report in one file",
    means:
      "It is verified again later, without a network. The policy inside was chosen by the maker of the bundle: " +
      "pass your own. With --bundle-policy the verdict is authentic at best.",
  },
  but: {
    name: "BUT",
    title: "what weakens a good verdict, beside the verdict itself",
    means:
      "A report is good, BUT the policy leaves the operator open, for example. It changes no verdict; " +
      "--fail-on-warning makes it a failure.",
  },
  challenge: {
    name: "challenge",
    title: "a random value that you send with a request, and that the answer has to repeat",
    means:
      "An app proof that repeats it was signed after you made it: it is no old answer, and the enclave was running " +
      "(--challenge, expected.payload). It has at least 22 base64url characters, or 32 hex digits. Make a new one " +
      "for each request.",
  },
  check: {
    name: "check",
    title: "one rule that evidence has to meet, with a stable id",
    means:
      "Each has a status: pass, fail, warn or skip. One failure makes the verdict rejected. bootproof explain " +
      "lists all ids, and explains each.",
  },
  claim: {
    name: "claim",
    title: "a fact that a report states, with its source",
    means:
      "Reports keep apart what the hardware signed and what the image says. A claim of the image is worth as " +
      "much as the image: the policy has to pin it.",
  },
  commitment: {
    name: "commitment",
    title: "a PCR that an enclave extended with its key and its manifest before its first document",
    means:
      "It proves that the boot code of the enclave, and not the application inside, chose the manifest and the " +
      "ephemeral key. The kinds are live, setup and legacy, which is none.",
  },
  coverage: {
    name: "coverage",
    title: "the demand that an app proof backs every address of a result",
    means:
      "A rule of the policy (appProofs.coverage). Without it, a result may hold an address that no " +
      "enclave derived.",
  },
  "debug-mode": {
    name: "debug mode",
    title: "an enclave whose memory its operator can read",
    means:
      "The hardware then attests zeros as PCRs. It is refused unless the policy or --allow-debug allows it. A " +
      "manifest can also put the application into a debug mode of its own.",
  },
  deployment: {
    name: "deployment",
    title: "one entry of a policy: the pins that an enclave has to meet together",
    means:
      "A policy lists deployments, for example the old release and the new one during a roll-out. " +
      "Evidence has to meet every pin of one of them.",
  },
  enclave: {
    name: "enclave",
    title: "an isolated virtual machine that the hardware measures and attests",
    means:
      "Here an AWS Nitro enclave. Its operator can neither read its memory nor log in to it, unless it runs in " +
      "debug mode.",
  },
  envelope: {
    name: "envelope",
    title: "a manifest together with its approvals",
    means:
      "Its manifest has to be the one that the boot proof shows, and its approvals have to be valid signatures " +
      "of members of the sets that this manifest names.",
  },
  "ephemeral-key": {
    name: "ephemeral key",
    title: "the key pair that an enclave makes at boot and never shows",
    means:
      "The attestation document attests its public half. The private half signs app proofs. A new boot makes a " +
      "new key.",
  },
  evidence: {
    name: "evidence",
    title: "what is verified: attestation documents, boot proofs, app proofs and activities",
    means:
      "It comes from the service or a file and is hostile until it is verified. No option that loosens " +
      "verification is ever read from it.",
  },
  image: {
    name: "image",
    title: "the file that an enclave boots from (EIF)",
    means:
      "The hardware measures it: PCR0, 1 and 2. The application is not necessarily part of it: QOS starts the " +
      "pivot that the manifest names. bootproof measure computes the PCRs of a file.",
  },
  lab: {
    name: "lab",
    title: "a local service with software enclaves, for tests",
    means:
      "It speaks the interface of the real service and returns wrong evidence on demand. Its keys are software " +
      "and its trust anchor is its own: what it attests proves nothing about any hardware.",
  },
  legacy: {
    name: "legacy",
    title: "evidence of an enclave that makes no commitment",
    means:
      "Its document has PCR0 to 15 only. Any application in the enclave could have requested it, with " +
      "another key or manifest. It passes only where the policy names legacy, and the report says what " +
      "stays open.",
  },
  live: {
    name: "live",
    title: "the commitment of an enclave that holds its quorum key and serves requests",
    means: "It is in PCR17. A deployment demands live unless it names another kind.",
  },
  manifest: {
    name: "manifest",
    title: "the document that says what QOS boots in an enclave",
    means:
      "It has the namespace, nonce, quorum key, pivot or workloads, arguments and environment, " +
      "manifest set, share set, and the PCRs of the image. The manifest set approves it.",
  },
  "manifest-hash": {
    name: "manifest hash",
    title: "the SHA-256 of a manifest in its canonical encoding",
    means:
      "It is the user data of the attestation document, and what approvals sign. A policy that pins it accepts " +
      "this manifest and no successor.",
  },
  "manifest-set": {
    name: "manifest set",
    title: "the people or machines that approve manifests, and how many of them have to",
    means:
      "The manifest names its own manifest set. Unless the policy pins the set (or the manifest hash), it may " +
      "be a set of the attacker: approvals prove only that the named members approved.",
  },
  namespace: {
    name: "namespace",
    title: "the name under which the manifests of one application succeed each other",
    means:
      "A manifest has a namespace and a nonce in it. A policy that pins a manifest set pins the namespace with " +
      "it, so that another application of the same approvers does not pass.",
  },
  nonce: {
    name: "nonce",
    title: "two different numbers have this name",
    means:
      "In an attestation document: random bytes of the requester, which prove that the document is newer than " +
      "the request (bind.nonce). In a manifest: a counter of its namespace; minNonce refuses one that was " +
      "rolled back (policy.nonce).",
  },
  open: {
    name: "open",
    title: "what a policy declares that it does not pin",
    means:
      "A deployment that does not pin the application or the operator is malformed unless it lists it under " +
      "open. policy.scope then warns in every report. The image can never be open.",
  },
  operator: {
    name: "operator",
    title: "whose enclave it is",
    means:
      "A policy pins it with the manifest set, the manifest hash, or the quorum key of a live enclave; with " +
      "PCR3 only weakly. Where it is open, anybody may run the same image and application over keys of their " +
      "own.",
  },
  "patch-set": {
    name: "patch set",
    title: "a set of keys in the manifests v0 and v1",
    means: "It is shown with the other members of the manifest. Later versions have none.",
  },
  pcrs: {
    name: "PCRs",
    title: "measurements that the hardware makes of an enclave (platform configuration registers)",
    means:
      "PCR0, 1 and 2 measure the image, PCR3 the IAM role of the instance, PCR4 the instance, PCR8 the " +
      "certificate that signed the image. PCR16 and above are extended from inside: commitments are there.",
  },
  pin: {
    name: "pin",
    title: "a value of a deployment that evidence has to have",
    means: "For example pcrs, pivotHash or manifestSet. bootproof pin writes a policy from evidence that you reviewed.",
  },
  pivot: {
    name: "pivot",
    title: "the application that QOS starts once the enclave has booted",
    means:
      "The manifest names the SHA-256 of its binary (pivotHash in a policy), its arguments and its environment. " +
      "Manifests v3 have workloads in its place.",
  },
  policy: {
    name: "policy",
    title: "the file that says which deployments pass",
    means:
      "You review and commit it: it is what you trust. It has to pin image, application and operator, or say " +
      "what it leaves open.",
  },
  "provisioning-details": {
    name: "provisioning details",
    title: "what a share holder is shown before a share is released: a setup document and its envelope",
    means:
      "A boot proof without labels, in one of three forms. bootproof verify --boot-proof takes it. It names the " +
      "quorum key whose shares are expected, and the document attests the key to which they would go.",
  },
  qos: {
    name: "QOS",
    title: "the operating system of the enclave, which boots what a manifest says",
    means:
      "It is in the image, so PCR0 to 2 measure it. It makes the ephemeral key, starts the pivot, and in newer " +
      "versions commits to key and manifest.",
  },
  "quorum-key": {
    name: "quorum key",
    title: "the long-lived key of an application, which outlives single enclaves",
    means:
      "Its private half is split into shares; an enclave puts it together at provisioning. All live enclaves of " +
      "one deployment hold the same one, so a policy can pin it to name the operator.",
  },
  release: {
    name: "release",
    title: "the published measurements of a version of an application",
    means:
      "A folder with the manifest and its operators' approvals, or a YAML file without approvals. bootproof pin " +
      "--release makes a policy from it; bootproof release check verifies the approvals. Which source it was built " +
      "from is the publisher's word, until you reproduce the build.",
  },
  report: {
    name: "report",
    title: "the result of a verification: verdict, checks, what is proven and what is not",
    means:
      "As text, JSON and other formats. A report that was read from a file proves nothing: verify the evidence " +
      "again.",
  },
  setup: {
    name: "setup",
    title: "the commitment of an enclave that waits for its quorum key",
    means:
      "It is in PCR16. Such a document does not prove that the enclave holds the quorum key, and its key signs " +
      "no app proofs. The shares that are released for it go to its key.",
  },
  "share-set": {
    name: "share set",
    title: "the people or machines that hold shares of the quorum key, and how many of them are needed",
    means: "They post their shares to a new enclave, and the envelope records their approvals.",
  },
  stamp: {
    name: "stamp",
    title: "the signature over a request to the service",
    means:
      "By an API key or a passkey, in a header. It proves to the service who sent the request; it proves nothing " +
      "about the result.",
  },
  "trust-anchor": {
    name: "trust anchor",
    title: "the root certificate at which every certificate path has to begin",
    means:
      "AWS Nitro Enclaves Root G1 is built in. Trust any other only as far as you trust the owner of that root; " +
      "every report names it.",
  },
  "user-data": {
    name: "user data",
    title: "bytes that the software in the enclave had put into an attestation document",
    means: "QOS puts the manifest hash there. In bare documents of other enclaves, the image decides what it is.",
  },
  verdict: {
    name: "verdict",
    title: "the result of all checks in one word",
    means: "verified, authentic or rejected. bootproof explain knows each of them.",
  },
  workloads: {
    name: "workloads",
    title: "the applications of a manifest v3",
    means: "They take the place of the pivot: 1 to 16 container images, each named by its digest.",
  },
};
