/**
 * A stream of changes as a destination keeps it: the newest state of each key, and the stream's.
 */
import { type JsonValue, parseExact } from "svc-connectors";
import { canonicalize, isJsonObject } from "svc-connectors/host";
import type { StreamFacts } from "../../contract/lab.ts";
import type { ObservedMessage } from "../../contract/observation.ts";
import { recordLines } from "../../fixtures/records.ts";
import { type OutputRow, statesOf } from "../rows/rows.ts";

/** When the row was deleted; null or missing: it is there. */
export const deletedAtField = "_ab_cdc_deleted_at";

export interface ReplayedTable {
  readonly facts: StreamFacts;
  /** The stream was discovered again: it has other columns. */
  describe(facts: StreamFacts): void;
  /** The last state that came; undefined: the next read begins anew. */
  readonly state: JsonValue | undefined;
  rows(): readonly OutputRow[];
  /** Takes what a run wrote, as far as its states cover it. */
  take(messages: readonly ObservedMessage[]): void;
}

interface Known {
  /** Undefined: the key is deleted. */
  readonly row: OutputRow | undefined;
  readonly place: bigint | undefined;
}

export function createReplayedTable(first: StreamFacts): ReplayedTable {
  const { label, primaryKey, cursorField = "" } = first;
  let facts = first;
  const known = new Map<string, Known>();
  let state: JsonValue | undefined;

  const apply = (line: string) => {
    const data = parseExact(line) as OutputRow["data"];
    const key = canonicalize(primaryKey.map((field) => data[field] ?? null));
    const place = toPlace(data[cursorField]);
    const older = known.get(key)?.place;
    if (older !== undefined && place !== undefined && older > place) return;
    const isDeleted = data[deletedAtField] !== null && data[deletedAtField] !== undefined;
    known.set(key, {
      row: isDeleted ? undefined : { key, content: canonicalize(data), data },
      place,
    });
  };

  return {
    get facts() {
      return facts;
    },
    describe(next) {
      facts = next;
    },
    get state() {
      return state;
    },
    rows: () => [...known.values()].flatMap(({ row }) => row ?? []),
    take(messages) {
      let from = 0;
      for (const { index, state: next } of statesOf({ messages }, label)) {
        const isNothing = next === null || (isJsonObject(next) && Object.keys(next).length === 0);
        if (isNothing) known.clear();
        else recordLines(messages.slice(from, index), label).forEach(apply);
        state = isNothing ? undefined : next;
        from = index + 1;
      }
    },
  };
}

const toPlace = (value: unknown) => {
  const text = canonicalize(value ?? null);
  return /^\d+$/.test(text) ? BigInt(text) : undefined;
};
