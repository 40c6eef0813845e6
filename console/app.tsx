import { Loader, Modal } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Redirect, Route, Router, Switch } from "wouter";
import { useHashLocation } from "wouter/use-hash-location";
import { api, ask, onSessionEnd } from "./api/client.ts";
import { toProblem } from "./api/problem.ts";
import { onWait } from "./api/send.ts";
import { workspaces } from "./model/queries.ts";
import { SignIn, SignInByLink } from "./pages/sign-in.tsx";
import { type Me, MeContext } from "./parts/me.tsx";
import { notify } from "./parts/notify.ts";
import { lazyPage, PageBoundary } from "./parts/page.tsx";
import { Shell } from "./parts/shell.tsx";
import { ProblemNote } from "./parts/states.tsx";

const Home = lazyPage(() => import("./pages/home.tsx"));
const Endpoints = lazyPage(() => import("./pages/endpoints.tsx"));
const Connectors = lazyPage(() => import("./pages/connectors.tsx"));
const NewConnector = lazyPage(() => import("./pages/connector-new.tsx"));
const ReplaceConnector = lazyPage(() => import("./pages/connector-replace.tsx"));
const Connector = lazyPage(() => import("./pages/connector.tsx"));
const NewEndpoint = lazyPage(() => import("./pages/endpoint-new.tsx"));
const Endpoint = lazyPage(() => import("./pages/endpoint.tsx"));
const Pipelines = lazyPage(() => import("./pages/pipelines.tsx"));
const NewPipeline = lazyPage(() => import("./pages/pipeline-new.tsx"));
const Pipeline = lazyPage(() => import("./pages/pipeline.tsx"));
const Jobs = lazyPage(() => import("./pages/jobs.tsx"));
const Job = lazyPage(() => import("./pages/job.tsx"));
const ReverseEtl = lazyPage(() => import("./pages/reverse-etl.tsx"));
const NewActivation = lazyPage(() => import("./pages/activation-new.tsx"));
const Activation = lazyPage(() => import("./pages/activation.tsx"));
const Model = lazyPage(async () => ({ default: (await import("./pages/model.tsx")).ModelPage }));
const NewModel = lazyPage(async () => ({ default: (await import("./pages/model.tsx")).NewModel }));
const Receiver = lazyPage(() => import("./pages/receiver.tsx"));
const NewReceiver = lazyPage(() => import("./pages/receiver-new.tsx"));
const Run = lazyPage(() => import("./pages/run.tsx"));
const Approvals = lazyPage(() => import("./pages/approvals.tsx"));
const Approval = lazyPage(() => import("./pages/approval.tsx"));
const People = lazyPage(() => import("./pages/people.tsx"));
const Access = lazyPage(() => import("./pages/access.tsx"));
const Notifications = lazyPage(() => import("./pages/notifications.tsx"));
const WorkspacePage = lazyPage(() => import("./pages/workspace.tsx"));
const Webhook = lazyPage(() => import("./pages/webhook.tsx"));
const Audit = lazyPage(() => import("./pages/audit.tsx"));

/**
 * Addresses stand behind the #: the server has one page, and a proxy's path in front is no matter.
 */
export const App = () => (
  <Router hook={useHashLocation}>
    <Switch>
      <Route path="/sign-in/:code">{({ code }) => <SignInByLink code={code} />}</Route>
      <Route>
        <SignedIn />
      </Route>
    </Switch>
  </Router>
);

function SignedIn() {
  const [hasEnded, setEnded] = useState(false);
  const queries = useQueryClient();
  const me = useQuery({ queryKey: ["me"], queryFn: () => ask(api.GET("/me")) });
  useEffect(() => onSessionEnd(() => setEnded(true)), []);
  useEffect(() => onWait(notify.waits), []);
  const comeBack = () => {
    setEnded(false);
    void queries.invalidateQueries();
  };
  if (me.data === undefined) {
    if (me.isPending)
      return (
        <div className="signin">
          <Loader aria-label="Loading" />
        </div>
      );
    const problem = toProblem(me.error);
    return problem.status === 401 ? (
      <SignIn onDone={comeBack} />
    ) : (
      <div className="signin">
        <main>
          <ProblemNote error={problem} onRetry={() => void me.refetch()} />
        </main>
      </div>
    );
  }
  return (
    <Workspace me={me.data}>
      {/* The page below stays as it is: nobody types anything twice. */}
      <Modal
        opened={hasEnded}
        onClose={() => undefined}
        withCloseButton={false}
        closeOnEscape={false}
        closeOnClickOutside={false}
        title="Your session has ended"
        centered
      >
        <SignIn onDone={comeBack} isAgain />
      </Modal>
    </Workspace>
  );
}

function Workspace({ me, children }: { readonly me: Me; readonly children: React.ReactNode }) {
  const chosen = workspaces.useChosen(me);
  return (
    <MeContext value={{ me, ...chosen }}>
      <Shell>
        {/* Another workspace is another page: nothing of the one before is shown. */}
        <PageBoundary key={chosen.workspaceId}>
          <Pages />
        </PageBoundary>
      </Shell>
      {children}
    </MeContext>
  );
}

const Pages = () => (
  <Switch>
    <Route path="/" component={Home} />
    <Route path="/sources">
      <Endpoints kind="source" />
    </Route>
    <Route path="/sources/new/:connector?">
      {({ connector }) => <NewEndpoint kind="source" connector={connector} key={connector} />}
    </Route>
    <Route path="/sources/:id">{({ id }) => <Endpoint kind="source" id={id} key={id} />}</Route>
    <Route path="/destinations">
      <Endpoints kind="destination" />
    </Route>
    <Route path="/destinations/new/:connector?">
      {({ connector }) => <NewEndpoint kind="destination" connector={connector} key={connector} />}
    </Route>
    <Route path="/destinations/:id">
      {({ id }) => <Endpoint kind="destination" id={id} key={id} />}
    </Route>
    <Route path="/connectors" component={Connectors} />
    <Route path="/connectors/new" component={NewConnector} />
    <Route path="/connectors/:id/replace">
      {({ id }) => <ReplaceConnector id={id} key={id} />}
    </Route>
    <Route path="/connectors/:id">{({ id }) => <Connector id={id} key={id} />}</Route>
    <Route path="/pipelines" component={Pipelines} />
    <Route path="/pipelines/new/:kind?/:id?">
      {({ kind, id }) => <NewPipeline kind={kind} id={id} />}
    </Route>
    <Route path="/pipelines/:id">{({ id }) => <Pipeline id={id} key={id} />}</Route>
    <Route path="/jobs">
      <Jobs />
    </Route>
    <Route path="/jobs/of/:of">{({ of }) => <Jobs of={of} />}</Route>
    <Route path="/jobs/:id">{({ id }) => <Job id={id} key={id} />}</Route>
    <Route path="/activations">
      <ReverseEtl tab="activations" />
    </Route>
    <Route path="/models">
      <ReverseEtl tab="models" />
    </Route>
    <Route path="/receivers">
      <ReverseEtl tab="receivers" />
    </Route>
    <Route path="/activations/new/:model?">{({ model }) => <NewActivation model={model} />}</Route>
    <Route path="/activations/:id">{({ id }) => <Activation id={id} key={id} />}</Route>
    <Route path="/models/new/:warehouse?/:table?">
      {({ warehouse, table }) => (
        <NewModel warehouse={warehouse} table={table && decodeURIComponent(table)} />
      )}
    </Route>
    <Route path="/models/:id">{({ id }) => <Model id={id} key={id} />}</Route>
    <Route path="/receivers/new" component={NewReceiver} />
    <Route path="/receivers/:id">{({ id }) => <Receiver id={id} key={id} />}</Route>
    <Route path="/runs/:id">{({ id }) => <Run id={id} key={id} />}</Route>
    <Route path="/approvals" component={Approvals} />
    <Route path="/approvals/:id">{({ id }) => <Approval id={id} key={id} />}</Route>
    <Route path="/people" component={People} />
    <Route path="/access" component={Access} />
    <Route path="/notifications" component={Notifications} />
    <Route path="/webhooks/:id">{({ id }) => <Webhook id={id} key={id} />}</Route>
    <Route path="/workspace" component={WorkspacePage} />
    <Route path="/audit" component={Audit} />
    <Route>
      <Redirect to="/" />
    </Route>
  </Switch>
);
