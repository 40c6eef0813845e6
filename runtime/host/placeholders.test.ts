import { describe, expect, test } from "vitest";
import { createInstantClock, startProvider } from "../../simulators/loopback.ts";
import { createMemorySink } from "../../tests/memory-sink.ts";
import type { HostEvent } from "../contract/host.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { createHost } from "./create-host.ts";

const connector = {
  name: "placeholders",
  url: new URL("../../fixtures/placeholders/index.ts", import.meta.url).href,
};
const key = "key-K7Qx2mVt9sLw4ZrB8nPy5Dh3Gj6Fc1Ta0Ue7Ri2";
const password = 'pass "word" of Q0iNoMrWb7Zt3LmX9aRk2\\VwB8';
const config = { key, login: { password }, name: "ann" };

/**
 * Reads both streams of the connector from a provider that echoes, in three encodings, what it got.
 */
async function readAll() {
  const seen: string[] = [];
  await using provider = await startProvider(({ headers }, response) => {
    const [, encoded = ""] = headers.authorization?.split(" ") ?? [];
    const plain = Buffer.from(encoded, "base64").toString();
    seen.push(plain);
    response.end(`${plain} ${encoded} ${encodeURIComponent(plain)}`);
  });
  await using host = createHost({
    clock: createInstantClock(Date.UTC(2026, 0, 15)),
    seams: provider.seams,
  });
  const sink = createMemorySink();
  const events: HostEvent[] = [];
  const streams = await host.discover(connector, config);
  const summary = await host.read(
    connector,
    {
      config,
      catalog: { streams: streams.map((stream) => ({ stream, sync_mode: "full_refresh" })) },
    },
    sink,
    { onEvent: (event) => events.push(event) },
  );
  return { seen, summary, events, sink };
}

describe("a connector with placeholders, in the sandbox", () => {
  test("signs with secrets that it does not have, and neither they nor their placeholders leave by any channel", async () => {
    const { seen, summary, events, sink } = await readAll();
    expect(seen).toEqual([`${key}:${password}`, `${key}:${password}`]);
    expect(summary.streams.map(({ stream, error }) => [stream, error?.code])).toEqual([
      ["items", undefined],
      ["failing", "RESPONSE_INVALID"],
    ]);
    const everything = JSON.stringify([sink.events, summary, events]);
    const known = createSecretRegistry();
    for (const one of [key, password]) known.add(one);
    expect(known.contains(Buffer.from(everything))).toBe(false);
    expect(sink.rows("items")).toEqual([
      { id: "[redacted]", text: "[redacted]", page: "[redacted]" },
    ]);
    const channels = new Set(events.flatMap((one) => (one.type === "redacted" ? one.where : [])));
    for (const channel of ["records", "state", "log", "error"]) expect(channels).toContain(channel);
    // 32 letters and digits in a row are a placeholder.
    expect(everything).not.toMatch(/[0-9A-Za-z]{32}/);
  });
});
