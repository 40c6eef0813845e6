import { exchangeEvidence, messageEvidence, textEvidence } from "../contract/evidence.ts";
import { isOfClass } from "../contract/lab.ts";
import type { Command } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";
import { statementsText } from "../derive/database/faults.ts";

const unknownStream = "a stream that does not exist";

export default defineRule({
  id: "READ-01",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "A stream or sync mode that does not exist is refused as a configuration error before any request.",
  why: "Catalogs outlive connectors. A renamed stream that is skipped in silence looks like an empty table.",
  fix: "Compare the whole configured catalog with what you have before the first request.",
  good: 'if (!streams.has(name)) throw new ConnectorError("STREAM_UNKNOWN", { stream: name });',
  bad: "const stream = streams.get(name); if (!stream) continue;",
  async run(lab, report) {
    const some = lab.streams[0];
    if (!some) return;
    const command = lab.readCommand([some]);
    const configured = command.catalog.streams[0];
    if (!configured) return;
    const with_ = (change: object): Command => ({
      ...command,
      catalog: { streams: [{ ...configured, ...change }] as never },
    });
    const cases: [string, Command][] = [
      [
        unknownStream,
        with_({ stream: { ...some.stream, name: `${some.stream.name}_that_is_not_there` } }),
      ],
      ["a sync mode that does not exist", with_({ sync_mode: "backwards" })],
    ];
    for (const [name, wrong] of cases) {
      report.checked(name);
      const observation = await lab.run(wrong);
      const { status, failures } = observation.outcome;
      // Which tables there are, only the database knows.
      if (lab.database && name !== unknownStream && observation.traces.dials.length > 0)
        report.fail(
          `For ${name}, a session was opened before it was refused.`,
          textEvidence("Statements", statementsText(observation)),
        );
      if (observation.exchanges.length > 0)
        report.fail(
          `For ${name}, ${observation.exchanges.length} requests were sent before it was refused.`,
          exchangeEvidence("Requests", observation.exchanges),
        );
      if (status === "succeeded")
        report.fail(
          `For ${name}, the run says that it succeeded.`,
          messageEvidence("The run", observation, []),
        );
      else if (!failures.some((failure) => isOfClass(failure, "config")))
        report.fail(
          `For ${name}, the run ${status} without a configuration error: ${failures[0]?.message ?? "it says nothing"}.`,
          messageEvidence("The run", observation, []),
        );
    }
  },
});
