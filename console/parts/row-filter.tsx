/** Which rows of a stream are read: those that meet all conditions. */
import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import {
  type Condition,
  operatorWords,
  takesValue,
  textOf,
  toCondition,
} from "../model/row-filter.ts";
import { type CatalogStream, columnsOf, type Selection } from "../model/streams.ts";

export function RowFilter({
  stream,
  selection,
  onChange,
}: {
  readonly stream: CatalogStream;
  readonly selection: Selection;
  readonly onChange: (selection: Selection) => void;
}) {
  const conditions = selection.row_filter ?? [];
  const set = (next: readonly Condition[]) =>
    onChange({ ...selection, row_filter: next.length === 0 ? null : [...next] });
  const columns = columnsOf(stream);
  return (
    <fieldset className="mappings">
      <legend className="section" style={{ padding: 0, marginBottom: "0.25rem" }}>
        Only some rows
      </legend>
      <span className="dim">
        {conditions.length === 0
          ? "All rows are read. Databases can leave some out."
          : "Rows that meet all of these."}
      </span>
      {conditions.map((one, index) => (
        <ConditionFields
          key={`${index} of ${conditions.length}`}
          stream={stream}
          condition={one}
          place={index + 1}
          onChange={(next) => set(conditions.map((was, at) => (at === index ? next : was)))}
          onRemove={() => set(conditions.filter((_, at) => at !== index))}
        />
      ))}
      <div>
        <Button
          size="xs"
          variant="default"
          onClick={() =>
            set([...conditions, { column: columns[0] ?? "", operator: "=", value: "" }])
          }
        >
          Add a condition
        </Button>
      </div>
    </fieldset>
  );
}

function ConditionFields({
  stream,
  condition,
  place,
  onChange,
  onRemove,
}: {
  readonly stream: CatalogStream;
  readonly condition: Condition;
  readonly place: number;
  readonly onChange: (condition: Condition) => void;
  readonly onRemove: () => void;
}) {
  const [text, setText] = useState(textOf(condition));
  const { column, operator } = condition;
  const change = (next: {
    readonly column?: string;
    readonly operator?: Condition["operator"];
    readonly text?: string;
  }) => {
    const made = { column, operator, text, ...next };
    setText(made.text);
    onChange(toCondition(stream, made.column, made.operator, made.text));
  };
  return (
    <div className="condition">
      <NativeSelect
        aria-label={`Column of condition ${place}`}
        size="xs"
        value={column}
        data={[...columnsOf(stream)]}
        onChange={(event) => change({ column: event.currentTarget.value })}
      />
      <NativeSelect
        aria-label={`Comparison of condition ${place}`}
        size="xs"
        value={operator}
        data={Object.entries(operatorWords).map(([value, label]) => ({ value, label }))}
        onChange={(event) =>
          change({ operator: event.currentTarget.value as Condition["operator"] })
        }
      />
      {takesValue(operator) ? (
        <TextInput
          aria-label={`Value of condition ${place}`}
          size="xs"
          placeholder={operator.endsWith("in") ? "one, two, three" : ""}
          value={text}
          onChange={(event) => change({ text: event.currentTarget.value })}
        />
      ) : (
        <span />
      )}
      <Button
        size="xs"
        variant="subtle"
        color="red"
        aria-label={`Remove condition ${place}`}
        onClick={onRemove}
      >
        Remove
      </Button>
    </div>
  );
}
