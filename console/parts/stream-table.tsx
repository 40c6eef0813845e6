/** The streams of a source: which are read, how, and which columns. Only what is seen is drawn. */
import { Button, Checkbox, NativeSelect, TextInput } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useCallback, useMemo, useRef, useState } from "react";
import {
  allInMode,
  type CatalogStream,
  columnsOf,
  cursorLimits,
  cursorsOf,
  firstSelection,
  inMode,
  keyOf,
  type Mode,
  modeOf,
  modes,
  modesOf,
  type Prepared,
  type Selection,
  type Selections,
} from "../model/streams.ts";
import { count, plural } from "../model/words.ts";
import { Icon } from "./icon.tsx";
import { notify, useAct } from "./notify.ts";
import { StreamDetail } from "./stream-detail.tsx";

/**
 * Of a row in one line, as in the styles. Rows that are blocks, on a narrow screen, are as high as
 * what is chosen of them: those are measured, which costs as much as drawing them.
 */
const rowPx = 52;

interface StreamTableProps {
  readonly prepared: Prepared;
  readonly selections: Selections;
  readonly onChange: (change: (before: Selections) => Selections) => void;
  /** Asks the source anew; absent: nobody may. */
  readonly onLook?: (() => Promise<unknown>) | undefined;
}

export function StreamTable({ prepared, selections, onChange, onLook }: StreamTableProps) {
  const { streams } = prepared;
  const [search, setSearch] = useState("");
  const [detail, setDetail] = useState<CatalogStream>();
  const scroller = useRef<HTMLDivElement>(null);
  const found = useMemo(() => {
    const wanted = search.trim().toLowerCase();
    if (wanted === "") return streams;
    return streams.filter(({ name, namespace }) =>
      `${namespace ?? ""}.${name}`.toLowerCase().includes(wanted),
    );
  }, [streams, search]);
  const isNarrow = useMediaQuery("(max-width: 50rem)", undefined, {
    getInitialValueInEffect: false,
  });
  // Another function would have all 6,000 counted anew each time that something is drawn.
  const keyAt = useCallback((index: number) => keyOf(found[index] ?? { name: "" }), [found]);
  const sizeOf = useCallback(() => (isNarrow ? 58 : rowPx), [isNarrow]);
  const rows = useVirtualizer({
    count: found.length,
    getScrollElement: () => scroller.current,
    estimateSize: sizeOf,
    overscan: 3,
    getItemKey: keyAt,
  });
  const set = useCallback(
    (key: string, selection: Selection | undefined) =>
      onChange((before) => {
        const after = new Map(before);
        if (selection) after.set(key, selection);
        else after.delete(key);
        return after;
      }),
    [onChange],
  );
  // No higher than its rows; who searches keeps the place of what stands below.
  const wholePx = Math.max(rows.getTotalSize(), (isNarrow ? 2 : streams.length) * rowPx) + 2;
  const chosenHere = found.filter((one) => selections.has(keyOf(one))).length;
  const isAll = found.length > 0 && chosenHere === found.length;
  const setAll = (isChosen: boolean) =>
    onChange((before) => {
      const after = new Map(before);
      for (const stream of found) {
        const key = keyOf(stream);
        if (!isChosen) after.delete(key);
        else if (!after.has(key)) after.set(key, firstSelection(stream, prepared));
      }
      return after;
    });
  const setModes = (mode: Mode | "proposed" | "") => {
    if (mode === "") return;
    const { selections: next, left } = allInMode(found, selections, mode, prepared);
    onChange(() => next);
    const done = chosenHere - left;
    if (left === 0) notify.done(`${plural(done, "stream")} set.`);
    else
      notify.done(
        `${plural(done, "stream")} set. ${plural(left, "stream")} cannot be read so, for want of a key or a cursor: as before.`,
      );
  };
  const { isBusy: isLooking, act } = useAct();
  const look = () => act(async () => onLook?.());
  return (
    <div className="stack" style={{ gap: "0.75rem" }}>
      <div
        style={{ display: "flex", flexWrap: "wrap", gap: "0.75rem 1.25rem", alignItems: "center" }}
      >
        <TextInput
          aria-label="Search streams"
          placeholder={`Search ${plural(streams.length, "stream")}`}
          leftSection={<Icon name="search" />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          w="min(20rem, 100%)"
        />
        <Checkbox
          label={search.trim() === "" ? "All" : `All ${count(found.length)} found`}
          checked={isAll}
          indeterminate={chosenHere > 0 && !isAll}
          onChange={(event) => setAll(event.currentTarget.checked)}
          disabled={found.length === 0}
        />
        <span className="dim" aria-live="polite">
          {count(selections.size)} of {count(streams.length)} chosen
        </span>
        <div className="grow" />
        {chosenHere > 1 ? (
          <ModesSelect
            label={`How the ${count(chosenHere)} ${search.trim() === "" ? "chosen" : "found"} are read`}
            all={search.trim() === "" ? "all" : "all found"}
            onChange={setModes}
          />
        ) : null}
        {onLook === undefined ? null : (
          <Button size="xs" variant="default" loading={isLooking} onClick={() => void look()}>
            Ask the source again
          </Button>
        )}
      </div>
      <section
        className="streams"
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
        tabIndex={0}
        aria-label="Streams"
        style={{ maxHeight: wholePx }}
      >
        <div className="streams-all" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, start, key }) => {
            const stream = found[index];
            if (!stream) return null;
            return (
              <div
                key={key}
                data-index={index}
                ref={isNarrow ? rows.measureElement : undefined}
                className="stream"
                style={{ transform: `translateY(${start}px)` }}
              >
                <StreamRow
                  stream={stream}
                  selection={selections.get(keyOf(stream))}
                  prepared={prepared}
                  set={set}
                  onDetail={setDetail}
                />
              </div>
            );
          })}
        </div>
        {found.length === 0 ? (
          <p className="dim" style={{ padding: "1rem" }}>
            {streams.length === 0
              ? "The source has no streams."
              : `No stream is called “${search}”.`}
          </p>
        ) : null}
      </section>
      {detail === undefined ? null : (
        <StreamDetail
          stream={detail}
          selection={selections.get(keyOf(detail)) ?? firstSelection(detail, prepared)}
          onChange={(selection) => set(keyOf(detail), selection)}
          onClose={() => setDetail(undefined)}
        />
      )}
    </div>
  );
}

/** Sets how many streams are read at once. */
function ModesSelect({
  label,
  all,
  onChange,
}: {
  readonly label: string;
  readonly all: string;
  readonly onChange: (mode: Mode | "proposed" | "") => void;
}) {
  return (
    <NativeSelect
      aria-label={label}
      size="xs"
      value=""
      data={[
        { value: "", label: `Set how ${all} are read…` },
        { value: "proposed", label: "As proposed for each" },
        ...Object.entries(modes)
          .filter(([value]) => value !== "full_refresh append_dedup")
          .map(([value, label]) => ({ value, label })),
      ]}
      onChange={(event) => onChange(event.currentTarget.value as Mode | "proposed" | "")}
    />
  );
}

/** Its parts are the browser's own: dozens of rows come and go while one scrolls. */
const StreamRow = memo(function StreamRow({
  stream,
  selection,
  prepared,
  set,
  onDetail,
}: {
  readonly stream: CatalogStream;
  readonly selection: Selection | undefined;
  readonly prepared: Prepared;
  readonly set: (key: string, selection: Selection | undefined) => void;
  readonly onDetail: (stream: CatalogStream) => void;
}) {
  const key = keyOf(stream);
  const { name, namespace } = stream;
  const columns = columnsOf(stream);
  const chosen = selection?.selected_fields?.length ?? columns.length;
  const said = chosen === columns.length ? "All columns" : plural(chosen, "column");
  return (
    <>
      <input
        type="checkbox"
        className="tick"
        aria-label={`Read ${name}`}
        checked={selection !== undefined}
        onChange={(event) =>
          set(key, event.currentTarget.checked ? firstSelection(stream, prepared) : undefined)
        }
      />
      <span className="stream-of" title={name}>
        <bdi className="name">{name}</bdi>
        {namespace === null ? null : (
          <>
            {" "}
            <bdi className="dim">{namespace}</bdi>
          </>
        )}
      </span>
      {selection === undefined ? null : (
        <>
          <select
            className="choice"
            aria-label={`How ${name} is read`}
            value={modeOf(selection)}
            onChange={(event) =>
              set(key, inMode(stream, selection, event.currentTarget.value as Mode))
            }
          >
            {modesOf(stream, selection).map((value) => (
              <option key={value} value={value}>
                {modes[value]}
              </option>
            ))}
          </select>
          <Cursor stream={stream} selection={selection} set={set} />
          <button
            type="button"
            className="subtle"
            aria-label={`${said} of ${name}`}
            onClick={() => onDetail(stream)}
          >
            {said}
          </button>
        </>
      )}
    </>
  );
});

function Cursor({
  stream,
  selection,
  set,
}: {
  readonly stream: CatalogStream;
  readonly selection: Selection;
  readonly set: (key: string, selection: Selection) => void;
}) {
  if (selection.sync_mode !== "incremental") return <span className="dim">No cursor needed</span>;
  if (stream.source_defined_cursor)
    return <span className="dim">By {stream.default_cursor_field.join(".") || "the source"}</span>;
  return (
    <select
      className="choice"
      aria-label={`Cursor of ${stream.name}`}
      title={cursorLimits(stream, selection.cursor_field?.join(".") ?? "").join(" ")}
      value={selection.cursor_field?.join(".") ?? ""}
      onChange={(event) =>
        set(keyOf(stream), {
          ...selection,
          cursor_field: event.currentTarget.value === "" ? [] : [event.currentTarget.value],
        })
      }
    >
      <option value="">Choose a cursor</option>
      {cursorsOf(stream).map((cursor) => (
        <option key={cursor}>{cursor}</option>
      ))}
    </select>
  );
}
