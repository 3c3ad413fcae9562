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

/** The reason in words; null for an error of another kind. `own`: words by error code that fit the caller better. */
export function diskReason(error: unknown, own: Readonly<Record<string, string>> = {}): string | null {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? (own[code] ?? REASONS[code] ?? `the system reports ${code}`) : null;
}
