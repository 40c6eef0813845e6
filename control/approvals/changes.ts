/** The exact changes that a proposal would make, field by field, beside how things are now. */
import { isJsonObject, type JsonValue } from "svc-connectors/host";
import type { Operation, OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { currentOf, listAt, type Shown } from "./current.ts";
import type { ApprovalRow } from "./rows.ts";
import { findTarget } from "./targets.ts";

/** A field that would be another. Of a secret neither value is shown. */
export interface FieldChange {
  readonly path: readonly string[];
  readonly change: "add" | "change" | "remove";
  readonly before: JsonValue;
  readonly after: JsonValue;
  readonly is_secret: boolean;
}

/** Configurations are merged (RFC 7396); everything else is replaced. */
const mergedFields: readonly string[] = ["configuration"];

/** The effects of operations that have no word for them in their bodies. */
const ownEffects: Readonly<Record<string, Shown>> = {
  "pipeline.pause": { status: "paused" },
  "pipeline.resume": { status: "active" },
  "session.revoke": { status: "revoked" },
  "invitation.revoke": { status: "revoked" },
  "job.cancel": { cancel_requested: true },
  "reverse_etl_run.cancel": { status: "cancelled" },
  "approval.approve": { status: "executed" },
  "approval.reject": { status: "rejected" },
  "approval.cancel": { status: "cancelled" },
};

/** Fields of bodies that say where or how, and are no part of the resource. */
const notChanged: readonly string[] = ["workspace_id"];

export type ChangeKind = "create" | "update" | "delete" | "run";

export interface ProposedChanges {
  readonly kind: ChangeKind;
  readonly changes: readonly FieldChange[];
  readonly stale: { readonly is_stale: boolean; readonly problem: string | null };
  readonly current_version: number | null;
}

export async function changesOf(
  ctx: OperationContext,
  operation: Operation,
  row: ApprovalRow,
): Promise<ProposedChanges> {
  const kind = kindOf(operation);
  const current = kind === "create" ? undefined : await currentOf(ctx, operation, row.params);
  const { version, problem } = await standingOf(ctx, row, kind !== "create" && !current);
  const isSecret = (path: readonly string[]) =>
    row.sealed_paths.some((sealed) => sealed.every((name, index) => path[index] === name));
  const { streams, remove, ...rest } = row.body as { readonly [name: string]: unknown };
  const isOfStreams = "pipeline_id" in row.params && kind === "update";
  const body = Object.fromEntries(
    Object.entries(isOfStreams ? rest : row.body).filter(([name]) => !notChanged.includes(name)),
  );
  const changes: FieldChange[] = [];
  const compare = (path: readonly string[], before: unknown, after: unknown) =>
    changes.push(...compared(path, before, after, isSecret));
  if (kind === "delete")
    for (const [name, value] of Object.entries(current ?? {})) compare([name], value, undefined);
  const after = { ...body, ...ownEffects[operation.id] };
  for (const [name, value] of Object.entries(after)) {
    const before = current?.[name];
    if (value === undefined) continue;
    compare([name], before, mergedFields.includes(name) ? merged(before, value) : value);
  }
  if (isOfStreams && current)
    changes.push(...(await streamChanges(ctx, operation, row, { streams, remove })));
  return {
    kind,
    // Whether there is one already, a resource does not say.
    changes: changes.map((one) =>
      one.is_secret && kind === "update" ? { ...one, change: "change" } : one,
    ),
    stale: { is_stale: row.status === "pending" && problem !== null, problem },
    current_version: version,
  };
}

function kindOf({ method, path, effect }: Operation): ChangeKind {
  if (effect === "compute") return "run";
  if (method === "PATCH") return "update";
  if (method === "DELETE") return "delete";
  return /\}\/\w+$/.test(path) && !/\/(invitations|members)$/.test(path) ? "run" : "create";
}

/** Whether it could be carried out as far as its target goes. */
async function standingOf(ctx: OperationContext, row: ApprovalRow, isMissing: boolean) {
  const gone = { version: null, problem: "It does not exist any more." };
  try {
    const target = await findTarget(ctx.db, row.workspace_id, row.params);
    const version = target?.version ?? null;
    if (target && version !== row.resource_version)
      return { version, problem: "It was changed after this was proposed: propose it again." };
    return isMissing && target ? gone : { version, problem: null };
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    return gone;
  }
}

/** Merges as RFC 7396 does, and keeps null where a property goes. */
function merged(before: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const base = isJsonObject(before) ? before : {};
  const changed = Object.entries(patch).map(([name, value]) => [
    name,
    value === null ? undefined : merged(base[name], value),
  ]);
  return { ...base, ...Object.fromEntries(changed) };
}

/** The fields in which two values differ. A list is one value. */
function compared(
  path: readonly string[],
  before: unknown,
  after: unknown,
  isSecret: (path: readonly string[]) => boolean,
): FieldChange[] {
  if (isSecret(path)) {
    const change = before === undefined ? "add" : "change";
    return [{ path, change, before: null, after: null, is_secret: true }];
  }
  if (
    isJsonObject(after)
      ? isJsonObject(before) || before == null
      : isJsonObject(before) && after == null
  ) {
    const [left, right] = [before ?? {}, after ?? {}] as [Shown, Shown];
    return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((name) =>
      compared([...path, name], left[name], right[name], isSecret),
    );
  }
  if (sameValue(before, after)) return [];
  const change = before === undefined ? "add" : after === undefined ? "remove" : "change";
  const [left, right] = [before ?? null, after ?? null] as [JsonValue, JsonValue];
  return [{ path, change, before: left, after: right, is_secret: false }];
}

const sameValue = (left: unknown, right: unknown): boolean =>
  JSON.stringify(left ?? null) === JSON.stringify(right ?? null);

type NamedStream = Shown & { readonly name?: unknown; readonly namespace?: unknown };

const labelOf = ({ namespace, name }: NamedStream): string =>
  typeof namespace === "string" && namespace !== "" ? `${namespace}.${name}` : String(name);

/** Streams are told one by one: of those that a proposal names, the fields that it names. */
async function streamChanges(
  ctx: OperationContext,
  { id }: Operation,
  row: ApprovalRow,
  { streams, remove }: { readonly streams?: unknown; readonly remove?: unknown },
): Promise<FieldChange[]> {
  const [named, gone] = [streams ?? [], remove ?? []] as [NamedStream[], NamedStream[]];
  if (streams === undefined && remove === undefined) return [];
  const list = await listAt(ctx, "/pipelines/{pipeline_id}/streams", row.params);
  const current = new Map(list.map((one) => [labelOf(one), one]));
  const leaving = new Set(gone.map(labelOf));
  // A change of the pipeline itself names all that it is to have.
  if (id === "pipeline.update" && streams !== undefined) {
    const kept = new Set(named.map(labelOf));
    for (const label of current.keys()) if (!kept.has(label)) leaving.add(label);
  }
  const never = () => false;
  return [
    ...named.flatMap((one) => {
      const label = labelOf(one);
      const before = current.get(label);
      return Object.entries(one)
        .filter(([name]) => !before || (name !== "name" && name !== "namespace"))
        .flatMap(([name, value]) =>
          compared(["streams", label, name], before?.[name], value, never),
        );
    }),
    ...[...leaving].flatMap((label) =>
      compared(["streams", label], current.get(label)?.name, undefined, never),
    ),
  ];
}
