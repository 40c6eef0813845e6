/**
 * Text with tags, for HTML and XML: whatever is put into a template is escaped, unless it is markup
 * itself.
 */
import { visible } from "./visible.ts";

const isMarkup: unique symbol = Symbol("markup");

/** Made only here: text from outside cannot pass for it. */
export interface Markup {
  readonly [isMarkup]: true;
  readonly text: string;
}

export type MarkupValue = string | number | Markup | undefined | readonly MarkupValue[];

/**
 * Template tag: `markup\`<p title="${title}">${sentence}</p>\``. Attribute values stand in double
 * quotes. Undefined gives nothing.
 */
export function markup(literals: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  return trusted(
    literals.reduce((text, literal, index) => text + textOf(values[index - 1]) + literal),
  );
}

/** Text of the kit's own that is put in as it is: a style sheet, a script. */
export function trusted(text: string): Markup {
  return { [isMarkup]: true, text };
}

function textOf(value: MarkupValue): string {
  if (value === undefined) return "";
  if (typeof value === "string" || typeof value === "number") return escapeMarkup(String(value));
  return Array.isArray(value) ? value.map(textOf).join("") : markupText(value);
}

function markupText(value: MarkupValue): string {
  if (typeof value === "object" && isMarkup in value) return value.text;
  throw new TypeError("Only text, numbers and markup can stand in markup.");
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeMarkup(text: string): string {
  return visible(text).replace(/[&<>"']/g, (sign) => escapes[sign] ?? sign);
}
