import { type AuditPlace, verifyAudit } from "../audit/verify.ts";
import type { AdminContext } from "./actions.ts";
import { findWorkspace } from "./workspaces.ts";

/** What may be asked of the audit log's chains. */
export interface WantedChains {
  /** Id or slug; without one, every workspace. */
  readonly workspace?: string | undefined;
  /** An end of that workspace's chain, as it was seen before. */
  readonly noted?: AuditPlace | undefined;
}

/** Whether the audit log is as it was written. */
export async function verifyChains(
  { services: { database } }: AdminContext,
  { workspace, noted }: WantedChains,
) {
  const { db } = database;
  const id = workspace === undefined ? undefined : (await findWorkspace(db, workspace)).id;
  const { intact, faults } = await verifyAudit(db, id, noted);
  return { intact, faults };
}
