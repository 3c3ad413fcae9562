const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "there is no such folder",
  EISDIR: "a directory, not a file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "no space left",
  EDQUOT: "no space left",
  EFBIG: "the file would exceed the largest size that is allowed here",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "a loop of links",
  EIO: "the disk reports an I/O error",
  EFTYPE: "not a regular file",
  ETIMEDOUT: "the disk does not answer",
};

/**
 * Returns the reason for a system error in words, or null for an error without a code. `own` has the caller's texts by
 * code.
 */
export function diskReason(error: unknown, own: Readonly<Record<string, string>> = {}): string | null {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? (own[code] ?? REASONS[code] ?? `the system reports ${code}`) : null;
}
