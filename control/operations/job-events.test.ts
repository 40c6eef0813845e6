import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addJob } from "../../tests/control-jobs.ts";
import { createServer } from "../http/server.ts";
import type { StreamSettings } from "../http/streams.ts";

interface StreamedEvent {
  readonly event: string | undefined;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  readonly data: any;
}

/** The events of a whole answer, or of what has come of it. */
const eventsOf = (text: string): StreamedEvent[] =>
  text.split("\n\n").flatMap((part) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(part)?.[1];
    const data = field("data");
    return data === undefined
      ? []
      : [{ event: field("event"), id: field("id"), data: JSON.parse(data) }];
  });

describe("the events of a job", () => {
  let api: TestControl;
  const servers: FastifyInstance[] = [];
  beforeAll(async () => {
    api = await startTestControl();
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const at = new Date("2026-05-01T10:00:00Z");
  const addLog = (job_id: string, ...indexes: readonly number[]) =>
    api.db
      .insertInto("job_logs")
      .values(
        indexes.map((index) => ({
          job_id,
          index,
          attempt: 1,
          at,
          level: "info" as const,
          message: `line ${index}\nof <b>`,
          fields: "{}",
        })),
      )
      .execute();
  const setStreams = (job_id: string, counts: Readonly<Record<string, number>>) =>
    api.db
      .insertInto("job_streams")
      .values(
        Object.entries(counts).map(([name, count]) => ({
          job_id,
          namespace: "",
          name,
          status: "running" as const,
          records_emitted: count,
          records_committed: count,
          bytes: count,
          committed_at: null,
          failure: null,
        })),
      )
      .onConflict((conflict) =>
        conflict
          .columns(["job_id", "namespace", "name"])
          .doUpdateSet({ records_committed: (eb) => eb.ref("excluded.records_committed") }),
      )
      .execute();
  const setJob = (id: string, change: object) =>
    api.db.updateTable("jobs").set(change).where("id", "=", id).execute();
  const running = async () => {
    const id = await addJob(api);
    await setJob(id, { status: "queued" });
    await setJob(id, { status: "running", attempt: 1, started_at: at });
    await addLog(id, 1, 2);
    return id;
  };
  const end = (id: string) => setJob(id, { status: "succeeded", ended_at: at, lease_id: null });

  const serve = async (streams: Partial<StreamSettings> = {}) => {
    const server = createServer(api.control, { streams: { lookEveryMs: 5, ...streams } });
    servers.push(server);
    await server.listen({ port: 0, host: "127.0.0.1" });
    return `http://127.0.0.1:${(server.server.address() as AddressInfo).port}/control/v1`;
  };
  const open = async (
    url: string,
    id: string,
    { token = api.first.tokens.viewer, headers = {} as Record<string, string>, query = "" } = {},
  ) => {
    const answer = await fetch(`${url}/jobs/${id}/events${query}`, {
      headers: { authorization: `Bearer ${token}`, accept: "text/event-stream", ...headers },
    });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    return {
      answer,
      reader,
      /** Reads until it has come, and gives all that has. */
      async until(isThere: (text: string) => boolean): Promise<string> {
        while (!isThere(text)) {
          const part = await reader?.read();
          if (!part || part.done) throw new Error(`it ended before that: ${text}`);
          text += part.value;
        }
        return text;
      },
      /** All of it, to its end. */
      async whole(): Promise<string> {
        for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
          text += part.value;
        return text;
      },
    };
  };

  test("are its state and its log, then what changes, and at last its end", async () => {
    const id = await running();
    await setStreams(id, { orders: 1, people: 1 });
    const stream = await open(await serve(), id);
    expect(stream.answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(stream.answer.headers.get("cache-control")).toBe("no-store, no-transform");
    const first = eventsOf(await stream.until((text) => text.includes("event: streams")));
    expect(first.map(({ event, id: last }) => [event, last])).toEqual([
      ["log", "2"],
      ["job", "2"],
      ["streams", "2"],
    ]);
    expect(first[0]?.data.entries.map((one: { message: string }) => one.message)).toEqual([
      "line 1\nof <b>",
      "line 2\nof <b>",
    ]);
    expect(first[1]?.data.job).toMatchObject({ job_id: id, status: "running" });

    await setStreams(id, { people: 7 });
    await setJob(id, { records_committed: 8 });
    const more = eventsOf(await stream.until((text) => text.split("event: streams").length === 3));
    expect(more.at(-1)?.data.streams).toMatchObject([{ name: "people", records_committed: 7 }]);

    await addLog(id, 3);
    await end(id);
    const all = eventsOf(await stream.whole());
    expect(all.at(-1)).toMatchObject({
      event: "end",
      id: "3",
      data: { job: { status: "succeeded" } },
    });
    const indexes = all.flatMap(({ data }) =>
      (data.entries ?? []).map((one: { index: number }) => one.index),
    );
    expect(indexes).toEqual([1, 2, 3]);
  });

  test("go on after an interruption: the log after what was told, the state as it is", async () => {
    const id = await running();
    await addLog(id, 3, 4);
    await end(id);
    const url = await serve();
    const streamed = async (options: Parameters<typeof open>[2]) =>
      eventsOf(await (await open(url, id, options)).whole()).map(({ event, data }) =>
        event === "log" ? data.entries.map((one: { index: number }) => one.index) : event,
      );
    expect(await streamed({ headers: { "last-event-id": "2" } })).toEqual([[3, 4], "job", "end"]);
    expect(await streamed({ headers: { "last-event-id": "4" } })).toEqual(["job", "end"]);
    expect(await streamed({ query: "?after=3" })).toEqual([[4], "job", "end"]);
    expect(await streamed({ query: "?after=3", headers: { "last-event-id": "1" } })).toEqual([
      [2, 3, 4],
      "job",
      "end",
    ]);
  });

  test("hold a log of thousands of lines in order, and 6,000 streams", async () => {
    const id = await running();
    for (let start = 3; start < 1_700; start += 500)
      await addLog(id, ...Array.from({ length: 500 }, (_, index) => start + index));
    const names = Array.from({ length: 6_000 }, (_, index) => [`s${index}`, index] as const);
    for (let start = 0; start < names.length; start += 1_000)
      await setStreams(id, Object.fromEntries(names.slice(start, start + 1_000)));
    await end(id);
    const all = eventsOf(await (await open(await serve(), id)).whole());
    const indexes = all.flatMap(({ data }) =>
      (data.entries ?? []).map((one: { index: number }) => one.index),
    );
    expect(indexes).toEqual(Array.from({ length: 2_002 }, (_, index) => index + 1));
    const streams = all.flatMap(({ data }) => data.streams ?? []);
    expect(new Set(streams.map(({ name }: { name: string }) => name)).size).toBe(6_000);
  });

  test("end when the session is revoked, or its member leaves or is less", async () => {
    const id = await running();
    const url = await serve();
    const endings = {
      revoked: (userId: string) =>
        api.db.updateTable("sessions").set({ revoked_at: at }).where("user_id", "=", userId),
      expired: (userId: string) =>
        api.db.updateTable("sessions").set({ expires_at: at }).where("user_id", "=", userId),
      suspended: (userId: string) =>
        api.db
          .updateTable("memberships")
          .set({ status: "suspended" })
          .where("user_id", "=", userId),
    };
    for (const [name, change] of Object.entries(endings)) {
      const other = await api.addWorkspace(name);
      await setJob(id, { workspace_id: other.id });
      const stream = await open(url, id, { token: other.tokens.viewer });
      await stream.until((text) => text.includes("event: job"));
      await change(other.users.viewer).execute();
      const last = eventsOf(await stream.whole()).at(-1);
      expect([name, last?.event, last?.data.code]).toEqual([
        name,
        "refused",
        name === "suspended" ? "403" : "401",
      ]);
    }
  });

  test("show that they are alive, end after their time, and with the server", async () => {
    const id = await running();
    const alive = await open(await serve({ heartbeatEveryMs: 0 }), id);
    await alive.until((text) => text.includes(": still here\n\n"));
    const short = await open(await serve({ lifetimeMs: 0 }), id);
    expect(await short.whole()).toMatch(/^retry: 3000\n\n/);
    const [server] = servers;
    await server?.close();
    expect(await alive.whole()).not.toContain("refused");
  });

  test("are only so many at once, and a place is free again when somebody leaves", async () => {
    const id = await running();
    const url = await serve({ perSession: 2 });
    const [one] = [await open(url, id), await open(url, id)];
    const third = await open(url, id);
    expect(third.answer.status).toBe(429);
    expect(JSON.parse(await third.whole()).details).toEqual({
      reason: "too_many_streams",
      allowed: 2,
    });
    expect((await open(url, id, { token: api.first.tokens.runner })).answer.status).toBe(200);
    await one?.reader?.cancel();
    await expect.poll(async () => (await open(url, id)).answer.status).toBe(200);
  });

  test("are only so many, also when all ask at the same time, and refused ones keep no place", async () => {
    const id = await running();
    const url = await serve({ perSession: 2 });
    const missing = await Promise.all([open(url, "job_none"), open(url, "job_none")]);
    for (const { answer, whole } of missing) expect([answer.status, await whole()][0]).toBe(404);
    await expect
      .poll(async () => {
        const many = await Promise.all(Array.from({ length: 8 }, () => open(url, id)));
        const begun = many.filter(({ answer }) => answer.status === 200).length;
        for (const { reader } of many) await reader?.cancel();
        return begun;
      })
      .toBe(2);
  });

  test.each([
    [{ "last-event-id": "x" }, 400, "invalid_header"],
    [{ "last-event-id": "-1" }, 400, "invalid_header"],
    [{ accept: "application/json" }, 406, "not_acceptable"],
    [{ authorization: "Bearer svc_at_no" }, 401, "unauthenticated"],
  ])("with %j are refused before they begin", async (headers, status, reason) => {
    const id = await running();
    const { answer, whole } = await open(await serve(), id, { headers: headers as never });
    expect([answer.status, JSON.parse(await whole()).details.reason]).toEqual([status, reason]);
  });

  test("are nobody else's, and have no head", async () => {
    const id = await running();
    const path = `/jobs/${id}/events`;
    const foreign = await api.call("GET", path, { token: api.second.tokens.admin });
    expect(foreign.status).toBe(404);
    const head = await api.server.inject({ method: "HEAD", url: `/control/v1${path}` });
    expect(head.statusCode).toBe(405);
  });
});
