import { defineRule } from "../contract/rule.ts";
import { failForTextFindings, isKnownOutside } from "../derive/leaks/visible-texts.ts";
import { createInsideSearch } from "./leak-06.inside-words.ts";

export default defineRule({
  id: "LEAK-06",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "No image, container, pod, host, process, private address, job or attempt stands in what users read.",
  why: "Users cannot do anything with them; an attacker learns what runs where, under which version, and how to name it.",
  fix: "Leave os.hostname(), process.pid, environment variables and addresses of the network out of messages; the platform adds its ids to its own records.",
  good: 'message: "The provider could not be reached. Try again later."',
  bad: "message: `Attempt ${process.env.WORKER_JOB_ATTEMPT} on ${os.hostname()} failed: ${error.message}`",
  async run(lab, report) {
    const find = createInsideSearch(lab);
    await failForTextFindings(lab, report, ({ run, sink: { text } }) =>
      find(text).filter(
        ({ index, length }) => !isKnownOutside(run, text.slice(index, index + length)),
      ),
    );
  },
});
