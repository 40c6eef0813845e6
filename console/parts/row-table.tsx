import { Value } from "./value.tsx";

/** A value as the database has it: nothing, no text and a text are three things. */
const Cell = ({ of: value }: { readonly of: unknown }) =>
  value === null || value === undefined ? (
    <span className="null">null</span>
  ) : value === "" ? (
    <span className="null">empty</span>
  ) : typeof value === "boolean" ? (
    String(value)
  ) : (
    <Value of={value} />
  );

/** Rows as they are, in a box that scrolls. */
export const RowTable = ({
  label,
  columns,
  rows,
}: {
  readonly label: string;
  readonly columns: readonly { readonly name: string; readonly type?: string | undefined }[];
  readonly rows: readonly (readonly unknown[])[];
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
  <section className="table" tabIndex={0} aria-label={label}>
    <table>
      <thead>
        <tr>
          {columns.map(({ name, type }) => (
            <th key={name} scope="col">
              <bdi>{name}</bdi>
              {type === undefined ? null : <span className="dim"> {type.toLowerCase()}</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name
          <tr key={index}>
            {row.map((value, column) => (
              <td
                key={columns[column]?.name ?? column}
                title={typeof value === "string" ? value.slice(0, 1_000) : undefined}
              >
                <Cell of={value} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
    {rows.length === 0 ? <p className="dim">No row.</p> : null}
  </section>
);
