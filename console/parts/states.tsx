/** The states of a page: loading, failed, empty. */
import { Alert, Button, Skeleton } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type Problem, toProblem } from "../api/problem.ts";
import { LongText } from "./long-text.tsx";

export const Loading = () => (
  <div className="stack" aria-live="polite" aria-busy="true">
    <Skeleton height={28} width="40%" />
    <Skeleton height={72} />
    <Skeleton height={72} />
  </div>
);

const titles: Readonly<Record<number, string>> = {
  0: "No connection",
  401: "Your session has ended",
  403: "You may not do this",
  404: "Not here",
  409: "That does not go together",
  412: "Somebody else has changed it",
  429: "Too many requests",
};

/** The part of the API's reason that says more than the status. */
const titlesOf: Readonly<Record<string, string>> = {
  connection_check_failed: "The test has failed",
  invalid_configuration: "A setting is not right",
  validation_failed: "Something is not right yet",
  query_failed: "The query has failed",
  query_refused: "The query was refused",
  provider_failed: "The other side has failed",
  provider_refused: "The other side has refused it",
  provider_timeout: "The other side did not answer in time",
  credential_not_usable: "The login does not work any more",
  table_in_use: "Another pipeline writes to these tables",
  source_in_use: "Another pipeline reads from this",
  overloaded: "The server is busy",
};

const titleOf = ({ reason, status }: Problem): string =>
  (reason === undefined ? undefined : titlesOf[reason]) ??
  titles[status] ??
  (status >= 500 ? "The server has failed" : "It did not work");

/** The API's words for a program, and their meaning for somebody who looks at a page. */
const said: Readonly<Record<number, { readonly api: string; readonly here: string }>> = {
  401: {
    api: "the access token is missing, unknown, expired or revoked",
    here: "Sign in again to go on.",
  },
  403: {
    api: "permission denied",
    here: "Your role in this workspace does not allow it. An administrator can change that.",
  },
  404: {
    api: "What the request names does not exist.",
    here: "It was deleted, or it belongs to another workspace.",
  },
};

/** The server's own failure: what is known of it stands in its log. */
const ofServer =
  "Try it once more. If that changes nothing, whoever runs svc finds it in the log by the request below.";

/** An error of the API: what happened, what to do, and the id to ask about. */
export function ProblemNote({
  error,
  shown = [],
  nameOf = (path) => path,
  onRetry,
  retryLabel = "Try again",
}: {
  readonly error: unknown;
  /** Names of fields that say themselves what is wrong with them. */
  readonly shown?: readonly string[] | undefined;
  /** How a place of the request is called here. */
  readonly nameOf?: ((path: string) => string) | undefined;
  readonly onRetry?: (() => void) | undefined;
  readonly retryLabel?: string | undefined;
}) {
  const problem = toProblem(error);
  const { status, message, details, requestId } = problem;
  const isOfServer = status >= 500 && requestId !== undefined;
  const fix = problem.fix ?? (isOfServer ? ofServer : undefined);
  const text =
    (message === said[status]?.api && said[status]?.here) ||
    (problem.reason === "connection_check_failed" ? "Nothing was saved." : message);
  return (
    <Alert color="red" variant="light" title={titleOf(problem)} role="alert" tabIndex={-1}>
      <div className="stack" style={{ gap: "0.5rem" }}>
        <LongText text={text} />
        {fix === undefined ? null : <span>{fix}</span>}
        {(details.errors ?? [])
          .filter(({ path }) => !shown.some((name) => path === name || path.endsWith(`.${name}`)))
          .map((one) => (
            <span key={`${one.path} ${one.reason}`}>
              <code>{nameOf(one.path)}</code> {one.message}
            </span>
          ))}
        {requestId === undefined ? null : <span className="dim">Request {requestId}</span>}
        {onRetry === undefined ? null : (
          <div>
            <Button size="xs" variant="default" onClick={onRetry}>
              {retryLabel}
            </Button>
          </div>
        )}
      </div>
    </Alert>
  );
}

/** A query's data, once there is some. What was shown before stays while it is asked for again. */
export function Loaded<T>({
  query,
  before,
  children,
}: {
  readonly query: UseQueryResult<T>;
  /** Of a whole page: its head until the data is there, and where there is none. */
  readonly before?: ReactNode;
  readonly children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined)
    return (
      <>
        {query.isError ? (
          <div style={{ marginBottom: "1rem" }}>
            <ProblemNote error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : null}
        {children(query.data)}
      </>
    );
  return (
    <>
      {before}
      {query.isError ? (
        <ProblemNote error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Loading />
      )}
    </>
  );
}

/** Stands in the place of a form that only the instance's administrators have. */
export const ForAdministrators = ({ text }: { readonly text: string }) => (
  <Empty
    title="For administrators of the instance"
    text={`They are those of its first workspace. ${text}`}
  />
);

export const Empty = ({
  title,
  text,
  action,
}: {
  readonly title: string;
  readonly text: string;
  readonly action?: ReactNode;
}) => (
  <div className="panel empty">
    <h2 className="section" style={{ margin: 0 }}>
      {title}
    </h2>
    <p>{text}</p>
    {action}
  </div>
);
