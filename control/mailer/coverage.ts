import { type Static, Type } from "typebox";
import { OneOf, StrictObject } from "../contract/schemas.ts";
import type { Sample } from "./sample.ts";

export const FieldCoverage = StrictObject(
  {
    streams: Type.Array(
      StrictObject({
        stream: Type.String(),
        available: Type.Boolean(),
        fields: Type.Array(
          StrictObject({
            field: Type.String(),
            status: OneOf(["covered", "missing", "unavailable"], {
              description:
                "covered: some row has a value · missing: no row has one · unavailable: there was no row to tell from.",
            }),
          }),
        ),
      }),
    ),
    covered: Type.Integer(),
    total: Type.Integer(),
    ratio: Type.Number(),
  },
  { title: "FieldCoverage" },
);

/** Which fields the account really gives, of those that the connector knows. */
export function coverageOf(samples: readonly Sample[]): Static<typeof FieldCoverage> {
  const streams = samples.map(({ stream, rows, error }) => {
    const given = new Set(rows.flatMap(fieldsOf));
    const statusOf = (field: string) => {
      if (rows.length === 0) return "unavailable" as const;
      return given.has(field) ? ("covered" as const) : ("missing" as const);
    };
    return {
      stream: stream.name,
      available: error === undefined,
      fields: Object.keys(stream.json_schema.properties as object).map((field) => ({
        field,
        status: statusOf(field),
      })),
    };
  });
  const fields = streams.flatMap((stream) => stream.fields);
  const covered = fields.filter(({ status }) => status === "covered").length;
  const ratio = fields.length === 0 ? 0 : Math.round((covered / fields.length) * 10_000) / 10_000;
  return { streams, covered, total: fields.length, ratio };
}

/**
 * The fields in which a row has a value. One that did not fit its schema was left empty, as one
 * that did not come.
 */
function fieldsOf({ _svc_meta: _notes, ...row }: Sample["rows"][number]): string[] {
  return Object.entries(row).flatMap(([field, value]) => (value === null ? [] : [field]));
}
