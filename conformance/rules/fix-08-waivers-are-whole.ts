import { loadRules } from "../certify/load-rules.ts";
import { defineRule } from "../contract/rule.ts";

const dayMs = 86_400_000;
/** A waiver that outlives two releases is a decision not to keep the rule. */
const longestDays = 366;

export default defineRule({
  id: "FIX-08",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Every waiver names a rule that exists, a reason, an owner and a day on which it ends, not more than a year away.",
  why: "A waiver that nobody owns and that never ends is a rule that was quietly switched off.",
  fix: "Complete the waiver in conformance.yaml, renew it with a new reason, or remove it and mend the connector. A run says by itself when a waiver is not needed any more.",
  good: "waivers: [{ rule: RETRY-08, reason: 'no rate is documented', owner: 'data team', expires: '2027-01-31' }]",
  bad: "waivers: [{ rule: RETRY-08, reason: '', owner: '', expires: never }]",
  notApplicable: ({ settings }) =>
    settings.waivers.length === 0 ? "there are no waivers" : undefined,
  async run({ settings, todayMs }, report) {
    const ids = new Set((await loadRules()).map(({ id }) => id));
    for (const [index, { rule, reason, owner, expires }] of settings.waivers.entries()) {
      const name = `waiver ${index + 1} (${rule || "of no rule"})`;
      report.checked(name);
      const endMs = /^\d{4}-\d\d-\d\d$/.test(expires)
        ? Date.parse(`${expires}T23:59:59Z`)
        : Number.NaN;
      if (!ids.has(rule))
        report.fail(`${name}: there is no rule ${rule}. Correct the id, or remove the waiver.`);
      if (settings.waivers.findIndex((one) => one.rule === rule) !== index)
        report.fail(`${name}: ${rule} is waived twice. Keep one of the two.`);
      if (reason.trim() === "") report.fail(`${name} has no reason.`);
      if (owner.trim() === "") report.fail(`${name} has no owner.`);
      if (Number.isNaN(endMs))
        report.fail(
          `${name}: expires is ${JSON.stringify(expires)}, which is no day (YYYY-MM-DD).`,
        );
      else if (endMs < todayMs)
        report.fail(
          `${name} expired on ${expires}. Mend the connector, or renew it with a reason.`,
        );
      else if (endMs > todayMs + longestDays * dayMs)
        report.fail(`${name} ends on ${expires}, more than a year from now. Choose a nearer day.`);
    }
  },
});
