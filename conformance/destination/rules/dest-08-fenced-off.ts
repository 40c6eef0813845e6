import { ConnectorError } from "svc-connectors/host";
import { defineDestinationRule, type Step, type Writer } from "../contract.ts";
import { describeStream, integer, rowsOf, scriptOf } from "../streams.ts";

export default defineDestinationRule({
  id: "DEST-08",
  profile: "resumable",
  title:
    "Once a writer with a higher fence was opened, one with a lower fence commits nothing any more: OUTPUT_FENCED.",
  why: "A machine that was cut off from the network comes back and goes on writing, beside the one that took its job over: rows are doubled, and the state jumps back.",
  fix: "Note the fence in the place when a writer is opened; read it, locked, in each transaction before it commits.",
  good: "BEGIN; SELECT fence FROM writers WHERE owner = … FOR SHARE; … COMMIT;",
  bad: "if (this.fence < latestFence) …   // in memory of this process",
  async run(lab, report) {
    const place = await lab.place();
    const { owner, name } = lab.fresh();
    const streams = [
      describeStream({ id: integer }, { name }),
      describeStream(
        { id: integer },
        { name: `${name}_whole`, mode: "full_refresh", into: "overwrite" },
      ),
    ];
    const command = (fence: number) =>
      scriptOf(
        { owner, fence },
        streams.map((stream) => ({ stream, batches: [] })),
      ).command;
    const rows = (stream: number, id: number): Step => rowsOf(stream, [{ id }]);
    const commit = (stream: number, at: number): Step => ({
      do: "checkpoint",
      stream,
      state: { at },
    });

    const one = await place.open(command(4));
    await one.perform([{ do: "start", stream: 0 }, rows(0, 1), commit(0, 1)]);
    await one.perform([rows(0, 2)]);
    const two = await place.open(command(5));

    const attempts: readonly (readonly [string, readonly Step[]])[] = [
      ["a commit of rows that it had taken before", [commit(0, 2)]],
      ["further rows and their commit", [rows(0, 3), commit(0, 3)]],
      ["the end of a stream", [{ do: "complete", stream: 0 }]],
      [
        "another stream, overwritten from start to end",
        [{ do: "start", stream: 1 }, rows(1, 9), { do: "complete", stream: 1 }],
      ],
    ];
    for (const [what, steps] of attempts) {
      report.checked(what);
      const code = await codeOf(one, steps);
      if (code !== "OUTPUT_FENCED")
        report.fail(
          `A writer with fence 4 tried ${what} after one with fence 5 was opened, and ${code === undefined ? "it was taken" : `failed with ${code}`}; OUTPUT_FENCED is expected.`,
        );
    }
    await one.close().catch(() => undefined);

    if (JSON.stringify(two.state(0)) !== '{"at":1}')
      report.fail(
        `The writer with fence 5 goes on from ${JSON.stringify(two.state(0))} where {"at":1} was the last commit before it.`,
      );
    const location = two.location(0);
    const ids =
      location === "" ? [] : (await place.rows(location)).map(({ id }) => Number(id)).sort();
    if (ids.join() !== "1")
      report.fail(
        `The table holds ${ids.join(", ") || "no rows"} where only row 1 was committed before the writer was fenced off.`,
      );
    if (two.location(1) !== "" && (await place.rows(two.location(1))).length > 0)
      report.fail("The fenced writer's rows of another stream are there.");

    report.checked("opening with a lower fence");
    const late = await place.open(command(3)).then(
      (writer) => writer.close().then(() => undefined),
      (error: unknown) => error,
    );
    const code = late instanceof ConnectorError ? late.code : undefined;
    if (code !== "OUTPUT_FENCED")
      report.fail(
        `Opening a writer with fence 3 after one with fence 5 ${code === undefined ? "was allowed" : `failed with ${code}`}; OUTPUT_FENCED is expected.`,
      );
    await two.perform([
      { do: "start", stream: 0 },
      rows(0, 5),
      commit(0, 5),
      { do: "complete", stream: 0 },
    ]);
    await two.close();
    const after = (await place.rows(two.location(0))).map(({ id }) => Number(id)).sort();
    if (after.join() !== "1,5")
      report.fail(
        `After the writer with fence 5 ended, the table holds ${after.join(", ")} where 1, 5 are expected.`,
      );
  },
});

async function codeOf(writer: Writer, steps: readonly Step[]): Promise<string | undefined> {
  try {
    await writer.perform(steps);
    return undefined;
  } catch (error) {
    return error instanceof ConnectorError ? error.code : "an error without a code";
  }
}
