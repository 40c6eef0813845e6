/** The parts of a stream, and what makes them. */
import type { HttpContext } from "../../contract/context.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { isMapping, type PlainValue, toText } from "../expressions/values.ts";
import type { Added } from "../requests/request-option.ts";

export type ManifestContext = HttpContext<JsonObject>;

/** A part of a stream: what tells it from others, and what its expressions may want besides. */
export interface Partition {
  readonly values: Scope;
  readonly extra: Scope;
}

export interface PartitionRun {
  list(): AsyncGenerator<Partition>;
  /** States of parents that are read incrementally; undefined where there is no parent. */
  parentState(): JsonObject | undefined;
}
export interface Partitions {
  /** False for a stream that is read as one. */
  readonly isMany: boolean;
  open(
    ctx: ManifestContext,
    scope: Scope,
    parentState: JsonObject,
    childState: JsonObject,
  ): PartitionRun;
  inject(added: Added, partition: Scope, scope: Scope): void;
}

/** Partitions are told apart by this text, as states of Airbyte have them: names in order. */
export function keyOf(partition: PlainValue): string {
  if (Array.isArray(partition)) return `[${partition.map(keyOf).join(",")}]`;
  if (!isMapping(partition)) return JSON.stringify(partition ?? null) ?? toText(partition);
  const entries = Object.entries(partition).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, part]) => `${JSON.stringify(name)}:${keyOf(part)}`).join(",")}}`;
}
