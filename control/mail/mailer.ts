import { createTransport, type Transporter } from "nodemailer";
import type { Log } from "../services/log.ts";
import type { MailSettings, SmtpServer } from "../services/settings.ts";
import { writeToOutbox } from "./outbox.ts";

/** A mail of plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Where its mails go: to whom they are addressed, into a folder for development, or nowhere. */
  readonly reaches: "recipients" | "folder" | "nobody";
  /**
   * True when the next server, or the outbox, has taken the mail. It never throws: a mail is no
   * reason for a request to fail.
   */
  send(mail: Mail): Promise<boolean>;
}

type Send = (mail: Mail) => Promise<void>;

/** @param settings undefined: no mail is ever sent */
export function createMailer(settings: MailSettings | undefined, log: Log): Mailer {
  const send = settings && toSend(settings);
  return {
    reaches: settings === undefined ? "nobody" : "smtp" in settings ? "recipients" : "folder",
    async send(mail) {
      if (!send) {
        log.warn("a mail was not sent: no mail server is set");
        return false;
      }
      try {
        await send(mail);
        return true;
      } catch (error) {
        log.error("a mail could not be sent", { error_code: codeOf(error) });
        return false;
      }
    },
  };
}

function toSend(settings: MailSettings): Send {
  if ("smtp" in settings) return toServer(settings.smtp, settings.from);
  // For development: a folder that a person can look into.
  return (mail) => writeToOutbox(settings.outbox, mail);
}

function toServer({ host, port, user, password }: SmtpServer, from: string): Send {
  const isOwnMachine = /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host);
  const transport: Transporter = createTransport({
    host,
    port,
    secure: port === 465,
    // Mail that stays on the machine needs no TLS; elsewhere neither password nor link goes over
    // the wire without.
    ...(isOwnMachine ? { ignoreTLS: true } : { requireTLS: true }),
    ...(user === undefined ? {} : { auth: { user, pass: password ?? "" } }),
    tls: { minVersion: "TLSv1.2" },
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return async (mail) => {
    await transport.sendMail(toMessage(mail, from));
  };
}

const toMessage = ({ to, subject, text }: Mail, from: string) => ({
  from,
  // As an object: what stands in the address is never taken for a list of them.
  to: { name: "", address: to },
  subject,
  text,
  xMailer: false as const,
});

/** Of a foreign error only its code is told: ECONNREFUSED, EAUTH, EENVELOPE. */
function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[A-Z_]{1,40}$/.test(code) ? code : undefined;
}
