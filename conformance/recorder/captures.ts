/**
 * Runs the connector against the live provider and keeps every exchange, secrets included: none is
 * written as it is.
 */
import type { JsonObject } from "svc-connectors";
import { type CatalogStream, selectStreams, streamLabel } from "svc-connectors/host";
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
}

/** @throws RecordingError when a verb fails that must not, or succeeds that must not */
export async function captureAll({ subject, config, streams }: CaptureOptions): Promise<Captures> {
  const captures: Capture[] = [];
  const notices: string[] = [];
  const published = await subject.published();
  const refreshTokens = createRefreshTokens(published);
  const capture = async (name: string, request: VerbRequest): Promise<VerbResult> => {
    const live = await subject.run(
      request,
      request.config === config ? refreshTokens.store(config) : undefined,
    );
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

  for (const { stream } of selectStreams(catalog, streams?.join(","), "full_refresh")) {
    const label = streamLabel(stream);
    if (stream.supported_sync_modes.includes("full_refresh"))
      expectSuccess(label, await capture(label, { verb: "read", config, stream }));
    if (!stream.supported_sync_modes.includes("incremental")) continue;
    if (stream.default_cursor_field.length === 0 && !stream.source_defined_cursor) {
      notices.push(
        `${label} was not read incrementally: it has no cursor of its own, and one has to be chosen.`,
      );
      continue;
    }
    const first = await capture(`${label}.incremental`, {
      verb: "read",
      config,
      stream,
      isIncremental: true,
    });
    expectSuccess(label, first);
    if (first.state.length === 0) {
      notices.push(`${label} was not resumed: its incremental read gave no state.`);
      continue;
    }
    const { state } = first;
    expectSuccess(
      label,
      await capture(`${label}.resumed`, {
        verb: "read",
        config,
        stream,
        isIncremental: true,
        state,
      }),
    );
  }
  if (refreshTokens.later.length > 0)
    notices.push(
      "The provider gave new refresh tokens during the recording: the configured one may be used up, so authorise again.",
    );
  return { published, catalog, refreshTokens, captures: withFileNames(captures), notices };
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
