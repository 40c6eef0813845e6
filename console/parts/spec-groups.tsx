/** Settings with settings within them: an object, one of several forms of it, a list of them. */
import { Button, NativeSelect, Switch } from "@mantine/core";
import type { ReactNode } from "react";
import { isSwitched } from "../model/spec.ts";
import {
  formAt,
  inForm,
  isMissing,
  valueAt,
  withoutWithin,
  withValue,
} from "../model/spec-values.ts";
import type { SpecFieldProps } from "./spec-form.tsx";

type GroupProps = SpecFieldProps & {
  /** Draws a field within it. */
  readonly draw: (props: SpecFieldProps) => ReactNode;
};

/** Fields that belong together, and what is wrong with them as a whole. */
const Group = ({
  title,
  isNamed = false,
  description,
  fault,
  children,
}: {
  readonly title: string;
  /** The words above it say already what it is. */
  readonly isNamed?: boolean | undefined;
  readonly description?: string | undefined;
  readonly fault?: string | undefined;
  readonly children: ReactNode;
}) => (
  <fieldset className="group">
    <legend className={isNamed ? "hidden" : undefined}>{title}</legend>
    {description === undefined ? null : <span className="dim">{description}</span>}
    {children}
    {fault === undefined ? null : <span className="wrong">{fault}</span>}
  </fieldset>
);

export function ObjectField({ draw, ...props }: GroupProps) {
  const { field, values, faults, isReadOnly, onChange } = props;
  const { name, title, description, inside, begin } = field;
  const fields = inside.map((one) => draw({ ...props, field: one }));
  if (!isSwitched(field))
    return (
      <Group title={title} description={description} fault={faults[name]}>
        {fields}
      </Group>
    );
  const isOn = valueAt(values, name) !== undefined;
  const turn = (isChecked: boolean) =>
    onChange(withValue(withoutWithin(values, name), field, isChecked ? begin : undefined));
  return (
    <div className="switched">
      <Switch
        label={title}
        description={description}
        checked={isOn}
        disabled={isReadOnly ?? false}
        error={isOn ? undefined : faults[name]}
        onChange={(event) => turn(event.currentTarget.checked)}
      />
      {isOn ? (
        <Group title={title} isNamed fault={faults[name]}>
          {fields}
        </Group>
      ) : null}
    </div>
  );
}

export function FormsField({ draw, ...props }: GroupProps) {
  const { field, values, faults, isReadOnly, onChange } = props;
  const { name, title, description, forms, isRequired } = field;
  const form = formAt(values, field);
  return (
    <Group title={title} description={description}>
      <NativeSelect
        label="Kind"
        aria-label={title}
        description={form?.description}
        error={faults[name]}
        disabled={isReadOnly ?? false}
        value={form === undefined ? "" : String(forms.indexOf(form))}
        data={[
          ...(isRequired && form !== undefined
            ? []
            : [{ value: "", label: isRequired ? "Choose…" : "None" }]),
          ...forms.map((one, index) => ({ value: String(index), label: one.title })),
        ]}
        onChange={(event) => {
          const { value } = event.currentTarget;
          onChange(inForm(values, field, value === "" ? undefined : forms[Number(value)]));
        }}
      />
      {form?.inside.map((one) => draw({ ...props, field: one }))}
    </Group>
  );
}

export function RowsField({ draw, ...props }: GroupProps) {
  const { field, values, faults, isReadOnly, onChange } = props;
  const { name, title, description, inside, begin } = field;
  const value = valueAt(values, name);
  const rows: readonly unknown[] = Array.isArray(value) ? value : [];
  const set = (next: readonly unknown[]) => onChange(withValue(values, field, next));
  return (
    <Group title={title} description={description} fault={faults[name]}>
      {rows.map((_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: whatever it has may be changed
        <fieldset key={index} className="group">
          <legend>
            {title}, {index + 1}
          </legend>
          {isMissing(faults[`${name}.${index}`]) ? null : (
            <span className="wrong">{faults[`${name}.${index}`]}</span>
          )}
          {inside.map((one) =>
            draw({ ...props, field: { ...one, name: `${name}.${index}.${one.name}` } }),
          )}
          {isReadOnly ? null : (
            <div>
              <Button
                size="xs"
                variant="subtle"
                color="red"
                aria-label={`Remove ${title}, ${index + 1}`}
                onClick={() => set(rows.filter((_, place) => place !== index))}
              >
                Remove
              </Button>
            </div>
          )}
        </fieldset>
      ))}
      {isReadOnly ? null : (
        <div>
          <Button size="xs" variant="default" onClick={() => set([...rows, begin])}>
            Add to {title}
          </Button>
        </div>
      )}
    </Group>
  );
}
