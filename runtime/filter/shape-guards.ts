/**
 * Finds texts that give our inside away by their shape, whatever the values are: stack frames, keys
 * and tokens, internal paths, images. Each pattern works on plain text, inside a JSON string (a
 * line break is `\n` as two characters) and inside JSON in JSON.
 */
import { toPointer } from "../wire/json-pointer.ts";

export interface FoundShape {
  readonly shape: ShapeName;
  readonly index: number;
  readonly length: number;
}

/** Start of a line of output, also of one that JSON escaped, or of a string. */
const lineStart = String.raw`(?<=^|[\r\n"'${"`"}]|\\[nr])[ \t]*(?:\\t)*`;
/** A slash, as PHP escapes it too. */
const slash = String.raw`(?:\\{0,4}/)`;
/**
 * The part of a word that stands before a known end; tried at the start of the word only, or long
 * words would take long.
 */
const wordOf = (characters: string) => `(?:(?<!${characters})${characters}{1,300})?`;
const fileName = wordOf(String.raw`[\w./@-]`);
const anyWord = wordOf(String.raw`[^\s"'()]`);
const quote = String.raw`\\{0,4}"`;
const roots =
  "home|root|usr|var|etc|opt|app|srv|tmp|proc|mnt|run|workspace|build|src|Users|nix|private|snap|sys|builds|github|code";
const drives =
  "Users|Windows|Program Files|ProgramData|Documents|inetpub|temp|tmp|repos?|build|runner|(?![nrtbfu])[\\w.-]+";

/** Lengths are bounded, so that no text takes long. */
const patterns = {
  "JavaScript stack": [
    String.raw`${lineStart}at (?:(?!\\n)[^\n"]){0,200}?\(?(?:file:${slash}|node:|webpack|${slash}|[A-Za-z]:[\\/]|<anonymous>)[^\s"()]{0,300}?:\d+:\d+\)?`,
    String.raw`${lineStart}at (?:(?!\\n)[^\n"]){0,200}?\((?:<anonymous>|native|index \d+)\)`,
  ],
  "Python stack": [
    String.raw`Traceback \(most recent call last\)`,
    String.raw`File ${quote}(?:(?!\\n)[^"\n]){1,300}${quote}, line \d+(?:, in [\w<>.]+)?`,
  ],
  "Java or .NET stack": [
    String.raw`${lineStart}at [\w$+/@<>${"`"}-]+(?:\.[\w$+<>${"`"}\[\]-]+)+\([^)\n]{0,200}\)(?: in (?:(?!\\n)[^\n"]){1,300}?:line \d+)?`,
    String.raw`\([\w$]+\.(?:java|kt|scala|groovy):\d+\)`,
    String.raw`Caused by: [\w.$]{1,200}(?:Exception|Error)\b`,
    String.raw` in (?:(?!\\n)[^\n"]){1,300}?:line \d+`,
  ],
  "Go stack": [
    String.raw`goroutine \d+ \[[^\]\n]{1,100}\]:`,
    String.raw`${fileName}\.go:\d+ \+0x[0-9a-f]+`,
  ],
  "PHP stack": [
    String.raw`Stack trace:(?:\s|\\[nr])*#0`,
    String.raw`#\d+ \{main\}`,
    String.raw`#\d+ ${slash}[^\s"]{1,300}\(\d+\): [^\n"\\]{0,200}`,
  ],
  "Rust stack": [
    String.raw`thread '[^'\n]{1,100}' (?:\(\d+\) )?panicked at`,
    String.raw`${fileName}\.rs:\d+:\d+`,
  ],
  "Ruby stack": [String.raw`${fileName}:\d+:in ['${"`"}][^'\n]{0,200}'?`],
  "Perl stack": [String.raw`\bat [\w./-]{1,300}\.p[lm] line \d+`],
  PEM: [String.raw`-----BEGIN [A-Z0-9 ]{1,60}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,60}-----|$)`],
  JWT: [
    String.raw`(?<![\w-])eyJ[\w-]{8,4000}\.[\w-]{4,4000}\.[\w-]{0,4000}(?:\.[\w-]{1,4000}){0,2}`,
  ],
  path: [
    String.raw`(?<=^|[\s"'${"`"}(=:,\[<>{|]|\\[nrt])${slash}(?:${roots})${slash}(?:(?!\\[nrt])[^\s"'${"`"}()<>,;|]){2,400}`,
    String.raw`(?<![A-Za-z0-9])[A-Za-z]:(?:\\+|/)(?:${drives})[\\/](?:[^\s"'${"`"}()<>,;|]){0,400}`,
    String.raw`file:${slash}${slash}[^\s"'()]{0,400}`,
    String.raw`node:internal/[\w/]{0,200}`,
    String.raw`${anyWord}(?:node_modules|site-packages)(?:\\+|${slash})[^\s"'()]{0,400}`,
    String.raw`${anyWord}(?:/var/run/secrets|docker\.sock|/sys/fs/cgroup)[^\s"'()]{0,400}`,
  ],
  image: [
    String.raw`(?<![\w/.:-])(?:[\w.-]+(?::\d+)?/)*[\w.-]+(?::[\w.-]+)?@sha256:[0-9a-f]{64}`,
    String.raw`(?<![\w/.:@-])(?:(?:[a-z0-9-]+\.)+[a-z]{2,}|localhost)(?::\d+)?(?:/[a-z0-9._-]+)+:[A-Za-z0-9_][\w.-]*`,
    String.raw`(?<![\w/.:@-])[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*:(?:latest\b|v?\d+\.\d[\w.-]*)`,
  ],
} as const;

export type ShapeName = keyof typeof patterns;

const compiled = Object.entries(patterns).map(
  ([name, sources]) =>
    [
      name as ShapeName,
      new RegExp(sources.map((source) => `(?:${source})`).join("|"), "g"),
    ] as const,
);

/**
 * Every shape in the text, in order of position. One place may have several: a path inside a stack
 * frame is both.
 */
export function findShapes(text: string): FoundShape[] {
  return compiled
    .flatMap(([shape, pattern]) =>
      [...text.matchAll(pattern)].map((match) => ({
        shape,
        index: match.index,
        length: match[0].length,
      })),
    )
    .sort((a, b) => a.index - b.index);
}

/**
 * Property names that no answer of the Control API has at any depth, without `_`, `-` and letter
 * case: exact names of its contract, in which `token` and `credential` are names of answers. All
 * other questions about a secret's name are for `isSecretName`.
 */
export const forbiddenFields: ReadonlySet<string> = new Set(
  [
    "access_token refresh_token id_token client_secret authorization cookie set-cookie password api_key private_key",
    "stack stackTrace trace cause image imageTag container containerId pod node runtimeId pid host hostname env argv",
    "internal_message raw rawResponse request",
  ].flatMap((names) => names.split(" ").map(plainName)),
);

/**
 * JSON pointers (RFC 6901) of the forbidden properties in a value, at any depth; `headers` counts
 * inside a `config`.
 */
export function findForbiddenFields(value: unknown, pointer = "", parent = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const here = pointer + toPointer(name);
    const plain = plainName(name);
    const isForbidden =
      !Array.isArray(value) &&
      (forbiddenFields.has(plain) || (parent === "config" && plain === "headers"));
    return [...(isForbidden ? [here] : []), ...findForbiddenFields(inner, here, plain)];
  });
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, "");
}
