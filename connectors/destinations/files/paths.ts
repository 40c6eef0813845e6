import { shortHash } from "svc-connectors/destination";

const maxLength = 100;

/** A part of a path: what every file system and every store takes, no two names alike. */
export function pathOf(name: string): string {
  const safe = [...name.toWellFormed()]
    .map((one) => (/[A-Za-z0-9_-]/.test(one) ? one : hexOf(one)))
    .join("");
  return safe.length <= maxLength ? safe : `${safe.slice(0, maxLength - 9)}-${shortHash(name)}`;
}

const hexOf = (character: string) =>
  [...Buffer.from(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");

interface Named {
  readonly schema: string;
  readonly name: string;
}

/** The folder of a table; names that differ in case only are one, as in SQL. */
export const tableFolder = ({ schema, name }: Named) =>
  `${pathOf(schema.toLowerCase())}/${pathOf(name.toLowerCase())}/`;

/** Says whose table it is. */
export const ownerPath = (table: Named) => `${tableFolder(table)}_svc_owner.json`;
