/** The stored form of a request that was proposed, and the request made from it again. */
import type { HeldData, Operation, OperationInput } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Db } from "../store/database.ts";
import type { Vault } from "../vault/vault.ts";
import { digestOf } from "./digest.ts";
import { type ApprovalRow, sealOwner } from "./rows.ts";
import { putSecrets, type SecretPath, takeSecrets } from "./seal.ts";

export type ProposableInput = OperationInput<
  Record<string, string>,
  Record<string, unknown>,
  Record<string, unknown>
>;

type KeptPayload = Pick<
  ApprovalRow,
  "method" | "path" | "params" | "query" | "body" | "is_held" | "payload_digest"
> & {
  readonly sealed_paths: readonly SecretPath[];
};

/**
 * The payload for the row of an approval, and the secrets that stood in it, for the vault.
 * @param held what is decided about in place of the body
 * @throws secret_not_allowed
 */
export function toPayload(
  { id, workspace_id }: Pick<ApprovalRow, "id" | "workspace_id">,
  operation: Operation,
  input: ProposableInput,
  held: HeldData | undefined,
): { readonly payload: KeptPayload; readonly secrets: readonly unknown[] } {
  const secretFields = operation.effect === "write" ? (operation.secretFields ?? []) : [];
  const { body, places, values } = held
    ? { body: held, places: [], values: [] }
    : takeSecrets(input.body, secretFields);
  const kept = {
    method: operation.method,
    path: pathOf(operation, input),
    params: input.params,
    query: input.query,
    body,
    is_held: held !== undefined,
    sealed_paths: places,
  };
  return {
    payload: { ...kept, payload_digest: digestOfRow({ ...kept, id, workspace_id }) },
    secrets: values,
  };
}

/** The digest of a row's payload as it is now. */
export function digestOfRow(
  row: Pick<ApprovalRow, "id" | "workspace_id" | "method" | "path" | "body" | "sealed_paths">,
): string {
  const references = row.sealed_paths.map((place) => `vault:${row.id}/${place.join(".")}`);
  return digestOf({
    method: row.method,
    path: row.path,
    workspace_id: row.workspace_id,
    body: putSecrets(row.body, row.sealed_paths, references),
  });
}

/**
 * The request as it was proposed; its secrets come from the vault.
 * @throws payload_changed when the row is not as it was written
 */
export async function toInput(
  db: Db,
  vault: Vault,
  operation: Operation,
  row: ApprovalRow,
): Promise<ProposableInput> {
  const { params, query, sealed_paths } = row;
  const isOurs =
    row.method === operation.method && row.path === pathOf(operation, { params, query });
  if (!isOurs || digestOfRow(row) !== row.payload_digest) throw new ControlError("payload_changed");
  if (sealed_paths.length === 0) return { params, query, body: row.body };
  const values = (await vault.open(db, sealOwner(row)))?.value.values;
  if (!Array.isArray(values) || values.length !== sealed_paths.length)
    throw new ControlError("payload_changed");
  return { params, query, body: putSecrets(row.body, sealed_paths, values) };
}

function pathOf(
  { path }: Operation,
  { params, query }: Pick<ProposableInput, "params" | "query">,
): string {
  const named = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ""),
  );
  // The workspace is in the digest of its own.
  const rest = Object.entries(query).filter(([name]) => name !== "workspace_id");
  const search = new URLSearchParams(rest.sort().map(([name, value]) => [name, String(value)]));
  return rest.length === 0 ? named : `${named}?${search}`;
}
