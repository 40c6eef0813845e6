import { inspect } from "node:util";
import type { Lab } from "../contract/lab.ts";
import type { Given } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";
import {
  controls,
  leakEvidence,
  type SearchedRun,
  searchedRuns,
  searchedSecrets,
} from "../derive/leaks/leak-findings.ts";
import { createLeakSearch } from "../derive/leaks/leaks.ts";
import { sinksOfGiven } from "../derive/leaks/sinks.ts";

/** Every way in which a logger, a debugger or an uncaught exception prints an object. */
const printers = {
  "util.inspect": (value: unknown) =>
    inspect(value, {
      showHidden: true,
      depth: Number.POSITIVE_INFINITY,
      maxArrayLength: 1_000,
      maxStringLength: 100_000,
      getters: true,
    }),
  "JSON.stringify": (value: unknown) =>
    JSON.stringify(value, (_key, part: unknown) =>
      typeof part === "bigint" ? String(part) : part,
    ) ?? "",
  String: (value: unknown) =>
    typeof value === "object" && value !== null
      ? Object.values(value).map(String).join("\n")
      : String(value),
} as const;

/** Contexts that are printed: they are the same in all runs. */
const maxContexts = 8;

export default defineRule({
  id: "LEAK-08",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Connector, context and errors hold no secret that printing them would show: util.inspect, JSON.stringify, String, with causes and gathered errors.",
  why: "Loggers and crash reports print whole objects. An error that carries its request prints the Authorization header, however careful its message is.",
  fix: "Give errors a code and a sentence and nothing else: no request, response, config or cause. Keep secrets in closures or in #private fields, which nothing prints.",
  good: 'throw new ConnectorError("CREDENTIALS_REJECTED");',
  bad: 'throw Object.assign(new Error("Sign-in failed."), { response, config });',
  notApplicable: (lab: Lab) =>
    lab.can("inside") ? undefined : "objects inside this target cannot be seen",
  async run(lab, report) {
    const secrets = searchedSecrets(lab);
    let contextCount = 0;
    const seen = new Set<string>();
    for (const run of await searchedRuns(lab)) {
      const all = [...secrets, ...run.canaries];
      const search = createLeakSearch(all);
      if (!controls(search, all))
        throw new Error("the search for leaks does not find what the kit itself planted");
      for (const given of run.observation.given.filter(
        ({ where }) => where === "thrown" || where === "context",
      )) {
        if (given.where === "context" && ++contextCount > maxContexts) continue;
        report.checked(
          given.where === "thrown" ? `an error of ${run.name}` : `the context of ${run.name}`,
        );
        // A secret in the message itself belongs to LEAK-01.
        const known = new Set(search.find(messageOf(given)).map(({ canary }) => canary));
        for (const [printer, text] of printed(given)) {
          const leak = search.find(text).find(({ canary }) => !known.has(canary));
          const key = `${given.where} ${leak?.canary.name}`;
          if (!leak || seen.has(key)) continue;
          seen.add(key);
          const what =
            given.where === "thrown"
              ? `An error that the run "${run.name}" threw`
              : `What the run "${run.name}" works with`;
          report.fail(
            `${what} shows the secret "${leak.canary.name}" when it is printed by ${printer}.`,
            ...leakEvidence(run, printedSink(printer, text), leak),
          );
        }
      }
    }
  },
});

const messageOf = (given: Given) =>
  given.where === "thrown"
    ? sinksOfGiven([given])
        .map(({ text }) => text)
        .join("\n")
    : "";

function printed({ value }: Given): [string, string][] {
  return Object.entries(printers).map(([name, print]): [string, string] => {
    try {
      return [name, print(value)];
    } catch {
      return [name, ""]; // a loop, or a getter that throws: this printer shows nothing
    }
  });
}

const printedSink = (printer: string, text: string): SearchedRun["sinks"][number] => ({
  kind: "thrown",
  name: `the object, printed by ${printer}`,
  text,
});
