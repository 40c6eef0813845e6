/**
 * Facts: what has happened, noted in the transaction in which it happened. Triggers of the database
 * note what is the change of one row's status (store/migrations/0012-events.ts); the rest is noted
 * here. publish.ts makes events of them.
 */
import type { Selectable } from "kysely";
import type { Db } from "../store/database.ts";
import type { EventType, Tables } from "../store/tables.ts";

export type FactRow = Selectable<Tables["event_facts"]>;

export interface Fact {
  readonly workspaceId: string;
  readonly type: EventType;
  /** The subject: a pipeline, a credential, an endpoint. */
  readonly subjectId: string;
  /** Details that cannot be looked up later. No secret, and no value of a row. */
  readonly facts: Readonly<Record<string, unknown>>;
  readonly at: Date;
}

export async function noteFact(
  tx: Db,
  { workspaceId, type, subjectId, facts, at }: Fact,
): Promise<void> {
  await tx
    .insertInto("event_facts")
    .values({
      workspace_id: workspaceId,
      type,
      subject_id: subjectId,
      facts: JSON.stringify(facts),
      occurred_at: at,
    })
    .execute();
}
