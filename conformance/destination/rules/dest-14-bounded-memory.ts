import { defineDestinationRule, type Script } from "../contract.ts";
import { describeStream, integer, scriptOf, text } from "../streams.ts";

const mebibyte = 1024 * 1024;
const rowBytes = 1_000;
const rowCount = 40_000;
/**
 * Of a stream: what waits for its checkpoint may be kept up to here; the rows are about twice as
 * much.
 */
const maxKeptBytes = 20 * mebibyte;
const streamCount = 100;
const maxBytesPerStream = 64 * 1024;

export default defineDestinationRule({
  id: "DEST-14",
  profile: "resilient",
  title:
    "Memory stays bounded: what the process keeps does not grow with the rows of a stream, and little with the number of streams.",
  why: "A worker that keeps a table until it is complete is killed by the system at the first large one, in the middle of the night, again and again.",
  fix: "Pass rows on as they come, or to a stage beside the table; keep only what waits for its checkpoint, up to a bound.",
  good: "if (waitingBytes > maxWaitingBytes) await flushToStage();",
  bad: "this.rows.push(...lines);",
  async run(lab, report) {
    await using place = await lab.emptyPlace();
    for (const into of lab.manifest.syncModes) {
      report.checked(`${into}, ${inMebibytes(rowCount * rowBytes)} of rows`);
      const { keptBytes } = await place.process(oneStream(lab.fresh(), into));
      if (keptBytes > maxKeptBytes)
        report.fail(
          `${into}: after ${inMebibytes(rowCount * rowBytes)} of rows the process keeps ${inMebibytes(keptBytes)} more than before; at most ${inMebibytes(maxKeptBytes)} are expected.`,
        );
    }
    report.checked(`${streamCount} streams`);
    // A client keeps some memory once, whatever it writes: that is not of the streams.
    const one = await place.process(manyStreams(lab.fresh(), 1));
    const all = await place.process(manyStreams(lab.fresh(), streamCount));
    const perStream = Math.round((all.keptBytes - one.keptBytes) / (streamCount - 1));
    if (perStream > maxBytesPerStream)
      report.fail(
        `After ${streamCount} streams of one row the process keeps ${perStream} bytes of each beyond the first; at most ${maxBytesPerStream} are expected.`,
      );
  },
});

interface Names {
  readonly owner: string;
  readonly name: string;
}

/** All rows between one checkpoint and the next: the most that a destination has to hold back. */
function oneStream({ owner, name }: Names, into: "append" | "overwrite" | "append_dedup"): Script {
  const mode = into === "overwrite" ? "full_refresh" : "incremental";
  const stream = describeStream({ id: integer, text }, { name, into, mode, key: ["id"] });
  const { command } = scriptOf({ owner, fence: 1 }, [{ stream, batches: [] }]);
  return {
    command,
    steps: [
      { do: "start", stream: 0 },
      { do: "many", stream: 0, from: 0, count: rowCount, rowBytes },
      { do: "checkpoint", stream: 0, state: { at: rowCount } },
      { do: "complete", stream: 0 },
    ],
  };
}

function manyStreams({ owner, name }: Names, count: number): Script {
  const streams = Array.from({ length: count }, (_, index) =>
    describeStream(
      { id: integer, text },
      { name: `${name}_${index}`, into: "overwrite", mode: "full_refresh" },
    ),
  );
  const batches = [[{ id: 1, text: "one" }]];
  return scriptOf(
    { owner, fence: 1 },
    streams.map((stream) => ({ stream, batches })),
  );
}

const inMebibytes = (bytes: number) => `${Math.round(bytes / mebibyte)} MiB`;
