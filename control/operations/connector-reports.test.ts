/** Conformance reports on connectors that were added: given, kept, shown. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { examples } from "../contract/examples.ts";

let api: TestControl;
/** Of the text that is there. */
let digest: string;
beforeAll(async () => {
  api = await startTestControl({ sandbox: "inline" });
  const body = examples["connector.create"] as object;
  digest = (await api.call("POST", "/connectors", { body })).body.data.manifest_metadata.digest;
});
afterAll(() => api?.[Symbol.asyncDispose]());

const { report } = examples["connector_report.create"] as { report: Record<string, unknown> };
const [rule] = report.rules as Record<string, unknown>[];
const path = "/connectors/conn_orders";
const give = (changes: object, options: { token?: string; path?: string } = {}) => {
  const { token, path: to = path } = options;
  return api.call("POST", `${to}/conformance`, {
    body: { report: { ...report, ...changes } },
    ...(token === undefined ? {} : { token }),
  });
};
const shown = async () => (await api.call("GET", path)).body.data.conformance;

test("it is shown with what came of each rule, and without evidence", async () => {
  expect(await shown()).toBeNull();
  expect((await api.call("GET", `${path}/conformance`)).status).toBe(404);
  const problem = {
    sentence: "orders: 3 of 10 rows are missing",
    evidence: [{ kind: "text", text: "a body" }],
  };
  const rules = [
    rule,
    { ...rule, id: "PAGE-01", result: "fail", problems: Array(7).fill(problem) },
    { ...rule, id: "AUTH-03", result: "not-applicable", reason: "It uses no OAuth." },
  ];
  const connector = { name: "orders", id: "conn_orders", version: "6.36.2", digest };
  expect((await give({ connector, rules, verdict: "failed" })).status).toBe(200);

  const { body, text } = await api.call("GET", `${path}/conformance`, {
    token: api.second.tokens.viewer,
  });
  expect(text).not.toContain("a body");
  expect(body.data).toMatchObject({
    verdict: "failed",
    kit_version: "0.9.0",
    tried_at: "2026-11-20T09:30:00.000Z",
    tried_code: "same",
    counts: { pass: 1, fail: 1, "not-applicable": 1, error: 0 },
    rules: [
      { id: "LEAK-01", problems: [] },
      { id: "PAGE-01", problem_count: 7, problems: Array(5).fill(problem.sentence) },
      { id: "AUTH-03", reason: "It uses no OAuth." },
    ],
  });
  expect(await shown()).toMatchObject({ verdict: "failed", tried_code: "same" });
  const log = await api.db
    .selectFrom("audit_logs")
    .select("resource_id")
    .where("action", "=", "connector_report.create")
    .execute();
  expect(log).toEqual([{ resource_id: "conn_orders" }]);
});

test("it is of the code that was tried: another text says so", async () => {
  await give({ connector: { name: "orders", id: "conn_orders", digest } });
  const { manifest } = examples["connector.update"] as { manifest: string };
  await api.call("PATCH", path, { body: { manifest: `${manifest}# newer\n` } });
  expect(await shown()).toMatchObject({ tried_code: "other" });
  await give({});
  expect(await shown()).toMatchObject({ tried_code: "unknown" });
});

test("who does not administer the instance gives none, nor does an agent, and svc's own have none", async () => {
  const { first, second } = api;
  for (const token of [first.tokens.editor, first.tokens.agent, second.tokens.admin])
    expect((await give({}, { token })).status).toBe(403);
  expect((await give({}, { path: "/connectors/conn_postgres" })).status).toBe(404);
});

test("what is no report of it is refused with the reason, and long texts are cut", async () => {
  const refusals = [
    [{ connector: { name: "x", id: "conn_other" } }, "another connector"],
    [{ connector: { name: "image", digest: "sha256:0" } }, "another connector"],
    [{ rules: [{ ...rule, result: "fail" }] }, "all passed"],
  ] as const;
  for (const [changes, problem] of refusals)
    expect((await give(changes)).body.details).toEqual({
      reason: "report_refused",
      problem: expect.stringContaining(problem),
    });
  for (const changes of [{ rules: [] }, { format: 2 }, { startedAt: "yesterday" }])
    expect((await give(changes)).body.details.reason).toBe("validation_failed");
  await give({ rules: [{ ...rule, title: "<b>".repeat(100_000) }] });
  const { data } = (await api.call("GET", `${path}/conformance`)).body;
  expect(data.rules[0].title).toHaveLength(2_000);
});

test("an image says no id: its report is known by its digest", async () => {
  const digest = `sha256:${"a1".repeat(32)}`;
  const image = { id: `acme/orders@${digest}`, user: null, hosts: [], exposed: [] };
  await api.db
    .updateTable("added_connectors")
    .set({ image: JSON.stringify(image) })
    .where("id", "=", "conn_orders")
    .execute();
  const ofImage = (tried: string) => give({ connector: { name: "acme/orders", digest: tried } });
  expect((await ofImage(digest)).status).toBe(200);
  expect((await ofImage(`sha256:${"b2".repeat(32)}`)).body.details.reason).toBe("report_refused");
});
