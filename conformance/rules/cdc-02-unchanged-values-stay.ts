import { defineRule } from "../contract/rule.ts";
import { expectSteps, noLog } from "../derive/changes/changes.ts";

/** Changes to rows with a large value, which is stored beside them. */
const steps = {
  "rows were changed, and not their large values": "UPDATE {} SET n = n + 100 WHERE id <= 6",
  "keys were changed, and not the large values": "UPDATE {} SET id = id + 500 WHERE id <= 2",
  "one transaction changed a large value, and then the row without it":
    "BEGIN; UPDATE {} SET large = pg_catalog.repeat('changed ', 2000) WHERE id = 8; UPDATE {} SET n = n + 1 WHERE id IN (8, 9); COMMIT; UPDATE {} SET n = n + 1 WHERE id = 8",
  "a row was changed without its large value, and is gone":
    "UPDATE {} SET n = n + 1 WHERE id IN (10, 11); DELETE FROM {} WHERE id = 10",
};

export default defineRule({
  id: "CDC-02",
  level: "MUST",
  profile: "resumable",
  since: "0.2.0",
  title: "A large value that a change leaves as it was stays as it was.",
  why: "PostgreSQL logs no value that is stored beside its row and has not changed. Read as null, every change of a row empties its documents and texts in the warehouse.",
  fix: "Tell an unchanged value from null. Take it from the old row where the log has it (REPLICA IDENTITY FULL), else read the row by its key.",
  good: 'if (kind === "u") unresolved.set(key, row); // read by its key before the checkpoint',
  bad: 'value: kind === "t" ? text : null',
  notApplicable: noLog,
  run: (lab, report) => expectSteps(lab, report, steps, (changes) => changes.read()),
});
