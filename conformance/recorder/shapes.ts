/** Finds credentials and personal data by their form, under whatever name they stand. */
import { findShapes } from "svc-connectors/host";
import type { Edit } from "./edits.ts";
import { remainder97 } from "./pseudonyms.ts";

/**
 * Credentials of well-known providers. @see https://docs.github.com/code-security/secret-scanning
 * and the vendors' pages (read 2026-11-21)
 */
const vendorTokens = [
  /gh[pousr]_[A-Za-z0-9]{30,}/,
  /github_pat_\w{40,}/,
  /glpat-[\w-]{20,}/,
  /[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/,
  /whsec_[A-Za-z0-9+/=]{24,}/,
  /xox[abeoprs]-[A-Za-z0-9-]{10,}/,
  /xapp-\d-[A-Za-z0-9-]{10,}/,
  /(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}/,
  /AIza[\w-]{35}/,
  /ya29\.[\w-]{20,}/,
  /SG\.[\w-]{16,}\.[\w-]{16,}/,
  /shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}/,
  /npm_[A-Za-z0-9]{36}/,
  /sk-(?:ant-|proj-)?[\w-]{32,}/,
  /EAA[A-Za-z0-9]{60,}/,
  /hooks\.slack\.com\/services\/[A-Za-z0-9/]{20,}/,
];
const vendorToken = new RegExp(vendorTokens.map(({ source }) => `(?:${source})`).join("|"), "g");
const vendorStart = /(?<![A-Za-z0-9_])$/;

export interface CredentialMatch {
  readonly shape: "JWT" | "PEM" | "vendor token";
  readonly start: number;
  readonly end: number;
}

export function findCredentials(text: string): CredentialMatch[] {
  const shapes = findShapes(text).flatMap(({ shape, index, length }) =>
    shape === "JWT" || shape === "PEM"
      ? [{ shape, start: index, end: index + length } as const]
      : [],
  );
  const tokens = [...text.matchAll(vendorToken)]
    .filter(({ index }) => vendorStart.test(text.slice(Math.max(0, index - 1), index)))
    .map(
      ({ 0: { length }, index }) =>
        ({ shape: "vendor token", start: index, end: index + length }) as const,
    );
  return [...shapes, ...tokens];
}

/** Also percent-encoded, as in a URL. */
const email =
  /(?<![\p{L}\p{N}._%+!#$*^|~'-])(?<!:\/\/[^\s/@]{0,200})[\p{L}\p{N}._%+!#$*^|~'-]{1,64}?(?:@|%40)(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})\.)+\p{L}[\p{L}\p{N}-]{1,62}/gu;
const iban =
  /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/g;
/** ITU-T E.164 with its plus sign, as people group it. */
const phone =
  /(?<![\w.:+-])\+[1-9]\d{0,2}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{2,4}(?:[ .-]?\d{2,4}){1,4}(?![\w:])/g;

/** A whole value that is an address, also with the characters that would end one in a text. */
export const isEmail = (text: string): boolean =>
  text.length <= 320 &&
  /^[^\s@<>"(),:;\\]+@(?:[^\s@<>"(),:;\\/?=&]+\.)+[^\s@<>"(),:;\\/?=&.]{2,}$/.test(text);

export const findEmails = (text: string): Edit[] => matches(text, email);

export function findPhones(text: string): Edit[] {
  return matches(text, phone).filter((found) => (found.text.match(/\d/g)?.length ?? 0) >= 9);
}

export function findIbans(text: string): Edit[] {
  return matches(text, iban).filter((found) => {
    const plain = found.text.replaceAll(" ", "");
    return plain.length >= 15 && remainder97(plain.slice(4) + plain.slice(0, 4)) === 1;
  });
}

/** Matches with their positions and texts. */
function matches(text: string, pattern: RegExp): Edit[] {
  return [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
    start: index,
    end: index + found.length,
    text: found,
  }));
}

/**
 * Bits of information a character, for texts that look drawn at random.
 * @see Shannon, A Mathematical Theory of Communication
 */
export function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce(
    (sum, count) => sum - (count / text.length) * Math.log2(count / text.length),
    0,
  );
}
