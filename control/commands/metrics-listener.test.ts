import { once } from "node:events";
import { createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Services } from "../services/services.ts";
import { listenForScrapes } from "./metrics-listener.ts";

/** A port that another process of this host listens to. */
const taken = createServer();
let takenPort = 0;
beforeAll(async () => {
  taken.listen(0, "127.0.0.1");
  await once(taken, "listening");
  takenPort = (taken.address() as { port: number }).port;
});
afterAll(() => taken.close());

async function listen(
  ...[settings, port]: [{ host: string; port: number } | undefined, number | undefined]
) {
  const listening: number[] = [];
  const services = {
    telemetry: { scrape: async () => "svc_up 1\n" },
    log: { info: (_: string, fields: { port: number }) => listening.push(fields.port) },
  } as unknown as Pick<Services, "telemetry" | "log">;
  await using _listener = await listenForScrapes(services, settings, port);
  const texts = listening.map(async (one) =>
    (await fetch(`http://127.0.0.1:${one}/metrics`)).text(),
  );
  return { listening, texts: await Promise.all(texts) };
}

test("without a setting and a port of the command line nothing listens", async () => {
  expect(await listen(undefined, undefined)).toEqual({ listening: [], texts: [] });
});

test("the port of the settings that another process has is refused, with the flag that helps", async () => {
  await expect(listen({ host: "127.0.0.1", port: takenPort }, undefined)).rejects.toThrow(
    `port ${takenPort} of 127.0.0.1 is in use: stop what listens there, or pass another --metrics-port`,
  );
});

test.each([
  ["before the settings", () => ({ host: "127.0.0.1", port: takenPort })],
  ["without settings", () => undefined],
])("the port of the command line goes %s", async (_, settings) => {
  expect(await listen(settings(), 0)).toEqual({
    listening: [expect.any(Number)],
    texts: ["svc_up 1\n"],
  });
});
