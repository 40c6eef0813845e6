/**
 * Redactions of the runtime's filter in a svc connector's output: the connector tried, whether or
 * not its own text could be seen.
 */
import type { Lab } from "../../contract/lab.ts";
import { leakFindings, type SearchedRun, searchedRuns } from "./leak-findings.ts";
import type { SinkKind } from "./sinks.ts";

export interface Redaction {
  readonly run: SearchedRun;
  /** "log", "records of notes". */
  readonly where: string;
  /** Seen only where a run ended badly, or only in debug lines. */
  readonly isHidden: boolean;
}

const kindsOf: Readonly<Record<string, readonly SinkKind[]>> = {
  log: ["log", "debug log"],
  output: ["error output", "output"],
  records: ["record"],
  state: ["state"],
  catalog: ["catalog"],
  error: ["thrown", "error message"],
};

/**
 * Those that no leak in the connector's own texts explains: where these cannot be seen, all of
 * them. One for each place.
 */
export async function unexplainedRedactions(lab: Lab): Promise<readonly Redaction[]> {
  const explained = new Set((await leakFindings(lab)).map(({ sink }) => sink.kind));
  const found = new Map<string, Redaction>();
  const runs = (await searchedRuns(lab)).toSorted(
    (one, other) => Number(one.isDisturbed) - Number(other.isDisturbed),
  );
  for (const run of runs) {
    for (const where of run.observation.traces.redactions) {
      const [place = ""] = where.split(" of ");
      if (kindsOf[place]?.some((kind) => explained.has(kind)) || found.has(where)) continue;
      found.set(where, { run, where, isHidden: run.isDisturbed || isDebugOnly(run, place) });
    }
  }
  return [...found.values()];
}

/** A gap that only debug lines show. */
function isDebugOnly({ sinks }: SearchedRun, place: string): boolean {
  if (place !== "log") return false;
  const gaps = sinks.filter(({ text }) => text.includes("[redacted]"));
  return gaps.length > 0 && gaps.every(({ kind }) => kind === "debug log");
}
