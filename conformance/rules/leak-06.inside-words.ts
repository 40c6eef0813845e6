/** Words that show where and how a connector runs: hosts, images, containers, processes, jobs. */
import { hostname } from "node:os";
import type { Lab } from "../contract/lab.ts";
import { runIds } from "../derive/leaks/run-ids.ts";
import type { TextFinding } from "../derive/leaks/visible-texts.ts";

/**
 * Letters of the random parts of Kubernetes' pod names: no vowels, nothing that looks like
 * something else.
 */
const podLetters = "[bcdfghjklmnpqrstvwxz2456789]";

const patterns: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["an image with its digest", /(?<![\w/.-])[\w.-]+(?:[/:][\w.-]+)*@sha256:[0-9a-f]{64}/g],
  [
    "an image with its tag",
    /(?<![\w/.:@-])(?:(?:[a-z0-9-]+\.)+[a-z]{2,}|localhost)(?::\d+)?(?:\/[a-z0-9._-]+)+:[A-Za-z0-9_][\w.-]*/g,
  ],
  [
    "an image with its tag",
    /(?<![\w/.:@-])[a-z0-9][a-z0-9._-]*\/[a-z0-9][a-z0-9._-]*:(?:latest\b|v?\d+\.\d[\w.-]*)/g,
  ],
  [
    "a private address",
    /(?<![\d.])(?:10\.\d{1,3}|172\.(?:1[6-9]|2\d|3[01])|192\.168|169\.254|127\.\d{1,3})\.\d{1,3}\.\d{1,3}(?![\d.])/g,
  ],
  ["a private address", /(?<![\w:])(?:f[cd][0-9a-f]{2}|fe80):[0-9a-f:]{2,}/gi],
  ["a process id", /\bpid\W{1,3}\d+/gi],
  ["the id of a container", /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g],
  [
    "the id of a container",
    /\b(?:container|docker)\b\W{1,4}(?:id\W{1,3})?[0-9a-f]{12}(?![0-9a-f])/gi,
  ],
  [
    "the name of a pod",
    new RegExp(`\\b[a-z0-9]+(?:-[a-z0-9]+)*-${podLetters}{8,10}-${podLetters}{5}\\b`, "g"),
  ],
  [
    "the id of a job",
    /\b(?:job|attempt|run|runtime|execution|workflow)[ _-]?id\W{1,4}[\w-]*\d[\w-]*/gi,
  ],
  ["the id of a job", /\b(?:attempt|job)\W{1,3}#?\d{4,}/gi],
];

/** Names that say nothing: many machines have them. */
const common = new Set(["localhost", "ubuntu", "debian", "docker", "runner", "worker", "server"]);

/** A search for what a text reveals of the place where the connector runs. */
export function createInsideSearch({
  target,
}: Pick<Lab, "target">): (text: string) => readonly TextFinding[] {
  const host = hostname();
  const image = target.kind === "container" ? target.name.replace(/^image:/, "") : "";
  const words: (readonly [string, string])[] = [
    ...Object.entries(runIds).map(([name, value]): readonly [string, string] => [
      value,
      `the ${name} of the run`,
    ]),
    ...(host.length >= 4 && !common.has(host) ? [[host, "the name of the host"] as const] : []),
    ...(image.length >= 6 ? [[image, "the name of the image"] as const] : []),
  ];
  const own = words.map(
    ([value, what]) =>
      [what, new RegExp(`(?<![A-Za-z0-9])${RegExp.escape(value)}(?![A-Za-z0-9])`, "g")] as const,
  );
  return (text) =>
    distinct(
      [...own, ...patterns].flatMap(([what, pattern]) =>
        [...text.matchAll(pattern)].map((match) => ({
          what,
          index: match.index,
          length: match[0].length,
        })),
      ),
    );
}

/** One place is reported once, by its most exact name. */
function distinct(found: readonly TextFinding[]): TextFinding[] {
  return found.filter(
    (one, index) =>
      !found
        .slice(0, index)
        .some(
          (other) => other.index < one.index + one.length && one.index < other.index + other.length,
        ),
  );
}
