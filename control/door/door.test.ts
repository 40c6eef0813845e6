/**
 * Bad input, whatever it is: refused with its place, never with its value, and nothing is written.
 */
import { randomUUID } from "node:crypto";
import { Type } from "typebox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { IdInput, Name, StrictObject } from "../contract/schemas.ts";
import type { Answer } from "./answer.ts";

const marker = "canaryvalue9";
const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

describe("bodies", () => {
  let api: TestControl;
  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline" });
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
  });

  const whole = {
    name: "Source",
    connector_id: "conn_mailer_product_edm",
    credential_handle: `ch_${"0".repeat(36)}`,
    configuration: {},
  };
  const but = (changes: object) => JSON.stringify({ ...whole, ...changes });
  /** The whole body with `text` in place of the name. */
  const raw = (text: string) => JSON.stringify({ ...whole, name: "@" }).replace('"@"', text);

  test.each<[string, string, number, string, string | undefined]>([
    ["nothing", "", 422, "validation_failed", "name"],
    ["white space", "  ", 400, "malformed_json", undefined],
    ["a list", "[]", 422, "validation_failed", ""],
    ["null", "null", 422, "validation_failed", ""],
    ["a text", `"${marker}"`, 422, "validation_failed", ""],
    ["a number", "1", 422, "validation_failed", ""],
    ["a comment", `{/* ${marker} */}`, 400, "malformed_json", undefined],
    ["two values", "{}{}", 400, "malformed_json", undefined],
    ["NaN", raw("NaN"), 400, "malformed_json", undefined],
    ["a raw line break in a text", raw('"a\nb"'), 400, "malformed_json", undefined],
    ["a wrong type", but({ name: 5 }), 422, "validation_failed", "name"],
    ["an object for a text", but({ name: { [marker]: marker } }), 422, "validation_failed", "name"],
    ["an empty name", but({ name: "" }), 422, "validation_failed", "name"],
    ["a name that is too long", but({ name: marker.repeat(30) }), 422, "validation_failed", "name"],
    [
      "a line break in a name",
      but({ name: `${marker}\r\nX: y` }),
      422,
      "validation_failed",
      "name",
    ],
    ["NUL in a name", but({ name: `${marker}\u0000` }), 422, "validation_failed", "name"],
    ["half a surrogate pair", raw(`"${marker}\\ud800"`), 422, "validation_failed", "name"],
    [
      "NUL deep inside",
      but({ configuration: { a: [{ b: `${marker}\u0000` }] } }),
      422,
      "validation_failed",
      "configuration.a.0.b",
    ],
    [
      "NUL in a property's name",
      but({ configuration: { "a\u0000": marker } }),
      422,
      "validation_failed",
      "configuration",
    ],
    ["an unknown field", but({ colour: marker }), 422, "validation_failed", "colour"],
    [
      "an unknown field that looks like a secret",
      but({ [`${marker}-1`]: 1 }),
      422,
      "validation_failed",
      "",
    ],
    ["a field twice", raw(`"a", "name": "${marker}"`), 422, "duplicate_field", "name"],
    [
      "a field twice, spelt differently",
      raw(`"a", "\\u006eame": "${marker}"`),
      422,
      "duplicate_field",
      "name",
    ],
    [
      "a field twice, deep inside",
      raw(`"a", "configuration": {"b": [{"c": 1, "c": "${marker}"}]}`).replace(
        ',"configuration":{}',
        "",
      ),
      422,
      "duplicate_field",
      "configuration.b.0.c",
    ],
    ["__proto__", raw(`"a", "__proto__": {"name": "${marker}"}`), 422, "validation_failed", ""],
    [
      "__proto__ deep inside",
      raw(`"a", "configuration": {"b": {"\\u005f_proto__": {}}}`).replace(
        ',"configuration":{}',
        "",
      ),
      422,
      "validation_failed",
      "configuration.b",
    ],
    ["constructor", but({ constructor: marker }), 422, "validation_failed", "constructor"],
    [
      "a number beyond any double",
      raw('"a", "configuration": {"n": 1e999}').replace(',"configuration":{}', ""),
      422,
      "validation_failed",
      "configuration.n",
    ],
    [
      "a whole number that would be rounded",
      raw('"a", "configuration": {"n": 12345678901234567890}').replace(',"configuration":{}', ""),
      422,
      "validation_failed",
      "configuration.n",
    ],
    [
      "33 levels",
      but({ configuration: { a: JSON.parse(deep(31)) } }),
      422,
      "nesting_too_deep",
      undefined,
    ],
    ["half a million levels", deep(500_000), 422, "nesting_too_deep", undefined],
    [
      "half a million levels without an end",
      "[".repeat(1_000_000),
      400,
      "malformed_json",
      undefined,
    ],
    [
      "a workspace that is no text",
      but({ workspace_id: { a: 1 } }),
      422,
      "validation_failed",
      "workspace_id",
    ],
    [
      "an unknown workspace",
      but({ workspace_id: `ws_${"0".repeat(22)}` }),
      404,
      "not_found",
      undefined,
    ],
    ["an unknown connector", but({ connector_id: marker }), 404, "not_found", undefined],
    [
      "an id that is too long",
      but({ connector_id: marker.repeat(30) }),
      422,
      "validation_failed",
      "connector_id",
    ],
    [
      "a handle that is none",
      but({ credential_handle: marker }),
      422,
      "validation_failed",
      "credential_handle",
    ],
  ])("%s", async (_name, body, status, reason, path) => {
    const before = await everything(api);
    const answer = await api.call("POST", "/sources", {
      body,
      headers: { "content-type": "application/json" },
    });
    expect(answer.body).toMatchObject({ code: String(status), details: { reason } });
    expect(answer.status).toBe(status);
    if (path !== undefined)
      expect(answer.body.details.errors.map((one: { path: string }) => one.path)).toContain(path);
    expect(answer.text).not.toContain(marker);
    expect(await everything(api)).toBe(before);
    const entries = await api.db.selectFrom("audit_logs").selectAll().execute();
    expect(JSON.stringify(entries)).not.toContain(marker);
  });

  test("32 levels are taken, and a megabyte of faults is answered with twenty", async () => {
    const level = await api.call("POST", "/sources", {
      body: but({ configuration: { a: JSON.parse(deep(30)) } }),
    });
    expect(level.body.details.reason).toBe("not_found");
    const faults = `{${Array.from({ length: 60_000 }, (_, index) => `"f${index}":1`).join()}}`;
    const many = await api.call("POST", "/sources", { body: faults });
    expect(many.body.details.errors).toHaveLength(20);
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=201", "limit"],
    ["limit=-1", "limit"],
    ["limit=1e1", "limit"],
    ["limit=0x10", "limit"],
    ["limit=%2010", "limit"],
    ["limit=010", "limit"],
    ["limit=", "limit"],
    ["limit=5.0", "limit"],
    ["limit=99999999999999999999", "limit"],
    ["limit=5&limit=6", "limit"],
    ["limit[]=5", ""],
    ["colour=red", "colour"],
    ["__proto__=1", ""],
    ["cursor=a&cursor=b", "cursor"],
    [`cursor=${"a".repeat(2_001)}`, "cursor"],
    ["connector_id=a%00b", "connector_id"],
    ["workspace_id=a&workspace_id=b", "workspace_id"],
  ])("?%.60s", async (query, path) => {
    const answer = await api.call("GET", `/sources?${query}`);
    expect(answer.body).toMatchObject({
      code: "400",
      details: { reason: "invalid_query", errors: [{ path }] },
    });
  });

  test.each([
    ["garbage", "garbage"],
    ["another list's", cursorOf([0, "a", "AAAAAAAAAAAAAAAA"])],
    ["an object", cursorOf({})],
    ["nothing", ""],
  ])("a cursor that is %s", async (_name, cursor) => {
    const answer = await api.call("GET", `/sources?cursor=${cursor}`);
    expect(answer.body).toMatchObject({ code: "400", details: { reason: "invalid_cursor" } });
  });

  test.each([
    '"v1',
    "v1",
    "1",
    "*, nonsense",
    '"v1", x',
  ])("If-Match: %s is no tag", async (ifMatch) => {
    const { answer } = await rename(api, { ifMatch });
    expect(JSON.parse(answer.body)).toMatchObject({ details: { reason: "invalid_header" } });
  });

  test.each([
    '"v2"',
    'W/"v1"',
    '"else"',
    '"v3", "v4"',
  ])("If-Match: %s is another version", async (ifMatch) => {
    const { answer } = await rename(api, { ifMatch });
    expect(JSON.parse(answer.body)).toMatchObject({
      code: "412",
      details: { reason: "version_mismatch" },
    });
  });

  test.each(['"v1"', "*", '"v0", "v1"'])("If-Match: %s is this version", async (ifMatch) => {
    expect((await rename(api, { ifMatch })).answer.status).toBe(200);
  });
});

describe("Idempotency-Key", () => {
  let api: TestControl;
  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline" });
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
  });

  test("fifty at once have one effect; those who come while it runs are told so", async () => {
    const { release, hold } = createHold();
    const options = { idempotencyKey: "fifty", hold };
    const all = Array.from({ length: 50 }, () => rename(api, options));
    await hold.reached;
    const refused = (await rename(api, options)).answer;
    expect([refused.status, JSON.parse(refused.body).details.reason]).toEqual([
      409,
      "idempotency_in_flight",
    ]);
    expect(refused.headers["retry-after"]).toBe("1");
    release();
    const ended = await Promise.all(all);
    expect(ended.reduce((sum, { effects }) => sum + effects, 0)).toBe(1);
    const answers = ended.map(({ answer }) => answer);
    const done = answers.filter(
      ({ status, headers }) => status === 200 && !("idempotent-replayed" in headers),
    );
    expect(done).toHaveLength(1);
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    const { answer, effects } = await rename(api, options);
    expect(effects).toBe(0);
    expect(answer.headers["idempotent-replayed"]).toBe("true");
    const [first] = done.map(({ body }) => JSON.parse(body));
    expect(JSON.parse(answer.body).data).toEqual(first.data);
    expect(JSON.parse(answer.body).request_id).not.toBe(first.request_id);
  });

  test("it replays what was done although the guard would refuse it now", async () => {
    const options = { idempotencyKey: "gone" };
    await rename(api, options);
    const { answer } = await rename(api, { ...options, guard: true });
    expect(answer.status).toBe(200);
    expect(answer.headers["idempotent-replayed"]).toBe("true");
  });

  test.each([
    ["another body", { name: "other" }],
    ["a proposal", { executionMode: "proposal" }],
    ["another workspace", { workspace: "second" as const }],
  ])("with %s it is refused", async (_name, changes) => {
    const key = randomUUID();
    await rename(api, { idempotencyKey: key, user: "both" });
    const { answer, effects } = await rename(api, {
      idempotencyKey: key,
      user: "both",
      ...changes,
    });
    expect([effects, JSON.parse(answer.body).details.reason]).toEqual([
      0,
      "idempotency_key_reused",
    ]);
  });

  test("another session has keys of its own; a refused request uses none up", async () => {
    await rename(api, { idempotencyKey: "shared" });
    expect((await rename(api, { idempotencyKey: "shared", role: "editor" })).effects).toBe(1);
    expect((await rename(api, { idempotencyKey: "kept", guard: true })).answer.status).toBe(409);
    expect((await rename(api, { idempotencyKey: "kept" })).effects).toBe(1);
    expect((await rename(api, { idempotencyKey: "form", name: "" })).answer.status).toBe(422);
    expect((await rename(api, { idempotencyKey: "form" })).effects).toBe(1);
  });

  test.each(["", "é", "a\tb", "x".repeat(256)])("%j is no key", async (idempotencyKey) => {
    const { answer } = await rename(api, { idempotencyKey });
    expect(JSON.parse(answer.body)).toMatchObject({
      code: "400",
      details: { reason: "invalid_header" },
    });
  });

  test("whoever was taken for dead writes nothing when it comes back", async () => {
    const { release, hold } = createHold();
    const late = rename(api, { idempotencyKey: "dead", hold });
    await hold.reached;
    await api.db
      .updateTable("idempotency_keys")
      .set({ locked_until: new Date(0) })
      .where("key", "=", "dead")
      .execute();
    const heir = await rename(api, { idempotencyKey: "dead" });
    expect([heir.answer.status, heir.effects]).toEqual([200, 1]);
    release();
    const { answer, kept } = await late;
    expect(JSON.parse(answer.body)).toMatchObject({
      code: "409",
      details: { reason: "idempotency_in_flight" },
    });
    expect(kept).toBe(1);
  });

  test("what cannot be answered is not done", async () => {
    const { answer, effects, kept } = await rename(api, { idempotencyKey: "mute", version: null });
    expect([answer.status, effects, kept]).toEqual([500, 1, 0]);
    const without = await rename(api, { version: null });
    expect([without.answer.status, without.effects, without.kept]).toEqual([500, 1, 0]);
  });

  test("what is kept is what was sent, and no more", async () => {
    await rename(api, { idempotencyKey: "small" });
    const row = await api.db
      .selectFrom("idempotency_keys")
      .selectAll()
      .where("key", "=", "small")
      .executeTakeFirstOrThrow();
    expect(Object.keys(row.data ?? {}).sort()).toEqual(["name", "version"]);
  });
});

const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Every row but those that any attempt leaves. */
async function everything({ db }: TestControl): Promise<string> {
  const tables = [
    "sources",
    "credentials",
    "secrets",
    "credential_uses",
    "idempotency_keys",
    "connections",
  ] as const;
  return JSON.stringify(
    await Promise.all(tables.map((table) => db.selectFrom(table).selectAll().execute())),
  );
}

function createHold() {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  return {
    release: released.resolve,
    hold: {
      reached: reached.promise,
      wait: () => {
        reached.resolve();
        return released.promise;
      },
    },
  };
}

interface Rename {
  readonly name?: string;
  readonly ifMatch?: string;
  readonly idempotencyKey?: string;
  readonly executionMode?: string;
  readonly workspace?: "first" | "second";
  /** "both": the administrator of the first workspace who is a member of the second one too. */
  readonly user?: "both";
  readonly role?: "editor";
  /** Version in the answer; null: it has none, although it is declared. */
  readonly version?: number | null;
  /** The guard refuses. */
  readonly guard?: boolean;
  readonly hold?: ReturnType<typeof createHold>["hold"];
}

/**
 * An operation of this test, through the door: it notes that it was done, in a table that nothing
 * else uses here.
 */
async function rename(
  api: TestControl,
  options: Rename,
): Promise<{ readonly answer: Answer; readonly effects: number; readonly kept: number }> {
  const { name = "new", hold } = options;
  const version = (options.version === null ? undefined : (options.version ?? 2)) as number;
  const id = `test_${options.idempotencyKey ?? randomUUID()}`;
  let effects = 0;
  const operation = defineWrite({
    id: "test.rename",
    area: "Workspaces",
    method: "POST",
    path: "/tests/{test_id}",
    summary: "Rename",
    permission: "write",
    status: 200,
    resource: "test",
    params: StrictObject({ test_id: IdInput("The test.") }),
    body: StrictObject({ name: Name }),
    data: StrictObject({ name: Name, version: Type.Integer() }),
    errors: [],
    async guard(ctx: OperationContext) {
      if (options.guard) throw new ControlError("name_taken");
      ctx.expectVersion(1);
    },
    prepare: async () => hold?.wait(),
    async commit(tx, { now }, { body }) {
      effects += 1;
      await tx
        .insertInto("connector_settings")
        .values({ connector_id: `${id}_${randomUUID()}`, enabled: true, updated_at: now })
        .execute();
      return { data: { name: body.name, version, more: "is not declared" }, resourceId: "test" };
    },
  });
  const token = options.role ? api.first.tokens[options.role] : api.first.tokens.admin;
  const caller = await api.control.authenticate({
    authorization: `Bearer ${token}`,
    client: undefined,
    ip: null,
    userAgent: null,
  });
  const memberships = [
    ...caller.memberships,
    { workspaceId: api.second.id, role: "admin" as const },
  ];
  const answer = await api.control.execute(
    operation,
    {
      path: "/control/v1/tests/t",
      params: { test_id: "t" },
      query: {},
      body: { value: { name } },
      headers: {
        ifMatch: options.ifMatch,
        idempotencyKey: options.idempotencyKey,
        executionMode: options.executionMode,
        workspaceId: api[options.workspace ?? "first"].id,
      },
      signal: new AbortController().signal,
    },
    options.user === "both" ? { ...caller, memberships } : caller,
  );
  const rows = await api.db
    .selectFrom("connector_settings")
    .select("connector_id")
    .where("connector_id", "like", `${id}_%`)
    .execute();
  return { answer, effects, kept: rows.length };
}
