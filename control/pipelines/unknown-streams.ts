/** Why a stream that a request names is none, in words for who has named it. */
import type { FieldFault } from "../contract/reasons.ts";
import { identityOf } from "./selection.ts";

interface Named {
  readonly name: string;
  readonly namespace?: string | null | undefined;
}

/** Most namespaces that one fault names, and characters of each. */
const maxNamed = 5;
const maxLength = 100;

const identity = ({ name, namespace }: Named): string =>
  identityOf({ name, ...(namespace ? { namespace } : {}) });

/**
 * A fault for each stream that is not among the known ones. Where only the namespace is missing or
 * another one, it names the right one.
 * @param owner "the source", "the pipeline"
 * @param seenAt when the source was asked; undefined: just now
 */
export function unknownStreams(
  streams: readonly Named[],
  known: readonly Named[],
  { owner, seenAt }: { readonly owner: string; readonly seenAt?: Date | undefined },
): FieldFault[] {
  const identities = new Set(known.map(identity));
  const unknown = streams.flatMap((stream, index) =>
    identities.has(identity(stream)) ? [] : [{ stream, index }],
  );
  if (unknown.length === 0) return [];
  const namespaces = Map.groupBy(known, ({ name }) => name);
  return unknown.map(({ stream, index }) => {
    const alike = namespaces.get(stream.name);
    if (!alike)
      return {
        path: `streams.${index}`,
        reason: "stream_unknown",
        message: seenAt
          ? `was no stream of ${owner} at ${seenAt.toISOString()}: if it is newer, prepare again with refresh`
          : `is no stream of ${owner}`,
      };
    return {
      path: `streams.${index}.namespace`,
      reason: stream.namespace ? "namespace_unknown" : "namespace_missing",
      message: `${stream.namespace ? "is another one" : "is missing"}: ${owner} has the stream ${inNamespaces(alike)}`,
    };
  });
}

function inNamespaces(streams: readonly Named[]): string {
  const named = streams.flatMap(({ namespace }) => (namespace ? [namespace] : []));
  if (named.length === 0) return "without a namespace";
  const shown = named
    .slice(0, maxNamed)
    .map((namespace) => JSON.stringify(namespace.slice(0, maxLength)));
  const rest = named.length - shown.length;
  return `in ${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
