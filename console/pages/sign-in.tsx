import { Anchor, Button, Loader, PasswordInput, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { askForLink, type Reach, signIn } from "../api/client.ts";
import { type Problem, toProblem } from "../api/problem.ts";
import { Logo } from "../parts/icon.tsx";
import { ProblemNote } from "../parts/states.tsx";

/** Signs in with what was pasted. What was pasted leaves the page with the answer. */
export function SignIn({
  onDone,
  isAgain = false,
}: {
  readonly onDone: () => void;
  readonly isAgain?: boolean;
}) {
  const [secret, setSecret] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn(codeOf(secret));
      setSecret("");
      setProblem(undefined);
      onDone();
    } catch (error) {
      setProblem(toProblem(error));
    } finally {
      setBusy(false);
    }
  };
  const form = (
    <form onSubmit={(event) => void submit(event)} className="stack">
      <PasswordInput
        label="Access token or invitation"
        description="Also a whole sign-in link."
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
        error={
          problem?.status === 401 ? "It is not known, was used before, or has ended." : undefined
        }
        autoComplete="off"
        data-autofocus
        required
        withAsterisk={false}
      />
      {problem && problem.status !== 401 ? <ProblemNote error={problem} /> : null}
      <Button type="submit" loading={isBusy} fullWidth>
        Sign in
      </Button>
    </form>
  );
  if (isAgain) return form;
  return (
    <div className="signin">
      <main className="stack">
        <div className="brand" style={{ padding: 0, justifyContent: "center" }}>
          <Logo /> svc
        </div>
        <section className="panel stack">
          <h1 style={{ margin: 0, fontSize: "1.25rem" }}>Sign in</h1>
          <p className="dim" style={{ margin: 0 }}>
            Open the link that <code>svc serve</code> prints when it starts, or paste a token that{" "}
            <code>svc token create</code> has made.
          </p>
          {form}
          <LinkByMail />
        </section>
        <Anchor href="control/v1/docs" size="sm" ta="center">
          Documents of the API
        </Anchor>
      </main>
    </div>
  );
}

const mailed: Readonly<Record<Reach, string>> = {
  recipients: "If somebody here has this address, a link is on its way to it.",
  folder:
    "This instance has no mail server. If somebody here has this address, their link lies in its folder outbox: ask its operator.",
  nobody: "This instance sends no mail: ask its operator for a token.",
};

/** For who has no token at hand: a link to their address. */
function LinkByMail() {
  const [email, setEmail] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<string>();
  const [problem, setProblem] = useState<Problem>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      setAnswer(mailed[await askForLink(email.trim())]);
    } catch (error) {
      setProblem(toProblem(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)} className="stack">
      <TextInput
        type="email"
        label="Or have a link mailed"
        placeholder="you@example.com"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        autoComplete="email"
        required
        withAsterisk={false}
      />
      {problem === undefined ? null : <ProblemNote error={problem} />}
      <Button type="submit" variant="default" loading={isBusy} fullWidth>
        Mail me a link
      </Button>
      <output>{answer}</output>
    </form>
  );
}

/** The code at the end of a pasted link. */
const codeOf = (text: string): string => text.trim().split("/").at(-1) ?? "";

/** The page of a sign-in link: it exchanges the code, which the address bar and history forget. */
export function SignInByLink({ code }: { readonly code: string }) {
  const [problem, setProblem] = useState<Problem>();
  const [, go] = useLocation();
  const queries = useQueryClient();
  useEffect(() => {
    exchange(code).then(
      async () => {
        await queries.invalidateQueries();
        go("/", { replace: true });
      },
      (error: unknown) => setProblem(toProblem(error)),
    );
  }, [code, queries, go]);
  if (problem === undefined)
    return (
      <div className="signin">
        <Loader aria-label="Signing in" />
      </div>
    );
  return (
    <div className="signin">
      <main className="panel stack">
        <h1 style={{ margin: 0, fontSize: "1.25rem" }}>
          {problem.status === 401 ? "The link was used or has ended" : "You could not be signed in"}
        </h1>
        {problem.status === 401 ? (
          <p className="dim" style={{ margin: 0 }}>
            It is good once, and for a time. Have another one mailed on the sign-in page, start{" "}
            <code>svc serve</code> again for one, or make a token with <code>svc token create</code>
            .
          </p>
        ) : (
          <ProblemNote error={problem} />
        )}
        <Button variant="default" onClick={() => go("/", { replace: true })}>
          Go to the sign-in page
        </Button>
      </main>
    </div>
  );
}

/** Once for each code, however often React runs an effect. */
const exchanges = new Map<string, Promise<void>>();
function exchange(code: string): Promise<void> {
  const running = exchanges.get(code) ?? signIn(code);
  exchanges.set(code, running);
  return running;
}
