import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";
import { beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const units = ["runtime", "connectors", "conformance", "control", "console"];

interface Source {
  readonly file: string;
  readonly code: string;
}

/** A comment, and the lines of source that it stands in. */
interface Comment {
  readonly at: string;
  readonly text: string;
  readonly lines: readonly string[];
}

/** A parser tells comments from texts, templates and patterns that look like some. */
function commentsOf({ file, code }: Source): Comment[] {
  const { comments, errors } = parseSync(file, code);
  if (errors.length > 0) throw new Error(`${file} has a syntax error`);
  const lines = code.split("\n");
  const lineAt = createLineCounter(lines);
  return comments.map(({ start, end, value }) => {
    const [from, to] = [lineAt(start), lineAt(end)];
    const text = value.replace(/^[\s*]+/, "");
    return { at: `${file}:${from + 1}`, text, lines: lines.slice(from, to + 1) };
  });
}

/** The names of the types and interfaces that it declares and exports. */
const typesOf = ({ code }: Source): string[] =>
  [...code.matchAll(/^export (?:declare )?(?:interface|type) (\w+)/gm)].map(
    ([, name = ""]) => name,
  );

/** Gives the line of a position, for positions in ascending order. */
function createLineCounter(lines: readonly string[]): (position: number) => number {
  let line = 0;
  let end = lines[0]?.length ?? 0;
  return (position) => {
    while (position > end) end += (lines[++line]?.length ?? 0) + 1;
    return line;
  };
}

const sourcesOf = (unit: string): Source[] =>
  readdirSync(root + unit, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => ({
      file: `${unit}/${name}`,
      code: readFileSync(`${root}${unit}/${name}`, "utf8"),
    }));

describe("comments", () => {
  let comments: readonly Comment[];
  beforeAll(() => {
    comments = units.flatMap((unit) => sourcesOf(unit).flatMap(commentsOf));
  });

  test("are found", () => expect(comments.length).toBeGreaterThan(5_000));

  test("say what a thing is or does: none begins with What", () => {
    const without = comments.filter(({ text }) => /^What\b(?!.*\?)/.test(text));
    expect(without.map(({ at, text }) => `${at}: ${text}`)).toEqual([]);
  });

  test("have lines of at most 100 columns, where a line can be broken", () => {
    const long = comments.flatMap(({ at, lines }) =>
      lines.filter((line) => [...line].length > 100 && isBreakable(line)).map((line) => [at, line]),
    );
    expect(long).toEqual([]);
  });
});

/** Commands and diagrams are indented; an address is one word; what a linter reads is one line. */
const isBreakable = (line: string): boolean =>
  !/^\s*\* {5,}|^\s*(\*|\/\/) (@\w+ )?https?:\/\/\S+$|biome-ignore/.test(line);

describe.each(["runtime", "control", "conformance"])("a name in %s", (unit) => {
  test("is exported as one type only", () => {
    const places = Map.groupBy(
      sourcesOf(unit).flatMap((source) =>
        typesOf(source).map((name) => ({ name, file: source.file })),
      ),
      ({ name }) => name,
    );
    const several = [...places]
      .filter(([, declared]) => declared.length > 1)
      .map(([name, declared]) => `${name}: ${declared.map(({ file }) => file).join(", ")}`);
    expect(several).toEqual([]);
  });
});

/** Words of a private English: what stands for each is in the field's own. */
const retired =
  /^(told|tells?|telling)$|^tells?[A-Z]|^told[A-Z]|[a-z](Told|Tell|Telling)$|[sS]tranger|^(Written|Look|Side|Tried|Fitted|Covered|Filled|Placed|Held|Derived|Asked)$|^(Manifest|Image|Connector)Facts$|[a-z]_facts$/;
/** Facts are the outbox of events: what has happened, in the table of that name. */
const kept = new Set(["event_facts"]);

/** The identifiers of a source that are retired words, each once, and where it comes first. */
function retiredIn({ file, code }: Source): string[] {
  if (!/told|tell|stranger|_facts|Facts|Written|Look|Side|[A-Z]\w+(ed|eld)\b/i.test(code))
    return [];
  const found = new Map<string, string>();
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { type, name, start } = node as { type?: string; name?: unknown; start?: number };
    if (/^(JSX)?Identifier$/.test(type ?? "") && typeof name === "string")
      if (retired.test(name) && !kept.has(name) && !found.has(name))
        found.set(name, `${file}:${code.slice(0, start).split("\n").length}: ${name}`);
    for (const child of Object.values(node)) if (typeof child === "object") visit(child);
  };
  visit(parseSync(file, code).program);
  return [...found.values()];
}

test.each(units)("identifiers in %s are the field's words", (unit) => {
  // The generated types of the API say what its documents say.
  const sources = sourcesOf(unit).filter(({ file }) => file !== "console/api/schema.ts");
  expect(sources.flatMap(retiredIn)).toEqual([]);
});
