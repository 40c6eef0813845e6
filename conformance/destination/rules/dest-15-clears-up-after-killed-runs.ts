import { defineDestinationRule, type Place } from "../contract.ts";
import { describeStream, integer, scriptOf, text } from "../streams.ts";

export default defineDestinationRule({
  id: "DEST-15",
  profile: "resumable",
  title:
    "What a killed run left half done is cleared away when the next writer of the same owner is opened.",
  why: "Tables with strange names pile up in the customer's warehouse, cost money, and hold personal data that nobody deletes.",
  fix: "Give what is built aside names that follow from owner and stream, and drop what is not resumed when a writer is opened; temporary files likewise.",
  good: "await dropLeftovers(owner, plannedStreams);",
  bad: 'const stage = "_svc_stage_" + randomUUID();',
  async run(lab, report) {
    await using place = await lab.emptyPlace();
    const { owner, name } = lab.fresh();
    const properties = { id: integer, text };
    const stream = describeStream(properties, { name, into: "overwrite", mode: "full_refresh" });
    const other = describeStream(properties, { name: `${name}_appended`, mode: "full_refresh" });
    const rows = Array.from({ length: 500 }, (_, id) => ({ id, text: `row ${id}` }));
    const script = (fence: number) =>
      scriptOf(
        { owner, fence },
        [stream, other].map((one) => ({
          stream: one,
          batches: [rows.slice(0, 250), rows.slice(250)],
        })),
      );
    await place.run(script(1));
    const undisturbed = await listing(place);
    const { steps } = script(2);
    // In the middle of each stream: its last checkpoint, and its end.
    const killed = steps.flatMap((step, index) =>
      step.do === "complete" || (step.do === "checkpoint" && steps[index + 1]?.do === "complete")
        ? [index]
        : [],
    );
    let fence = 2;
    for (const index of lab.random("DEST-15").sample(killed, lab.effort(2, killed.length))) {
      const when = `kill -9 during call ${index + 1} of ${steps.length} (${steps[index]?.do})`;
      report.checked(when);
      await place.process(script(fence++), { kill: { at: "step", index, afterMs: 0 } });
      const opened = await place.open(
        scriptOf(
          { owner, fence: fence++ },
          [stream, other].map((one) => ({ stream: one, batches: [] })),
        ).command,
      );
      await opened.close();
      const left = beyond(await listing(place), undisturbed);
      if (left.length > 0)
        report.fail(
          `After ${when} and opening the next writer there is still: ${left.join(", ")}.`,
        );
      await place.run(script(fence++));
      const after = beyond(await listing(place), undisturbed);
      if (after.length > 0)
        report.fail(`After ${when} and a whole run there is still: ${after.join(", ")}.`);
    }
  },
});

interface PlaceContents {
  readonly tables: readonly string[];
  readonly files: readonly string[];
}

const listing = async (place: Place): Promise<PlaceContents> => ({
  tables: await place.tables(),
  files: await place.files(),
});

const beyond = (now: PlaceContents, before: PlaceContents): readonly string[] => [
  ...now.tables
    .filter((table) => !before.tables.includes(table))
    .map((table) => `the table ${table}`),
  ...now.files.filter((file) => !before.files.includes(file)).map((file) => `the file ${file}`),
];
