import { ConnectorError } from "svc-connectors/host";
import { expect, test } from "vitest";
import type { Context } from "../runtime/contract/context.ts";
import type { Egress } from "../runtime/contract/egress.ts";
import type { Source } from "../runtime/contract/source.ts";
import type { Calls } from "../runtime/worker/calls.ts";
import { createContext } from "../runtime/worker/context.ts";

// Here, since a frame of the runtime's own folder is no place of a connector.
test("a request says which lines of the connector ask for it, where the host wants to know", async () => {
  const source = { egress: { kind: "http" }, spec: {} } as unknown as Source;
  const places: (string | undefined)[] = [];
  const request: Calls["request"] = async ({ place }) => {
    places.push(place);
    return { status: 200, headers: {}, text: "{}" };
  };
  for (const namesPlaces of [true, undefined]) {
    const ctx = createContext(
      source,
      { config: {}, namesPlaces },
      { request } as unknown as Calls,
      new AbortController().signal,
    ) as Context<never, Extract<Egress, { kind: "http" }>>;
    const get = async (path: string) => await ctx.http.get([path]);
    const readBoards = async () => await get("boards");
    await readBoards();
  }
  const line = "author-places\\.test\\.ts:\\d+";
  expect(places).toEqual([
    expect.stringMatching(new RegExp(`^${line} ← ${line} ← ${line}$`)),
    undefined,
  ]);
});

test("a misuse of ctx is told with the line of the connector that waits for it", async () => {
  const source = { egress: { kind: "http" }, spec: {} } as unknown as Source;
  const request = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "a path segment must be text" });
  };
  const calls = { request } as unknown as Calls;
  const ctx = createContext(source, { config: {} }, calls, new AbortController().signal) as Context<
    never,
    Extract<Egress, { kind: "http" }>
  >;
  const read = async () => await ctx.http.get(["boards", undefined as never, "cards"]);
  await expect(read()).rejects.toMatchObject({
    message: expect.stringMatching(
      /a path segment must be text, in author-places\.test\.ts, line \d+\. /,
    ),
  });
});
