/** Values that a connector puts into its requests. */
import { parseExact } from "svc-connectors";
import type { ProviderRequest } from "../../contract/network.ts";
import type { Observation } from "../../contract/observation.ts";
import { jsonLeaves, scalarText } from "../../learn/json.ts";

/** Segments of paths, and values in queries and bodies, decoded. */
export function requestedValues({ exchanges }: Observation): ReadonlySet<string> {
  return new Set(exchanges.flatMap(({ request }) => valuesOfRequest(request)));
}

export const valuesOfRequest = ({
  url,
  body,
}: Pick<ProviderRequest, "url" | "body">): readonly string[] => [
  ...url.pathname.split("/").map(decodedSegment),
  ...[...url.searchParams.values()].flatMap((value) => [value, ...value.split(",")]),
  ...bodyValues(body),
];

export function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Of JSON, or of a form. */
export function bodyValues(body: string): string[] {
  if (body === "") return [];
  try {
    return valuesIn(parseExact(body));
  } catch {
    return [...new URLSearchParams(body).values()];
  }
}

const valuesIn = (tree: unknown): string[] =>
  [...jsonLeaves(tree).values()].flatMap((leaf) =>
    Array.isArray(leaf) ? leaf.flatMap(valuesIn) : (scalarText(leaf) ?? []),
  );
