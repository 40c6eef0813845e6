import { messageEvidence } from "../contract/evidence.ts";
import type { Observation, ObservedMessage } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";
import { createLeakSearch, type LeakSearch } from "../derive/leaks/leaks.ts";
import { isDebug } from "../derive/leaks/sinks.ts";
import { settledStates } from "../derive/sweeps/canonical-log.ts";
import { isOrdered } from "../derive/sweeps/environments.ts";
import { isRefusal } from "../derive/sweeps/refusals.ts";
import { noSecrets } from "./leak-01-secret-verbatim.ts";
import { type PlainSecretRun, plainSecretRuns } from "./leak-10.plain-secrets.ts";

export default defineRule({
  id: "LEAK-10",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Secrets that look like anything else (one character, a number, characters of regular expressions) break no run and mask nothing that is not secret.",
  why: 'A filter that replaces the password "a" everywhere destroys every row, and one that makes a pattern of "a(b" ends every sync, for the one customer who has that password.',
  fix: "Escape the secret before it becomes a pattern, and mask short or plain ones only where they stand as a whole value; better, write nothing that needs masking.",
  good: "text.replaceAll(secret, '[redacted]') // only for secrets of 8 characters or more",
  bad: "text.replace(new RegExp(secret, 'g'), '***')",
  notApplicable: noSecrets,
  async run(lab, report) {
    const search = createLeakSearch(lab.canaries);
    for (const run of await plainSecretRuns(lab)) {
      // A secret in the path of a URL: no recording fits any more, which says nothing about
      // masking.
      if (run.observation.exchanges.some(({ unmatched }) => unmatched !== undefined)) continue;
      // No secret at all may be refused, whatever the spec says: that is CHECK-03's.
      if (run.secret === "" && isRefusal(run.observation)) continue;
      report.checked(run.name);
      compare(run, search, report.fail, isOrdered(lab));
    }
  },
});

function compare(
  { name, normal, observation }: PlainSecretRun,
  search: LeakSearch,
  fail: (sentence: string, ...evidence: ReturnType<typeof messageEvidence>[]) => void,
  hasOrder: boolean,
): void {
  const [before, after] = [normal, observation].map((one) =>
    hasOrder
      ? comparableMessages(one, one.messages)
      : comparableMessages(one, settledStates(one).messages).sort(byText),
  ) as [ComparableMessage[], ComparableMessage[]];
  if (observation.outcome.status !== normal.outcome.status) {
    const [failure] = observation.outcome.failures;
    fail(
      `${name}: the run ${observation.outcome.status}${failure ? ` (${failure.message})` : ""}; with another secret it ${normal.outcome.status}.`,
      messageEvidence("Its messages", observation, [observation.messages.length - 1]),
    );
    return;
  }
  // A text that shows the secret itself is another one with another secret: that is LEAK-01's and
  // LEAK-02's.
  const isSame = ({ text, line }: ComparableMessage, index: number) =>
    after[index]?.text === text || search.find(line).length > 0;
  const at = before.findIndex((one, index) => !isSame(one, index));
  const [was, is] = [before[at], after[at]];
  if (at === -1 && before.length === after.length) return;
  fail(
    `${name}: ${before.length === after.length || is ? "a message is another one" : `${after.length} messages come instead of ${before.length}`} than with another secret.`,
    messageEvidence("With another secret", normal, was ? [was.index] : []),
    messageEvidence("With this secret", observation, is ? [is.index] : []),
  );
}

interface ComparableMessage {
  readonly index: number;
  readonly line: string;
  /** Without what differs from run to run: times, durations and counts in log lines and states. */
  readonly text: string;
}

const byText = (one: ComparableMessage, other: ComparableMessage) =>
  one.text < other.text ? -1 : 1;

/** @param compared those of the run that count */
function comparableMessages(
  { messages }: Observation,
  compared: readonly ObservedMessage[],
): ComparableMessage[] {
  return compared.flatMap((one) => {
    const { message, line } = one;
    const index = messages.indexOf(one);
    if (message.type === "LOG" && isDebug(message.log.level)) return [];
    const text = line.replace(/"emitted_at"\s*:\s*[\d.]+\s*,?/, "");
    return [{ index, line, text: message.type === "RECORD" ? text : text.replaceAll(/\d+/g, "#") }];
  });
}
