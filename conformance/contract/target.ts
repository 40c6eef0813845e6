import type { Clock, JsonObject } from "svc-connectors";
import type { NetworkSeams } from "svc-connectors/host";
import type { Command, ErrorClass, Given } from "./observation.ts";

/** How the connector is run. */
export type TargetKind = "worker" | "module" | "program" | "container";

/**
 * An ability of a target: something that it lets the kit see or do. clock: waits go through the
 * injected clock · inside: runs in this process, whose clock, environment and handles can be
 * watched · environment: TZ and LANG can be set · cancel: a run can be cancelled · backpressure:
 * output waits for its consumer · faults: the loopback fault server can stand in for the provider ·
 * classes: failures carry one of the ten classes · artefacts: files, logs and inspection of a
 * container · isolation: a sandbox stands around the connector.
 */
export type Ability =
  | "clock"
  | "inside"
  | "environment"
  | "cancel"
  | "backpressure"
  | "faults"
  | "classes"
  | "artefacts"
  | "isolation";

/** The world around one run. */
export interface World {
  readonly clock: Clock;
  /** How the network is reached. */
  readonly network: RunNetwork;
  /**
   * Takes one line of output, without its end; resolves when there is room for more. Rejects when
   * the consumer is gone.
   */
  readonly write: (line: string) => Promise<void>;
  readonly signal: AbortSignal;
  /** The signal may be a cancel from outside, and how the run takes it is what is looked at. */
  readonly mayBeCancelled?: boolean | undefined;
  readonly environment: Readonly<Record<string, string>>;
  /** Takes note of a refresh token that the runtime has kept. */
  readonly onTokenSaved?: ((refreshToken: string | undefined) => void) | undefined;
  /** Takes each request as the connector asks for it; for svc connectors. */
  readonly onCall?: ((call: PlacedCall) => void) | undefined;
  /** Takes what the connector gives, before anything filters it; for targets with `inside`. */
  readonly onGiven?: ((given: Given) => void) | undefined;
  /**
   * Timeouts of HTTP requests where the target can set them, so that tests of hanging servers are
   * short. ms of real time.
   */
  readonly timeouts?:
    | {
        readonly connectMs: number;
        readonly headersMs: number;
        readonly idleMs: number;
        readonly totalMs: number;
      }
    | undefined;
}

/** A request as a connector asks for it, before its host has added what authenticates. */
export interface PlacedCall {
  readonly method: string;
  readonly url: URL;
  /**
   * The connector's line, and those that wait for it, where they are known: "index.ts:42 ←
   * index.ts:107".
   */
  readonly place: string | undefined;
}

export interface RunNetwork {
  /** For svc connectors: the seams of the host. */
  readonly seams: NetworkSeams;
  /** For programs in this process: a fetch that reaches the provider. */
  readonly fetch: typeof fetch;
  /** For programs in this process: the addresses of a name. */
  readonly lookup: (host: string) => Promise<readonly string[]>;
  /**
   * For containers and processes: where the TLS-terminating proxy listens, and its authority (PEM).
   */
  readonly proxy?: { readonly url: string; readonly ca: string } | undefined;
}

/** Where the proxy of a run has to listen, so that the target's runs can reach it. */
export interface ProxyPlace {
  /** An address of this machine. */
  readonly host: string;
  /**
   * It also takes connections on port 443, for programs that are led there by name and use no
   * proxy.
   */
  readonly isTransparent: boolean;
}

/** How a run ended, as far as the target knows it beside the messages. */
export interface Ending {
  /** Exit code of a process; 0 or 1 for what runs in this one. */
  readonly exitCode: number;
  /** Classes by failure message, when the target knows more than the messages say. */
  readonly failures?:
    | readonly {
        readonly code: string;
        readonly class: ErrorClass;
        readonly message: string;
        readonly stream?: string | undefined;
      }[]
    | undefined;
  readonly isCrashed?: boolean | undefined;
  readonly isHung?: boolean | undefined;
  readonly errorOutput?: string | undefined;
  readonly denied?: readonly string[] | undefined;
  readonly redactions?: readonly string[] | undefined;
  readonly artefacts?: readonly { readonly name: string; readonly text: string }[] | undefined;
  readonly peakBytes?: number | undefined;
}

/** The text of a connector that is a document. */
export interface TargetDocument {
  /** Why a rule says nothing about it: what is wrong then is not its author's to change. */
  beyondItsAuthor(rule: string): string | undefined;
  /** Whether a failure is of a case that its author can do nothing about: it does not count. */
  isOfTheRuntime(rule: string, sentence: string): boolean;
  /**
   * The place that the author looks at first: `source-shop.yaml:12`.
   * @param sentence of the failure: it begins with the name of the stream, where it is about one
   */
  placeOf(rule: string, sentence: string): string | undefined;
}

/**
 * A connector that can be run. One run at a time, where `runsAtOnce` does not say otherwise.
 */
export interface Target extends AsyncDisposable {
  readonly kind: TargetKind;
  /** As people call it. */
  readonly name: string;
  readonly abilities: ReadonlySet<Ability>;
  /** Runs that may be under way at a time, since each has a process of its own. Default 1. */
  readonly runsAtOnce?: number | undefined;
  /** Set by targets that need `RunNetwork.proxy`. */
  readonly proxy?: ProxyPlace | undefined;
  /** The digest of its code, by which a server knows what was tried; of svc connectors. */
  codeDigest?(): Promise<string>;
  /** Facts that only svc connectors give: id, version, egress, state schema. */
  manifest(): Promise<JsonObject | undefined>;
  /** Source files of the connector, for static rules; empty when they are not at hand. */
  readonly sources: readonly {
    readonly path: string;
    readonly text: string;
    /** Absolute; never shown. */
    readonly file?: string | undefined;
  }[];
  /** The document of a connector that is one: whom a rule would blame, and where. */
  readonly document?: TargetDocument | undefined;
  /**
   * The spec as a new process gives it when it loads the module, at a clock moved by so much: for
   * targets that load it once.
   */
  freshSpec?(
    environment: Readonly<Record<string, string>>,
    clockShiftMs: number,
  ): Promise<JsonObject>;
  /** Runs the command to its end. Throws only when the kit or what stands around it are wrong. */
  run(command: Command, world: World): Promise<Ending>;
}
