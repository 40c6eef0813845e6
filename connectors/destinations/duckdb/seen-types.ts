/** Columns of the table that people see whose types change while a stream is written. */
import { changedTypes, type TypesByName } from "svc-connectors/destination";
import type { TableColumn } from "./columns.ts";
import type { OpenStream } from "./open-stream.ts";
import { readColumns, typesByName } from "./tables.ts";
import { openDecimal } from "./types.ts";
import type { Writing } from "./writing.ts";

/** Notes the types before the first rows are loaded, where somebody wants to know of changes. */
export async function noteTypes(writing: Writing, stream: OpenStream): Promise<void> {
  if (writing.command.onColumnChanged && stream.stage.rowCount > 0)
    stream.seenTypes ??= await typesBefore(writing, stream);
}

/** The types before the rows; without those of open decimals, which their first values decide. */
const typesBefore = async (writing: Writing, stream: OpenStream): Promise<TypesByName> =>
  typesByName(
    stream.saved.generations.current
      ? await seenColumns(writing, stream)
      : stream.columns.filter(({ type }) => type !== openDecimal),
  );

export async function reportChangedTypes(writing: Writing, ended: OpenStream): Promise<void> {
  const { onColumnChanged } = writing.command;
  const { saved, seenTypes } = ended;
  if (!onColumnChanged || !seenTypes || !saved.generations.current) return;
  const after = typesByName(await seenColumns(writing, ended));
  for (const change of changedTypes(saved.stream, seenTypes, after)) onColumnChanged(change);
}

/** Of the table that people see: looked at once where rows go into it, for who fills it too. */
async function seenColumns(
  { connection }: Writing,
  stream: OpenStream,
): Promise<readonly TableColumn[]> {
  const { saved, target } = stream;
  if (target !== saved.table) return await readColumns(connection, saved.table);
  stream.tableColumns ??= await readColumns(connection, target);
  return stream.tableColumns;
}
