/** Certificates that a test makes with openssl, for this computer's loopback. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface MadeCertificate {
  readonly certPath: string;
  readonly keyPath: string;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** A certificate of its own authority and its key in a folder, good for two days. */
export function makeCertificate(folder: string): MadeCertificate {
  const certPath = join(folder, "cert.pem");
  const keyPath = join(folder, "key.pem");
  const words = [
    ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
    ["-keyout", keyPath, "-out", certPath, "-subj", "/CN=localhost"],
    ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
  ];
  execFileSync("openssl", words.flat(), { stdio: "pipe" });
  return { certPath, keyPath, cert: readFileSync(certPath), key: readFileSync(keyPath) };
}
