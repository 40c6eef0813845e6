/** Conformance reports on connectors that were added: taken, kept, shown. */
import type { ContainedImage } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { ControlError } from "../contract/reasons.ts";
import { Nullable, OneOf, StrictObject, Time } from "../contract/schemas.ts";
import type { Db } from "../store/database.ts";
import { type AddedConnector, imageOf } from "./added.ts";
import { digestOf } from "./images.ts";
import type { ConnectorDefinition } from "./registry.ts";

export const conformanceVerdicts = ["passed", "failed", "unusable"] as const;
export const ruleResults = [
  "pass",
  "fail",
  "warn",
  "waived",
  "not-applicable",
  "left-out",
  "vacuous",
  "error",
] as const;
export const ruleLevels = ["MUST", "SHOULD"] as const;
export const triedCodes = ["same", "other", "unknown"] as const;

/** Results with which no run passes. */
const failing: readonly string[] = ["fail", "vacuous", "error"];

const whatElse = { additionalProperties: true };
const Count = Type.Integer({ minimum: 0 });

/** A report as the kit writes it, of which a part is kept. */
export const GivenReport = Type.Object(
  {
    format: Type.Literal(1),
    kitVersion: Type.String(),
    connector: Type.Object(
      {
        id: Type.Optional(Type.String()),
        version: Type.Optional(Type.String()),
        digest: Type.Optional(Type.String()),
      },
      whatElse,
    ),
    target: Type.String(),
    profiles: Type.Array(Type.String(), { maxItems: 20 }),
    startedAt: Time,
    durationMs: Count,
    runCount: Count,
    verdict: OneOf(conformanceVerdicts),
    remarks: Type.Array(Type.String(), { maxItems: 100 }),
    rules: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          level: OneOf(ruleLevels),
          profile: Type.String(),
          title: Type.String(),
          why: Type.String(),
          fix: Type.String(),
          result: OneOf(ruleResults),
          subjectCount: Count,
          problems: Type.Array(Type.Object({ sentence: Type.String() }, whatElse)),
          reason: Type.Optional(Type.String()),
        },
        whatElse,
      ),
      { minItems: 1, maxItems: 500 },
    ),
  },
  {
    ...whatElse,
    title: "KitReport",
    description:
      "As svc conformance --report json writes it. What else it has, evidence above all, is not kept and may be left out.",
  },
);
export type GivenReport = Static<typeof GivenReport>;

const summary = {
  verdict: OneOf(conformanceVerdicts),
  kit_version: Type.String(),
  tried_at: Time,
  kept_at: Time,
  tried_code: OneOf(triedCodes, {
    description:
      "Whether what was tried is the code that is here now. Unknown: the report does not say what was tried.",
  }),
  counts: Type.Object(Object.fromEntries(ruleResults.map((result) => [result, Count])), {
    title: "RuleCounts",
    additionalProperties: false,
    description: "Rules by what came of them.",
  }),
};
/** Whoever has added the connector has run the kit, and says so: nobody signs a report. */
export const ConformanceSummary = StrictObject(summary, { title: "ConformanceSummary" });

export const ConformanceReport = StrictObject(
  {
    connector_id: Type.String(),
    ...summary,
    connector_version: Nullable(Type.String()),
    target: Type.String({ description: "How the connector was run: worker, module, container." }),
    profiles: Type.Array(Type.String()),
    duration_ms: Count,
    run_count: Count,
    remarks: Type.Array(Type.String(), { description: "Why the whole fails though no rule does." }),
    rules: Type.Array(
      StrictObject(
        {
          id: Type.String(),
          level: OneOf(ruleLevels),
          profile: Type.String(),
          title: Type.String(),
          why: Type.String(),
          fix: Type.String(),
          result: OneOf(ruleResults),
          reason: Nullable(
            Type.String({ description: "Why it does not apply, is waived or was left out." }),
          ),
          subject_count: Count,
          problem_count: Count,
          problems: Type.Array(Type.String(), { description: "The first of them." }),
        },
        { title: "TriedRule" },
      ),
    ),
  },
  { title: "ConformanceReport" },
);
type ConformanceReport = Static<typeof ConformanceReport>;
type Kept = Omit<ConformanceReport, "connector_id" | "kept_at" | "tried_code">;

const maxProblems = 5;
const cut = (text: string, length = 2_000) =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`;

/** The part that is kept. @throws report_refused */
function toKept({ connector, rules, ...report }: GivenReport): Kept {
  const counts = Object.fromEntries(
    ruleResults.map((result) => [result, rules.filter((rule) => rule.result === result).length]),
  );
  if (report.verdict === "passed" && failing.some((result) => counts[result] !== 0))
    throw reportRefused("it says that all passed, and has rules that failed");
  return {
    verdict: report.verdict,
    kit_version: cut(report.kitVersion, 100),
    tried_at: new Date(report.startedAt).toISOString(),
    counts,
    connector_version: connector.version === undefined ? null : cut(connector.version, 100),
    target: cut(report.target, 100),
    profiles: report.profiles.map((name) => cut(name, 100)),
    duration_ms: report.durationMs,
    run_count: report.runCount,
    remarks: report.remarks.map((one) => cut(one)),
    rules: rules.map((rule) => ({
      id: cut(rule.id, 100),
      level: rule.level,
      profile: cut(rule.profile, 100),
      title: cut(rule.title),
      why: cut(rule.why),
      fix: cut(rule.fix),
      result: rule.result,
      reason: rule.reason === undefined ? null : cut(rule.reason),
      subject_count: rule.subjectCount,
      problem_count: rule.problems.length,
      problems: rule.problems.slice(0, maxProblems).map(({ sentence }) => cut(sentence)),
    })),
  };
}

const reportRefused = (problem: string) => new ControlError("report_refused", { problem });

/** The digest of the code, or of the image, that was tried. */
const triedIn = (code: string | undefined, image: ContainedImage | null | undefined) =>
  image ? digestOf(image) : code;

/** Takes the place of the one before. @throws report_refused when it is of another connector */
export async function keepReport(
  tx: Db,
  connector: Pick<AddedConnector, "id" | "code_digest" | "image">,
  report: GivenReport,
  now: Date,
): Promise<void> {
  // A program or an image does not say who it is: then its code does.
  const { id, digest } = report.connector;
  const here = triedIn(connector.code_digest, imageOf(connector));
  if (id === undefined ? digest !== here : id !== connector.id)
    throw reportRefused(`it is of another connector than ${connector.id}`);
  const changes = {
    code_digest: digest ?? null,
    report: JSON.stringify(toKept(report)),
    kept_at: now,
  };
  await tx
    .insertInto("connector_reports")
    .values({ connector_id: connector.id, ...changes })
    .onConflict((conflict) => conflict.column("connector_id").doUpdateSet(changes))
    .execute();
}

/** The last report of a connector; undefined: there is none. */
export async function findReport(
  db: Db,
  { id, reference, added }: ConnectorDefinition,
): Promise<ConformanceReport | undefined> {
  const row = await db
    .selectFrom("connector_reports")
    .selectAll()
    .where("connector_id", "=", id)
    .executeTakeFirst();
  if (!row) return undefined;
  const isSame = row.code_digest === triedIn(reference.pin?.code, added?.image);
  return {
    connector_id: id,
    ...(JSON.parse(row.report) as Kept),
    kept_at: row.kept_at.toISOString(),
    tried_code: row.code_digest === null ? "unknown" : isSame ? "same" : "other",
  };
}

/** A connector's last report, in short. */
export async function summaryOf(
  db: Db,
  definition: ConnectorDefinition,
): Promise<Static<typeof ConformanceSummary> | null> {
  const report = definition.added ? await findReport(db, definition) : undefined;
  if (!report) return null;
  const { verdict, kit_version, tried_at, kept_at, tried_code, counts } = report;
  return { verdict, kit_version, tried_at, kept_at, tried_code, counts };
}
