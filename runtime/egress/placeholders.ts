/**
 * Placeholders: random texts that a connector gets in place of secrets, new for each run. The
 * broker puts the secret in when a request leaves, and takes it out of each answer again.
 */
import { randomInt } from "node:crypto";
import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { budgets } from "../contract/budgets.ts";
import { ConnectorError } from "../contract/errors.ts";
import { createSecretRegistry, runSecretLimits, type SecretRegistry } from "../filter/secrets.ts";
import { answerPieces, holdsSecret } from "./answer-pieces.ts";
import { joined } from "./response.ts";

export interface PlaceholderRegistry {
  /**
   * The placeholder of a secret: the same one for the same secret. From now on it stands for it,
   * and both are searched for in whatever leaves.
   * @throws CONNECTOR_PROTOCOL when there are more than a run can need
   */
  placeholderOf(secret: string): string;
  /** Waits until the search for them is made. @see SecretRegistry.prepare */
  prepare(): Promise<void>;
  /** From now on a placeholder stands for another secret; the one before stays hidden. */
  rebind(placeholder: string, secret: string): void;
  /** True when one of them stands in the text. */
  isIn(text: string): boolean;
  /**
   * The text with each placeholder replaced by its secret, as `encode` writes it there.
   * @throws CONNECTOR_PROTOCOL when that is longer than any request
   */
  fill(text: string, encode?: (secret: string) => string): string;
  /**
   * The text with each secret replaced by its placeholder, and what is left of it in another
   * encoding by "[redacted]"; the same string when there is none.
   * @throws LEAK_BLOCKED when a secret is still there afterwards
   */
  hide(text: string): string;
  /**
   * As {@link hide}, for the bytes of an answer. A large one is looked at in pieces, with turns of
   * the event loop between them.
   */
  hideBytes(bytes: Buffer): Promise<Buffer>;
  /** The secrets: they make one credential another than the next. */
  readonly secrets: readonly string[];
}

/** @param secrets of the run: what leaves it shows neither secrets nor placeholders */
export function createPlaceholders(secrets: SecretRegistry): PlaceholderRegistry {
  const own = createSecretRegistry(runSecretLimits);
  const placeholders = new Map<string, string>();
  const byPlaceholder = new Map<string, string>();
  let finder: RegExp | undefined;
  let hidden: readonly Hidden[] | undefined;

  const placeholdersFound = (): RegExp => {
    finder ??= new RegExp([...byPlaceholder.keys()].map(RegExp.escape).join("|") || "(?!)", "g");
    return finder;
  };
  const hide = (text: string): string => {
    hidden ??= hiddenForms(placeholders);
    const swapped = hidden.reduce(
      (rest, { form, placeholder }) => rest.replaceAll(form, placeholder),
      text,
    );
    if (!own.contains(Buffer.from(swapped))) return swapped;
    const redacted = own.redactText(swapped);
    if (own.contains(Buffer.from(redacted))) throw new ConnectorError("LEAK_BLOCKED");
    return redacted;
  };

  /** Secrets that a placeholder stands for no longer, oldest first. */
  const replaced: string[] = [];
  let replacedBytes = 0;

  const note = (placeholder: string, secret: string) => {
    placeholders.set(secret, placeholder);
    byPlaceholder.set(placeholder, secret);
    finder = undefined;
    hidden = undefined;
  };
  /** Hidden and searched for as long as any token that a newer one replaces. */
  const retire = (secret: string) => {
    replaced.push(secret);
    replacedBytes += Buffer.byteLength(secret);
    while (replacedBytes > budgets.passingTokens.together && replaced.length > 1) {
      const oldest = replaced.shift() ?? "";
      replacedBytes -= Buffer.byteLength(oldest);
      if (byPlaceholder.get(placeholders.get(oldest) ?? "") !== oldest) placeholders.delete(oldest);
    }
  };

  return {
    get secrets() {
      return [...placeholders.keys()];
    },
    placeholderOf(secret) {
      if (secret === "") return secret; // a password that is left out hides nothing
      const known = placeholders.get(secret);
      if (known !== undefined) return known;
      const { count } = budgets.placeholders;
      if (placeholders.size >= count[0])
        throw new ConnectorError("CONNECTOR_PROTOCOL", {
          problem: `it has been given more than ${count[0]} secrets and tokens`,
        });
      const placeholder = inventPlaceholder(secret);
      for (const one of [secret, placeholder]) secrets.add(one);
      own.add(secret);
      note(placeholder, secret);
      return placeholder;
    },
    rebind(placeholder, secret) {
      const before = byPlaceholder.get(placeholder);
      if (before === secret) return;
      secrets.addPassing(secret);
      own.addPassing(secret);
      note(placeholder, secret);
      if (before !== undefined) retire(before);
    },
    async prepare() {
      await secrets.prepare();
      await own.prepare();
    },
    isIn: (text) => text.search(placeholdersFound()) !== -1,
    fill(text, encode = (secret) => secret) {
      let { length } = text;
      return text.replace(placeholdersFound(), (found) => {
        const secret = encode(byPlaceholder.get(found) ?? found);
        length += secret.length - found.length;
        if (length > budgets.filledRequest.bytes)
          throw new ConnectorError("CONNECTOR_PROTOCOL", {
            problem: `with its secrets a request is longer than ${budgets.filledRequest.bytes} bytes`,
          });
        return secret;
      });
    },
    hide: (text) => (own.contains(Buffer.from(text)) ? hide(text) : text),
    async hideBytes(bytes) {
      if (!(await holdsSecret(own, bytes))) return bytes;
      const parts: Buffer[] = [];
      hidden ??= hiddenForms(placeholders);
      const texts = hidden.flatMap(({ form }) => (typeof form === "string" ? [form] : []));
      const isTaken = (window: Buffer) => own.contains(window);
      for (const [from, to] of answerPieces(bytes, isTaken, texts)) {
        if (from > 0) await eventLoopTurn();
        const part = bytes.subarray(from, to);
        parts.push(own.contains(part) ? Buffer.from(hide(part.toString("utf8"))) : part);
      }
      return await joined(parts);
    },
  };
}

/** Prefixes of tokens, by which providers tell their kind: public, each of them. */
const knownPrefix =
  /^(?:[spr]k_(?:live|test)_|sk-(?:ant-|proj-)?|gh[opsur]_|github_pat_|glpat-|xox[abepr]-|xapp-|pat[-_]|shp(?:at|ca|pa|ss)_|EAA|AKIA|ya29\.|hf_|lin_api_|ntn_|secret_|Bearer )/;

const digits = "0123456789";
const hex = `${digits}abcdef`;
const letters = "abcdefghijklmnopqrstuvwxyz";
const anyOf = `${digits}${letters}${letters.toUpperCase()}`;

/** Fewer random characters could be guessed, or stand in an answer by chance. */
const fewestRandom = 32;
const mostRandom = 128;

/**
 * A random text that says of the secret only what a reader of the provider's documents knows: its
 * prefix, its alphabet, and its length as the next power of two. It is made of letters and digits,
 * so that no encoding of a URL, a form, a header or JSON changes it.
 */
function inventPlaceholder(secret: string): string {
  const [prefix = ""] = knownPrefix.exec(secret) ?? [];
  const rest = secret.slice(prefix.length);
  const alphabet = /^\d+$/.test(rest)
    ? digits
    : /^[0-9a-f]+$/.test(rest)
      ? hex
      : /^[0-9A-F]+$/.test(rest)
        ? hex.toUpperCase()
        : anyOf;
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, rest.length)));
  const random = Array.from(
    { length: Math.min(mostRandom, Math.max(fewestRandom, length)) },
    () => alphabet[randomInt(alphabet.length)],
  );
  // A number may not begin with a zero, and would lose it.
  if (alphabet === digits) random[0] = digits[1 + randomInt(9)];
  return prefix.replace(/[^\w-]/g, "") + random.join("");
}

interface Hidden {
  readonly form: RegExp | string;
  readonly placeholder: string;
}

/** The forms of each secret that a provider sends back for use: longer ones first. */
function hiddenForms(placeholders: ReadonlyMap<string, string>): Hidden[] {
  return [...placeholders]
    .flatMap(([secret, placeholder]) =>
      [...new Set([secret, ...[inJson, inUrl, inForm].map((encode) => encode(secret))])].map(
        (text) => ({ text, placeholder }),
      ),
    )
    .sort((a, b) => b.text.length - a.text.length)
    .map(({ text, placeholder }) => ({ form: formOf(text), placeholder }));
}

/** An expression takes no text of any length; what is left of a longer one is redacted. */
const longestForm = 1_000;

/** A short or plain secret is one only where it stands alone: "test" is in every text. */
function formOf(text: string): RegExp | string {
  const escaped = RegExp.escape(text.slice(0, longestForm));
  if (text.length < 6) return new RegExp(`(?<=")${escaped}(?=")`, "g");
  if (text.length < 10 || /^\d+$/.test(text) || new Set(text).size < 5)
    return new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, "g");
  return text;
}

/** A text as it stands in a JSON string. */
export const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
/** A text as it stands in a segment of a path, and in a query. */
export const inUrl = (text: string): string => encodeURIComponent(text.toWellFormed());
/** A text as it stands in a form. */
export const inForm = (text: string): string =>
  new URLSearchParams([["", text]]).toString().slice(1);
