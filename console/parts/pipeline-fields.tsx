/** Settings of a pipeline that have a good default: what its tables are called, how it goes on. */
import { NativeSelect, TextInput } from "@mantine/core";
import type { schemas } from "../api/schema.ts";

/** The choice for a source that has other streams or columns than before. */
const policies = {
  propagate_columns: "Take new columns over",
  propagate_fully: "Take new columns and new streams over",
  ignore: "Go on with the streams and columns that there are",
  pause: "Pause, and wait until somebody has looked",
} as const satisfies Record<schemas["SchemaChangePolicy"], string>;

export const PolicyField = ({
  value,
  onChange,
  isReadOnly = false,
}: {
  readonly value: schemas["SchemaChangePolicy"];
  readonly onChange: (policy: schemas["SchemaChangePolicy"]) => void;
  readonly isReadOnly?: boolean | undefined;
}) => (
  <fieldset style={{ border: 0, margin: 0, padding: 0 }} disabled={isReadOnly}>
    <legend className="section" style={{ padding: 0, marginBottom: "0.5rem" }}>
      When the source changes
    </legend>
    {Object.entries(policies).map(([name, label]) => (
      <label key={name} style={{ display: "flex", gap: "0.6rem", padding: "0.2rem 0" }}>
        <input
          type="radio"
          name="policy"
          checked={value === name}
          onChange={() => onChange(name as keyof typeof policies)}
        />
        {label}
      </label>
    ))}
  </fieldset>
);

export const ParallelField = ({
  value,
  onChange,
  isReadOnly = false,
}: {
  readonly value: number;
  readonly onChange: (streams: number) => void;
  readonly isReadOnly?: boolean | undefined;
}) => (
  <NativeSelect
    label="Streams at the same time"
    description="Each is read in a process of its own."
    data={["1", "2", "3", "4"]}
    value={String(value)}
    onChange={(event) => onChange(Number(event.currentTarget.value))}
    disabled={isReadOnly}
  />
);

/** The names of the tables, and the schema in which they are. */
export interface Naming {
  readonly prefix: string;
  readonly namespaceDefinition: schemas["NamespaceDefinition"];
  readonly namespaceFormat: string;
}

/** As the API takes it. */
export const namingBody = ({ prefix, namespaceDefinition, namespaceFormat }: Naming) => ({
  prefix: prefix.trim(),
  namespace_definition: namespaceDefinition,
  ...(namespaceDefinition === "custom_format" ? { namespace_format: namespaceFormat.trim() } : {}),
});

const schemaWords = {
  destination: "The one of the destination's settings",
  source: "One for each of the source's schemas, called the same",
  custom_format: "One with a name that you choose",
} as const satisfies Record<schemas["NamespaceDefinition"], string>;

export const NamingFields = ({
  value,
  stream,
  faults,
  onChange,
}: {
  readonly value: Naming;
  /** The name of a stream, for the example. */
  readonly stream: string;
  readonly faults: Readonly<Record<string, string>>;
  readonly onChange: (naming: Naming) => void;
}) => (
  <>
    <TextInput
      label="Prefix of its tables"
      description={`With it, pipelines that read the same streams have tables of their own: _svc_${value.prefix}${stream}`}
      value={value.prefix}
      error={faults.prefix}
      placeholder="shop_"
      onChange={(event) => onChange({ ...value, prefix: event.currentTarget.value })}
      autoComplete="off"
      spellCheck={false}
      maw="24rem"
    />
    <NativeSelect
      label="Schema of its tables"
      value={value.namespaceDefinition}
      data={Object.entries(schemaWords).map(([name, label]) => ({ value: name, label }))}
      error={faults.namespace_definition}
      onChange={(event) =>
        onChange({
          ...value,
          namespaceDefinition: event.currentTarget.value as schemas["NamespaceDefinition"],
        })
      }
      maw="24rem"
    />
    {value.namespaceDefinition === "custom_format" ? (
      <TextInput
        label="Name of the schema"
        description={`${placeholder} stands for the source's schema.`}
        value={value.namespaceFormat}
        error={faults.namespace_format}
        placeholder={`shop_${placeholder}`}
        onChange={(event) => onChange({ ...value, namespaceFormat: event.currentTarget.value })}
        autoComplete="off"
        spellCheck={false}
        maw="24rem"
        required
      />
    ) : null}
  </>
);

/** Stands for the stream's namespace, as the API has it. */
const placeholder = "$" + "{SOURCE_NAMESPACE}";
