/** Errors of the file system, in words. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "there is no such folder",
  EISDIR: "a directory, where a file is wanted",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "a file system that cannot be written",
  ENOSPC: "no space left",
  EDQUOT: "no space left",
  EFBIG: "no space left: a file may not be larger",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "a circle of links",
  EIO: "the disk does not work",
};

/** What the system says, in words; null for what is no error of the system. */
export function diskReason(error: unknown): string | null {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? (REASONS[code] ?? code) : null;
}
