/**
 * Findings of the search for leaks in all runs of a connector, each leak once, for the rules that
 * judge it.
 */

import { messageEvidence } from "../../contract/evidence.ts";
import type { Canary, Lab } from "../../contract/lab.ts";
import type { Given, Observation } from "../../contract/observation.ts";
import type { Evidence, Reporter } from "../../contract/rule.ts";
import { errorAnswers } from "../sweeps/error-answers.ts";
import { wrongAnswers } from "../sweeps/wrong-answers.ts";
import { leakRuns } from "./leak-runs.ts";
import { createLeakSearch, type Leak, type LeakSearch } from "./leaks.ts";
import { plantsOf } from "./plants.ts";
import { type SinkText, sinksOf, sinksOfGiven } from "./sinks.ts";

/** A run and everything that it gave as texts. */
export interface SearchedRun {
  readonly name: string;
  readonly observation: Observation;
  readonly sinks: readonly SinkText[];
  /** Crash, cancel, timeout: LEAK-09's, where the undisturbed runs do not show the same. */
  readonly isDisturbed: boolean;
  /** The provider answered with what the kit planted into an error: LEAK-07's. */
  readonly isTalkative: boolean;
  /** The runtime's filter stands between the connector and what came out. */
  readonly isFiltered: boolean;
  /** Secrets that only this run has. */
  readonly canaries: readonly Canary[];
}

export interface LeakFinding {
  readonly run: SearchedRun;
  readonly sink: SinkText;
  readonly leak: Leak;
  /** A secret that the provider issued, not one of the settings. */
  readonly isIssued: boolean;
  /** Seen only where a run ended badly, or only in debug lines. */
  readonly isHidden: boolean;
  /** How many texts show the same. */
  readonly count: number;
}

/** All runs of the kit's shared sweeps and of the search for leaks. */
export function searchedRuns(lab: Lab): Promise<readonly SearchedRun[]> {
  return lab.once("searched runs", async () => {
    const isFiltered = lab.manifest !== undefined;
    // Of rows, a manifest's author chooses the declared fields, and those are searched as output.
    const isChosen = ({ where }: Given) => lab.target.document === undefined || where !== "records";
    const own = (await leakRuns(lab)).map(
      ({ name, kind, observation, canaries, left }): SearchedRun => ({
        name,
        observation,
        sinks: [
          ...sinksIn(lab, observation),
          ...sinksOfGiven(observation.given.filter(isChosen)),
          ...left,
        ],
        isDisturbed: kind === "disturbed" || isDisturbed(observation),
        isTalkative: kind === "error" || name.endsWith("while it waits"),
        isFiltered,
        canaries,
      }),
    );
    const shared = [
      ...(await lab.everyRun()),
      ...(await wrongAnswers(lab)),
      ...(await errorAnswers(lab)),
    ];
    const others = shared.map(
      ({ name, observation }): SearchedRun => ({
        name,
        observation,
        sinks: sinksIn(lab, observation),
        isDisturbed: isDisturbed(observation),
        isTalkative: false,
        isFiltered,
        canaries: [],
      }),
    );
    return [...own, ...others];
  });
}

/** A container that is killed cannot clear up, and its files end with it. */
function sinksIn({ target }: Lab, observation: Observation): SinkText[] {
  const isKilled = target.kind === "container" && observation.isStopped;
  return sinksOf(observation).filter(({ kind }) => !isKilled || kind !== "artefact");
}

const isDisturbed = ({ isStopped, cancelledAt, outcome }: Observation) =>
  isStopped || cancelledAt !== undefined || outcome.status === "hung";

/** Secrets that every run is searched for. */
export const searchedSecrets = (lab: Lab): readonly Canary[] => [
  ...lab.canaries,
  ...plantsOf(lab).issued,
];

/**
 * The search itself works: it finds a secret that the kit puts into a text of its own. Else nothing
 * that it does not find means anything.
 */
export function controls(search: LeakSearch, canaries: readonly Canary[]): boolean {
  return canaries.every((canary) => {
    const forms = [
      canary.value,
      Buffer.from(`user:${canary.value}`).toString("base64"),
      canary.value.slice(0, 8),
    ];
    return forms.every((form) =>
      search
        .find(`{"type":"LOG","log":{"level":"INFO","message":"before ${form} after"}}`)
        .some((leak) => leak.canary === canary),
    );
  });
}

export function leakFindings(lab: Lab): Promise<readonly LeakFinding[]> {
  return lab.once("leak findings", async () => {
    const secrets = searchedSecrets(lab);
    const search = createLeakSearch(secrets);
    if (!controls(search, secrets))
      throw new Error("the search for leaks does not find what the kit itself planted");
    const found = new Map<string, { finding: LeakFinding; count: number }>();
    const runs = await searchedRuns(lab);
    const calm = runs.filter(({ isDisturbed: disturbed }) => !disturbed);
    const disturbed = runs.filter(({ isDisturbed: isSo }) => isSo);
    for (const run of [...calm, ...disturbed]) {
      const own =
        run.canaries.length > 0 ? createLeakSearch([...secrets, ...run.canaries]) : search;
      if (own.isClean(run.sinks.map(({ text }) => text))) continue;
      for (const sink of run.sinks) {
        for (const leak of own.find(sink.text)) {
          const isHidden = sink.kind === "debug log" || run.isDisturbed;
          const key = `${leak.canary.name} ${isLasting(leak) ? leak.encoding : "a piece"} ${sink.kind}`;
          const known = found.get(key);
          if (known) known.count++;
          else
            found.set(key, {
              finding: {
                run,
                sink,
                leak,
                isIssued: leak.canary.name.startsWith("issued"),
                isHidden,
                count: 1,
              },
              count: 1,
            });
        }
      }
    }
    return [...found.values()].map(({ finding, count }) => ({ ...finding, count }));
  });
}

/** How many characters of a piece there are differs from text to text. */
const isLasting = ({ encoding }: Leak) => !/^\d|^its /.test(encoding);

/** Tells the author of a leak: which secret, where, how it is written, and the text around it. */
export function failForLeak(report: Reporter, { run, sink, leak, count }: LeakFinding): void {
  const how = leak.isVerbatim
    ? "stands as it is"
    : `stands ${/^\d|^its /.test(leak.encoding) ? `in part (${leak.encoding})` : `as ${leak.encoding}`}`;
  const more = count > 1 ? ` ${moreTexts(count - 1)} the same.` : "";
  report.fail(
    `The secret "${leak.canary.name}" ${how} in ${sink.name} of the run "${run.name}".${more}`,
    ...leakEvidence(run, sink, leak),
  );
}

const moreTexts = (count: number) =>
  count === 1 ? "1 more text shows" : `${count} more texts show`;

/** Characters that are shown before and after a leak. */
const around = 160;

export function leakEvidence(
  { observation, name }: SearchedRun,
  sink: SinkText,
  { start, end, encoding }: Pick<Leak, "start" | "end" | "encoding">,
): Evidence[] {
  const from = Math.max(0, start - around);
  const shown: Evidence = {
    kind: "leak",
    title: `${sink.name} of "${name}"`,
    text: sink.text.slice(from, end + around),
    start: start - from,
    end: end - from,
    encoding,
  };
  return sink.message === undefined
    ? [shown]
    : [shown, messageEvidence("The messages around it", observation, [sink.message])];
}
