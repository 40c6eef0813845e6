/**
 * Words that a query may not use though it only reads: functions that sleep, lock, signal, read the
 * server's files, run other SQL or reach other servers. The transaction is read-only and limited in
 * time; this is for what is possible all the same.
 */

const refusedFunctions: readonly (readonly [RegExp, string])[] = [
  [/^pg_sleep/, "it waits"],
  [/^pg_(try_)?advisory_/, "it locks"],
  [
    /^pg_(terminate|cancel)_backend$|^pg_(reload_conf|rotate_logfile|promote|log_backend_memory_contexts|switch_wal|create_restore_point)$/,
    "it signals the server",
  ],
  [
    /^pg_(read_|ls_|stat_file|file_|current_logfile)|^lo_|^loread$|^lowrite$|^pg_hba_file_rules$/,
    "it reads files of the server",
  ],
  [/^dblink|^postgres_fdw_/, "it reaches another server"],
  [
    /^(set_config|nextval|setval|pg_notify|pg_logical_|pg_replication_|pg_create_|pg_drop_|pg_export_snapshot|txid_current$|pg_current_xact_id$)/,
    "it changes something",
  ],
  [
    /^(query|table|cursor|schema|database)_to_xml|^ts_stat$|^ts_rewrite$/,
    "it runs SQL that is in a text",
  ],
];

const writing = /^(insert|update|delete|merge)$/;

/** Why the query is refused before it is tried; undefined when it is not. */
export function findRefused(sql: string): string | undefined {
  if (sql.includes("\0")) return "it holds a NUL character";
  const words = readWords(sql);
  if (words === undefined) return "it writes names as U&";
  if (words.length === 0) return "it is empty";
  const end = words.indexOf(";");
  if (end !== -1 && end !== words.length - 1) return "it is more than one statement";
  if (!/^(\(|select|with|values|table)$/.test(words[0] ?? "")) return "it is not a SELECT";
  for (const [index, word] of words.entries()) {
    if (word === "into" || (words[index - 1] === "(" && writing.test(word))) return "it writes";
    const name = word.startsWith('"') ? word.slice(1) : word;
    const found = refusedFunctions.find(([pattern]) => pattern.test(name));
    if (found) return found[1];
  }
  return undefined;
}

/**
 * Comments (they nest) · dollar-quoted texts · texts · names in quotes · names · marks. Section 4.1
 * of PostgreSQL's manual.
 */
const tokens =
  /--[^\n\r]*|\/\*|(\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)|([eE]?)'|[uU]&"|"((?:[^"]|"")*)"|([A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|[;(])/g;

/**
 * Names and keywords in lower case, those in quotes with one before them, ";" and "("; undefined
 * when names are hidden in escapes.
 */
function readWords(sql: string): string[] | undefined {
  const words: string[] = [];
  tokens.lastIndex = 0;
  for (let token = tokens.exec(sql); token; token = tokens.exec(sql)) {
    const [text, dollar, escapes, quoted, name] = token;
    if (/^[uU]&"/.test(text)) return undefined;
    if (text === "/*") tokens.lastIndex = commentEnd(sql, token.index);
    else if (dollar !== undefined) tokens.lastIndex = behind(sql, dollar, tokens.lastIndex);
    else if (escapes !== undefined)
      tokens.lastIndex = textEnd(sql, tokens.lastIndex, escapes !== "");
    else if (quoted !== undefined) words.push(`"${quoted.replaceAll('""', '"').toLowerCase()}`);
    else if (name !== undefined) words.push(name.toLowerCase());
  }
  return words;
}

function behind(sql: string, end: string, from: number): number {
  const at = sql.indexOf(end, from);
  return at === -1 ? sql.length : at + end.length;
}

function commentEnd(sql: string, from: number): number {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = from;
  for (let depth = 0, found = mark.exec(sql); found; found = mark.exec(sql)) {
    depth += found[0] === "/*" ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return sql.length;
}

function textEnd(sql: string, from: number, hasEscapes: boolean): number {
  for (let at = from; at < sql.length; at++) {
    if (hasEscapes && sql[at] === "\\") at++;
    else if (sql[at] === "'" && sql[at + 1] === "'") at++;
    else if (sql[at] === "'") return at + 1;
  }
  return sql.length;
}
