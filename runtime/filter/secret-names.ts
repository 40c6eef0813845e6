/**
 * Names of settings, fields, parameters, header fields and columns, and whether a secret stands
 * under them: the only list of such names in the tree. Names count by their words: "apiKey",
 * "API-Key" and "api_key" are one name.
 */
import { withoutEnd } from "../wire/without-end.ts";
/**
 * How sure a name has to make us. Each level says yes to all that the levels before it say yes to;
 * only `exchange` and `mention` stand side by side.
 *
 * - `setting`: the value is a secret, surely. A spec that declares such a setting and does not mark
 *   it is wrong, and a request that carries such a parameter proves who asks with it. A wrong yes
 *   would accuse an honest connector, so that what only speaks about a secret (its address, its
 *   owner, its policy) is left out.
 * - `exchange`: `setting`, and what providers give out or ask for besides: sessions, signatures,
 *   one-time passwords, the id of an access key. Recordings are published, so that their redaction
 *   is stricter than a spec has to be.
 * - `mention`: `setting`, and every name with a word for a secret in it. The Control API keeps and
 *   shows no value under such a name; a wrong yes costs a column of a preview or a line of a
 *   proposal. Only what cannot hold a secret is left out: counts, times, kinds, switches.
 * - `suspicion`: both of them, and words that secrets share with other things ("auth", "session",
 *   "private"). For a value that already looks like a secret, or a header field.
 * - `hint`: any fragment that some secret's name has, without exceptions. For a value that is known
 *   to be a secret of the run.
 */
export const secretNameLevels = ["setting", "exchange", "mention", "suspicion", "hint"] as const;
export type SecretNameLevel = (typeof secretNameLevels)[number];

/** Whether a secret stands under the name. @see SecretNameLevel */
export function isSecretName(name: string, level: SecretNameLevel): boolean {
  return tests[level](parsed(name));
}

/**
 * A place in a listing, which is secret at no level but `hint`: providers give it out to get it
 * back.
 */
export const isPagingName = (name: string): boolean => paging.test(parsed(name).plain);

interface ParsedName {
  /** Lower case, singular, without digits at the end: "API-Tokens_2" is "api", "token". */
  readonly words: readonly string[];
  /** The words that may speak about a secret, with "_" between them. */
  readonly joined: string;
  /** All words without what separates them: "accesstoken". */
  readonly plain: string;
}

const tests: Readonly<Record<SecretNameLevel, (name: ParsedName) => boolean>> = {
  setting: (name) => isCertain(name) && !about.has(last(name)) && !isExempt(name),
  exchange: (name) => tests.setting(name) || (isExchanged(name) && !isExempt(name)),
  mention: (name) =>
    tests.setting(name) || ((isMentioned(name) || isCertain(name)) && !isHarmless(name)),
  suspicion: (name) =>
    tests.exchange(name) || tests.mention(name) || (isSuspect(name) && !isHarmless(name)),
  hint: (name) => tests.suspicion(name) || fragment.test(name.plain),
};

/** One of these words makes a name secret wherever it stands: "github_password_2". */
const certainWord =
  /(?:^|_)(?:secret|password|passwd|passphrase|pwd|credential|jwt|bearer|authori[sz]ation)(?:_|$)/;
/** These only at the end: "api_token", "clientsecret", but not "token_url". */
const certainEnd = /(?:token|cookie|secret|password|passwd|passphrase|pwd|jwt|(?:^|_)pat)$/;
/** "api_key", "privateKeyPem": what makes a key a secret one. */
const certainKey =
  /(?:(?:^|_)(?:app|application|account|auth|master|subscription|service|license|hmac|webhook)|api|access|private|secret|signing|encryption|shared)_?key(?:_(?:pem|json|base|value))?$/;
const certainForm = /(?:^|_)(?:connection_string|dsn|service_account(?:_(?:json|info|key|file))?)$/;
const isCertain = ({ joined }: ParsedName) =>
  [certainWord, certainEnd, certainKey, certainForm].some((pattern) => pattern.test(joined));

const exchangedEnd =
  /(?:signature|credential|authori[sz]ation|session_?ids?|session_?key|hmac|assertion|csrf|xsrf|access_?key_?ids?|secret_?ids?)$/;
/** Too common to be a part of a name. */
const exchangedNames = new Set(["pass", "sig", "otp", "session", "auth", "bearer"]);
const isExchanged = ({ joined, plain }: ParsedName) =>
  exchangedEnd.test(joined) || exchangedNames.has(plain);

const isMentioned = ({ joined }: ParsedName) =>
  /api_?key|secret|token|passw|authori[sz]ation|private_?key|credential/.test(joined);

const isSuspect = ({ joined }: ParsedName) =>
  /passw|session|signature|cookie|jwt|auth(?!or(?!i[sz]))|bearer|private|access_?key/.test(joined);

const fragment = /pass|pwd|token|secret|key|auth|sig|cred|code/;

const paging =
  /(?:next|prev|previous|page|paging|pagination|cursor|continuation|continue|(?<!a)sync|delta|resume|resumption|start|scroll|after|before|since|offset|position|marker|iterator)token$|cursor$/;
/** "max_tokens": a number of them. */
const quantity = /^(?:max|maximum|min|minimum|total|num|numberof|prompt|completion)token$/;
const isExempt = ({ plain }: ParsedName) => paging.test(plain) || quantity.test(plain);

/**
 * Words that hold a word for a secret and are none. A credential's handle and id are there to be
 * shown.
 */
const innocent =
  /(?<=^|_)(?:passwordless|secretar(?:y|ie|iat)|tokeni[sz](?:e|er|ed|ing|ation)|credential_(?:handle|ids?))(?=_|$)/g;

/** Last words of names whose values cannot be secrets: "token_count", "password_expiry". */
const harmless = new Set([
  "algorithm",
  "count",
  "enabled",
  "expire",
  "expiry",
  "format",
  "length",
  "limit",
  "method",
  "mode",
  "policy",
  "required",
  "scope",
  "style",
  "type",
  "version",
]);
/**
 * These only where something stands between them and the secret: "password_expires_at" is a time,
 * "password_day" may be that day's password, and whoever has a "token_id" may be let in.
 */
const harmlessApart = new Set(["at", "day", "id", "ids", "in", "minute", "second"]);
const endsInSecret =
  /(?:api_?key|secret|token|passw(?:or)?d|passphrase|authori[sz]ation|private_?key|credential)$/;
/** Last words of names that describe a secret, and may show something of it: "token_url". */
const about = new Set([
  ...harmless,
  ...harmlessApart,
  "endpoint",
  "field",
  "flow",
  "grant",
  "handle",
  "header",
  "location",
  "name",
  "path",
  "prefix",
  "region",
  "title",
  "uri",
  "url",
]);
const isHarmless = (name: ParsedName) =>
  isExempt(name) ||
  ((harmless.has(last(name)) || isApart(name)) && !exchangedEnd.test(name.joined));
const isApart = ({ words }: ParsedName) =>
  harmlessApart.has(words.at(-1) ?? "") && !endsInSecret.test(words.slice(0, -1).join("_"));

const last = ({ words }: ParsedName) => words.at(-1) ?? "";

function parsed(name: string): ParsedName {
  const words = name
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, "$1_$2")
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1_$2")
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .map((word) => singular(withoutEnd(word, isDigit)))
    .filter((word) => word !== "");
  const joined = words
    .join("_")
    .replaceAll(innocent, "")
    .replaceAll(/^_+|_+(?=_|$)/g, "");
  return { words, joined, plain: words.join("") };
}

const isDigit = (character: string) => character >= "0" && character <= "9";

/** "tokens" is "token"; "access", "status" and "aws" stay. */
const singular = (word: string) =>
  word.length > 3 && word.endsWith("s") && !/(?:ss|us|is)$/.test(word) ? word.slice(0, -1) : word;
