/**
 * The one door: everything that asks for an operation, over HTTP, MCP or from the operator's
 * command line, comes through here.
 *
 *   limit → permit → parse → choose the workspace → validate → guard → limit of who asks others →
 *   (propose | run) → filter the answer → audit
 */
import { randomUUID } from "node:crypto";
import { createSecretRegistry } from "svc-connectors/host";
import {
  type Caller,
  isStream,
  type Operation,
  type OperationContext,
  type OperationInput,
} from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Services } from "../services/services.ts";
import type { Budget } from "../services/settings.ts";
import { none } from "../telemetry/labels.ts";
import type { OpenSpan } from "../telemetry/spans.ts";
import { noteActivity } from "./activity.ts";
import { type Answer, dataText, errorBody, etagOf, successBody } from "./answer.ts";
import {
  authorizeIn,
  authorizeSomewhere,
  findAdministeringWorkspace,
  requirePerson,
  selectWorkspace,
} from "./authorize.ts";
import { asksProvider, budgetOf, pay } from "./budgets.ts";
import { type CompiledOperation, compileOperation } from "./compile.ts";
import { locate } from "./locate.ts";
import { bringMemberships } from "./memberships.ts";
import { isProposal } from "./mode.ts";
import { once, type Persist, type Result } from "./once.ts";
import { namedWorkspaces, parseRequest } from "./parse.ts";
import { proposalOf } from "./propose.ts";
import { auditRefusal } from "./refuse.ts";
import { openStream } from "./stream.ts";
import { toControlError } from "./to-control-error.ts";
import { write } from "./write.ts";

/** A request as it came, before anything of it is believed. */
export interface Request {
  /** Path as it was asked for, for the idempotency key. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** The body's bytes, or a value that was parsed already; undefined: none. */
  readonly body?: Uint8Array | { readonly value: unknown } | undefined;
  readonly headers: ControlHeaders;
  readonly signal: AbortSignal;
}

/** The headers that mean something to an operation. */
export interface ControlHeaders {
  readonly workspaceId?: string | undefined;
  readonly executionMode?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly ifMatch?: string | undefined;
  /** The id of the last event of a stream that was got before. */
  readonly lastEventId?: string | undefined;
  /** W3C Trace Context: the caller's span. */
  readonly traceparent?: string | undefined;
}

/** Never throws: whatever goes wrong is an answer. */
export function execute(
  services: Services,
  operation: Operation,
  request: Request,
  caller: Caller,
): Promise<Answer> {
  const facts = { operation: operation.id, client: caller.client };
  const work = async (span: OpenSpan) => {
    const answer = await answerTo(services, operation, request, caller);
    const outcome = { status: String(answer.status), code: answer.reason ?? none };
    span.set({ status: outcome.status, ...(answer.reason ? { code: answer.reason } : {}) });
    services.telemetry.count("svc_operations_total", { ...facts, ...outcome });
    return answer;
  };
  return services.telemetry.inSpan(
    { operation: operation.id },
    facts,
    work,
    request.headers.traceparent,
  );
}

async function answerTo(
  services: Services,
  operation: Operation,
  request: Request,
  asking: Caller,
): Promise<Answer> {
  let caller = asking;
  const compiled = compileOperation(operation);
  const requestId = randomUUID();
  const secrets = createSecretRegistry();
  const now = new Date(services.clock.now());
  let headers: Record<string, string> = {};
  let workspaceId: string | undefined;
  let raw: ReturnType<typeof parseRequest> | undefined;
  const paying = async (budget: Budget): Promise<void> => {
    headers = { ...headers, ...(await pay(services, budget, caller, now)) };
  };
  try {
    await paying(budgetOf(operation));
    requirePerson(operation, caller, request.params);
    authorizeSomewhere(operation, caller);
    const given = parseRequest(operation, request);
    raw = given;
    const named = await workspacesOf(services, operation, () =>
      namedWorkspaces(given, request.headers),
    );
    caller = await bringMemberships(caller, named);
    workspaceId = chooseWorkspace(operation, caller, named);
    if (workspaceId !== undefined) {
      authorizeIn(operation, caller, workspaceId);
      await noteActivity(services.database.db, caller, workspaceId, now);
    }
    const input = validate(compiled, given);
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
    if (isStream(operation)) {
      const stream = await openStream(compiled, operation, ctx, input, request.headers.lastEventId);
      return { requestId, status: 200, headers, body: "", stream };
    }
    const { status, data, text, headers: own } = await run(compiled, ctx, input, request, paying);
    const etag = etagOf(data);
    headers = { ...headers, ...own, ...(etag === undefined ? {} : { etag }) };
    return { requestId, status, headers, body: successBody(requestId, text) };
  } catch (thrown) {
    const facts = { request_id: requestId, operation: operation.id };
    const error = locate(toControlError(thrown, services.log, facts), raw);
    const refusal = { error, requestId, now, workspaceId };
    await auditRefusal(services, operation, request, caller, refusal);
    return { requestId, ...errorBody(error, requestId, headers) };
  }
}

/** The workspaces that a request is about, before it is known whether they are the caller's. */
async function workspacesOf(
  { database: { db } }: Services,
  { workspace }: Operation,
  named: () => readonly unknown[],
): Promise<readonly unknown[]> {
  if (workspace === "none") return [];
  return workspace === "instance" ? [await findAdministeringWorkspace(db)] : named();
}

/** Where an operation takes place; undefined: in no workspace. */
function chooseWorkspace(
  { workspace }: Operation,
  caller: Caller,
  named: readonly unknown[],
): string | undefined {
  if (workspace === "none") return undefined;
  // Who is no member of it is denied there.
  if (workspace === "instance") return String(named[0]);
  return selectWorkspace(caller, named);
}

function validate(
  { params, query, body }: CompiledOperation,
  input: OperationInput<object, object, object>,
) {
  params(input.params);
  query(input.query);
  body(input.body);
  return input as never;
}

function expectVersion(ifMatch: string | undefined, version: number): void {
  if (ifMatch === undefined || ifMatch.trim() === "*") return;
  const tags = ifMatch.split(",").map((tag) => tag.trim());
  if (!tags.every((tag) => /^(W\/)?"[\x21\x23-\x7e]*"$/.test(tag)))
    throw new ControlError("invalid_header", { header: "If-Match", form: '"v1"' });
  if (!tags.includes(`"v${version}"`)) throw new ControlError("version_mismatch", { version });
}

async function run(
  compiled: CompiledOperation,
  ctx: OperationContext,
  input: never,
  request: Request,
  paying: (budget: Budget) => Promise<void>,
): Promise<Result> {
  const { operation } = compiled;
  const toResult = (data: object): Result => ({
    status: 200,
    data,
    text: dataText(compiled, ctx, 200, data),
    headers: {},
  });
  if (isStream(operation)) throw new Error(`${operation.id} is a stream`);
  if (operation.effect === "read") return toResult(await operation.run(ctx, input));
  const proposes = await isProposal(operation, ctx, request.headers.executionMode);
  // Nobody whom an approval could name.
  if (proposes && operation.access === "open") throw new ControlError("permission_denied");
  const work = async (persist?: Persist): Promise<Result> => {
    const found = await operation.guard?.(ctx, input);
    if (asksProvider(operation, found, proposes)) await paying("provider");
    if (proposes) return await write(proposalOf(operation), ctx, input, found, persist);
    if (operation.effect === "write") return await write(operation, ctx, input, found, persist);
    return toResult(await operation.run(ctx, input, found));
  };
  // Keys belong to a session, and to what has an effect.
  const isKeyed = operation.access !== "open" && (operation.effect === "write" || proposes);
  const key = isKeyed ? request.headers.idempotencyKey : undefined;
  return key === undefined
    ? await work()
    : await once(compiled, ctx, input, { key, path: request.path, proposes }, work);
}
