/**
 * Processes on one database notify each other that something has changed, and of nothing more. A
 * notification may be lost, doubled or late: who listens looks again by itself now and then.
 */
import { Client } from "pg";

export interface Notifications {
  /** Resolves also when it could not be sent. */
  notify(channel: string): Promise<void>;
  /**
   * Calls back for each notification on the channel, those of this process included, and whenever
   * some may have been missed.
   */
  listen(channel: string, onNotification: () => void): AsyncDisposable;
}

/** Notifications of an embedded database: there is one process. */
export function createLocalNotifications(): Notifications {
  const listeners = new Map<string, Set<() => void>>();
  return {
    async notify(channel) {
      for (const listener of listeners.get(channel) ?? []) listener();
    },
    listen(channel, onNotification) {
      const those = listeners.get(channel) ?? new Set();
      listeners.set(channel, those.add(onNotification));
      return {
        async [Symbol.asyncDispose]() {
          those.delete(onNotification);
        },
      };
    },
  };
}

/** A listener without a connection tries again after this. */
const reconnectMs = 1_000;
/** A connection that leads nowhere is noticed by a question, which it has so long to answer. */
const pingEveryMs = 15_000;
const answerMs = 10_000;

/**
 * LISTEN on a connection of its own, which is made again whenever it breaks.
 * @param channel a name of lower-case letters and underscores
 */
export function listenOnPostgres(
  url: string,
  channel: string,
  onNotification: () => void,
): AsyncDisposable {
  let isEnded = false;
  let interrupt = () => {};
  const untilInterrupted = (begin: (end: () => void) => void) =>
    new Promise<void>((resolve) => {
      interrupt = resolve;
      begin(resolve);
    });

  /** Listens until the connection breaks. */
  async function listenOnce(): Promise<void> {
    const client = new Client({
      connectionString: url,
      application_name: "svc notifications",
      connectionTimeoutMillis: answerMs,
      query_timeout: answerMs,
      keepAlive: true,
    });
    let ping: NodeJS.Timeout | undefined;
    await untilInterrupted((end) => {
      client.on("error", end).on("end", end).on("notification", onNotification);
      client
        .connect()
        .then(() => client.query(`LISTEN ${channel}`))
        .then(onNotification)
        .catch(end);
      ping = setInterval(() => void client.query("SELECT 1").catch(end), pingEveryMs).unref();
    });
    clearInterval(ping);
    // A farewell may never be answered.
    client.connection.stream.destroy();
  }

  const listening = (async () => {
    while (!isEnded) {
      await listenOnce();
      if (!isEnded) await untilInterrupted((end) => void setTimeout(end, reconnectMs).unref());
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      isEnded = true;
      interrupt();
      await listening;
    },
  };
}
