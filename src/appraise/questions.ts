/**
 * The three questions that the pins of a deployment decide: which image runs, which application inside it, and whose
 * deployment it is (appraise/README.md, "What a deployment has to pin"). Some pins seem to decide one, but do not.
 */
import type { CommitmentKind } from "../verify/commitment.js";
import type { BootProofFacts, DocumentFacts, SetPin } from "./facts.js";
import { type DeploymentKind, type PinName, type PcrPin, type Pins, isZeroPcr } from "./pins.js";
import { provenanceReasons } from "./provenance.js";
import { isNobodysSet, isPublicSecret, publicKeyNotes } from "./public-keys.js";

/** The questions that a deployment may declare open. */
export const QUESTIONS = ["application", "operator"] as const;
export type Question = (typeof QUESTIONS)[number];
type AnyQuestion = "image" | Question;

/** The members of a deployment that decide what it accepts. Kind `qos` always has a commitment. */
interface Questioned extends Pins {
  readonly kind: DeploymentKind;
  readonly open: readonly Question[];
}

const LEFT_OPEN: Readonly<Record<AnyQuestion, { readonly attack: string; readonly remedy: string }>> = {
  image: {
    attack: "an attacker's own image can show any manifest, so no other pin proves anything",
    remedy: "Pin pcrs 0, 1 and 2, manifestSet or manifestHash",
  },
  application: {
    attack: "the same image runs the attacker's application, or another one that the same people approved",
    remedy:
      'Pin pivotHash (v3: workloads), manifestSet with namespace, or manifestHash; or say "open": ["application"]',
  },
  operator: {
    attack: "anyone who runs this image and application with their own keys passes",
    remedy: 'Pin manifestSet, manifestHash, quorumKey (live) or pcrs 3; or say "open": ["operator"]',
  },
};

const NITRO_IMAGE = {
  attack: "an attacker's own image can put anything into a document",
  remedy: "Pin pcrs 0, 1 and 2, or pcrs 8 (the certificate that signed the image), none of them zeros",
};

/** Facts that an attacker's application cannot forge, for each kind of commitment. */
const KINDS: Readonly<
  Record<
    CommitmentKind,
    {
      /** Whether the pivot or workloads in the manifest are the program that ran. */
      readonly program: boolean;
      readonly quorumKey: boolean;
      /** Whether the commitment proves which manifest was booted. If false, only a role in PCR3 proves it. */
      readonly manifest: boolean;
    }
  >
> = {
  live: { program: true, quorumKey: true, manifest: true },
  setup: { program: true, quorumKey: false, manifest: true },
  legacy: { program: false, quorumKey: false, manifest: false },
};

export type Answers = Readonly<Record<AnyQuestion, readonly PinName[]>>;

/** Returns the pins that decide each question. `roleless`: PCR3 is zeros, or may be because there is no evidence. */
function answersOf(pins: Questioned, roleless: boolean): Answers {
  const kind = KINDS[pins.commitment!];
  const { pcrs, manifestSet, quorumKey, shareSet } = pins;
  const manifest = kind.manifest || !roleless;
  const named = (name: PinName, answers: boolean): PinName[] => (pins[name] !== undefined && answers ? [name] : []);
  const isSomebodys = (set: SetPin | undefined): boolean => set === undefined || !isNobodysSet(set);
  const set = named(
    "manifestSet",
    manifest && isSomebodys(manifestSet) && (kind.manifest || pins.namespace !== undefined),
  );
  const hash = named("manifestHash", manifest);
  const image = [...named("pcrs", everyImagePins(pcrs, [0])), ...set, ...hash];
  const application = [
    ...named("pivotHash", kind.program),
    ...named("workloads", kind.program),
    ...(pins.namespace === undefined ? [] : set),
    ...hash,
  ];
  const isSecret = quorumKey?.some(isPublicSecret) !== true && isSomebodys(shareSet);
  return {
    image,
    application: image.length === 0 ? [] : application,
    operator: [
      ...set,
      ...hash,
      ...named("quorumKey", kind.quorumKey && isSecret),
      ...named("pcrs", everyImagePins(pcrs, [3])),
    ],
  };
}

/** Whether every alternative pins all PCRs of one of the ways, none of them to zeros. */
function everyImagePins(images: Pins["pcrs"], ...ways: readonly (readonly number[])[]): boolean {
  const pins = (image: readonly PcrPin[], index: number): boolean =>
    image.some((pin) => pin.index === index && !pin.accepted.some(isZeroPcr));
  return images?.every((image) => ways.some((way) => way.every((index) => pins(image, index)))) === true;
}

/** PCR0 covers every byte of an image, and PCR1 and PCR2 parts of it, so only the three show where sections end. */
const BYTES_ALONE = "only pcrs 0 pins the image: where its sections end is open; pin pcrs 1 and 2";

function someImageAccepts(images: Pins["pcrs"], accepts: (pin: PcrPin) => boolean): boolean {
  return images?.some((image) => image.some(accepts)) === true;
}

function openIn(answers: Answers): AnyQuestion[] {
  return (["image", ...QUESTIONS] as const).filter((question) => answers[question].length === 0);
}

/** Returns a sentence for each undeclared open question. A well-formed deployment has none. */
export function openFaults(pins: Questioned): string[] {
  if (pins.kind === "nitro") {
    return everyImagePins(pins.pcrs, [0], [8])
      ? []
      : [`leaves the image open: ${NITRO_IMAGE.attack}. ${NITRO_IMAGE.remedy}`];
  }
  const undeclared = openIn(answersOf(pins, pinsNoRole(pins))).filter((question) => !isDeclared(pins, question));
  const notes = noAnswers(pins);
  return undeclared.map((question) => {
    const { attack, remedy } = LEFT_OPEN[question];
    return `leaves the ${question} open: ${attack}. ${remedy}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`;
  });
}

function pinsNoRole({ pcrs }: Pins): boolean {
  return someImageAccepts(pcrs, ({ index, accepted }) => index === 3 && accepted.some(isZeroPcr));
}

function isDeclared(pins: Questioned, question: AnyQuestion): boolean {
  return (pins.open as readonly AnyQuestion[]).includes(question);
}

/** Returns reasons for pins that seem to decide a question, but do not. */
function noAnswers(pins: Questioned): string[] {
  const { commitment, quorumKey, pcrs = [] } = pins;
  const { program, quorumKey: holdsKey } = KINDS[commitment!];
  const named = (["pivotHash", "workloads", "quorumKey"] as const).filter((name) => pins[name] !== undefined);
  return [
    ...(program || named.length === 0
      ? []
      : [
          `under commitment ${commitment}, ${named.join(" and ")} decide nothing: ` +
            "the application itself may have requested the document",
        ]),
    ...(program && !holdsKey && quorumKey
      ? [`under commitment ${commitment}, quorumKey decides nothing: the enclave does not hold it yet`]
      : []),
    ...(someImageAccepts(pcrs, ({ accepted }) => accepted.some(isZeroPcr))
      ? ["a PCR of zeros identifies no enclave"]
      : []),
    ...(pcrs.length > 1 ? ["each alternative of pcrs must pin them"] : []),
    ...publicKeyNotes(pins),
  ];
}

/** The open questions of a deployment for matching evidence, or for any evidence if none is passed. */
export interface Scope {
  readonly answers: Answers;
  readonly unanswered: readonly AnyQuestion[];
  /** The questions that the deployment declares open. */
  readonly open: readonly Question[];
  /** Sentences on open or weakly pinned questions, with what an attacker could do. */
  readonly reasons: readonly string[];
  /** Sentences on questions that are open for this evidence, but not declared open. Such evidence does not match. */
  readonly faults: readonly string[];
}

export function scopeOf(pins: Questioned, facts: DocumentFacts | null): Scope {
  if (pins.kind === "nitro")
    return { answers: nitroAnswers(pins), unanswered: [], open: [], reasons: nitroReasons(pins), faults: [] };
  const roleless = facts === null ? pinsNoRole(pins) : isRoleless(facts);
  const answers = answersOf(pins, roleless);
  const open = openIn(answers);
  // In debug mode nothing about the code is proven, which `mode.debug` reports.
  const isDebug = [0, 1, 2].some((index) => isZeroPcr(facts?.pcrs.get(index)));
  const undeclared = open.filter((question) => !isDeclared(pins, question) && !(question === "image" && isDebug));
  return {
    answers,
    unanswered: open,
    open: pins.open,
    reasons: [
      ...(isDebug
        ? ["runs in debug mode, which is allowed: its measurements are zeros, like those of every debug enclave"]
        : []),
      ...(open.includes("image") ? [`leaves the image open: ${LEFT_OPEN.image.attack}`] : []),
      ...pins.open.map((question) => declaredReason(question, answers)),
      ...weakReasons(pins, answers, roleless),
      ...provenanceReasons(pins.provenance),
      ...publicKeyNotes(facts?.bootProof ? keysOf(facts.bootProof) : pins),
    ],
    faults: undeclared.map(
      (question) =>
        `leaves the ${question} open, since this evidence is legacy and its PCR3 is zeros: ` +
        LEFT_OPEN[question].attack,
    ),
  };
}

function declaredReason(question: Question, answers: Answers): string {
  if (answers[question].length > 0)
    return `declares the ${question} open, but ${answers[question].join(", ")} decides it`;
  return `leaves the ${question} open: ${LEFT_OPEN[question].attack}`;
}

function weakReasons(pins: Questioned, answers: Answers, roleless: boolean): string[] {
  const only = (question: AnyQuestion, name: PinName): boolean =>
    answers[question].length === 1 && answers[question][0] === name;
  const role = roleless ? "that image" : "that role and image";
  return [
    ...(only("image", "pcrs") && !everyImagePins(pins.pcrs, [1, 2]) ? [BYTES_ALONE] : []),
    ...(only("operator", "pcrs")
      ? ["only pcrs 3 pins the operator: any other deployment of that account and role passes"]
      : []),
    ...(pins.commitment === "legacy"
      ? [`legacy: any application of ${role} could have made this document, with ${legacyReach(answers)}`]
      : []),
    ...(only("image", "manifestSet") && pins.minNonce === undefined
      ? [
          "only manifestSet pins the image: every image and program that its members ever approved passes; " +
            "minNonce excludes old ones",
        ]
      : []),
  ];
}

/** Returns what the maker of a legacy document could choose freely within the pins. */
function legacyReach({ operator }: Answers): string {
  if (operator.includes("manifestHash")) return "any key";
  return operator.includes("manifestSet") ? "any key, and any manifest that the set approved" : "any manifest and key";
}

/** Returns the keys of the evidence. Keys with public secrets are reported even if they are not pinned. */
function keysOf({ quorumKey, manifestSet, shareSet }: BootProofFacts): Pins {
  return { quorumKey: [quorumKey], manifestSet, shareSet };
}

function isRoleless({ pcrs }: DocumentFacts): boolean {
  return isZeroPcr(pcrs.get(3));
}

/**
 * Returns the pins that decide each question for a bare document. Its program is part of the image, whose signer
 * identifies only the maker.
 */
function nitroAnswers(pins: Questioned): Answers {
  const { pcrs, publicKey } = pins;
  return {
    image: pcrs === undefined ? [] : ["pcrs"],
    application: everyImagePins(pins.pcrs, [0, 1, 2]) ? ["pcrs"] : [],
    operator: [
      ...(everyImagePins(pins.pcrs, [3], [4], [8]) ? ["pcrs" as const] : []),
      ...(publicKey === undefined ? [] : ["publicKey" as const]),
    ],
  };
}

function nitroReasons(pins: Questioned): string[] {
  return [
    ...(everyImagePins(pins.pcrs, [1, 2], [8]) ? [] : [BYTES_ALONE]),
    ...(nitroAnswers(pins).operator.length > 0
      ? []
      : ["pins no operator: anyone who runs this image passes; pin pcrs 3, 4 or 8, or publicKey"]),
  ];
}
