import { expect, test } from "vitest";
import { createHost } from "./create-host.ts";

const connector = {
  name: "notes",
  url: new URL("../../fixtures/reference/connector/index.ts", import.meta.url).href,
};

test.each([
  [0, [1, 2]],
  [1, [2, 3]],
  [2, [3, 4]],
])("with %i workers kept warm, a first and a second verb have started %j", async (keepWarm, expected) => {
  let started = 0;
  await using host = createHost({ keepWarm, onWorkerStart: () => started++ });
  const seen: number[] = [];
  for (const _ of expected) {
    expect((await host.spec(connector)).id).toBe("conn_reference");
    seen.push(started);
  }
  expect(seen).toEqual(expected);
});
