// Runs requests through one of the DAX clients for JavaScript and prints what came of each.
//
//   node drive.js <v3|v3-document|v1> <endpoint>
//
// With DAX_TIMEOUT_MS set, a request that has not settled by then is given up, as {"error": {"code": "GivenUp"}}:
// these clients do not notice that a pooled connection was closed, and never settle the request that they sent on it.
//
// stdin: one JSON document {"operation", "request"} a line, binary as base64. Each is run as it comes, and answered
// by one line on stdout: {"response"} or {"error": {"code", "message", "reasons"}}.
'use strict';

const readline = require('readline');

function makeClient(kind, endpoint) {
  const region = 'us-east-1';
  const credentials = { accessKeyId: process.env.AWS_ACCESS_KEY_ID, secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY };
  const options = { endpoints: [endpoint], endpoint, region, credentials };
  if (kind === 'v3') {
    const { Dax } = require('@amazon-dax-sdk/client-dax');
    return new Dax(options);
  }
  if (kind === 'v3-document') {
    const { DaxDocument } = require('@amazon-dax-sdk/lib-dax');
    return new DaxDocument(options);
  }
  const AmazonDaxClient = require('amazon-dax-client');
  const client = new AmazonDaxClient({ endpoints: [endpoint], region });
  return new Proxy(client, {
    get: (target, name) => (request) => target[name](request).promise(),
  });
}

// base64 -> Buffer in every attribute value of type B or BS
function decodeBinary(value) {
  if (Array.isArray(value)) return value.map(decodeBinary);
  if (value === null || typeof value !== 'object') return value;
  const names = Object.keys(value);
  if (names.length === 1 && names[0] === 'B' && typeof value.B === 'string') {
    return { B: Buffer.from(value.B, 'base64') };
  }
  if (names.length === 1 && names[0] === 'BS' && Array.isArray(value.BS)) {
    return { BS: value.BS.map((element) => Buffer.from(element, 'base64')) };
  }
  const decoded = {};
  for (const name of names) {
    Object.defineProperty(decoded, name, { value: decodeBinary(value[name]), enumerable: true });
  }
  return decoded;
}

// Buffer -> base64, everywhere
function encodeBinary(value) {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Set) return [...value].map(encodeBinary);
  if (Array.isArray(value)) return value.map(encodeBinary);
  if (value === null || typeof value !== 'object') return value;
  const encoded = {};
  for (const name of Object.keys(value)) {
    Object.defineProperty(encoded, name, { value: encodeBinary(value[name]), enumerable: true });
  }
  return encoded;
}

function inTime(promise) {
  const limit = Number(process.env.DAX_TIMEOUT_MS || 0);
  if (!limit) return promise;
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error('no answer'), { code: 'GivenUp' })), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function run(client, { operation, request }) {
  const method = operation[0].toLowerCase() + operation.slice(1);
  try {
    const { $metadata, $response, ...response } = await inTime(client[method](decodeBinary(request)));
    return { response: encodeBinary(response) };
  } catch (failure) {
    const reasons = failure.cancellationReasons || failure.CancellationReasons;
    return {
      error: {
        code: failure.code || failure.name,
        message: failure.message,
        ...(reasons ? { reasons: encodeBinary(reasons) } : {}),
      },
    };
  }
}

async function main() {
  const [kind, endpoint] = process.argv.slice(2);
  const client = makeClient(kind, endpoint);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await run(client, JSON.parse(line))) + '\n');
  }
  process.exit(0);
}

main();
