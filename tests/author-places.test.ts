import { ConnectorError } from "svc-connectors/host";
import { expect, test } from "vitest";
import type { Context } from "../runtime/contract/context.ts";
import type { Egress } from "../runtime/contract/egress.ts";
import type { Source } from "../runtime/contract/source.ts";
import type { Calls } from "../runtime/worker/calls.ts";
import { createContext } from "../runtime/worker/context.ts";

// Here, since a frame of the runtime's own folder is no place of a connector.
test("a misuse of ctx is told with the line of the connector that waits for it", async () => {
  const source = { egress: { kind: "http" }, spec: {} } as unknown as Source;
  const request = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "a path segment must be text" });
  };
  const calls = { request } as unknown as Calls;
  const ctx = createContext(source, {}, calls, new AbortController().signal) as Context<
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
