import { shortHash, type Taken } from "../destination/names.ts";

/** Longest file name that every file system takes is 255 bytes; this leaves room for endings. */
const maxNameLength = 120;

/** Names that Windows keeps for devices. */
const deviceName = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * A file name for a stream: letters, digits, dot, dash and underscore; never hidden, never a path,
 * never a device. Two streams whose names differ in case only get different files.
 */
export function toFileName(label: string, ending: string, taken: Taken): string {
  const safe = label.replace(/[^A-Za-z0-9._-]+/g, "_").slice(0, maxNameLength);
  const isSame =
    safe === label &&
    safe !== "" &&
    !safe.startsWith(".") &&
    !safe.startsWith("-") &&
    !deviceName.test(safe);
  if (isSame && !taken.has(`${safe}${ending}`.toLowerCase())) return `${safe}${ending}`;
  return `${safe.replace(/^[.-]+/, "_") || "unnamed"}_${shortHash(label)}${ending}`;
}
