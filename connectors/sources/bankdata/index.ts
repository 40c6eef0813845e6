import {
  bodyFields,
  ConnectorError,
  checkpoint,
  defineSource,
  headers,
  http,
  identifier,
  perMinute,
  records,
  type Static,
  Type,
} from "svc-connectors";
import { ask, errorRules, meaningOf, objectOf, type SyncPage, syncPages } from "./api.ts";
import { type BankdataContext, spec } from "./spec.ts";
import { type BankdataStream, createRowMapper, describe, streamsOf } from "./streams.ts";

/** `cursor`: all updates of transactions up to here were read. */
const state = Type.Object(
  { cursor: Type.Optional(Type.String({ minLength: 1 })) },
  { additionalProperties: false },
);
type State = Static<typeof state>;

export default defineSource({
  id: "conn_bankdata",
  version: "1.0.0",
  title: "Bank data",
  spec,
  egress: http({
    baseUrl: "https://{environment}.plaid.com",
    auth: [
      headers({ "plaid-client-id": identifier("client_id"), "plaid-secret": "api_key" }),
      // Plaid refuses fields that an endpoint does not know.
      bodyFields({ access_token: "access_token" }, { except: ["/institutions/get_by_id"] }),
    ],
    headers: { "plaid-version": "2020-09-14" },
    // Per Item, of /transactions/sync. Others have less, and are asked once or twice.
    rateLimit: perMinute(50),
    errors: errorRules,
    isPostSafe: true,
  }),
  state,
  async *discover(ctx) {
    for (const stream of streamsOf(ctx.config)) yield describe(stream, ctx.config);
  },
  async check(ctx) {
    const item = objectOf(await ask(ctx, "/item/get"), "item");
    if (typeof item.item_id !== "string")
      throw new ConnectorError("RESPONSE_INVALID", { reason: "the item has no id" });
    if (item.error === null || item.error === undefined) return;
    const code = meaningOf(objectOf(item, "error").error_code);
    throw new ConnectorError(code ?? "ACCESS_MISSING", {
      reason: "the bank connection is in an error state",
    });
  },
  async *read(ctx, { name, syncMode }, saved) {
    const stream = streamsOf(ctx.config).find((one) => one.name === name);
    if (!stream) throw new ConnectorError("STREAM_UNKNOWN", { stream: name });
    let isEmpty = true;
    try {
      const outputs = stream.rows
        ? readRows(ctx, stream)
        : readTransactions(ctx, stream, syncMode === "incremental", saved);
      for await (const output of outputs) {
        isEmpty = false;
        yield output;
      }
    } catch (error) {
      const isMissing = error instanceof ConnectorError && error.code === "ACCESS_MISSING";
      if (!isMissing || !isEmpty) throw error;
      ctx.log.warn(
        "This bank connection has no such data: the stream is unavailable and left empty.",
        {
          stream: name,
          code: error.code,
        },
      );
    }
  },
});

async function* readRows(ctx: BankdataContext, stream: BankdataStream) {
  const toRow = createRowMapper(stream, ctx.config);
  for await (const rows of stream.rows?.(ctx) ?? []) yield records(rows.map(toRow));
}

/**
 * All updates since the saved cursor; without one, every transaction. The new cursor counts only
 * once all of them are out.
 */
async function* readTransactions(
  ctx: BankdataContext,
  stream: BankdataStream,
  isIncremental: boolean,
  saved: State | undefined,
) {
  const toRow = createRowMapper(stream, ctx.config);
  const now = () => new Date(ctx.clock.now()).toISOString();
  const start = isIncremental ? saved?.cursor : undefined;
  const lastSeenIn = new Map<unknown, number>();
  let last: SyncPage | undefined;
  for await (const page of syncPages(ctx, start)) {
    const _synced_at = now();
    const present = [...page.added, ...page.modified].map((row) =>
      toRow({ ...row, _removed: false, _synced_at }),
    );
    const gone = page.removed.map((row) => toRow({ ...row, _removed: true, _synced_at }));
    yield records([...present, ...gone]);
    if (start === undefined)
      for (const { transaction_id } of present) lastSeenIn.set(transaction_id, page.walk);
    last = page;
  }
  // From the beginning of time Plaid names nothing that was removed: not what an abandoned walk had
  // already given out either.
  const orphans = [...lastSeenIn].filter(([, walk]) => walk !== last?.walk);
  if (orphans.length > 0) {
    const _synced_at = now();
    yield records(
      orphans.map(([transaction_id]) => toRow({ transaction_id, _removed: true, _synced_at })),
    );
  }
  if (last?.status === "INITIAL_UPDATE_COMPLETE") {
    ctx.log.warn("Plaid is still fetching the older transactions: a later run gets them.", {
      stream: stream.name,
    });
  }
  if (isIncremental && last) yield checkpoint<State>({ cursor: last.nextCursor });
}
