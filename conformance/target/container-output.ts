/**
 * The output of a container: Docker's multiplexed stream taken apart, standard output line by line.
 */

/**
 * Docker Engine API, "Attach to a container": stream type, three zeros, length of the frame (big
 * endian).
 */
const headerBytes = 8;
const standardError = 2;
/** No message is longer; a line without end must not fill the memory. */
const maxLineBytes = 2 ** 26;

export interface OutputConsumer {
  /** One line of standard output, without its end. Nothing more is read until it resolves. */
  readonly line: (text: string) => Promise<void>;
  readonly error: (text: string) => void;
}

/** Text that an image writes to its standard error; what it said last explains its end. */
const maxErrorChars = 2 ** 20;

/** The last MiB of a text that comes in pieces, however long it is. */
export function createTail() {
  let text = "";
  return {
    add(piece: string): void {
      text += piece;
      // Cut seldom: each cut copies.
      if (text.length > 2 * maxErrorChars) text = text.slice(-maxErrorChars);
    },
    text: () => text.slice(-maxErrorChars),
  };
}

/** Reads to the end of the stream. */
export async function readOutput(
  stream: AsyncIterable<Buffer | string>,
  { line, error }: OutputConsumer,
): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  const lines = createLineSplitter(line);
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, Buffer.from(chunk)]);
    while (rest.length >= headerBytes) {
      const end = headerBytes + rest.readUInt32BE(4);
      if (rest.length < end) break;
      const frame = rest.subarray(headerBytes, end);
      if (rest[0] === standardError) error(decoder.decode(frame, { stream: true }));
      else await lines.take(frame);
      rest = rest.subarray(end);
    }
  }
  await lines.end();
}

function createLineSplitter(line: (text: string) => Promise<void>) {
  let parts: Buffer[] = [];
  let length = 0;
  const flush = async () => {
    const text = Buffer.concat(parts).toString("utf8").replace(/\r$/, "");
    parts = [];
    length = 0;
    if (text !== "") await line(text);
  };
  return {
    async take(frame: Buffer): Promise<void> {
      let from = 0;
      for (let end = frame.indexOf(0x0a); end >= 0; end = frame.indexOf(0x0a, from)) {
        parts.push(frame.subarray(from, end));
        await flush();
        from = end + 1;
      }
      parts.push(frame.subarray(from));
      length += frame.length - from;
      if (length > maxLineBytes) await flush();
    },
    end: flush,
  };
}

/**
 * A program that ends with a code other than 0 has to say why: in a TRACE ERROR or a connection
 * status.
 */
export const isLastWord = (line: string) =>
  /"type"\s*:\s*"CONNECTION_STATUS"/.test(line) ||
  (/"type"\s*:\s*"TRACE"/.test(line) && /"type"\s*:\s*"ERROR"/.test(line));

/** A message of the protocol: it is looked at as such, and no log that somebody wrote. */
export const isMessage = (line: string) =>
  /^\s*\{.*"type"\s*:\s*"(RECORD|STATE|LOG|TRACE|CONTROL|SPEC|CATALOG|CONNECTION_STATUS)".*\}\s*$/s.test(
    line,
  );
