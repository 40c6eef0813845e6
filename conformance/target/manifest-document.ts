/**
 * A declarative manifest as the kit knows it beside its runs: where in its text a failure comes
 * from, and which rules its author can do nothing about.
 */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import type { TargetDocument } from "../contract/target.ts";

/** Rules of what the runtime does for every manifest, as Airbyte's own interpreter does it. */
const ofTheRuntime: Readonly<Record<string, string>> = {
  "STATE-08":
    "a manifest has no say in the form of its states: they are Airbyte's own, and what is none of them counts as none",
  "STATE-12":
    "a manifest has no say in when its state is written: after each window of its cursor, and at the end",
  "STATE-09":
    "a manifest has no say in what moves its cursor: rows do, as in Airbyte, those of the future too",
  "PAGE-08":
    "a manifest cannot count the rows of its pages: no component compares them with a total",
};

/** Single cases of rules, as their failures tell them. */
const casesOfTheRuntime: Readonly<Record<string, RegExp>> = {
  "ERROR-03": /with null in place of its last row/,
  // Records are columns: a field that may be null is null where it is missing.
  "SCHEMA-05": / is missing in row \d+ of .*, and null stands in the record/s,
  // Rows move the cursor, as STATE-09 has it.
  "STATE-11": /, and one of (?:a later page|another parent) /,
};

/** Rules that an error handler of a manifest takes over. */
const ofErrorHandlers: Readonly<Record<string, string>> = {
  "RETRY-02":
    "no component of a manifest reads a date of Retry-After, where it has an error handler",
  "RETRY-04":
    "where a manifest has an error handler, its waits are those of Airbyte, without chance",
};

/** The component that decides what a group of rules is about. */
const partOf: Readonly<Record<string, readonly string[]>> = {
  PAGE: ["retriever", "paginator"],
  STATE: ["incremental_sync"],
  SCHEMA: ["schema_loader"],
  DISC: ["schema_loader"],
  AUTH: ["retriever", "requester", "authenticator"],
  ERROR: ["retriever", "requester", "error_handler"],
  RETRY: ["retriever", "requester", "error_handler"],
  NET: ["retriever", "requester"],
  READ: ["retriever", "record_selector"],
};

/** Groups of rules about the settings. */
const ofSettings = new Set(["SPEC", "CHECK"]);

/** @param file its name, as reports show it */
export function openDocument(text: string, file: string): TargetDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, logLevel: "silent" });
  const hasErrorHandler = /\berror_handler\b/.test(text);
  const open = new Set<string>();
  const at = (path: readonly (string | number)[]) => follow(document.contents, path);
  const streams = at(["streams"]);
  const nodes = isSeq(streams) ? streams.items.map((item) => resolved(item as Node)) : [];
  const named = nodes.flatMap((node) => {
    const name = isMap(node)
      ? (node.get("name") ?? node.getIn(["$parameters", "name"]) ?? textAt(node, "name"))
      : undefined;
    return typeof name === "string" ? [{ name, node: node as Node }] : [];
  });

  /** A text that stands where its node refers to. */
  function textAt(node: Node, name: string): unknown {
    const found = childOf(node, name);
    return isScalar(found) ? found.value : undefined;
  }

  /** Follows a path as far as it leads, through references. */
  function follow(from: unknown, path: readonly (string | number)[]): Node | undefined {
    let found = resolved(from as Node);
    for (const step of path) {
      const next = childOf(found, step);
      if (next === undefined) return found;
      found = next;
    }
    return found;
  }

  function childOf(node: Node | undefined, step: string | number): Node | undefined {
    if (!isMap(node) && !isSeq(node)) return undefined;
    const own = node.get(step, true) as Node | undefined;
    if (own) return resolved(own);
    const reference = isMap(node) ? node.get("$ref") : undefined;
    return typeof reference === "string" ? childOf(referred(reference), step) : undefined;
  }

  function resolved(node: Node | undefined): Node | undefined {
    if (isAlias(node)) return node.resolve(document);
    const value = isScalar(node) ? node.value : undefined;
    return typeof value === "string" && value.startsWith("#/") ? referred(value) : node;
  }

  function referred(reference: string): Node | undefined {
    // A document that refers to itself is refused before a rule asks.
    if (open.has(reference)) return undefined;
    open.add(reference);
    try {
      return follow(document.contents, reference.slice(2).split("/"));
    } finally {
      open.delete(reference);
    }
  }

  return {
    beyondItsAuthor: (rule) =>
      ofTheRuntime[rule] ?? (hasErrorHandler ? ofErrorHandlers[rule] : undefined),
    isOfTheRuntime: (rule, sentence) => casesOfTheRuntime[rule]?.test(sentence) ?? false,
    placeOf(rule, sentence) {
      const group = rule.replace(/-\d+$/, "");
      const stream = named
        .filter(
          ({ name }) => sentence.startsWith(name) && /^\W|^$/.test(sentence.slice(name.length)),
        )
        .toSorted((one, other) => other.name.length - one.name.length)[0];
      const node = stream
        ? follow(stream.node, partOf[group] ?? [])
        : ofSettings.has(group)
          ? at(["spec", "connection_specification"])
          : undefined;
      const offset = node?.range?.[0];
      return offset === undefined ? undefined : `${file}:${lines.linePos(offset).line}`;
    },
  };
}
