/**
 * The proof that what a worker sent as rows is rows: strict JSON in UTF-8, one object a line, and
 * behind it at most one note of the only form there is. A worker may be forged, and whoever reads
 * the output next must not be the first to parse it.
 */
import { isUtf8 } from "node:buffer";
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject } from "../contract/json.ts";
import { maxNotesPerRow, noteOf } from "./row-notes.ts";
import { notStrictJson, strictJsonEnd } from "./strict-json.ts";

/**
 * Checks that the bytes are `rowCount` lines, each one JSON object (RFC 8259, without white space)
 * with or without notes.
 * @returns whether any has notes
 * @throws CONNECTOR_PROTOCOL
 */
export function checkRowLines(lines: Buffer, rowCount: number): boolean {
  try {
    return haveNotes(lines, rowCount);
  } catch (error) {
    throw error === notStrictJson ? notRows() : error;
  }
}

function haveNotes(lines: Buffer, rowCount: number): boolean {
  let count = 0;
  let hasNotes = false;
  // Every loop below ends at a line break at the latest: it may stand nowhere inside of a value.
  if (lines.length > 0 && lines[lines.length - 1] !== lineBreak) throw notRows();
  for (let at = 0; at < lines.length; at++) {
    at = objectEnd(lines, at);
    if (lines[at] === tab) {
      hasNotes = true;
      const end = objectEnd(lines, at + 1);
      if (!isNotes(lines.toString("utf8", at + 1, end))) throw notRows();
      at = end;
    }
    if (lines[at] !== lineBreak) throw notRows();
    count++;
  }
  if (count !== rowCount || !isUtf8(lines)) throw notRows();
  return hasNotes;
}

const notRows = () => new ConnectorError("CONNECTOR_PROTOCOL", { problem: "a line is not a row" });

const lineBreak = 0x0a;
const tab = 0x09;
const openBrace = 0x7b;

function objectEnd(lines: Buffer, from: number): number {
  if (lines[from] !== openBrace) throw notRows();
  return strictJsonEnd(lines, from);
}

function isNotes(text: string): boolean {
  const { changes, ...others } = JSON.parse(text) as { changes?: unknown };
  if (!Array.isArray(changes) || Object.keys(others).length > 0) return false;
  if (changes.length === 0 || changes.length > maxNotesPerRow) return false;
  return changes.every((change) => {
    if (!isJsonObject(change) || typeof change.field !== "string") return false;
    return JSON.stringify(change) === JSON.stringify(noteOf(change.field));
  });
}
