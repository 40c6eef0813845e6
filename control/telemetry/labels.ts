/**
 * Labels and attributes of spans hold words of closed sets. An id, an address or a text from
 * outside is in none of them, and becomes "other". Ids of connectors are the operator's words, also
 * of those that do not come with svc.
 */
import { STATUS_CODES } from "node:http";
import {
  builtInActivations,
  builtInDestinations,
  builtInSources,
  errorTable,
} from "svc-connectors/host";
import { reasons } from "../contract/reasons.ts";
import { clients, jobStatuses } from "../store/tables.ts";

const connectors = [...builtInSources, ...builtInDestinations].map(({ id }) => id);
/** The activations of reverse ETL. */
const activations = builtInActivations.map(({ name }) => name);

/** Routes that are no operation; the pages that people open are "other". */
const routes = ["/mcp", "/healthz", "/readyz", "/metrics"];

const sets = {
  channel: ["webhook", "mail"],
  client: clients,
  /** Error codes of the runtime, and reasons of the control API. */
  code: [...Object.keys(errorTable), ...Object.keys(reasons)],
  connector: [...connectors, ...activations],
  source: connectors,
  destination: [...connectors, ...activations],
  change: ["added", "changed", "removed"],
  kind: ["sync", "reverse_etl"],
  method: ["GET", "POST", "PUT", "PATCH", "DELETE"],
  operation: routes,
  result: ["succeeded", "failed", "cancelled", "released", "lost"],
  state: jobStatuses,
  /** HTTP statuses. */
  status: Object.keys(STATUS_CODES),
  where: ["records", "state", "log", "output", "catalog", "error"],
} as const satisfies Record<string, readonly string[]>;

export type LabelName = keyof typeof sets;
export type Labels = { readonly [Name in LabelName]?: string };

/** Stands where there is nothing to say: no error, no answer. */
export const none = "none";

/** Gives the labels as they may leave. */
export type CloseLabels = (labels: Labels) => Record<string, string>;

/** Connectors that the operator has added and that are told apart: each is a series of its own. */
export const maxAdded = 100;
/** Labels that name a source's connector. */
const sourceLabels: readonly string[] = ["connector", "source"] satisfies LabelName[];

/**
 * @param operations ids of the registry
 * @param isAdded whether the operator has added a connector of this id
 */
export function createLabels(
  operations: readonly string[],
  isAdded: (connectorId: string) => boolean = () => false,
): CloseLabels {
  const added = new Set<string>();
  const isKnownAdded = (id: string) => {
    if (!added.has(id) && added.size < maxAdded && isAdded(id)) added.add(id);
    return added.has(id);
  };
  const known = new Map(
    Object.entries(sets).map(([name, words]) => [
      name,
      new Set<string>([none, ...words, ...(name === "operation" ? operations : [])]),
    ]),
  );
  return (labels) =>
    Object.fromEntries(
      Object.entries(labels).map(([name, value]) => [
        name,
        known.get(name)?.has(value) || (sourceLabels.includes(name) && isKnownAdded(value))
          ? value
          : "other",
      ]),
    );
}
