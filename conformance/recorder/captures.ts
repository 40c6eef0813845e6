/**
 * Runs the connector against the live provider and keeps every exchange, secrets included: none is
 * written as it is.
 */
import type { JsonObject } from "svc-connectors";
import { type CatalogStream, selectStreams, streamLabel } from "svc-connectors/host";
import { createAllowance, type RecordingLimits } from "./allowance.ts";
import { configSecrets, withWrongSecrets } from "./config-secrets.ts";
import { RecordingError } from "./recording-error.ts";
import { createRefreshTokens, type RefreshTokens } from "./refresh-tokens.ts";
import type { LiveRun, Published, RecordedSubject } from "./subject.ts";
import type { VerbRequest, VerbResult } from "./verbs.ts";

/** One verb, and everything that was exchanged in it. */
export interface Capture extends LiveRun {
  /** Name of the file that it becomes, without ".yaml". */
  readonly name: string;
  readonly request: VerbRequest;
}

export interface Captures {
  readonly published: Published;
  readonly catalog: readonly CatalogStream[];
  readonly captures: readonly Capture[];
  readonly refreshTokens: RefreshTokens;
  /** Sentences about what was not recorded. */
  readonly notices: readonly string[];
}

export interface CaptureOptions {
  readonly subject: RecordedSubject;
  readonly config: JsonObject;
  /** Labels of the streams; default all. */
  readonly streams?: readonly string[] | undefined;
  readonly limits?: Partial<RecordingLimits> | undefined;
}

/**
 * Streams that exchange more than they may are left out, with a notice.
 * @throws RecordingError when a verb fails that must not, or succeeds that must not, or when
 * nothing is left of the streams
 */
export async function captureAll(options: CaptureOptions): Promise<Captures> {
  const { subject, config, streams } = options;
  const allowance = createAllowance(options.limits);
  const captures: Capture[] = [];
  const notices: string[] = [];
  const published = await subject.published();
  const refreshTokens = createRefreshTokens(published);
  /** @throws LimitError */
  const capture = async (name: string, request: VerbRequest): Promise<VerbResult> => {
    const run = allowance.openRun();
    const tokens = request.config === config ? refreshTokens.store(config) : undefined;
    const running = subject.run(request, run, tokens);
    // Stopped half way it fails somehow, or says that it has ended.
    await running.catch(() => undefined);
    if (run.excess !== undefined) throw new LimitError(name, run.excess);
    const live = await running;
    // A verb that sends no request has nothing to replay: a discover from the manifest, say.
    if (live.exchanges.length > 0 || request.verb !== "discover")
      captures.push({ name, request, ...live });
    return live.result;
  };

  expectSuccess("check", await capture("check", { verb: "check", config }));
  if (configSecrets(config, published.spec).length > 0) {
    const wrong = withWrongSecrets(config, published.spec);
    const { error } = await capture("check-unauthenticated", { verb: "check", config: wrong });
    if (!error)
      throw new RecordingError(
        "the check succeeded with wrong credentials: it looks at nothing that needs them, or the provider lets everybody in",
      );
    if (captures.at(-1)?.exchanges.length === 0) {
      captures.pop();
      notices.push(
        "check-unauthenticated was not recorded: the altered credentials were refused before any request.",
      );
    }
  }
  const { streams: catalog } = await capture("discover", { verb: "discover", config });

  const captureStream = async (stream: CatalogStream): Promise<void> => {
    const label = streamLabel(stream);
    const read = async (name: string, more: Partial<VerbRequest> = {}) => {
      const result = await capture(name, { verb: "read", config, stream, ...more });
      expectSuccess(label, result);
      return result;
    };
    if (stream.supported_sync_modes.includes("full_refresh")) await read(label);
    if (!stream.supported_sync_modes.includes("incremental")) return;
    if (stream.default_cursor_field.length === 0 && !stream.source_defined_cursor) {
      notices.push(
        `${label} was not read incrementally: it has no cursor of its own, and one has to be chosen.`,
      );
      return;
    }
    const { state } = await read(`${label}.incremental`, { isIncremental: true });
    if (state.length > 0) await read(`${label}.resumed`, { isIncremental: true, state });
    else notices.push(`${label} was not resumed: its incremental read gave no state.`);
  };

  const selected = selectStreams(catalog, streams?.join(","), "full_refresh");
  const before = captures.length;
  const skipped: string[] = [];
  let isCut = false;
  for (const { stream } of selected) {
    if (allowance.spent !== undefined) skipped.push(streamLabel(stream));
    else
      await captureStream(stream).catch((error: unknown) => {
        if (!(error instanceof LimitError)) throw error;
        isCut = true;
        notices.push(`${error.message} It was left out.`);
      });
  }
  if (skipped.length > 0)
    notices.push(
      `${listed(skipped)} left out: ${allowance.spent} before. Choose streams with --streams, or raise --max-requests or --max-mb.`,
    );
  if (isCut && captures.length === before)
    throw new RecordingError(`no stream was recorded. ${notices.join(" ")}`);
  if (refreshTokens.later.length > 0)
    notices.push(
      "The provider gave new refresh tokens during the recording: the configured one may be used up, so authorise again.",
    );
  return { published, catalog, refreshTokens, captures: withFileNames(captures), notices };
}

/** A run exchanged more than it may. */
class LimitError extends RecordingError {
  constructor(what: string, excess: string) {
    super(
      `${what} ${excess}: give it settings with which it reads less (a start date, a small folder), or raise --max-requests or --max-mb.`,
    );
  }
}

/** Number of streams that one notice names. */
const maxListed = 10;

function listed(labels: readonly string[]): string {
  const named = labels.slice(0, maxListed).join(", ");
  const more = labels.length - maxListed;
  return more > 0
    ? `${named} and ${more} more were`
    : `${named} ${labels.length > 1 ? "were" : "was"}`;
}

function expectSuccess(what: string, { error }: VerbResult): void {
  if (error)
    throw new RecordingError(
      `${what} failed${error.code === undefined ? "" : ` (${error.code})`}: ${error.message} Put that right, or record other streams with --streams.`,
    );
}

/** Names of streams may hold anything; names of files may not. */
function withFileNames(captures: readonly Capture[]): Capture[] {
  const taken = new Set<string>(["baseline", "answers", "conformance"]);
  return captures.map((capture) => {
    const plain = capture.name.replace(/[^\w.-]+/g, "_").replace(/^\.+/, "_");
    let name = plain;
    for (let count = 2; taken.has(name.toLowerCase()); count++) name = `${plain}-${count}`;
    taken.add(name.toLowerCase());
    return { ...capture, name };
  });
}
