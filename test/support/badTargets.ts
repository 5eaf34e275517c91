/** Forbidden webhook targets. One list for all code that must refuse them: every way to change the setting, and each delivery. */

/** Addresses of no public server, as a name server may answer them: four digits dotted, or IPv6. */
export const badAddresses: Readonly<Record<string, readonly string[]>> = {
  'this host': ['127.0.0.1', '127.8.8.8', '0.0.0.0', '::1', '::'],
  'private networks': ['10.0.0.1', '172.16.0.1', '172.31.255.254', '192.168.1.1', 'fc00::1', 'fd12:3456::1'],
  'links and carriers': ['169.254.0.1', '100.64.0.1', '100.127.255.254', 'fe80::1', 'fec0::1'],
  'clouds’ metadata and services': [
    '169.254.169.254', // most of them
    '169.254.170.2', // AWS, of a container
    '168.63.129.16', // Azure
    '100.100.100.200', // Alibaba
    '192.0.0.192', // Oracle
    '192.80.8.124', // Equinix Metal
    '161.26.0.10', // IBM
    '166.9.0.1', // IBM
    '199.36.153.8', // Google
    'fd00:ec2::254', // AWS
    'fd20:ce::254', // Google
    'fd00:42::42', // Scaleway
  ],
  'what carries another address': [
    '::ffff:127.0.0.1',
    '::ffff:168.63.129.16',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::a00:1',
    '2002:7f00:1::',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2606:4700::5efe:10.0.0.1',
  ],
  'documentation, benchmarks, reserved space': [
    '192.0.2.1',
    '198.51.100.7',
    '203.0.113.9',
    '198.18.0.1',
    '192.31.196.1',
    '192.175.48.6',
    '240.0.0.1',
    '2001:db8::1',
    '3fff::1',
    '100::1',
  ],
  'more than one host': ['224.0.0.1', '239.255.255.255', '255.255.255.255', '192.88.99.1', 'ff02::1'],
};

/** The same addresses, and others, in spellings that a URL accepts. */
const spellings = [
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://127.1/',
  'https://１２７.0.0.1/',
  'https://0xa83f8110/', // 168.63.129.16
  'https://2822734096/',
  'https://0xa9fea9fe/', // 169.254.169.254
  'https://[0:0:0:0:0:ffff:7f00:1]/',
  'https://[::ffff:a9fe:a9fe]/',
];

/** Names that no public name server answers for. */
const privateNames = [
  'https://localhost/',
  'https://LOCALHOST./',
  'https://shop.localhost:8443/',
  'https://metadata.google.internal/computeMetadata/v1/',
  'https://instance-data.ec2.internal/',
  'https://printer.local/',
  'https://router.home.arpa/',
  'https://receiver/',
  'https://hidden.onion/',
];

const notHttps = [
  'http://shop.example/hooks',
  'ftp://shop.example/hooks',
  'file:///etc/passwd',
  'gopher://shop.example/1',
  'data:application/json,{}',
  'javascript:alert(1)',
  '//shop.example/hooks',
  'shop.example/hooks',
  'https:/shop.example',
  'https:shop.example',
  'https://',
  'https:///hooks',
];

const bent = [
  'https://user:secret@shop.example/hooks',
  'https://shop.example@127.0.0.1/',
  'https://127.0.0.1\\@shop.example/',
  'https://shop.example/hooks#part',
  'https://shop.example\t/hooks',
  'https://shop.example/ho oks',
  'https://shop.example/hooks\r\nX-Injected: 1',
  'https://shop.example:99999/',
  'https://[::1/',
  'https://256.256.256.256/',
  `https://shop.example/${'a'.repeat(2_048)}`,
];

const spelled = (address: string): string => `https://${address.includes(':') ? `[${address}]` : address}/hooks`;

/** URLs that are refused as a setting. */
export const badUrls: readonly string[] = [
  ...Object.values(badAddresses).flat().map(spelled),
  ...spellings,
  ...privateNames,
  ...notHttps,
  ...bent,
];

/** Allowed settings to which no webhook is ever sent: their names are harmless. */
export const goodUrls: readonly string[] = [
  'https://shop.example/hooks',
  'https://SHOP.example:8443/hooks?shop=1',
  'https://8.8.8.8/hooks',
  'https://[2606:4700:4700::1111]/hooks',
];
