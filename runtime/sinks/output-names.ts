import { createHash } from "node:crypto";

/** Longest file name that every file system takes is 255 bytes; this leaves room for endings. */
const maxNameLength = 120;

/** Names that Windows keeps for devices. */
const deviceName = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** Lower-case names in use. */
export type Taken = Pick<ReadonlySet<string>, "has">;

/**
 * A file name for a stream: letters, digits, dot, dash and underscore; never hidden, never a path, never a device.
 * Two streams whose names differ in case only get different files.
 */
export function toFileName(label: string, ending: string, taken: Taken): string {
  const safe = label.replace(/[^A-Za-z0-9._-]+/g, "_").slice(0, maxNameLength);
  const isSame =
    safe === label && safe !== "" && !safe.startsWith(".") && !safe.startsWith("-") && !deviceName.test(safe);
  if (isSame && !taken.has(`${safe}${ending}`.toLowerCase())) return `${safe}${ending}`;
  return `${safe.replace(/^[.-]+/, "_") || "unnamed"}_${shortHash(label)}${ending}`;
}

/**
 * An SQL name that no other in `taken` equals when case is ignored, as DuckDB does.
 * Names that begin with _svc_ are the sink's own.
 */
export function toSqlName(name: string, taken: Taken): string {
  const isFree = name !== "" && !name.includes("\0") && name.length <= maxNameLength && !taken.has(name.toLowerCase());
  if (isFree && !name.toLowerCase().startsWith("_svc_")) return name;
  const base = name.replaceAll("\0", "_").slice(0, maxNameLength) || "unnamed";
  return `${base.toLowerCase().startsWith("_svc_") ? `x${base}` : base}_${shortHash(name)}`;
}

const shortHash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 8);

/** An SQL identifier. */
export const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** An SQL string literal. */
export const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`;
