/**
 * YAML of strangers: composed up to its first fault, and no further. The library writes a message
 * for each fault that quotes the line around it, and a text of 64 KiB may have 64,000 of them.
 */
import {
  Composer,
  type CST,
  type Document,
  type DocumentOptions,
  type ErrorCode,
  isScalar,
  Lexer,
  LineCounter,
  type Node,
  type ParsedNode,
  type ParseOptions,
  Parser,
  type SchemaOptions,
  visit,
} from "yaml";
import { budgets } from "../contract/budgets.ts";

/** Why a text is no document that is read here. */
export class YamlFault extends Error {
  override readonly name = "YamlFault";
  readonly code: ErrorCode | "TOO_MANY_ALIASES" | "TOO_MANY_TOKENS";
  /** Counted from 1. */
  readonly line: number;

  constructor(code: YamlFault["code"], line: number) {
    super(`${code} in line ${line}`);
    this.code = code;
    this.line = line;
  }
}

export interface YamlDocument {
  readonly document: Document.Parsed<ParsedNode>;
  readonly lineOf: (position: number) => number;
}

/** Each is looked for from the beginning of the document. */
const maxAliases = 2_000;

/**
 * The first and only document of a text. A key may stand twice: @see duplicateKey
 * @param maxTokens Infinity for what the reader's own user has written down
 * @throws YamlFault for the first fault, warnings included
 */
export function parseYamlDocument(
  text: string,
  options: ParseOptions & DocumentOptions & SchemaOptions = {},
  maxTokens: number = budgets.yamlTokens.count[0],
): YamlDocument {
  const lines = new LineCounter();
  const lineOf = (position: number) => Math.max(1, lines.linePos(position).line);
  const composer = new Composer({
    // It compares each key with each other one.
    uniqueKeys: false,
    stringKeys: true,
    logLevel: "error",
    ...options,
  });
  let first: YamlFault | undefined;
  // Its own collects them all. A test with doubling sizes notices when the library has another one.
  (composer as unknown as { onError: (place: Place, code: ErrorCode) => never }).onError = (
    place,
    code,
  ) => {
    // The library catches what is thrown inside of a collection, and tells it as another fault.
    first ??= new YamlFault(code, lineOf(positionOf(place)));
    throw first;
  };
  let document: Document.Parsed<ParsedNode> | undefined;
  for (const one of composer.compose(tokensOf(text, lines, maxTokens), true, text.length)) {
    if (document) throw new YamlFault("MULTIPLE_DOCS", lineOf(one.range[0]));
    document = one as Document.Parsed<ParsedNode>;
  }
  const composed = document as Document.Parsed<ParsedNode>;
  const fault = composed.errors[0] ?? composed.warnings[0];
  if (fault) throw new YamlFault(fault.code, lineOf(fault.pos[0]));
  let aliases = 0;
  visit(composed, {
    Alias(_, { range }) {
      if (++aliases > maxAliases) throw new YamlFault("TOO_MANY_ALIASES", lineOf(range?.[0] ?? 0));
    },
  });
  return { document: composed, lineOf };
}

/**
 * Parses a text with the library's parser; a token of its own stands where nothing can. Each
 * lexeme costs the parser as much as the next, whether it is a letter or a long text: they are
 * counted before anything is made of them.
 */
function* tokensOf(
  text: string,
  lines: LineCounter,
  maxTokens: number,
): Generator<CST.Token, void> {
  const lexer = new Lexer();
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let count = 0;
  const checked = function* (tokens: Iterable<CST.Token>) {
    for (const token of tokens) {
      if (token.type === "error")
        throw new YamlFault("UNEXPECTED_TOKEN", lines.linePos(token.offset).line);
      yield token;
    }
  };
  for (const lexeme of lexer.lex(text)) {
    if (++count > maxTokens) throw new YamlFault("TOO_MANY_TOKENS", lines.lineStarts.length);
    yield* checked(parser.next(lexeme));
  }
  yield* checked(parser.end());
}

/** As the composer of the library says where a fault is. */
type Place =
  | number
  | readonly [number, number]
  | { readonly offset: number; readonly range?: readonly number[] };

function positionOf(place: Place): number {
  if (typeof place === "number") return place;
  return "offset" in place ? place.offset : place[0];
}

/** Where the first key stands that its map has already. */
export function duplicateKey(contents: Node | null): number | undefined {
  let found: number | undefined;
  visit(contents, {
    Map(_, map) {
      const keys = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) {
          found = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        keys.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}
