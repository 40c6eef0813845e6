import { expect, test } from "vitest";
import { startObjectStore } from "./object-store.ts";

test("where no store can be started, it is said what to install", async () => {
  const found = await startObjectStore({ python: process.execPath });
  expect(found).toEqual({ missing: expect.stringMatching(/^moto does not start with /) });
});
