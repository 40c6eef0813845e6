import { defineDestinationRule } from "../contract.ts";

export default defineDestinationRule({
  id: "DEST-01",
  title: "check tries to write, leaves nothing behind, and fails where nothing can be written.",
  why: "A check that only connects lets a pipeline be saved that fails hours later; one that leaves its table behind makes people afraid of it.",
  fix: "Make a table of a name of your own, write a row, read it and remove it, in one transaction; map what goes wrong to a code.",
  good: "await transaction(async () => { await create(probe); await insert(probe); await drop(probe); });",
  bad: "async check(ctx) { await connect(ctx); }",
  async run(lab, report) {
    await using place = await lab.emptyPlace();
    const before = { tables: await place.tables(), files: await place.files() };
    report.checked("an empty place");
    for (const round of ["first", "second"]) {
      const result = await place.check();
      if (result.status === "failed")
        report.fail(
          `The ${round} check of an empty place failed with ${result.error.code}: ${result.error.message}`,
        );
    }
    const left = (await place.tables()).filter((table) => !before.tables.includes(table));
    if (left.length > 0) report.fail(`check left behind: ${left.join(", ")}.`);
    const files = (await place.files()).filter((file) => !before.files.includes(file));
    if (files.length > 0) report.fail(`check left files behind: ${files.join(", ")}.`);
    for (const unwritable of await place.unwritable()) {
      await using own = unwritable;
      report.checked(own.name);
      const result = await own.check();
      if (result.status === "succeeded") report.fail(`check succeeded although ${own.name}.`);
      const damage = await own.damage();
      if (damage !== undefined)
        report.fail(`check changed what it found where ${own.name}: ${damage}.`);
    }
  },
});
