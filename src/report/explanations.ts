/**
 * The explanation of each check, for anyone who has to decide about a failure: what it proves, why it fails, what to
 * do, and the source of its rule. Verification loads none of this.
 */
import { editDistance } from "../decode/nearest.js";
import { CHECK_IDS, CHECK_TITLES, type CheckId, type CheckStatus, isCheckId } from "../checks.js";
import { CHECK_ROWS } from "./check-rows.js";
import { GLOSSARY } from "./glossary.js";
import { type TextOptions, pageOf, wrapped } from "./layout.js";
import { GROUPS } from "./pieces.js";
import type { Verdict } from "./report.js";

export { isCheckId };

export type ExplanationOptions = Pick<TextOptions, "color" | "width">;

/** The usual advice after a failure of each check. */
export const CHECK_ADVICE = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ CHECK_IDS.map((id) => [id, CHECK_ROWS[id].advice]),
) as Readonly<Record<CheckId, string>>;

interface Explained {
  readonly proves: string;
  readonly genuine: string;
  readonly hostile: string;
  readonly warns?: string;
  /** Follows the usual advice of the check. */
  readonly next: string;
  readonly sources: readonly string[];
}

const AWS = 'AWS, aws-nitro-enclaves-nsm-api, "attestation_process"';
const QOS = 'QOS, github.com/tkhq/qos, "attestation_verification"';

/** Total over the ids. */
const EXPLAINED: Readonly<Record<CheckId, Explained>> = {
  "boot.decode": {
    proves:
      "The service's response is a boot proof: attestation document, manifest, envelope and key, each in strict " +
      "base64 or hex. That alone proves nothing about an enclave: the other checks examine what the fields contain.",
    genuine:
      "The response was cut, wrapped in another object or edited by hand. Or the file holds something else, such as " +
      "an app proof. Or a newer service renamed a field.",
    hostile:
      "Two fields hold different copies of the same document, so that two readers would judge two documents. " +
      "Evidence that can be read in more than one way is refused.",
    warns:
      "A missing owner, deploymentLabel, enclaveApp or createdAt is a warning: they are not signed, and deployed " +
      "services leave some of them out. Provisioning details, which share holders are shown, have none of them.",
    next: "bootproof inspect FILE shows what the file holds and what is wrong with it.",
    sources: [
      'src/decode/README.md, "Boot proof"',
      'src/decode/README.md, "Provisioning details"',
      'src/client/README.md, "Boot proofs"',
    ],
  },
  "cose.structure": {
    proves:
      "The document is exactly one COSE_Sign1 in the encoding that the hardware produces: shortest lengths, no " +
      "duplicate key, no bytes after its end. Every reader sees the same document, and the signed bytes are the " +
      "shown ones.",
    genuine:
      "A program changed the file: a CBOR library decoded it and encoded it again, or it was cut or saved with line " +
      "feeds inside. Documents of other hardware fail here too.",
    hostile:
      "The document has two values for one name, or bytes after its end, so that two verifiers read it differently. " +
      "Genuine hardware makes no such document.",
    next: "Compare the bytes with those that the service sends. The service calls the field DER, but it is CBOR.",
    sources: ['src/decode/README.md, "COSE_Sign1"', 'src/decode/README.md, "CBOR"', "RFC 9052 section 4.2", "RFC 8949"],
  },
  "cose.algorithm": {
    proves:
      "The signed header of the document names ECDSA with P-384 and SHA-384, and nothing else. The verifier reads " +
      "the algorithm only there, so an attacker cannot choose a weaker one.",
    genuine: "This is rare: all genuine documents have this one header. Other kinds of COSE messages fail here.",
    hostile:
      "The header names another algorithm, or names it in the unsigned part, in the hope that a verifier believes it.",
    next: "Find out where the document comes from: no Nitro hardware made it.",
    sources: ['src/verify/README.md, "Attestation documents"', "RFC 9053 section 2.1", AWS],
  },
  "cose.signature": {
    proves:
      "The key of the leaf certificate signed every byte of the document: module, time, PCRs, public key, user data. " +
      "If the certificate path is valid too, that key is the hardware's.",
    genuine:
      "The document was damaged: its base64 was cut or edited, or a program decoded it and encoded it again, which " +
      "changes the signed bytes.",
    hostile:
      "An attacker changed a PCR, the user data or the key inside a genuine document, or put a genuine certificate " +
      "beside a document of their own. Without the hardware's key they cannot make a valid signature.",
    next: "Fetch the document again and compare: if the bytes are the same, the service serves a forgery.",
    sources: ['src/verify/README.md, "Attestation documents"', "RFC 9052 section 4.4", AWS],
  },
  "doc.structure": {
    proves:
      "The signed content is an attestation document of an enclave: it has every field once, with the right type and " +
      "length. An absent PCR counts as absent, never as zeros.",
    genuine:
      "The document is from a NitroTPM, which measures a whole instance and not an enclave. Or its format is newer " +
      "than this version of the tool.",
    hostile:
      "The document has a duplicate name or a PCR of another length, made for a reader that takes the first, the " +
      "last or a part of it.",
    warns: "An unknown field is a warning; its value is ignored.",
    next: "bootproof inspect FILE names each broken rule.",
    sources: ['src/decode/README.md, "Attestation document"', AWS],
  },
  "chain.anchor": {
    proves:
      "The certificate path starts at a root that this verifier trusts: AWS Nitro Enclaves Root G1, or one that you " +
      "named. The owner of that root can make any document; no other party can.",
    genuine:
      "The evidence is from a lab or a test installation, which has its own root. Or a policy for production is " +
      "applied to evidence of a lab, or the other way round.",
    hostile:
      "An attacker created an authority with the same names and signed documents with it. They can then make every " +
      "other check pass.",
    warns:
      "An anchor that you named, other than the AWS root, is a warning in every report: use one only for your own " +
      "installation.",
    next:
      "Never add a root because a service sent it. For a lab, add its lab-trust-anchor.pem to trustAnchors of the " +
      "policy, or pass it with --trust-anchor.",
    sources: ['src/verify/README.md, "The certificate path"', "RFC 5280 section 6.1", AWS],
  },
  "chain.signature": {
    proves:
      "Each certificate names the one above it as its issuer, and the key of that one signed it. So the owner of the " +
      "root vouches for the key of the leaf.",
    genuine: "A program on the way reordered the certificates or dropped one.",
    hostile:
      "An attacker put their own key into a certificate: it can carry every name, but not the signature of the " +
      "certificate above it.",
    next: "Fetch the boot proof again. If it still fails, do not use it, and inform the owner of the service.",
    sources: ['src/verify/README.md, "The certificate path"', "RFC 5280 section 6.1"],
  },
  "chain.algorithm": {
    proves:
      "Every key in the path is P-384, and every signature is ECDSA with SHA-384. Each certificate names the same " +
      "algorithm in its signed and its unsigned part, so a weaker one cannot take its place.",
    genuine: "Your own test authority uses RSA or another curve.",
    hostile:
      "A certificate uses a weaker algorithm that can be broken, or names one algorithm and is signed with another.",
    next: "For a test installation, create an authority like that of the hardware: P-384 and SHA-384 throughout.",
    sources: [
      'src/verify/README.md, "The certificate path"',
      'src/decode/README.md, "Certificates"',
      "RFC 5280 section 4.1",
    ],
  },
  "chain.validity": {
    proves:
      "Every certificate was valid at the validation time. By default that is the signed time of the document " +
      "itself: a leaf lives three hours, and boot proofs are read months later.",
    genuine:
      "--at now, or --at with another time, was used for a boot proof of last week. Its leaf has expired since, " +
      "which is not a fault of the evidence. Or the clock of this machine is wrong.",
    hostile:
      "The signed time of the document does not fit its certificates, so no hardware with a clock made it. An " +
      "attacker could use a leaked, expired key for that.",
    next: "How old a boot proof may be is a separate rule: maxAge in the policy, checked by policy.age.",
    sources: ['src/verify/README.md, "Validation time"', "RFC 5280 section 6.1"],
  },
  "chain.constraints": {
    proves:
      "Each certificate may be at its place: authorities are marked as such and may sign certificates, the path is " +
      "no longer than they allow, the leaf is not an authority, and no critical extension is ignored.",
    genuine: "Your own test authority leaves out basicConstraints or keyUsage.",
    hostile:
      "An attacker with a genuine leaf certificate, of any enclave, uses its key to sign another certificate below " +
      "it. This is the classic attack on verifiers without this check.",
    next: "For a test installation, compare its certificates with the rule.",
    sources: ['src/verify/README.md, "The certificate path"', "RFC 5280 section 6.1"],
  },
  "manifest.decode": {
    proves:
      "The manifest can be read in exactly one way, as its declared version. It lists what was booted: application, " +
      "arguments, quorum key, and who may approve.",
    genuine:
      "The version of the manifest is newer than this tool. Or the manifest was edited, or decoded and encoded again.",
    hostile:
      "The bytes are two manifests, in two versions: a harmless one that is shown, and one that was booted. Both " +
      "would have the same hash.",
    warns: "A version that is still a draft is a warning; the manifest is read as that draft.",
    next: "Look for a newer version of this tool before you suspect an attack; bootproof inspect names the fault.",
    sources: ['src/decode/README.md, "Which version"', 'src/decode/README.md, "Manifests"', QOS],
  },
  "envelope.decode": {
    proves:
      "The envelope repeats the manifest and carries its approvals. It can be read in exactly one way, as its " +
      "declared version.",
    genuine: "The version of the envelope is newer than this tool, or the envelope was edited on the way.",
    hostile: "Readers understand the envelope differently, so that approvals of one manifest appear to be of another.",
    next: "Look for a newer version of this tool first; bootproof inspect names the fault.",
    sources: ['src/decode/README.md, "Which version"', 'src/decode/README.md, "Manifests"', QOS],
  },
  "envelope.manifest": {
    proves:
      "The manifest inside the envelope and the manifest beside it have the same hash and version. So the approvals " +
      "are for the shown manifest. Provisioning details have no manifest beside the envelope: the check is skipped, " +
      "and the other checks use the envelope's own.",
    genuine: "The service responded while a deployment changed, with the old envelope beside the new manifest.",
    hostile:
      "A manifest without approvals comes with the envelope of an approved one: the approvals are genuine, but for " +
      "another manifest.",
    next: "Fetch the boot proof again. If it still fails, the service shows the approvals of another manifest.",
    sources: ['src/decode/README.md, "Manifest hash"', 'src/verify/README.md, "Approvals"'],
  },
  "envelope.approvals": {
    proves:
      "Members of the manifest set signed the hash of this manifest, each once, and at least as many as the " +
      "threshold demands. The manifest itself names the set: policy.manifest-set checks that it is the right one.",
    genuine:
      "The envelope was fetched before enough members had approved. Or the manifest has a threshold of 0, which QOS " +
      "accepts and this tool refuses.",
    hostile:
      "Approvals by strangers, repeated approvals or signatures over another manifest are meant to reach the " +
      "threshold.",
    next: "The detail names each bad approval. The members of the manifest set know whether they signed.",
    sources: ['src/verify/README.md, "Approvals"', QOS],
  },
  "envelope.shares": {
    proves:
      "Everyone who posted a share of the quorum key is a member of the share set, with a valid signature over this " +
      "manifest. The check needs no threshold: what the enclave does shows whether the key was put together.",
    genuine: "A part of the envelope was lost or edited on the way.",
    hostile: "The approval of a stranger among the shares makes a person appear to have taken part who did not.",
    warns: "A repeated approval counts once and is a warning: QOS records one for every share that is posted.",
    next: "The detail names the bad approval. The policy pins the holders of shares as shareSet.",
    sources: ['src/verify/README.md, "Approvals"', QOS],
  },
  "bind.user-data": {
    proves:
      "The hardware signed the user data of the document, and it is the hash of this manifest: the enclave states " +
      "that it booted with it. The image and bind.commitment decide how far you can believe that.",
    genuine: "The service sent the manifest of another deployment, while one replaced the other.",
    hostile:
      "A genuine document comes with a manifest that its enclave never booted: a harmless one is shown, another one " +
      "runs.",
    next: "Fetch the boot proof again. If it still fails, the shown manifest is not the one that runs.",
    sources: ['src/verify/README.md, "What ties it all together"', 'src/decode/README.md, "Manifest hash"', QOS],
  },
  "bind.pcrs": {
    proves:
      "The hardware measured PCR0 to 3, and they are those that the manifest names: this image, this kernel, these " +
      "ramdisks, this role. So the people who approved the manifest approved this image.",
    genuine:
      "Only PCR3 differs: the instance has another IAM role than the manifest names. Or the image was rebuilt, " +
      "without a new manifest.",
    hostile: "Another image runs, under a manifest that was approved for a good one.",
    next: "The report shows the values. PCR0 to 2 measure the image, PCR3 the role and its account.",
    sources: ['src/verify/README.md, "What ties it all together"', 'src/decode/README.md, "Attestation document"', QOS],
  },
  "bind.image": {
    proves:
      "The hardware signed the measurements that you gave, for example those of an image that you built (--image). " +
      "So exactly that image runs. This does not prove what the image was built from, or which application it " +
      "starts. The check runs only if you give measurements, with or without a policy.",
    genuine:
      "The build is not reproducible: another compiler, kernel or date is inside. Or the deployment runs another " +
      "release than the one that you built. An image that was signed after it was measured has a PCR8 of its own.",
    hostile: "Another image runs than the one whose source was reviewed.",
    next:
      "bootproof measure explains each PCR. If only PCR1 is equal, kernel and boot agree, and the rest of the image " +
      "differs.",
    sources: ['src/verify/README.md, "What ties it all together"', 'src/verify/README.md, "PCRs"', AWS],
  },
  "bind.key": {
    proves:
      "The document attests this ephemeral key, two valid points of P-256, and it is the key that you requested. " +
      "This enclave signed what is signed with that key, as far as you can believe its image.",
    genuine:
      "The boot proof is of another replica: each enclave has its own key, and makes a new one at every boot. Or the " +
      "key was copied incompletely.",
    hostile:
      "A genuine boot proof of a good enclave is offered for a key of the attacker. Whatever that key signs would " +
      "then pass as signed by the enclave.",
    next: "The publicKey of the app proof is the key to request: bootproof fetch --ephemeral-key HEX.",
    sources: ['src/verify/README.md, "What ties it all together"', 'src/verify/README.md, "QOS keys"', QOS],
  },
  "bind.commitment": {
    proves:
      "The boot code of the enclave wrote manifest and key into a register (PCR17, or PCR16 for a setup key) before " +
      "any application ran. So no application inside can have requested a document over another key or manifest.",
    genuine: "A version of QOS commits in a way that this tool does not know yet.",
    hostile:
      "An application inside the enclave requested a document over a key or manifest of its choice. It cannot change " +
      "the register, which contradicts that document. Or share holders are shown a document of a live key: their " +
      "shares would go to an application.",
    warns:
      "A document with PCR0 to 15 only is legacy, and a warning: its enclave commits to nothing. A PCR18 with " +
      "another value is a warning too.",
    next:
      "Where newer enclaves run, let the policy demand them: a deployment demands live unless it names another " +
      "commitment.",
    sources: ['src/verify/README.md, "Commitments"', QOS],
  },
  "bind.nonce": {
    proves:
      "The document carries the nonce of your request, so it was made after that request: the enclave was running " +
      "then. If you sent no nonce, the document carries none.",
    genuine:
      "--nonce was forgotten, or is of another request. Or the service sent a stored document. Older enclaves accept " +
      "no nonce.",
    hostile: "An old document is replayed, of an enclave that was shut down or whose key has leaked.",
    next: "Use each nonce for one request only. Without one, maxAge in the policy limits how old a document may be.",
    sources: ['src/verify/README.md, "What ties it all together"', AWS],
  },
  "mode.debug": {
    proves:
      "The enclave does not run in debug mode, in which its host can read its console and the hardware attests " +
      "zeros. Its manifest does not put the application into debug mode either.",
    genuine:
      "The evidence is of a test installation, started with --debug-mode, and is verified with the rules of " +
      "production.",
    hostile: "An attacker runs the image in debug mode to look inside, or because a careless verifier accepts zeros.",
    warns: "If you allow it (--allow-debug, or allowDebug in the policy), it is a warning in every report.",
    next: "The PCRs of a debug enclave mean nothing. Never allow debug mode where something depends on the result.",
    sources: ['src/verify/README.md, "What ties it all together"', AWS],
  },
  "app.decode": {
    proves:
      "The app proof has its four fields, each in its form: scheme, publicKey (130 bytes, or the signing half of " +
      "65), proofPayload and signature (64 bytes, or strict DER).",
    genuine:
      "The proof was copied in part, or is a boot proof. Its scheme is newer than this tool. Or its application has " +
      "other names for the fields.",
    hostile:
      "The scheme is unknown, and a careless verifier would accept it. Or key or signature can be read in two ways.",
    next:
      "bootproof inspect FILE shows what the file holds and what is wrong with it. For other names, the library's " +
      "appProofOf({ publicKey, payload, signature }) makes the standard form.",
    sources: ['src/decode/README.md, "App proofs"'],
  },
  "app.signature": {
    proves: "The key that the proof names signed exactly these bytes of the payload. app.key checks whose key it is.",
    genuine:
      "A program decoded the payload and wrote it again: a space, an escape or the order of members is enough. The " +
      "payload has to stay the exact text that was signed.",
    hostile: "An attacker changed the address, the organization or the outcome inside a genuine payload.",
    next: "Compare the payload with the unchanged response of the service. A payload that fails here proves nothing.",
    sources: ['src/verify/README.md, "App proofs"', 'src/verify/README.md, "QOS keys"', QOS],
  },
  "app.key": {
    proves:
      "A verified boot proof attests the key that signed, and keys of its kind may sign. So the " +
      "payload was signed inside that enclave. Of a proof with 130 bytes, all are compared; of one with 65, the " +
      "signing half. A live enclave attests the key that it serves with. In " +
      "a legacy document, the application that requested it chose the key.",
    genuine:
      "The boot proof is of another replica or of another boot: each has its own key. Or the boot proof itself was " +
      "rejected, and its own failures say why.",
    hostile: "The attacker signed the payload with a key of their own, and offers a genuine boot proof of another key.",
    next:
      "Fetch the boot proof that belongs to the proof's publicKey: bootproof fetch --ephemeral-key HEX. That takes " +
      "the whole key: of a proof with the signing half alone, get it from the application.",
    sources: ['src/verify/README.md, "App proofs"', 'src/verify/README.md, "Commitments"', QOS],
  },
  "app.payload": {
    proves:
      "The signed payload can be read in only one way: strict JSON, no duplicate member, numbers that can be shown " +
      "as they were signed, and the fields that its type requires.",
    genuine:
      "A newer application signs a payload of a known type without one of its fields. Or an application of your own " +
      "signs no type, or no timestampMs. An unknown type does not fail.",
    hostile:
      "A member is there twice, with two values: one reader takes the first, another the last, and both have a valid " +
      "signature.",
    next:
      "bootproof inspect FILE shows the payload. The owner of the application knows what changed. Every payload " +
      "needs a type; one without a time needs a policy that names its type in appProofs.untimed.",
    sources: ['src/decode/README.md, "App proofs"', "RFC 8259"],
  },
  "app.time": {
    proves:
      "The payload was made after the enclave's document, not before your request, and not in the future. Clocks may " +
      "differ by a minute.",
    genuine: "The clock of this machine is slow, or --now or the request's timestampMs is of another day.",
    hostile:
      "An older proof, of an earlier request, is offered as the response to a new one: genuine, but about the past.",
    warns:
      "Under a live document, a payload that is older than the document is a warning: such an enclave makes " +
      "documents at any time. A payload without a time (appProofs.untimed) is a warning, since it may be an old " +
      "answer; with your challenge in it the check is skipped, since it was made after that.",
    next:
      "The report shows the times. The time of the payload is from the enclave's own clock, which the service does " +
      "not set.",
    sources: ['src/verify/README.md, "App proofs"'],
  },
  "app.request": {
    proves:
      "Proofs that came without an activity are about the organization and every address that you named. With an " +
      "activity or without, payloads hold the values that you expect: each expectation is met, and each proof of an " +
      "expected type meets one. The check runs only if you name something: --organization-id, --address, --payload, " +
      "--challenge.",
    genuine:
      "--organization-id is that of a parent, a child or another environment. The address is not in the format of " +
      "the proof. Or a value is a string where the payload has a number.",
    hostile:
      "A genuine proof of another party's address is offered as yours, so that you pay to it. Or a genuine answer to " +
      "somebody else's request is offered as the answer to yours.",
    warns: "A payload that names no organization is a warning: it does not show whose it is.",
    next:
      "Compare the proof with your own records of the request, not with the response of the service. A challenge, " +
      "made at random for each request, lets no older answer pass.",
    sources: [
      'src/verify/README.md, "The question"',
      'src/verify/README.md, "Expected payloads"',
      'src/verify/README.md, "App proofs"',
    ],
  },
  "activity.decode": {
    proves:
      "The file is an activity with app proofs. If the service repeats the activity inside its result, both copies " +
      "are equal, so no reader can be shown a different one.",
    genuine: "The activity was submitted without generateAppProofs, or was fetched before it was completed.",
    hostile: "One response has two versions of the activity: one that fits the proofs, and one that you read.",
    next: "An activity without app proofs proves nothing: no enclave signed any of it.",
    sources: ['src/decode/README.md, "Activities"', 'src/client/README.md, "Activities"'],
  },
  "activity.request": {
    proves:
      "The activity matches your request: organization, id, type, parameters as you sent them, completed, and result " +
      "members that repeat the request. Only what you specify is compared.",
    genuine:
      "--organization-id or --activity-id is of another activity; the activity is still pending; or --request is not " +
      "the body that was submitted.",
    hostile:
      "A dishonest service returns another party's activity, or one of yours from last week. Its proofs are genuine: " +
      "only a comparison with your request shows the difference.",
    warns:
      "The answer to your vote is the activity that you voted on. Only its fingerprint was compared, which no " +
      "enclave signed, so type and parameters are the service's word.",
    next:
      "Keep the body of each request, and pass it with --request. Take what you expect from your own records, never " +
      "from the response.",
    sources: ['src/verify/README.md, "The question"', 'src/client/README.md, "Activities"'],
  },
  "activity.claims": {
    proves:
      "What the enclaves signed agrees with the activity: organization, wallet, derivation path, address, and a last " +
      "decision to allow. The activity itself is not signed.",
    genuine: "The proofs are of another activity than the file, or a proof was already used for another activity.",
    hostile:
      "The service wrote an address into its result that no enclave derived, or completed an activity whose last " +
      "decision was to deny.",
    warns:
      "Proofs about a sub-organization that the activity created are a warning: no enclave signed that it is new, or " +
      "yours.",
    next: "The detail names the proof and the member. Believe the signed payload, not the result beside it.",
    sources: ['src/verify/README.md, "Activities"', 'src/client/README.md, "Activities"'],
  },
  "activity.coverage": {
    proves: "Every address in the result has an app proof of its own: an enclave derived it, for this wallet and path.",
    genuine: "The service makes no address proofs for this operation, or its release is too old to make them.",
    hostile: "Among many proven addresses there is one without a proof: the attacker's.",
    warns: "It fails only if the policy demands it (appProofs.coverage). Otherwise it is a warning.",
    next: "The detail names the addresses. Pay to none of them before it is proven.",
    sources: ['src/verify/README.md, "Activities"', 'src/appraise/README.md, "The policy file"'],
  },
  "activity.signature": {
    proves:
      "Each signature of sign_raw_payload, sign_raw_payloads or sign_transaction is by the key of your signWith, " +
      "over exactly the payload or transaction that you submitted. No app proof covers a signature: it proves itself.",
    genuine: "The parameters that you gave are not those that you submitted.",
    hostile:
      "The service returns the signature of another key, or over another payload, or a transaction with another " +
      "recipient.",
    warns:
      "A signature that this version cannot check is a warning: an unknown encoding, hash, address format or type " +
      "of transaction, typed data beyond the bounds, or a signWith that is an id. Without your request the check " +
      "is skipped, and likewise if an app proof was rejected.",
    next: "Do not use the signature. Compare signWith and the payload with what you sent.",
    sources: ['src/verify/README.md, "Signatures"'],
  },
  "policy.scope": {
    proves:
      "The deployment that matched determines which image runs, which application, and whose enclave it is. If one " +
      "of the three is open, another party's enclave passes too.",
    genuine: "The policy was made from a release alone, or for a legacy deployment, whose evidence cannot prove more.",
    hostile: "None by itself: it reports what an attacker could do with an enclave of their own.",
    warns:
      "What the policy leaves open, or pins weakly (PCR3 alone, legacy, public keys, no minNonce), is a warning in " +
      "every report.",
    next: "bootproof pin writes a policy that pins all three from a boot proof that you reviewed.",
    sources: ['src/appraise/README.md, "What a deployment has to pin"'],
  },
  "policy.deployment": {
    proves:
      "The evidence meets every pin of one deployment of your policy. This is the step from any genuine enclave to " +
      "the one that you expect.",
    genuine:
      "A new release was rolled out, and the policy does not list it yet. Or evidence of staging is verified with " +
      "the policy of production.",
    hostile:
      "The enclave is genuine, but of another party, or of your own people with another program: authentic, and not " +
      "what you pinned.",
    next:
      "The report names the nearest deployment, and has a check for each pin that differs. While two releases run, " +
      "list both.",
    sources: ['src/appraise/README.md, "Appraisal"', 'src/appraise/README.md, "Pins"'],
  },
  "policy.pcrs": {
    proves:
      "The hardware measured one of the images that you pinned: PCR0 to 2 measure the image, PCR3 the role, PCR8 the " +
      "signer of the image.",
    genuine:
      "PCR0 to 2: a new release, or an image that was rebuilt and is not reproducible. PCR3: another role or " +
      "account. PCR8: another signing certificate.",
    hostile: "An image of the attacker runs. It can state anything about itself, so nothing else in the report counts.",
    next:
      "The PCR that differs shows whom to contact: for PCR0 to 2 the builder of the image, for PCR3 the operator of " +
      "the instance.",
    sources: ['src/appraise/README.md, "Pins"', 'src/decode/README.md, "Attestation document"'],
  },
  "policy.manifest-hash": {
    proves:
      "The enclave booted exactly a manifest that you pinned, with every setting in it, including bridges and DNS.",
    genuine: "The manifest is new: another release, a member who was replaced, another argument.",
    hostile: "The manifest differs in a setting that no other pin covers.",
    next: "bootproof inspect shows the manifest of the new boot proof: compare it with the one that you reviewed.",
    sources: ['src/appraise/README.md, "Pins"', 'src/decode/README.md, "Manifest hash"'],
  },
  "policy.pivot": {
    proves: "The application binary is one that you pinned, by its SHA-256.",
    genuine:
      "The application has a new release, in the same image. Or the manifest runs workloads, and has no such binary.",
    hostile: "The same public image runs a program of the attacker.",
    next: "Rebuild the release, or take its digest from a source that you trust, and compare.",
    sources: ['src/appraise/README.md, "Pins"', 'src/decode/README.md, "Manifests"'],
  },
  "policy.workloads": {
    proves: "The enclave runs the workloads that you pinned, by name, each with one of its digests, and no other.",
    genuine: "A workload has a new release, or a workload was added. Or the manifest is older, and has none.",
    hostile: "An added workload shares the enclave and its keys with the others.",
    next: "The report shows the names and digests: compare each with its release.",
    sources: ['src/appraise/README.md, "Pins"', 'src/decode/README.md, "Manifest v3"'],
  },
  "policy.args": {
    proves: "The application was started with exactly the arguments and the environment that you pinned.",
    genuine: "A release changed a setting: a log level, another configuration file.",
    hostile: "The right program runs with a harmful argument: another upstream, a test mode, disabled checks.",
    next: "Review every difference as carefully as a change of the code.",
    sources: ['src/appraise/README.md, "Pins"'],
  },
  "policy.namespace": {
    proves:
      "The manifest is of a namespace that you pinned. Nonces count within a namespace, and people approve for it.",
    genuine:
      "The evidence is from another environment, such as staging, or from another application of the same people.",
    hostile: "The right people approved this manifest for something less critical: a test, or another program.",
    next: "Find out which environment the evidence is from before you add a namespace.",
    sources: ['src/appraise/README.md, "Pins"', 'src/appraise/README.md, "What a deployment has to pin"'],
  },
  "policy.nonce": {
    proves: "The manifest is not older than the one that you pinned: the deployment was not rolled back.",
    genuine: "An old replica still runs during a roll-out, or a roll-back was intended.",
    hostile:
      "An older release, genuine and approved, was booted again for a flaw that has been fixed since. Its approvals " +
      "never expire; this pin ends them.",
    next: "Raise minNonce with every release that fixes a flaw. Lower it only for an intended roll-back.",
    sources: ['src/appraise/README.md, "Pins"'],
  },
  "policy.quorum-key": {
    proves: "The deployment is provisioned with a quorum key that you pinned; a live enclave holds it.",
    genuine: "A ceremony changed the key, or the evidence is from another environment with its own key.",
    hostile:
      "The same image and program run over a key of the attacker: everything that they derive belongs to the attacker.",
    next: "A quorum key changes only in a ceremony. Confirm the change with the people who took part.",
    sources: ['src/appraise/README.md, "Pins"', 'src/appraise/README.md, "What a deployment has to pin"'],
  },
  "policy.manifest-set": {
    proves:
      "The people who can approve manifests are those that you pinned, by key, with a threshold at least as high.",
    genuine: "A member joined or left, or has a new key.",
    hostile: "The attacker named a set of their own keys: it approves anything, and envelope.approvals passes.",
    next: "Compare key by key with a list that does not come from the service. A lower threshold is a change too.",
    sources: ['src/appraise/README.md, "Pins"', 'src/verify/README.md, "Approvals"'],
  },
  "policy.share-set": {
    proves:
      "The people who hold the shares of the quorum key are those that you pinned, with a threshold at least as high.",
    genuine: "A member joined or left, or has a new key.",
    hostile:
      "Other people hold the shares, or the threshold is lower: fewer people can then put the key together elsewhere.",
    next: "Compare key by key with the record of the ceremony.",
    sources: ['src/appraise/README.md, "Pins"', 'src/verify/README.md, "Approvals"'],
  },
  "policy.user-data": {
    proves:
      "A bare document carries the user data that you pinned. The image of the enclave decides what that data means.",
    genuine: "The image puts another value there at every boot, such as the hash of a configuration.",
    hostile: "The right image runs with another configuration, and its user data commits to that.",
    next: "Pin it only if the image always puts the same value there.",
    sources: ['src/appraise/README.md, "Pins"', 'src/decode/README.md, "Attestation document"'],
  },
  "policy.public-key": {
    proves: "A bare document attests the public key that you pinned.",
    genuine: "The enclave was restarted: most images make a new key at every boot.",
    hostile: "Another party runs an enclave of the same image, with a key of its own.",
    next: "Pin it only for enclaves that keep their key.",
    sources: ['src/appraise/README.md, "Pins"', 'src/decode/README.md, "Attestation document"'],
  },
  "policy.commitment": {
    proves:
      "The enclave committed to manifest and key in the way that the deployment demands. The default " +
      "is live: then no application can have requested the document itself.",
    genuine:
      "The enclave is an older one (legacy), or the document is that of the setup, which comes before the live one.",
    hostile: "An older image without these registers was booted, because its application can still request documents.",
    next: "If only legacy enclaves run, the policy has to say so, and the report lists what that leaves open.",
    sources: ['src/verify/README.md, "Commitments"', 'src/appraise/README.md, "What a deployment has to pin"'],
  },
  "policy.labels": {
    proves:
      "The service labels the deployment as you pinned. No enclave signed the labels: this checks only the response " +
      "of the service.",
    genuine: "A label was renamed, or names the release, which changes every time.",
    hostile: "None: a dishonest service can send any label.",
    next: "Pin no label that changes with a release.",
    sources: ['src/appraise/README.md, "Pins"', 'src/client/README.md, "Boot proofs"'],
  },
  "policy.age": {
    proves:
      "The document is not older than the policy's maxAge, counted from its signed time to now, and not from the " +
      "future.",
    genuine:
      "The enclave has run for longer than maxAge: most make their document at boot. Or the evidence is an old file, " +
      "or the clock of this machine is wrong.",
    hostile: "An old boot proof is offered, of an enclave that was shut down for a reason.",
    warns: "Without maxAge, a setup document is a warning: an old one may be shown again to those who hold shares.",
    next:
      "If only this check failed, the evidence is stale and otherwise good: fetch it again, or restart the enclave. " +
      "For an audit of the past, give its time with --now.",
    sources: ['src/appraise/README.md, "Appraisal"', 'src/verify/README.md, "Validation time"'],
  },
  "policy.app-proof": {
    proves:
      "The app proofs meet the policy: there are some, of allowed types and not too old, with a decision if the " +
      "policy demands one. A proof without a time is never the required one, and fails where maxAge is set.",
    genuine:
      "No app proofs were given, the activity is older than appProofs.maxAge, or the application signs a type that " +
      "the policy does not list yet.",
    hostile:
      "A proof of a harmless type takes the place of one that matters, or an enclave of another application vouches " +
      "for an address, or the proof of the decision is withheld.",
    next: "The policy and the deployment whose enclave signed have to allow the type of a proof, both of them.",
    sources: ['src/appraise/README.md, "The policy file"', 'src/appraise/README.md, "Appraisal"'],
  },
  "provenance.bundle": {
    proves:
      "A certificate authority of a trusted root that the policy names issued the certificate, its key signed the " +
      "statement at a signed time, and the statement is in the logs that this root has. It holds if the " +
      "certificate authority and the logs are sound.",
    genuine:
      "No bundle was given, or one of another instance: private repositories of GitHub have a trusted root of their " +
      "own. Or the trusted root in the policy is older than the keys that signed.",
    hostile:
      "The signature was made outside of the build, the statement was changed, or it is hidden from the log. A " +
      "bundle that can be read in more than one way, or is larger than 1 MiB, is refused before any library reads it.",
    next: "gh attestation download gets the bundles, and gh attestation trusted-root the roots.",
    sources: ['src/verify/README.md, "Provenance"', 'src/decode/README.md, "Provenance bundles"'],
  },
  "provenance.signer": {
    proves:
      "The identity provider stated to the certificate authority which workflow of which repository ran, at which " +
      "ref and commit, and that is what the policy demands. Every value is compared whole.",
    genuine:
      "The release was built from another branch or tag, on another runner, or by a workflow that moved; or the " +
      "repository was renamed or transferred.",
    hostile:
      "Another repository, a fork, a branch or a reusable workflow that anyone may call signed the same binary; or a " +
      "new owner took over a name, which repositoryId detects.",
    next: "bootproof inspect FILE shows who signed a bundle.",
    sources: ['src/verify/README.md, "Provenance"', 'src/decode/README.md, "Build identity"'],
  },
  "provenance.subject": {
    proves:
      "The signed statement names the SHA-256 of the binary in the verified manifest, and is of a type that the " +
      "policy demands. The build itself is not repeated: whether it is reproducible is not known.",
    genuine:
      "The bundle is of another release or another file of the same build, or only lists the parts of the binary " +
      "(an SBOM).",
    hostile:
      "Genuine provenance of one binary is shown for an enclave that runs another. Only sha256 of 64 lower-case hex " +
      "digits is compared; other digests in the statement prove nothing here.",
    next: "The expected digest is the pivot's hash, or that of a workload, in the manifest: see bootproof inspect.",
    sources: ['src/verify/README.md, "Provenance"', 'src/appraise/README.md, "Provenance"'],
  },
};

/** What `bootproof explain` shows of a check. */
export interface CheckExplanation {
  readonly id: CheckId;
  /** What is true when it passes. */
  readonly title: string;
  /** The heading of its checks in reports. */
  readonly group: string;
  /** What is known once it passes, and how far that can be believed. */
  readonly proves: string;
  /** Why it fails without an attack, and which attacks make it fail. */
  readonly fails: { readonly genuine: string; readonly hostile: string };
  /** When it is a warning instead of a failure; null where it never is. */
  readonly warns: string | null;
  readonly advice: string;
  /** The source of its rule: a section of a document in this package, or of a public one. */
  readonly sources: readonly string[];
}

/** The explanation of a check. Throws TypeError for an unknown id. */
export function explainCheck(id: CheckId): CheckExplanation {
  if (!isCheckId(id)) throw new TypeError(`id: expected one of CHECK_IDS, such as ${CHECK_IDS[0]!}`);
  const { proves, genuine, hostile, warns = null, next, sources } = EXPLAINED[id];
  const group = groupOf(id);
  const advice = `${CHECK_ROWS[id].advice} ${next}`;
  return { id, title: CHECK_TITLES[id], group, proves, fails: { genuine, hostile }, warns, advice, sources };
}

function groupOf(id: CheckId): string {
  const [family] = id.split(".") as [keyof typeof GROUPS];
  return GROUPS[family];
}

export interface TermExplanation {
  readonly title: string;
  readonly means: string;
}

/** Verdicts, statuses and exit codes. */
export const TERMS = {
  verified: {
    title: "every check passed, and the deployment is one that the policy pins",
    means:
      "The hardware signed the evidence, all of it agrees, and the enclave is one that you expect. The report lists " +
      "what that proves and what it does not; each BUT is something that your policy leaves open. Exit code 0.",
  },
  authentic: {
    title: "every check passed, and there was no policy to compare with",
    means:
      "The enclave is genuine and its evidence agrees, but anyone may own it, and it may run anything. --no-policy " +
      "gives no better verdict. Pin what you expect with bootproof pin, and verify with that policy. Exit code 0.",
  },
  rejected: {
    title: "at least one check failed",
    means:
      "Nothing is proven: use no result. The report lists every failure: begin with the first, because later ones " +
      "may result from it. bootproof explain ID gives the causes of each, and what to do. Exit code 1.",
  },
  stale: {
    title: "rejected for its age alone",
    means:
      "Only the age of the boot proof (policy.age) or of an app proof is wrong. Fetch newer evidence; for an audit " +
      "of the past, give the moment with --now. It is still a rejection: exit code 1.",
  },
  pass: { title: "the evidence meets the check", means: "What the title of the check says is true." },
  fail: { title: "the evidence does not meet the check", means: "One failure makes the verdict rejected." },
  warn: {
    title: "a person should look at this",
    means:
      "A warning does not change the verdict. It names something weaker than it could be: read it before you rely on " +
      "the result.",
  },
  skip: {
    title: "the check did not run",
    means:
      "What it needs is missing or failed before; the detail names it. A skipped check never counts as passed, and " +
      "the report lists what that leaves open.",
  },
  "0": {
    title: "exit code: good",
    means: "The verdict is verified, or authentic under --no-policy; or another command has done its work.",
  },
  "1": {
    title: "exit code: rejected",
    means: "The evidence was read, and it is not good: the report says why. Broken evidence is rejected too.",
  },
  "2": {
    title: "exit code: nothing was verified",
    means:
      "The command line, a file or the policy is wrong: an unknown option, a missing file or one of another kind, a " +
      "malformed policy. This says nothing about the evidence.",
  },
  "3": {
    title: "exit code: the evidence could not be fetched",
    means:
      "The service could not be reached, refused the request, or does not have the evidence. Nothing was verified, " +
      "and this says nothing about the evidence.",
  },
} as const satisfies Readonly<Record<Verdict | CheckStatus | "stale" | "0" | "1" | "2" | "3", TermExplanation>>;

export function explainedWords(): string[] {
  return [...CHECK_IDS, ...Object.keys(TERMS), ...Object.keys(GLOSSARY)];
}

export const HEADINGS = { genuine: "Why it fails without an attack", hostile: "Which attacks it stops" } as const;

/** The explanation of a check as text, in lines of `width` columns (60 to 200, by default 80). */
export function renderCheckExplanation(explanation: CheckExplanation, options: ExplanationOptions = {}): string {
  const { id, title, group, proves, fails, warns, advice, sources } = explanation;
  const sections: [string, readonly string[]][] = [
    ["What it proves", [proves]],
    [HEADINGS.genuine, [fails.genuine]],
    [HEADINGS.hostile, [fails.hostile]],
    ["When it only warns", warns === null ? [] : [warns]],
    ["What to do", [advice]],
    ["Source", sources],
  ];
  return rendered(`${id}: ${title}`, `Group: ${group}`, sections, options);
}

export function renderTermExplanation(
  term: string,
  { title, means }: TermExplanation,
  options: ExplanationOptions,
): string {
  return rendered(`${term}: ${title}`, null, [["", [means]]], options);
}

export function renderCheckList(options: ExplanationOptions = {}): string {
  const page = pageOf(options);
  const groups = new Map<string, CheckId[]>();
  for (const id of CHECK_IDS) groups.set(groupOf(id), [...(groups.get(groupOf(id)) ?? []), id]);
  const column = Math.max(...CHECK_IDS.map((id) => id.length));
  const lines = [...groups].flatMap(([group, ids]) => [
    page.paint(group, "bold"),
    ...ids.flatMap((id) => wrapped(page, `  ${id.padEnd(column)}  `, CHECK_TITLES[id])),
    "",
  ]);
  const words = `${Object.keys(TERMS).join(", ")} (0 to 3 are exit codes)`;
  const terms = Object.keys(GLOSSARY).join(", ");
  return `${[...lines, ...wrapped(page, "", `Also explained: ${words}, and the terms ${terms}.`)].join("\n")}\n`;
}

function rendered(
  heading: string,
  note: string | null,
  sections: readonly [heading: string, texts: readonly string[]][],
  options: ExplanationOptions,
): string {
  const page = pageOf(options);
  const lines = sections
    .filter(([, texts]) => texts.length > 0)
    .flatMap(([title, texts]) => [
      "",
      ...(title === "" ? [] : [page.paint(title, "bold")]),
      ...texts.flatMap((text) => wrapped(page, "  ", text)),
    ]);
  const first = wrapped(page, "", heading).map((line) => page.paint(line, "bold"));
  return `${[...first, ...(note === null ? [] : [note]), ...lines].join("\n")}\n`;
}

const MAX_NEAR = 5;
/** Longer words are compared with none. */
const MAX_COMPARED = 64;

/** Up to five known words: those that contain the word, else those that differ from it in few letters. */
export function nearestWords(word: string): string[] {
  const known = explainedWords();
  if (word === "" || word.length > MAX_COMPARED) return [];
  const holding = known.filter((one) => one.includes(word));
  const most = Math.floor(word.length / 2);
  const near = holding.length > 0 ? holding : known.filter((one) => distanceOf(word, one) <= most);
  return [...near].sort((a, b) => distanceOf(word, a) - distanceOf(word, b)).slice(0, MAX_NEAR);
}

/** To an id, or to a part of it: `nonse` is near `bind.nonce`. */
function distanceOf(word: string, known: string): number {
  return Math.min(...[known, ...known.split(".")].map((part) => editDistance(word, part)));
}
