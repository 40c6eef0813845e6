/**
 * Pages whose files come when they are looked at, and what stands in the place of one that fails.
 */
import { Alert, Button } from "@mantine/core";
import { Component, type ComponentType, type ReactNode, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { Head } from "./head.tsx";
import { Loading } from "./states.tsx";

/** A page's file has not come, however often it was asked for. */
class FileMissing extends Error {}

/** Pauses before it is asked for again: a network that changes is back within seconds. */
const pausesMs = [300, 1_000, 3_000];

/**
 * A page whose file is asked for when it is first shown, and again where it does not come. React's
 * own lazy() would keep what has come from view for 300 ms, lest a page flickers.
 */
export function lazyPage<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
): ComponentType<Props> {
  let Page: ComponentType<Props> | undefined;
  return function LazyPage(props) {
    const [, setHere] = useState(Page !== undefined);
    const [failure, fail] = useState<unknown>();
    useEffect(() => {
      if (Page !== undefined) return;
      const come = (file: { readonly default: ComponentType<Props> }) => {
        Page = file.default;
        setHere(true);
      };
      void asked(load).then(come, fail);
    }, []);
    if (failure !== undefined) throw failure;
    return Page === undefined ? <Loading /> : <Page {...props} />;
  };
}

async function asked<T>(load: () => Promise<T>): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await load();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  return load().catch((cause) => {
    throw new FileMissing("a page's file has not come", { cause });
  });
}

/**
 * Around pages: one that fails leaves what stands around it as it is, and another address is tried.
 */
export function PageBoundary({ children }: { readonly children: ReactNode }) {
  const [address] = useLocation();
  return <Boundary address={address}>{children}</Boundary>;
}

interface Props {
  readonly address: string;
  readonly children: ReactNode;
}

interface State {
  readonly address: string;
  readonly failure?: { readonly isOfFile: boolean } | undefined;
}

class Boundary extends Component<Props, State> {
  static getDerivedStateFromProps({ address }: Props, before: State): State | null {
    return address === before.address ? null : { address, failure: undefined };
  }

  /** Whatever the error says is for developers: it stands in the browser's own log. */
  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { failure: { isOfFile: error instanceof FileMissing } };
  }

  override state: State = { address: this.props.address };

  override render() {
    const { failure } = this.state;
    return failure === undefined ? this.props.children : <FailedPage {...failure} />;
  }
}

const FailedPage = ({ isOfFile }: { readonly isOfFile: boolean }) => (
  <>
    <Head title={isOfFile ? "This page did not come" : "This page cannot be shown"} />
    <Alert color="red" variant="light" role="alert">
      <div className="stack" style={{ gap: "0.5rem" }}>
        <span>
          {isOfFile
            ? "The connection was interrupted, or another version of svc runs now. Load the console again; what was saved is still there."
            : "The console has failed here. Load it again; if that changes nothing, tell whoever runs svc which page it was, and what you did last."}
        </span>
        <div>
          <Button size="xs" variant="default" onClick={() => window.location.reload()}>
            Load the console again
          </Button>
        </div>
      </div>
    </Alert>
  </>
);
