import { mkdtemp, rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildImages, hasDocker } from "../../fixtures/images/docker.ts";
import { answerNotes, notebook, origin } from "../../fixtures/reference/provider.ts";
import type { Provider, ProviderRequest } from "../contract/network.ts";
import type { Message, Order } from "../contract/observation.ts";
import type { Target, World } from "../contract/target.ts";
import { type FaultServerOptions, openFaultServer } from "../faults/server.ts";
import { type ContainerTargetOptions, createContainerTarget } from "./container.ts";

const config = { api_token: "token-of-the-kit-0123456789" };
const stream = { name: "notes", json_schema: {}, supported_sync_modes: ["full_refresh", "incremental"] } as const;
const read = (syncMode: "full_refresh" | "incremental" = "incremental"): Extract<Order, { verb: "read" }> => ({
  verb: "read",
  config,
  catalog: { streams: [{ stream, sync_mode: syncMode }] } as never,
});

const notes: Provider = {
  answer: ({ method, url, headers }) => {
    if (url.origin !== origin) return { unmatched: `No recording holds ${url}.` };
    const { status, body } = answerNotes(notebook, method, url, headers.authorization === `Bearer ${config.api_token}`);
    return { status, headers: { "content-type": "application/json" }, body: Buffer.from(body) };
  },
  unused: () => [],
};

interface Choice {
  readonly network?: Partial<FaultServerOptions>;
  readonly world?: Partial<World>;
}

/** One run, and all that it said. */
async function run(target: Target, order: Order, { network = {}, world = {} }: Choice = {}) {
  const lines: string[] = [];
  await using server = await openFaultServer({ provider: notes, now: Date.now, proxy: target.proxy, ...network });
  const clock = { now: Date.now, sleep: async () => undefined };
  const write = async (line: string) => void lines.push(line);
  const signal = new AbortController().signal;
  const ending = await target.run(order, { clock, network: server.network, write, signal, environment: {}, ...world });
  const messages = lines.flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Message] : []));
  const ids = messages.flatMap((message) => (message.type === "RECORD" ? [message.record.data["id"]] : []));
  return { ending, lines, messages, ids, server };
}

const allIds = notebook.notes.map(({ id }) => id);

test.skipIf(!hasDocker)("placeholder so that a machine without Docker shows what was skipped", () => undefined);

describeContainers();

function describeContainers() {
  if (!hasDocker) return;
  let target: Target;
  const more: Target[] = [];
  const open = async (options: Partial<ContainerTargetOptions> & { image: string }) => {
    const opened = await createContainerTarget(options);
    more.push(opened);
    return opened;
  };

  beforeAll(async () => {
    await buildImages("reference");
    target = await createContainerTarget({ image: "svc-test-reference" });
  }, 300_000);
  afterAll(async () => {
    for (const one of [target, ...more]) await one?.[Symbol.asyncDispose]();
  });

  test("an image's spec, check and discover are run, and its requests are in the ledger", async () => {
    expect((await run(target, { verb: "spec" })).messages[0]).toMatchObject({ type: "SPEC" });
    const check = await run(target, { verb: "check", config });
    expect(check.messages).toEqual([{ type: "CONNECTION_STATUS", connectionStatus: { status: "SUCCEEDED" } }]);
    expect(check.server.exchanges.map(({ request }) => request.url.href)).toEqual([`${origin}/v1/me`]);
    expect((await run(target, { verb: "discover", config })).messages[0]).toMatchObject({ type: "CATALOG" });
  });

  test("a read gives every row, and goes on from a state", async () => {
    const whole = await run(target, read());
    expect([whole.ids, whole.ending.exitCode, whole.ending.isCrashed]).toEqual([allIds, 0, false]);
    const state = whole.messages.flatMap((message) =>
      message.type === "STATE" ? [message.state.stream?.stream_state] : [],
    )[1];
    const order = { ...read(), state: [{ stream: { name: "notes" }, state: state ?? null }] };
    expect((await run(target, order)).ids).toEqual(allIds.slice(4));
  });
}
