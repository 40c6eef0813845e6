/**
 * Things at a source that a pipeline leaves when it does not run, and that cost something while
 * nobody reads them: a replication slot, for which the server keeps its log until the disk is full.
 */
import { type Static, Type } from "typebox";
import type { OperationContext } from "../contract/operation.ts";
import { StrictObject } from "../contract/schemas.ts";
import { unreadBy } from "./only-reader.ts";
import type { PipelineRow } from "./rows.ts";

export const LeftAtSource = Type.Array(
  StrictObject(
    {
      setting: Type.String({ description: "The setting of the source that names it." }),
      name: Type.String(),
      release: Type.String({
        description: "What an administrator of the source runs to remove it.",
      }),
    },
    { title: "LeftAtSource" },
  ),
  {
    description:
      "What the source's server still keeps for the pipeline although it is paused or deleted, such as a replication slot that holds back the log. A pipeline that is resumed without it reads its tables anew. Empty while it is active, and where another pipeline uses it.",
  },
);

type Ctx = Pick<OperationContext, "db" | "services" | "workspaceId">;

export async function leftAtSource(
  ctx: Ctx,
  { id, workspace_id, source_id, status }: PipelineRow,
): Promise<Static<typeof LeftAtSource>> {
  if (status === "active") return [];
  const { connectors } = ctx.services;
  const source = await ctx.db
    .selectFrom("sources")
    .select(["connector_id", "credential_id", "configuration"])
    .where("id", "=", source_id)
    .where("workspace_id", "=", workspace_id)
    .executeTakeFirst();
  if (!source || !(await canDescribe(connectors, source.connector_id))) return [];
  const unread = await unreadBy(ctx, { ...source, pipelineId: id });
  return unread.flatMap(({ setting, name, release }) =>
    release === undefined ? [] : [{ setting: setting.join("."), name, release }],
  );
}

/** A pipeline can be paused and deleted whatever has become of its connector. */
async function canDescribe(connectors: Ctx["services"]["connectors"], id: string) {
  try {
    await connectors.manifest(connectors.get(id));
    return true;
  } catch {
    return false;
  }
}
