import { Button, Checkbox } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { moment, spoken } from "../model/words.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { NewToken } from "../parts/new-token.tsx";
import { notify } from "../parts/notify.ts";
import { byPage, PagedRows } from "../parts/paged-rows.tsx";
import { usePersonNames } from "../parts/people.ts";
import { Row } from "../parts/row.tsx";
import { Ago, Due, Status } from "../parts/status.tsx";

type Session = schemas["Session"];

/** Who can act here, with what, and since when. */
export default function Access() {
  const { isAdmin } = useMe();
  const [isAll, setAll] = useState(false);
  const [isOpen, { open, close }] = useDisclosure(false);
  const query = useInfiniteQuery({
    queryKey: ["in", "sessions", isAll],
    queryFn: ({ pageParam }) =>
      ask(
        api.GET("/sessions", {
          params: {
            query: { limit: 100, cursor: pageParam, ...(isAll ? {} : { status: "active" }) },
          },
        }),
      ),
    ...byPage,
    refetchInterval: 15_000,
  });
  return (
    <>
      <Head title="Sessions and tokens">
        {isAdmin ? <Button onClick={open}>Create a token</Button> : null}
      </Head>
      <div className="stack">
        <div className="actions">
          <Checkbox
            label="Also those that have ended"
            checked={isAll}
            onChange={(event) => setAll(event.currentTarget.checked)}
          />
          <span className="dim">
            {isAdmin
              ? "Revoke what you do not know: it ends at once, with all that was made with it."
              : "Your own. Revoke what you do not know: it ends at once."}
          </span>
        </div>
        <PagedRows query={query} none="Nobody has signed in.">
          {(sessions) =>
            sessions
              // The one that is used stands first: it is the one that is known.
              .toSorted((left, right) => Number(right.current) - Number(left.current))
              .map((one) => <SessionRow key={one.session_id} session={one} />)
          }
        </PagedRows>
      </div>
      {isOpen ? <NewToken onClose={close} /> : null}
    </>
  );
}

const kinds: Readonly<Record<schemas["Client"], string>> = {
  api: "A program",
  cli: "A person",
  mcp: "An agent",
};

function SessionRow({ session }: { readonly session: Session }) {
  const nameOf = usePersonNames();
  const { me, workspaceId } = useMe();
  const [asks, { open, close }] = useDisclosure(false);
  const queries = useQueryClient();
  const { name, client, role, status, current, session_id: id, user_agent: agent, ip } = session;
  const label = name ?? kinds[client];
  const revoke = async () => {
    const made = await ask(
      api.POST("/sessions/{session_id}/revoke", { params: { path: { session_id: id } } }),
    );
    notify.outcome(made, "It has ended.");
    await queries.invalidateQueries({ queryKey: current ? ["me"] : ["in", "sessions"] });
  };
  const words = [
    session.user_id === me.user_id ? "Yours" : `Of ${nameOf(session.user_id)}`,
    name === null ? undefined : kinds[client].toLowerCase(),
    role === null ? undefined : `at most ${spoken(role).toLowerCase()}`,
    session.workspace_id === workspaceId ? "this workspace alone" : undefined,
  ].filter((one) => one !== undefined);
  return (
    <Row
      name={label}
      badge={current ? "This one" : undefined}
      about={words.join(", ")}
      detail={
        status === "active" ? (
          <>
            Used <Ago at={session.last_seen_at} />
            {ip === null ? "" : ` from ${ip}`}
            {agent === null ? null : (
              <bdi className="below" title={agent}>
                {browserOf(agent)}
              </bdi>
            )}
          </>
        ) : (
          `Ended ${moment(session.revoked_at ?? session.expires_at)}`
        )
      }
      later={
        <>
          Made <Ago at={session.created_at} />
          {status === "active" ? (
            <span className="below">
              Ends <Due at={session.expires_at} />
            </span>
          ) : null}
        </>
      }
      right={
        status === "active" ? (
          <Button
            size="xs"
            variant="subtle"
            color="red"
            aria-label={`Revoke ${label}`}
            onClick={open}
          >
            Revoke
          </Button>
        ) : (
          <Status of={status} />
        )
      }
    >
      <Confirm
        title={
          <>
            Revoke <bdi>{label}</bdi>?
          </>
        }
        label="Revoke"
        isOpen={asks}
        onClose={close}
        run={revoke}
        isDangerous
      >
        <span>
          It ends at once, on every server, and so does all that was made with it.
          {current ? " It is the one that you use: you sign in again after it." : ""}
        </span>
      </Confirm>
    </Row>
  );
}

/** A browser as one calls it; other programs by the beginning of what they call themselves. */
function browserOf(agent: string): string {
  const [, name = "", version = ""] =
    /(Firefox|Edg|OPR|Chrome|Version)\/(\d+)/.exec(agent.replace(/Chrome(?=.*(Edg|OPR)\/)/, "")) ??
    [];
  const system = /(Windows|Macintosh|Android|iPhone|iPad|Linux)/.exec(agent)?.[1];
  const words = { Edg: "Edge", OPR: "Opera", Version: "Safari" } as Readonly<
    Record<string, string>
  >;
  if (agent.startsWith("Mozilla/") && name !== "" && system !== undefined)
    return `${words[name] ?? name} ${version}, ${system === "Macintosh" ? "macOS" : system}`;
  return agent.length > 60 ? `${agent.slice(0, 60)}…` : agent;
}
