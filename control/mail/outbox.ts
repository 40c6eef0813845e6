import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Mail } from "./mailer.ts";

/**
 * Puts a mail into the folder, one file each (RFC 5322, in UTF-8 and without folded lines, so that
 * a person can copy from it). Its owner alone can read it: it may hold a link that is as good as a
 * key.
 */
export async function writeToOutbox(folder: string, { to, subject, text }: Mail): Promise<void> {
  const now = new Date();
  const message = [
    "From: svc <svc@localhost>",
    `To: ${headerText(to)}`,
    `Subject: ${headerText(subject)}`,
    `Date: ${now.toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: <${randomUUID()}@localhost>`,
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
    "",
    ...text.split("\n"),
  ];
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `${now.toISOString().replaceAll(":", "-")}-${randomUUID()}.eml`;
  await writeFile(join(folder, name), message.join("\r\n"), { mode: 0o600, flag: "wx" });
}

/** The text as it is, or in encoded words (RFC 2047) of at most 75 characters. */
function headerText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  const words = text.match(/.{1,10}/gsu) ?? [];
  return words.map((word) => `=?utf-8?B?${Buffer.from(word).toString("base64")}?=`).join("\r\n ");
}
