import type { Result, RuleReport } from "../contract/report.ts";
import type { Waiver } from "../contract/settings.ts";

/** Results that say nothing of the connector. */
const nothing: readonly Result[] = ["not-applicable", "waived", "left-out"];
const waivable: readonly Result[] = ["fail", "warn", "vacuous"];

/**
 * Marks waived failures, and finds what makes the whole run fail though no rule does: waivers that
 * are incomplete, expired, of no known rule, or no longer needed, and runs in which nothing was
 * proved. Waivers of rules that were not tried this time are left alone.
 */
export function applyWaivers(
  tried: readonly RuleReport[],
  waivers: readonly Waiver[],
  todayMs: number,
  triedIds: ReadonlySet<string>,
): { readonly reports: readonly RuleReport[]; readonly remarks: readonly string[] } {
  const remarks: string[] = [];
  const reports = tried.map((report) => {
    const waiver = waivers.find(({ rule }) => rule === report.id);
    if (!waiver || !triedIds.has(report.id)) return report;
    const problem = problemOf(waiver, report, todayMs);
    if (problem !== undefined) {
      remarks.push(`The waiver of ${waiver.rule} ${problem}.`);
      return report;
    }
    return {
      ...report,
      result: "waived" as const,
      reason: `waived by ${waiver.owner} until ${waiver.expires}: ${waiver.reason}`,
    };
  });
  const proved = reports.filter(({ result }) => !nothing.includes(result));
  if (reports.length === 0) remarks.push("No rule was tried.");
  else if (proved.length === 0)
    remarks.push(
      `Nothing was proved: every rule was waived, left out or does not apply.${mostGivenReason(reports)}`,
    );
  return { reports, remarks };
}

/** The reason that most of the rules that do not apply give. */
function mostGivenReason(reports: readonly RuleReport[]): string {
  const given = reports.flatMap(({ result, reason }) =>
    result === "not-applicable" && reason !== undefined ? [reason] : [],
  );
  const counts = [...Map.groupBy(given, (reason) => reason)].sort(
    ([, one], [, other]) => other.length - one.length,
  );
  return counts[0] ? ` Mostly: ${counts[0][0]}.` : "";
}

/** Undefined = the waiver counts. */
function problemOf(
  { reason, owner, expires }: Waiver,
  { result }: RuleReport,
  todayMs: number,
): string | undefined {
  if (reason.trim() === "" || owner.trim() === "") return "has no reason or no owner";
  const endMs = Date.parse(`${expires}T23:59:59Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(expires) || Number.isNaN(endMs))
    return "has no expiry date (YYYY-MM-DD)";
  if (endMs < todayMs) return `expired on ${expires}; mend the connector, or renew it`;
  if (!waivable.includes(result)) return "is not needed any more; remove it";
  return undefined;
}
