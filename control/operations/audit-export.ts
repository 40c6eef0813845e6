/** A copy of the audit log that can be verified elsewhere. */
import { Type } from "typebox";
import { AuditExportLine, findPlace, readChain } from "../audit/export.ts";
import { defineStream, type Operation } from "../contract/operation.ts";
import { StrictObject, workspaceInput } from "../contract/schemas.ts";
import { appendAudit, toEntry } from "../door/audit.ts";

export const exportAuditLogs: Operation = defineStream({
  id: "audit_log.export",
  operationId: "exportAuditLogs",
  area: "Audit",
  path: "/audit-logs/export",
  summary: "Export the audit log",
  description:
    "JSON lines, oldest first: `begin`, each entry with the hash over it and all before it, `end`. The export is itself an entry of the log, the last one that it holds. " +
    "The hash of an entry is the SHA-256 of the JSON text `[hash before, [[name, value], …]]`, with the entry's fields in the order of their names.",
  permission: "admin",
  media: "application/x-ndjson",
  query: StrictObject({
    ...workspaceInput,
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_147_483_647,
        default: 0,
        description: "Only entries after this index: the end of the export before. Default: all.",
      }),
    ),
  }),
  data: AuditExportLine,
  errors: ["not_found"],
  async open(ctx, { query: { after = 0 } }) {
    const { db, workspaceId, caller, requestId, now } = ctx;
    const begin = await findPlace(db, workspaceId, after);
    const end = await db.transaction().execute(async (tx) => {
      await appendAudit(
        tx,
        toEntry(
          exportAuditLogs,
          { caller, workspaceId, requestId, now },
          {
            outcome: "success",
            resource_id: null,
            summary: `Export the audit log after entry ${begin.index}`,
          },
        ),
      );
      return await tx
        .selectFrom("audit_heads")
        .select("index")
        .where("workspace_id", "=", workspaceId)
        .executeTakeFirstOrThrow();
    });
    const look = readChain(db, workspaceId, begin, end.index);
    return async () => {
      const { lines, isOver } = await look();
      return { items: lines.map((data) => ({ data })), isOver, hasMore: !isOver };
    };
  },
});

export const auditExportOperations = [exportAuditLogs];
