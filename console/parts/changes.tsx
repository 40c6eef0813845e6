/** The changes that a proposal would make, as one reads them. */
import { UnstyledButton } from "@mantine/core";
import { Fragment, useState } from "react";
import type { schemas } from "../api/schema.ts";
import { lineParts, listParts, wordsOf } from "../model/differences.ts";
import { count, scheduleWords, spoken } from "../model/words.ts";
import { useNames } from "./names.ts";
import { Value } from "./value.tsx";

type Change = schemas["ProposedChange"];

/** So many are drawn at first: a pipeline may have thousands of streams. */
const few = 100;

export function Changes({ kind, changes }: Pick<schemas["ProposedChanges"], "kind" | "changes">) {
  const [isAll, setAll] = useState(false);
  const nameOf = useNames();
  if (changes.length === 0)
    return (
      <p className="dim">
        {kind === "run" ? "It is begun as it is, with nothing chosen." : "No field differs."}
      </p>
    );
  const groups = [...Map.groupBy(withSchedule(changes.filter(isShown)), placeOf)];
  const seen = isAll ? groups : groups.slice(0, few);
  return (
    <>
      <dl className="changes">
        {seen.map(([place, [first, ...others]]) =>
          first === undefined ? null : (
            <Fragment key={place}>
              <dt>
                <Place path={isStream(first) ? first.path.slice(0, 2) : first.path} />
              </dt>
              <dd>
                {isStream(first) ? (
                  <Stream changes={[first, ...others]} />
                ) : (
                  <Difference change={withNames(first, nameOf)} kind={kind} />
                )}
              </dd>
            </Fragment>
          ),
        )}
      </dl>
      {groups.length > seen.length ? (
        <UnstyledButton c="var(--mantine-color-anchor)" fz="sm" onClick={() => setAll(true)}>
          Show all {count(groups.length)}
        </UnstyledButton>
      ) : null}
    </>
  );
}

/** It says by which look at the source streams were chosen, and changes nothing. */
const isShown = ({ path }: Change) => path[0] !== "prepare_id";

/** Streams are told one by one; their names are not ours. */
const isStream = ({ path }: Change) => path[0] === "streams" && path.length > 1;
const placeOf = (change: Change) =>
  JSON.stringify(isStream(change) ? change.path.slice(0, 2) : change.path);

/** The parts of a schedule say little by themselves: where they are all there, it is one change. */
function withSchedule(changes: readonly Change[]): readonly Change[] {
  const parts = changes.filter(
    ({ path: [first], path }) => first === "schedule" && path.length > 1,
  );
  const said = (side: "before" | "after") =>
    Object.fromEntries(
      parts.flatMap((one) => (one[side] === null ? [] : [[one.path[1], one[side]]])),
    );
  const [before, after] = [said("before"), said("after")];
  if (after.type === undefined) return changes;
  const words = (one: Readonly<Record<string, unknown>>) =>
    one.type === undefined ? null : scheduleWords(one as unknown as schemas["Schedule"]);
  const whole: Change = {
    path: ["schedule"],
    change: before.type === undefined ? "add" : "change",
    before: words(before),
    after: words(after),
    is_secret: false,
  };
  return [...changes.filter((one) => !parts.includes(one)), whole];
}

const Place = ({ path }: { readonly path: readonly string[] }) =>
  path.map((name, index) => (
    <Fragment key={name}>
      {index === 0 ? "" : " › "}
      <bdi>{path[0] === "streams" && index === 1 ? name : wordOf(name)}</bdi>
    </Fragment>
  ));

function Stream({ changes }: { readonly changes: readonly Change[] }) {
  const [first] = changes;
  if (first?.path.length === 2) return <span className="gone">is not read any more</span>;
  const shown = changes.filter(({ path }) => path[2] !== "name" && path[2] !== "namespace");
  const isNew = shown.length < changes.length;
  return (
    <>
      {isNew ? <ins>is read</ins> : null}
      {shown.map((change) => (
        <div key={change.path.join()}>
          <span className="dim">{wordOf(change.path[2] ?? "")}:</span>{" "}
          <Difference change={withNames(change, never)} kind={isNew ? "create" : "update"} />
        </div>
      ))}
    </>
  );
}
const never = () => undefined;

/** Words of ours are spoken; what is a name of something stays as it is. */
const wordOf = (name: string): string => (/^[a-z]+(_[a-z]+)*$/.test(name) ? spoken(name) : name);

function Difference({
  change: { change, before, after, is_secret: isSecret },
  kind,
}: {
  readonly change: Change;
  readonly kind: schemas["ProposedChanges"]["kind"];
}) {
  if (isSecret)
    return (
      <ins>
        {kind === "update"
          ? "Another secret, which nobody is shown"
          : "A secret, which nobody is shown"}
      </ins>
    );
  // Nothing is new about what something is begun with, or all of it.
  if (kind === "create" || kind === "run") return <Value of={after} />;
  if (change === "remove")
    return (
      <del>
        <Value of={before} />
      </del>
    );
  if (change === "add")
    return (
      <ins>
        <Value of={after} />
      </ins>
    );
  if (isLong(before) || isLong(after)) return <Lines before={before} after={after} />;
  const [left, right] = [wordsOf(before), wordsOf(after)];
  if (left && right) return <Words {...listParts(left, right)} />;
  return (
    <>
      <del>
        <Value of={before} />
      </del>{" "}
      <span aria-hidden="true">→</span>{" "}
      <ins>
        <Value of={after} />
      </ins>
    </>
  );
}

const isLong = (value: unknown) => typeof value === "string" && value.includes("\n");

const Lines = ({ before, after }: { readonly before: unknown; readonly after: unknown }) => (
  <div className="lines">
    {lineParts(String(before ?? ""), String(after ?? "")).map(({ kind, text }, index) => {
      const line = text === "" ? "\u00a0" : text;
      return (
        // biome-ignore lint/suspicious/noArrayIndexKey: it is drawn once
        <div key={index} data-kind={kind}>
          {kind === "gone" ? <del>{line}</del> : kind === "new" ? <ins>{line}</ins> : line}
        </div>
      );
    })}
  </div>
);

const Words = ({ gone, come, stay }: ReturnType<typeof listParts>) => (
  <>
    {gone.length === 0 ? null : (
      <>
        <del>
          <Value of={gone} />
        </del>{" "}
      </>
    )}
    {come.length === 0 ? null : (
      <>
        <ins>
          <Value of={come} />
        </ins>{" "}
      </>
    )}
    <span className="dim">
      {gone.length + come.length === 0 ? "another order" : `${stay} stay as they are`}
    </span>
  </>
);

/** Adds names to ids of things that have one. */
function withNames(change: Change, nameOf: ReturnType<typeof useNames>): Change {
  const field = change.path.at(-1) ?? "";
  const named = (value: unknown) => {
    if (field === "selected_fields" && value === null) return "all columns";
    if (typeof value !== "string" || !field.endsWith("_id")) return value;
    const name = nameOf(field.slice(0, -"_id".length), value);
    return name === undefined ? value : `${name} (${value})`;
  };
  return { ...change, before: named(change.before), after: named(change.after) };
}
