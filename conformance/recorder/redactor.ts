/**
 * Takes secrets and personal data out of texts. Everything that was exchanged is learned first
 * (`redact*`, results thrown away), so that a token is found also where it stood before it was
 * known to be one; then the same calls give the final texts.
 */
import { bodyForm, formEncode } from "../fixtures/body-form.ts";
import { applyEdits, type Edit, mergeEdits } from "./edits.ts";
import { jsonEdits } from "./json-text.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import { toPeopleFields } from "./names.ts";
import type { Pseudonyms } from "./pseudonyms.ts";
import { createRedactionEdits, percentDecoded } from "./redaction-edits.ts";

export interface Redactor {
  /**
   * A URL, a header value, or any other text. `names` of it and of what it lies in, innermost
   * first.
   */
  redactText(text: string, names?: readonly string[]): string;
  /** A body in whatever form. Of JSON every byte that is not replaced stays. */
  redactBody(text: string): string;
  /** Ids of the rules that replaced something so far, sorted. */
  readonly applied: readonly string[];
}

/** Deeper nested texts are searched without being parsed. */
const maxNesting = 4;

/** @param people names of fields, as {@link toPeopleFields} reads them */
export function createRedactor(
  secrets: KnownSecrets,
  pseudonyms: Pseudonyms,
  people: readonly string[] = [],
): Redactor {
  const edits = createRedactionEdits(secrets, pseudonyms, toPeopleFields(people));

  function textEdits(text: string, names: readonly string[], nesting = 0): Edit[] {
    const whole = edits.wholeValue(text, names);
    if (whole) return whole;
    if (nesting < maxNesting && /^\s*[[{]/.test(text) && bodyForm(text) === "json")
      return bodyEdits(text, nesting + 1);
    return mergeEdits([...pairEdits(text, nesting), ...edits.parts(text)]);
  }

  /** Edits of name=value in a query or a form: the name says what the value is. */
  function pairEdits(text: string, nesting: number): Edit[] {
    return [...text.matchAll(/(?<=[?&]|^)([\w.%~[\]-]+)=([^&#\s"'<>{}\\]+)/g)].flatMap(
      ({ 1: name = "", 2: value = "", index }) => {
        const start = index + name.length + 1;
        const decoded = percentDecoded(value.replaceAll("+", " "));
        const found =
          nesting < maxNesting ? textEdits(decoded, [percentDecoded(name)], nesting + 1) : [];
        if (found.length === 0) return [];
        return [
          {
            start,
            end: start + value.length,
            text: encodedLike(value, applyEdits(decoded, found)),
          },
        ];
      },
    );
  }

  function bodyEdits(text: string, nesting = 0): Edit[] {
    if (bodyForm(text) !== "json") return textEdits(text, [], nesting);
    return mergeEdits(
      jsonEdits(text, ({ kind, text: value, path }) => {
        const names = path.filter((part) => typeof part === "string").reverse();
        if (kind === "number") return edits.number(value, names);
        return textEdits(value, kind === "key" ? [] : names, nesting);
      }),
    );
  }

  return {
    redactText: (text, names = []) => applyEdits(text, textEdits(text, names)),
    redactBody: (text) => applyEdits(text, bodyEdits(text)),
    get applied() {
      return edits.applied();
    },
  };
}

/** Placeholders stay readable; the rest is encoded as the provider or the connector did it. */
function encodedLike(raw: string, text: string): string {
  const encode = raw.includes("+") ? formEncode : encodeURIComponent;
  return text
    .split(/(\{\{(?:secret|issued):[^{}]+\}\})/)
    .map((part, index) => (index % 2 === 1 ? part : encode(part)))
    .join("");
}
