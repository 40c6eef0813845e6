/**
 * Takes undici's requests in place of connections, and answers them in memory, without a byte of
 * HTTP in between.
 */
import { text } from "node:stream/consumers";
import { Dispatcher, errors } from "undici";
import type { Answer, ProviderRequest } from "../contract/network.ts";

/** @returns "reset": the connection breaks; undefined: the answer never comes */
export type MemoryServe = (
  request: Omit<ProviderRequest, "index">,
) => Promise<Answer | "reset" | undefined>;

const bodiless = [204, 205, 304];

export class MemoryDispatcher extends Dispatcher {
  readonly #serve: MemoryServe;
  readonly #underWay = new Set<Exchange>();
  #isDestroyed = false;

  constructor(serve: MemoryServe) {
    super();
    this.#serve = serve;
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const exchange = new Exchange(handler, () => this.#underWay.delete(exchange));
    this.#underWay.add(exchange);
    if (this.#isDestroyed) exchange.abort(new errors.ClientDestroyedError());
    else void this.#exchange(options, exchange).catch((error) => exchange.abort(error));
    return true;
  }

  async #exchange(options: Dispatcher.DispatchOptions, exchange: Exchange): Promise<void> {
    exchange.start();
    // Never within the dispatch: until it has returned, undici's fetch cannot be given up.
    const body = await textOf(options.body);
    if (exchange.aborted) return;
    const answer = await this.#serve(toRequest(options, body));
    if (answer === "reset")
      exchange.abort(Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }));
    else if (answer) exchange.answer(answer, options.method);
  }

  override async destroy(): Promise<void> {
    this.#isDestroyed = true;
    for (const exchange of [...this.#underWay]) exchange.abort(new errors.ClientDestroyedError());
  }
}

/** One request, of which its handler hears until it is answered or given up. */
class Exchange implements Dispatcher.DispatchController {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #onEnd: () => void;
  #isOver = false;
  aborted = false;
  paused = false;
  reason: Error | null = null;
  rawHeaders: Buffer[] = [];

  constructor(handler: Dispatcher.DispatchHandler, onEnd: () => void) {
    this.#handler = handler;
    this.#onEnd = onEnd;
  }

  start(): void {
    this.#handler.onRequestStart?.(this, null);
  }

  answer({ status, headers: given, body }: Answer, method: Dispatcher.HttpMethod): void {
    if (this.#isOver) return;
    const hasBody = method !== "HEAD" && !bodiless.includes(status);
    const headers = hasBody ? { "content-length": String(body.length), ...given } : given;
    this.rawHeaders = Object.entries(headers)
      .flat()
      .map((part) => Buffer.from(part, "latin1"));
    this.#handler.onResponseStart?.(this, status, { ...headers }, "");
    if (this.#isOver) return;
    if (hasBody && body.length > 0) this.#handler.onResponseData?.(this, body);
    if (this.#isOver) return;
    this.#end();
    this.#handler.onResponseEnd?.(this, {});
  }

  abort(reason: Error): void {
    if (this.#isOver) return;
    this.#end();
    this.aborted = true;
    this.reason = reason;
    this.#handler.onResponseError?.(this, reason);
  }

  /** Nothing comes in pieces: the one that there is has been taken. */
  pause(): void {}
  resume(): void {}

  #end(): void {
    this.#isOver = true;
    this.#onEnd();
  }
}

function toRequest(options: Dispatcher.DispatchOptions, body: string) {
  const url = new URL(options.path, options.origin);
  const given = options.headers as { readonly [name: string]: string } | undefined;
  return {
    method: options.method,
    url,
    headers: {
      host: url.host,
      ...Object.fromEntries(
        Object.entries(given ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
      ),
    },
    body,
  };
}

async function textOf(body: Dispatcher.DispatchOptions["body"]): Promise<string> {
  if (body === null || body === undefined) return "";
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  return await text(body as AsyncIterable<Uint8Array>);
}
