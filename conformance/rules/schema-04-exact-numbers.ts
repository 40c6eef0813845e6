import type { Lab } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";
import { tryValueTable } from "../derive/database/values.ts";
import { everyStreamFields } from "../derive/rows/row-fields.ts";
import { tryStreams } from "../derive/rows/sampled-values.ts";
import { reportUnseenStreams } from "../derive/rows/splices.ts";
import { exactNumbers, hugeNumber } from "../derive/rows/values.ts";

const plans = [exactNumbers, hugeNumber];

export default defineRule({
  id: "SCHEMA-04",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title: "Numbers come out with all their digits: ids of 19 digits, decimals as they were written.",
  why: "A double holds 15 digits. Beyond them two orders get one id and overwrite each other, and sums of money are off by a cent, in every sync and without an error.",
  fix: "Parse JSON without rounding: ctx.http's json() does, and parseExact; elsewhere Decimal and 64-bit integers. Write the digits back as they were.",
  good: "const rows = (await ctx.http.get(path)).json(); // 9007199254740993 is a bigint",
  bad: "const rows = JSON.parse(text); // 9007199254740993 is 9007199254740992",
  notApplicable: async (lab) =>
    lab.database || (await numericStreams(lab)).length > 0
      ? undefined
      : "no number of the provider's rows is seen to become a field of a record",
  async run(lab, report) {
    const sql = lab.database?.sql;
    if (sql) return await tryValueTable(lab, report, sql, sql.values.numbers);
    await reportUnseenStreams(lab, report);
    await tryStreams(lab, report, await numericStreams(lab), { plans, quick: [exactNumbers] });
  },
});

const numericStreams = async (lab: Lab) =>
  (await everyStreamFields(lab)).filter(({ fields, inside }) =>
    [...fields, ...inside].some((field) => plans.some((plan) => plan.count(field) > 0)),
  );
