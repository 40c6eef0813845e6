import { textEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { codeLines } from "../derive/source/source-text.ts";

const nodeModules =
  "child_process|cluster|dgram|dns|fs|http|http2|https|inspector|module|net|os|process|repl|tls|v8|vm|worker_threads";
const clients =
  "axios|got|node-fetch|undici|ky|superagent|request|needle|ws|execa|shelljs|cross-spawn|puppeteer|playwright|follow-redirects|isomorphic-fetch|cross-fetch|wretch|dotenv|node-pty";
const imported = new RegExp(
  `(?:\\bfrom\\s*|\\bimport\\s*\\(?\\s*|\\brequire\\s*\\(\\s*|\\bgetBuiltinModule\\s*\\(\\s*)["'\`](?:node:)?(${nodeModules}|${clients})(?:/[\\w./-]*)?["'\`]`,
);
const typeOnly = /^\s*(?:import|export)\s+type\b/;
/**
 * Globals that reach what the context does not give. A member of something else ("world.fetch") is
 * another thing.
 */
const globals: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  {
    what: "the global fetch",
    pattern: /(?<![.\w$])fetch\s*\(|\b(?:globalThis|global)\s*\.\s*fetch\b/,
  },
  { what: "a socket of its own", pattern: /\bnew\s+(?:WebSocket|XMLHttpRequest|EventSource)\b/ },
  {
    what: "the environment",
    pattern: /\bprocess\s*\.\s*env\b|\bDeno\s*\.\s*env\b|\bBun\s*\.\s*env\b/,
  },
  {
    what: "the process",
    pattern:
      /(?<![.\w$])process\s*\.\s*(?:exit|kill|binding|dlopen|chdir|getBuiltinModule|mainModule)\b|\bDeno\s*\.\s*(?:Command|run|connect)\b|\bBun\s*\.\s*spawn\b/,
  },
];
const script = /\.[cm]?[jt]sx?$/;
/**
 * A fetch that the file was handed or makes itself: a parameter, a part of an object, a
 * declaration, a method.
 */
const ownFetch =
  /[{,(]\s*fetch\s*[,:})=]|\b(?:const|let|var|function)\s+fetch\b|^\s*(?:async\s+)?fetch\s*\([^)]*\)\s*(?::[^{]*)?\{/m;
/** Recorded runs that are watched. */
const watchedRuns = 3;

export default defineRule({
  id: "NET-06",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Nothing but the client that it is handed: no network, process, worker, file or environment of its own.",
  why: "What goes past the client goes past its timeouts, its address checks, its redaction and the sandbox, and no test sees it. In the sandbox it fails, but only at the customer's.",
  fix: "Use ctx.http (or the fetch that the program is handed), settings in place of environment variables, and no files.",
  good: "const { rows } = (await ctx.http.get(['lists'])).json();",
  bad: "execSync('curl -H \"Authorization: Bearer ' + token + '\" https://api.example.com/lists')",
  notApplicable: (lab) =>
    lab.target.kind === "container"
      ? "a container has a network and files of its own; the proxy sees every request"
      : undefined,
  async run(lab, report) {
    for (const { path, text } of lab.target.sources) {
      if (!script.test(path)) continue;
      report.checked(path);
      lookAtSource(path, text, report);
    }
    const golden = await lab.golden();
    for (const { recording, observation } of golden)
      lookAtDenied(recording.name, observation, report);
    if (!lab.can("inside")) return;
    for (const { recording } of lab.sample(golden, watchedRuns))
      await lookAtRun(
        lab,
        recording.name,
        await lab.run(lab.commandOf(recording), {
          provider: lab.replay(recording),
          watchAccess: true,
        }),
        report,
      );
  },
});

function lookAtSource(path: string, text: string, report: Reporter): void {
  const reported = new Set<string>();
  const usable = globals.filter(({ what }) => what !== "the global fetch" || !ownFetch.test(text));
  for (const { number, line } of codeLines(text)) {
    const module = typeOnly.test(line) ? undefined : imported.exec(line)?.[1];
    const found = [
      ...(module === undefined || isOfTypes(line) ? [] : [`imports ${module}`]),
      ...usable.filter(({ pattern }) => pattern.test(line)).map(({ what }) => `uses ${what}`),
    ];
    for (const what of found) {
      if (reported.has(what)) continue;
      reported.add(what);
      report.fail(
        `${path}:${number} ${what}: a connector has only the client that it is handed.`,
        textEvidence(`${path}:${number}`, line.trim()),
      );
    }
  }
}

/** Imports nothing but types, which are gone when the module runs. */
const isOfTypes = (line: string) =>
  /import\s*\{\s*type\s+\w+(\s*,\s*type\s+\w+)*\s*,?\s*\}/.test(line);

function lookAtDenied(name: string, { traces }: Observation, report: Reporter): void {
  report.checked(`${name} (recorded)`);
  for (const denied of new Set(traces.denied))
    report.fail(
      `${name}: the sandbox refused ${denied}, which the connector tried to use.`,
      textEvidence("Refused", traces.denied.join("\n")),
    );
}

/** Clock and chance are the matter of DET-04. */
async function lookAtRun(
  lab: Lab,
  name: string,
  { traces }: Observation,
  report: Reporter,
): Promise<void> {
  report.checked(`${name}, watched`);
  const accesses = (traces.accesses ?? []).filter(
    ({ kind }) => kind !== "clock" && kind !== "random",
  );
  const reported = new Set<string>();
  for (const { what, where } of accesses) {
    if (reported.has(`${what} ${where}`)) continue;
    reported.add(`${what} ${where}`);
    report.fail(
      `${name}: ${where} uses ${what} of the process; ${lab.manifest ? "a connector has only its context" : "a program has only what it is handed"}.`,
      textEvidence("Used", accesses.map((one) => `${one.where} ${one.what}`).join("\n")),
    );
  }
}
