/** Bodies that a listing's answer must not have: what a connector could take for an empty page. */
import { parsePointer } from "svc-connectors/host";
import type { Lab } from "../../contract/lab.ts";
import type { Exchange } from "../../contract/network.ts";

type Tree = { readonly [name: string]: unknown } | readonly unknown[];

export interface WrongBody {
  /** "a web page". */
  readonly name: string;
  readonly text: string;
  readonly contentType: string;
}

const json = "application/json";
const page =
  "<!DOCTYPE html>\n<html><head><title>Log in</title></head><body><form>Your session has ended.</form></body></html>";

/** Wrong in place of that answer, whatever rows it holds. */
export function wrongBodies({ answer }: Exchange): readonly WrongBody[] {
  const truth = answer?.body.toString("utf8") ?? "";
  const contentType = contentTypeOf(answer);
  const isTable = /\b(?:csv|tab-separated-values)\b/i.test(contentType);
  const isLines =
    isTable || /\b(?:ndjson|jsonl|jsonlines|json-lines|json-seq)\b/i.test(contentType);
  const says = (name: string, text: string): WrongBody => ({ name, text, contentType });
  // Lines that end with a whole row may be all that there are.
  const half = truth.slice(0, Math.max(1, truth.length >> 1)).replace(/\}\s*$/, "");
  return [
    { name: "a web page", text: page, contentType: "text/html; charset=utf-8" },
    says(`a web page that says it is ${contentType === json ? "JSON" : contentType}`, page),
    // Where each row is a line, no line is no row.
    ...(isLines ? [] : [says("an empty body", ""), says("blanks", " \n")]),
    // A row of a table may end anywhere.
    ...(isTable
      ? []
      : [
          says("JSON cut in half", half),
          says("JSON without its last character", truth.trimEnd().slice(0, -1)),
        ]),
    says("bytes that are no text", "\u0000\u0001PK\u0003\u0004\ufffd"),
  ];
}

const contentTypeOf = (answer: Exchange["answer"]) => answer?.headers["content-type"] ?? json;

/**
 * Wrong for an answer that holds rows: the document or the place of the rows is of another type.
 * None when it is no listing of an object.
 */
export function wrongShapes(lab: Lab, exchange: Exchange): readonly WrongBody[] {
  const found = rowsIn(lab, exchange);
  if (!found) return [];
  const { tree, steps } = found;
  const shape = (name: string, value: unknown): WrongBody => ({
    name,
    text: JSON.stringify(value),
    contentType: contentTypeOf(exchange.answer),
  });
  const documents = [
    shape("null", null),
    shape("a text", "unavailable"),
    shape("a number", 0),
    ...(steps.length > 0 ? [shape("a list", [])] : [shape("an object", {})]),
  ];
  if (steps.length === 0) return documents;
  const usual = emptyForms(lab, exchange, steps);
  return [
    ...documents,
    ...(usual.has("missing")
      ? []
      : [
          shape("an empty object", {}),
          shape("its rows under another name", replaceAt(tree, steps, undefined)),
        ]),
    ...(usual.has("null") ? [] : [shape("null for its rows", replaceAt(tree, steps, null))]),
    shape("an object for its rows", replaceAt(tree, steps, {})),
    shape("a text for its rows", replaceAt(tree, steps, "")),
  ];
}

/**
 * The answer's document with no rows in it and no next page; undefined when it is no listing of an
 * object.
 */
export function listingWithoutRows(
  lab: Lab,
  exchange: Exchange,
): { readonly [name: string]: unknown } | undefined {
  const found = rowsIn(lab, exchange);
  if (!found || found.steps.length === 0) return undefined;
  const emptied = replaceAt(found.tree, found.steps, []);
  const { paging } = found.listing;
  const next = "next" in paging && paging.next ? parsePointer(paging.next) : [];
  const ended =
    next.length > 0 && valueAt(emptied, next) !== undefined
      ? replaceAt(emptied, next, null)
      : emptied;
  return ended as { readonly [name: string]: unknown };
}

function rowsIn(lab: Lab, { request, answer }: Exchange) {
  const listing = lab.learned.listingOf(request);
  const tree = parse(answer?.body.toString("utf8") ?? "");
  if (!listing || !("rows" in listing.paging) || tree === undefined) return undefined;
  const steps = parsePointer(listing.paging.rows);
  return Array.isArray(valueAt(tree, steps)) ? { listing, tree, steps } : undefined;
}

/** How this provider itself writes that there are no rows: then it is no wrong shape. */
function emptyForms(
  lab: Lab,
  { request }: Exchange,
  steps: readonly string[],
): ReadonlySet<"missing" | "null"> {
  const forms = new Set<"missing" | "null">();
  for (const { request: recorded, response } of lab.recordings.flatMap(
    ({ interactions }) => interactions,
  )) {
    if (response.status !== 200 || new URL(recorded.url).pathname !== request.url.pathname)
      continue;
    const tree = parse(response.body ?? "");
    const value = tree === undefined ? [] : valueAt(tree, steps);
    if (value === undefined) forms.add("missing");
    if (value === null) forms.add("null");
  }
  return forms;
}

function parse(text: string): Tree | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Tree) : undefined;
  } catch {
    return undefined;
  }
}

const valueAt = (tree: unknown, steps: readonly string[]): unknown =>
  steps.reduce<unknown>(
    (value, step) =>
      typeof value === "object" && value !== null
        ? (value as Record<string, unknown>)[step]
        : undefined,
    tree,
  );

function replaceAt(
  tree: unknown,
  [step = "", ...rest]: readonly string[],
  value: unknown,
): unknown {
  if (typeof tree !== "object" || tree === null) return tree;
  const { [step]: old, ...others } = tree as Record<string, unknown>;
  if (rest.length > 0) return { ...others, [step]: replaceAt(old, rest, value) };
  return value === undefined ? { ...others, [`${step}_v2`]: old } : { ...others, [step]: value };
}
