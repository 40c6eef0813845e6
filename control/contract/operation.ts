/**
 * An operation is data. From the one registry (operations/index.ts) come the routes, the
 * OpenAPI document, the MCP tools, permission checks, proposals, idempotency and audit entries; all
 * of them go through the one door (door/execute.ts).
 */
import type { Kysely, Transaction } from "kysely";
import type { SecretRegistry } from "svc-connectors/host";
import type { Static, TObject } from "typebox";
import type { Services } from "../services/services.ts";
import type { Client, Role, Scope, Tables } from "../store/tables.ts";
import type { Area } from "./areas.ts";
import type { Reason } from "./reasons.ts";

/** Permissions, with the role and the scope that give them. */
export const permissions = {
  /** Any member. */
  read: { role: "viewer", scope: "control:read" },
  /** Start, pause and try things that exist. */
  run: { role: "runner", scope: "control:write" },
  /** Create, change and delete. */
  write: { role: "editor", scope: "control:write" },
  /** Decide about proposals. */
  approve: { role: "admin", scope: "control:approve" },
  /** Members, policies, sessions, the audit log. */
  admin: { role: "admin", scope: "control:admin" },
} as const satisfies Record<string, { readonly role: Role; readonly scope: Scope }>;
export type Permission = keyof typeof permissions;

/** Kinds of change that a workspace can put under approval. */
export const categories = {
  sync_run: "Manual sync runs",
  source_change: "Source changes",
  source_delete: "Source deletion",
  destination_change: "Destination changes",
  pipeline_change: "Pipeline changes",
  connection_delete: "Connection deletion",
  reverse_etl_config: "Reverse ETL configuration",
  reverse_etl_run: "Reverse ETL manual runs",
  credential_change: "Credential changes",
} as const;
export type Category = keyof typeof categories;

/** Where a caller may act, and as what. */
export interface Membership {
  readonly workspaceId: string;
  /** The lower of the membership's role and the token's. */
  readonly role: Role;
  /** Absent: not to be noted. */
  readonly lastActiveAt?: Date | null | undefined;
}

/** Who asks, as the session of the token says. */
export interface Caller {
  /**
   * user: with an access token · anonymous: without one · operator: from the command line of the
   * instance. Nothing that comes over HTTP or MCP is an operator's.
   */
  readonly kind: "user" | "anonymous" | "operator";
  readonly user: { readonly id: string; readonly email: string; readonly name: string };
  readonly session: {
    readonly id: string;
    readonly client: Client;
    readonly scopes: readonly Scope[];
    readonly expiresAt: Date;
    /** The only workspace of the token; null: all of the user's. */
    readonly workspaceId: string | null;
    /** The most that the token may do; null: as much as its user. */
    readonly role: Role | null;
  };
  /** Where the caller may act. Of somebody with many workspaces the first few, and those in use. */
  readonly memberships: readonly Membership[];
  /** Finds others among these workspaces. Absent: there are no others. */
  readonly findMemberships?:
    | ((workspaceIds: readonly string[]) => Promise<readonly Membership[]>)
    | undefined;
  /** The session's client, or the tighter one that the request names. */
  readonly client: Client;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** Everything that an operation works with. */
export interface OperationContext {
  readonly services: Services;
  /** For reading. What is written goes through `commit`. */
  readonly db: Kysely<Tables>;
  readonly caller: Caller;
  readonly requestId: string;
  /** The workspace that was chosen; operations with `workspace: "none"` must not ask for it. */
  readonly workspaceId: string;
  readonly now: Date;
  /**
   * Secrets that this request has met: whatever it opens is added, and the answer is searched for
   * it.
   */
  readonly secrets: SecretRegistry;
  /** The caller has gone, or the server stops. */
  readonly signal: AbortSignal;
  /** From If-Match. @throws version_mismatch when it is there and is not `version` */
  expectVersion(version: number): void;
  /** A header of the answer. */
  setHeader(name: string, value: string): void;
}

/** The outcome of a write. */
export interface Outcome<Data> {
  readonly data: Data;
  /** Id of what was written, for the audit log. */
  readonly resourceId: string;
  /** Path of what was created, below the base path. */
  readonly location?: string | undefined;
  /** The approval that it belongs to, for the audit log. */
  readonly approvalId?: string | undefined;
  /**
   * A note on what became of it elsewhere, in fixed words for the audit log: "the tokens were
   * revoked".
   */
  readonly remark?: string | undefined;
  /**
   * Other workspaces whose audit logs it belongs to, besides the one in which it takes place.
   * Default none.
   */
  readonly workspaceIds?: readonly string[] | undefined;
}

interface Common {
  /**
   * `source.create`: what it acts on, and the verb. Permanent: proposals and audit entries name it.
   */
  readonly id: string;
  /**
   * The method's name in generated clients. Default: of the id, as source.create is createSource.
   */
  readonly operationId?: string | undefined;
  /** Heading in the documents. */
  readonly area: Area;
  readonly path: `/${string}`;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly permission: Permission;
  /**
   * "one", the default: in the workspace that the request names · "none": in none · "instance": in
   * the first workspace of the instance, whose administrators are the instance's.
   */
  readonly workspace?: "one" | "none" | "instance" | undefined;
  /**
   * "open": without an access token, in no workspace; what the body holds must prove who asks. No
   * proposal, no Idempotency-Key. "operator": for nobody else; it has no route and no tool.
   */
  readonly access?: "open" | "operator" | undefined;
  /**
   * A call is paid from the budget of its effect. "provider": and from that of those who ask
   * somebody else, when it does ("asks"). Default of what computes.
   */
  readonly limit?: "provider" | undefined;
  /** Names that fields of its query and body had once, with the ones that they have now. */
  readonly formerNames?: Readonly<Record<string, string>> | undefined;
  /** Its errors, besides those that every operation has. */
  readonly errors: readonly Reason[];
}

interface Shapes<P extends TObject, Q extends TObject, B extends TObject, D extends TObject> {
  readonly params?: P | undefined;
  readonly query?: Q | undefined;
  readonly body?: B | undefined;
  /** Allow-list of the answer: what it does not declare does not leave. */
  readonly data: D;
}

export interface OperationInput<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

type InputOf<P extends TObject, Q extends TObject, B extends TObject> = OperationInput<
  Static<P>,
  Static<Q>,
  Static<B>
>;

/** Reads, and changes nothing. */
export interface ReadOperation<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  D extends TObject = TObject,
> extends Common,
    Shapes<P, Q, TObject, D> {
  readonly method: "GET";
  readonly effect: "read";
  run(ctx: OperationContext, input: InputOf<P, Q, TObject>): Promise<Static<D>>;
}

/** Server-sent events · one JSON text a line. */
export type StreamMedia = "text/event-stream" | "application/x-ndjson";

/** An item of a stream. Of server-sent events it has a name, and an id from which one can go on. */
export interface StreamItem<Data> {
  readonly event?: string | undefined;
  readonly id?: string | undefined;
  readonly data: Data;
}

/** The items found at one look. */
export interface LookResult<Data> {
  readonly items: readonly StreamItem<Data>[];
  /** Nothing follows any more. */
  readonly isOver: boolean;
  /** There is more to tell already: the next look need not wait. Default false. */
  readonly hasMore?: boolean | undefined;
}

/**
 * Reads, and tells item by item for as long as somebody listens. Before each look it is seen
 * whether the caller may still know. It has no tool: agents ask again.
 */
export interface StreamOperation<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  D extends TObject = TObject,
> extends Common,
    Shapes<P, Q, TObject, D> {
  readonly method: "GET";
  readonly effect: "read";
  readonly media: StreamMedia;
  /**
   * Gives what looks: it is called again and again, never twice at a time.
   * @param lastEventId the id of the last item that who asks has got before
   * @throws what is answered in place of a stream
   */
  open(
    ctx: OperationContext,
    input: InputOf<P, Q, TObject>,
    lastEventId: string | undefined,
  ): Promise<() => Promise<LookResult<Static<D>>>>;
}

/** Asks a provider, and changes nothing. A proposal of it can be made all the same. */
export interface ComputeOperation<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TObject = TObject,
  D extends TObject = TObject,
  Found = unknown,
> extends Common,
    Shapes<P, Q, B, D> {
  readonly method: "POST";
  readonly effect: "compute";
  /** As {@link WriteOperation.guard}. */
  guard?(ctx: OperationContext, input: InputOf<P, Q, B>): Promise<Found>;
  /** As {@link WriteOperation.asks}. */
  asks?(found: Found): boolean;
  /** @param found by `guard`, a moment ago */
  run(ctx: OperationContext, input: InputOf<P, Q, B>, found: Found): Promise<Static<D>>;
}

/**
 * How something is done when it is proposed, and held back until it is decided: an authorisation
 * code lives for minutes, a proposal for days.
 */
export interface Hold<Input, D extends TObject, Prepared> {
  /**
   * Writes what is held back, in the transaction of the proposal; nobody can use it yet. What it
   * gives, and it holds no secret, is what people decide about, in place of the body.
   */
  stage(
    tx: Transaction<Tables>,
    ctx: OperationContext,
    input: Input,
    prepared: Prepared,
  ): Promise<HeldData>;
  /** Approved: it can be used from now on. @throws what `commit` would throw */
  apply(
    tx: Transaction<Tables>,
    ctx: OperationContext,
    held: HeldData,
  ): Promise<Outcome<Static<D>>>;
  /** Rejected, withdrawn or expired: it never can. Asks nobody. */
  discard(tx: Transaction<Tables>, services: Services, held: HeldData, now: Date): Promise<void>;
}
export type HeldData = { readonly [name: string]: string | number | boolean | null };

/**
 * Changes something, in three steps. Everything that takes long or asks others is in `prepare`;
 * everything that is written is in `commit`, in one transaction together with the audit entry, the
 * idempotency key and the approval: all of it or nothing.
 */
export interface WriteOperation<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TObject = TObject,
  D extends TObject = TObject,
  Found = unknown,
  Prepared = Found,
> extends Common,
    Shapes<P, Q, B, D> {
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly effect: "write";
  readonly status: 200 | 201 | 202;
  /** The kind of resource that it acts on, for the audit log: "source". */
  readonly resource: string;
  /** For approval policies. Without one, whatever an agent asks for becomes a proposal. */
  readonly category?: Category | undefined;
  /**
   * An agent may do it at once: it takes back what was asked for, or makes nothing that could be
   * used. A header still makes a proposal of it.
   */
  readonly isFree?: true | undefined;
  /**
   * People do it, and no agent may, whatever its token is for: it is told where a person can. No
   * header makes a proposal of an agent's request.
   */
  readonly isForPeople?: true | undefined;
  /**
   * `prepare` only asks, or does the same when it is done twice. After a process has died in it, an
   * approved proposal is then carried out by another one; without this word it ends as
   * outcome_unknown.
   */
  readonly isRepeatable?: true | undefined;
  /**
   * The work that `prepare` has begun elsewhere is brought to its end, even when nobody waits for
   * the answer any more.
   */
  readonly mustFinish?: true | undefined;
  /** For what cannot wait for a decision: `prepare` and `stage` run when it is proposed. */
  readonly hold?: Hold<InputOf<P, Q, B>, D, Prepared> | undefined;
  /** Properties of the body that hold secrets, as dotted paths: a proposal keeps them sealed. */
  readonly secretFields?: readonly string[] | undefined;
  /**
   * Properties of the data that only who asks gets to see, and once: wherever the answer is kept,
   * for an Idempotency-Key or with an approval, they are null.
   */
  readonly shownOnce?: readonly string[] | undefined;
  /**
   * Refuses what can be refused by looking at the database and the settings alone, and gives what
   * it found there. Writes nothing, asks nobody; it runs before a proposal too.
   */
  guard?(ctx: OperationContext, input: InputOf<P, Q, B>): Promise<Found>;
  /**
   * Whether this very call asks somebody else, of those with `limit: "provider"`. Default: it does.
   */
  asks?(found: Found): boolean;
  /**
   * Checks with others what must be known before anything is written.
   * @param found by `guard`, a moment ago
   */
  prepare?(ctx: OperationContext, input: InputOf<P, Q, B>, found: Found): Promise<Prepared>;
  /**
   * Writes. It looks again at what may have changed since `guard`: rows that it depends on are
   * locked.
   * @param prepared by `prepare`; without one, what `guard` found
   */
  commit(
    tx: Transaction<Tables>,
    ctx: OperationContext,
    input: InputOf<P, Q, B>,
    prepared: Prepared,
  ): Promise<Outcome<Static<D>>>;
  /**
   * Tells others of what was written: a mail. After the transaction; gives the answer's data anew,
   * with what became of it.
   */
  announce?(
    ctx: OperationContext,
    input: InputOf<P, Q, B>,
    data: Static<D>,
    prepared: Prepared,
  ): Promise<Static<D>>;
}

export type Operation = ReadOperation | StreamOperation | ComputeOperation | WriteOperation;

export const isStream = (operation: Operation): operation is StreamOperation =>
  "media" in operation;

// The types of an operation's own input are checked where it is defined; the door gives it what its
// schemas have accepted.
export const defineRead = <P extends TObject, Q extends TObject, D extends TObject>(
  operation: Omit<ReadOperation<P, Q, D>, "effect" | "method">,
): Operation => ({ ...operation, method: "GET", effect: "read" }) as unknown as Operation;

export const defineStream = <P extends TObject, Q extends TObject, D extends TObject>(
  operation: Omit<StreamOperation<P, Q, D>, "effect" | "method">,
): Operation => ({ ...operation, method: "GET", effect: "read" }) as unknown as Operation;

export const defineCompute = <
  P extends TObject,
  Q extends TObject,
  B extends TObject,
  D extends TObject,
  Found = undefined,
>(
  operation: Omit<ComputeOperation<P, Q, B, D, Found>, "effect" | "method">,
): Operation => ({ ...operation, method: "POST", effect: "compute" }) as unknown as Operation;

export const defineWrite = <
  P extends TObject,
  Q extends TObject,
  B extends TObject,
  D extends TObject,
  Found = undefined,
  Prepared = Found,
>(
  operation: Omit<WriteOperation<P, Q, B, D, Found, Prepared>, "effect">,
): Operation => ({ ...operation, effect: "write" }) as unknown as Operation;

/** An operation of the operator's has no route: the path is for the door alone. */
type OperatorsOwn = "effect" | "method" | "path" | "permission" | "workspace" | "access";

const operatorsOwn = (id: string) =>
  ({
    path: `/operator/${id}`,
    permission: "admin",
    workspace: "none",
    access: "operator",
  }) as const;

/** As {@link defineRead}, for the operator of the instance alone: in all of its workspaces. */
export const defineOperatorRead = <Q extends TObject, D extends TObject>(
  operation: Omit<ReadOperation<TObject, Q, D>, OperatorsOwn>,
): Operation => defineRead({ ...operation, ...operatorsOwn(operation.id) } as never);

/** As {@link defineWrite}, for the operator of the instance alone: in all of its workspaces. */
export const defineOperatorWrite = <
  P extends TObject,
  B extends TObject,
  D extends TObject,
  Prepared = undefined,
>(
  operation: Omit<WriteOperation<P, TObject, B, D, undefined, Prepared>, OperatorsOwn | "status">,
): WriteOperation =>
  defineWrite({
    ...operation,
    ...operatorsOwn(operation.id),
    method: "POST",
    status: 200,
  } as never) as WriteOperation;
