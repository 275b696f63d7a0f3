/**
 * A certificate authority and a server certificate, made at every start. Node can sign but cannot write X.509, so this
 * module does. Keys are ECDSA P-256, which takes milliseconds. They are never stored; clients trust the CA from the
 * kubeconfig.
 */

import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  Extension,
  Extensions,
  GeneralName,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
} from '@peculiar/asn1-x509';

/** The certificates and the key, all in PEM. */
export interface ServerCertificates {
  readonly ca: string;
  readonly certificate: string;
  readonly privateKey: string;
}

interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const COMMON_NAME = '2.5.4.3';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const CA_NAME = 'kubeloom embedded CA';
const HOUR_MS = 3_600_000;
const VALID_MS = 365 * 24 * HOUR_MS;

export function createCertificates(host: string): ServerCertificates {
  const caKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const serverKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const caKeyId = keyId(caKeys);
  const ca = issue(CA_NAME, caKeys, caKeys, [
    extension(id_ce_basicConstraints, true, new BasicConstraints({ cA: true })),
    extension(id_ce_keyUsage, true, new KeyUsage(KeyUsageFlags.keyCertSign | KeyUsageFlags.digitalSignature)),
    extension(id_ce_subjectKeyIdentifier, false, new SubjectKeyIdentifier(caKeyId)),
  ]);
  const names = [...new Set(['localhost', '127.0.0.1', '::1', host])].map(generalName);
  const certificate = issue('kubeloom embedded apiserver', serverKeys, caKeys, [
    extension(id_ce_basicConstraints, true, new BasicConstraints({ cA: false })),
    extension(id_ce_keyUsage, true, new KeyUsage(KeyUsageFlags.digitalSignature)),
    extension(id_ce_subjectKeyIdentifier, false, new SubjectKeyIdentifier(keyId(serverKeys))),
    extension(
      id_ce_authorityKeyIdentifier,
      false,
      new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(caKeyId) }),
    ),
    extension(id_ce_subjectAltName, false, new SubjectAlternativeName(names)),
  ]);
  const privateKey = serverKeys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { ca, certificate, privateKey };
}

/** Returns a certificate for `subject` in PEM, signed with the CA's key. */
function issue(subject: string, keys: KeyPair, signer: KeyPair, extensions: Extension[]): string {
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const now = Date.now();
  const serial = randomBytes(16);
  serial[0] = 1; // positive and without a leading zero
  const unsigned = new TBSCertificate({
    version: Version.v3,
    serialNumber: new Uint8Array(serial).buffer,
    signature: algorithm,
    issuer: commonName(CA_NAME),
    subject: commonName(subject),
    validity: new Validity({ notBefore: new Date(now - HOUR_MS), notAfter: new Date(now + VALID_MS) }),
    subjectPublicKeyInfo: AsnConvert.parse(exportSpki(keys), SubjectPublicKeyInfo),
    extensions: new Extensions(extensions),
  });
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(unsigned)), signer.privateKey);
  const certificate = new Certificate({
    tbsCertificate: unsigned,
    signatureAlgorithm: algorithm,
    signatureValue: new Uint8Array(signature).buffer,
  });
  const base64 = Buffer.from(AsnConvert.serialize(certificate)).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function exportSpki(keys: KeyPair): Buffer {
  return keys.publicKey.export({ type: 'spki', format: 'der' });
}

function keyId(keys: KeyPair): ArrayBuffer {
  return new Uint8Array(createHash('sha1').update(exportSpki(keys)).digest()).buffer;
}

function commonName(text: string): Name {
  const value = new AttributeValue({ utf8String: text });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])]);
}

function extension(id: string, critical: boolean, value: object): Extension {
  return new Extension({ extnID: id, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function generalName(host: string): GeneralName {
  return isIP(host) === 0 ? new GeneralName({ dNSName: host }) : new GeneralName({ iPAddress: host });
}
