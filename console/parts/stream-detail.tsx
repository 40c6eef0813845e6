/** One stream in all its parts: its key, its columns, its rows. */
import { Button, Checkbox, Modal, MultiSelect, NativeSelect } from "@mantine/core";
import type { schemas } from "../api/schema.ts";
import {
  type CatalogStream,
  columnsOf,
  cursorLimits,
  primaryKeyOf,
  type Selection,
} from "../model/streams.ts";
import { RowFilter } from "./row-filter.tsx";

export function StreamDetail({
  stream,
  selection,
  onChange,
  onClose,
}: {
  readonly stream: CatalogStream;
  readonly selection: Selection;
  readonly onChange: (selection: Selection) => void;
  readonly onClose: () => void;
}) {
  const columns = columnsOf(stream);
  const key = primaryKeyOf(stream, selection).map((path) => path.join("."));
  const chosen = selection.selected_fields ?? columns;
  // Without them rows could not be told apart, or found again.
  const needed = [...key, ...(selection.cursor_field ?? [])];
  const setColumns = (next: readonly string[]) =>
    onChange({
      ...selection,
      selected_fields: next.length === columns.length ? null : [...next],
    });
  return (
    <Modal opened onClose={onClose} title={<bdi>{stream.name}</bdi>} size="lg">
      <div className="stack">
        {stream.source_defined_primary_key.length > 0 ? (
          <span>
            <span className="dim">Key, as the source has it: </span>
            {key.join(", ")}
          </span>
        ) : (
          <MultiSelect
            label="Key"
            description="The columns by which a row is known."
            data={columns}
            value={key}
            onChange={(next) =>
              onChange({ ...selection, primary_key: next.map((column) => [column]) })
            }
            searchable
          />
        )}
        <CursorNote stream={stream} selection={selection} />
        <Checkbox
          label="All columns"
          checked={chosen.length === columns.length}
          indeterminate={chosen.length < columns.length}
          onChange={(event) =>
            setColumns(
              event.currentTarget.checked ? columns : columns.filter((one) => needed.includes(one)),
            )
          }
        />
        <div className="cards" style={{ gap: "0.6rem" }}>
          {columns.map((column) => (
            <Checkbox
              key={column}
              label={<bdi>{column}</bdi>}
              checked={chosen.includes(column)}
              disabled={needed.includes(column)}
              onChange={(event) =>
                setColumns(
                  columns.filter((one) =>
                    one === column ? event.currentTarget.checked : chosen.includes(one),
                  ),
                )
              }
            />
          ))}
        </div>
        <Deletes selection={selection} onChange={onChange} />
        <MultiSelect
          label="Hashed columns"
          description="Their values are replaced by a hash before they leave the source's side. Equal values have equal hashes."
          data={[...columns]}
          value={[...(selection.hashed_fields ?? [])]}
          onChange={(next) =>
            onChange({ ...selection, hashed_fields: next.length === 0 ? null : next })
          }
          searchable
        />
        <RowFilter stream={stream} selection={selection} onChange={onChange} />
        <div>
          <Button onClick={onClose}>Done</Button>
        </div>
      </div>
    </Modal>
  );
}

/** The column by which changes are found, and its limits. */
function CursorNote({
  stream,
  selection,
}: {
  readonly stream: CatalogStream;
  readonly selection: Selection;
}) {
  const cursor = selection.cursor_field?.join(".") ?? "";
  if (selection.sync_mode !== "incremental" || stream.source_defined_cursor || cursor === "")
    return null;
  return (
    <span>
      <span className="dim">Cursor: </span>
      <bdi>{cursor}</bdi>
      {cursorLimits(stream, cursor).map((limit) => (
        <span key={limit} className="dim" style={{ display: "block" }}>
          {limit}
        </span>
      ))}
    </span>
  );
}

const deletes: Readonly<Record<schemas["DetectDeletes"], string>> = {
  none: "They stay",
  soft: "They are marked: _svc_deleted_at says when it was noticed",
  hard: "They are removed",
};

/** Where there is one row a key, each job can compare the keys. */
function Deletes({
  selection,
  onChange,
}: {
  readonly selection: Selection;
  readonly onChange: (selection: Selection) => void;
}) {
  if (selection.destination_sync_mode !== "append_dedup") return null;
  return (
    <NativeSelect
      label="Rows that the source has no more"
      description="To find them, each job reads all keys."
      value={selection.detect_deletes ?? "none"}
      data={Object.entries(deletes).map(([value, label]) => ({ value, label }))}
      onChange={(event) =>
        onChange({
          ...selection,
          detect_deletes: event.currentTarget.value as schemas["DetectDeletes"],
        })
      }
    />
  );
}
