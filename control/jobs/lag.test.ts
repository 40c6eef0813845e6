import { expect, test } from "vitest";
import { createLag } from "./lag.ts";

const logged = (fields: object) =>
  ({ type: "log", level: "info", message: "The server keeps its log.", fields }) as never;

test("what the connector says of its log is told; no number, and none that could not be", () => {
  const reported: (number | null)[] = [];
  const lag = createLag({
    progress: { lag: (bytes: number | null) => reported.push(bytes) } as never,
  });
  for (const lagBytes of ["7", -1, 1.5, Number.NaN, 2 ** 53, null, undefined])
    lag.onEvent(logged({ lagBytes }));
  expect(reported).toEqual([]);
  lag.onEvent(logged({ lagBytes: 4_096 }));
  lag.end();
  expect(reported).toEqual([4_096]);
});

test("a pipeline that was told of no log has no lag any more", () => {
  const reported: (number | null)[] = [];
  createLag({ progress: { lag: (bytes: number | null) => reported.push(bytes) } as never }).end();
  expect(reported).toEqual([null]);
});
