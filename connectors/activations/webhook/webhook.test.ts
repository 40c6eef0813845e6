import {
  createActivationHost,
  createScaledClock,
  findActivationConnector,
  type RowBatch,
} from "svc-connectors/host";
import { expect, test } from "vitest";
import { startWebhook, type WebhookOptions } from "../../../simulators/webhook/webhook.ts";

const reference = findActivationConnector("webhook");
const command = { owner: "act_1", object: "rows", operation: "upsert", identifier: "id" } as const;
const rows = ["a", "b"].map((key) => ({ key, change: "added" as const, fields: { id: key } }));

async function start(options: WebhookOptions = {}) {
  const webhook = await startWebhook(options);
  const seen: {
    readonly method: string;
    readonly requestHeaders: Readonly<Record<string, string>>;
  }[] = [];
  // Retries wait on the clock: they come at once, with timestamps of the hours that they have
  // waited.
  const host = createActivationHost({
    seams: { ...webhook.seams, observe: (exchange) => void seen.push(exchange) },
    clock: createScaledClock(100),
  });
  const write = async (
    config: object = {},
    batches: readonly RowBatch[] = [{ id: "batch-1", rows }],
  ) => {
    const results = [];
    const whole = { url: webhook.url, signing_secret: webhook.secret, ...config };
    for await (const result of host.write(reference, whole, command, feed(batches)))
      results.push(result);
    return results;
  };
  return { webhook, host, seen, write, [Symbol.asyncDispose]: () => webhook.close() };
}
async function* feed(batches: readonly RowBatch[]) {
  yield* batches;
}

test("a batch is signed as Standard Webhooks says, and all of its rows are taken", async () => {
  await using hook = await start();
  expect(await hook.write()).toEqual([{ failed: [] }]);
  expect(hook.webhook.deliveries).toEqual([{ id: "batch-1", rows }]);
  expect(hook.seen[0]?.requestHeaders).toMatchObject({
    "webhook-id": "batch-1",
    "webhook-signature": expect.stringMatching(/^v1,/),
  });
});

test("a receiver with another key refuses, and the error does not tell the key", async () => {
  await using hook = await start();
  const signing_secret = Buffer.from("another key of thirty-two bytes!").toString("base64");
  const error = await hook.write({ signing_secret }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "CREDENTIALS_REJECTED" });
  expect(JSON.stringify(error)).not.toContain(signing_secret);
  expect(hook.webhook.rows.size).toBe(0);
});

test.each([
  "short",
  "whsec_AAAA",
  "not base64 at all, though it is long enough for one",
])("a key that is none (%s) is refused before anything is sent", async (signing_secret) => {
  await using hook = await start();
  await expect(hook.write({ signing_secret })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  expect(hook.webhook.requests).toEqual([]);
});

test("a batch whose answer was lost goes again with the same id, and counts once", async () => {
  await using hook = await start();
  hook.webhook.faults.inject({ type: "status", status: 503 }, { times: 2 });
  expect(await hook.write()).toEqual([{ failed: [] }]);
  const ids = hook.seen.map(({ requestHeaders }) => requestHeaders["webhook-id"]);
  expect(ids).toEqual(["batch-1", "batch-1", "batch-1"]);
  expect(hook.webhook.deliveries).toHaveLength(1);
});

test("a batch that is refused as a whole, and rows that are named, fail one by one", async () => {
  await using refusing = await start({
    answer: () => ({ status: 422, body: { message: "text of the receiver" } }),
  });
  expect(await refusing.write()).toEqual([
    { failed: rows.map(({ key }) => ({ key, reason: "rejected", word: "http_422" })) },
  ]);
  await using naming = await start({
    answer: () => ({
      status: 200,
      body: { failed: [{ key: "b", reason: "too_old" }, { key: "z" }, 5, null] },
    }),
  });
  expect(await naming.write()).toEqual([
    { failed: [{ key: "b", reason: "rejected", word: "too_old" }] },
  ]);
});

test.each([
  [404, "RESOURCE_NOT_FOUND"],
  [403, "PERMISSION_DENIED"],
  [302, "REDIRECT_REFUSED"],
])("an answer of %i ends the run", async (status, code) => {
  await using hook = await start({ answer: () => ({ status }) });
  await expect(hook.write()).rejects.toMatchObject({ code });
});

test("a URL that leads to a private address is not connected to", async () => {
  await using hook = await start();
  const host = createActivationHost({
    seams: { ...hook.webhook.seams, resolve: async () => [{ address: "10.0.0.7", family: 4 }] },
  });
  const config = { url: hook.webhook.url, signing_secret: hook.webhook.secret };
  const work = async () => {
    for await (const _ of host.write(reference, config, command, feed([{ id: "x", rows }]))) break;
  };
  await expect(work()).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
  expect(hook.webhook.requests).toEqual([]);
});
