/**
 * The progress of a run for a person: one line that changes on a terminal, a line a rule in a log,
 * and each failure when it happens.
 */
import type { RuleReport } from "../contract/report.ts";
import { durationText, failingResults, plural, resultWords } from "./results.ts";
import { logLine } from "./visible.ts";

export interface ProgressOptions {
  readonly write: (text: string) => void;
  readonly isTTY: boolean;
  /** Width of the terminal. */
  readonly columns: number;
}

export interface ProgressDisplay {
  /** Called once, before the first rule. */
  started(total: number): void;
  finished(rule: RuleReport): void;
  /** Leaves nothing behind on a terminal: the report follows. */
  end(): void;
}

/** The first problem of a rule: the report, which has all of them, may be an hour away. */
function foundLine({ problems, reason }: RuleReport): string {
  const [sentence = reason] = problems.map((problem) => problem.sentence);
  if (sentence === undefined) return "";
  const more = problems.length > 1 ? ` (and ${plural(problems.length - 1, "more problem")})` : "";
  return `    ${logLine(sentence)}${more}\n`;
}

/** Back to the beginning of the line, which is then erased. @see ECMA-48 section 8.3.41 EL */
const eraseLine = "\r\x1b[2K";

export function createProgress({ write, isTTY, columns }: ProgressOptions): ProgressDisplay {
  let total = 0;
  let doneCount = 0;
  let failedCount = 0;

  const counter = () => `[${String(doneCount).padStart(String(total).length)}/${total}]`;
  const showLine = (text: string) =>
    write(`${eraseLine}${text.slice(0, Math.max(0, columns - 1))}`);

  return {
    started(ruleCount) {
      total = ruleCount;
      if (isTTY) showLine(`${counter()} …`);
      else write(`Trying ${plural(total, "rule")}.\n`);
    },
    finished(rule) {
      doneCount += 1;
      const isFailure = failingResults.includes(rule.result);
      if (isFailure) failedCount += 1;
      const { sign } = resultWords[rule.result];
      const text = `${counter()} ${sign} ${rule.id} ${rule.result} (${durationText(rule.durationMs)}) ${logLine(rule.title)}\n`;
      const found = isFailure ? foundLine(rule) : "";
      if (!isTTY) return write(text + found);
      if (isFailure) write(eraseLine + text + found);
      showLine(
        `${counter()} ${failedCount > 0 ? `${failedCount} failed · ` : ""}${sign} ${rule.id} ${logLine(rule.title)}`,
      );
    },
    end() {
      if (isTTY) write(eraseLine);
    },
  };
}
