import { ConnectorError } from "../contract/errors.ts";

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EACCES: "no permission",
  EPERM: "no permission",
  EISDIR: "it is a folder, not a file",
  ENOTDIR: "a part of its path is not a folder",
  EEXIST: "a file is in the place of the folder",
  ENOENT: "its folder does not exist",
  ENAMETOOLONG: "its name is too long",
  EMFILE: "too many open files",
  ENFILE: "too many open files",
  EFBIG: "the file would be too large",
  EIO: "the disk failed",
  ELOOP: "its path goes round in circles",
  EBUSY: "it is in use",
};

/** OUTPUT_FAILED for any failure to write to the file system, with a reason from a closed list. */
export function outputFailed(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return new ConnectorError("OUTPUT_FAILED", {
    reason: reasons[code] ?? "the operating system refused it",
  });
}

/** Runs `write` and turns whatever it throws into OUTPUT_FAILED. */
export async function writing<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw outputFailed(error);
  }
}
