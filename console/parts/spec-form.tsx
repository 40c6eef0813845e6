/** The form of a connector's spec. Secrets go in and never come back. */
import {
  JsonInput,
  MultiSelect,
  type MultiSelectProps,
  NativeSelect,
  type NativeSelectProps,
  NumberInput,
  PasswordInput,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
  UnstyledButton,
} from "@mantine/core";
import { useState } from "react";
import type { Field, Values } from "../model/spec.ts";
import { valueAt, withValue } from "../model/spec-values.ts";
import { spoken } from "../model/words.ts";
import { Generate, isSigningSecret } from "./generate.tsx";
import { FormsField, ObjectField, RowsField } from "./spec-groups.tsx";

export interface SpecFieldsProps {
  readonly fields: readonly Field[];
  readonly values: Values;
  readonly faults: Readonly<Record<string, string>>;
  /** Names of secrets that are stored. */
  readonly stored?: readonly string[] | undefined;
  readonly isReadOnly?: boolean | undefined;
  /** Names of fields that are shown at once, though nobody must fill them in. */
  readonly shown?: readonly string[] | undefined;
  readonly onChange: (values: Values) => void;
}

export function SpecFields({ fields, shown = [], ...rest }: SpecFieldsProps) {
  const [isOpen, setOpen] = useState(false);
  const isWrong = ({ name }: Field) =>
    Object.keys(rest.faults).some((one) => one === name || one.startsWith(`${name}.`));
  const isMain = (field: Field) => field.isMain || shown.includes(field.name) || fields.length < 4;
  const main = fields.filter(isMain);
  const others = fields.filter((field) => !isMain(field));
  // A fault is seen where it is: no field changes its place while somebody looks.
  const isShown = isOpen || others.some(isWrong);
  const draw = (field: Field) => <SpecField key={field.name} field={field} {...rest} />;
  return (
    <>
      {main.map(draw)}
      {others.length === 0 ? null : (
        <UnstyledButton
          onClick={() => setOpen(!isOpen)}
          aria-expanded={isShown}
          c="var(--mantine-color-anchor)"
          fz="sm"
        >
          {isShown ? "Fewer settings" : `More settings (${others.length})`}
        </UnstyledButton>
      )}
      {isShown ? others.map(draw) : null}
    </>
  );
}

export type SpecFieldProps = Omit<SpecFieldsProps, "fields" | "shown"> & { readonly field: Field };

function SpecField(props: SpecFieldProps) {
  const { field, values, faults, stored = [], isReadOnly = false, onChange } = props;
  const { name, kind, isSecret, isRequired, example } = field;
  const value = valueAt(values, name);
  const set = (next: unknown) => onChange(withValue(values, field, next));
  const isStored = isSecret && stored.includes(name);
  const common = {
    label: field.title,
    description: field.description,
    error: faults[name],
    disabled: isReadOnly,
    required: isRequired && !isStored,
    name,
  };
  const text = typeof value === "string" ? value : "";
  const placeholder = isStored ? "Stored. Type to replace it." : (example ?? "");
  if (isSecret && kind === "long")
    return (
      <Textarea
        {...common}
        placeholder={placeholder}
        value={text}
        onChange={(event) => set(event.currentTarget.value)}
        autosize
        minRows={3}
        maxRows={8}
        autoComplete="off"
        spellCheck={false}
      />
    );
  if (isSecret)
    return (
      <>
        <PasswordInput
          {...common}
          placeholder={placeholder}
          value={text}
          onChange={(event) => set(event.currentTarget.value)}
          autoComplete="new-password"
        />
        {isSigningSecret(field) && !isReadOnly ? <Generate value={text} onChange={set} /> : null}
      </>
    );
  switch (kind) {
    case "object":
      return <ObjectField {...props} draw={drawn} />;
    case "forms":
      return <FormsField {...props} draw={drawn} />;
    case "rows":
      return <RowsField {...props} draw={drawn} />;
    case "switch":
      return (
        <Switch
          {...common}
          required={false}
          checked={value === true}
          onChange={(event) => set(event.currentTarget.checked)}
        />
      );
    case "choice":
      return <ChoiceInput common={common} field={field} value={value} set={set} />;
    case "choices":
      return <ChoicesInput common={common} field={field} value={value} set={set} />;
    case "number":
      return (
        <NumberInput
          {...common}
          placeholder={placeholder}
          value={typeof value === "number" ? value : ""}
          onChange={(next) => set(typeof next === "number" ? next : undefined)}
          {...(field.minimum === undefined ? {} : { min: field.minimum })}
          {...(field.maximum === undefined ? {} : { max: field.maximum })}
          clampBehavior="none"
          hideControls
          styles={{ wrapper: { maxWidth: "10rem" } }}
        />
      );
    case "list":
      return (
        <TagsInput
          {...common}
          value={Array.isArray(value) ? value.map(String) : []}
          onChange={set}
          placeholder="Type, then Enter"
          splitChars={[",", " "]}
          acceptValueOnBlur
        />
      );
    case "json":
      return (
        <JsonInput
          {...common}
          placeholder={placeholder}
          defaultValue={value === undefined ? "" : JSON.stringify(value, null, 2)}
          onChange={(next) => set(parsed(next))}
          validationError="It is not valid JSON."
          autosize
          minRows={3}
        />
      );
    case "long":
      return (
        <Textarea
          {...common}
          placeholder={placeholder}
          value={text}
          onChange={(event) => set(event.currentTarget.value)}
          autosize
          minRows={3}
          maxRows={10}
        />
      );
    case "text":
      return (
        <TextInput
          {...common}
          placeholder={placeholder}
          value={text}
          onChange={(event) => set(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
        />
      );
  }
}

interface ChoiceInputProps {
  /** Of every input of the form. */
  readonly common: Pick<
    NativeSelectProps & MultiSelectProps,
    "label" | "description" | "error" | "disabled" | "required" | "name"
  >;
  readonly field: Field;
  readonly value: unknown;
  readonly set: (next: unknown) => void;
}

function ChoiceInput({ common, field, value, set }: ChoiceInputProps) {
  return (
    <NativeSelect
      {...common}
      value={value === undefined ? "" : String(value)}
      data={[
        ...(value === undefined || !field.isRequired
          ? [{ value: "", label: field.isRequired ? "Choose…" : "None chosen" }]
          : []),
        ...field.options.map((one) => ({
          value: String(one.value),
          label: one.label ?? wordOf(String(one.value)),
        })),
      ]}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        set(field.options.find((one) => String(one.value) === chosen)?.value);
      }}
    />
  );
}

function ChoicesInput({ common, field, value, set }: ChoiceInputProps) {
  return (
    <MultiSelect
      {...common}
      value={Array.isArray(value) ? value.map(String) : []}
      data={field.options.map((one) => ({
        value: String(one.value),
        label: wordOf(String(one.value)),
      }))}
      onChange={(chosen) =>
        set(
          field.options.filter((one) => chosen.includes(String(one.value))).map((one) => one.value),
        )
      }
      searchable
    />
  );
}

const drawn = (props: SpecFieldProps) => <SpecField key={props.field.name} {...props} />;

/** Words are spoken; codes (com, eu, en) and names of something stay as they are. */
const wordOf = (word: string): string =>
  word.length > 3 && /^[a-z]+(_[a-z]+)*$/.test(word) ? spoken(word) : word;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
