/** A client of MySQL's text protocol on a session that the host has logged in. */
import type { Duplex } from "node:stream";
import { ConnectorError } from "svc-connectors";
import { ServerError } from "./failures.ts";
import { createReader, malformed, openPackets, type Packets } from "./packets.ts";

/** The values of a row as the server writes them; null is SQL's. */
export type Fields = readonly (Buffer | null)[];

/** A column of a result, as the server describes it. */
export interface ResultColumn {
  readonly name: string;
  /** The number of its type in the protocol. */
  readonly type: number;
  readonly charset: number;
  readonly flags: number;
  /** Most characters of its text. */
  readonly length: number;
  readonly decimals: number;
}

export interface PreparedStatement {
  readonly columns: readonly ResultColumn[];
  readonly parameterCount: number;
}

export interface Client {
  /** The server's own name for its version. */
  readonly version: string;
  /** One statement without rows. */
  execute(sql: string): Promise<void>;
  /** All rows of one statement, as texts. @throws DATABASE_UNUSABLE for an answer without end */
  query(sql: string): Promise<(string | null)[][]>;
  /** The columns and parameters of one statement, without running it. */
  describe(sql: string): Promise<PreparedStatement>;
  /**
   * The rows of one statement as they come, some at a time. Who leaves before the last row leaves
   * the session in the middle of an answer: it is closed.
   */
  rows(sql: string): AsyncGenerator<readonly Fields[]>;
}

const commands = { query: 0x03, prepare: 0x16, closeStatement: 0x19 } as const;
const errorMark = 0xff;
/** A server has at most this many columns; what claims more is none. */
const maxColumns = 4_096;
/** Rows, and bytes, that are handed on together. */
const groupRows = 500;
const groupBytes = 256 * 1024;
/** The most that `query` keeps of an answer. The lists of 6,000 tables have a few MiB. */
const maxAnswerBytes = 64 * 1024 * 1024;

/** @throws ConnectorError, ServerError */
export async function openClient(stream: Duplex): Promise<Client> {
  const packets = openPackets(stream);
  const version = await start(packets);

  const send = (command: number, sql: string) =>
    packets.send(0, Buffer.concat([Buffer.from([command]), Buffer.from(sql)]));

  /** After anything but an error of its own the server does not wait for the next command. */
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ServerError)) stream.destroy();
      throw error;
    }
  };

  async function* rows(sql: string): AsyncGenerator<readonly Fields[]> {
    let isOver = false;
    try {
      send(commands.query, sql);
      const columnCount = await readHead(packets);
      let group: Fields[] = [];
      let bytes = 0;
      while (columnCount > 0) {
        const packet = packets.tryNext() ?? (await packets.next());
        if (isEof(packet)) break;
        if (packet[0] === errorMark) throw new ServerError(packet);
        group.push(parseRow(packet, columnCount));
        bytes += packet.length;
        if (group.length < groupRows && bytes < groupBytes) continue;
        yield group;
        group = [];
        bytes = 0;
      }
      isOver = true;
      if (group.length > 0) yield group;
    } catch (error) {
      isOver = error instanceof ServerError;
      throw error;
    } finally {
      if (!isOver) stream.destroy();
    }
  }

  return {
    version,
    rows,
    async execute(sql) {
      for await (const _ of rows(sql));
    },
    async query(sql) {
      const all: (string | null)[][] = [];
      let bytes = 0;
      for await (const group of rows(sql))
        for (const fields of group) {
          for (const field of fields) bytes += (field?.length ?? 0) + 16;
          if (bytes > maxAnswerBytes)
            throw new ConnectorError("DATABASE_UNUSABLE", {
              reason: "an answer about its tables is too large",
            });
          all.push(fields.map((field) => (field === null ? null : field.toString("utf8"))));
        }
      return all;
    },
    describe: (sql) =>
      guarded(async () => {
        send(commands.prepare, sql);
        const { id, ...prepared } = await readPrepared(packets);
        const close = Buffer.alloc(5);
        close[0] = commands.closeStatement;
        close.writeUInt32LE(id, 1);
        packets.send(0, close);
        return prepared;
      }),
  };
}

const isEof = (packet: Buffer) => packet[0] === 0xfe && packet.length < 9;

/** LONG_PASSWORD, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH. */
const capabilities = 0x8_a201;

/** The start of any client; the host needs neither a user nor a password here. */
async function start(packets: Packets): Promise<string> {
  const greeting = await packets.next();
  const end = greeting.indexOf(0, 1);
  if (greeting[0] !== 10 || end < 0) throw malformed();
  const head = Buffer.alloc(32);
  head.writeUInt32LE(capabilities, 0);
  packets.send(1, Buffer.concat([head, Buffer.from("svc\0\0mysql_native_password\0")]));
  if ((await packets.next())[0] !== 0) throw malformed();
  return greeting.toString("latin1", 1, end);
}

/** Reads up to the first row. Gives the number of columns; 0: there are no rows. */
async function readHead(packets: Packets): Promise<number> {
  const first = await packets.next();
  if (first[0] === errorMark) throw new ServerError(first);
  if (first[0] === 0) return 0;
  const columnCount = createReader(first).number();
  // Null would be a request for a file of this side.
  if (columnCount === null || columnCount > maxColumns) throw malformed();
  await readColumns(packets, columnCount);
  return columnCount;
}

async function readColumns(packets: Packets, count: number): Promise<Buffer[]> {
  if (count > maxColumns) throw malformed();
  const columns: Buffer[] = [];
  for (let column = 0; column < count; column++) columns.push(await packets.next());
  if (!isEof(await packets.next())) throw malformed();
  return columns;
}

/** @see the command COM_STMT_PREPARE in the description of the protocol */
async function readPrepared(
  packets: Packets,
): Promise<PreparedStatement & { readonly id: number }> {
  const first = await packets.next();
  if (first[0] === errorMark) throw new ServerError(first);
  if (first[0] !== 0) throw malformed();
  const head = createReader(first, 1);
  const [id, columnCount, parameterCount] = [head.fixed(4), head.fixed(2), head.fixed(2)];
  if (parameterCount > 0) await readColumns(packets, parameterCount);
  const columns = columnCount > 0 ? await readColumns(packets, columnCount) : [];
  return { id, parameterCount, columns: columns.map(parseColumn) };
}

function parseColumn(packet: Buffer): ResultColumn {
  const reader = createReader(packet);
  // Catalog, database, the name of the table here and there.
  for (let text = 0; text < 4; text++) reader.bytes();
  const name = reader.bytes()?.toString("utf8") ?? "";
  reader.bytes(); // the name in the table
  reader.number(); // the length of what follows
  const charset = reader.fixed(2);
  const length = reader.fixed(4);
  return {
    name,
    charset,
    length,
    type: reader.fixed(1),
    flags: reader.fixed(2),
    decimals: reader.fixed(1),
  };
}

function parseRow(packet: Buffer, columnCount: number): Fields {
  const reader = createReader(packet);
  const fields = new Array<Buffer | null>(columnCount);
  for (let column = 0; column < columnCount; column++) fields[column] = reader.bytes();
  if (!reader.isAtEnd()) throw malformed();
  return fields;
}
