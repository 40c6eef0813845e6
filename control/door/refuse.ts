/**
 * The one place of refusals: whatever refuses a request for an operation, at the door or before it,
 * the answer and its entry in the audit log are made here.
 */
import { randomUUID } from "node:crypto";
import { isId } from "../contract/ids.ts";
import type { Caller, Operation } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Services } from "../services/services.ts";
import { type Answer, errorBody } from "./answer.ts";
import { appendAudit, toEntry } from "./audit.ts";
import { findAdministeringWorkspace } from "./authorize.ts";
import { budgetOf, pay } from "./budgets.ts";
import type { Request } from "./execute.ts";
import { bringMemberships } from "./memberships.ts";
import { asksForProposal } from "./mode.ts";
import { namedWorkspaces, parseRequest } from "./parse.ts";
import { toControlError } from "./to-control-error.ts";

/** A request that is refused: the body is there when it was read. */
export type RefusedRequest = Pick<Request, "params" | "query" | "body" | "headers">;

export interface Refusal {
  readonly error: ControlError;
  readonly requestId: string;
  readonly now: Date;
  /** Undefined: it was not chosen yet. */
  readonly workspaceId?: string | undefined;
}

/**
 * Answers a request for an operation that was refused before it came to the door. It is paid for as
 * the operation is: a flood of broken requests ends in 429.
 */
export async function refuse(
  services: Services,
  operation: Operation,
  request: RefusedRequest,
  caller: Caller,
  thrown: unknown,
): Promise<Answer> {
  const requestId = randomUUID();
  const now = new Date(services.clock.now());
  const facts = { request_id: requestId, operation: operation.id };
  let error = toControlError(thrown, services.log, facts);
  let headers: Readonly<Record<string, string>> = {};
  try {
    headers = { ...(await pay(services, budgetOf(operation), caller, now)) };
  } catch (over) {
    error = toControlError(over, services.log, facts);
  }
  await auditRefusal(services, operation, request, caller, { error, requestId, now });
  const { client } = caller;
  const outcome = { status: String(error.status), code: error.reason };
  services.telemetry.count("svc_operations_total", { operation: operation.id, client, ...outcome });
  return { requestId, ...errorBody(error, requestId, headers) };
}

/**
 * Writes down a write that was refused or has failed, and whatever was not permitted. A request
 * that names no workspace of the caller, who has several, belongs in the log of none of them.
 */
export async function auditRefusal(
  services: Services,
  operation: Operation,
  request: RefusedRequest,
  caller: Caller,
  { error, requestId, now, workspaceId: chosen }: Refusal,
): Promise<void> {
  const isDenied = error.status === 403;
  const isWrite = operation.effect === "write" || asksForProposal(request.headers.executionMode);
  if (operation.effect === "read" || !(isWrite || isDenied)) return;
  try {
    const workspaceId = chosen ?? (await attemptedIn(services, operation, request, caller));
    if (workspaceId === undefined) return;
    if (error.reason === "rate_limited" && (await isFlood(services, operation, caller, now)))
      return;
    const entry = toEntry(
      operation,
      { caller, workspaceId, requestId, now },
      {
        outcome: isDenied ? "denied" : "failure",
        resource_id: idOf(request.params),
        summary: `${operation.summary}: ${error.reason}`,
      },
    );
    await services.database.db.transaction().execute((tx) => appendAudit(tx, entry));
  } catch {
    services.log.error("an audit entry could not be written", {
      request_id: requestId,
      operation: operation.id,
    });
  }
}

/**
 * The workspace that a refused request is about, as far as it can be told: the caller's one that it
 * names, else the caller's only one.
 */
async function attemptedIn(
  { database }: Services,
  operation: Operation,
  request: RefusedRequest,
  caller: Caller,
): Promise<string | undefined> {
  if (operation.workspace === "none") return undefined;
  if (operation.workspace === "instance") return await findAdministeringWorkspace(database.db);
  const named = namedWorkspaces(readableParts(operation, request), request.headers);
  const { memberships } = await bringMemberships(caller, named);
  const [only, ...more] = memberships;
  const own = memberships.find(({ workspaceId }) => named.includes(workspaceId));
  return (own ?? (more.length === 0 ? only : undefined))?.workspaceId;
}

/** The parts of a request, without a body that cannot be read. */
function readableParts(operation: Operation, { params, query, ...request }: RefusedRequest) {
  const signal = new AbortController().signal;
  try {
    return parseRequest(operation, { path: "", params, query, signal, ...request });
  } catch {
    return { params, query, body: {} };
  }
}

/**
 * Whether so many requests over the budget were written down in this minute that the others are
 * not: as many as the budget itself has.
 */
async function isFlood(
  { limiter }: Services,
  operation: Operation,
  { session }: Caller,
  now: Date,
): Promise<boolean> {
  try {
    await limiter.take(budgetOf(operation), `${session.id} over`, now.getTime());
    return false;
  } catch (error) {
    if (error instanceof ControlError && error.reason === "rate_limited") return true;
    throw error;
  }
}

/** The id that the path names; what does not look like one of ours is not kept. */
function idOf(params: Readonly<Record<string, string>>): string | null {
  const named = Object.entries(params).filter(([name]) => name !== "workspace_id");
  return named.map(([, value]) => value).find(isId) ?? null;
}
