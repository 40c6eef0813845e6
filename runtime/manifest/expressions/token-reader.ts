/** Takes the words of an expression one after another. */
import { invalid, Unsupported } from "../document/invalid.ts";
import type { Token } from "./tokens.ts";

/** How deep expressions may be nested in another. */
const maxDepth = 50;

export interface TokenReader {
  /** The token that many places on, which stays; undefined behind the last one. */
  next(places?: number): Token | undefined;
  /** Goes on by that many tokens. @returns the first of them */
  skip(count?: number): Token | undefined;
  /** True when the next word is this one. */
  peek(text: string): boolean;
  /** Takes the next word when it is one of these. */
  take(...texts: string[]): string | undefined;
  /** @throws CONNECTOR_INVALID when the next word is another one */
  expect(text: string): void;
  /** Takes a name. @throws CONNECTOR_INVALID when something else is next */
  name(): string;
  /** @throws Unsupported when none of the names is this one */
  known(kind: string, one: string, names: readonly string[]): string;
  /** Parses what is nested. @throws CONNECTOR_INVALID when that is too deep */
  deeper<T>(parse: () => T): T;
  fault(problem: string): Error;
}

export function createTokenReader(tokens: readonly Token[], path: string): TokenReader {
  let at = 0;
  let depth = 0;
  const fault = (problem: string) => invalid(path, `holds an expression that ${problem}`);
  const next = (places = 0) => tokens[at + places];
  const skip = (count = 1) => {
    const token = tokens[at];
    at += count;
    return token;
  };
  const peek = (text: string) => isWord(next(), text);
  const take = (...texts: string[]) => {
    const found = texts.find(peek);
    if (found !== undefined) at++;
    return found;
  };
  return {
    next,
    skip,
    peek,
    take,
    expect(text) {
      if (!take(text)) throw fault(`lacks "${text}"`);
    },
    name() {
      const token = skip();
      if (token?.kind !== "name") throw fault("lacks a name");
      return token.text;
    },
    known(kind, one, names) {
      if (names.includes(one)) return one;
      throw new Unsupported(
        path,
        `holds an expression that uses the ${kind} ${one}, which is not supported`,
      );
    },
    deeper(parse) {
      if (++depth > maxDepth) throw fault(`is nested deeper than ${maxDepth} levels`);
      const parsed = parse();
      depth--;
      return parsed;
    },
    fault,
  };
}

export const isWord = (token: Token | undefined, text: string): boolean =>
  token !== undefined && "text" in token && token.text === text;
