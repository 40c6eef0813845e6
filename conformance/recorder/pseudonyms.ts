/**
 * Pseudonyms of people: the same input gives the same pseudonym wherever it stands, and the form
 * stays, so that schemas and joins hold. Whoever knows the seed can try a guess; only placeholders
 * of secrets can be guessed by nobody.
 */
import { createHmac } from "node:crypto";
import { isIPv6 } from "node:net";
import type { PersonalKind } from "./names.ts";

export interface Pseudonyms {
  /** The pseudonym of a value of this kind; the same text when nothing in it is personal. */
  of(kind: PersonalKind, value: string): string;
  email(address: string): string;
  iban(iban: string): string;
  /** True for an address that `email` gave. */
  isOwnEmail(address: string): boolean;
}

const syllables = [..."bdfgklmnprstvz"].flatMap((consonant) =>
  [..."aeiou"].map((vowel) => consonant + vowel),
);

export function createPseudonyms(seed: number): Pseudonyms {
  const emails = new Set<string>();
  const bytesOf = (kind: string, value: string) =>
    createHmac("sha256", `svc-recording:${seed}`).update(`${kind}\n${value}`).digest();

  /** Replaces each letter and digit by another of the same class. */
  const scrambled = (kind: string, value: string, keptDigits = 0): string => {
    const bytes = bytesOf(kind, value.replace(/[^\p{L}\d]/gu, "").toLowerCase());
    let at = 0;
    return value.replace(/[A-Za-z\d]/g, (character) => {
      const byte = bytes[at % bytes.length] ?? 0;
      const isFirst = at === keptDigits;
      if (at++ < keptDigits) return character;
      // A leading zero means something, and a number has none.
      if (/\d/.test(character)) return isFirst ? firstDigit(character, byte) : String(byte % 10);
      return String.fromCharCode((character < "a" ? 65 : 97) + (byte % 26));
    });
  };

  const word = (original: string): string => {
    const bytes = bytesOf("name", original.toLowerCase());
    if (original.length === 1) return String.fromCharCode(65 + ((bytes[0] ?? 0) % 26));
    const made = [...bytes.subarray(0, 4)]
      .map((byte) => syllables[byte % syllables.length])
      .join("");
    if (original === original.toUpperCase() && original !== original.toLowerCase())
      return made.toUpperCase();
    return /^\p{Lu}/u.test(original) ? made.charAt(0).toUpperCase() + made.slice(1) : made;
  };

  const of = (kind: PersonalKind, value: string): string => {
    if (kind === "name") return value.replace(/[\p{L}\p{M}]+/gu, word);
    if (kind === "street")
      return value.replace(/[\p{L}\p{M}]+|\d+/gu, (part) =>
        /\d/.test(part) ? scrambled("street", part) : word(part),
      );
    if (kind === "phone") return scrambled("phone", value, value.startsWith("+") ? 2 : 0);
    if (kind === "ip") return ip(value);
    if (kind === "card") return withCheckDigit(scrambled("card", value));
    if (kind === "birthday")
      return value.replace(/\d{1,2}(?=\D|$)/g, (part) =>
        part.length === 2 ? `0${1 + ((bytesOf("birthday", value)[0] ?? 0) % 9)}` : part,
      );
    return scrambled(kind, value);
  };

  function ip(value: string): string {
    const bytes = bytesOf("ip", value.toLowerCase());
    if (isIPv6(value))
      return `2001:db8:${bytes.toString("hex", 0, 8).match(/.{4}/g)?.join(":")}::1`; // RFC 3849
    if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(value)) return value;
    // RFC 2544: for benchmarks, nobody's
    return `198.${18 + ((bytes[0] ?? 0) % 2)}.${bytes[1]}.${bytes[2]}`;
  }

  return {
    of,
    email(address) {
      if (emails.has(address)) return address;
      const made = `p-${bytesOf("email", address.toLowerCase()).toString("hex", 0, 6)}@example.com`;
      emails.add(made);
      return made;
    },
    iban(iban) {
      const plain = iban.replaceAll(" ", "");
      const body = scrambled("iban", plain.slice(4));
      const check = String(98 - remainder97(`${body}${plain.slice(0, 2)}00`)).padStart(2, "0");
      let at = 0;
      const made = `${plain.slice(0, 2)}${check}${body}`;
      return iban.replace(/[^ ]/g, () => made.charAt(at++));
    },
    isOwnEmail: (address) => emails.has(address),
  };
}

const firstDigit = (digit: string, byte: number) => (digit === "0" ? "0" : String(1 + (byte % 9)));

/** ISO 7064 MOD 97-10, as ISO 13616 has it: letters count from 10. */
export function remainder97(text: string): number {
  let rest = 0;
  for (const digit of text
    .toUpperCase()
    .replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55)))
    rest = (rest * 10 + Number(digit)) % 97;
  return rest;
}

/** The last digit makes the number a valid one (ISO/IEC 7812-1, Luhn). */
function withCheckDigit(number: string): string {
  const digits = number.replace(/\D/g, "");
  let sum = 0;
  for (let index = digits.length - 2, isDouble = true; index >= 0; index--, isDouble = !isDouble) {
    const digit = Number(digits[index]) * (isDouble ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return number.replace(/\d(?=\D*$)/, String((10 - (sum % 10)) % 10));
}
