import { findShapes } from "svc-connectors/host";
import { defineRule } from "../contract/rule.ts";
import { thrownTextsIn } from "../derive/leaks/thrown-texts.ts";
import {
  failForTextFindings,
  isKnownOutside,
  type TextFinding,
  type VisibleText,
} from "../derive/leaks/visible-texts.ts";

/** A place in a source file: "index.js:12:7", "source.py:40". */
const place = /[\w./-]+\.(?:[cm]?[jt]sx?|py|rb|go|rs|php|java|kt|cs):\d+(?::\d+)?\b/g;
const frame = /\n\s+at [\w$.<>[\] ]+/g;

export default defineRule({
  id: "LEAK-04",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "No stack trace, no place in source code and no text of an exception stands in what users read or keep: error messages, check results, log lines from INFO up, rows, states, names of streams.",
  why: "A trace tells an attacker which code of which version runs where; a user it tells only that nobody thought of this case, as \"TypeError: Cannot read properties of undefined (reading 'map')\" does.",
  fix: "Turn every error into a sentence that says what happened and what to do; put a trace, where it is needed, into DEBUG lines or stack_trace. Do not make a message of whatever was caught: look whether it is an error of your own.",
  good: 'message: "The provider\'s answer is not JSON. Check the base URL."',
  bad: "message: error.stack, reason: String(error)",
  async run(lab, report) {
    await failForTextFindings(
      lab,
      report,
      (text) => [...tracesIn(text.sink.text), ...exceptionsIn(text)],
      { withSideDoors: true },
    );
  },
});

/** Exceptions of the connector's own: those in the provider's answer are LEAK-07's. */
const exceptionsIn = ({ run, sink: { text } }: VisibleText): TextFinding[] =>
  thrownTextsIn(text)
    .filter(({ index, length }) => !isKnownOutside(run, text.slice(index, index + length)))
    .slice(0, 1)
    .map(({ index }) => ({
      what: "the text of an exception",
      index,
      length: text.slice(index).search(/[\n\r]|$/),
    }));

export function tracesIn(text: string): TextFinding[] {
  const shapes = findShapes(text).filter(({ shape }) => shape.endsWith("stack"));
  const matches = [place, frame].flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => ({ index: match.index, length: match[0].length })),
  );
  return [...shapes, ...matches]
    .map(({ index, length }) => ({ what: "a stack trace", index, length }))
    .sort((one, other) => one.index - other.index);
}
