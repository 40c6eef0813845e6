import { Duplex } from "node:stream";
import { describe, expect, test } from "vitest";
import type { ImageCommand, ImageDocument, ImageEnding } from "../contract/image.ts";
import type { JsonValue } from "../contract/json.ts";
import { endingPiece, outputPiece } from "../wire/image-session.ts";
import { toSource } from "./source.ts";

const document: ImageDocument = {
  ...{ name: "shop", version: "1.2.3", title: "source-shop", hosts: ["api.example.com"] },
  spec: { type: "object", properties: {} },
};
const source = toSource(JSON.stringify(document));
const schema = { type: "object", properties: { id: { type: "integer" }, at: { type: "string" } } };
const stream = { name: "orders", schema, primaryKey: ["id"], cursorField: "at" };

/** The output of a source for the messages of a program that ends so. */
function around(messages: readonly unknown[], ending: ImageEnding = { exitCode: 0 }) {
  const commands: ImageCommand[] = [];
  const logs: string[] = [];
  const log = (text: string) => void logs.push(text);
  const ctx = {
    log: { debug: log, info: log, warn: log },
    connect: async () => {
      const chunks: Buffer[] = [];
      const session = new Duplex({
        read() {},
        write: (chunk: Buffer, _, done) => void done(void chunks.push(chunk)),
        final(done) {
          commands.push(JSON.parse(Buffer.concat(chunks).toString()));
          const text = messages.map((one) => `${JSON.stringify(one)}\n`).join("");
          const output = Buffer.concat([outputPiece(Buffer.from(text)), endingPiece(ending)]);
          // In pieces that end anywhere.
          for (let at = 0; at < output.length; at += 97) session.push(output.subarray(at, at + 97));
          session.push(null);
          done();
        },
      });
      return session;
    },
  } as never;
  const read = async (
    state?: JsonValue,
    syncMode: "incremental" | "full_refresh" = "incremental",
  ) => {
    const output: unknown[] = [];
    for await (const one of source.read(ctx, { ...stream, syncMode } as never, state as never))
      output.push(one);
    return output;
  };
  const discover = async () => {
    const found: unknown[] = [];
    for await (const one of source.discover?.(ctx) ?? []) found.push(one);
    return found;
  };
  return { read, discover, check: () => source.check(ctx), commands, logs };
}

const row = (id: number, name = "orders") => ({
  type: "RECORD",
  record: { stream: name, data: { id }, emitted_at: 1 },
});
const state = (value: unknown, name = "orders") => ({
  type: "STATE",
  state: { type: "STREAM", stream: { stream_descriptor: { name }, stream_state: value } },
});
const failure = (failure_type?: string) => ({
  type: "TRACE",
  trace: { type: "ERROR", error: { message: "foreign words", stack_trace: "more", failure_type } },
});

describe("a source that is made of an image", () => {
  test("gives rows and states in their order, and gives a state back as the protocol has it", async () => {
    const one = around([row(1), row(2), state({ cursor: "a" }), row(3), state({ cursor: "b" })]);
    expect(await one.read({ cursor: "0" })).toEqual([
      { type: "records", rows: [{ id: 1 }, { id: 2 }] },
      { type: "checkpoint", state: { cursor: "a" } },
      { type: "records", rows: [{ id: 3 }] },
      { type: "checkpoint", state: { cursor: "b" } },
    ]);
    expect(one.commands).toEqual([
      {
        verb: "read",
        catalog: {
          streams: [expect.objectContaining({ sync_mode: "incremental", cursor_field: ["at"] })],
        },
        state: [
          {
            type: "STREAM",
            stream: { stream_descriptor: { name: "orders" }, stream_state: { cursor: "0" } },
          },
        ],
      },
    ]);
  });

  test("a full refresh is given no state and keeps none", async () => {
    const one = around([row(1), state({ cursor: "a" })]);
    expect(await one.read({ cursor: "0" }, "full_refresh")).toEqual([
      { type: "records", rows: [{ id: 1 }] },
    ]);
    expect(one.commands[0]).not.toHaveProperty("state");
  });

  test.each([
    [
      "of all streams together",
      {
        type: "GLOBAL",
        global: {
          shared_state: { log: 7 },
          stream_states: [{ stream_descriptor: { name: "orders" }, stream_state: { at: 1 } }],
        },
      },
    ],
    ["of the old form", { type: "LEGACY", data: { orders: { at: 1 } } }],
  ])("a state %s comes back as it went", async (_, given) => {
    const [kept] = (await around([{ type: "STATE", state: given }]).read()) as {
      state: JsonValue;
    }[];
    const again = around([]);
    await again.read(kept?.state);
    expect(again.commands[0]?.state).toEqual("data" in given ? given.data : [given]);
  });

  test.each([
    ["a row of another stream", [row(1, "others")]],
    ["a state of another stream", [state({}, "others")]],
    ["a state under a name of the host's", [state({ airbyte_global: {} })]],
    ["a state that is none", [state([1])]],
    ["a state of no known type", [{ type: "STATE", state: { type: "OTHER" } }]],
  ])("%s breaks the protocol", async (_, messages) => {
    await expect(around(messages).read()).rejects.toMatchObject({ code: "CONNECTOR_PROTOCOL" });
  });

  const refused = { code: "CREDENTIALS_REJECTED", message: "", details: { status: 401 } } as const;
  const ended = {
    code: "CONNECTOR_TIMEOUT",
    message: "",
    details: { phase: "say anything" },
  } as const;
  test.each<[string, unknown[], ImageEnding, string | undefined]>([
    ["nothing", [], { exitCode: 0 }, undefined],
    ["a refusal that it got over", [], { exitCode: 0, refusal: refused }, undefined],
    ["config_error", [failure("config_error")], { exitCode: 1 }, "ACCESS_MISSING"],
    ["transient_error", [failure("transient_error")], { exitCode: 1 }, "CONNECTION_FAILED"],
    ["system_error", [failure("system_error")], { exitCode: 1 }, "CONNECTOR_FAILED"],
    ["an error of no type, though it exits well", [failure()], { exitCode: 0 }, "CONNECTOR_FAILED"],
    [
      "an error after a refusal",
      [failure()],
      { exitCode: 1, refusal: refused },
      "CREDENTIALS_REJECTED",
    ],
    ["an end without a word", [], { exitCode: 3 }, "CONNECTOR_EXITED"],
    ["an end by the host", [failure()], { exitCode: 137, error: ended }, "CONNECTOR_TIMEOUT"],
    [
      "a stream that is incomplete",
      [
        {
          type: "TRACE",
          trace: { type: "STREAM_STATUS", stream_status: { status: "INCOMPLETE" } },
        },
      ],
      { exitCode: 0 },
      "CONNECTOR_FAILED",
    ],
  ])("%s is told in words of the closed table", async (_, messages, ending, code) => {
    const one = around(messages, ending);
    const outcome = await one.read().then(
      () => undefined,
      (error: { code: string; toRecord(): unknown }) => error,
    );
    expect(outcome?.code).toBe(code);
    expect(JSON.stringify([outcome?.toRecord() ?? "", one.logs])).not.toMatch(/foreign|more/);
  });

  test("a check says whether it succeeded, or why not, and never in the image's words", async () => {
    const said = (status: string) => [
      { type: "CONNECTION_STATUS", connectionStatus: { status, message: "foreign words" } },
    ];
    await expect(around(said("SUCCEEDED")).check()).resolves.toBeUndefined();
    await expect(around(said("FAILED")).check()).rejects.toMatchObject({ code: "ACCESS_MISSING" });
    await expect(
      around(said("FAILED"), { exitCode: 0, refusal: refused }).check(),
    ).rejects.toMatchObject({
      code: "CREDENTIALS_REJECTED",
    });
    await expect(around([]).check()).rejects.toMatchObject({ code: "CONNECTOR_PROTOCOL" });
  });

  test("a catalog becomes streams: keys and cursors inside of objects are left out", async () => {
    const one = {
      name: "orders",
      json_schema: schema,
      supported_sync_modes: ["full_refresh", "incremental"],
    };
    const streams = [
      { ...one, source_defined_primary_key: [["id"]], default_cursor_field: ["at"] },
      {
        ...one,
        name: "deep",
        source_defined_primary_key: [["id", "no"]],
        default_cursor_field: ["a", "b"],
      },
    ];
    expect(await around([{ type: "CATALOG", catalog: { streams } }]).discover()).toMatchObject([
      { name: "orders", primaryKey: ["id"], cursorField: "at" },
      { name: "deep", primaryKey: [] },
    ]);
    for (const wrong of [undefined, [{}], [{ name: "", json_schema: {} }], [null]])
      await expect(
        around([{ type: "CATALOG", catalog: { streams: wrong } }]).discover(),
      ).rejects.toMatchObject({ code: "CONNECTOR_PROTOCOL" });
  });

  test("what it logs is for who looks closely; that it wants its settings changed is told", async () => {
    const one = around([
      { type: "LOG", log: { level: "ERROR", message: "for people" } },
      {
        type: "CONTROL",
        control: { type: "CONNECTOR_CONFIG", connectorConfig: { config: { a: 1 } } },
      },
    ]);
    await one.read();
    expect(one.logs).toEqual(["for people", expect.stringContaining("stay as they are")]);
  });
});
