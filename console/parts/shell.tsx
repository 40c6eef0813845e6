/** The frame around every page: where one can go, in which workspace, and as whom. */
import {
  ActionIcon,
  Drawer,
  Menu,
  NativeSelect,
  UnstyledButton,
  useMantineColorScheme,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ComponentProps, type ReactNode, useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { api, ask, signOut } from "../api/client.ts";
import { usePending } from "../model/approvals.ts";
import { spoken } from "../model/words.ts";
import { Icon, Logo } from "./icon.tsx";
import { useMe } from "./me.tsx";
import { notify } from "./notify.ts";

interface Place {
  readonly to: string;
  readonly label: string;
  readonly icon: ComponentProps<typeof Icon>["name"];
  /** Where one is in this place too. */
  readonly others?: readonly string[];
}

/** Pages in groups: where one begins, what moves rows, who may do what. */
const places: readonly (readonly Place[])[] = [
  [{ to: "/", label: "Home", icon: "home" }],
  [
    { to: "/sources", label: "Sources", icon: "source" },
    { to: "/destinations", label: "Destinations", icon: "destination" },
    { to: "/pipelines", label: "Pipelines", icon: "pipeline" },
    { to: "/jobs", label: "Jobs", icon: "job" },
    {
      to: "/activations",
      label: "Reverse ETL",
      icon: "activation",
      others: ["/models", "/receivers", "/runs"],
    },
  ],
  [
    { to: "/connectors", label: "Connectors", icon: "connector" },
    { to: "/approvals", label: "Approvals", icon: "approval" },
    { to: "/people", label: "People", icon: "people" },
    { to: "/access", label: "Sessions", icon: "key" },
    { to: "/notifications", label: "Notifications", icon: "bell", others: ["/webhooks"] },
    { to: "/audit", label: "Audit log", icon: "audit" },
  ],
];

export function Shell({ children }: { readonly children: ReactNode }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const [location] = useLocation();
  const main = useRef<HTMLElement>(null);
  const before = useRef(location);
  useEffect(() => {
    if (before.current === location) return;
    before.current = location;
    // As with a page that is loaded: one begins at its top.
    window.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [location]);
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        Skip to the page
      </button>
      <div className="side">
        <Places />
      </div>
      <header className="top">
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Menu" onClick={open}>
          <Icon name="menu" />
        </ActionIcon>
        <Link href="/" className="brand">
          <Logo /> svc
        </Link>
      </header>
      <Drawer opened={isOpen} onClose={close} size="16rem" title="svc" padding="sm">
        <Places onGo={close} />
      </Drawer>
      <main className="page" ref={main} tabIndex={-1} style={{ outline: "none" }}>
        {children}
      </main>
    </div>
  );
}

function Places({ onGo }: { readonly onGo?: (() => void) | undefined }) {
  const [location] = useLocation();
  const isHere = ({ to, others = [] }: Place) =>
    to === "/" ? location === "/" : [to, ...others].some((one) => location.startsWith(one));
  return (
    <>
      {onGo === undefined ? (
        <Link href="/" className="brand">
          <Logo /> svc
        </Link>
      ) : null}
      <Workspaces />
      <nav aria-label="Main" style={{ marginTop: "0.5rem" }}>
        {places.map((group) => (
          <div key={group[0]?.to} className="nav-group">
            {group.map((place) => (
              <Link
                key={place.to}
                href={place.to}
                className="nav"
                aria-current={isHere(place) ? "page" : undefined}
                onClick={onGo}
              >
                <Icon name={place.icon} /> {place.label}
                {place.to === "/approvals" ? <Waiting /> : null}
              </Link>
            ))}
          </div>
        ))}
      </nav>
      <div className="grow" />
      <Person onGo={onGo} />
    </>
  );
}

/** How much waits for who may decide. */
function Waiting() {
  const { mayApprove } = useMe();
  const { data } = usePending(mayApprove);
  if (!data || data.items.length === 0) return null;
  return (
    <span className="badge">
      {data.items.length}
      {data.has_more ? "+" : ""}
      <span className="hidden"> wait for you</span>
    </span>
  );
}

function Workspaces() {
  const { me, workspaceId, choose } = useMe();
  const { data } = useQuery({
    queryKey: ["workspaces"],
    queryFn: () => ask(api.GET("/workspaces", { params: { query: { limit: 200, sort: "name" } } })),
    enabled: me.memberships.length > 1,
  });
  const queries = useQueryClient();
  if (me.memberships.length < 2 || !data) return null;
  return (
    <NativeSelect
      aria-label="Workspace"
      value={workspaceId ?? ""}
      data={data.items.map(({ workspace_id: value, name: label }) => ({ value, label }))}
      onChange={(event) => {
        choose(event.currentTarget.value);
        queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] === "in" });
      }}
    />
  );
}

function Person({ onGo }: { readonly onGo?: (() => void) | undefined }) {
  const { me, role } = useMe();
  const { setColorScheme } = useMantineColorScheme();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const go = (to: string) => {
    navigate(to);
    onGo?.();
  };
  const leave = async () => {
    try {
      await signOut();
    } catch (error) {
      return notify.problem(error);
    }
    queries.clear();
    window.location.hash = "#/";
    window.location.reload();
  };
  return (
    <Menu position="top-start" width="13rem">
      <Menu.Target>
        <UnstyledButton className="nav">
          <span className="person">
            <span className="name">{me.name}</span>
            <span className="dim" title={me.email}>
              {me.email}
            </span>
            {role === undefined ? null : <span className="dim">{spoken(role)}</span>}
          </span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Appearance</Menu.Label>
        <Menu.Item leftSection={<Icon name="sun" />} onClick={() => setColorScheme("light")}>
          Light
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="sun" />} onClick={() => setColorScheme("dark")}>
          Dark
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="sun" />} onClick={() => setColorScheme("auto")}>
          As the system
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="people" />} onClick={() => go("/workspace")}>
          This workspace
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="out" />} onClick={() => void leave()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
