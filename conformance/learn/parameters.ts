/**
 * The parameters of a request by key: "?name" in the query, "/options/count" in a JSON or form
 * body, "@name" in a header that is matched.
 */
import { parseExact } from "svc-connectors";
import { isPlainObject } from "svc-connectors/host";
import { jsonLeaves, scalarText, toText } from "./json.ts";

export type Parameters = ReadonlyMap<string, string>;

export function readParameters(
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const name of new Set(url.searchParams.keys()))
    parameters.set(`?${name}`, listText(url.searchParams.getAll(name)));
  for (const [key, value] of readBody(body)) parameters.set(key, value);
  for (const [name, value] of Object.entries(headers)) parameters.set(`@${name}`, value);
  return parameters;
}

const listText = (values: readonly string[]) =>
  values.length === 1 ? (values[0] ?? "") : JSON.stringify(values);

function readBody(body: string): [string, string][] {
  if (body === "") return [];
  if (/^\s*[{[]/.test(body)) {
    try {
      const tree = parseExact(body);
      if (isPlainObject(tree))
        return [...jsonLeaves(tree)].map(([pointer, value]) => [
          pointer,
          scalarText(value) ?? toText(value),
        ]);
    } catch {
      // Not JSON: the whole text is the parameter.
    }
    return [["/", body]];
  }
  if (!/^[^\s=&]+=/.test(body)) return [["/", body]];
  return [...new URLSearchParams(body)].map(([name, value]) => [`/${name}`, value]);
}

/** Parameters without these keys, as one text: the same for the same rest. */
export function restText(parameters: Parameters, except: ReadonlySet<string>): string {
  const rest = [...parameters]
    .filter(([key]) => !except.has(key))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(rest);
}

/** The parameter's name as settings and reports have it: without what says where it stands. */
export const publicName = (key: string) => key.slice(1);
export const isInBody = (key: string) => key.startsWith("/");

/** The key of a parameter that settings name. */
export function keyOfName(name: string, seen: Iterable<Parameters>): string {
  for (const parameters of seen)
    for (const key of [`?${name}`, `/${name}`]) if (parameters.has(key)) return key;
  return `?${name}`;
}

/** The parameter's value when it is a whole number that a double holds. */
export function integerOf(parameters: Parameters, key: string): number | undefined {
  return toInteger(parameters.get(key));
}

export function toInteger(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Names of parameters that say how many rows a page has. */
export const sizeName =
  /^(\$?limit|(.*[^a-z])?per_?page|(.*[^a-z])?page_?size|count|first|size|max_?results|results_?per_?page|take|\$?top|rows|page\[(size|limit)\])$/i;

/** Names of parameters by which newer rows are asked for; they do not say a page. */
export const filterName =
  /since|gte?\b|_gte?$|updated|modified|changed|created|_from$|^from$|start_?(date|time)|_after$/i;
