/** The parts of the API, in the order of its documents: a heading, and what belongs there. */
export const areas = {
  "Current user": "Who the token stands for, and what it may do.",
  Workspaces:
    "Everything else belongs to one workspace. What is another's does not exist: asking for it is `404`.",
  Members: "The people of a workspace, their roles, and invitations by mail.",
  Connectors:
    "What can be read from and written to. The spec of a connector says what its configuration holds and which of its settings are secrets.",
  Mailer:
    "An account of the mailer: its token is stored, its server looked at, its campaigns previewed. Nothing of this creates a source.",
  Credentials:
    "Secrets, and accounts that were connected in the browser. Secrets are taken here and nowhere else, and never given back: everything else names a credential by its `credential_handle`.",
  Sources: "Where rows come from: a connector, its configuration and a credential, seen working.",
  Destinations: "Warehouses, into which pipelines write and which models of reverse ETL query.",
  Pipelines:
    "What moves from a source to a destination, how, and when. A pipeline and its connection are one thing with two ids.",
  "Reverse ETL":
    "From a warehouse back out. A model is a query of a warehouse, a reverse ETL destination takes rows, an activation says which columns go to which fields, a run sends what has changed. " +
    "Names of fields are in camelCase here; snake_case is taken too.",
  Jobs: "Syncs and runs as they are carried out: attempts, progress, logs.",
  Events:
    "What has happened, for programs: signed webhooks, their deliveries, and whom mails tell.",
  Approvals: "Proposed changes, and the rules that ask for them.",
  Audit: "Who did what: every change, and every change that was refused.",
  Sessions: "Access tokens that are in use.",
  Keys: "Keys with which secrets are sealed.",
} as const;

export type Area = keyof typeof areas;
