/**
 * The one door: everything that asks for an operation, over HTTP or MCP, comes through here.
 *
 *   limit → permit → parse → choose the workspace → validate → guard → (propose | run) → filter the answer → audit
 */
import { randomUUID } from "node:crypto";
import { createSecretRegistry } from "svc-connectors/host";
import type { Caller, Operation, OperationContext, OperationInput } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Services } from "../services.ts";
import { type Answer, errorBody, etagOf, successBody } from "./answer.ts";
import { auditRefusal } from "./audit.ts";
import { type CompiledOperation, compileOperation } from "./compile.ts";
import { parseJsonBody } from "./json-body.ts";
import { isProposal } from "./mode.ts";
import { permitIn, permitSomewhere, selectWorkspace } from "./permit.ts";
import { propose } from "./propose.ts";
import { toControlError } from "./to-control-error.ts";
import { checkTexts } from "./validate.ts";
import { write } from "./write.ts";

/** A request as it came, before anything of it is believed. */
export interface Request {
  /** Path as it was asked for, for the idempotency key. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** The body's bytes, or a value that was parsed already; undefined: none. */
  readonly body?: Uint8Array | { readonly value: unknown };
  readonly headers: ControlHeaders;
  readonly signal: AbortSignal;
}

/** The headers that mean something to an operation. */
export interface ControlHeaders {
  readonly workspaceId?: string | undefined;
  readonly executionMode?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly ifMatch?: string | undefined;
}

/** Never throws: whatever goes wrong is an answer. */
export async function execute(
  services: Services,
  operation: Operation,
  request: Request,
  caller: Caller,
): Promise<Answer> {
  const compiled = compileOperation(operation);
  const requestId = randomUUID();
  const secrets = createSecretRegistry();
  const now = new Date(services.clock.now());
  let headers: Record<string, string> = {};
  let workspaceId: string | undefined;
  try {
    headers = { ...(await services.limiter.take(budgetOf(operation), caller.session.id, now.getTime())) };
    permitSomewhere(operation, caller);
    const raw = parseRequest(operation, request);
    workspaceId =
      operation.workspace === "none" ? undefined : selectWorkspace(caller, namedWorkspaces(raw, request.headers));
    if (workspaceId !== undefined) permitIn(operation, caller, workspaceId);
    const input = validate(compiled, raw);
    const ctx: OperationContext = {
      services,
      db: services.database.db,
      caller,
      requestId,
      now,
      secrets,
      signal: request.signal,
      get workspaceId() {
        if (workspaceId === undefined) throw new Error(`${operation.id} has no workspace`);
        return workspaceId;
      },
      expectVersion: (version) => expectVersion(request.headers.ifMatch, version),
      setHeader(name, value) {
        headers[name] = value;
      },
    };
    const { status, data } = await run(compiled, ctx, input, request);
    const etag = etagOf(data);
    if (etag !== undefined) headers.etag = etag;
    return { requestId, status, headers, body: successBody(compiled, ctx, status, data) };
  } catch (thrown) {
    const refusal = toControlError(thrown, services.log, { request_id: requestId, operation: operation.id });
    if (workspaceId !== undefined)
      await auditRefusal(services, operation, { caller, workspaceId, requestId, now }, refusal);
    return { requestId, ...errorBody(refusal, requestId, headers) };
  }
}

const budgetOf = ({ limit, effect }: Operation) =>
  limit ?? ({ read: "read", compute: "provider", write: "write" } as const)[effect];

function parseRequest({ effect }: Operation, { params, query, body }: Request): OperationInput<object, object, object> {
  checkTexts(params);
  checkTexts(query);
  const value = body === undefined || effect === "read" ? {} : "value" in body ? body.value : parseJsonBody(body);
  return { params: { ...params }, query: { ...query }, body: value as object };
}

function namedWorkspaces(
  { params, query, body }: OperationInput<object, object, object>,
  headers: ControlHeaders,
): unknown[] {
  const of = (part: unknown) =>
    typeof part === "object" && part !== null ? (part as { workspace_id?: unknown }).workspace_id : undefined;
  const named = [of(params), of(query), of(body)].filter((id) => id !== undefined);
  return named.length > 0 ? named : [headers.workspaceId];
}

function validate({ params, query, body }: CompiledOperation, input: OperationInput<object, object, object>) {
  params(input.params);
  query(input.query);
  body(input.body);
  return input as never;
}

function expectVersion(ifMatch: string | undefined, version: number): void {
  if (ifMatch === undefined || ifMatch.trim() === "*") return;
  const tags = ifMatch.split(",").map((tag) => tag.trim());
  if (!tags.every((tag) => /^"v\d{1,9}"$/.test(tag)))
    throw new ControlError("invalid_header", { header: "If-Match", form: '"v1"' });
  if (!tags.includes(`"v${version}"`)) throw new ControlError("version_mismatch", { version });
}

async function run(
  { operation }: CompiledOperation,
  ctx: OperationContext,
  input: never,
  request: Request,
): Promise<{ readonly status: number; readonly data: object }> {
  if (operation.effect === "read") return { status: 200, data: await operation.run(ctx, input) };
  const proposes = await isProposal(operation, ctx, request.headers.executionMode);
  await operation.guard?.(ctx, input);
  if (proposes) return { status: 202, data: await propose(operation, ctx, input) };
  if (operation.effect === "compute") return { status: 200, data: await operation.run(ctx, input) };
  return await write(operation, ctx, input, { key: request.headers.idempotencyKey, path: request.path });
}
