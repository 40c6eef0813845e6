/**
 * Failures of the server and of the connection as errors of the table, by number. No text of theirs
 * goes on.
 */
import { ConnectorError } from "svc-connectors";

/** An error packet: its number alone. */
export class ServerError extends Error {
  readonly number: number;

  constructor(packet: Buffer) {
    super("the server answered with an error");
    this.number = packet.length < 3 ? 0 : packet.readUInt16LE(1);
  }
}

/**
 * @see https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html and
 * https://mariadb.com/kb/en/mariadb-error-code-reference/ (read 2026-11)
 */
export function toFailure(error: unknown, stream?: string): ConnectorError {
  if (error instanceof ConnectorError) return withStream(error, stream);
  if (!(error instanceof ServerError)) throw error;
  const named = stream === undefined ? {} : { stream };
  switch (error.number) {
    case 1044:
    case 1142:
    case 1143:
    case 1227:
    case 1345: // the tables of a view
    case 1370:
      return new ConnectorError("PERMISSION_DENIED", named);
    case 1049:
    case 1051:
    case 1146:
    case 1356: // a view whose tables went
      return new ConnectorError("STREAM_UNKNOWN", named);
    case 1020: // a row that another one has changed
    case 1054: // a column went while its table was read
    case 1213: // deadlock
    case 1412: // the table was changed since the snapshot
    case 1615:
      return new ConnectorError("DATA_CHANGED");
    case 1205:
      return new ConnectorError("PROVIDER_TIMEOUT", { phase: "lock" });
    case 1969: // MariaDB's
    case 3024:
      return new ConnectorError("PROVIDER_TIMEOUT", { phase: "statement" });
    case 1037: // out of memory
    case 1038:
    case 1040:
    case 1041:
    case 1053: // it shuts down
    case 1203:
    case 1226:
    case 1317: // the statement was killed
    case 1927:
    case 3169:
    case 3168:
      return new ConnectorError("PROVIDER_UNAVAILABLE");
    case 1158: // its side of the connection
    case 1159:
    case 1160:
    case 1161:
    case 4031: // it was idle for too long
      return new ConnectorError("CONNECTION_FAILED", { reason: "reset" });
  }
  return new ConnectorError("REQUEST_REJECTED", { reason: `error ${error.number}` });
}

/** Adds the stream to an error of a record. */
const withStream = (error: ConnectorError, stream: string | undefined) =>
  error.code.startsWith("RECORD_") && stream !== undefined
    ? new ConnectorError(error.code, { ...error.details, stream })
    : error;

/** Faults of a query that a person wrote, by the server's number. */
const queryReasons: Readonly<Record<number, string>> = {
  1052: "the name of a column could be of several tables",
  1054: "it names a column that there is not",
  1055: "a column is neither grouped nor aggregated",
  1064: "its SQL has an error",
  1111: "it aggregates where that cannot be",
  1140: "a column is neither grouped nor aggregated",
  1142: "the user has not the right to all that it does",
  1143: "the user has not the right to all that it does",
  1046: "it names a table without its database",
  1049: "it names a database that there is not",
  1146: "it names a table that there is not",
  1222: "the parts of a UNION have not the same columns",
  1242: "a query inside of it gives more than one row",
  1267: "collations do not go together",
  1305: "it calls a function that there is not",
  1370: "the user may not call a function that it calls",
  1582: "it calls a function with the wrong number of values",
  1630: "it calls a function that there is not",
  1690: "a value does not fit its type",
};
const queryRefusals: Readonly<Record<number, string>> = {
  1065: "it is empty",
  1295: "it is not a SELECT that only reads",
  1792: "it writes",
  1836: "it writes",
};

/** Undefined: the failure is not the query's. */
export function queryReason(
  error: unknown,
): { readonly reason: string; readonly isRefusal: boolean } | undefined {
  if (!(error instanceof ServerError)) return undefined;
  const refusal = queryRefusals[error.number];
  if (refusal !== undefined) return { reason: refusal, isRefusal: true };
  const reason = queryReasons[error.number];
  if (reason !== undefined) return { reason, isRefusal: false };
  const isServers = toFailure(error).code !== "REQUEST_REJECTED";
  return isServers ? undefined : { reason: `error ${error.number}`, isRefusal: false };
}
