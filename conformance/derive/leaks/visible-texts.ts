/** The texts that users read, and what in them gives the inside away by its shape. */
import type { Lab } from "../../contract/lab.ts";
import type { Reporter } from "../../contract/rule.ts";
import { leakEvidence, type SearchedRun, searchedRuns } from "./leak-findings.ts";
import { createLeakSearch } from "./leaks.ts";
import { plantsOf } from "./plants.ts";
import { type SinkKind, type SinkText, userVisible } from "./sinks.ts";

export interface VisibleText {
  readonly run: SearchedRun;
  readonly sink: SinkText;
}

/** Where nobody looks for an error, and what is kept and passed on all the same. */
const sideDoors: ReadonlySet<SinkKind> = new Set(["record", "state", "catalog", "status"]);

/** Of all runs; but a text that passes on the provider's own error is LEAK-07's. */
async function visibleTexts(lab: Lab): Promise<readonly VisibleText[]> {
  const payload = createLeakSearch([plantsOf(lab).payload]);
  const isOwn = ({ kind, text }: SinkText) =>
    userVisible.has(kind) && payload.find(text).length === 0;
  return (await searchedRuns(lab)).flatMap((run) =>
    run.sinks.filter(isOwn).map((sink) => ({ run, sink })),
  );
}

/**
 * The texts of rows, states, streams and statuses, each once. Rows of a database hold whatever its
 * users write, and no request shows it.
 */
async function textsOfSideDoors(lab: Lab): Promise<readonly VisibleText[]> {
  const seen = new Set<string>();
  return (await searchedRuns(lab)).flatMap((run) =>
    run.sinks.flatMap((sink): VisibleText[] => {
      const { kind, text } = sink;
      if (!sideDoors.has(kind) || (kind === "record" && lab.database)) return [];
      if (seen.has(text)) return [];
      seen.add(text);
      return [{ run, sink: { ...sink, text: wordsOf(text) } }];
    }),
  );
}

/** The texts in a JSON document, without their escapes. */
function wordsOf(json: string): string {
  const texts: string[] = [];
  try {
    JSON.parse(json, (_, value: unknown) => {
      if (typeof value === "string") texts.push(value);
      return value;
    });
  } catch {
    return json;
  }
  return texts.join("\n");
}

export interface TextFinding {
  /** "a stack trace", "the path". */
  readonly what: string;
  readonly index: number;
  readonly length: number;
}

/** Looks at every run, and reports each kind of finding once for each kind of place. */
export async function failForTextFindings(
  lab: Lab,
  report: Reporter,
  find: (text: VisibleText) => readonly TextFinding[],
  { withSideDoors = false }: { readonly withSideDoors?: boolean | undefined } = {},
): Promise<void> {
  for (const { name } of await searchedRuns(lab)) report.checked(name);
  const seen = new Map<
    string,
    { readonly text: VisibleText; readonly finding: TextFinding; count: number }
  >();
  const isFromOutside = ({ run, sink }: VisibleText, { index, length }: TextFinding) =>
    sideDoors.has(sink.kind) &&
    sink.text
      .slice(index, index + length)
      .split("\n")
      .every((part) => isKnownOutside(run, part.trim()));
  const texts = [
    ...(await visibleTexts(lab)),
    ...(withSideDoors ? await textsOfSideDoors(lab) : []),
  ];
  for (const text of texts) {
    for (const finding of find(text).filter((one) => !isFromOutside(text, one))) {
      const key = `${finding.what} ${text.sink.kind}`;
      const known = seen.get(key);
      if (known) known.count++;
      else seen.set(key, { text, finding, count: 1 });
    }
  }
  for (const { text, finding, count } of seen.values()) {
    const { run, sink } = text;
    const { what, index, length } = finding;
    const shown = sink.text
      .slice(index, index + Math.min(length, 80))
      .replaceAll(/\s+/g, " ")
      .trim();
    const more = count > 1 ? ` (${count} times in all)` : "";
    report.fail(
      `A user reads ${what}, ${JSON.stringify(shown)}, in ${sink.name} of the run "${run.name}"${more}.`,
      ...leakEvidence(run, sink, { start: index, end: index + length, encoding: what }),
    );
  }
}

/**
 * True for what is not the connector's inside: it stands in the settings, in a request, or in an
 * answer.
 */
export function isKnownOutside({ observation }: SearchedRun, text: string): boolean {
  const { command, exchanges } = observation;
  if (
    command.verb !== "spec" &&
    JSON.stringify(command.config).includes(JSON.stringify(text).slice(1, -1))
  )
    return true;
  return exchanges.some(
    ({ request, answer }) =>
      request.url.href.includes(text) || request.body.includes(text) || answer?.body.includes(text),
  );
}
