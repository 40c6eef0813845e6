import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addPipeline } from "../../tests/control-pipelines.ts";
import {
  addCatalog,
  addCredential,
  addDestination,
  addSource,
  tableStream,
} from "../../tests/control-rows.ts";
import { operations } from "../operations/index.ts";

/** Each tells its budget by its size. */
const limits = { read: 4_000, write: 3_000, provider: 2_000, anonymous: 1_000 };
const budgets = { 4000: "read", 3000: "write", 2000: "provider", 1000: "anonymous" };

describe("only what asks a provider is paid from its budget", () => {
  let api: TestControl;
  let ends: { source_id: string; destination_id: string };
  const makeEnds = async () => {
    const source_id = await addSource(api, await addCredential(api));
    ends = { source_id, destination_id: await addDestination(api) };
  };
  beforeEach(makeEnds);
  beforeAll(async () => {
    api = await startTestControl({
      sandbox: "inline",
      seams: { resolve: async () => [] },
      settings: {
        network: { approvedHosts: ["mail.example.com"], allowNetworks: [] },
        limits,
      },
    });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const budgetOf = async (...request: Parameters<TestControl["call"]>) => {
    const { headers } = await api.call(...request);
    return budgets[String(headers["x-ratelimit-limit"]) as unknown as keyof typeof budgets];
  };
  const left = async () =>
    Number((await api.call("GET", "/sources")).headers["x-ratelimit-remaining"]);
  const streams = [{ name: "orders" }];
  const forget = () => api.db.deleteFrom("catalogs").execute();
  const makePipeline = async () =>
    (
      await addPipeline(
        api,
        { sourceId: ends.source_id, destinationId: ends.destination_id },
        [],
        [],
      )
    ).id;

  test.each([
    "sources",
    "destinations",
  ] as const)("a name of %s is changed without", async (kind) => {
    const path = `/${kind}/${kind === "sources" ? ends.source_id : ends.destination_id}`;
    expect(await budgetOf("PATCH", path, { body: { name: "Another" } })).toBe("write");
    const configuration = kind === "sources" ? { lookback_days: 3 } : { file: "another" };
    expect(await budgetOf("PATCH", path, { body: { configuration } })).toBe("provider");
  });

  test("a pipeline is made and changed without where its streams are known", async () => {
    await forget();
    await addCatalog(api, ends.source_id, [tableStream("orders")]);
    expect(await budgetOf("POST", "/pipelines/prepare", { body: ends })).toBe("read");
    expect(await budgetOf("POST", "/pipelines/prepare", { body: { ...ends, refresh: true } })).toBe(
      "provider",
    );
    await forget();
    await addCatalog(api, ends.source_id, [tableStream("orders")]);
    expect(await budgetOf("POST", "/pipelines", { body: { ...ends, streams } })).toBe("write");
    const id = await makePipeline();
    const change = (body: object) => budgetOf("PATCH", `/pipelines/${id}`, { body });
    expect(await change({ name: "Another", prefix: "a_" })).toBe("write");
    expect(await change({ streams, prefix: "b_" })).toBe("write");
    await forget();
    expect(await change({ name: "Yet another" })).toBe("write");
    expect(await change({ streams, prefix: "c_" })).toBe("provider");
  });

  test("what is refused before anybody is asked costs nothing of it", async () => {
    const body = { name: "x", connector_id: "mailer", credential_handle: "ch_unknown" };
    expect(await budgetOf("POST", "/sources", { body })).toBe("write");
    expect(await budgetOf("POST", "/pipelines/prepare", { body: {} })).toBe("read");
  });

  test("what is proposed is paid when it is carried out", async () => {
    const proposal = { headers: { "x-svc-execution-mode": "proposal" } };
    const path = `/sources/${ends.source_id}`;
    const body = { configuration: { lookback_days: 4 } };
    expect(await budgetOf("PATCH", path, { body, ...proposal })).toBe("write");
  });

  test("a read takes one of the budget for reads", async () => {
    const before = await left();
    expect(await left()).toBe(before - 1);
  });

  test("the registry says of each operation that may ask whether it does so always", () => {
    const changes = operations.flatMap((operation) =>
      operation.effect === "write" && operation.limit === "provider" && operation.method === "PATCH"
        ? [[operation.id, operation.asks !== undefined]]
        : [],
    );
    expect(changes.filter(([, asks]) => !asks)).toEqual([]);
    expect(changes.length).toBeGreaterThan(4);
    for (const operation of operations)
      if (operation.effect !== "read" && operation.asks)
        expect([operation.id, operation.guard !== undefined]).toEqual([operation.id, true]);
  });
});
