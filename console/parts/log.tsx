import { useLayoutEffect, useRef } from "react";
import type { schemas } from "../api/schema.ts";
import { count } from "../model/words.ts";

const clock = new Intl.DateTimeFormat("en", { timeStyle: "medium", hourCycle: "h23" });

/** So close to its end, a log goes on with what comes. */
const nearPx = 40;

/** The log of a job as it comes. Who has scrolled up reads on in peace. */
export function Log({
  lines,
  dropped,
}: {
  readonly lines: readonly schemas["JobLogEntry"][];
  readonly dropped: number;
}) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each line moves the end
  useLayoutEffect(() => {
    if (isAtEnd.current) box.current?.scrollTo(0, box.current.scrollHeight);
  }, [lines.length]);
  return (
    <section className="panel">
      <h2>Log</h2>
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

/** A line of a megabyte would stop the page. */
const clipped = (text: string) => (text.length > 4_000 ? `${text.slice(0, 4_000)}…` : text);

const formatFields = (fields: Readonly<Record<string, unknown>>): string => {
  const parts = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return parts.length === 0 ? "" : `  ${parts.join(" ")}`;
};
