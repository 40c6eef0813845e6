import { defineRule } from "../contract/rule.ts";
import { expectSteps, noLog } from "../derive/changes/changes.ts";

const steps = {
  "the tables were truncated": "TRUNCATE {}",
  "the tables were filled, truncated and filled again":
    "INSERT INTO {} SELECT i, i, 'lost', 'x' FROM pg_catalog.generate_series(1, 5) i; BEGIN; TRUNCATE {}; INSERT INTO {} VALUES (1, 1, 'kept', 'y'); COMMIT; INSERT INTO {} VALUES (2, 2, 'kept', 'z')",
};

export default defineRule({
  id: "CDC-05",
  level: "MUST",
  profile: "resumable",
  since: "0.2.0",
  title: "A truncated table is emptied, or said to be read anew, and read anew.",
  why: "A truncate is one entry of the log and names no row. Passed over, all rows that it removed stay in the warehouse for ever, between those that came later.",
  fix: "Where the log says truncate, save the state of nothing and fail with CHANGES_LOST: the next run builds the table anew.",
  good: 'if (change.kind === "truncate") { yield checkpoint({}); throw new ConnectorError("CHANGES_LOST", …); }',
  bad: 'default: continue; // "T" is none of insert, update, delete',
  notApplicable: noLog,
  run: (lab, report) => expectSteps(lab, report, steps),
});
