/** The conformance report on a connector: its verdict, and each rule with its reason. */
import { Alert, Badge, Button, FileButton } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { api, ask } from "../api/client.ts";
import { Problem } from "../api/problem.ts";
import type { schemas } from "../api/schema.ts";
import {
  groupsOf,
  type Report,
  readReport,
  resultWords,
  type TriedRule,
  verdictWords,
} from "../model/conformance.ts";
import { useWork } from "../model/use-work.ts";
import { plural } from "../model/words.ts";
import { LongText } from "./long-text.tsx";
import { useMe } from "./me.tsx";
import { notify } from "./notify.ts";
import { Loaded, ProblemNote } from "./states.tsx";
import { Ago } from "./status.tsx";

/** The conformance report on a connector that was added. */
export function Conformance({
  connector: { connector_id: id, conformance },
}: {
  readonly connector: schemas["ConnectorWithStreams"];
}) {
  return (
    <section className="stack" aria-label="Conformance">
      <div className="actions">
        <h2 className="section" style={{ margin: 0 }}>
          Conformance
        </h2>
        <div className="grow" />
        <Upload id={id} hasReport={conformance !== null} />
      </div>
      {conformance === null ? (
        <div className="panel dim">
          Nobody has given a report of it yet. Its author makes one with{" "}
          <code>svc conformance … --report json --out report.json</code>.
        </div>
      ) : (
        <Kept id={id} keptAt={conformance.kept_at} />
      )}
    </section>
  );
}

function Upload({ id, hasReport }: { readonly id: string; readonly hasReport: boolean }) {
  const { administersInstance } = useMe();
  const { isBusy, problem, run } = useWork();
  const queries = useQueryClient();
  /** The same file may be given again, once it was mended. */
  const reset = useRef<() => void>(null);
  const give = (file: File | null) => {
    if (file === null) return;
    reset.current?.();
    void run(async () => {
      const report = await readReport(file);
      if (report === undefined)
        throw new Problem(422, {
          message: `${file.name} is no report. svc conformance … --report json --out report.json makes one.`,
        });
      const path = { connector_id: id };
      const made = await ask(
        api.POST("/connectors/{connector_id}/conformance", { params: { path }, body: { report } }),
      );
      notify.outcome(made, "The report is kept.");
      await queries.invalidateQueries({ queryKey: ["in", "connectors"] });
    });
  };
  if (!administersInstance) return null;
  return (
    <>
      <FileButton resetRef={reset} accept="application/json,.json" onChange={give}>
        {(button) => (
          <Button {...button} size="xs" variant="default" loading={isBusy}>
            {hasReport ? "Give a newer report" : "Give a report"}
          </Button>
        )}
      </FileButton>
      {problem === undefined ? null : (
        <div style={{ flexBasis: "100%" }}>
          <ProblemNote error={problem} />
        </div>
      )}
    </>
  );
}

function Kept({ id, keptAt }: { readonly id: string; readonly keptAt: string }) {
  const query = useQuery({
    queryKey: ["in", "connectors", id, "conformance", keptAt],
    queryFn: () =>
      ask(
        api.GET("/connectors/{connector_id}/conformance", {
          params: { path: { connector_id: id } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return <Loaded query={query}>{(report) => <Drawn report={report} />}</Loaded>;
}

const ofOtherCode: Readonly<Record<Exclude<Report["tried_code"], "same">, string>> = {
  other: "What was tried is not the code that is here now: it has changed, or was built elsewhere.",
  unknown: "The report does not say which code was tried: it may be other code than is here now.",
};

function Drawn({ report }: { readonly report: Report }) {
  const { verdict, kit_version: kit, tried_at: at, tried_code: code, remarks } = report;
  const { text, color } = verdictWords[verdict];
  const groups = groupsOf(report.rules);
  return (
    <>
      <div className="panel stack" style={{ gap: "0.75rem" }}>
        <div className="actions">
          <Badge variant="light" color={color} radius="sm" size="lg" tt="none">
            {text}
          </Badge>
          {groups.map(({ result, rules }) => (
            <span key={result} className="dim">
              {resultWords[result].heading}: {rules.length}
            </span>
          ))}
        </div>
        <span className="dim">
          Tried <Ago at={at} /> by version <bdi>{kit}</bdi> of the kit, in{" "}
          {plural(report.run_count, "run")}: {report.profiles.join(", ")}
          {report.connector_version === null ? null : (
            <>
              ; version <bdi>{report.connector_version}</bdi> of the connector
            </>
          )}
          .
        </span>
        {code === "same" ? (
          <span className="dim">It is the code that runs here.</span>
        ) : (
          <Alert color="yellow" variant="light">
            {ofOtherCode[code]} Have it tried again, and give the new report.
          </Alert>
        )}
        {remarks.map((remark) => (
          <LongText key={remark} text={remark} />
        ))}
      </div>
      {groups.map(({ result, rules }) => (
        <details key={result} className="panel rules" open={resultWords[result].isUrgent}>
          <summary>
            {resultWords[result].heading}{" "}
            <span className="dim">{plural(rules.length, "rule")}</span>
          </summary>
          <ul className="plain">
            {rules.map((rule) => (
              <RuleResult key={rule.id} rule={rule} />
            ))}
          </ul>
        </details>
      ))}
    </>
  );
}

function RuleResult({ rule }: { readonly rule: TriedRule }) {
  const { id, level, title, why, fix, reason, problems, problem_count: count, result } = rule;
  const { isUrgent, color } = resultWords[result];
  const more = count - problems.length;
  return (
    <li className="rule">
      <span className="line">
        <code>{id}</code>
        <bdi className="name">{title}</bdi>
        {isUrgent ? (
          <Badge variant="light" color={color} radius="sm" tt="none">
            {level === "MUST" ? "Must" : "Should"}
          </Badge>
        ) : null}
      </span>
      {reason === null ? null : <LongText text={reason} />}
      {problems.map((sentence) => (
        <LongText key={sentence} text={sentence} />
      ))}
      {more > 0 ? <span className="dim">And {plural(more, "problem")} more.</span> : null}
      {isUrgent ? (
        <dl className="facts">
          <dt>Why</dt>
          <dd>{why}</dd>
          <dt>To do</dt>
          <dd>{fix}</dd>
        </dl>
      ) : null}
    </li>
  );
}
