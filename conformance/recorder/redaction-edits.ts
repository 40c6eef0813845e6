/** The edits that take secrets and personal data out of one value, whole or in parts. */
import { isIP } from "node:net";
import { isPagingName, isSecretName } from "svc-connectors/host";
import { type Edit, mergeEdits } from "./edits.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import { layersOf } from "./layers.ts";
import { isPeopleField, type PeopleField, personalKind } from "./names.ts";
import type { Pseudonyms } from "./pseudonyms.ts";
import { findCredentials, findEmails, findIbans, findPhones, isEmail } from "./shapes.ts";

/** Redaction rules by id, with what each replaces. */
const redactionRules = {
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

export interface RedactionEdits {
  /** Edits of the whole value, by its names or its form; undefined when they say nothing. */
  wholeValue(text: string, names: readonly string[]): Edit[] | undefined;
  /** Edits of the parts of a text; they may overlap. */
  parts(text: string): Edit[];
  /** Edits of a number of JSON. */
  number(text: string, names: readonly string[]): Edit[];
  /** Ids of the rules that replaced something so far, sorted. */
  applied(): readonly RedactionRule[];
}

export function createRedactionEdits(
  secrets: KnownSecrets,
  pseudonyms: Pseudonyms,
  people: readonly PeopleField[],
): RedactionEdits {
  const applied = new Set<RedactionRule>();
  /** Paging tokens with their names: elsewhere they stand under the name of a secret ("token"). */
  const pagingNames = new Map<string, string>();
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

  function wholeEdits(text: string, names: readonly string[]): Edit[] | undefined {
    const [name = ""] = names;
    if (text === "" || isPlaceholder.test(text)) return [];
    if (isPagingName(name)) pagingNames.set(text, name);
    const known = secrets.placeholderOf(text);
    if (known?.startsWith("{{secret:")) return whole("config-secret", text, known);
    if (isSecretName(name, "exchange") && !/^(?:https?:|true$|false$|null$)/.test(text)) {
      // "Bearer x" is the word and the token: the token comes back elsewhere without it.
      const [, scheme = "", token = ""] = /^((?:Bearer|Basic|Token) )?(.+)$/is.exec(text) ?? [];
      const placeholder = secrets.issued(pagingNames.get(token) ?? name, token);
      return whole(ruleOf(placeholder), text, scheme + placeholder);
    }
    if (isPagingName(name) && hidesSecret(text))
      return whole("paging-token", text, secrets.issued(name, text));
    if (isEmail(text) && !text.includes("%40"))
      return whole("personal-email", text, pseudonyms.email(text));
    if (isPeopleField(names, people)) return peopleEdits(text);
    const kind = personalKind(names);
    if (kind === "ip" || isAddress(text))
      return isIP(text) ? whole("personal-ip", text, pseudonyms.of("ip", text)) : undefined;
    if (kind === undefined || /^https?:/.test(text)) return undefined;
    const isMixed =
      findEmails(text).length + findCredentials(text).length + secrets.find(text).length > 0;
    if (isMixed) return undefined;
    return whole(rulesByKind[kind], text, pseudonyms.of(kind, text));
  }

  /** Of a text that names people: also of the words beside what has a rule of its own. */
  function peopleEdits(text: string): Edit[] {
    const parts = mergeEdits(partEdits(text));
    const words = [...text.matchAll(/[\p{L}\p{M}]+/gu)].flatMap(({ 0: word, index }) => {
      const end = index + word.length;
      return parts.some((part) => part.start < end && index < part.end)
        ? []
        : edit("personal-name", { start: index, end }, word, pseudonyms.of("name", word));
    });
    return mergeEdits([...parts, ...words]);
  }

  /** An opaque token is a leak when it is no more than an encoding. */
  function hidesSecret(text: string): boolean {
    return [{ text }, ...layersOf(text)].some(
      (layer) =>
        findEmails(layer.text).length + findCredentials(layer.text).length > 0 ||
        secrets.isIn(Buffer.from(layer.text)),
    );
  }

  function partEdits(text: string): Edit[] {
    return [
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
    ];
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

  function numberEdits(text: string, names: readonly string[]): Edit[] {
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
    wholeValue: wholeEdits,
    parts: partEdits,
    number: numberEdits,
    applied: () => [...applied].sort(),
  };
}

const ruleOf = (placeholder: string): RedactionRule =>
  placeholder.startsWith("{{secret:") ? "config-secret" : "issued-secret";

const isPlaceholder = /^\{\{(?:secret|issued):[^{}]+\}\}$/;
const isAddress = (text: string) => isIP(text) > 0 && text.length > 6;

export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
