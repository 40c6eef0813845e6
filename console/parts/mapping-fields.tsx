/** Which column goes to which field, and by which field a row is found there. */
import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useId } from "react";
import type { schemas } from "../api/schema.ts";

export type Mapping = schemas["Mapping"];

export function MappingFields({
  mappings,
  columns,
  fields,
  faults,
  hasIdentifier,
  isReadOnly,
  onChange,
}: {
  readonly mappings: readonly Mapping[];
  readonly columns: readonly string[];
  /** The receiver's fields; it may take others too. */
  readonly fields: readonly { readonly name: string; readonly type: string }[];
  /** The faults, by `mappings.0.to` and the like. */
  readonly faults: Readonly<Record<string, string>>;
  readonly hasIdentifier: boolean;
  readonly isReadOnly: boolean;
  readonly onChange: (mappings: readonly Mapping[]) => void;
}) {
  const known = useId();
  const set = (index: number, change: Partial<Mapping>) =>
    onChange(mappings.map((one, place) => (place === index ? { ...one, ...change } : one)));
  const left = columns.filter((column) => !mappings.some(({ from }) => from === column));
  return (
    <fieldset className="mappings" disabled={isReadOnly}>
      <legend className="section" style={{ padding: 0, marginBottom: "0.5rem" }}>
        Columns and fields
      </legend>
      <datalist id={known}>
        {fields.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {mappings.map((one, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: both of its names may be changed
        <div key={index} className="mapping">
          <NativeSelect
            aria-label={`Column ${index + 1}`}
            size="sm"
            value={one.from}
            error={faults[`mappings.${index}.from`]}
            data={columns.includes(one.from) ? [...columns] : [one.from, ...columns]}
            onChange={(event) => set(index, { from: event.currentTarget.value })}
          />
          <span aria-hidden="true">→</span>
          <TextInput
            aria-label={`Field of ${one.from}`}
            size="sm"
            value={one.to}
            error={faults[`mappings.${index}.to`]}
            list={known}
            autoComplete="off"
            onChange={(event) => set(index, { to: event.currentTarget.value })}
          />
          {hasIdentifier ? (
            <label className="dim">
              <input
                type="radio"
                name={`${known}-identifier`}
                checked={one.isPrimaryIdentifier}
                onChange={() =>
                  onChange(
                    mappings.map((other, place) => ({
                      ...other,
                      isPrimaryIdentifier: place === index,
                    })),
                  )
                }
              />{" "}
              Finds the row
            </label>
          ) : (
            <span />
          )}
          {isReadOnly ? null : (
            <Button
              size="xs"
              variant="subtle"
              color="red"
              aria-label={`Remove ${one.from}`}
              className="last"
              onClick={() => onChange(mappings.filter((_, place) => place !== index))}
            >
              Remove
            </Button>
          )}
        </div>
      ))}
      {faults.mappings === undefined ? null : <span className="wrong">{faults.mappings}</span>}
      {isReadOnly || left.length === 0 ? null : (
        <div className="actions">
          <Button
            size="xs"
            variant="default"
            onClick={() => {
              const from = left[0] ?? "";
              onChange([...mappings, { from, to: from, isPrimaryIdentifier: false }]);
            }}
          >
            Add a column
          </Button>
        </div>
      )}
    </fieldset>
  );
}
