/** Answers that come bit by bit: the door looks at each bit as it does at a whole answer. */
import {
  type OperationContext,
  permissions,
  type StreamItem,
  type StreamOperation,
} from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { type AnswerStream, dataText, errorBody } from "./answer.ts";
import { unauthenticated } from "./authenticate.ts";
import { includesRole } from "./authorize.ts";
import type { CompiledOperation } from "./compile.ts";
import { toControlError } from "./to-control-error.ts";

/**
 * Opens the stream of an operation for a caller who may read it now. Once they may no more, it
 * ends.
 * @throws what the operation refuses
 */
export async function openStream(
  compiled: CompiledOperation,
  operation: StreamOperation,
  ctx: OperationContext,
  input: never,
  lastEventId: string | undefined,
): Promise<AnswerStream> {
  const { media } = operation;
  const isEvents = media === "text/event-stream";
  const look = await operation.open(ctx, input, lastEventId);
  const textOf = ({ event, id, data }: StreamItem<object>) => {
    // JSON has no line breaks of its own.
    const text = dataText(compiled, ctx, 200, data);
    if (!isEvents) return `${text}\n`;
    return `${event ? `event: ${event}\n` : ""}${id ? `id: ${id}\n` : ""}data: ${text}\n\n`;
  };
  return {
    media,
    async look() {
      try {
        await requireStillPermitted(operation, ctx);
        const { items, isOver, hasMore = false } = await look();
        return { text: items.map(textOf).join(""), isOver, hasMore };
      } catch (thrown) {
        const facts = { request_id: ctx.requestId, operation: operation.id };
        const error = toControlError(thrown, ctx.services.log, facts);
        if (!isEvents) throw error;
        const { body } = errorBody(error, ctx.requestId);
        return { text: `event: refused\ndata: ${body}\n\n`, isOver: true, hasMore: false };
      }
    },
  };
}

/**
 * A session that was revoked or has expired, or a member who has left or become less, is told
 * nothing more.
 * @throws unauthenticated, permission_denied
 */
async function requireStillPermitted(
  { permission, workspace }: StreamOperation,
  { services, caller, workspaceId }: OperationContext,
): Promise<void> {
  if (workspace === "none") throw new Error("a stream belongs to a workspace");
  const row = await services.database.db
    .selectFrom("sessions")
    .leftJoin("memberships", (join) =>
      join
        .onRef("memberships.user_id", "=", "sessions.user_id")
        .on("memberships.workspace_id", "=", workspaceId)
        .on("memberships.status", "=", "active"),
    )
    .select(["sessions.expires_at", "sessions.revoked_at", "sessions.role as token_role"])
    .select("memberships.role")
    .where("sessions.id", "=", caller.session.id)
    .executeTakeFirst();
  const now = services.clock.now();
  if (!row || row.revoked_at !== null || row.expires_at.getTime() <= now) throw unauthenticated();
  const { role } = permissions[permission];
  const own = [row.role, row.token_role ?? row.role];
  if (!own.every((one) => one !== null && includesRole(one, role)))
    throw new ControlError("permission_denied");
}
