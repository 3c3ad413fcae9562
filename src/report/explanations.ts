/**
 * What each check is for, in words for whoever has to decide about a failure: what it proves, what usually makes it
 * fail, and where its rule stands. Nothing of this is loaded by verification.
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

/** What a person usually does about a failure of each check. */
export const CHECK_ADVICE = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ CHECK_IDS.map((id) => [id, CHECK_ROWS[id].advice]),
) as Readonly<Record<CheckId, string>>;

interface Explained {
  /** What is known once it passes, and what that is worth. */
  readonly proves: string;
  /** Why it fails where nobody means harm. */
  readonly genuine: string;
  /** Why it fails where somebody does. */
  readonly hostile: string;
  /** When it is a warning and no failure. */
  readonly warns?: string;
  /** What to do, beyond the advice that reports give (`CHECK_ADVICE`). */
  readonly next: string;
  /** Where the rule stands: a section of a document here, or of a public one. */
  readonly sources: readonly string[];
}

const AWS = 'AWS, aws-nitro-enclaves-nsm-api, "attestation_process"';
const QOS = 'QOS, github.com/tkhq/qos, "attestation_verification"';

/** Total: the compiler holds it against the ids. */
const EXPLAINED: Readonly<Record<CheckId, Explained>> = {
  "boot.decode": {
    proves:
      "The service's answer is a boot proof: it has the attestation document, the manifest, the envelope and the " +
      "key, " +
      "each in strict base64 or hex. That alone says nothing of an enclave; it is what lets the other checks be asked.",
    genuine:
      "The answer was cut, wrapped in another object, or edited by hand; or the file holds something else, such as " +
      "an " +
      "app proof. A newer service may have renamed a field.",
    hostile:
      "Two fields for the same document that differ, so that two readers would judge two documents. Nothing is " +
      "gained " +
      "by it here: what cannot be read in one way only is not judged.",
    warns:
      "A missing owner, deploymentLabel, enclaveApp or createdAt warns: nobody signed them, and deployed services " +
      "leave " +
      "some out.",
    next: "bootproof inspect FILE shows what the file holds, and names what is wrong with it.",
    sources: ['src/decode/README.md, "Boot proof"', 'src/client/README.md, "Boot proofs"'],
  },
  "cose.structure": {
    proves:
      "The document is exactly one COSE_Sign1 in the encoding that the hardware makes: shortest lengths, no key " +
      "twice, " +
      "nothing after the end. So every reader sees the same document, and what was signed is what is shown.",
    genuine:
      "A file that was converted on the way: decoded and encoded again by a CBOR library, cut, or saved with line " +
      "feeds " +
      "inside. A document of other hardware looks like this, too.",
    hostile:
      "A document with two values for one name, or with bytes behind its end, that one verifier reads so and another " +
      "one otherwise. Genuine hardware makes none.",
    next: "Compare the bytes with what the service sends. The service calls the field DER; it is CBOR.",
    sources: ['src/decode/README.md, "COSE_Sign1"', 'src/decode/README.md, "CBOR"', "RFC 9052 section 4.2", "RFC 8949"],
  },
  "cose.algorithm": {
    proves:
      "The document says in its signed header that it is signed by ECDSA with P-384 and SHA-384, and it says nothing " +
      "else there. The algorithm is read nowhere else, so nobody can choose a weaker one for this verifier.",
    genuine: "Hardly ever: all genuine documents have this one header. Another kind of COSE message looks like this.",
    hostile:
      "A header that names another algorithm, or names it in the part that nobody signed, in the hope that a " +
      "verifier " +
      "believes it.",
    next: "Ask where the document comes from: no hardware of this kind makes it.",
    sources: ['src/verify/README.md, "Attestation documents"', "RFC 9053 section 2.1", AWS],
  },
  "cose.signature": {
    proves:
      "The key of the leaf certificate signed every byte of the document: module, time, PCRs, public key, user data. " +
      "With the certificate path, that is the hardware's word.",
    genuine:
      "The document was damaged: a base64 text that was cut or edited, or a document that some program decoded and " +
      "encoded again, which changes the bytes that were signed.",
    hostile:
      "Somebody changed a PCR, the user data or the key inside a genuine document, or put a genuine certificate " +
      "beside " +
      "a document of their own. Without the hardware's key no signature fits.",
    next: "Fetch the document once more, and compare: if the bytes are the same, the service serves a forgery.",
    sources: ['src/verify/README.md, "Attestation documents"', "RFC 9052 section 4.4", AWS],
  },
  "doc.structure": {
    proves:
      "The signed content is an attestation document of an enclave: every field is there, of its type and length, " +
      "once. " +
      "A PCR that is absent is known to be absent, and is not taken for zeros.",
    genuine:
      "A document of a NitroTPM, which measures a whole instance and no enclave; or a format newer than this version " +
      "of the tool.",
    hostile:
      "A document with a name twice, or with a PCR of another length, made for a reader that takes the first, the " +
      "last " +
      "or a part of it.",
    warns: "A field that is not known is reported and ignored.",
    next: "bootproof inspect FILE names each rule that is broken.",
    sources: ['src/decode/README.md, "Attestation document"', AWS],
  },
  "chain.anchor": {
    proves:
      "The certificate path begins at a root that this verifier has brought along: AWS Nitro Enclaves Root G1, or " +
      "the " +
      "one that you named. Who controls that root can make any document; nobody else can.",
    genuine:
      "Evidence of a lab or a test installation, whose root is another one. A policy for production, held against a " +
      "lab's evidence, or the other way round.",
    hostile:
      "Somebody made an authority of their own, with the same names, and signed documents with it. Everything but " +
      "this " +
      "check can then be made to pass.",
    warns:
      "An anchor that you named, other than the AWS root, is told in every report: only your own installation has one.",
    next:
      "Never add a root because a service sent it. For a lab, its lab-trust-anchor.pem belongs into the trustAnchors " +
      "of the policy, or after --trust-anchor.",
    sources: ['src/verify/README.md, "The certificate path"', "RFC 5280 section 6.1", AWS],
  },
  "chain.signature": {
    proves:
      "Each certificate names the one above it as its issuer, and is signed by that one's key. So the leaf's key is " +
      "one " +
      "that the root's owner vouches for.",
    genuine:
      "A bundle of certificates whose order was changed, or from which one was dropped, by a program on the way.",
    hostile:
      "A certificate with the attacker's key in the place of a genuine one: it can have every name, but not the " +
      "signature of the one above it.",
    next: "Fetch the boot proof again. If it stays so, do not use it, and tell the service's owner.",
    sources: ['src/verify/README.md, "The certificate path"', "RFC 5280 section 6.1"],
  },
  "chain.algorithm": {
    proves:
      "Every key on the path is P-384 and every signature ECDSA with SHA-384, named alike inside what is signed and " +
      "beside it. A weaker algorithm cannot be slipped in.",
    genuine: "A certificate authority of your own, for tests, that uses RSA or another curve.",
    hostile:
      "A certificate of a weaker kind, which can be broken, or which names one algorithm and is signed by another.",
    next: "For a test installation, make its authority as the hardware's is: P-384 and SHA-384 throughout.",
    sources: [
      'src/verify/README.md, "The certificate path"',
      'src/decode/README.md, "Certificates"',
      "RFC 5280 section 4.1",
    ],
  },
  "chain.validity": {
    proves:
      "Every certificate was valid at the validation time. By default that is the document's own time, which is " +
      "inside " +
      "what is signed: a leaf lives three hours, and boot proofs are read months later.",
    genuine:
      "--at now, or --at with another time, for a boot proof of last week: the leaf has long expired, and that is no " +
      "fault of the evidence. Or this machine's clock is wrong.",
    hostile:
      "A document whose signed time does not fit its certificates was not made by hardware with a clock. An expired " +
      "key that leaked could be used for that.",
    next: "How old a boot proof may be is a question of its own: maxAge in the policy, answered by policy.age.",
    sources: ['src/verify/README.md, "Validation time"', "RFC 5280 section 6.1"],
  },
  "chain.constraints": {
    proves:
      "Each certificate may stand where it stands: authorities are marked as such and may sign certificates, the " +
      "path " +
      "is no longer than they allow, the leaf is no authority, and no critical extension is ignored.",
    genuine: "An authority of your own, for tests, that leaves out basicConstraints or keyUsage.",
    hostile:
      "Somebody with a genuine leaf certificate, of any enclave, uses its key to sign another certificate below it. " +
      "That is the classic attack on verifiers that do not ask this.",
    next:
      "For a test installation, compare its certificates with the rule; for any other, trust nothing of the " +
      "document.",
    sources: ['src/verify/README.md, "The certificate path"', "RFC 5280 section 6.1"],
  },
  "manifest.decode": {
    proves:
      "The manifest can be read in exactly one way, as the version that it says it is. The manifest is the list of " +
      "what " +
      "was booted: application, arguments, quorum key, who may approve.",
    genuine: "A manifest of a version newer than this tool, or one that was edited or decoded and encoded again.",
    hostile:
      "Bytes that are two manifests at once, by two versions: one harmless, which is shown, and one that was booted. " +
      "Both would have the same hash.",
    warns: "A version that is still a draft is read as its draft is, with a warning.",
    next: "Look for a newer version of this tool before you look for an attacker; bootproof inspect names the fault.",
    sources: ['src/decode/README.md, "Which version"', 'src/decode/README.md, "Manifests"', QOS],
  },
  "envelope.decode": {
    proves:
      "The envelope, which carries the manifest once more and its approvals, can be read in exactly one way, as the " +
      "version that it says it is.",
    genuine: "An envelope of a version newer than this tool, or one that was edited on the way.",
    hostile:
      "An envelope that readers understand differently, so that approvals of one manifest seem to be of another.",
    next: "Look for a newer version of this tool first; bootproof inspect names the fault.",
    sources: ['src/decode/README.md, "Which version"', 'src/decode/README.md, "Manifests"', QOS],
  },
  "envelope.manifest": {
    proves:
      "The manifest inside the envelope and the manifest beside it have one hash and one version. So the approvals " +
      "are " +
      "of the manifest that is shown.",
    genuine: "A service that answers while a deployment changes, with the old envelope beside the new manifest.",
    hostile:
      "A manifest that nobody approved, with the envelope of one that was: the approvals are genuine, and of " +
      "something else.",
    next: "Fetch the boot proof again. If it stays so, the service shows approvals that are not this manifest's.",
    sources: ['src/decode/README.md, "Manifest hash"', 'src/verify/README.md, "Approvals"'],
  },
  "envelope.approvals": {
    proves:
      "At least as many members of the manifest set as its threshold demands signed the hash of this manifest, each " +
      "once. The set is the one that the manifest itself names: that it is the right one is policy.manifest-set.",
    genuine:
      "An envelope that was fetched before enough people had approved. A manifest with a threshold of 0, which QOS " +
      "takes and this tool does not.",
    hostile:
      "Approvals by strangers, the same approval twice, or signatures over another manifest, to reach a threshold " +
      "that " +
      "nobody agreed to.",
    next: "The detail says whose approval is not good. The people of the manifest set can say whether they signed.",
    sources: ['src/verify/README.md, "Approvals"', QOS],
  },
  "envelope.shares": {
    proves:
      "Whoever posted a share of the quorum key is a member of the share set, with a valid signature over this " +
      "manifest. It needs no threshold: that the key came together shows in what the enclave does.",
    genuine: "An envelope of which a part was lost or edited on the way.",
    hostile: "A stranger's approval among the shares, so that a person seems to have taken part who did not.",
    warns: "A repeated approval counts once and warns: QOS records one for every share that is posted.",
    next: "The detail says whose approval is not good. Who holds shares is pinned as shareSet.",
    sources: ['src/verify/README.md, "Approvals"', QOS],
  },
  "bind.user-data": {
    proves:
      "The document's user data, which the hardware signed, is the hash of this manifest. So the enclave says itself " +
      "that it booted with it; how far that can be believed, the image and bind.commitment decide.",
    genuine: "The service answered with the manifest of another deployment, while one replaces the other.",
    hostile:
      "A genuine document of an enclave beside a manifest that it never booted: a harmless one is shown, another one " +
      "runs.",
    next: "Fetch the boot proof again. If it stays so, the manifest that is shown is not the one that runs.",
    sources: ['src/verify/README.md, "What ties it all together"', 'src/decode/README.md, "Manifest hash"', QOS],
  },
  "bind.pcrs": {
    proves:
      "PCR0 to 3, which the hardware measured, are those that the manifest names: this image, this kernel, these " +
      "ramdisks, this role. So the people who approved the manifest approved this image.",
    genuine:
      "PCR3 alone differs: the instance has another IAM role than the manifest was written for. An image that was " +
      "built anew, without a new manifest.",
    hostile: "Another image runs, under a manifest that was approved for a good one.",
    next: "The values stand in the report. PCR0 to 2 are the image, and a role or an account is PCR3.",
    sources: ['src/verify/README.md, "What ties it all together"', 'src/decode/README.md, "Attestation document"', QOS],
  },
  "bind.image": {
    proves:
      "The measurements that you gave, such as those of an image that you built (--image), are the ones that the " +
      "hardware signed. So that very image runs. What it was built from, and which application it starts, is not " +
      "said by that. It is asked only where measurements were given, beside any policy.",
    genuine:
      "A build that is not reproducible: another compiler, kernel or date inside. Or the deployment is of another " +
      "release than the one that was built. An image that was signed after it was measured has a PCR8 of its own.",
    hostile: "Another image runs than the one whose source was reviewed.",
    next:
      "bootproof measure tells what each PCR is of. PCR1 alone the same: the kernel and its boot agree, the rest of " +
      "the image differs.",
    sources: ['src/verify/README.md, "What ties it all together"', 'src/verify/README.md, "PCRs"', AWS],
  },
  "bind.key": {
    proves:
      "The document attests this ephemeral key, two valid points of P-256, and it is the key that was asked for. " +
      "What " +
      "is signed by it was signed by this enclave, as far as its image can be believed.",
    genuine:
      "The boot proof of another replica: each enclave has a key of its own, and makes a new one at every boot. A " +
      "key " +
      "that was copied without its end.",
    hostile:
      "A genuine boot proof of a good enclave, offered for a key of the attacker's: everything signed by that key " +
      "would then pass for the enclave's.",
    next: "The app proof's publicKey is the key to ask for: bootproof fetch --ephemeral-key HEX.",
    sources: ['src/verify/README.md, "What ties it all together"', 'src/verify/README.md, "QOS keys"', QOS],
  },
  "bind.commitment": {
    proves:
      "The enclave's boot code wrote manifest and key into a register (PCR17, or PCR16 for a setup key) before any " +
      "application ran. So no application inside can have asked for a document over another key or manifest.",
    genuine: "A version of QOS that commits in a way that this tool does not know yet.",
    hostile:
      "An application inside the enclave asked the hardware for a document with a key or a manifest of its choice. " +
      "The " +
      "register, which it cannot change, then says otherwise.",
    warns:
      "A document of PCR0 to 15 alone is legacy and warns: its enclave commits to nothing. So does a PCR18 that is " +
      "set " +
      "to something else.",
    next: "Where newer enclaves run, let the policy demand them: commitment means live where none is named.",
    sources: ['src/verify/README.md, "Commitments"', QOS],
  },
  "bind.nonce": {
    proves:
      "The document answers the nonce that you asked with, so that it was made after you asked: the enclave was " +
      "alive. " +
      "Where you asked for none, it carries none.",
    genuine:
      "--nonce was forgotten, or is of another request; or the service answered with a document that it had at hand. " +
      "Older enclaves take no nonce.",
    hostile: "An old document is played again, of an enclave that has been shut down or whose key has leaked.",
    next: "A nonce is good for one question. Without one, maxAge in the policy bounds how old a document may be.",
    sources: ['src/verify/README.md, "What ties it all together"', AWS],
  },
  "mode.debug": {
    proves:
      "The enclave does not run in debug mode, which would let the machine around it read its console and attest " +
      "zeros; and its manifest does not put the application into debug mode.",
    genuine: "A test installation, started with --debug-mode, whose evidence is held against production's rules.",
    hostile:
      "Somebody runs the image in debug mode, to look inside, or because zeros fit whatever a careless verifier " +
      "compares with zeros.",
    warns: "Where you allow it (--allow-debug, or allowDebug in the policy), it is a warning in every report.",
    next: "No measurement of a debug enclave means anything. Never allow it where something depends on the result.",
    sources: ['src/verify/README.md, "What ties it all together"', AWS],
  },
  "app.decode": {
    proves: "The app proof has its four fields: scheme, publicKey, proofPayload and signature, each in its form.",
    genuine: "A proof that was copied in part, or a boot proof in its place. A newer scheme than this tool knows.",
    hostile: "A scheme that a verifier does not know and takes for good, or a key that is read in two ways.",
    next: "bootproof inspect FILE shows what the file holds, and names what is wrong with it.",
    sources: ['src/decode/README.md, "App proofs"'],
  },
  "app.signature": {
    proves:
      "The key that the proof names signed the payload, byte for byte as it came. Whose key that is says app.key.",
    genuine:
      "Some program decoded the payload and wrote it again: a space, the order of members or an escape is enough. It " +
      "has to be kept as the text that it is.",
    hostile: "Somebody changed the address, the organization or the outcome inside a genuine payload.",
    next: "Compare with the service's answer as it came. What fails here says nothing, whatever it says.",
    sources: ['src/verify/README.md, "App proofs"', 'src/verify/README.md, "QOS keys"', QOS],
  },
  "app.key": {
    proves:
      "The key that signed is the one that a verified boot proof attests, of a kind that may sign. So the payload " +
      "was signed inside that enclave: under a live document by the key that it serves with, under a legacy one by " +
      "whatever application asked for the document.",
    genuine:
      "The boot proof is of another replica or of another boot: each has a key of its own. Or the boot proof itself " +
      "was rejected, and its own failures say why.",
    hostile: "The attacker signed the payload with a key of their own, and offers a genuine boot proof of another key.",
    next: "bootproof fetch --ephemeral-key HEX, with the proof's publicKey, answers the boot proof that belongs to it.",
    sources: ['src/verify/README.md, "App proofs"', 'src/verify/README.md, "Commitments"', QOS],
  },
  "app.payload": {
    proves:
      "What was signed can be read in one way only: strict JSON, no member twice, numbers that can be shown as they " +
      "were signed, and the fields that its type demands.",
    genuine: "A newer application, whose payload of a known type lacks a field. A type that is not known is no fault.",
    hostile:
      "A member that stands there twice, with two values: one reader takes the first, another the last, and both " +
      "have " +
      "a valid signature.",
    next: "bootproof inspect FILE shows the payload. Ask the application's owner what changed.",
    sources: ['src/decode/README.md, "App proofs"', "RFC 8259"],
  },
  "app.time": {
    proves:
      "The payload was made after the enclave's document, not before the request that it answers, and not in the " +
      "future; a minute is allowed for clocks that differ.",
    genuine: "This machine's clock is slow, or --now or the request's timestampMs is of another day.",
    hostile:
      "An older proof, of an earlier request, is offered as the answer to a new one: genuine, and about the past.",
    warns: "Under a live document a payload from before it warns: such an enclave answers for a document at any time.",
    next: "The times stand in the report. The payload's is the enclave's own clock, which the service does not set.",
    sources: ['src/verify/README.md, "App proofs"'],
  },
  "app.request": {
    proves:
      "Proofs that came without an activity speak of the organization that you named, and of every address that you " +
      "named. It is asked only where you say so: --organization-id, --address.",
    genuine:
      "--organization-id is of a parent, a child or another environment. An address in another format than the " +
      "proof's.",
    hostile: "A genuine proof of somebody else's address is offered as yours, so that you pay to it.",
    warns: "A payload that names no organization warns: it says nothing of whose it is.",
    next: "Compare with what you asked, from your own records, and not from the service's answer.",
    sources: ['src/verify/README.md, "The question"', 'src/verify/README.md, "App proofs"'],
  },
  "activity.decode": {
    proves:
      "The file is an activity with app proofs. Where the service repeats the activity inside its result, both say " +
      "the " +
      "same, so that nobody can be shown the one and given the other.",
    genuine: "The activity was submitted without generateAppProofs, or was fetched before it was completed.",
    hostile: "Two versions of one activity in one answer: one that fits the proofs, and one that you read.",
    next: "An activity without app proofs proves nothing: no enclave signed anything of it.",
    sources: ['src/decode/README.md, "Activities"', 'src/client/README.md, "Activities"'],
  },
  "activity.request": {
    proves:
      "The activity is the answer to what you asked: your organization, the id, the type, the parameters as you sent " +
      "them, completed, and with result members that repeat the request. What you did not say is not compared.",
    genuine:
      "--organization-id or --activity-id is of another activity; the activity is still pending; or --request is not " +
      "the body that was submitted.",
    hostile:
      "A service that lies answers with somebody else's activity, or with one of yours from last week. Its proofs " +
      "are " +
      "genuine; only who knows the question can tell.",
    next:
      "Keep the body of each request, and give it with --request. What is asked must come from you, never from the " +
      "answer.",
    sources: ['src/verify/README.md, "The question"', 'src/client/README.md, "Activities"'],
  },
  "activity.claims": {
    proves:
      "What the enclaves signed agrees with the activity: organization, wallet, derivation path, address, and a last " +
      "decision to allow. The activity itself is signed by nobody.",
    genuine:
      "Proofs of one activity beside the file of another, or a proof that was already used for another activity.",
    hostile:
      "The service wrote an address into its result that no enclave derived, or completed an activity whose last " +
      "decision was to deny.",
    warns:
      "Where proofs speak of a sub-organization that the activity made, it warns: no enclave signed that it is new, " +
      "or " +
      "yours.",
    next:
      "The detail names the proof and the member. Believe the payload, which is signed, and not the result beside " +
      "it.",
    sources: ['src/verify/README.md, "Activities"', 'src/client/README.md, "Activities"'],
  },
  "activity.coverage": {
    proves: "Every address in the result has an app proof of its own: an enclave derived it, for this wallet and path.",
    genuine: "An operation, or an older release, for which the service makes no proofs of addresses.",
    hostile: "Among many addresses that are proven stands one that is not: the attacker's.",
    warns: "It fails only where the policy asks for it (appProofs.coverage), and warns otherwise.",
    next: "The detail names the addresses. Pay to none of them before it is proven.",
    sources: ['src/verify/README.md, "Activities"', 'src/appraise/README.md, "The policy file"'],
  },
  "policy.scope": {
    proves:
      "The deployment that matched answers three questions: which image runs, which application, and whose it is. " +
      "One " +
      "that is open says yes to somebody else's enclave as well.",
    genuine:
      "A policy that was made from a release alone, or for a legacy deployment, whose evidence cannot answer more.",
    hostile: "Nobody has to attack for it to fail; it says what an attacker could do with an enclave of their own.",
    warns:
      "What the policy leaves open, or answers weakly (PCR3 alone, legacy, public keys, no minNonce), warns in every " +
      "report.",
    next: "bootproof pin writes a policy that answers all three from a boot proof that you reviewed.",
    sources: ['src/appraise/README.md, "What a deployment has to pin"'],
  },
  "policy.deployment": {
    proves:
      "One deployment of your policy matches whole: everything that it pins. This is the step from a genuine " +
      "enclave, " +
      "anybody's, to the one that you expect.",
    genuine:
      "A new release was rolled out, and the policy does not list it yet. Evidence of staging, held against " +
      "production's policy.",
    hostile:
      "A genuine enclave of somebody else, or of your own people with another program: authentic, and not what you " +
      "pinned.",
    next:
      "The report names the nearest deployment, and each pin that differs has a check of its own. While two releases " +
      "run, list both.",
    sources: ['src/appraise/README.md, "Appraisal"', 'src/appraise/README.md, "Pins"'],
  },
  "policy.pcrs": {
    proves:
      "The hardware measured one of the images that you pinned: PCR0 to 2 the image, PCR3 the role, PCR8 who signed " +
      "it.",
    genuine:
      "A new release, or an image that was built anew and not reproducibly (PCR0 to 2). Another role or account " +
      "(PCR3). Another signing certificate (PCR8).",
    hostile:
      "An image of the attacker's, which can say of itself whatever it likes: nothing else in the report counts then.",
    next: "Which PCR differs says who to ask: whoever builds the image, or whoever runs the instance.",
    sources: ['src/appraise/README.md, "Pins"', 'src/decode/README.md, "Attestation document"'],
  },
  "policy.manifest-hash": {
    proves:
      "The enclave booted exactly a manifest that you pinned, with every setting in it, bridges and DNS included.",
    genuine: "Any new manifest: another release, a member who was replaced, another argument.",
    hostile: "A manifest that differs in a setting that no other pin covers.",
    next: "bootproof inspect shows the manifest of the new boot proof, to be compared with the one that you reviewed.",
    sources: ['src/appraise/README.md, "Pins"', 'src/decode/README.md, "Manifest hash"'],
  },
  "policy.pivot": {
    proves: "The application binary is one that you pinned, by its SHA-256.",
    genuine:
      "A new release of the application in the same image; or a manifest of workloads, which has no such binary.",
    hostile: "The same public image, with a program of the attacker's inside.",
    next: "Build the release anew, or take its digest from a source that you trust, and compare.",
    sources: ['src/appraise/README.md, "Pins"', 'src/decode/README.md, "Manifests"'],
  },
  "policy.workloads": {
    proves: "The enclave runs the workloads that you pinned, by name, each with one of its digests, and no other.",
    genuine: "A new release of one workload, or one more beside it; or an older manifest, which has none.",
    hostile: "One more workload, which shares the enclave and its keys with the others.",
    next: "The names and digests stand in the report: compare each with its release.",
    sources: ['src/appraise/README.md, "Pins"', 'src/decode/README.md, "Manifest v3"'],
  },
  "policy.args": {
    proves: "The application was started with the arguments and the environment that you pinned, no more and no less.",
    genuine: "A setting was changed with a release: a log level, another configuration file.",
    hostile: "The right program with an argument that turns it: another upstream, a test mode, checks switched off.",
    next: "Read every difference as you would read one of the code.",
    sources: ['src/appraise/README.md, "Pins"'],
  },
  "policy.namespace": {
    proves: "The manifest is of a namespace that you pinned. Nonces count within it, and people approve for it.",
    genuine: "Evidence of another environment, such as staging, or of another application of the same people.",
    hostile: "A manifest that the right people approved for something less careful: a test, or another program.",
    next: "Ask which environment the evidence is from, before you add a namespace.",
    sources: ['src/appraise/README.md, "Pins"', 'src/appraise/README.md, "What a deployment has to pin"'],
  },
  "policy.nonce": {
    proves: "The manifest is not older than the one that you pinned: nobody rolled the deployment back.",
    genuine: "An old replica that still runs during a roll-out, or a roll-back that was decided.",
    hostile:
      "An older release, genuine and approved, is booted again for a hole that has been mended since. Its approvals " +
      "never expire; this pin is what ends them.",
    next: "Raise minNonce with every release that mends something. Lower it only for a roll-back that was decided.",
    sources: ['src/appraise/README.md, "Pins"'],
  },
  "policy.quorum-key": {
    proves: "The deployment is provisioned with a quorum key that you pinned; a live enclave holds it.",
    genuine: "The key was changed in a ceremony, or the evidence is of another environment with a key of its own.",
    hostile: "The same image and program over a key of the attacker's: everything it derives is theirs.",
    next: "A quorum key changes with a ceremony that people remember. Ask them.",
    sources: ['src/appraise/README.md, "Pins"', 'src/appraise/README.md, "What a deployment has to pin"'],
  },
  "policy.manifest-set": {
    proves:
      "The people who can approve manifests are those whom you pinned, by key, with a threshold at least as high.",
    genuine: "Somebody joined or left, or has a new key.",
    hostile:
      "The attacker named a set of their own keys: it approves whatever it likes, and envelope.approvals passes.",
    next: "Compare key by key with a list that does not come from the service. A lower threshold is a change, too.",
    sources: ['src/appraise/README.md, "Pins"', 'src/verify/README.md, "Approvals"'],
  },
  "policy.share-set": {
    proves:
      "The people who hold the shares of the quorum key are those whom you pinned, with a threshold at least as high.",
    genuine: "Somebody joined or left, or has a new key.",
    hostile:
      "Shares in the hands of others, or a lower threshold: fewer people can then put the key together elsewhere.",
    next: "Compare key by key with the record of the ceremony.",
    sources: ['src/appraise/README.md, "Pins"', 'src/verify/README.md, "Approvals"'],
  },
  "policy.user-data": {
    proves: "A bare document carries the user data that you pinned. What that means, the enclave's image decides.",
    genuine: "The image puts something else there at every boot, such as the hash of a configuration.",
    hostile: "The right image with another configuration, where its user data commits to that.",
    next: "Pin it only where the image puts something there that stays the same.",
    sources: ['src/appraise/README.md, "Pins"', 'src/decode/README.md, "Attestation document"'],
  },
  "policy.public-key": {
    proves: "A bare document attests the public key that you pinned.",
    genuine: "The enclave was started anew: most images make a new key at every boot.",
    hostile: "Another enclave of the same image, which somebody else runs, with a key of its own.",
    next: "Pin it only for enclaves that keep their key.",
    sources: ['src/appraise/README.md, "Pins"', 'src/decode/README.md, "Attestation document"'],
  },
  "policy.commitment": {
    proves:
      "The enclave committed to manifest and key in the way that the deployment wants: live where it names none, " +
      "which " +
      "is the one that rules out an application that asked for the document itself.",
    genuine: "An older enclave (legacy), or the document of the setup, which comes before the live one.",
    hostile: "An older image, without the registers, is booted because its application can still ask for documents.",
    next: "Where only legacy enclaves run, the policy has to say so, and the report then says what that leaves open.",
    sources: ['src/verify/README.md, "Commitments"', 'src/appraise/README.md, "What a deployment has to pin"'],
  },
  "policy.labels": {
    proves:
      "The service labels the deployment as you pinned. No enclave signed that: it is a check on the answer only.",
    genuine: "A label was renamed, or names the release, which changes every time.",
    hostile: "Nothing is gained by it: who can answer can answer with any label.",
    next: "Pin no label that changes with a release.",
    sources: ['src/appraise/README.md, "Pins"', 'src/client/README.md, "Boot proofs"'],
  },
  "policy.age": {
    proves:
      "The document is not older than the policy's maxAge, counted from its signed time to now, and not from the " +
      "future.",
    genuine:
      "The enclave has run for longer than maxAge: most make their document at boot. Or the evidence is an old " +
      "file, or " +
      "this machine's clock is wrong.",
    hostile: "An old boot proof is offered, of an enclave that was shut down for a reason.",
    next:
      "If only this failed, the evidence is stale and otherwise good: fetch it anew, or boot the enclave anew. For " +
      "an " +
      "audit of the past, give its time with --now.",
    sources: ['src/appraise/README.md, "Appraisal"', 'src/verify/README.md, "Validation time"'],
  },
  "policy.app-proof": {
    proves:
      "The app proofs are what the policy demands: of an allowed type, not too old, and there at all, a decision " +
      "included where it asks for one.",
    genuine:
      "A file of app proofs was not given; the activity is older than appProofs.maxAge; or the application signs a " +
      "type that the policy does not list yet.",
    hostile:
      "A proof of a harmless type stands in for one that matters, or an enclave of another application vouches for " +
      "an " +
      "address; or the proof of the decision is withheld.",
    next: "Both the policy's types and those of the deployment whose enclave signed have to allow a proof.",
    sources: ['src/appraise/README.md, "The policy file"', 'src/appraise/README.md, "Appraisal"'],
  },
};

/** What `bootproof explain` tells of a check. */
export interface CheckExplanation {
  readonly id: CheckId;
  /** What it asserts when it passes. */
  readonly title: string;
  /** The part of a report that it stands in. */
  readonly group: string;
  /** What is known once it passes, and what that is worth. */
  readonly proves: string;
  /** Why it fails where nobody means harm, and where somebody does. */
  readonly fails: { readonly genuine: string; readonly hostile: string };
  /** When it is a warning and no failure; null where it never is. */
  readonly warns: string | null;
  /** What to do. */
  readonly advice: string;
  /** Where its rule is: a section of a document in this package, or of a public one. */
  readonly sources: readonly string[];
}

/** What a check proves, why it fails, what to do about that, and where its rule stands. Throws TypeError for no id. */
export function explainCheck(id: CheckId): CheckExplanation {
  if (!isCheckId(id)) throw new TypeError(`id: one of CHECK_IDS wanted, such as ${CHECK_IDS[0]!}`);
  const { proves, genuine, hostile, warns = null, next, sources } = EXPLAINED[id];
  const group = groupOf(id);
  const advice = `${CHECK_ROWS[id].advice} ${next}`;
  return { id, title: CHECK_TITLES[id], group, proves, fails: { genuine, hostile }, warns, advice, sources };
}

function groupOf(id: CheckId): string {
  const [family] = id.split(".") as [keyof typeof GROUPS];
  return GROUPS[family];
}

/** A word of reports, or an exit code: what it means. */
export interface TermExplanation {
  readonly title: string;
  readonly means: string;
}

/** The words that stand beside checks: verdicts, statuses, exit codes. */
export const TERMS = {
  verified: {
    title: "every check passed, and the deployment is one that the policy pins",
    means:
      "The evidence is the hardware's, all of it agrees, and the enclave is one that you said you expect. The report " +
      "lists what that proves, and what it does not; after BUT stands what your policy leaves open. Exit code 0.",
  },
  authentic: {
    title: "every check passed, and no policy was asked for",
    means:
      "A genuine enclave that agrees with itself: anybody's, running anything. It is the best that --no-policy can " +
      "give. Pin what you expect with bootproof pin, and verify against that. Exit code 0.",
  },
  rejected: {
    title: "at least one check failed",
    means:
      "Nothing is proven, and no result may be used. The report lists every failure, not the first alone: begin with " +
      "the first, since later ones may follow from it. bootproof explain ID says of each what to do. Exit code 1.",
  },
  stale: {
    title: "rejected for its age alone",
    means:
      "Everything but the age of the boot proof (policy.age) or of an app proof is good. Fetch newer evidence; or, " +
      "for " +
      "an audit of the past, say with --now which moment you mean. It stays a rejection: exit code 1.",
  },
  pass: { title: "the check holds", means: "What its title asserts was compared, and is so." },
  fail: { title: "the check does not hold", means: "One failure is enough for the verdict rejected." },
  warn: {
    title: "worth a person's look",
    means: "It changes no verdict, and says what is weaker than it could be: read it before you rely on the result.",
  },
  skip: {
    title: "could not be asked",
    means:
      "What it needs failed before, or is not there, and the detail says which. A skipped check never counts as " +
      "passed, and the report says what that leaves open.",
  },
  "0": {
    title: "exit code: good",
    means: "verified; or authentic, which only --no-policy gives; or whatever else a command was to do is done.",
  },
  "1": {
    title: "exit code: rejected",
    means: "The evidence was read, and it is not good: the report says why. Broken evidence is rejected, too.",
  },
  "2": {
    title: "exit code: nothing was judged",
    means:
      "The command line, a file or the policy is at fault: an option that is not known, a file that is not there or " +
      "of another kind, a malformed policy. Nothing is said of the evidence.",
  },
  "3": {
    title: "exit code: not to be fetched",
    means:
      "The service could not be reached, refused, or does not have what was asked for. Nothing is said of the " +
      "evidence, and nothing was verified.",
  },
} as const satisfies Readonly<Record<Verdict | CheckStatus | "stale" | "0" | "1" | "2" | "3", TermExplanation>>;

/** All that is explained. */
export function explainedWords(): string[] {
  return [...CHECK_IDS, ...Object.keys(TERMS), ...Object.keys(GLOSSARY)];
}

/** The explanation of a check as text; its lines fit the width (60 to 200, 80 where none is named). */
export function renderCheckExplanation(explanation: CheckExplanation, options: ExplanationOptions = {}): string {
  const { id, title, group, proves, fails, warns, advice, sources } = explanation;
  const sections: [string, readonly string[]][] = [
    ["What it proves", [proves]],
    ["Why it fails, where nobody means harm", [fails.genuine]],
    ["Why it fails, where somebody does", [fails.hostile]],
    ["When it only warns", warns === null ? [] : [warns]],
    ["What to do", [advice]],
    ["Source", sources],
  ];
  return rendered(`${id}: ${title}`, `Group: ${group}`, sections, options);
}

/** The explanation of a verdict, a status, an exit code or a term as text. */
export function renderTermExplanation(
  term: string,
  { title, means }: TermExplanation,
  options: ExplanationOptions,
): string {
  return rendered(`${term}: ${title}`, null, [["", [means]]], options);
}

/** Every id with its title, by group, as text. */
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
  return `${[...lines, ...wrapped(page, "", `Explained too: ${words}, and the terms ${terms}.`)].join("\n")}\n`;
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
/** Of a word that known ones are looked for. */
const MAX_COMPARED = 64;

/** The words explained that are near: those that hold the word, else those that differ from it in few letters. */
export function nearestWords(word: string): string[] {
  const known = explainedWords();
  if (word === "" || word.length > MAX_COMPARED) return [];
  const holding = known.filter((one) => one.includes(word));
  const most = Math.floor(word.length / 2);
  const near = holding.length > 0 ? holding : known.filter((one) => distanceOf(word, one) <= most);
  return [...near].sort((a, b) => distanceOf(word, a) - distanceOf(word, b)).slice(0, MAX_NEAR);
}

/** To the whole of an id or to a part of it: `nonse` is near `bind.nonce`. */
function distanceOf(word: string, known: string): number {
  return Math.min(...[known, ...known.split(".")].map((part) => editDistance(word, part)));
}
