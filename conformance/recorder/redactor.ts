/**
 * Takes secrets and personal data out of texts. Everything that was exchanged is learned first
 * (`redact*`, results thrown away), so that a token is found also where it stood before it was
 * known to be one; then the same calls give the final texts.
 */
import { isIP } from "node:net";
import { isPagingName, isSecretName } from "svc-connectors/host";
import { bodyForm, formEncode } from "../fixtures/body-form.ts";
import { applyEdits, type Edit, mergeEdits } from "./edits.ts";
import { type JsonLeaf, jsonEdits } from "./json-text.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import { layersOf } from "./layers.ts";
import { personalKind } from "./names.ts";
import type { Pseudonyms } from "./pseudonyms.ts";
import { findCredentials, findEmails, findIbans, findPhones, isEmail } from "./shapes.ts";

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

/** What replaces, by id. */
export const redactionRules = {
  headers: "header fields that no replay needs, always",
  "config-secret": "secrets of the configuration, in any encoding",
  "issued-secret": "what the provider gives out under the name of a secret",
  "credential-shape": "JSON web tokens, PEM blocks, tokens of known vendors",
  "url-credential": "user names and passwords in URLs",
  "paging-token": "paging tokens that hold a secret or an e-mail address",
  "personal-name": "names of people",
  "personal-email": "e-mail addresses",
  "personal-phone": "phone numbers",
  "personal-address": "postal addresses",
  "personal-ip": "IP addresses",
  "personal-account": "numbers of accounts, cards and people",
  "personal-birthday": "dates of birth",
} as const;
export type RedactionRule = keyof typeof redactionRules;

const rulesByKind = {
  name: "personal-name",
  phone: "personal-phone",
  street: "personal-address",
  postcode: "personal-address",
  ip: "personal-ip",
  account: "personal-account",
  card: "personal-account",
  birthday: "personal-birthday",
} as const satisfies Record<string, RedactionRule>;

/** Deeper ones are texts, in which secrets are still found. */
const maxNesting = 4;

export function createRedactor(secrets: KnownSecrets, pseudonyms: Pseudonyms): Redactor {
  const applied = new Set<RedactionRule>();
  const edit = (
    rule: RedactionRule,
    found: Omit<Edit, "text">,
    before: string,
    after: string,
  ): Edit[] => {
    if (after === before) return [];
    applied.add(rule);
    return [{ ...found, text: after }];
  };
  const whole = (rule: RedactionRule, before: string, after: string) =>
    edit(rule, { start: 0, end: before.length }, before, after);

  /** What the names or the form say of the whole value; undefined = nothing. */
  function wholeEdits(text: string, names: readonly string[]): Edit[] | undefined {
    const [name = ""] = names;
    if (text === "" || isPlaceholder.test(text)) return [];
    const known = secrets.placeholderOf(text);
    if (known?.startsWith("{{secret:")) return whole("config-secret", text, known);
    if (isSecretName(name, "exchange") && !/^(?:https?:|true$|false$|null$)/.test(text)) {
      // "Bearer x" is the word and the token: the token comes back elsewhere without it.
      const [, scheme = "", token = ""] = /^((?:Bearer|Basic|Token) )?(.+)$/is.exec(text) ?? [];
      const placeholder = secrets.issued(name, token);
      return whole(ruleOf(placeholder), text, scheme + placeholder);
    }
    if (isPagingName(name) && hidesSomething(text))
      return whole("paging-token", text, secrets.issued(name, text));
    if (isEmail(text) && !text.includes("%40"))
      return whole("personal-email", text, pseudonyms.email(text));
    const kind = personalKind(names);
    if (kind === "ip" || isAddress(text))
      return isIP(text) ? whole("personal-ip", text, pseudonyms.of("ip", text)) : undefined;
    if (kind === undefined || /^https?:/.test(text)) return undefined;
    const isMixed =
      findEmails(text).length + findCredentials(text).length + secrets.find(text).length > 0;
    if (isMixed) return undefined;
    return whole(rulesByKind[kind], text, pseudonyms.of(kind, text));
  }

  /** An opaque token is a leak when it is no more than an encoding. */
  function hidesSomething(text: string): boolean {
    return [{ text }, ...layersOf(text)].some(
      (layer) =>
        findEmails(layer.text).length + findCredentials(layer.text).length > 0 ||
        secrets.isIn(Buffer.from(layer.text)),
    );
  }

  function textEdits(text: string, names: readonly string[], nesting = 0): Edit[] {
    const own = wholeEdits(text, names);
    if (own) return own;
    if (nesting < maxNesting && /^\s*[[{]/.test(text) && bodyForm(text) === "json")
      return bodyEdits(text, nesting + 1);
    return mergeEdits([
      ...pairEdits(text, nesting),
      ...secrets.find(text).flatMap((found) => edit(ruleOf(found.text), found, "", found.text)),
      ...findCredentials(text).flatMap((found) => {
        const value = text.slice(found.start, found.end);
        return edit("credential-shape", found, value, secrets.issued(found.shape, value));
      }),
      ...userInfoEdits(text),
      ...findEmails(text).flatMap((found) =>
        edit("personal-email", found, found.text, emailPseudonym(found.text)),
      ),
      ...findIbans(text).flatMap((found) =>
        edit("personal-account", found, found.text, pseudonyms.iban(found.text)),
      ),
      ...findPhones(text).flatMap((found) =>
        edit("personal-phone", found, found.text, pseudonyms.of("phone", found.text)),
      ),
    ]);
  }

  function emailPseudonym(found: string): string {
    const isEncoded = /%40/.test(found);
    const made = pseudonyms.email(isEncoded ? percentDecoded(found) : found);
    return isEncoded ? made.replace("@", "%40") : made;
  }

  function userInfoEdits(text: string): Edit[] {
    return [...text.matchAll(/(?<=:\/\/)[^/?#@\s"'<>{}]+(?=@)/g)].flatMap(({ 0: value, index }) =>
      edit(
        "url-credential",
        { start: index, end: index + value.length },
        value,
        secrets.issued("url_credential", value),
      ),
    );
  }

  /** name=value of a query or a form: the name says what the value is. */
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
    return mergeEdits(jsonEdits(text, (leaf) => leafEdits(leaf, nesting)));
  }

  function leafEdits({ kind, text, path }: JsonLeaf, nesting: number): Edit[] {
    const names = path.filter((part) => typeof part === "string").reverse();
    if (kind === "string") return textEdits(text, names, nesting);
    if (kind === "key") return textEdits(text, [], nesting);
    const known = secrets.placeholderOf(text);
    if (known !== undefined) return whole(ruleOf(known), text, known);
    const personal = personalKind(names);
    const isNumber =
      personal === "phone" ||
      personal === "account" ||
      personal === "card" ||
      personal === "postcode";
    return isNumber && /^\d+$/.test(text)
      ? whole(rulesByKind[personal], text, pseudonyms.of(personal, text))
      : [];
  }

  return {
    redactText: (text, names = []) => applyEdits(text, textEdits(text, names)),
    redactBody: (text) => applyEdits(text, bodyEdits(text)),
    get applied() {
      return [...applied].sort();
    },
  };
}

const ruleOf = (placeholder: string): RedactionRule =>
  placeholder.startsWith("{{secret:") ? "config-secret" : "issued-secret";

const isPlaceholder = /^\{\{(?:secret|issued):[^{}]+\}\}$/;
const isAddress = (text: string) => isIP(text) > 0 && text.length > 6;

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Placeholders stay readable; the rest is encoded as the provider or the connector did it. */
function encodedLike(raw: string, text: string): string {
  const encode = raw.includes("+") ? formEncode : encodeURIComponent;
  return text
    .split(/(\{\{(?:secret|issued):[^{}]+\}\})/)
    .map((part, index) => (index % 2 === 1 ? part : encode(part)))
    .join("");
}
