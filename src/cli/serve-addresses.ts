/** Under which addresses a server is reached, for the person who starts it. */
import { isIP } from "node:net";
import type { NetworkInterfaceInfo } from "node:os";

export type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** Most addresses that are shown. */
export const ADDRESSES_MAX = 6;

/**
 * The origins to open a server at, at most `ADDRESSES_MAX`: its own, or, where it listens at every address of the computer, one for each
 * that another device may have a way to. `origin` is the server's own word for where it is.
 */
export function openAt(
  server: { readonly origin: string; readonly port: number },
  host: string,
  interfaces: Interfaces,
): readonly string[] {
  const isEverywhere = host === "0.0.0.0" || host === "::";
  // An origin that its operator named stands for all.
  if (!isEverywhere || !isIP(new URL(server.origin).hostname.replace(/^\[|\]$/g, ""))) return [server.origin];
  const { protocol } = new URL(server.origin);
  const origins = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family, address }) => {
      if (internal || (family === "IPv6" && host === "0.0.0.0")) return false;
      // An address of one link alone needs the name of the link, which no browser takes.
      return !/^fe[89ab]/i.test(address);
    })
    .sort((a, b) => a.family.localeCompare(b.family))
    .map(
      ({ family, address }) => `${protocol}//${family === "IPv6" ? `[${address}]` : address}:${server.port}`,
    );
  return origins.length === 0
    ? [`${protocol}//127.0.0.1:${server.port}`]
    : [...new Set(origins)].slice(0, ADDRESSES_MAX);
}
