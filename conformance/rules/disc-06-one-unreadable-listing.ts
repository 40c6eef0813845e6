import { defineRule } from "../contract/rule.ts";
import { exchangeEvidence, messageEvidence } from "../evidence.ts";
import { withAnswers } from "../replay/strict.ts";

export default defineRule({
  id: "DISC-06",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title: "When one table or endpoint cannot be read, discover lists the others and says which one is missing.",
  why: "One table without a grant must not take all the others away from the user; and a stream that silently disappears from the catalog is dropped at the destination.",
  fix: "Catch a refused part, log a warning that names it, and go on; fail only when nothing can be listed.",
  good: 'ctx.log.warn("This table cannot be read and is left out.", { table: name });',
  bad: "try { … } catch { continue; }",
  notApplicable: (lab) =>
    lab.egress === "http" && lab.first.discover.exchanges.length < 2
      ? "discover asks the provider for nothing that could be missing in part"
      : undefined,
  async run(lab, look) {
    const { exchanges, order } = lab.first.discover;
    const forbidden = { status: 403, headers: { "content-type": "application/json" }, body: Buffer.from("{}") };
    // The first request may be what all others need; a part is what comes after it.
    for (const { request } of lab.sample(exchanges.slice(1), 4)) {
      const name = `${request.method} ${request.url.pathname} answered 403`;
      look.at(name);
      const observation = await lab.run(order, {
        provider: withAnswers(lab.learned.provider(), (answer, { index }) =>
          index === request.index ? forbidden : answer,
        ),
      });
      const listed = observation.messages.flatMap(({ message }) =>
        message.type === "CATALOG" ? message.catalog.streams.map((stream) => stream.name) : [],
      );
      const isTold = observation.messages.some(
        ({ message }) => message.type === "LOG" && /warn/i.test(message.log.level),
      );
      const missing = lab.streams.filter(({ stream }) => !listed.includes(stream.name));
      if (observation.outcome.status !== "succeeded" || listed.length === 0)
        look.fail(
          `${name}: discover lists nothing any more (${observation.outcome.failures[0]?.message ?? observation.outcome.status}).`,
          exchangeEvidence("Requests", observation.exchanges, ({ request: one }) => one.index === request.index),
        );
      else if (missing.length > 0 && !isTold)
        look.fail(
          `${name}: ${missing.map(({ label }) => label).join(", ")} disappeared from the catalog without a warning.`,
          messageEvidence("The run", observation, []),
        );
    }
  },
});
