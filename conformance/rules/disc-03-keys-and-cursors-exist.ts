import { textEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { schemaAt, typesOf } from "../derive/spec/stream-schema.ts";

const orderable = new Set(["string", "integer", "number"]);

export default defineRule({
  id: "DISC-03",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title: "Primary keys and cursors are properties of the schema, and a cursor can be ordered.",
  why: "A key that does not exist makes every row a new one at the destination; a cursor that does not exist, or has no order, makes every incremental sync read everything or nothing.",
  fix: "Spell them as in the schema: names as rows have them, not as the API's documentation does.",
  good: 'primaryKey: ["id"], cursorField: "updated_at", schema: Type.Object({ id: …, updated_at: Timestamp() })',
  bad: 'cursorField: "updatedAt" // the schema has updated_at',
  async run(lab, report) {
    for (const { label, stream } of lab.streams) {
      const declared = Object.keys(
        (stream.json_schema as { properties?: object }).properties ?? {},
      ).join(", ");
      for (const path of stream.source_defined_primary_key ?? []) {
        report.checked(`${label}: key ${path.join(".")}`);
        if (path.length === 0 || !schemaAt(stream.json_schema, path))
          report.fail(
            `The primary key ${JSON.stringify(path.join("."))} of ${label} is no property of its schema, which has ${declared}.`,
          );
      }
      const cursor = stream.default_cursor_field ?? [];
      if (cursor.length === 0) {
        report.checked(`${label}: no cursor`);
        if (
          stream.source_defined_cursor &&
          stream.supported_sync_modes?.includes("incremental") &&
          !isOpaqueCursor(stream)
        )
          report.fail(`${label} says that it defines its cursor, and names none.`);
        continue;
      }
      report.checked(`${label}: cursor ${cursor.join(".")}`);
      const schema = schemaAt(stream.json_schema, cursor);
      if (!schema) {
        report.fail(
          `The cursor ${JSON.stringify(cursor.join("."))} of ${label} is no property of its schema, which has ${declared}.`,
        );
        continue;
      }
      const types = typesOf(schema).filter((type) => type !== "null");
      if (types.length > 0 && !types.some((type) => orderable.has(type)))
        report.fail(
          `The cursor ${cursor.join(".")} of ${label} is of type ${types.join(", ")}, which has no order.`,
          textEvidence("Its schema", JSON.stringify(schema, null, 2)),
        );
    }
  },
});

/**
 * A provider's own sync token orders nothing that rows show: such a stream may define a cursor
 * without a field.
 */
const isOpaqueCursor = ({ is_resumable }: { readonly is_resumable?: boolean }) =>
  is_resumable === true;
