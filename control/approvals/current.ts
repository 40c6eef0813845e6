/** The subject of a proposal, as the API shows it now to who asks. */
import {
  isStream,
  type Operation,
  type OperationContext,
  type ReadOperation,
} from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { compileOperation } from "../door/compile.ts";
import { requirePermission } from "./proposer.ts";

export type Shown = { readonly [name: string]: unknown };
type Params = Readonly<Record<string, string>>;

/** Items of a list that are looked through; streams of a pipeline are 6,000 at most. */
const pageSize = 200;
const maxPages = 30;

/**
 * The resource that a path acts on: what GET gives at the path up to its last id, or the item of
 * the list there that has this id. Undefined: it is not there, or the path names none.
 * @throws permission_denied when the caller may not see it
 */
export async function currentOf(
  ctx: OperationContext,
  { path }: Operation,
  params: Params,
): Promise<Shown | undefined> {
  const place = /^(?:.*\})/.exec(path)?.[0] ?? path;
  const single = readAt(ctx, place);
  if (single) return await shown(ctx, single, params).catch(noneWhenGone);
  const [, id = ""] = /\{(\w+)\}$/.exec(place) ?? [];
  const list = readAt(ctx, place.slice(0, place.lastIndexOf("/")));
  if (!list || id === "") return undefined;
  for await (const item of itemsOf(ctx, list, params)) if (item[id] === params[id]) return item;
  return undefined;
}

/** All items of the list at a path, in its order. @throws permission_denied, not_found */
export async function listAt(ctx: OperationContext, path: string, params: Params) {
  const list = readAt(ctx, path);
  const items: Shown[] = [];
  if (list) for await (const item of itemsOf(ctx, list, params)) items.push(item);
  return items;
}

function readAt({ services }: OperationContext, path: string): ReadOperation | undefined {
  return services.operations.find(
    (one): one is ReadOperation =>
      one.effect === "read" && !isStream(one) && one.path === path && one.workspace !== "instance",
  );
}

async function* itemsOf(
  ctx: OperationContext,
  list: ReadOperation,
  params: Params,
): AsyncGenerator<Shown> {
  const isPaged = list.query?.properties.cursor !== undefined;
  let query: object = isPaged ? { limit: pageSize } : {};
  for (let page = 0; page < maxPages; page += 1) {
    const { items = [], next_cursor } = (await shown(ctx, list, params, query)) as {
      readonly items?: readonly Shown[];
      readonly next_cursor?: string | null;
    };
    yield* items;
    if (typeof next_cursor !== "string") return;
    query = { limit: pageSize, cursor: next_cursor };
  }
}

/** The data of its answer: what it declares, and nothing else. */
async function shown(
  ctx: OperationContext,
  operation: ReadOperation,
  params: Params,
  query: object = {},
): Promise<Shown> {
  requirePermission(operation, ctx.caller, ctx.workspaceId);
  const named = Object.keys(operation.params?.properties ?? {});
  const own = Object.fromEntries(named.map((name) => [name, params[name]]));
  const data = await operation.run(ctx, { params: own, query, body: {} } as never);
  return JSON.parse(compileOperation(operation).stringify(data));
}

function noneWhenGone(error: unknown): undefined {
  if (error instanceof ControlError && error.status === 404) return undefined;
  throw error;
}
