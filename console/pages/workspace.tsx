import { Button, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { api, ask, isProposal } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { ifMatch, useSaving } from "../model/use-saving.ts";
import { useWork } from "../model/use-work.ts";
import { plural } from "../model/words.ts";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { SaveProblem } from "../parts/meanwhile.tsx";
import { notify } from "../parts/notify.ts";
import { Loaded, ProblemNote } from "../parts/states.tsx";

/** The workspace in which one is: its name, and another one beside it. */
export default function WorkspacePage() {
  const { workspaceId = "", administersInstance } = useMe();
  const query = useQuery({
    queryKey: ["in", "workspace"],
    queryFn: () =>
      ask(
        api.GET("/workspaces/{workspace_id}", { params: { path: { workspace_id: workspaceId } } }),
      ),
  });
  return (
    <Loaded query={query} before={<Head title="Workspace" />}>
      {(workspace) => (
        <>
          <Head title={workspace.name} />
          <div className="columns">
            <Rename workspace={workspace} />
            {administersInstance ? <Create /> : null}
          </div>
        </>
      )}
    </Loaded>
  );
}

function Rename({ workspace }: { readonly workspace: schemas["Workspace"] }) {
  const { isAdmin } = useMe();
  const [name, setName] = useState(workspace.name);
  const queries = useQueryClient();
  const saving = useSaving(workspace, {
    async refresh() {
      await queries.invalidateQueries({ queryKey: ["in", "workspace"] });
      await queries.invalidateQueries({ queryKey: ["workspaces"] });
    },
    show: (from) => setName(from.name),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.save(async (from) => {
      const made = await ask(
        api.PATCH("/workspaces/{workspace_id}", {
          params: { path: { workspace_id: from.workspace_id }, header: ifMatch(from) },
          body: { name: name.trim() },
        }),
      );
      notify.outcome(made, "Saved.");
      return made;
    });
  };
  return (
    <form className="form panel" noValidate onSubmit={submit}>
      <TextInput
        label="Name"
        value={name}
        disabled={!isAdmin}
        error={saving.problem?.fields.name}
        onChange={(event) => setName(event.currentTarget.value)}
        required
      />
      <span className="dim">
        In commands it is called <code>{workspace.slug}</code>, whatever its name is.{" "}
        {plural(workspace.member_count, "member")}.
      </span>
      <SaveProblem saving={saving} shownOf={shownOf} fields={["name"]} />
      {isAdmin ? (
        <div>
          <Button type="submit" loading={saving.isBusy} disabled={name.trim() === ""}>
            Save
          </Button>
        </div>
      ) : (
        <span className="dim">Only administrators rename a workspace.</span>
      )}
    </form>
  );
}

const shownOf = ({ name }: schemas["Workspace"]) => ({ name });

/** Another workspace has sources, people and rights of its own. */
function Create() {
  const { choose } = useMe();
  const [name, setName] = useState("");
  const { isBusy, problem, run } = useWork();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(async () => {
      const made = await ask(api.POST("/workspaces", { body: { name: name.trim() } }));
      notify.outcome(made, `${name.trim()} was created. You are in it now.`);
      if (isProposal(made)) return;
      await queries.invalidateQueries({ queryKey: ["me"] });
      await queries.invalidateQueries({ queryKey: ["workspaces"] });
      choose(made.workspace_id);
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] === "in" });
      go("/");
    });
  };
  return (
    <form className="form panel" noValidate onSubmit={submit}>
      <h2 className="section" style={{ margin: 0 }}>
        Another workspace
      </h2>
      <span className="dim">
        It has sources, pipelines and people of its own. You are its administrator.
      </span>
      <TextInput
        label="Name of the new one"
        value={name}
        error={problem?.fields.name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {problem === undefined ? null : <ProblemNote error={problem} shown={["name"]} />}
      <div>
        <Button type="submit" variant="default" loading={isBusy} disabled={name.trim() === ""}>
          Create it
        </Button>
      </div>
    </form>
  );
}
