// An authority, a server's certificate and a client's, made by openssl for one test: mutual TLS as a cluster has it.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificates {
  readonly authority: string;
  readonly server: { readonly cert: string; readonly key: string };
  readonly client: { readonly cert: string; readonly key: string };
}

export function makeCertificates(folder: string, hosts: readonly string[]): Certificates {
  mkdirSync(folder, { recursive: true });
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=everturn-test');
  const signed = (name: string, extensions: string) => {
    writeFileSync(at(`${name}.cnf`), extensions);
    openssl('req', ...key.slice(0, 3), '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    const of = ['-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
    openssl('x509', '-req', ...of, '-extfile', `${name}.cnf`, '-out', `${name}.pem`);
    return { cert: at(`${name}.pem`), key: at(`${name}.key`) };
  };
  const names = hosts.map((host) => (/^[\d.]+$/.test(host) ? `IP:${host}` : `DNS:${host}`)).join(',');
  return {
    authority: at('ca.pem'),
    server: signed('server', `subjectAltName=${names}\nextendedKeyUsage=serverAuth,clientAuth\n`),
    client: signed('client', 'extendedKeyUsage=clientAuth\n'),
  };
}
