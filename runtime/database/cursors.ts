/**
 * Which columns may serve as a cursor: by their names, types, and what the server does with them.
 */
import type { CursorProposal } from "../contract/stream.ts";
import type { DatabaseColumn, DatabaseTable } from "./tables.ts";

/** Names that say when a row was changed, or made, once they are written as snake_case. */
const changedName =
  /^_?(last_|date_|time_)?(updated?|modified|modification|changed?|edited|touched|upd|mod)(_(at|on|date|time|datetime|timestamp|ts|utc))*$|^(mtime|write_date|systemmodstamp)$/;
const madeName =
  /^_?(date_|time_)?(created?|creation|inserted|added|logged|recorded|ingested|occurred|event)(_(at|on|date|time|datetime|timestamp|ts|utc))*$|^(ctime|timestamp|ts)$/;

/** Most that are proposed for one table. */
const maxProposals = 5;

/**
 * The columns that a user might choose, the best one first: a time of the last change, then a time
 * of making or a number that the server counts up, each with an index before those without, and one
 * that always has a value before one that may have none.
 */
export function proposeCursors({ columns, primaryKey }: DatabaseTable): CursorProposal[] {
  const proposals = columns.flatMap((column) => {
    const finds = whatItFinds(column, primaryKey);
    const { name: field, isIndexed: is_indexed, isNullable } = column;
    if (!finds || !column.type.isOrderable) return [];
    return [{ field, finds, is_indexed, ...(isNullable ? { is_nullable: true } : {}) }];
  });
  return proposals.sort((one, other) => rank(one) - rank(other)).slice(0, maxProposals);
}

const rank = ({ finds, is_indexed, is_nullable }: CursorProposal) =>
  (finds === "changes" ? 0 : 4) + (is_indexed ? 0 : 2) + (is_nullable ? 1 : 0);

function whatItFinds(
  { name, typeName, isNumbered }: DatabaseColumn,
  primaryKey: readonly string[],
): CursorProposal["finds"] | undefined {
  if (/^(timestamp|datetime|date)\b/i.test(typeName)) {
    const words = toSnakeCase(name);
    if (changedName.test(words)) return "changes";
    return madeName.test(words) ? "new_rows" : undefined;
  }
  const isOnlyKey = primaryKey.length === 1 && primaryKey[0] === name;
  return isNumbered && isOnlyKey ? "new_rows" : undefined;
}

/** `updatedAt` and `UpdatedAt` as `updated_at`. */
const toSnakeCase = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[\s.-]+/g, "_")
    .toLowerCase();
