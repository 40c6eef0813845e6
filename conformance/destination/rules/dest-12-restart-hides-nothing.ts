import { defineDestinationRule, type Place } from "../contract.ts";
import { describeStream, integer, scriptOf } from "../streams.ts";

export default defineDestinationRule({
  id: "DEST-12",
  profile: "resumable",
  title:
    "A stream that is read anew keeps its old rows for people until the new ones are complete, also over crashes; then only the new ones are there.",
  why: "Reading a large table again takes a day. Whoever empties it first shows people a day of wrong numbers; whoever forgets to doubles all of them.",
  fix: "Build the new rows aside with their own state (planWrite says where); swap when the stream is complete.",
  good: "const plan = planWrite(configured, generations, stream.isRestart);",
  bad: "if (stream.isRestart) await sql('TRUNCATE …');",
  async run(lab, report) {
    const place = await lab.place();
    for (const into of lab.manifest.syncModes.filter((mode) => mode !== "overwrite")) {
      const { owner, name } = lab.fresh();
      const described = { name, into, key: ["id"] } as const;
      const stream = describeStream({ id: integer }, described);
      const again = describeStream({ id: integer }, { ...described, isRestart: true });
      const script = (fence: number, ids: readonly (readonly number[])[], isRestart = false) =>
        scriptOf({ owner, fence }, [
          {
            stream: isRestart ? again : stream,
            batches: ids.map((batch) => batch.map((id) => ({ id }))),
          },
        ]);
      const [location = ""] = await place.run(script(1, [[1, 2, 3]]));
      const expectOld = async (when: string) => {
        report.checked(`${into}: ${when}`);
        const ids = await idsAt(place, location);
        if (ids !== "1,2,3")
          report.fail(
            `${into}: ${when}, people see ${ids || "no rows"} where the old rows 1, 2, 3 are expected.`,
          );
      };

      const two = await place.open(script(2, [], true).command);
      if (two.state() !== undefined)
        report.fail(
          `${into}: a stream that is to be read anew goes on from ${JSON.stringify(two.state())}.`,
        );
      await expectOld("when the writer is open");
      const { steps } = script(2, [[3, 4], [5]], true);
      for (const step of steps.slice(0, -1)) await two.perform([step]);
      await expectOld("when some of the new rows are committed");

      // Crashed here, killed in the next attempt, and gone on without the command to restart.
      const committed = script(3, [[6]]).steps;
      await place.process(script(3, [[6]]), {
        kill: { at: "step", index: committed.length - 2, afterMs: 0 },
      });
      await expectOld("after a crash and kill -9");
      const four = await place.open(script(4, []).command);
      const from = (four.state() as { position?: number } | undefined)?.position;
      await four.perform(
        script(4, from === undefined ? [[3, 4], [5], [6]] : from < 3_000 ? [[6]] : []).steps,
      );
      await four.close();
      report.checked(`${into}: when it is complete`);
      const ids = await idsAt(place, location);
      if (ids !== "3,4,5,6")
        report.fail(
          `${into}: when it is complete, people see ${ids || "no rows"} where only the new rows 3, 4, 5, 6 are expected.`,
        );
    }
  },
});

const idsAt = async (place: Place, location: string) =>
  (await place.rows(location))
    .map(({ id }) => Number(id))
    .sort((a, b) => a - b)
    .join();
