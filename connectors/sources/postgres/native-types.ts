/**
 * PostgreSQL's names of types that JSON Schema has no words for, so that another PostgreSQL gives
 * them back. Arrays are named where JSON holds their elements as they are.
 * @see pg_type.dat of PostgreSQL; names are those of format_type()
 */
import type { JsonObject } from "svc-connectors";

const ownNames: ReadonlyMap<number, string> = new Map([
  [27, "tid"],
  [28, "xid"],
  [600, "point"],
  [601, "lseg"],
  [602, "path"],
  [603, "box"],
  [604, "polygon"],
  [628, "line"],
  [650, "cidr"],
  [718, "circle"],
  [774, "macaddr8"],
  [829, "macaddr"],
  [869, "inet"],
  [1186, "interval"],
  [1266, "time with time zone"],
  // Without a length: a later, longer value fits.
  [1560, "bit varying"],
  [1562, "bit varying"],
  [3220, "pg_lsn"],
  [3614, "tsvector"],
  [3615, "tsquery"],
  [3904, "int4range"],
  [3906, "numrange"],
  [3908, "tsrange"],
  [3910, "tstzrange"],
  [3912, "daterange"],
  [3926, "int8range"],
  [4072, "jsonpath"],
]);

const elementNames: ReadonlyMap<number, string> = new Map([
  ...ownNames,
  [16, "boolean"],
  [20, "bigint"],
  [21, "smallint"],
  [23, "integer"],
  [25, "text"],
  [700, "real"],
  [701, "double precision"],
  [1042, "text"],
  [1043, "text"],
  [1082, "date"],
  [1083, "time without time zone"],
  [1114, "timestamp without time zone"],
  [1184, "timestamp with time zone"],
  [1700, "numeric"],
  [2950, "uuid"],
]);

/** @param oid of the type, or of the elements of an array */
export function nativeType(oid: number, isArray: boolean): JsonObject | undefined {
  const name = (isArray ? elementNames : ownNames).get(oid);
  return name === undefined ? undefined : { postgresql: isArray ? `${name}[]` : name };
}
