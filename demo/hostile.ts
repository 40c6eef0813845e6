/** A connector that tries every way out that it knows, and what became of it. */
import { createHost, type HostEvent, selectStreams } from "svc-connectors/host";
import type { Printer } from "./printer.ts";

/** As source or as built. */
const ending = import.meta.url.endsWith(".ts") ? "ts" : "js";
const hostile = {
  name: "hostile",
  url: new URL(`../fixtures/broken/worker/hostile.${ending}`, import.meta.url).href,
};

export async function runHostile(print: Printer): Promise<void> {
  await using host = createHost();
  const config = { api_token: "a-secret-that-must-not-get-out", region: "eu" };
  const tried: string[] = [];
  const denied = new Map<string, number>();
  const catalog = {
    streams: selectStreams(await host.discover(hostile, config), undefined, undefined),
  };
  const nothing = async () => {};
  const onEvent = (event: HostEvent) => {
    if (event.type === "denied") denied.set(event.resource, (denied.get(event.resource) ?? 0) + 1);
  };
  const sink = {
    lineFormat: "rows" as const,
    open: nothing,
    checkpoint: nothing,
    status: nothing,
    close: nothing,
    async write(_stream: unknown, lines: Buffer) {
      for (const line of lines.toString().trim().split("\n"))
        tried.push((JSON.parse(line) as { text: string }).text);
    },
  };
  await host.read(hostile, { config, catalog }, sink, { onEvent });
  for (const text of tried) await print.line(text);
  await print.fact(
    `reported by the sandbox: ${[...denied].map(([resource, count]) => `${resource} ×${count}`).join(", ")}`,
  );
  const isOut = tried.some((text) => text.includes(config.api_token));
  await print.fact(`its secret came out: ${isOut ? "YES" : "no"}`);
}
