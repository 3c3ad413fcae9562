/** Compares published releases: applications, digests and PCRs. */
import type { ChangeId, Found, Turn } from "./changes.js";
import { value } from "./comparers.js";
import { type Content, type ContentObject, type Rules, anyCase, contentText, rewritten } from "./content.js";
import type { Compared } from "./evidence.js";
import { placeIn } from "./place.js";

const MEMBERS: Readonly<Record<string, ChangeId>> = {
  PCR3: "role",
  PCR0: "image.pcr0",
  PCR1: "image.pcr1",
  PCR2: "image.pcr2",
  appBinaryDigest: "application",
};
const RULES: Rules = Object.fromEntries(Object.keys(MEMBERS).map((name) => [name, anyCase]));
const VERSION = "version";

export function compareReleases(before: Content, after: Content): Compared {
  const [one, other] = [releaseOf(before), releaseOf(after)];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((name) => name !== VERSION);
  return {
    found: [
      ...names.flatMap((name, index) => compareApplications(one[name], other[name], name, placeIn("", name, index))),
      ...value<Content>("release.version", contentText)(one[VERSION], other[VERSION], VERSION),
    ],
    contents: [["", one, other]],
  };
}

function releaseOf(content: Content): ContentObject {
  const release = content as ContentObject;
  return rewritten(release, Object.fromEntries(Object.keys(release).map((name) => [name, RULES]))) as ContentObject;
}

function compareApplications(
  before: Content | undefined,
  after: Content | undefined,
  name: string,
  place: string,
): readonly Found[] {
  if (before === undefined || after === undefined) {
    const turn = (): Turn => (after === undefined ? "removed" : "changed");
    const changes = value<Content>("release.application", contentText, turn)(before, after, place);
    return changes.map((change) => ({ ...change, entry: name }));
  }
  // Changes do not contain the application's name, so that equal changes of several applications are merged.
  return Object.entries(MEMBERS).flatMap(([member, what]) =>
    value<Content>(what, contentText)(memberOf(before, member), memberOf(after, member), placeIn(place, member)),
  );
}

function memberOf(application: Content, name: string): Content | undefined {
  const isThere = typeof application === "object" && application !== null && Object.hasOwn(application, name);
  return isThere ? (application as ContentObject)[name] : undefined;
}
