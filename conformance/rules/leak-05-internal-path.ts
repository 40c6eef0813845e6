import { homedir } from "node:os";
import { findShapes } from "svc-connectors/host";
import type { Lab } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";
import {
  failForTextFindings,
  isKnownOutside,
  type TextFinding,
  type VisibleText,
} from "../derive/leaks/visible-texts.ts";
import { tracesIn } from "./leak-04-stack-trace.ts";

export default defineRule({
  id: "LEAK-05",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "No path of the machine stands in what users read or keep, rows and states included: file://, node_modules, working or home directory, /app and the like.",
  why: "Paths name users, versions and the layout of the platform: what an attacker needs to know before the next step.",
  fix: "Name the setting or the stream in a message, never a file; do not pass on the messages of fs, import and child_process errors: they quote paths.",
  good: 'message: "The schema of the stream orders cannot be read. Report this to the author."',
  bad: "message: String(error) // \"ENOENT: no such file or directory, open '/app/schemas/orders.json'\"",
  async run(lab, report) {
    const own = ownFolders(lab);
    await failForTextFindings(
      lab,
      report,
      (text) => pathsIn(text, own, lab.can("inside")).slice(0, 1),
      { withSideDoors: true },
    );
  },
});

function pathsIn(
  { run, sink: { text } }: VisibleText,
  own: readonly string[],
  isSeenInside: boolean,
): TextFinding[] {
  const traces = tracesIn(text);
  const shapes = findShapes(text).filter(({ shape }) => shape === "path");
  const folders = own.flatMap((folder) =>
    text.includes(folder) ? [{ index: text.indexOf(folder), length: folder.length }] : [],
  );
  const hidden = text.indexOf(hiddenWord);
  return [
    ...[...shapes, ...folders]
      // Paths in a stack trace belong to LEAK-04.
      .filter(
        ({ index, length }) =>
          !traces.some(
            (trace) => index < trace.index + trace.length + 1 && trace.index < index + length + 1,
          ),
      )
      .filter(({ index, length }) => !isKnownOutside(run, text.slice(index, index + length)))
      .map(({ index, length }) => ({ what: "a path of the machine", index, length })),
    // Where the connector's own text cannot be seen, only that the runtime took something out.
    ...(hidden !== -1 && run.isFiltered && !isSeenInside
      ? [
          {
            what: "a gap where the runtime hid a path, a stack frame, a key or an image",
            index: hidden,
            length: hiddenWord.length,
          },
        ]
      : []),
  ];
}

/** The word of svc's runtime in place of something internal. */
const hiddenWord = "[hidden]";

function ownFolders(lab: Lab): string[] {
  if (!lab.can("inside")) return [];
  return [process.cwd(), homedir()].filter((folder) => folder.length > 4);
}
