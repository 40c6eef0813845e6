import { Button } from "@mantine/core";
import { useLayoutEffect, useRef } from "react";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { count } from "../model/words.ts";
import { useAct } from "./notify.ts";
import { saveAs } from "./save-as.ts";

const clock = new Intl.DateTimeFormat("en", { timeStyle: "medium", hourCycle: "h23" });

/** So close to its end, a log goes on with what comes. */
const nearPx = 40;

/** The log of a job as it comes. Who has scrolled up reads on in peace. */
export function Log({
  jobId,
  lines,
  dropped,
}: {
  readonly jobId: string;
  readonly lines: readonly schemas["JobLogEntry"][];
  readonly dropped: number;
}) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const { isBusy, act } = useAct();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each line moves the end
  useLayoutEffect(() => {
    if (isAtEnd.current) box.current?.scrollTo(0, box.current.scrollHeight);
  }, [lines.length]);
  return (
    <section className="panel">
      <div className="actions" style={{ marginBottom: "0.9rem" }}>
        <h2 className="section grow" style={{ margin: 0 }}>
          Log
        </h2>
        {lines.length === 0 ? null : (
          <Button
            size="xs"
            variant="default"
            loading={isBusy}
            onClick={() => void act(async () => saveAs(await wholeLog(jobId), `${jobId}.log`))}
          >
            Save the whole log
          </Button>
        )}
      </div>
      {dropped > 0 ? <p className="dim">{count(dropped)} earlier lines are not shown.</p> : null}
      {lines.length === 0 ? <span className="dim">Nothing was written yet.</span> : null}
      <div
        className="log"
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
        tabIndex={0}
        role="log"
        aria-label="Log of the job"
        onScroll={({ currentTarget: at }) => {
          isAtEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < nearPx;
        }}
      >
        {lines.map(({ index, at, level, message, fields }) => (
          <div key={index}>
            <time dateTime={at}>{clock.format(new Date(at))}</time>
            <span data-level={level}>
              {level === "info" ? "" : `${level}: `}
              {clipped(`${message}${formatFields(fields)}`)}
            </span>
          </div>
        ))}
      </div>
    </section>
  );
}

/** All that is kept, a line each, with the whole moment. @throws Problem */
async function wholeLog(jobId: string): Promise<Blob> {
  const parts: string[] = [];
  let after: number | undefined;
  do {
    const page = await ask(
      api.GET("/jobs/{job_id}/logs", {
        params: { path: { job_id: jobId }, query: { after, limit: 1_000 } },
      }),
    );
    for (const { at, level, message, fields } of page.items)
      parts.push(`${at} ${level.padEnd(5)} ${message}${formatFields(fields)}\n`);
    after = page.next_after ?? undefined;
  } while (after !== undefined);
  return new Blob(parts, { type: "text/plain" });
}

/** A line of a megabyte would stop the page. */
const clipped = (text: string) => (text.length > 4_000 ? `${text.slice(0, 4_000)}…` : text);

const formatFields = (fields: Readonly<Record<string, unknown>>): string => {
  const parts = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return parts.length === 0 ? "" : `  ${parts.join(" ")}`;
};
