/**
 * The preview of rows shows enough to see that columns are the right ones, and nothing of what
 * is personal or secret.
 */
import { findShapes, isSecretName, type JsonValue } from "svc-connectors/host";
import { isId } from "../contract/ids.ts";

/** Rows that a preview shows. */
export const previewRows = 10;

export const hidden = "[hidden]";
const maxText = 100;

const email = /[^\s@<>"',;:()]+@([^\s@<>"',;:()]+\.[^\s@<>"',;:()]+)/g;
/** Names of columns that hold something of people. */
const personal =
  /(first|last|full|sur|family|given|middle|maiden)_?name|^name$|phone|mobile|address|street|birth|passport|iban|ssn|tax_?id|gender/i;
/** Long texts without a word in them: keys and tokens. A UUID names a row. */
const token = /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_\-+/=.]{24,}$/;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/**
 * Nine digits or more, however they are grouped: phones, cards, accounts. A plain number names a
 * row.
 */
const grouped = /^\+?[\d ()./-]{9,}$/;

/** A value as it may be seen. */
export function masked(column: string, value: JsonValue): JsonValue {
  if (value === null || typeof value === "boolean") return value;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (isSecretName(column, "mention")) return hidden;
  if (personal.test(column)) return `${text.slice(0, 1)}***`;
  if (typeof value === "number") return value;
  // Ids of our own, as in _svc_job_id, are names.
  if (isId(text)) return text;
  if (findShapes(text).length > 0 || (token.test(text) && !uuid.test(text))) return hidden;
  if (grouped.test(text) && /[+ ()/]/.test(text)) return `${text.slice(0, 2)}***`;
  const shown = text.replaceAll(email, "***@$1");
  return shown.length > maxText ? `${shown.slice(0, maxText).toWellFormed()}…` : shown;
}
