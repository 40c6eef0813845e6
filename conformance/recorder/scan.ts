/**
 * Searches documents before they are written: nothing of a secret or of a person may be left, in
 * whatever encoding.
 */
import { isSecretName, scanDeep, toPointer } from "svc-connectors/host";
import { bodyForm } from "../fixtures/body-form.ts";
import { jsonEdits } from "./json-text.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import { type Layer, layersOf, openBytes } from "./layers.ts";
import type { Pseudonyms } from "./pseudonyms.ts";
import { entropy, findCredentials, findEmails } from "./shapes.ts";

/**
 * Where a secret or personal data stands in a document, and of which kind it is; never the value
 * itself.
 */
export interface FixtureLeak {
  readonly file: string;
  /**
   * JSON pointer into the file; of JSON in a text, the pointer inside of it stands behind "#".
   */
  readonly pointer: string;
  readonly what: string;
}

export interface ScanOptions {
  readonly secrets: KnownSecrets;
  readonly pseudonyms: Pseudonyms;
  /**
   * False for documents by a connector's author: examples in a spec are nobody's addresses. Default
   * true.
   */
  readonly hasPeople?: boolean | undefined;
}

/**
 * Random text of base64 has about 5 bits a character, hex 4, a sentence 4 in all its length but few
 * below 32.
 */
const randomBits = 3.5;
const randomLength = 32;

/** Every leak in a document that would be written as `file`. */
export function findLeaks(file: string, document: unknown, options: ScanOptions): FixtureLeak[] {
  const leaks = new Map<string, FixtureLeak>();
  const add = (pointer: string, what: string) =>
    leaks.set(`${pointer} ${what}`, { file, pointer, what });
  // Names and most values come again and again.
  const known = new Map<string, readonly string[]>();
  const faultsIn = (text: string): readonly string[] => {
    const faults = known.get(text) ?? faultsOfText(text, layersOf(text), options);
    known.set(text, faults);
    return faults;
  };
  walk(document, "", [], (text, pointer, names) => {
    for (const what of faultsIn(text)) add(pointer, what);
    if (names[0] === "body_base64") {
      const packed = openBytes("base64", Buffer.from(text, "base64"));
      for (const what of faultsOfText(text, packed, options)) add(pointer, what);
    }
    if (isRandomSecret(text, names)) add(pointer, "a long random value under the name of a secret");
  });
  // Once more as a whole: something may stand across two places.
  if (leaks.size === 0 && holdsSecret(Buffer.from(JSON.stringify(document)), options.secrets))
    add("/", "a secret of the run");
  return [...leaks.values()];
}

type Visit = (text: string, pointer: string, names: readonly string[]) => void;

function walk(value: unknown, pointer: string, names: readonly string[], visit: Visit): void {
  if (typeof value === "string") {
    visit(value, pointer === "" ? "/" : pointer, names);
    if (bodyForm(value) === "json" && /^\s*[[{"]/.test(value)) walkJson(value, pointer, visit);
  } else if (typeof value === "number") visit(String(value), pointer, names);
  else if (typeof value === "object" && value !== null) {
    for (const [name, part] of Object.entries(value)) {
      const inner = pointer + toPointer(name);
      if (!Array.isArray(value)) visit(name, `${inner} (the name)`, []);
      walk(part, inner, Array.isArray(value) ? names : [name, ...names], visit);
    }
  }
}

/** JSON in a text, at any depth. */
function walkJson(text: string, pointer: string, visit: Visit): void {
  jsonEdits(text, (leaf) => {
    const inner = `${pointer}#${toPointer(...leaf.path.map(String))}`;
    visit(
      leaf.text,
      leaf.kind === "key" ? `${inner} (the name)` : inner,
      leaf.kind === "key" ? [] : leaf.path.filter((part) => typeof part === "string").reverse(),
    );
    if (leaf.kind === "string" && /^\s*[[{]/.test(leaf.text) && bodyForm(leaf.text) === "json")
      walkJson(leaf.text, inner, visit);
    return [];
  });
}

/** @param packed what is readable inside of the text */
function faultsOfText(
  text: string,
  packed: readonly Layer[],
  { secrets, pseudonyms, hasPeople = true }: ScanOptions,
): readonly string[] {
  const found = new Set<string>();
  if (holdsSecret(Buffer.from(text), secrets)) found.add("a secret of the run");
  for (const { text: open, within } of [{ text, within: [] }, ...packed]) {
    const where = within.length > 0 ? `, packed in ${within.join(" in ")}` : "";
    if (within.length > 0 && holdsSecret(Buffer.from(open), secrets))
      found.add(`a secret of the run${where}`);
    for (const { shape } of findCredentials(open)) found.add(`a ${shape}${where}`);
    const isForeign = (address: string) => !pseudonyms.isOwnEmail(address.replace("%40", "@"));
    if (hasPeople && findEmails(open).some(({ text: address }) => isForeign(address)))
      found.add(`an e-mail address${where}`);
  }
  return [...found];
}

function isRandomSecret(text: string, [name = ""]: readonly string[]): boolean {
  const plain = text.replace(/\{\{(?:secret|issued):[^{}]+\}\}/g, "");
  const isRandom =
    plain.length >= randomLength && !/\s/.test(plain) && entropy(plain) >= randomBits;
  return isRandom && isSecretName(name, "suspicion") && !/^https?:/.test(plain);
}

function holdsSecret(bytes: Buffer, secrets: KnownSecrets): boolean {
  return secrets.isIn(bytes) || scanDeep(bytes, secrets.scanner()).length > 0;
}
