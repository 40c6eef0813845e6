/**
 * Finds the secret parts of a value, and how much of each has to appear before that is a leak. A
 * short or plain secret must not wipe out half of all output: "a", "1" and "test" are in every log.
 */
import { isSecretName } from "./secret-names.ts";

/**
 * `piece`: any 10 consecutive characters. `whole`: all of it, not as a part of a longer word or
 * number. `exact`: only as a complete value: a JSON string, a log field, a password in a URL or in
 * HTTP Basic.
 */
export type Strength = "piece" | "whole" | "exact";

export interface SecretPart {
  readonly value: string;
  readonly strength: Strength;
}

/** Most nested of the values that are looked into: a key file in JSON in a setting. */
const maxDepth = 4;

/**
 * The parts of a value that are searched for, none of them empty: the strings of a JSON document (a
 * service-account key), the lines of a PEM key without its armour, password and long random
 * segments of a URL; else the value itself.
 */
export function secretParts(value: string, depth = 0): SecretPart[] {
  const text = value.trim();
  if (text === "") return [];
  const parts = depth < maxDepth ? (jsonParts(text, depth) ?? urlParts(text)) : undefined;
  if (parts !== undefined) return parts;
  const withoutArmour = text.replace(/-----(?:BEGIN|END) [A-Z0-9 ]+-----/g, "").trim();
  return withoutArmour === ""
    ? []
    : [{ value: withoutArmour, strength: strengthOf(withoutArmour) }];
}

function strengthOf(value: string): Strength {
  if (value.length < 6 || (/^\d+$/.test(value) && value.length < 10)) return "exact";
  const isPlain = value.length < 10 || /^\d+$/.test(value) || new Set(value).size < 5;
  return isPlain ? "whole" : "piece";
}

/** The strings at any depth of a JSON object or array; of a key file, not what is public in it. */
function jsonParts(text: string, depth: number): SecretPart[] | undefined {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    const parts: SecretPart[] = [];
    JSON.parse(text, (name, value: unknown) => {
      if (typeof value === "string" && !isPublic(name, value))
        parts.push(...jsonStringParts(value, depth));
      return value;
    });
    return parts.length > 0 ? parts : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A key file names its owner's mail address and its provider's URLs: other addresses and URLs of
 * these hosts are no leak.
 */
function jsonStringParts(value: string, depth: number): SecretPart[] {
  const isAddress =
    value.length >= 6 && /^[^\s@]+@[^\s@/]+$|^https?:\/\/[a-z0-9./_-]+$/.test(value);
  return isAddress ? [{ value, strength: "whole" }] : secretParts(value, depth + 1);
}

/**
 * Lower-case words joined by `.`, `_` or `-` ("service_account", "googleapis.com") under a name
 * that promises no secret.
 */
function isPublic(name: string, value: string): boolean {
  return !isSecretName(name, "hint") && /^[a-z]+(?:[._-][a-z]+)+$/.test(value);
}

/**
 * A connection string or webhook address: its host and words are in clean output too, its password
 * and random segments are not.
 */
function urlParts(text: string): SecretPart[] | undefined {
  const match = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)(\S*)$/i.exec(text);
  if (match === null) return undefined;
  const [, authority = "", rest = ""] = match;
  const password = /^[^:@]*:(.+)@/.exec(authority)?.[1] ?? "";
  const random = rest
    .split(/[/?#&=;,]/)
    .filter((part) => part.length >= 16 && /\d|[a-z][A-Z]|[A-Z][a-z]/.test(part));
  const secrets = [password, percentDecoded(password), ...random].filter((part) => part !== "");
  return [
    { value: text, strength: "whole" },
    ...[...new Set(secrets)].map((part) => ({ value: part, strength: strengthOf(part) })),
  ];
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
