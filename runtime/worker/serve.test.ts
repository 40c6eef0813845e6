import { expect, test } from "vitest";
import type { Source } from "../contract/source.ts";
import { createFrameReader, createFrameWriter, frameKind, gateOfWorker } from "../wire/frames.ts";
import { createWirePair } from "../wire/wire-pair.ts";
import { serve } from "./serve.ts";

const url = new URL("../../fixtures/counting/index.ts", import.meta.url).href;

/**
 * Runs check in a kept worker whose host sends a cancel at one moment.
 * @returns whether the connector found itself cancelled
 */
async function checkCancelled(moment: "before its load" | "after its load"): Promise<boolean> {
  const { hostEnd, workerEnd } = createWirePair();
  const host = createFrameWriter(hostEnd);
  const reader = createFrameReader(() => "take");
  let isCancelled = false;
  const watched = (source: Source): Source => ({
    ...source,
    async check({ signal }) {
      isCancelled = signal.aborted;
    },
  });
  hostEnd.on("data", (chunk: Buffer) => {
    for (const { kind } of reader.push(chunk)) {
      if (kind === frameKind.ready) {
        if (moment === "before its load") host.send(frameKind.cancel, 0);
        host.sendJson(frameKind.load, 0, { url });
      }
      if (kind === frameKind.manifest) {
        if (moment === "after its load") host.send(frameKind.cancel, 0);
        host.sendJson(frameKind.start, 0, { verb: "check", config: {} });
      }
    }
  });
  const kept = { reader: createFrameReader(gateOfWorker), isCurrent: () => true };
  await serve(workerEnd, watched, kept);
  return isCancelled;
}

test("a cancel is of the run whose load came before it: a late one ends no next run", async () => {
  expect(await checkCancelled("after its load")).toBe(true);
  expect(await checkCancelled("before its load")).toBe(false);
});
