import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { cancelDeadlineMs, workToCancel } from "../derive/sweeps/cancels.ts";

export default defineRule({
  id: "CANCEL-01",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title: "A run that is cancelled before it begins sends no request.",
  why: "A queue that is cleared of cancelled jobs would call the provider once for each of them: quota is used up, and for APIs that count calls, paid for.",
  fix: 'Look at signal.aborted before the first request; a listener for "abort" is not called for what has already happened.',
  good: "signal.throwIfAborted();\nsignal.addEventListener('abort', stop, { once: true });",
  bad: "signal.addEventListener('abort', stop); // too late: it has been aborted before",
  notApplicable(lab) {
    if (!lab.can("cancel")) return "runs of this target cannot be cancelled";
    return lab.target.kind === "container"
      ? "a container that is cancelled before its start is not started"
      : undefined;
  },
  async run(lab, report) {
    const works = await workToCancel(lab);
    if (works.length === 0)
      return report.missing(
        "No check, discover or read of this connector sends a request and succeeds, so that nothing can be cancelled. Record a read.",
      );
    for (const { name, command } of works) {
      report.checked(name);
      const seen = await lab.run(command, {
        cancel: { at: "start" },
        deadlineMs: cancelDeadlineMs,
      });
      const { exchanges, outcome } = seen;
      if (exchanges.length > 0)
        report.fail(
          `${name}, cancelled before it began, sent ${exchanges.length === 1 ? "a request" : `${exchanges.length} requests`} all the same, the first ${exchanges[0]?.request.method} ${exchanges[0]?.request.url.pathname}. Expected: none.`,
          exchangeEvidence("Requests", exchanges),
          messageEvidence("Messages", seen, []),
        );
      const { dials } = seen.traces;
      if (lab.database && dials.length > 0)
        report.fail(
          `${name}, cancelled before it began, opened ${dials.length === 1 ? "a session" : `${dials.length} sessions`} all the same. Expected: none.`,
          messageEvidence("Messages", seen, []),
        );
      if (outcome.status === "hung")
        report.fail(
          `${name}, cancelled before it began, had not ended after ${cancelDeadlineMs / 1_000} s.`,
        );
    }
  },
});
