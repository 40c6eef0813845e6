/**
 * Watches what a svc connector gives before the runtime's filter has seen it: log lines, rows,
 * states, streams, errors.
 */
import type { Batch, Log, Source } from "svc-connectors";
import type { Given } from "../contract/observation.ts";

/**
 * The same source, every function of which passes what it gives to `onGiven`. The source itself is
 * not changed.
 */
export function watchSource(source: Source, onGiven: (given: Given) => void): Source {
  const watchingErrors = async <T>(work: () => Promise<T>, stream?: string): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      onGiven({ where: "thrown", value: error, stream });
      throw error;
    }
  };
  const watched = <C extends { readonly log: Log }>(context: C): C => {
    onGiven({ where: "context", value: { context, connector: source } });
    const watchedLog =
      (level: keyof Log): Log[typeof level] =>
      (message, fields) => {
        onGiven({ where: "log", level, value: { message, ...fields } });
        context.log[level](message, fields);
      };
    return Object.freeze({
      ...context,
      log: { debug: watchedLog("debug"), info: watchedLog("info"), warn: watchedLog("warn") },
    });
  };
  const { check, discover, entities, read } = source;
  return {
    ...source,
    check: (context) => watchingErrors(() => check.call(source, watched(context))),
    ...(discover
      ? { discover: (context) => each(discover.call(source, watched(context)), onGiven, "catalog") }
      : {}),
    ...(entities
      ? {
          entities: (context, input) =>
            watchingErrors(() => entities.call(source, watched(context), input)),
        }
      : {}),
    async *read(context, stream, state) {
      const label =
        stream.namespace === undefined ? stream.name : `${stream.namespace}.${stream.name}`;
      try {
        for await (const item of read.call(source, watched(context), stream, state)) {
          if (item?.type === "records")
            onGiven({ where: "records", stream: label, value: item.rows });
          else if (item?.type === "batch")
            onGiven({ where: "records", stream: label, value: textsOf(item.batch) });
          else onGiven({ where: "state", stream: label, value: item?.state });
          yield item;
        }
      } catch (error) {
        onGiven({ where: "thrown", stream: label, value: error });
        throw error;
      }
    },
  };
}

/** The texts of each column, one after another. */
const textsOf = ({ columns }: Batch) =>
  columns.flatMap((column) => ("offsets" in column ? [Buffer.from(column.bytes).toString()] : []));

async function* each<T>(
  items: AsyncIterable<T>,
  onGiven: (given: Given) => void,
  where: "catalog",
): AsyncIterable<T> {
  try {
    for await (const item of items) {
      onGiven({ where, value: item });
      yield item;
    }
  } catch (error) {
    onGiven({ where: "thrown", value: error });
    throw error;
  }
}
