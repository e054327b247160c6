/** Whether a certificate and its key can serve, and in which words they cannot. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";

export interface CertificateProblem {
  readonly message: string;
  readonly next: string;
}

const pemOfCertificate = "--tls-cert is a PEM file: its first line is -----BEGIN CERTIFICATE-----.";
const pemOfKey = "--tls-key is a PEM file: its first line is -----BEGIN PRIVATE KEY-----.";

function isPem(text: string | Buffer): boolean {
  return text.includes("-----BEGIN ");
}

/** What keeps a certificate and its key from being served at a time; undefined where nothing does. */
export function certificateProblem(
  cert: string | Buffer,
  key: string | Buffer,
  now: number,
): CertificateProblem | undefined {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(cert);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { message: "The certificate cannot be read.", next: pemOfCertificate };
  }
  // Read by the line above, refused by TLS: the binary form.
  if (!isPem(cert)) return { message: "The certificate is not in PEM form.", next: pemOfCertificate };
  const privateKey = privateKeyOf(key);
  if ("message" in privateKey) return privateKey;
  if (!certificate.checkPrivateKey(privateKey))
    return {
      message: "The certificate and the key do not belong together.",
      next: "Give the key that the certificate was made with.",
    };
  return timeProblem(certificate, now);
}

function privateKeyOf(key: string | Buffer): KeyObject | CertificateProblem {
  if (!isPem(key)) return { message: "The key is not in PEM form.", next: pemOfKey };
  try {
    return createPrivateKey(key);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isLocked = key.includes("ENCRYPTED");
    return isLocked
      ? {
          message: "The key is locked with a passphrase.",
          next: "Unlock it into a file that only you may read: openssl pkey -in KEY -out UNLOCKED.",
        }
      : { message: "The key cannot be read.", next: pemOfKey };
  }
}

function timeProblem({ validFrom, validTo }: X509Certificate, now: number): CertificateProblem | undefined {
  if (Date.parse(validTo) <= now)
    return { message: `The certificate was good until ${validTo}.`, next: "Renew it." };
  if (Date.parse(validFrom) > now)
    return {
      message: `The certificate is good from ${validFrom} on.`,
      next: "Wait until then, or set this computer's clock.",
    };
  return undefined;
}
